//! Figure 6: a tower of cards, held by friction alone.

use super::floor;
use crate::glam::{Quat, Vec3};
use crate::world::{BodyDesc, Collider, World, WorldError};

/// Length, thickness and width of a card, metres.
const CARD: Vec3 = Vec3::new(1.0, 0.02, 0.7);
/// How far the cards lean, degrees.
const LEAN: f32 = 20.0;
const FRICTION: f32 = 0.6;
/// Light, as cards are: 1.4 kg a square metre would be cardboard of 2 cm.
const DENSITY: f32 = 70.0;

/// `levels` rows of leaning pairs, each one shorter than the row below, with lying cards between. Everything just
/// touches.
pub fn cards(levels: u32) -> Result<World, WorldError> {
    let mut world = floor(FRICTION)?;
    let Vec3 { x: length, y: thickness, z: width } = CARD;
    let angle = LEAN.to_radians();
    let (sin, cos) = angle.sin_cos();
    let rise = length * cos + thickness * sin;
    // From the line where a pair meets to a card's middle, and from pair to pair.
    let (aside, pitch) = (0.5 * (length * sin + thickness * cos), 2.0 * (length * sin + thickness * cos));
    let card = |x: f32, y: f32, size: Vec3, turn: f32| {
        let shape = Collider::cuboid(size).friction(FRICTION).density(DENSITY);
        BodyDesc::dynamic().at(Vec3::new(x, y, 0.0)).turned(Quat::from_rotation_z(turn)).with(shape)
    };
    let mut y = 0.0;
    for level in 0..levels {
        let pairs = levels - level;
        for pair in 0..pairs {
            let x = (pair as f32 - (pairs - 1) as f32 * 0.5) * pitch;
            for (side, name) in [(-1.0, "top left"), (1.0, "top right")] {
                let leaning = Vec3::new(thickness, length, width);
                let body = world.add(card(x + side * aside, y + 0.5 * rise, leaning, side * angle))?;
                if pairs == 1 {
                    world.set_name(body, name)?;
                }
            }
        }
        y += rise;
        // A little shorter than from tip to tip, so that lying cards do not push each other.
        let lying = Vec3::new(0.98 * pitch, thickness, width);
        for gap in 1..pairs {
            let x = (gap as f32 - pairs as f32 * 0.5) * pitch;
            world.add(card(x, y + 0.5 * thickness, lying, 0.0))?;
        }
        y += thickness;
    }
    Ok(world)
}
