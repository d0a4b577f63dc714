//! Rigid shapes that are smaller than the triangles they fall onto: none goes between the particles of a soft surface.

use super::{centre, run, simulation};
use crate::common::iterating;
use drystone::glam::{Quat, Vec3};
use drystone::world::{AttachmentDesc, BodyDesc, Cloth, Collider, SoftDesc, SoftHandle, SoftSurface, World};
use drystone::{Simulation, scenes};

/// Side of the cloth that is held, metres, and particles along it: triangles of a quarter of a metre.
const SIDE: (f32, u32) = (1.0, 5);

/// A cloth held at its border, at height 0.
fn held(world: &mut World, tilt: Quat, surface: SoftSurface) -> (SoftHandle, f32) {
    let (side, n) = SIDE;
    let cloth = Cloth { density: 1.0, stretch: 5e3, damping: 1.0, ..Cloth::default() };
    let corner = tilt * Vec3::new(-0.5 * side, 0.0, -0.5 * side);
    let desc = SoftDesc::cloth(corner, tilt * Vec3::X * side, tilt * Vec3::Z * side, (n, n), &cloth);
    let mass = desc.masses.iter().sum();
    let cloth = world.add_soft(desc.touching(surface)).unwrap();
    for at in 0..n * n {
        let (i, j) = (at % n, at / n);
        if i == 0 || j == 0 || i + 1 == n || j + 1 == n {
            world.attach(AttachmentDesc::to_world(cloth, at)).unwrap();
        }
    }
    (cloth, mass)
}

/// How high a point is above the lowest place of a soft surface below or above it; none beside it.
fn above(simulation: &mut Simulation, cloth: SoftHandle, point: Vec3) -> Option<f32> {
    let positions = simulation.soft(cloth).unwrap().positions;
    let triangles = simulation.world().soft_triangles(cloth).unwrap();
    let heights = triangles.iter().filter_map(|corners| {
        let [a, b, c] = corners.map(|i| positions[i as usize]);
        let (u, v, p) = (b - a, c - a, point - a);
        let area = u.x * v.z - u.z * v.x;
        let (s, t) = ((p.x * v.z - p.z * v.x) / area, (u.x * p.z - u.z * p.x) / area);
        let inside = area.abs() > 1e-9 && s >= 0.0 && t >= 0.0 && s + t <= 1.0;
        inside.then_some(point.y - (a + u * s + v * t).y)
    });
    heights.reduce(f32::min)
}

#[test]
fn nothing_small_goes_between_the_particles() {
    let on_a_corner = Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::NEG_Y);
    let shapes = [
        ("a box on its corner", Collider::cuboid(Vec3::splat(0.1)), on_a_corner),
        ("a flat box", Collider::cuboid(Vec3::splat(0.1)), Quat::IDENTITY),
        ("a ball", Collider::sphere(0.04), Quat::IDENTITY),
        ("a thin capsule", Collider::capsule(0.1, 0.025), Quat::from_rotation_x(1.5)),
        ("a capsule on its end", Collider::capsule(0.1, 0.025), Quat::from_rotation_x(0.1)),
        ("a cylinder", Collider::cylinder(0.04, 0.05), Quat::from_rotation_z(0.3)),
        ("a cone on its tip", Collider::cone(0.06, 0.06), Quat::from_rotation_x(3.0)),
    ];
    let cases = [(4, 60, 1.0f32), (10, 60, 0.1), (10, 60, 10.0), (40, 120, 10.0), (10, 120, 1.0), (4, 120, 0.1)];
    let mut failed = Vec::new();
    for (name, shape, turn) in &shapes {
        for (iterations, rate, ratio) in cases {
            for place in [Vec3::new(0.08, 0.3, 0.06), Vec3::new(0.125, 0.3, 0.0)] {
                let mut world = World::new();
                let (cloth, mass) = held(&mut world, Quat::IDENTITY, SoftSurface::new(0.01, 0.5));
                let body = BodyDesc::dynamic().at(place).turned(*turn).with(shape.clone());
                let body = world.add(body.weighing(mass * ratio)).unwrap();
                let mut simulation = simulation(world, iterating(iterations));
                let mut least = f32::MAX;
                for _ in 0..2 * rate {
                    simulation.step(1.0 / rate as f32).unwrap();
                    let at = simulation.body(body).unwrap().position;
                    least = least.min(above(&mut simulation, cloth, at).unwrap_or(least));
                }
                let body = simulation.body(body).unwrap();
                let gone = body.position.y < -0.6;
                if least < 0.0 || gone {
                    failed.push(format!("{name} of {ratio} at {iterations}, 1/{rate}, {place}: {least}, {body:?}"));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} of {}: {failed:#?}", failed.len(), shapes.len() * cases.len() * 2);
}

#[test]
fn a_small_ball_gives_cloth_what_it_loses() {
    for (ratio, iterations, rate) in [(0.1f32, 10, 60), (0.3, 4, 60), (0.3, 40, 60), (1.0, 10, 120), (1.0, 4, 60)] {
        let mut world = World::new();
        world.set_gravity(Vec3::ZERO).unwrap();
        let cloth = Cloth { density: 1.0, ..Cloth::default() };
        let desc = SoftDesc::cloth(Vec3::new(-0.5, 0.0, -0.5), Vec3::X, Vec3::Z, (5, 5), &cloth);
        let mass: f32 = desc.masses.iter().sum();
        let cloth = world.add_soft(desc.clone()).unwrap();
        let ball = BodyDesc::dynamic().at(Vec3::new(0.08, 0.2, 0.06)).moving(Vec3::Y * -2.0);
        let ball = world.add(ball.with(Collider::sphere(0.04)).weighing(mass * ratio)).unwrap();
        let mut simulation = simulation(world, iterating(iterations));
        run(&mut simulation, 0.4, 1.0 / rate as f32);
        let speed = simulation.body(ball).unwrap().linear_velocity;
        let cloth_has = centre(&desc, &simulation.soft(cloth).unwrap()).1 * mass;
        let given = Vec3::Y * -2.0 * mass * ratio;
        let all = speed * mass * ratio + cloth_has;
        let case = format!("{ratio} at {iterations}, 1/{rate}: ball {speed}, cloth {cloth_has} of {given}: {all}");
        let most = if ratio < 1.0 { 0.08 } else { 0.15 };
        assert!((all - given).length() < most * given.length(), "{case}");
        assert!(cloth_has.y < 0.2 * given.y, "{case}");
    }
}

#[test]
fn a_small_box_on_a_triangle_holds_below_the_friction_angle_and_slides_above_it() {
    for (iterations, rate) in [(4, 60), (10, 120)] {
        for (tilt, holds) in [(0.2f32, true), (0.8, false)] {
            let mut world = World::new();
            let turn = Quat::from_rotation_z(-tilt);
            // Nothing of the cloth moves, so the slope is the tilt.
            let cloth = SoftDesc::cloth(
                turn * Vec3::new(-0.5, 0.0, -0.5),
                turn * Vec3::X,
                turn * Vec3::Z,
                (3, 3),
                &Cloth { density: 5.0, stretch: 1e5, ..Cloth::default() },
            );
            let cloth = world.add_soft(cloth.touching(SoftSurface::new(0.01, 0.5))).unwrap();
            for at in 0..9 {
                world.attach(AttachmentDesc::to_world(cloth, at)).unwrap();
            }
            let place = turn * Vec3::new(-0.3, 0.03, 0.1);
            let body = BodyDesc::dynamic()
                .at(place)
                .turned(turn)
                .with(Collider::cuboid(Vec3::new(0.1, 0.04, 0.1)).friction(0.5));
            let body = world.add(body.weighing(0.5)).unwrap();
            let mut simulation = simulation(world, iterating(iterations));
            run(&mut simulation, 0.25, 1.0 / rate as f32);
            let early = simulation.body(body).unwrap();
            let seconds = if holds { 3.0 } else { 0.2 };
            run(&mut simulation, seconds, 1.0 / rate as f32);
            let late = simulation.body(body).unwrap();
            let way = (late.position - early.position).length();
            let case = format!("{tilt} at {iterations}: {way}, {late:?}");
            if holds {
                assert!(way < 1e-3, "{case}");
            } else {
                let expected = 9.81 * (tilt.sin() - 0.5 * tilt.cos());
                let found = (late.linear_velocity - early.linear_velocity).dot(turn * Vec3::X) / seconds;
                assert!((found / expected - 1.0).abs() < 0.1, "{case}: {found} instead of {expected}");
            }
        }
    }
}

#[test]
fn two_triangles_lie_on_a_box_that_is_smaller() {
    for iterations in [4, 10, 40] {
        let mut world = World::new();
        world.add(BodyDesc::fixed().with(Collider::cuboid(Vec3::splat(0.3)))).unwrap();
        let cloth =
            Cloth { density: 1.0, bend: 20.0, stretch: 5e3, damping: 5.0, bend_damping: 0.5, ..Cloth::default() };
        let desc = SoftDesc::cloth(Vec3::new(-0.5, 0.16, -0.5), Vec3::X, Vec3::Z, (2, 2), &cloth);
        let weight: f32 = desc.masses.iter().sum::<f32>() * 9.81;
        let cloth = world.add_soft(desc.clone().touching(SoftSurface::new(0.01, 1.0))).unwrap();
        let mut simulation = simulation(world, iterating(iterations));
        run(&mut simulation, 2.0, 1.0 / 60.0);
        let found = simulation.soft_touches(cloth).unwrap();
        assert!(found.touches.iter().all(|t| t.triangle.is_some() && t.particle < 4), "{found:?}");
        let carried: Vec3 = found.touches.iter().map(|t| t.force).sum();
        let at = centre(&desc, &simulation.soft(cloth).unwrap());
        let case = format!("{iterations}: {carried} of {weight}, {at:?}");
        assert!((carried.y / weight - 1.0).abs() < 0.02 && at.1.length() < 0.01, "{case}");
        assert!(at.0.y > 0.1, "{case}");
    }
}

#[test]
fn ragdolls_stay_on_their_cloth() {
    let world = scenes::ragdoll_cloth(20, 16, 6.0).unwrap();
    let cloth = world.soft_bodies().next().unwrap();
    let bodies: Vec<_> = world.handles().collect();
    let mut simulation = simulation(world, iterating(10));
    let mut below = Vec::new();
    for step in 0..300 {
        run(&mut simulation, 1.0 / 60.0, 1.0 / 60.0);
        if step % 30 == 29 {
            for body in &bodies {
                let at = simulation.body(*body).unwrap().position;
                if above(&mut simulation, cloth, at).is_none_or(|height| height < 0.0) {
                    below.push(format!("{step}: {} at {at}", simulation.world().name(*body).unwrap_or("?")));
                }
            }
        }
    }
    assert!(below.is_empty(), "{} of {}: {below:#?}", below.len(), bodies.len());
}
