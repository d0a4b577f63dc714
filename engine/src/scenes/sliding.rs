//! Things that slide, roll and spin.

use super::floor;
use crate::glam::{Quat, Vec3};
use crate::world::{BodyDesc, Collider, World, WorldError};

/// Figure 11: blocks of friction 0, 0.1, ... 1 side by side at the same speed.
pub fn friction(speed: f32) -> Result<World, WorldError> {
    // The geometric mean with 1 is the root, so a block has the square of what it shall slide with.
    let mut world = floor(1.0)?;
    for i in 0..=10u8 {
        let mu = f32::from(i) * 0.1;
        let block = Collider::cuboid(Vec3::new(1.0, 0.5, 1.0)).friction(mu * mu);
        let place = Vec3::new(0.0, 0.25, f32::from(i) * 2.0 - 10.0);
        // Named after its coefficient: `mu 0.3`.
        let name = format!("mu {}.{}", i / 10, i % 10);
        world.add_named(name, BodyDesc::dynamic().at(place).moving(Vec3::X * speed).with(block))?;
    }
    Ok(world)
}

/// Spheres of several sizes on an incline.
pub fn rolling(angle: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    let turn = Quat::from_rotation_z(angle);
    world.add_named("incline", BodyDesc::fixed().turned(turn).with(Collider::half_space().friction(1.0)))?;
    for i in 0..5u8 {
        let radius = 0.2 + 0.2 * f32::from(i);
        let place = turn * Vec3::new(0.0, radius, f32::from(i) * 3.0 - 6.0);
        let ball = BodyDesc::dynamic().at(place).with(Collider::sphere(radius).friction(1.0));
        world.add_named(format!("ball {}", i + 1), ball)?;
    }
    Ok(world)
}

/// A body with three different moments of inertia, spun about the middle one, without gravity.
pub fn spinner(speed: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO)?;
    let spin = Vec3::new(0.01, 1.0, 0.005) * speed;
    let body = BodyDesc::dynamic().spinning(spin).with(Collider::cuboid(Vec3::new(1.0, 0.6, 0.3)));
    world.add_named("spinner", body)?;
    Ok(world)
}
