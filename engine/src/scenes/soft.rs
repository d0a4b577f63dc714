//! Cloth and solids that give way, beside rigid bodies.

use super::floor;
use crate::glam::{Quat, Vec3};
use crate::world::joint::{Drive, JointAxis};
use crate::world::soft::SoftSpring;
use crate::world::{
    AttachmentDesc, BodyDesc, Cloth, Collider, JointDesc, SoftDesc, SoftSurface, Solid, World, WorldError,
};

/// A cloth of `side` times `side` particles that falls over a ball and a box on a floor.
pub fn drape(side: u32) -> Result<World, WorldError> {
    let mut world = floor(0.6)?;
    world.add_named("ball", BodyDesc::fixed().at(Vec3::new(-0.5, 0.5, 0.0)).with(Collider::sphere(0.5)))?;
    let cube = Collider::cuboid(Vec3::new(0.6, 0.8, 0.6));
    world.add_named("box", BodyDesc::fixed().at(Vec3::new(0.6, 0.4, 0.0)).with(cube))?;
    // Folds that hang sway by bending alone, and gravity draws them back: nothing but the damping of angles stops them.
    // With a hundredth of it they do so for minutes.
    let cloth = Cloth { density: 0.3, damping: 0.3, bend_damping: 1e-4, ..Cloth::default() };
    let (corner, size) = (Vec3::new(-1.25, 1.15, -1.25), 2.5);
    let desc = SoftDesc::cloth(corner, Vec3::X * size, Vec3::Z * size, (side, side), &cloth);
    world.add_soft(desc.touching(SoftSurface::new(0.01, 0.6)))?;
    Ok(world)
}

/// Towers of `layers` soft blocks with a rigid box on each.
pub fn jelly(towers: u32, layers: u32) -> Result<World, WorldError> {
    let mut world = floor(0.6)?;
    let solid = Solid { density: 500.0, young: 1e5, poisson: 0.4, damping: 200.0 };
    for tower in 0..towers {
        for layer in 0..layers {
            let foot = Vec3::new(tower as f32, layer as f32 * 0.72, 0.0);
            let block = SoftDesc::block(Vec3::Y * 0.21, Vec3::new(0.5, 0.4, 0.5), (3, 3, 3), &solid);
            world.add_soft(block.moved(foot).touching(SoftSurface::new(0.005, 0.8)))?;
            let cube = Collider::cuboid(Vec3::new(0.5, 0.3, 0.5)).density(200.0).friction(0.8);
            world.add(BodyDesc::dynamic().at(foot + Vec3::Y * 0.567).with(cube))?;
        }
    }
    Ok(world)
}

/// A cloth of `side` times `side` particles held at its border, and a ball of `mass` kilograms that falls onto it.
pub fn trampoline(side: u32, mass: f32) -> Result<World, WorldError> {
    let mut world = World::new();
    let cloth = Cloth { density: 0.5, stretch: 2e4, damping: 1.0, ..Cloth::default() };
    let desc = SoftDesc::cloth(Vec3::new(-1.0, 1.0, -1.0), Vec3::X * 2.0, Vec3::Z * 2.0, (side, side), &cloth);
    let cloth = world.add_soft(desc.touching(SoftSurface::new(0.01, 0.5)))?;
    for at in 0..side * side {
        let (i, j) = (at % side, at / side);
        if i == 0 || j == 0 || i + 1 == side || j + 1 == side {
            world.attach(AttachmentDesc::to_world(cloth, at))?;
        }
    }
    let ball = BodyDesc::dynamic().at(Vec3::new(0.0, 1.8, 0.0)).with(Collider::sphere(0.25));
    world.add_named("ball", ball.weighing(mass))?;
    Ok(world)
}

/// Figure 5: a flag of springs, `columns` times `rows` particles, on a pole of `segments` that ball joints and angular
/// springs hold together. Two hard attachments hold it.
pub fn flag(columns: u32, rows: u32, segments: u32) -> Result<World, WorldError> {
    let mut world = World::new();
    let (height, radius) = (4.0, 0.04);
    let length = height / segments as f32;
    let mut last = None;
    let mut pole = Vec::new();
    for i in 0..segments {
        let foot = Vec3::Y * (i as f32 * length);
        // A tenth of the length is left free, so that segments that bend do not meet.
        let segment = Collider::cylinder(length * 0.45, radius).density(500.0);
        let body = BodyDesc::dynamic().at(foot + Vec3::Y * (length * 0.5)).with(segment);
        let body = world.add_named(format!("segment {}", i + 1), body)?;
        let mut joint = JointDesc::ball(body, last).placed(&world, foot, Quat::IDENTITY)?;
        for axis in [JointAxis::Twist, JointAxis::SwingY, JointAxis::SwingZ] {
            let spring = Drive::Spring { target: 0.0, stiffness: 6000.0, damping: 60.0, max: f32::INFINITY };
            joint = joint.driven(axis, spring);
        }
        world.add_joint_named(format!("joint {}", i + 1), joint)?;
        last = Some(body);
        pole.push(body);
    }
    let (wide, high) = (2.4, 1.5);
    let top = Vec3::new(radius + 0.02, height - 0.05, 0.0);
    let at = |i: u32, j: u32| {
        let (s, t) = (i as f32 / (columns - 1) as f32, j as f32 / (rows - 1) as f32);
        top + Vec3::new(wide * s, -high * t, 0.0)
    };
    let rest: Vec<Vec3> = (0..rows).flat_map(|j| (0..columns).map(move |i| at(i, j))).collect();
    let (mut springs, mut skin) = (Vec::new(), Vec::new());
    let mut tie = |a: u32, b: u32, stiffness: f32| {
        let rest = (rest[a as usize] - rest[b as usize]).length();
        springs.push(SoftSpring { ends: [a, b], rest, stiffness, damping: 0.02 });
    };
    for j in 0..rows {
        for i in 0..columns {
            let here = i + columns * j;
            let (right, below) = (i + 1 < columns, j + 1 < rows);
            if right {
                tie(here, here + 1, 2000.0);
            }
            if below {
                tie(here, here + columns, 2000.0);
            }
            if right && below {
                tie(here, here + columns + 1, 500.0);
                tie(here + 1, here + columns, 500.0);
                skin.extend([[here, here + 1, here + columns], [here + 1, here + columns + 1, here + columns]]);
            }
        }
    }
    let masses = vec![0.7 / rest.len() as f32; rest.len()];
    let cloth =
        SoftDesc { rest, masses, springs, skin, surface: Some(SoftSurface::new(0.01, 0.3)), ..SoftDesc::default() };
    let places = cloth.rest.clone();
    let cloth = world.add_soft(cloth)?;
    // A steady wind: what it pushes a particle with.
    for particle in 0..places.len() as u32 {
        world.set_particle_force(cloth, particle, Vec3::new(4.0, 0.0, 1.0) / places.len() as f32)?;
    }
    for particle in [0, columns * (rows - 1)] {
        let height = (places[particle as usize].y / length) as usize;
        let body = pole[height.min(pole.len() - 1)];
        world.attach(AttachmentDesc::to_body(cloth, particle, body))?;
    }
    Ok(world)
}
