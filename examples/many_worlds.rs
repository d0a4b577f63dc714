//! Thousands of small worlds in one recording: carts that balance poles, as robot learning and servers need them.
//!
//! ```text
//! cargo run --release --example many_worlds -- [WORLDS [SECONDS [DEVICE]]]
//! cargo run --release --example many_worlds -- 10000 10 cpu
//! ```
//!
//! Every pole gets a push of its own. In every step the host reads all states at once, pushes every cart by a linear
//! law, and resets single worlds whose pole has fallen; no world touches another. At the end one of them is stepped
//! again by itself, with the same pushes: it has the same bits.

use anyhow::{Context, Result, ensure};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::stepper::BodyState;
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions};
use drystone::world::{BodyHandle, World};
use drystone::{Settings, Simulation, scenes};
use std::sync::Arc;
use std::time::{Duration, Instant};

const DT: f32 = 1.0 / 60.0;

/// How fast a pole turns at first, rad/s: another value for every world, some too fast to be caught.
fn first_spin(number: u32) -> f32 {
    let hashed = number.wrapping_mul(0x9e37_79b9) >> 8;
    (hashed as f32 / (1 << 24) as f32 - 0.5) * 6.0
}

/// The force on a cart, newtons, from where it is and how its pole leans.
fn push(cart: &BodyState, pole: &BodyState) -> Vec3 {
    let way = pole.position - cart.position;
    let (lean, spin) = (way.x.atan2(way.y), -pole.angular_velocity.z);
    let force = 40.0 * lean + 10.0 * spin + 1.5 * cart.position.x + 3.0 * cart.linear_velocity.x;
    Vec3::X * force.clamp(-30.0, 30.0)
}

/// Worlds with the carts and poles of each.
struct Lesson {
    simulation: Simulation,
    bodies: Vec<[BodyHandle; 2]>,
    resets: u32,
}

impl Lesson {
    /// `first` is the number that world 0 has among all.
    fn new(mut worlds: World, first: u32, device: Device) -> Result<Self> {
        let mut bodies = Vec::new();
        for number in 0..worlds.worlds() {
            let mut of_world = worlds.handles_in(number);
            let (cart, pole) = of_world.next().zip(of_world.next()).context("a cart and a pole")?;
            drop(of_world);
            worlds.set_velocity(pole, Vec3::ZERO, Vec3::Z * first_spin(first + number))?;
            bodies.push([cart, pole]);
        }
        Ok(Self { simulation: Simulation::new(worlds, Settings::default(), device)?, bodies, resets: 0 })
    }

    fn step(&mut self) -> Result<()> {
        // In the order of the handles, which in copies is that of the worlds.
        let states = self.simulation.bodies()?;
        for (number, ([cart, _], pair)) in (0..).zip(self.bodies.iter().zip(states.chunks_exact(2))) {
            let (at, pole) = (&pair[0].1, &pair[1].1);
            if pole.position.y < at.position.y {
                self.simulation.reset_world(number)?;
                self.resets += 1;
            } else {
                self.simulation.world_mut().apply_force(*cart, push(at, pole), Vec3::ZERO)?;
            }
        }
        self.simulation.step(DT)?;
        Ok(())
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |i: usize, usual: &str| arguments.get(i).map_or_else(|| usual.to_owned(), Clone::clone);
    let count: u32 = argument(0, "10000").parse().context("the number of worlds")?;
    let seconds: f32 = argument(1, "5").parse().context("seconds")?;
    let device = match argument(2, "cpu").as_str() {
        "cpu" => Device::Cpu { threads: None },
        name => {
            let options = OwnDeviceOptions { name: Some(name.to_owned()), ..Default::default() };
            Device::Vulkan(Arc::new(OwnDevice::new(&Loader::system()?, &options)?))
        }
    };
    let steps = (seconds / DT).round() as u32;
    let all = scenes::cartpole()?.copies(count)?;
    let mut lesson = Lesson::new(all.clone(), 0, device.clone())?;
    // The first makes lists as long as they have to be.
    lesson.step()?;
    let (begin, mut in_steps) = (Instant::now(), Duration::ZERO);
    for _ in 1..steps {
        let before = Instant::now();
        lesson.step()?;
        in_steps += before.elapsed();
    }
    let rate = f64::from(count) * f64::from(steps - 1) / begin.elapsed().as_secs_f64();
    let reports = lesson.simulation.world_reports()?;
    let up =
        lesson.simulation.bodies()?.chunks_exact(2).filter(|b| b[1].1.position.y > b[0].1.position.y + 0.4).count();
    println!(
        "{count} worlds on {}: {rate:.0} steps of a world a second, host's law included",
        lesson.simulation.device().name
    );
    println!(
        "{:.2} ms a step of all; {up} poles stand, {} worlds were reset",
        in_steps.as_secs_f64() * 1e3 / f64::from(steps - 1),
        lesson.resets
    );
    let energy: f64 = reports.iter().map(|r| r.kinetic_energy).sum();
    println!("{energy:.3} J of motion in all of them, {} contacts", reports.iter().map(|r| r.contacts).sum::<u32>());

    let chosen = count / 2;
    let mut one = Lesson::new(all.alone(chosen)?, chosen, device)?;
    for _ in 0..steps {
        one.step()?;
    }
    let (among, alone) = (lesson.simulation.world_hash(chosen)?, one.simulation.world_hash(0)?);
    println!("world {chosen} has the hash {among:016x} among the others, {alone:016x} alone");
    ensure!(among == alone, "another world changed its bits");
    Ok(())
}
