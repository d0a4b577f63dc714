//! Where each scene is best seen from.

use crate::glam::Vec3;
use crate::layout::Aabb;
use crate::render::{Camera, bounds};
use crate::world::World;

/// The camera of a scene: the direction it looks from, and how far to each side there is more to see than at the start.
pub fn camera(scene: &str, world: &World) -> Camera {
    let Some(Aabb { min, max }) = bounds(world) else { return Camera::of(world) };
    let (none, size) = (Vec3::ZERO, max - min);
    let wider = Vec3::new(size.x, 0.0, size.z) * 0.3;
    let (direction, below, above) = match scene {
        "pile" => (Vec3::new(0.9, 0.5, 1.3), Vec3::new(1.0, 0.0, 1.0), Vec3::new(5.0, 0.0, 3.0)),
        "stack" => (Vec3::new(0.8, 0.25, 1.3), none, none),
        "pyramid" => (Vec3::new(0.45, 0.22, 1.0), none, none),
        // Most of its time the cloud is a heap, lower and wider.
        "drop" => (Vec3::new(0.8, 0.5, 1.2), wider + Vec3::Y, wider - Vec3::Y * 0.4 * size.y),
        "arch" => (Vec3::new(0.5, 0.2, 1.0), none, none),
        "cards" => (Vec3::new(0.35, 0.15, 1.0), Vec3::new(1.0, 0.0, 0.5), Vec3::new(1.0, 0.0, 0.5)),
        "dominoes" => (Vec3::new(-1.0, 0.3, 0.3), none, none),
        // The one without friction goes on for ever; the next stops after 51 m.
        "friction" => (Vec3::new(0.25, 0.75, 1.0), none, Vec3::new(30.0, 0.0, 0.0)),
        "rolling" => (Vec3::new(-0.9, 0.45, 1.0), Vec3::new(7.0, 2.0, 0.0), none),
        // Most of its time they lie on the cloth.
        "ragdoll_cloth" => (Vec3::new(0.5, 0.5, 1.0), none, Vec3::Y * -0.5 * size.y),
        "spinner" => (Vec3::new(0.5, 0.45, 1.0), Vec3::splat(0.2), Vec3::splat(0.2)),
        _ => return Camera::of(world),
    };
    Camera::framing(&Aabb { min: min - below, max: max + above }, direction)
}
