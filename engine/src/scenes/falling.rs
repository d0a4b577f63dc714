//! Articulated bodies that fall onto a cloth.

use crate::glam::{Quat, Vec3};
use crate::world::soft::SoftHandle;
use crate::world::{AttachmentDesc, BodyDesc, Cloth, Collider, JointDesc, SoftDesc, SoftSurface, World, WorldError};

/// Bodies of a block along its three axes, and of a chain: 36 bodies on 75 joints, and 10 on 9. The paper does not say
/// what its 35,000 bodies on 72,000 joints are; with two joints a body they cannot be trees, as people are.
const BLOCK: [u32; 3] = [4, 3, 3];
const CHAIN: [u32; 3] = [10, 1, 1];

/// How far the cloth hangs in the middle, as a part of its width.
const SAG: f32 = 0.15;

/// Figure 14: `blocks` blocks and `chains` chains of cubes on ball joints that fall onto a cloth of `side` times `side`
/// particles, `width` metres wide, which is held at its border. Cubes are a quarter larger than the squares of the
/// cloth, since only particles touch.
pub fn ragdoll_cloth(blocks: u32, chains: u32, side: u32, width: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    let spacing = width / (side - 1) as f32;
    held(&mut world, side, width)?;
    let (cube, pitch) = (1.25 * spacing, 1.4 * spacing);
    // From this height on, beside and above each other: on the inner part, so that none falls beside the cloth.
    let mut low = 2.0 * spacing;
    for (number, size) in [(blocks, BLOCK), (chains, CHAIN)] {
        let room = Vec3::from_array(size.map(|n| (n as f32 + 0.6) * pitch));
        let across = |room: f32| ((0.8 * width / room) as u32).max(1);
        let (wide, deep) = (across(room.x), across(room.z));
        for i in 0..number {
            let (x, z, y) = (i % wide, i / wide % deep, i / wide / deep);
            let beside = |i: u32, of: u32, room: f32| (i as f32 - 0.5 * (of - 1) as f32) * room;
            let middle = Vec3::new(beside(x, wide, room.x), low + (y as f32 + 0.5) * room.y, beside(z, deep, room.z));
            // A little turned, each by another angle, so that they do not come down as one.
            let turn =
                Quat::from_rotation_y(0.1 * (i as f32 * 2.4).sin()) * Quat::from_rotation_x(0.03 * (i % 5) as f32);
            jointed(&mut world, size, (cube, pitch), middle, turn)?;
        }
        low += number.div_ceil(wide * deep) as f32 * room.y;
    }
    let (first, last) = (world.handles().next(), world.handles().last());
    for (body, name) in [(first, "first cube"), (last, "last cube")] {
        body.map_or(Ok(()), |body| world.set_name(body, name))?;
    }
    Ok(world)
}

/// A cloth held at its border, at height 0, and cut so that it hangs in between: what falls onto a flat one jumps off.
fn held(world: &mut World, side: u32, width: f32) -> Result<SoftHandle, WorldError> {
    // Canvas. What it carries is tens of times as heavy, and is thrown out again if nothing takes its energy: damping
    // is the stiffness times a thirtieth of a second, and swings take a second.
    let cloth = Cloth { density: 1.0, stretch: 3e5, damping: 1e4, ..Cloth::default() };
    let half = 0.5 * width;
    let corner = Vec3::new(-half, 0.0, -half);
    let mut desc = SoftDesc::cloth(corner, Vec3::X * width, Vec3::Z * width, (side, side), &cloth);
    for p in &mut desc.rest {
        let (x, z) = (p.x / half, p.z / half);
        p.y = -SAG * width * (1.0 - x * x).max(0.0) * (1.0 - z * z).max(0.0);
    }
    let cloth = world.add_soft(desc.touching(SoftSurface::new(0.1 * width / (side - 1) as f32, 0.6)))?;
    for at in 0..side * side {
        let (i, j) = (at % side, at / side);
        if i == 0 || j == 0 || i + 1 == side || j + 1 == side {
            world.attach(AttachmentDesc::to_world(cloth, at))?;
        }
    }
    Ok(cloth)
}

/// Cubes beside, above and behind each other, each held to its neighbours by ball joints.
fn jointed(
    world: &mut World,
    [x, y, z]: [u32; 3],
    (cube, pitch): (f32, f32),
    middle: Vec3,
    turn: Quat,
) -> Result<(), WorldError> {
    let shape = Collider::cuboid(Vec3::splat(cube)).density(50.0).friction(0.6);
    let half = 0.5 * Vec3::new((x - 1) as f32, (y - 1) as f32, (z - 1) as f32);
    let mut bodies = Vec::with_capacity((x * y * z) as usize);
    for at in 0..x * y * z {
        let (i, j, k) = (at % x, at / x % y, at / x / y);
        let place = middle + turn * ((Vec3::new(i as f32, j as f32, k as f32) - half) * pitch);
        let body = world.add(BodyDesc::dynamic().at(place).turned(turn).with(shape.clone()))?;
        for (there, back, way) in [(i > 0, 1, Vec3::X), (j > 0, x, Vec3::Y), (k > 0, x * y, Vec3::Z)] {
            if there {
                let (other, reach) = (bodies[(at - back) as usize], way * (0.5 * pitch));
                world.add_joint(JointDesc::ball(body, other).anchors(-reach, reach))?;
            }
        }
        bodies.push(body);
    }
    Ok(())
}
