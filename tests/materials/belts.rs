//! Surfaces that move by themselves.

use super::*;
use drystone::world::BodyHandle;

fn belt(mu: f32, velocity: Vec3, spin: Vec3) -> (World, BodyHandle) {
    let mut world = World::new();
    let belt = Collider::cuboid(Vec3::new(200.0, 1.0, 200.0)).friction(mu).surface(velocity, spin);
    let body = world.add(BodyDesc::fixed().at(Vec3::Y * -0.5).with(belt)).unwrap();
    (world, body)
}

#[test]
fn a_box_on_a_belt_gains_speed_at_mu_g_and_then_goes_with_it() {
    for (iterations, dt) in RANGE {
        for (mu, v, size) in [(0.3f32, 3.0f32, 1.0f32), (0.8, 2.0, 0.2)] {
            let (mut world, _) = belt(mu, Vec3::X * v, Vec3::ZERO);
            let cube = Collider::cuboid(Vec3::splat(size)).friction(mu);
            let body = world.add(BodyDesc::dynamic().at(Vec3::new(-12.0 * v, 0.5 * size, 0.0)).with(cube)).unwrap();
            let mut simulation = simulate(world, iterations);
            let case = format!("{iterations} iterations, dt {dt}, mu {mu}");
            let half = (0.5 * v / (mu * G) / dt).round() * dt;
            run(&mut simulation, half, dt);
            let speed = simulation.body(body).unwrap().linear_velocity.x;
            assert!((speed / (mu * G * half) - 1.0).abs() < 0.05, "{case}: {speed} m/s after {half} s");
            run(&mut simulation, 2.0, dt);
            let before = simulation.body(body).unwrap();
            assert!((before.linear_velocity.x / v - 1.0).abs() < 2e-3, "{case}: {}", before.linear_velocity);
            run(&mut simulation, 20.0, dt);
            let after = simulation.body(body).unwrap();
            // It does not creep on the belt.
            let slipped = after.position.x - before.position.x - v * 20.0;
            assert!(slipped.abs() < 0.01 * size, "{case}: crept {slipped} m in 20 s");
            assert!(after.position.z.abs() < 0.01 * size && after.linear_velocity.y.abs() < 1e-2, "{case}: {after:?}");
        }
    }
}

/// What something is carried round by: a surface that moves on a body that rests, or a body that turns.
#[derive(Clone, Copy, Debug)]
enum Turntable {
    Surface,
    Body,
}

fn turntable(kind: Turntable, friction: f32, spin: f32) -> World {
    if matches!(kind, Turntable::Surface) {
        return belt(friction, Vec3::ZERO, Vec3::Y * spin).0;
    }
    let mut world = World::new();
    let disc = Collider::cuboid(Vec3::new(20.0, 1.0, 20.0)).friction(friction);
    world.add(BodyDesc::kinematic().at(Vec3::Y * -0.5).spinning(Vec3::Y * spin).with(disc)).unwrap();
    world
}

#[test]
fn a_box_on_a_turntable_goes_round_with_it() {
    // Half and twice the size, the radius and the speed, up to 0.7 of what friction bears; ten seconds and two minutes.
    for (size, at, spin, friction, iterations, dt, seconds) in [
        (0.4, 1.5, 1.5, 0.9, 4, 1.0 / 60.0, 120.0),
        (0.4, 1.5, 1.5, 0.9, 4, 1.0 / 240.0, 10.0),
        (0.4, 1.5, 1.5, 0.9, 10, 1.0 / 60.0, 10.0),
        (0.4, 1.5, 1.5, 0.9, 20, 1.0 / 120.0, 10.0),
        (0.4, 1.5, 1.5, 0.9, 60, 1.0 / 60.0, 10.0),
        (0.2, 1.5, 1.5, 0.9, 4, 1.0 / 60.0, 10.0),
        (0.8, 1.5, 1.5, 0.9, 4, 1.0 / 60.0, 10.0),
        (0.4, 0.75, 1.5, 0.9, 4, 1.0 / 60.0, 10.0),
        (0.4, 3.0, 1.0, 0.9, 4, 1.0 / 60.0, 10.0),
        (0.4, 1.5, 0.75, 0.9, 4, 1.0 / 60.0, 10.0),
        (0.4, 0.8, 2.0, 0.9, 4, 1.0 / 60.0, 10.0),
        (0.4, 0.8, 2.0, 0.9, 60, 1.0 / 60.0, 10.0),
        (0.4, 1.5, 1.5, 0.5, 4, 1.0 / 60.0, 30.0),
        (0.4, 1.5, 1.5, 0.5, 60, 1.0 / 60.0, 10.0),
    ] {
        for kind in [Turntable::Surface, Turntable::Body] {
            let turns = Vec3::Y * spin;
            let mut world = turntable(kind, friction, spin);
            let cube = Collider::cuboid(Vec3::splat(size)).friction(friction);
            let body = world.add(BodyDesc::dynamic().at(Vec3::new(at, 0.5 * size, 0.0)).with(cube)).unwrap();
            let mut simulation = simulate(world, iterations);
            run(&mut simulation, 3.0, dt);
            let what = format!("{kind:?}, {size} m at {at} m, {spin} rad/s, friction {friction}");
            let case = format!("{what}, {iterations} iterations of {dt} s");
            let before = simulation.body(body).unwrap();
            let radius = Vec3::new(before.position.x, 0.0, before.position.z);
            assert!((before.angular_velocity - turns).length() < 0.02, "{case}: {}", before.angular_velocity);
            // A velocity is that of the middle of a step.
            let middle = radius - before.linear_velocity * (0.5 * dt);
            assert!((before.linear_velocity - turns.cross(middle)).length() < 0.02, "{case}: {before:?}");
            run(&mut simulation, seconds, dt);
            let after = simulation.body(body).unwrap().position;
            let drift = Vec3::new(after.x, 0.0, after.z).length() - radius.length();
            assert!(drift.abs() < 5e-5 * f32::max(seconds, 10.0), "{case}: drifted {drift} m in {seconds} s");
        }
    }
}

#[test]
fn towers_on_a_turntable_go_round_with_it() {
    // Four boxes on top of each other; statics tips the tower at w^2 r = g / 4, and this is 0.6 of that.
    for kind in [Turntable::Surface, Turntable::Body] {
        for (iterations, dt) in [(4, 1.0 / 60.0), (10, 1.0 / 120.0), (60, 1.0 / 60.0)] {
            let mut world = turntable(kind, 0.9, 1.0);
            let cube = || Collider::cuboid(Vec3::splat(0.4)).friction(0.9);
            let at = |k: u8| Vec3::new(1.5, 0.4 * f32::from(k) + 0.2, 0.0);
            let boxes: Vec<_> = (0..4)
                .map(|k| {
                    world
                        .add(BodyDesc::dynamic().at(at(k)).moving(Vec3::Z * -1.5).spinning(Vec3::Y).with(cube()))
                        .unwrap()
                })
                .collect();
            let mut simulation = simulate(world, iterations);
            run(&mut simulation, 30.0, dt);
            for body in boxes {
                let p = simulation.body(body).unwrap().position;
                let radius = Vec3::new(p.x, 0.0, p.z).length();
                assert!(
                    (radius - 1.5).abs() < 0.02,
                    "{kind:?}, {iterations} iterations of {dt} s: {p} is {radius} m from the axis"
                );
            }
        }
    }
}

#[test]
fn a_belt_goes_along_slopes_and_stops_when_it_is_told() {
    let dt = 1.0 / 60.0;
    let tilt = 0.2;
    let mut world = World::new();
    let turn = Quat::from_rotation_z(-tilt);
    let surface = Collider::cuboid(Vec3::new(100.0, 1.0, 4.0)).friction(0.8).surface(Vec3::X * -1.0, Vec3::ZERO);
    let belt = world.add(BodyDesc::fixed().turned(turn).with(surface)).unwrap();
    let cube = Collider::cuboid(Vec3::splat(0.5)).friction(0.8);
    let body = world.add(BodyDesc::dynamic().turned(turn).at(turn * Vec3::new(10.0, 0.75, 0.0)).with(cube)).unwrap();
    let mut simulation = simulate(world, 4);
    run(&mut simulation, 4.0, dt);
    let uphill = simulation.body(body).unwrap().linear_velocity.dot(downhill(tilt));
    assert!((uphill + 1.0).abs() < 5e-3, "{uphill} m/s");
    simulation.world_mut().set_material(belt, 0, |c| c.surface_velocity = Vec3::ZERO).unwrap();
    run(&mut simulation, 2.0, dt);
    assert!(simulation.body(body).unwrap().linear_velocity.length() < 5e-3);
    let error = simulation.world_mut().set_material(belt, 0, |c| c.density = 1.0).unwrap_err();
    assert!(error.to_string().contains("density"), "{error}");
    assert!(simulation.world_mut().set_material(belt, 1, |_| ()).is_err());
    assert!(simulation.world_mut().set_material(belt, 0, |c| c.surface_velocity.x = f32::NAN).is_err());
}

#[test]
fn two_belts_face_to_face_turn_a_ball_between_them_in_place() {
    // Not pressed by gravity: the ball rests on one belt only, and rolls backwards so that its lowest point has the
    // speed of the belt. Started so, it stays so.
    let (mut world, _) = belt(0.7, Vec3::X * 2.0, Vec3::ZERO);
    let ball = BodyDesc::dynamic().at(Vec3::Y * 0.5).spinning(Vec3::Z * 4.0).with(Collider::sphere(0.5).friction(0.7));
    let body = world.add(ball).unwrap();
    let mut simulation = simulate(world, 4);
    run(&mut simulation, 5.0, 1.0 / 60.0);
    let state = simulation.body(body).unwrap();
    assert!(state.position.x.abs() < 0.02 && (state.angular_velocity.z - 4.0).abs() < 0.04, "{state:?}");
}
