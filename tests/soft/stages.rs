//! The scenes with soft bodies, each against what it is there to show.

use super::{run, simulation};
use crate::common::iterating;
use drystone::glam::Vec3;
use drystone::scenes;
use drystone::world::{BodyDesc, Cloth, Collider, SoftDesc, SoftSurface, World};

#[test]
fn the_pole_of_the_flag_bends_and_does_not_come_apart() {
    // The figure's, at half and at twice its resolution, with other numbers of segments, and other steps.
    let cases = [
        (50, 30, 20u32, 60u32),
        (25, 15, 10, 60),
        (100, 60, 40, 60),
        (25, 15, 20, 60),
        (40, 20, 12, 60),
        (50, 30, 20, 30),
        (25, 15, 20, 120),
    ];
    for (columns, rows, segments, rate) in cases {
        let length = 4.0 / segments as f32;
        let world = scenes::flag(columns, rows, segments).unwrap();
        let flag = world.soft_bodies().next().unwrap();
        let pole: Vec<_> = world.handles().collect();
        let start = world.desc(pole[segments as usize - 1]).unwrap().position;
        let mut simulation = simulation(world, iterating(5));
        let mut worst = (0.0f32, 0.0f32);
        // What costs the most is not looked at for as long.
        let seconds = if columns == 100 { 2 } else { 4 };
        for _ in 0..seconds * rate {
            simulation.step(1.0 / rate as f32).unwrap();
            let bodies: Vec<_> = pole.iter().map(|b| simulation.body(*b).unwrap()).collect();
            let mut foot = Vec3::ZERO;
            for body in &bodies {
                let half = body.rotation * Vec3::Y * (length * 0.5);
                worst.0 = worst.0.max((body.position - half - foot).length());
                foot = body.position + half;
            }
            let state = simulation.soft(flag).unwrap();
            for particle in [0, columns * (rows - 1)] {
                let described = simulation.world().soft_desc(flag).unwrap().rest[particle as usize];
                let at = ((described.y / length) as usize).min(segments as usize - 1);
                let anchor = described - Vec3::Y * ((at as f32 + 0.5) * length);
                let held = bodies[at].position + bodies[at].rotation * anchor;
                worst.1 = worst.1.max((state.positions[particle as usize] - held).length());
            }
        }
        let bent = (simulation.body(pole[segments as usize - 1]).unwrap().position - start).length();
        // Five iterations are the figure's.
        let off = format!("joints {}, attachments {} of {length}, bent by {bent}", worst.0, worst.1);
        let case = format!("{columns} on {segments} at 1/{rate}: {off}");
        assert!(worst.0 < 1e-3 * length && worst.1 < 1e-3 * length, "{case}");
        assert!(bent > 0.005 && bent < 1.0, "{case}");
    }
}

#[test]
fn cloth_between_two_boxes_is_held_by_friction_alone() {
    let mut world = World::new();
    let below = Collider::cuboid(Vec3::new(0.4, 1.0, 1.2)).friction(0.8);
    world.add(BodyDesc::fixed().at(Vec3::new(-0.2, 0.5, 0.0)).with(below)).unwrap();
    let cloth = Cloth { density: 0.3, stretch: 3000.0, damping: 0.3, ..Cloth::default() };
    let desc = SoftDesc::cloth(Vec3::new(-0.4, 1.01, -0.5), Vec3::X * 1.2, Vec3::Z, (13, 13), &cloth);
    let cloth = world.add_soft(desc.touching(SoftSurface::new(0.01, 0.8))).unwrap();
    let above = Collider::cuboid(Vec3::new(0.4, 0.2, 1.2)).friction(0.8);
    let lid = world.add(BodyDesc::dynamic().at(Vec3::new(-0.2, 1.12, 0.0)).with(above).weighing(20.0)).unwrap();
    let mut simulation = simulation(world, iterating(10));
    run(&mut simulation, 2.0, 1.0 / 60.0);
    let (early, lid_early) = (simulation.soft(cloth).unwrap().positions, simulation.body(lid).unwrap().position);
    run(&mut simulation, 10.0, 1.0 / 60.0);
    let late = simulation.soft(cloth).unwrap().positions;
    let pairs = early.iter().zip(&late).filter(|(p, _)| (-0.35..-0.05).contains(&p.x));
    let most = pairs.map(|(a, b)| (*a - *b).length()).fold(0.0, f32::max);
    assert!(most < 1e-3, "creeps by {most} in 10 s");
    let way = (simulation.body(lid).unwrap().position - lid_early).length();
    assert!(way < 1e-3, "the lid goes {way} in 10 s");
}

#[test]
fn draped_cloth_comes_to_rest_on_the_floor() {
    for (side, iterations) in [(14, 10), (19, 10)] {
        let world = scenes::drape(side).unwrap();
        let cloth = world.soft_bodies().next().unwrap();
        let mut simulation = simulation(world, iterating(iterations));
        run(&mut simulation, 14.0, 1.0 / 60.0);
        let state = simulation.soft(cloth).unwrap();
        let fastest = state.velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
        assert!(fastest < 0.02, "{side} at {iterations}: {fastest} m/s");
        assert!(state.positions.iter().all(|p| p.y > 0.005), "{side} at {iterations}: none is below the floor");
    }
}

#[test]
fn nothing_goes_through_the_cloth_that_articulated_bodies_fall_onto() {
    let parameters = [("part".to_owned(), 0.004)].into();
    let mut world = scenes::build("ragdoll_cloth", &parameters).unwrap().world;
    let cloth = world.soft_bodies().next().unwrap();
    // One below it is found by the same criterion.
    let below = BodyDesc::fixed().at(Vec3::new(0.0, -5.0, 0.0)).with(Collider::sphere(0.1));
    let below = world.add(below).unwrap();
    let triangles = world.soft_triangles(cloth).unwrap().to_vec();
    let mut simulation = simulation(world, iterating(10));
    for step in 0..120 {
        simulation.step(1.0 / 60.0).unwrap();
        if step % 15 != 14 {
            continue;
        }
        let at = simulation.soft(cloth).unwrap().positions;
        // How high a place is above what of the cloth is above or below it.
        let above = |p: Vec3| {
            let heights = triangles.iter().filter_map(|corners| {
                let [a, b, c] = corners.map(|i| at[i as usize]);
                let (u, v, p) = (b - a, c - a, p - a);
                let area = u.x * v.z - u.z * v.x;
                let (s, t) = ((p.x * v.z - p.z * v.x) / area, (u.x * p.z - u.z * p.x) / area);
                (s >= 0.0 && t >= 0.0 && s + t <= 1.0).then_some(p.y - u.y * s - v.y * t)
            });
            heights.fold(f32::NEG_INFINITY, f32::max)
        };
        let bodies = simulation.bodies().unwrap();
        let through: Vec<_> = bodies.iter().filter(|(_, state)| above(state.position) <= 0.0).collect();
        assert!(through.len() == 1 && through[0].0 == below, "step {step}: {through:?}");
    }
}
