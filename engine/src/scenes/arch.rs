//! What only the shape of its stones holds up.

use super::floor;
use crate::glam::{Quat, Vec3};
use crate::world::{BodyDesc, Collider, World, WorldError};
use std::f32::consts::{FRAC_PI_2, PI};

/// From the middle of the arch to the middle of a stone.
const RADIUS: f32 = 5.0;
/// Of the blocks it stands on.
const HEIGHT: f32 = 1.0;
const FRICTION: f32 = 0.7;

/// A semicircular arch of `stones` equal wedges, without mortar, on two blocks that do not move. The stones touch and
/// do not overlap. Thinner than 0.107 of its radius of 5 m it cannot stand (Heyman, "The Stone Skeleton", 1966).
pub fn arch(stones: u32, thickness: f32) -> Result<World, WorldError> {
    let mut world = floor(FRICTION)?;
    let block = Collider::cuboid(Vec3::new(2.0, HEIGHT, 2.0)).friction(FRICTION);
    for (name, side) in [("left block", -RADIUS), ("right block", RADIUS)] {
        world.add_named(name, BodyDesc::fixed().at(Vec3::new(side, HEIGHT * 0.5, 0.0)).with(block.clone()))?;
    }
    let half = FRAC_PI_2 / stones as f32;
    let mut corners = Vec::with_capacity(8);
    for radius in [RADIUS - thickness * 0.5, RADIUS + thickness * 0.5] {
        for (sine, cosine) in [half, -half].map(f32::sin_cos) {
            for z in [-0.5, 0.5] {
                corners.push(Vec3::new(radius * sine, radius * cosine - RADIUS, z));
            }
        }
    }
    let stone = Collider::hull(&corners)?.friction(FRICTION).density(2500.0);
    for i in 0..stones {
        let turn = Quat::from_rotation_z(FRAC_PI_2 - (i as f32 + 0.5) * PI / stones as f32);
        let place = Vec3::Y * HEIGHT + turn * (Vec3::Y * RADIUS);
        let name = if 2 * i + 1 == stones { "keystone".to_owned() } else { format!("stone {}", i + 1) };
        world.add_named(name, BodyDesc::dynamic().at(place).turned(turn).with(stone.clone()))?;
    }
    Ok(world)
}
