//! The scenes of "Adaptive Sub-stepping": much weight on light bodies, as published. The engine's own variants of the
//! first two, with slack in the bridge and a smaller box, are `bridge` and `swing_box`.

use super::floor;
use crate::glam::{Quat, Vec3};
use crate::world::{BodyDesc, Collider, JointDesc, World, WorldError};

/// Section 4.1.1: `links` links of 1 kg on hinges, and a box of `mass` kilograms that swings on them at 10 m/s.
pub fn swinging_box(links: u32, mass: f32) -> Result<World, WorldError> {
    const LINK: Vec3 = Vec3::new(0.25, 1.5, 0.25);
    let mut world = floor(0.5)?;
    let top = LINK.y * links as f32 + 6.0;
    let mut last = None;
    for i in 0..links {
        let start = Vec3::Y * (top - LINK.y * i as f32);
        let body = BodyDesc::dynamic().at(start - Vec3::Y * 0.5 * LINK.y).with(Collider::cuboid(LINK)).weighing(1.0);
        let body = world.add_named(format!("link {}", i + 1), body)?;
        let hinge = JointDesc::hinge(body, last).placed(&world, start, Quat::IDENTITY)?;
        world.add_joint_named(format!("hinge {}", i + 1), hinge)?;
        last = Some(body);
    }
    let end = Vec3::Y * (top - LINK.y * links as f32);
    let heavy = BodyDesc::dynamic().at(end - Vec3::Y * 2.0).moving(Vec3::Z * 10.0);
    let heavy = world.add_named("box", heavy.with(Collider::cuboid(Vec3::splat(4.0))).weighing(mass))?;
    let hinge = JointDesc::hinge(heavy, last).placed(&world, end, Quat::IDENTITY)?;
    world.add_joint_named("last hinge", hinge)?;
    Ok(world)
}

/// Section 4.1.2: `planks` planks of 1 kg on two ball joints each side, and a ball of 1000 kg that rolls over them.
pub fn swinging_bridge(planks: u32) -> Result<World, WorldError> {
    const APART: f32 = 0.6;
    let mut world = floor(0.8)?;
    let plank = Collider::cuboid(Vec3::new(0.5, 0.1, 1.0)).friction(0.8);
    let height = Vec3::Y * 3.0;
    let mut last = None;
    for i in 0..=planks {
        // Behind the last one there is only the bank.
        let middle = height + Vec3::X * (APART * i as f32);
        let body = BodyDesc::dynamic().at(middle).with(plank.clone()).weighing(1.0);
        let body = if i < planks { Some(world.add_named(format!("plank {}", i + 1), body)?) } else { None };
        for (z, side) in [(-0.5, "left"), (0.5, "right")] {
            let point = middle + Vec3::new(-0.5 * APART, 0.0, z);
            let joint = match (body, last) {
                (Some(body), last) => JointDesc::ball(body, last),
                (None, Some(last)) => JointDesc::ball(last, None),
                (None, None) => continue,
            };
            world.add_joint_named(format!("{side} joint {}", i + 1), joint.placed(&world, point, Quat::IDENTITY)?)?;
        }
        last = body;
    }
    let ball = BodyDesc::dynamic().at(height + Vec3::Y * 0.55).moving(Vec3::X).spinning(Vec3::Z * -5.0);
    world.add_named("ball", ball.with(Collider::sphere(0.5).friction(0.8)).weighing(1000.0))?;
    Ok(world)
}

/// Section 4.1.3: `levels` levels of four balls of 1 kg with plates of 1 kg between them, a box of `mass` kilograms on
/// top, and no friction.
pub fn heavy_stack(levels: u32, mass: f32) -> Result<World, WorldError> {
    let mut world = floor(0.0)?;
    let mut height = 0.0;
    for level in 1..=levels {
        for (x, z, corner) in [(-4.0, -4.0, 1), (4.0, -4.0, 2), (-4.0, 4.0, 3), (4.0, 4.0, 4)] {
            let ball = BodyDesc::dynamic().at(Vec3::new(x, height + 0.5, z)).weighing(1.0);
            world.add_named(format!("ball {level}.{corner}"), ball.with(Collider::sphere(0.5).friction(0.0)))?;
        }
        height += 1.0;
        let (size, weight) =
            if level < levels { (Vec3::new(10.0, 0.5, 10.0), 1.0) } else { (Vec3::new(15.0, 1.0, 15.0), mass) };
        let plate = BodyDesc::dynamic().at(Vec3::Y * (height + 0.5 * size.y)).weighing(weight);
        let name = if level < levels { format!("plate {level}") } else { "box".to_owned() };
        world.add_named(name, plate.with(Collider::cuboid(size).friction(0.0)))?;
        height += size.y;
    }
    Ok(world)
}
