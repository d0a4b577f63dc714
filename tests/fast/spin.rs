//! Spin beyond half a turn a step.

use super::*;
use drystone::glam::EulerRot;
use drystone::world::joint::{Drive, JointAxis};

/// Speeds in radians a second: at 1/60 s from a sixth of a radian to sixteen turns a step.
const SPEEDS: [f32; 9] = [10.0, 100.0, 180.0, 188.0, 190.0, 300.0, 377.0, 1000.0, 6000.0];

#[test]
fn free_spin_about_a_stable_axis_holds_at_any_speed() {
    // Truth: it goes on for ever. About the axes of the largest and the smallest moment; the one between is unstable.
    for speed in SPEEDS {
        for axis in [Vec3::X, Vec3::Z] {
            let mut world = weightless();
            let turn = Quat::from_euler(EulerRot::XYZ, 0.3, 0.7, -0.4);
            let body = BodyDesc::dynamic().turned(turn).spinning(turn * axis * speed);
            let body = world.add(body.with(Collider::cuboid(Vec3::new(1.0, 0.5, 0.2)))).unwrap();
            let mut simulation = simulate(world, Settings::default());
            run(&mut simulation, 10.0, DT);
            let spin = simulation.body(body).unwrap().angular_velocity;
            let error = (spin - turn * axis * speed).length() / speed;
            assert!(error < 5e-4, "{speed} rad/s about {axis}: {spin}, off by {error}");
        }
    }
}

#[test]
fn tumbling_keeps_its_angular_momentum_beyond_a_radian_a_step() {
    // Truth: R I R^T w stays. Boxes of three different sides, spun about no axis of theirs, 0.1 to 8 radians a step.
    let sides = Vec3::new(1.0, 0.6, 0.3);
    let s = sides * sides;
    let inertia = Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y) / 12.0;
    for speed in [6.0f32, 30.0, 120.0, 200.0, 500.0, 1500.0] {
        let mut world = weightless();
        let spin = Vec3::new(0.5, 0.7, -0.3).normalize() * speed;
        let body = BodyDesc::dynamic().spinning(spin).with(Collider::cuboid(sides)).weighing(1.0);
        let body = world.add(body).unwrap();
        let mut simulation = simulate(world, Settings::default());
        let momentum = |simulation: &mut Simulation| {
            let state = simulation.body(body).unwrap();
            // A velocity is that of the middle of the step; beyond a radian, that of its end.
            let turned = state.angular_velocity * DT;
            let back = if turned.length() > 1.0 { 0.0 } else { -0.5 };
            let middle = Quat::from_scaled_axis(turned * back) * state.rotation;
            middle * (inertia * (middle.inverse() * state.angular_velocity))
        };
        simulation.step(DT).unwrap();
        let before = momentum(&mut simulation);
        run(&mut simulation, 5.0, DT);
        let after = momentum(&mut simulation);
        let error = (after - before).length() / before.length();
        assert!(error < 0.02, "{speed} rad/s: {before} became {after}, off by {error}");
    }
}

/// How fast a motor of 5 N m turns 0.05 kg m^2 after a second, and in the end.
fn motor(speed: f32, iterations: u32, dt: f32) -> (f32, Vec3) {
    let mut world = weightless();
    let body = BodyDesc::dynamic().weighing(1.0).inertia(Vec3::splat(0.05)).with(Collider::sphere(0.1));
    let body = world.add(body).unwrap();
    let hinge = JointDesc::hinge(body, None).about(Vec3::Z, Vec3::Z);
    world.add_joint(hinge.driven(JointAxis::Twist, Drive::Speed { speed, max: 5.0 })).unwrap();
    let mut simulation = simulate(world, iterating(iterations));
    run(&mut simulation, 1.0, dt);
    let soon = simulation.body(body).unwrap().angular_velocity.z;
    run(&mut simulation, speed.abs() / 100.0, dt);
    (soon, simulation.body(body).unwrap().angular_velocity)
}

#[test]
fn a_motor_does_not_reverse_at_half_a_turn_a_step() {
    // Truth: 100 rad/s^2 up to its speed. 20 to 1,000 rad/s either way, 4 to 60 iterations, 1/30 to 1/240 s.
    for iterations in [4, 10, 20, 60] {
        for dt in [1.0 / 30.0, DT, 1.0 / 240.0] {
            for speed in [20.0, 300.0, -300.0, 1000.0] {
                let (soon, end) = motor(speed, iterations, dt);
                let expected = speed.clamp(-100.0, 100.0);
                let what = format!("{speed} rad/s, {iterations} iterations of {dt} s");
                assert!((soon - expected).abs() < 0.01 * expected.abs(), "{what}: {soon} after a second");
                assert!((end - Vec3::Z * speed).length() < 1e-3 * speed.abs(), "{what}: {end} in the end");
            }
        }
    }
}

#[test]
fn a_wheel_on_a_hinge_is_braked_from_beyond_half_a_turn_a_step() {
    // Truth: 500 rad/s less 100 rad/s^2 for 2 s, then to rest after 5 s, and no farther.
    let mut world = weightless();
    let body = BodyDesc::dynamic().weighing(1.0).inertia(Vec3::new(0.03, 0.03, 0.05)).spinning(Vec3::Z * 500.0);
    let body = world.add(body).unwrap();
    let hinge = JointDesc::hinge(body, None).about(Vec3::Z, Vec3::Z);
    world.add_joint(hinge.driven(JointAxis::Twist, Drive::Speed { speed: 0.0, max: 5.0 })).unwrap();
    let mut simulation = simulate(world, Settings::default());
    run(&mut simulation, 2.0, DT);
    let spin = simulation.body(body).unwrap().angular_velocity;
    assert!((spin - Vec3::Z * 300.0).length() < 3.0, "{spin}");
    run(&mut simulation, 4.0, DT);
    let spin = simulation.body(body).unwrap().angular_velocity;
    assert!(spin.length() < 0.01, "{spin}");
}

#[test]
fn marbles_and_wheels_roll_on() {
    // Truth: what rolls goes on, what slides comes to 5/7 of its speed. From 2 rad/s to 1,000 rad/s.
    for (radius, speed) in [(0.008, 3.0), (0.3, 60.0), (0.02, 20.0), (0.5, 1.0)] {
        for mu in [0.2, 0.8] {
            let mut world = World::new();
            world.add(BodyDesc::fixed().with(Collider::half_space().friction(mu))).unwrap();
            let ball = || Collider::sphere(radius).friction(mu);
            let body = BodyDesc::dynamic().moving(Vec3::X * speed);
            let rolls = body.clone().at(Vec3::Y * radius).spinning(Vec3::Z * (-speed / radius)).with(ball());
            let slides = body.at(Vec3::new(0.0, radius, 4.0)).with(ball());
            let (rolls, slides) = (world.add(rolls).unwrap(), world.add(slides).unwrap());
            let mut simulation = simulate(world, Settings::default());
            // mu g t = 2/7 v, and as long again.
            run(&mut simulation, 2.0 + 4.0 / 7.0 * speed / (mu * G), DT);
            for (body, expected) in [(rolls, 1.0), (slides, 5.0 / 7.0)] {
                let state = simulation.body(body).unwrap();
                let way = state.linear_velocity.x / speed;
                let spin = -state.angular_velocity.z * radius / speed;
                let what = format!("{radius} m at {speed} m/s, mu {mu}: {way} and {spin} of it, not {expected}");
                assert!((way - expected).abs() < 2e-3 && (spin - expected).abs() < 2e-3, "{what}");
            }
        }
    }
}

#[test]
fn a_ball_that_also_spins_about_the_vertical_rolls_straight() {
    // Truth: the contact stays below the centre, so a spin about the normal moves it nowhere. 4 and 20 iterations, up
    // to a radian a step about the vertical.
    for (iterations, dt) in [(4, DT), (20, DT), (4, 1.0 / 240.0)] {
        for spin in [5.0, 20.0, 50.0] {
            let mut world = World::new();
            world.add(BodyDesc::fixed().with(Collider::half_space().friction(0.5))).unwrap();
            let ball = BodyDesc::dynamic().at(Vec3::Y * 0.1).with(Collider::sphere(0.1).friction(0.5));
            let ball = ball.moving(Vec3::X * 2.0).spinning(Vec3::new(0.0, spin, -20.0));
            let ball = world.add(ball).unwrap();
            let mut simulation = simulate(world, iterating(iterations));
            run(&mut simulation, 2.0, dt);
            let state = simulation.body(ball).unwrap();
            let aside = state.position.z.abs() / state.position.x;
            assert!(aside < 0.01, "{spin} rad/s, {iterations} iterations of {dt} s: {aside} of its way aside");
            assert!((state.linear_velocity.x / 2.0 - 1.0).abs() < 0.01, "{spin} rad/s: {}", state.linear_velocity);
        }
    }
}

#[test]
fn capsules_roll_on_beyond_a_radian_a_step() {
    // Truth: they go on as they are. 1.7 to 3.3 radians a step, 5 mm to 10 cm, 4 to 60 iterations.
    for (size, speed, dt) in [(0.02, 2.0, DT), (0.1, 5.0, 1.0 / 30.0), (0.02, 2.0, 1.0 / 30.0), (0.005, 0.5, DT)] {
        for iterations in [4, 10, 60] {
            let mut world = World::new();
            let floor = Collider::cuboid(Vec3::new(60.0, 1.0, 4.0)).friction(0.5);
            world.add(BodyDesc::fixed().at(Vec3::Y * -0.5).with(floor)).unwrap();
            let across = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
            let capsule = Collider::capsule(size, size).turned(across).friction(0.5);
            let capsule = BodyDesc::dynamic().at(Vec3::Y * size).with(capsule).moving(Vec3::X * speed);
            let capsule = world.add(capsule.spinning(Vec3::Z * (-speed / size))).unwrap();
            let mut simulation = simulate(world, iterating(iterations));
            for step in 0..(3.0 / dt) as u32 {
                simulation.step(dt).unwrap();
                let state = simulation.body(capsule).unwrap();
                let (kept, high) = (state.linear_velocity.x / speed, state.position.y / size - 1.0);
                let what = format!("{size} m at {speed} m/s, {iterations} iterations of {dt} s, step {step}");
                assert!((kept - 1.0).abs() < 0.02 && high.abs() < 0.01, "{what}: {kept} of its speed, {high} high");
            }
        }
    }
}

#[test]
fn devices_unwind_spin_like_the_cpu() {
    common::on_every_backend(|backend| {
        let mut world = weightless();
        let motor = BodyDesc::dynamic().weighing(1.0).inertia(Vec3::splat(0.05)).spinning(Vec3::Z * 180.0);
        let motor = world.add(motor).unwrap();
        let hinge = JointDesc::hinge(motor, None).about(Vec3::Z, Vec3::Z);
        world.add_joint(hinge.driven(JointAxis::Twist, Drive::Speed { speed: 300.0, max: 50.0 })).unwrap();
        let free = BodyDesc::dynamic().at(Vec3::X * 5.0).spinning(Vec3::Z * 450.0);
        let free = world.add(free.with(Collider::cuboid(Vec3::new(1.0, 0.5, 0.2)))).unwrap();
        let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
        run(&mut simulation, 0.3, DT);
        for (body, speed) in [(motor, 300.0), (free, 450.0)] {
            let spin = simulation.body(body).unwrap().angular_velocity;
            assert!((spin - Vec3::Z * speed).length() < 0.5, "{}: {spin}, not {speed}", backend.name());
        }
    });
}
