//! Things on top of each other.

use super::floor;
use crate::glam::{Quat, Vec3};
use crate::world::{BodyDesc, Collider, World, WorldError};
use std::f32::consts::FRAC_PI_2;

/// Figures 1 and 3: levels of bricks, 1.0 x 0.5 x 0.5 m, laid as closed square rings in running bond, concentric from
/// the outside in, held by friction alone. About `bricks` of them in `levels` levels.
pub fn pile(bricks: u32, levels: u32) -> Result<World, WorldError> {
    let mut world = floor(0.6)?;
    let brick = Collider::cuboid(Vec3::new(1.0, 0.5, 0.5)).friction(0.6);
    let levels = levels.max(1);
    // A ring with s bricks a side has 4 s of them. Rings side by side until a level has its share.
    let a_level = (bricks as f32 / levels as f32).max(4.0);
    let side = (a_level / 4.0).round().max(1.0) as u32;
    let rings = if side > 40 { (side as f32 / 40.0).sqrt().ceil() as u32 } else { 1 };
    let (columns, side) = (rings, side.div_ceil(rings * rings).max(1));
    let width = side as f32 + 0.5;
    for cx in 0..columns {
        for cz in 0..columns {
            let spread = (width + 3.0) * 1.0;
            let corner = Vec3::new(cx as f32 * spread, 0.0, cz as f32 * spread);
            let middle = corner - Vec3::new(1.0, 0.0, 1.0) * ((columns - 1) as f32 * spread * 0.5);
            for level in 0..levels {
                ring(&mut world, &brick, middle, side, level)?;
            }
        }
    }
    name_last(&mut world, "top")?;
    Ok(world)
}

/// Calls the body that was added last by a name.
fn name_last(world: &mut World, name: &str) -> Result<(), WorldError> {
    let last = world.handles().last();
    last.map_or(Ok(()), |body| world.set_name(body, name))
}

/// One course of a square ring: each side is `side` bricks long and ends half a brick's width past the corner, so that
/// the next side starts there. Every second course runs the other way round.
fn ring(world: &mut World, brick: &Collider, middle: Vec3, side: u32, level: u32) -> Result<(), WorldError> {
    let half = side as f32 * 0.5 + 0.25;
    let y = 0.25 + 0.5 * level as f32;
    let mirrored = level % 2 == 1;
    for quarter in 0..4 {
        let turn = Quat::from_rotation_y(quarter as f32 * FRAC_PI_2);
        for i in 0..side {
            // From the corner of the outer square along the side.
            let along = -half + 0.5 + i as f32;
            let along = if mirrored { -along } else { along };
            let place = turn * Vec3::new(along, 0.0, half - 0.25);
            world.add(BodyDesc::dynamic().at(middle + place + Vec3::Y * y).turned(turn).with(brick.clone()))?;
        }
    }
    Ok(())
}

/// Figure 10: boxes of 1 m, each `ratio` times as heavy as the one below.
pub fn stack(boxes: u32, ratio: f32) -> Result<World, WorldError> {
    let mut world = floor(0.5)?;
    let mut mass = 1000.0;
    for i in 0..boxes {
        let body = BodyDesc::dynamic().at(Vec3::new(0.0, 0.5 + i as f32, 0.0)).with(Collider::cuboid(Vec3::ONE));
        let name = if i + 1 == boxes { "top".to_owned() } else { format!("box {}", i + 1) };
        world.add_named(name, body.weighing(mass))?;
        mass *= ratio;
    }
    Ok(world)
}

/// A pyramid of cubes with `base` of them along the edge of its square bottom: 820 cubes have a wall of 40.
pub fn pyramid(base: u32) -> Result<World, WorldError> {
    let mut world = floor(0.5)?;
    for level in 0..base {
        for i in 0..base - level {
            let x = (i as f32 - (base - level - 1) as f32 * 0.5) * 1.05;
            world
                .add(BodyDesc::dynamic().at(Vec3::new(x, 0.5 + level as f32, 0.0)).with(Collider::cuboid(Vec3::ONE)))?;
        }
    }
    name_last(&mut world, "top")?;
    Ok(world)
}

/// A cloud of spheres, boxes and capsules that falls onto the floor.
pub fn drop(bodies: u32) -> Result<World, WorldError> {
    heap(bodies, &[])
}

/// The same with rocks among them: every fourth body is one of eight convex hulls.
pub fn drop_with_hulls(bodies: u32) -> Result<World, WorldError> {
    let rocks: Result<Vec<Collider>, _> = (0..8).map(rock).collect();
    heap(bodies, &rocks?)
}

/// Points all around, near the surface of an ellipsoid.
fn rock(number: u32) -> Result<Collider, WorldError> {
    let count = 8 + 4 * number;
    let noise = |i: u32| ((i + 97 * number).wrapping_mul(2_654_435_761) >> 16) as f32 / 65_536.0;
    let points = (0..count).map(|i| {
        // A spiral from pole to pole, at the golden angle.
        let z = 1.0 - (2 * i + 1) as f32 / count as f32;
        let (sine, cosine) = (i as f32 * 2.399_963).sin_cos();
        let flat = (1.0 - z * z).sqrt();
        Vec3::new(flat * cosine * 0.6, flat * sine * 0.5, z * 0.45) * (0.8 + 0.2 * noise(i))
    });
    Collider::hull(&points.collect::<Vec<_>>())
}

fn heap(bodies: u32, rocks: &[Collider]) -> Result<World, WorldError> {
    let mut world = floor(0.5)?;
    let side = (bodies as f32 / 2.0).cbrt().ceil().max(1.0) as u32;
    for i in 0..bodies {
        let (x, z, y) = (i % side, i / side % side, i / (side * side));
        let kinds = if rocks.is_empty() { 3 } else { 4 };
        let shape = match i % kinds {
            0 => Collider::sphere(0.5),
            1 => Collider::cuboid(Vec3::new(1.0, 0.8, 0.6)),
            2 => Collider::capsule(0.4, 0.3),
            _ => rocks[(i / kinds) as usize % rocks.len()].clone(),
        };
        let jitter = (i.wrapping_mul(2_654_435_761) >> 16) as f32 / 65_536.0;
        let place = Vec3::new(x as f32 * 1.4 + 0.2 * jitter, 1.0 + y as f32 * 1.4, z as f32 * 1.4 - 0.2 * jitter);
        let turn = Quat::from_rotation_z(jitter * 3.0) * Quat::from_rotation_x(jitter * 5.0);
        world.add(BodyDesc::dynamic().at(place).turned(turn).with(shape))?;
    }
    Ok(world)
}

/// A row of dominoes, the first one pushed.
pub fn dominoes(count: u32) -> Result<World, WorldError> {
    let mut world = floor(0.5)?;
    for i in 0..count {
        let stone = Collider::cuboid(Vec3::new(0.2, 1.0, 0.5)).friction(0.3);
        let push = if i == 0 { Vec3::new(0.0, 0.0, -2.0) } else { Vec3::ZERO };
        let place = Vec3::new(i as f32 * 0.6, 0.5, 0.0);
        let stone = BodyDesc::dynamic().at(place).spinning(push).moving(Vec3::X * -push.z * 0.5).with(stone);
        world.add_named(format!("stone {}", i + 1), stone)?;
    }
    Ok(world)
}
