//! Friction in joints: a force or torque up to which coordinates resist.

use super::*;
use drystone::world::JointDesc;
use drystone::world::joint::JointAxis;

fn wheel(world: &mut World, spin: Vec3) -> drystone::world::BodyHandle {
    let desc = BodyDesc::dynamic().spinning(spin).weighing(2.0).inertia(Vec3::new(0.5, 0.3, 0.3));
    world.add(desc).unwrap()
}

#[test]
fn a_wheel_on_a_hinge_stops_after_i_w_over_friction() {
    for (iterations, dt) in RANGE {
        let (spin, torque, moment) = (6.0f32, 1.5f32, 0.5f32);
        let mut world = World::new();
        let body = wheel(&mut world, Vec3::X * spin);
        world.add_joint(JointDesc::hinge(body, None).friction(torque)).unwrap();
        let mut simulation = simulate(world, iterations);
        let case = format!("{iterations} iterations, dt {dt}");
        run(&mut simulation, 1.0, dt);
        let left = simulation.body(body).unwrap().angular_velocity.x;
        assert!((left - (spin - torque / moment)).abs() < 0.01 * spin, "{case}: {left} rad/s");
        run(&mut simulation, 1.2, dt);
        let left = simulation.body(body).unwrap().angular_velocity.length();
        assert!(left < 1e-3 * spin, "{case}: {left} rad/s");
    }
}

/// A pendulum that hangs at a small angle from its lowest point and lets go swings to the other side, and each half
/// swing takes 2 tau / (m g l) off it: I theta'' = -m g l theta +- tau. It stops where gravity is not enough to move
/// it.
#[test]
fn a_pendulum_with_friction_stops_where_it_should() {
    // Backward Euler takes some of a swing, too: at 120 steps a second 0.01 rad of each half.
    for (iterations, dt) in [(10, 1.0 / 240.0), (60, 1.0 / 240.0)] {
        let (mass, length, start) = (3.0f32, 1.0f32, 0.25f32);
        let loses = 0.06f32;
        let torque = 0.5 * loses * mass * G * length;
        let mut world = World::new();
        let turn = Quat::from_rotation_z(start);
        let at = turn * (Vec3::Y * -length);
        let desc = BodyDesc::dynamic().at(at).turned(turn).weighing(mass).inertia(Vec3::splat(0.02));
        let body = world.add(desc).unwrap();
        let hinge = JointDesc::hinge(body, None).anchors(Vec3::Y * length, Vec3::ZERO).about(Vec3::Z, Vec3::Z);
        world.add_joint(hinge.friction(torque)).unwrap();
        let mut simulation = simulate(world, iterations);
        let mut turns = vec![start];
        let (mut last, mut rate) = (start, 0.0f32);
        for _ in 0..(8.0 / dt) as u32 {
            simulation.step(dt).unwrap();
            let p = simulation.body(body).unwrap().position;
            let angle = p.x.atan2(-p.y);
            let now = angle - last;
            if now.abs() > 1e-6 && now * rate < 0.0 {
                turns.push(last);
            }
            (last, rate) = (angle, if now.abs() > 1e-6 { now } else { rate });
        }
        let case = format!("{iterations} iterations, dt {dt}: {turns:?}, at rest {last}");
        // 0.25, -0.19, 0.13, -0.07, 0.01: there it stays, since 0.01 < 0.03.
        assert!(turns.len() >= 4, "{case}");
        for (n, expected) in [0.25f32, -0.19, 0.13, -0.07].into_iter().enumerate() {
            assert!((turns[n] - expected).abs() < 0.012, "{case}");
        }
        assert!((last - 0.01).abs() < 0.015, "{case}");
        let before = simulation.body(body).unwrap().position;
        run(&mut simulation, 5.0, dt);
        assert!((simulation.body(body).unwrap().position - before).length() < 1e-3, "{case}");
    }
}

#[test]
fn sliders_and_ball_joints_have_friction_too() {
    for (iterations, dt) in RANGE {
        let case = format!("{iterations} iterations, dt {dt}");
        // A slider that is pushed along with less than its friction, and with more.
        for (push, moves) in [(0.9f32, false), (1.5, true)] {
            let mut world = World::new();
            world.set_gravity(Vec3::ZERO).unwrap();
            let body = wheel(&mut world, Vec3::ZERO);
            world.add_joint(JointDesc::slider(body, None).friction(10.0)).unwrap();
            world.set_force(body, Vec3::X * (10.0 * push), Vec3::ZERO).unwrap();
            let mut simulation = simulate(world, iterations);
            run(&mut simulation, 2.0, dt);
            let speed = simulation.body(body).unwrap().linear_velocity.x;
            let expected = if moves { 10.0 * (push - 1.0) / 2.0 * 2.0 } else { 0.0 };
            assert!((speed - expected).abs() < 0.1, "{case}: {speed} m/s, not {expected}");
        }
        // A ball joint: about its twist, and about another axis.
        for (axis, moment) in [(Vec3::X, 0.5f32), (Vec3::Z, 0.3)] {
            let mut world = World::new();
            let body = wheel(&mut world, axis * 2.0);
            world.add_joint(JointDesc::ball(body, None).friction(0.5)).unwrap();
            let mut simulation = simulate(world, iterations);
            run(&mut simulation, 0.5, dt);
            let left = simulation.body(body).unwrap().angular_velocity.dot(axis);
            let expected = 2.0 - 0.5 * 0.5 / moment;
            assert!((left - expected).abs() < 0.04, "{case}: {left} rad/s about {axis}, not {expected}");
        }
    }
}

#[test]
fn friction_of_joints_is_set_between_steps_and_checked() {
    let mut world = World::new();
    let body = wheel(&mut world, Vec3::X * 3.0);
    assert!(world.add_joint(JointDesc::hinge(body, None).rubbing(JointAxis::Twist, -1.0)).is_err());
    assert!(world.add_joint(JointDesc::hinge(body, None).friction(f32::NAN)).is_err());
    let joint = world.add_joint(JointDesc::hinge(body, None)).unwrap();
    let mut simulation = simulate(world, 4);
    run(&mut simulation, 0.5, 1.0 / 60.0);
    assert!((simulation.body(body).unwrap().angular_velocity.x - 3.0).abs() < 1e-3);
    simulation.world_mut().set_friction(joint, JointAxis::Twist, 1.0).unwrap();
    run(&mut simulation, 0.5, 1.0 / 60.0);
    assert!((simulation.body(body).unwrap().angular_velocity.x - 2.0).abs() < 0.03);
}
