//! Joints and springs, one file a type, against closed forms and the papers' figures.

#[path = "../common/mod.rs"]
mod common;

mod ball;
mod distance;
mod edits;
mod energy;
mod examples;
mod figures;
mod fixed;
mod fracture;
mod generic;
mod hinge;
mod life;
mod ragdolls;
mod readback;
mod rows;
mod scenes;
mod slider;
mod spring;
mod tops;

use common::{Backend, iterating};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::metrics::joint_errors;
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, JointHandle, World};
use drystone::{Settings, Simulation};

const DT: f32 = 1.0 / 60.0;
const G: f32 = 9.81;

fn simulate(world: World, settings: Settings) -> Simulation {
    Simulation::new(world, settings, Device::Cpu { threads: Some(1) }).unwrap()
}

fn run(simulation: &mut Simulation, seconds: f32) {
    for _ in 0..(seconds / DT).round() as u32 {
        simulation.step(DT).unwrap();
    }
}

/// A cube of 0.2 m that weighs so much.
fn cube(at: Vec3, mass: f32) -> BodyDesc {
    BodyDesc::dynamic().at(at).with(Collider::cuboid(Vec3::splat(0.2))).weighing(mass)
}

fn weightless() -> World {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    world
}

/// Errors of all joints: the worst along lengths and about angles, and the sum of those along lengths.
fn errors(simulation: &mut Simulation) -> (f64, f64, f64) {
    let all = joint_errors(simulation).unwrap();
    let worst = |get: fn(&(f64, f64)) -> f64| all.iter().map(|e| get(&(e.1, e.2))).fold(0.0, f64::max);
    (worst(|e| e.0), worst(|e| e.1), all.iter().map(|e| e.1).sum())
}
