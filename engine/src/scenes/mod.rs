//! The papers' scenes, written once for the command, tests, benches and examples.

mod piles;

pub use piles::{drop, pile, pyramid, stack};

use crate::glam::Vec3;
use crate::world::{BodyDesc, Collider, World, WorldError};

/// A world with a floor at y = 0.
pub fn floor(friction: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    world.add(BodyDesc::fixed().at(Vec3::ZERO).with(Collider::half_space().friction(friction)))?;
    Ok(world)
}
