//! Fast things, and small ones on large ones: spin beyond half a turn a step, near misses, seams, continuous detection.
//! Every case is varied over the ranges written beside it, with the truth it is compared with.

mod common;

#[path = "fast/continuous.rs"]
mod continuous;
#[path = "fast/misses.rs"]
mod misses;
#[path = "fast/seams.rs"]
mod seams;
#[path = "fast/sizes.rs"]
mod sizes;
#[path = "fast/spin.rs"]
mod spin;

use common::iterating;
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, World};
use drystone::{Settings, Simulation};

const DT: f32 = 1.0 / 60.0;
const G: f32 = 9.81;

fn weightless() -> World {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    world
}

fn simulate(world: World, settings: Settings) -> Simulation {
    Simulation::new(world, settings, Device::Cpu { threads: Some(1) }).unwrap()
}

fn run(simulation: &mut Simulation, seconds: f32, dt: f32) {
    for _ in 0..(seconds / dt).round() as u32 {
        simulation.step(dt).unwrap();
    }
}
