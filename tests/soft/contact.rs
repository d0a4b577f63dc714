//! Particles on rigid bodies: loads, friction, impacts, and what both sides feel.

use super::{centre, run, simulation};
use crate::common::iterating;
use drystone::glam::{Quat, Vec3};
use drystone::world::{BodyDesc, Cloth, Collider, SoftDesc, SoftHandle, SoftSurface, Solid, World};
use drystone::{Simulation, SoftState, scenes};

const G: f32 = 9.81;

fn mass(desc: &SoftDesc) -> f32 {
    desc.masses.iter().sum()
}

/// The sum of what bodies push a soft body with.
fn pushed(simulation: &mut Simulation, soft: SoftHandle) -> Vec3 {
    simulation.soft_touches(soft).unwrap().touches.iter().map(|t| t.force).sum()
}

fn fastest(state: &SoftState) -> f32 {
    state.velocities.iter().map(|v| v.length()).fold(0.0, f32::max)
}

fn floor(friction: f32, tilt: f32) -> BodyDesc {
    BodyDesc::fixed().turned(Quat::from_rotation_z(tilt)).with(Collider::half_space().friction(friction))
}

#[test]
fn cloth_on_a_floor_is_carried_by_its_weight() {
    for (n, iterations, dt) in [(6, 4, 1.0 / 30.0), (11, 4, 1.0 / 60.0), (11, 10, 1.0 / 60.0), (21, 60, 1.0 / 240.0)] {
        let mut world = World::new();
        world.add(floor(0.5, 0.0)).unwrap();
        let desc = SoftDesc::cloth(Vec3::Y * 0.2, Vec3::X, Vec3::Z, (n, n), &Cloth::default());
        let (weight, radius) = (mass(&desc) * G, desc.surface.unwrap().radius);
        let cloth = world.add_soft(desc).unwrap();
        let mut simulation = simulation(world, iterating(iterations));
        run(&mut simulation, 2.0, dt);
        let (state, force) = (simulation.soft(cloth).unwrap(), pushed(&mut simulation, cloth));
        let case = format!("{n} at {iterations} and {dt}");
        assert!((force.y / weight - 1.0).abs() < 0.01, "{case}: {force} instead of {weight}");
        assert!(fastest(&state) < 1e-3, "{case}: {}", fastest(&state));
        for p in &state.positions {
            assert!((p.y - radius).abs() < 0.02 * radius, "{case}: {} above the floor instead of {radius}", p.y);
        }
    }
}

#[test]
fn cloth_holds_below_the_friction_angle_and_slides_above_it() {
    let friction = 0.5f32;
    for (n, iterations, dt) in [(6, 4, 1.0 / 60.0), (11, 10, 1.0 / 60.0), (11, 20, 1.0 / 240.0)] {
        for tilt in [0.3f32, 0.4, 0.6] {
            let mut world = World::new();
            world.add(floor(friction, -tilt)).unwrap();
            let turn = Quat::from_rotation_z(-tilt);
            let (along, up) = (turn * Vec3::X, turn * Vec3::Y);
            let desc = SoftDesc::cloth(Vec3::ZERO, along, Vec3::Z, (n, n), &Cloth::default());
            let radius = desc.surface.unwrap().radius;
            let desc = desc.moved(up * radius).touching(SoftSurface::new(radius, friction));
            let cloth = world.add_soft(desc.clone()).unwrap();
            let mut simulation = simulation(world, iterating(iterations));
            let first = centre(&desc, &simulation.soft(cloth).unwrap()).0;
            run(&mut simulation, 1.0, dt);
            let early = centre(&desc, &simulation.soft(cloth).unwrap());
            let seconds = 2.0;
            run(&mut simulation, seconds, dt);
            let (at, speed) = centre(&desc, &simulation.soft(cloth).unwrap());
            let case = format!("{n} at {iterations}, {dt}, {tilt} rad");
            if tilt.tan() < friction {
                let way = (at - first).length();
                assert!(way < 1e-3, "{case}: {way}");
                let crept = (at - early.0).length();
                assert!(crept < 1e-5, "{case}: creeps by {crept}");
            } else {
                let expected = G * (tilt.sin() - friction * tilt.cos());
                let found = (speed - early.1).dot(along) / seconds;
                assert!((found / expected - 1.0).abs() < 0.03, "{case}: {found} instead of {expected}");
            }
        }
    }
}

#[test]
fn a_soft_block_settles_on_a_floor_and_rests() {
    for (cells, iterations, dt) in [(2, 4, 1.0 / 60.0), (3, 10, 1.0 / 60.0), (4, 20, 1.0 / 120.0), (3, 10, 1.0 / 30.0)]
    {
        let mut world = World::new();
        world.add(floor(0.5, 0.0)).unwrap();
        let solid = Solid { damping: 100.0, ..Solid::default() };
        let desc = SoftDesc::block(Vec3::Y * 0.4, Vec3::splat(0.5), (cells, cells, cells), &solid);
        let weight = mass(&desc) * G;
        let block = world.add_soft(desc.clone()).unwrap();
        let mut simulation = simulation(world, iterating(iterations));
        run(&mut simulation, 5.0, dt);
        let (state, force) = (simulation.soft(block).unwrap(), pushed(&mut simulation, block));
        let case = format!("{cells} at {iterations}, {dt}");
        assert!(fastest(&state) < 5e-3, "{case}: {}", fastest(&state));
        assert!((force.y / weight - 1.0).abs() < 0.02, "{case}: {force} instead of {weight}");
        let lowest = state.positions.iter().map(|p| p.y).fold(f32::MAX, f32::min);
        assert!(lowest > 0.0, "{case}: {lowest}");
    }
}

#[test]
fn nothing_falls_through_any_shape() {
    let hull: Vec<Vec3> = (0..8)
        .map(|i| {
            Vec3::new(
                if i & 1 == 0 { -1.0 } else { 1.0 },
                if i & 2 == 0 { -1.0 } else { 1.0 },
                if i & 4 == 0 { -1.0 } else { 1.0 },
            ) * 0.3
        })
        .chain([Vec3::Y * 0.45])
        .collect();
    let shapes = [
        Collider::sphere(0.4),
        Collider::cuboid(Vec3::splat(0.6)),
        Collider::capsule(0.2, 0.3),
        Collider::cylinder(0.3, 0.4),
        Collider::cone(0.3, 0.4),
        Collider::hull(&hull).unwrap(),
    ];
    for (shape, collider) in shapes.into_iter().enumerate() {
        for (speed, iterations) in [(0.0, 4), (0.0, 10), (8.0, 10), (20.0, 10)] {
            let mut world = World::new();
            world.add(BodyDesc::fixed().with(collider.clone())).unwrap();
            let desc =
                SoftDesc::cloth(Vec3::new(-0.8, 1.0, -0.8), Vec3::X * 1.6, Vec3::Z * 1.6, (25, 25), &Cloth::default());
            let cloth = world.add_soft(desc.moving(Vec3::Y * -speed).touching(SoftSurface::new(0.01, 1.0))).unwrap();
            let mut simulation = simulation(world, iterating(iterations));
            run(&mut simulation, 1.5, 1.0 / 60.0);
            let state = simulation.soft(cloth).unwrap();
            // The middle lies on top of it.
            let middle = state.positions[12 + 25 * 12];
            assert!(middle.y > 0.25, "shape {shape} at {speed} m/s and {iterations}: the middle is at {middle}");
        }
    }
}

#[test]
fn a_ball_gives_cloth_what_it_loses() {
    let light = [(0.01f32, 10, 60), (0.05, 4, 60), (0.05, 30, 60), (0.05, 10, 240), (0.2, 4, 60), (0.2, 40, 60)];
    let heavy = [(0.2, 10, 60), (0.3, 10, 60), (0.7, 6, 120), (2.0, 10, 30)];
    let cases = light.into_iter().chain(heavy);
    for (mass_of_ball, iterations, rate) in cases {
        let dt = 1.0 / rate as f32;
        let mut world = World::new();
        world.set_gravity(Vec3::ZERO).unwrap();
        let desc = SoftDesc::cloth(Vec3::new(-0.5, 0.0, -0.5), Vec3::X, Vec3::Z, (15, 15), &Cloth::default());
        let cloth = world.add_soft(desc.clone()).unwrap();
        let ball = BodyDesc::dynamic().at(Vec3::Y * 0.4).moving(Vec3::Y * -2.0).with(Collider::sphere(0.15));
        let ball = world.add(ball.weighing(mass_of_ball)).unwrap();
        let mut simulation = simulation(world, iterating(iterations));
        run(&mut simulation, 0.6, dt);
        let speed = simulation.body(ball).unwrap().linear_velocity;
        let cloth_has = centre(&desc, &simulation.soft(cloth).unwrap()).1 * mass(&desc);
        let (all, given) = (speed * mass_of_ball + cloth_has, Vec3::Y * -2.0 * mass_of_ball);
        let case = format!("{mass_of_ball} kg at {iterations}, {dt}: ball {speed}, cloth {cloth_has}");
        assert!((all - given).length() < 1e-3 * given.length(), "{case}");
        let share = mass(&desc) / (mass(&desc) + mass_of_ball);
        assert!(cloth_has.y < 0.2 * share * given.y, "{case}");
    }
}

#[test]
fn a_ball_rests_on_a_trampoline_that_carries_its_weight() {
    for (side, mass_of_ball) in [(15, 1.0f32), (21, 5.0)] {
        let world = scenes::trampoline(side, mass_of_ball).unwrap();
        let (ball, cloth) = (world.find("ball").unwrap(), world.soft_bodies().next().unwrap());
        let mut simulation = simulation(world, iterating(10));
        run(&mut simulation, 12.0, 1.0 / 60.0);
        let (body, force) = (simulation.body(ball).unwrap(), pushed(&mut simulation, cloth));
        let case = format!("{side}, {mass_of_ball} kg: {body:?}, pushed by {force}");
        assert!(body.position.y > 0.5 && body.position.x.hypot(body.position.z) < 0.2, "{case}");
        assert!(body.linear_velocity.length() < 0.05, "{case}");
        assert!((force.y / (-mass_of_ball * G) - 1.0).abs() < 0.05, "{case}");
    }
}

#[test]
fn boxes_rest_on_jelly() {
    let world = scenes::jelly(1, 2).unwrap();
    let soft: Vec<_> = world.soft_bodies().collect();
    let weight: f32 = soft.iter().map(|s| mass(world.soft_desc(*s).unwrap()) * G).sum();
    let boxes: Vec<_> = world.handles().skip(1).collect();
    let mut simulation = simulation(world, iterating(10));
    run(&mut simulation, 6.0, 1.0 / 60.0);
    for (i, handle) in boxes.iter().enumerate() {
        let body = simulation.body(*handle).unwrap();
        assert!(body.linear_velocity.length() < 0.02, "box {i}: {body:?}");
        assert!(body.position.y > 0.4 + 0.6 * i as f32, "box {i}: {body:?}");
    }
    let floor = simulation.world().find("floor").unwrap();
    let lowest = simulation.soft_touches(soft[0]).unwrap();
    let carried: f32 = lowest.touches.iter().filter(|t| t.body == floor).map(|t| t.force.y).sum();
    let all = weight + 2.0 * 0.5 * 0.3 * 0.5 * 200.0 * G;
    assert!((carried / all - 1.0).abs() < 0.05, "{carried} N of {all}");
}

#[test]
fn a_particle_that_touches_five_things_keeps_four_and_says_so() {
    let mut world = World::new();
    for i in 0..5 {
        let turn = Quat::from_rotation_y(i as f32 * 1.2) * Quat::from_rotation_z(0.3);
        world.add(BodyDesc::fixed().turned(turn).with(Collider::half_space())).unwrap();
    }
    let desc = SoftDesc { rest: vec![Vec3::Y * 0.05], masses: vec![1.0], ..SoftDesc::default() };
    let soft = world.add_soft(desc.touching(SoftSurface::new(0.1, 0.5))).unwrap();
    let mut simulation = simulation(world, iterating(10));
    run(&mut simulation, 0.5, 1.0 / 60.0);
    let found = simulation.soft_touches(soft).unwrap();
    assert_eq!((found.touches.len(), found.dropped), (4, 1));
    assert!(simulation.soft(soft).unwrap().positions[0].y > 0.0);
}

#[test]
fn what_is_in_other_groups_or_has_no_surface_passes_through() {
    let surface = SoftSurface::new(0.05, 0.5);
    let (mut deaf, mut other) = (surface, surface);
    (deaf.mask, other.groups) = (0, 2);
    for (surface, stays) in [(Some(surface), true), (None, false), (Some(deaf), false), (Some(other), false)] {
        let mut world = World::new();
        let mut ground = Collider::half_space();
        ground.mask = 1;
        world.add(BodyDesc::fixed().with(ground)).unwrap();
        let rope = SoftDesc::rope(Vec3::Y * 0.2, Vec3::new(0.5, 0.2, 0.0), 4, 1.0, 1000.0, 1.0);
        let rope = world.add_soft(rope.touching(surface)).unwrap();
        let mut simulation = simulation(world, iterating(6));
        run(&mut simulation, 1.0, 1.0 / 60.0);
        let low = simulation.soft(rope).unwrap().positions[0].y;
        assert_eq!(low > 0.0, stays, "{surface:?}: {low}");
    }
}
