//! What colliders and bodies are made of, against closed forms.

#[path = "../common/mod.rs"]
mod common;

mod belts;
mod combine;
mod damping;
mod devices;
mod files;
mod joint_friction;
mod reports;
mod restitution;
mod rolling;
mod sensors;

use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Settings, Simulation};

pub(crate) const G: f32 = 9.81;

/// Iterations and step of the ranges that everything here has to hold in.
pub(crate) const RANGE: [(u32, f32); 5] =
    [(4, 1.0 / 60.0), (10, 1.0 / 30.0), (20, 1.0 / 120.0), (60, 1.0 / 60.0), (4, 1.0 / 240.0)];

pub(crate) fn simulate(world: World, iterations: u32) -> Simulation {
    let settings = common::iterating(iterations);
    Simulation::new(world, settings, Device::Cpu { threads: Some(1) }).unwrap()
}

pub(crate) fn run(simulation: &mut Simulation, seconds: f32, dt: f32) {
    for _ in 0..(seconds / dt).round() as u32 {
        simulation.step(dt).unwrap();
    }
}

/// A world with a floor, which falls towards +x by `tilt` radians.
pub(crate) fn on_floor(floor: Collider, tilt: f32) -> World {
    let mut world = World::new();
    world.add(BodyDesc::fixed().turned(Quat::from_rotation_z(-tilt)).with(floor)).unwrap();
    world
}

/// Down a floor that falls towards +x.
pub(crate) fn downhill(tilt: f32) -> Vec3 {
    Quat::from_rotation_z(-tilt) * Vec3::X
}
