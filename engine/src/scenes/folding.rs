//! Soft surfaces that meet themselves and each other.

use crate::glam::{Quat, Vec3};
use crate::world::{AttachmentDesc, BodyDesc, Cloth, SoftDesc, SoftSurface, World, WorldError};
use std::f32::consts::TAU;

/// A cylinder of cloth, `around` times `along` particles, whose ends are turned against each other by `turns` in 10 s
/// and come nearer meanwhile, so that it folds on itself.
pub fn twist(around: u32, along: u32, turns: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    let (radius, length, seconds) = (0.2, 1.0, 10.0);
    let rest: Vec<Vec3> = (0..along)
        .flat_map(|j| {
            let x = length * (j as f32 / (along - 1) as f32 - 0.5);
            (0..around).map(move |i| {
                let angle = TAU * i as f32 / around as f32;
                Vec3::new(x, radius * angle.cos(), radius * angle.sin())
            })
        })
        .collect();
    let at = |i: u32, j: u32| i % around + around * j;
    let mut triangles = Vec::new();
    for (i, j) in (0..along - 1).flat_map(|j| (0..around).map(move |i| (i, j))) {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
        // Seen from outside, counter-clockwise.
        let halves = if (i + j) % 2 == 0 { [[a, d, b], [a, c, d]] } else { [[a, c, b], [b, c, d]] };
        triangles.extend(halves);
    }
    let cloth = Cloth { density: 0.2, stretch: 500.0, damping: 0.1, ..Cloth::default() };
    let side = (TAU * radius / around as f32).min(length / (along - 1) as f32);
    let surface = SoftSurface::new(0.1 * side, 0.3).meeting_soft();
    let cloth = world.add_soft(SoftDesc::from_triangles(rest, &triangles, &cloth).touching(surface))?;
    for (name, j, sign) in [("left", 0, 1.0), ("right", along - 1, -1.0)] {
        let place = Vec3::X * (-0.5 * length * sign);
        let spin = Vec3::X * (0.5 * turns * TAU / seconds * sign);
        let nearer = Vec3::X * (0.2 * length / seconds * sign);
        let end = BodyDesc::kinematic().at(place).turned(Quat::IDENTITY).spinning(spin).moving(nearer);
        let end = world.add_named(name, end)?;
        for i in 0..around {
            world.attach(AttachmentDesc::to_body(cloth, at(i, j), end))?;
        }
    }
    Ok(world)
}
