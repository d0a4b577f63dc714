//! Cylinders and cones: what they weigh, where they touch, against directions searched in double precision, and how
//! they rest, roll and stack.

mod common;

#[path = "round_shapes/contacts.rs"]
mod contacts;
#[path = "round_shapes/described.rs"]
mod described;
#[path = "round_shapes/resting.rs"]
mod resting;
#[path = "round_shapes/rolling.rs"]
mod rolling;

use common::{Random, ball};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::world::{BodyDesc, BodyHandle, Collider, World};
use drystone::{Settings, Simulation};

const DT: f32 = 1.0 / 60.0;
const G: f32 = 9.81;

fn simulate(world: World) -> Simulation {
    Simulation::new(world, Settings::default(), Device::Cpu { threads: Some(1) }).unwrap()
}

fn run(simulation: &mut Simulation, seconds: f32) {
    for _ in 0..(seconds / DT).round() as u32 {
        simulation.step(DT).unwrap();
    }
}

fn rotation(random: &mut Random) -> Quat {
    Quat::from_axis_angle(ball(random).normalize(), random.range(0.0, 6.0))
}
