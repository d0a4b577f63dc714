//! Soft bodies: particles, springs, cloth and solids in the same solve as rigid bodies.

#[path = "../common/mod.rs"]
mod common;

mod contact;
mod elements;
mod held;
mod life;
mod measured;
mod meeting;
mod meshes;
mod stages;
mod truth;

use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::world::{SoftDesc, World};
use drystone::{Settings, Simulation, SoftState};

/// A world without a floor on one thread.
fn simulation(world: World, settings: Settings) -> Simulation {
    Simulation::new(world, settings, Device::Cpu { threads: Some(2) }).unwrap()
}

fn run(simulation: &mut Simulation, seconds: f32, dt: f32) {
    for _ in 0..(seconds / dt).round() as u32 {
        simulation.step(dt).unwrap();
    }
}

/// Where the centre of mass is, and how fast it goes.
fn centre(desc: &SoftDesc, state: &SoftState) -> (Vec3, Vec3) {
    let mass: f32 = desc.masses.iter().sum();
    let mean = |list: &[Vec3]| list.iter().zip(&desc.masses).map(|(v, m)| *v * *m).sum::<Vec3>() / mass;
    (mean(&state.positions), mean(&state.velocities))
}

/// Angular momentum about the centre of mass.
fn spin(desc: &SoftDesc, state: &SoftState) -> Vec3 {
    let (middle, speed) = centre(desc, state);
    let each = state.positions.iter().zip(&state.velocities).zip(&desc.masses);
    each.map(|((p, v), m)| (*p - middle).cross(*v - speed) * *m).sum()
}
