//! What is read of joints: errors against what was set up, forces against weights, and both ways of reading against
//! each other.

use super::*;
use drystone::glam::Quat;
use drystone::metrics::{JointMetrics, WorstJoints};
use drystone::world::JointError;
use drystone::world::joint::JointAxis;
use drystone::{EventKind, Stepper, scenes};

#[test]
fn errors_are_what_the_bodies_were_moved_by() {
    let mut world = weightless();
    let (a, b) = (world.add(cube(Vec3::ZERO, 1.0)).unwrap(), world.add(cube(Vec3::X, 1.0)).unwrap());
    let at = |p: Vec3| (p, Quat::IDENTITY);
    let close = |found: JointError, linear: f64, angular: f64, what: &str| {
        let off = (found.linear - linear).abs().max((found.angular - angular).abs());
        assert!(off < 1e-6, "{what}: {found:?}, not {linear} m and {angular} rad");
    };
    // Bodies of a ball joint 5 mm apart, wherever and however they are turned.
    let ball = JointDesc::ball(a, b).anchors(Vec3::X * 0.5, Vec3::X * -0.5);
    let apart = Vec3::new(0.003, -0.004, 0.0);
    close(ball.error(at(apart), at(Vec3::X)), 5e-3, 0.0, "ball");
    for turn in [Quat::from_rotation_z(1.1), Quat::from_rotation_y(-2.9), Quat::from_rotation_x(0.4)] {
        let (p, q) = (turn * apart, turn * Vec3::X);
        close(ball.error((p, turn), (q, turn)), 5e-3, 0.0, "turned together");
    }
    // A hinge is free about x and along nothing; a slider the other way round.
    let hinge = JointDesc::hinge(a, b);
    close(hinge.error((Vec3::ZERO, Quat::from_rotation_x(2.0)), at(Vec3::ZERO)), 0.0, 0.0, "hinge about its axis");
    close(hinge.error((Vec3::Z * 0.01, Quat::from_rotation_y(0.1)), at(Vec3::ZERO)), 0.01, 0.1, "hinge across it");
    let slider = JointDesc::slider(a, b);
    close(slider.error((Vec3::X * 7.0, Quat::from_rotation_x(0.2)), at(Vec3::ZERO)), 0.0, 0.2, "slider");
    // Limits count beyond them.
    let limited = hinge.clone().limited(JointAxis::Twist, -0.5, 0.25);
    for (angle, off) in [(-0.7f32, 0.2), (-0.5, 0.0), (0.1, 0.0), (0.3, 0.05)] {
        close(limited.error((Vec3::ZERO, Quat::from_rotation_x(angle)), at(Vec3::ZERO)), 0.0, off, "limits");
    }
    // To the world: the second pose is not looked at.
    let rod = JointDesc::rod(a, None, 2.0).anchors(Vec3::ZERO, Vec3::Y * 5.0);
    close(rod.error(at(Vec3::Y * 2.9), at(Vec3::splat(1e3))), 0.1, 0.0, "rod");
    let rope = JointDesc::rope(a, None, 2.0).anchors(Vec3::ZERO, Vec3::Y * 5.0);
    close(rope.error(at(Vec3::Y * 4.0), at(Vec3::ZERO)), 0.0, 0.0, "a slack rope");
    // Springs hold nothing.
    close(JointDesc::spring(a, b, 1.0, 1e3, 0.0).error(at(Vec3::ZERO), at(Vec3::X * 9.0)), 0.0, 0.0, "spring");
}

#[test]
fn joints_are_read_together_as_one_by_one_on_every_backend() {
    common::on_shared_backends(|backend| {
        let mut simulation = Simulation::new(scenes::ragdolls(2).unwrap(), iterating(5), backend.device()).unwrap();
        for _ in 0..40 {
            simulation.step(DT).unwrap();
        }
        let all = simulation.joints().unwrap();
        assert_eq!(all.len(), 28, "{}", backend.name());
        for (joint, state) in &all {
            assert_eq!(simulation.joint(*joint).unwrap(), *state, "{}, {joint:?}", backend.name());
        }
        let metrics = JointMetrics::of(&mut simulation).unwrap();
        let forces: Vec<f64> = all.iter().map(|(_, s)| s.force.as_dvec3().length()).collect();
        assert_eq!(metrics.force.max, forces.iter().copied().fold(0.0, f64::max));
        assert!((metrics.force.mean * 28.0 / forces.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!((metrics.holding, metrics.broken), (28, 0));
        let (worst, angular, _) = errors(&mut simulation);
        assert_eq!((metrics.linear_error.max, metrics.angular_error.max), (worst, angular));
        assert!(metrics.force.max > 1.0 && worst > 0.0, "{}: {metrics:?}", backend.name());
        for (body, state) in simulation.bodies().unwrap() {
            assert_eq!(simulation.body(body).unwrap(), state, "{}, {body:?}", backend.name());
        }
    });
}

#[test]
fn a_stepper_tells_what_a_chain_carries() {
    // Three weights on a chain: each joint carries what hangs below it.
    let mut world = World::new();
    let mut last = None;
    for (i, mass) in [1.0, 2.0, 4.0].into_iter().enumerate() {
        let place = Vec3::Y * -(i as f32);
        let body = world.add(cube(place, mass)).unwrap();
        let joint = JointDesc::ball(body, last).placed(&world, place + Vec3::Y * 0.5, Quat::IDENTITY).unwrap();
        world.add_joint_named(format!("joint {i}"), joint).unwrap();
        last = Some(body);
    }
    let mut stepper = Stepper::on(&Device::Cpu { threads: Some(1) }, world, iterating(20)).unwrap();
    for _ in 0..300 {
        let prepared = stepper.prepare(DT).unwrap();
        stepper.run(prepared).unwrap();
    }
    for (i, below) in [7.0, 6.0, 4.0].into_iter().enumerate() {
        let joint = stepper.world().find_joint(&format!("joint {i}")).unwrap();
        let state = stepper.joint(joint).unwrap();
        let expected = Vec3::Y * below * G;
        assert!((state.force - expected).length() < 0.01 * expected.length(), "joint {i}: {}", state.force);
        assert!(state.error.linear < 1e-3 && !state.broken, "joint {i}: {state:?}");
    }
    assert_eq!(stepper.joints().unwrap().len(), 3);
    assert_eq!(stepper.bodies().unwrap().len(), 3);
}

#[test]
fn a_new_joint_in_a_used_slot_has_pulled_nothing() {
    common::on_shared_backends(|backend| {
        let mut world = World::new();
        let body = world.add(cube(Vec3::ZERO, 5.0)).unwrap();
        let first = world.add_joint_named("first", JointDesc::ball(body, None)).unwrap();
        let mut simulation = Simulation::new(world, iterating(10), backend.device()).unwrap();
        run(&mut simulation, 0.5);
        assert!(simulation.joint(first).unwrap().force.y > 40.0);
        simulation.world_mut().remove_joint(first).unwrap();
        let second = simulation.world_mut().add_joint(JointDesc::ball(body, None)).unwrap();
        assert_eq!(second.index(), first.index());
        assert!(simulation.joint(first).is_err(), "its handle is stale");
        assert_eq!(simulation.world().joint_name(second), None, "and its name is gone");
        let state = simulation.joint(second).unwrap();
        assert_eq!((state.force, simulation.joints().unwrap()[0].1), (Vec3::ZERO, state), "{}", backend.name());
        simulation.step(DT).unwrap();
        assert!(simulation.joint(second).unwrap().force.y > 1.0, "{}", backend.name());
        // Far more joints than there was room for, before there is any step.
        let more = simulation.world_mut().add(cube(Vec3::X * 9.0, 1.0)).unwrap();
        let many: Vec<_> =
            (0..50).map(|_| simulation.world_mut().add_joint(JointDesc::ball(more, body)).unwrap()).collect();
        let state = simulation.joint(many[49]).unwrap();
        assert_eq!(state.force, Vec3::ZERO);
        assert!((state.error.linear - 9.0).abs() < 0.1, "{state:?}");
        assert_eq!(simulation.joints().unwrap().len(), 51);
    });
}

#[test]
fn the_force_a_joint_broke_at_is_the_greatest_over_time() {
    let mut world = World::new();
    let body = world.add(cube(Vec3::ZERO, 2.0)).unwrap();
    let joint = world.add_joint(JointDesc::ball(body, None).breaking(30.0, f32::INFINITY)).unwrap();
    let mut simulation = simulate(world, iterating(20));
    let mut worst = WorstJoints::default();
    let mut broke = None;
    for step in 0..90 {
        if step == 30 {
            simulation.world_mut().set_force(body, Vec3::Y * -40.0, Vec3::ZERO).unwrap();
        }
        let report = simulation.step(DT).unwrap();
        let now = JointMetrics::of(&mut simulation).unwrap();
        worst.see(simulation.steps(), &now);
        for event in report.events {
            let EventKind::Broken { force, .. } = event.kind else { continue };
            assert!((now.force.max - f64::from(force)).abs() < 1e-3, "{now:?}, and {force} N in the event");
            assert_eq!((now.holding, now.broken), (0, 1));
            broke = Some((f64::from(force), simulation.steps()));
        }
    }
    let (force, step) = broke.expect("it breaks");
    assert!((worst.force.value - force).abs() < 1e-3 && worst.force.step == step, "{worst:?}");
    assert_eq!(worst.force.joint, Some(joint));
    let end = simulation.joint(joint).unwrap();
    assert_eq!((end.force, end.error, end.broken), (Vec3::ZERO, JointError::default(), true), "it fell");
}
