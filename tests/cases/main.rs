//! Scenes whose truth is known from statics or from a law of conservation, each varied over the ranges written beside
//! it: sizes, angles, mass ratios, units, iterations from 4 to 60, steps from 1/30 to 1/240 s, minutes instead of
//! seconds.
//!
//! A test runs all variants of its scene and prints a row each (`cargo test --test cases NAME -- --nocapture`); it
//! fails with the rows that do not hold. On the CPU backend, one thread a simulation: tests run beside each other.
//! `drivers` has a few of them, small and short, on llvmpipe and SwiftShader.

#[path = "../common/mod.rs"]
mod common;

mod cold_starts;
mod conserved;
mod drivers;
mod loads;
mod mail;
mod standing;
mod walls;

use common::iterating;
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, World};
use drystone::{Settings, Simulation, scenes};

const DT: f32 = 1.0 / 60.0;
const G: f32 = 9.81;

/// The CPU backend, one thread a simulation.
const CPU: Device = Device::Cpu { threads: Some(1) };

fn simulate(world: World, settings: Settings) -> Simulation {
    Simulation::new(world, settings, CPU).unwrap()
}

/// Rows of a test: what was varied, what was measured, and whether it is within its bound.
struct Table {
    scene: &'static str,
    rows: Vec<(String, bool)>,
}

impl Table {
    fn new(scene: &'static str) -> Self {
        Self { scene, rows: Vec::new() }
    }

    fn row(&mut self, what: String, holds: bool) {
        println!("\n{} {}: {what}", if holds { "holds" } else { "FAILS" }, self.scene);
        self.rows.push((what, holds));
    }

    /// Fails with the rows that do not hold.
    fn check(self) {
        let wrong: Vec<&str> = self.rows.iter().filter(|(_, holds)| !holds).map(|(what, _)| what.as_str()).collect();
        assert!(wrong.is_empty(), "{}: {} of {} fail:\n{}", self.scene, wrong.len(), self.rows.len(), wrong.join("\n"));
    }
}

/// What a scene that should stand did.
struct Stood {
    /// The way of the body that is farthest from where it began, at the worst, metres.
    drift: f32,
    /// The fastest body in the last second, m/s.
    fastest: f32,
}

impl Stood {
    /// Runs a world and looks at it once every half second, and after every step of the last second.
    fn of(world: World, settings: Settings, dt: f32, seconds: f32) -> Self {
        Self::on(CPU, world, settings, dt, seconds)
    }

    /// The same on a device.
    fn on(device: Device, world: World, settings: Settings, dt: f32, seconds: f32) -> Self {
        let moves: Vec<BodyHandle> = world.handles().filter(|h| world.mass(*h).is_ok_and(|m| m > 0.0)).collect();
        let start: Vec<Vec3> = moves.iter().map(|h| world.desc(*h).unwrap().position).collect();
        let mut simulation = Simulation::new(world, settings, device).unwrap();
        let mut stood = Self { drift: 0.0, fastest: 0.0 };
        // What is not a number is larger than everything.
        let larger = |a: f32, b: f32| if b <= a { a } else { b };
        let (steps, last, look) = ((seconds / dt) as u32, (1.0 / dt) as u32, (0.5 / dt) as u32);
        for step in 1..=steps {
            simulation.step(dt).unwrap();
            let ending = step + last > steps;
            if ending || step % look == 0 {
                let states: std::collections::BTreeMap<_, _> = simulation.bodies().unwrap().into_iter().collect();
                for (body, start) in moves.iter().zip(&start) {
                    let state = &states[body];
                    stood.drift = larger(stood.drift, (state.position - *start).length());
                    if ending {
                        stood.fastest = larger(stood.fastest, state.linear_velocity.length());
                    }
                }
                // It is down, and will not stand up again.
                if stood.drift.is_nan() || stood.drift > 1e3 {
                    break;
                }
            }
        }
        stood
    }

    /// Whether nothing drifted farther than `most` metres and all came to rest: below 10 mm/s, or below 10 mm/s in
    /// units in which bodies are `size` metres large if that is less.
    fn stands(&self, most: f32, size: f32) -> bool {
        self.drift <= most && self.fastest < 0.01 * size.min(1.0)
    }
}

impl std::fmt::Display for Stood {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "drifts by {:.1} mm, {:.2} mm/s in the end", 1e3 * self.drift, 1e3 * self.fastest)
    }
}

/// The most energy that a world gains in a time, in parts of what it had to give: its kinetic energy at the start, and
/// the height from which it came.
fn gain(world: World, settings: Settings, dt: f32, seconds: f32) -> f64 {
    let mut simulation = simulate(world, settings);
    let start = Metrics::of(&mut simulation).unwrap();
    let (mut most, mut lowest) = (f64::MIN, start.potential_energy);
    for _ in 0..(seconds / dt) as u32 {
        simulation.step(dt).unwrap();
        let now = Metrics::of(&mut simulation).unwrap();
        if !now.energy().is_finite() {
            return f64::INFINITY;
        }
        most = most.max(now.energy());
        lowest = lowest.min(now.potential_energy);
    }
    (most - start.energy()) / (start.kinetic_energy + start.potential_energy - lowest).max(1e-9)
}
