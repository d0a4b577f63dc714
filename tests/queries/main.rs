//! Queries: what rays and shapes meet, overlap and are nearest to, against a search through all colliders in double
//! precision (`reference`), on every backend; filters, order, refusals; and queries inside a host's frames.

#[path = "../common/mod.rs"]
mod common;

mod brute;
mod filters;
mod frames;
mod reference;
mod soft;

use common::{Backend, DRIVERS, Random, open};
use drystone::glam::{Quat, Vec3};
use drystone::vulkan::OwnDevice;
use drystone::world::{BodyDesc, Collider, Shape, World};
use std::sync::{Arc, LazyLock};

/// The drivers, opened once: tests share their pipelines.
static DEVICES: LazyLock<[Arc<OwnDevice>; 2]> = LazyLock::new(|| DRIVERS.map(|(name, _)| open(name)));

/// Calls `test` for every backend, and fails if the validation layers said anything meanwhile.
fn on_every_backend(test: impl Fn(&Backend)) {
    test(&Backend::Cpu);
    for device in DEVICES.iter() {
        test(&Backend::Vulkan(device.clone()));
        silent(device);
    }
}

/// Fails if the validation layers said anything.
fn silent(device: &OwnDevice) {
    let messages = device.validation().take();
    assert!(messages.is_empty(), "validation on {}:\n{}", device.support().device_name, messages.join("\n"));
}

fn direction(random: &mut Random) -> Vec3 {
    common::ball(random).normalize()
}

fn turn(random: &mut Random) -> Quat {
    Quat::from_axis_angle(direction(random), random.range(0.0, 6.0))
}

/// A shape with sides between a tenth of a metre and two.
fn any_shape(random: &mut Random) -> Shape {
    let (a, b, c) = (random.range(0.05, 0.8), random.range(0.05, 0.5), random.range(0.05, 0.8));
    match random.below(6) {
        0 => Shape::Sphere { radius: a },
        1 => Shape::Box { half: Vec3::new(a, b, c) },
        2 => Shape::Capsule { half_height: a, radius: b },
        3 => Shape::Cylinder { half_height: a, radius: b },
        4 => Shape::Cone { half_height: a, radius: b },
        _ => loop {
            let points: Vec<_> = (0..12).map(|_| direction(random) * Vec3::new(a, b, c)).collect();
            if let Ok(hull) = Collider::hull(&points) {
                break hull.shape;
            }
        },
    }
}

/// Every shape, alone and on bodies with several, over a floor and beside a wall that is not along an axis.
fn world(random: &mut Random, bodies: u32) -> World {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let wall = Quat::from_rotation_z(-1.2) * Quat::from_rotation_y(0.4);
    world.add(BodyDesc::fixed().at(Vec3::X * -9.0).turned(wall).with(Collider::half_space())).unwrap();
    for i in 0..bodies {
        let kind = if i % 7 == 0 { BodyDesc::fixed() } else { BodyDesc::dynamic() };
        let mut body = kind.at(place(random)).turned(turn(random));
        for _ in 0..1 + random.below(2) {
            let shape = Collider::from(any_shape(random));
            body = body.with(shape.at(direction(random) * random.range(0.0, 0.6)).turned(turn(random)));
        }
        world.add(body).unwrap();
    }
    world
}

/// Somewhere in the world.
fn place(random: &mut Random) -> Vec3 {
    Vec3::new(random.range(-5.0, 5.0), random.range(0.2, 8.0), random.range(-5.0, 5.0))
}

/// Calls `check` with every number below `count`, on two threads.
fn for_all(count: usize, check: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        let check = &check;
        let halves = [0, 1].map(|half| scope.spawn(move || (half..count).step_by(2).for_each(check)));
        for half in halves {
            half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

/// The same, and what it gives.
fn map_all<T: Send>(count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let all: Vec<_> = (0..count).map(|_| std::sync::Mutex::new(None)).collect();
    for_all(count, |i| *all[i].lock().unwrap() = Some(make(i)));
    all.into_iter().map(|one| one.into_inner().unwrap().unwrap()).collect()
}
