//! Things that joints and springs hold together.

use crate::glam::{Quat, Vec3};
use crate::world::{BodyDesc, BodyHandle, Collider, JointDesc, World, WorldError};
use std::f32::consts::PI;

/// Length of a chain's link.
const LINK: f32 = 0.2;

/// A chain of `links` ball joints from `from` along `way`, the first of them on `first` or on the world. The last link.
fn chain(
    world: &mut World,
    links: u32,
    from: Vec3,
    way: Vec3,
    first: Option<BodyHandle>,
) -> Result<BodyHandle, WorldError> {
    let turn = Quat::from_rotation_arc(Vec3::X, way);
    let link = Collider::cuboid(Vec3::new(LINK, 0.05, 0.05)).density(1000.0);
    let mut last = first;
    let mut made = None;
    for i in 0..links.max(1) {
        let start = from + way * (LINK * i as f32);
        let body = BodyDesc::dynamic().at(start + way * (LINK * 0.5)).turned(turn).with(link.clone());
        let body = world.add_named(format!("link {}", i + 1), body)?;
        let joint = JointDesc::ball(body, last).placed(world, start, turn)?;
        world.add_joint_named(format!("joint {}", i + 1), joint)?;
        (last, made) = (Some(body), Some(body));
    }
    made.ok_or(WorldError::NoMass)
}

/// Mass of a link.
const LINK_MASS: f32 = LINK * 0.05 * 0.05 * 1000.0;

/// Radius of a steel ball of this mass.
fn steel(mass: f32) -> f32 {
    (mass / (7800.0 * 4.0 / 3.0 * PI)).cbrt()
}

/// Figures 7, 8 and 15: a chain of `links` with a ball `ratio` times as heavy as a link at its end, `angle` radians
/// from hanging straight down.
pub fn pendulum(links: u32, ratio: f32, angle: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    let way = Vec3::new(angle.sin(), -angle.cos(), 0.0);
    let top = Vec3::Y * (links as f32 * LINK + 3.0);
    let last = chain(&mut world, links, top, way, None)?;
    let end = top + way * (links as f32 * LINK);
    let radius = steel(ratio * LINK_MASS);
    let ball = BodyDesc::dynamic().at(end + way * radius).with(Collider::sphere(radius));
    let ball = world.add_named("ball", ball.weighing(ratio * LINK_MASS))?;
    let joint = JointDesc::ball(ball, last).placed(&world, end, Quat::IDENTITY)?;
    world.add_joint_named("last joint", joint)?;
    Ok(world)
}

/// Figure 9: two balls, each `ratio` times as heavy as a link, with a chain of `links` between them over a beam.
pub fn chain_balls(links: u32, ratio: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    let half = links as f32 * LINK * 0.5;
    let height = half + 3.0;
    let radius = steel(ratio * LINK_MASS);
    let ball = Collider::sphere(radius);
    let start = Vec3::new(-half, height, 0.0);
    let heavy =
        |x: f32| BodyDesc::dynamic().at(Vec3::new(x, height, 0.0)).weighing(ratio * LINK_MASS).with(ball.clone());
    let left = world.add_named("left ball", heavy(-half - radius).moving(Vec3::Z * 3.0))?;
    let last = chain(&mut world, links, start, Vec3::X, Some(left))?;
    let right = world.add_named("right ball", heavy(half + radius).moving(Vec3::Z * -3.0))?;
    let joint = JointDesc::ball(right, last).placed(&world, Vec3::new(half, height, 0.0), Quat::IDENTITY)?;
    world.add_joint_named("last joint", joint)?;
    world.set_gravity(Vec3::ZERO)?;
    Ok(world)
}

/// Side of the blocks on springs.
const BLOCK: f32 = 0.5;

/// Figure 2: three blocks and two springs, the upper one weak and the lower one `ratio` times as stiff. The topmost is
/// fixed.
pub fn spring_ratio(ratio: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    let block = Collider::cuboid(Vec3::splat(BLOCK)).density(8.0);
    let stiffness = [100.0, 100.0 * ratio];
    let mut last = world.add_named("fixed block", BodyDesc::fixed().at(Vec3::Y * 5.0).with(block.clone()))?;
    for (i, stiffness) in stiffness.into_iter().enumerate() {
        let body = BodyDesc::dynamic().at(Vec3::Y * (4.0 - i as f32)).with(block.clone());
        let body = world.add_named(format!("block {}", i + 1), body)?;
        world.add_joint_named(format!("spring {}", i + 1), JointDesc::spring(body, last, 1.0, stiffness, 0.0))?;
        last = body;
    }
    Ok(world)
}

/// Figure 4: `blocks` blocks on springs whose stiffness alternates with a ratio, stretched between two fixed ones.
pub fn spring_chain(blocks: u32, ratio: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    let block = Collider::cuboid(Vec3::splat(BLOCK)).density(8.0);
    let mut last = world.add_named("left block", BodyDesc::fixed().at(Vec3::Y * 5.0).with(block.clone()))?;
    for i in 1..=blocks + 1 {
        let place = Vec3::new(i as f32, 5.0, 0.0);
        let end = i > blocks;
        let desc = if end { BodyDesc::fixed() } else { BodyDesc::dynamic() };
        let name = if end { "right block".to_owned() } else { format!("block {i}") };
        let body = world.add_named(name, desc.at(place).with(block.clone()))?;
        // The weak ones are at rest half as long as there is room, so that the whole is stretched.
        let (stiffness, rest) = if i % 2 == 1 { (1000.0, 0.5) } else { (1000.0 * ratio, 1.0) };
        world.add_joint_named(format!("spring {i}"), JointDesc::spring(body, last, rest, stiffness, 30.0))?;
        last = body;
    }
    Ok(world)
}
