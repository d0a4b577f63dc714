//! Joints that come and go while the world runs, and what a world refuses.

use super::*;
use drystone::world::joint::{Drive, JointAxis};
use drystone::world::{JointDesc, WorldError};

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let mut world = World::new();
    let a = world.add(cube(Vec3::ZERO, 1.0)).unwrap();
    let b = world.add(cube(Vec3::X, 1.0)).unwrap();
    let gone = world.add(cube(Vec3::Y, 1.0)).unwrap();
    world.remove(gone).unwrap();
    let nan = f32::NAN;
    let spring = |stiffness, damping| JointDesc::spring(a, b, 1.0, stiffness, damping);
    let wrong = [
        (JointDesc::ball(a, a), "both ends are body 0"),
        (JointDesc::ball(gone, b), "body 2 (generation 0) is no longer there"),
        (JointDesc::ball(a, gone), "body 2 (generation 0) is no longer there"),
        (JointDesc::ball(a, b).anchors(Vec3::X * nan, Vec3::ZERO), "anchor_a is not finite"),
        (JointDesc::hinge(a, b).about(Vec3::X * 2.0, Vec3::X), "frame_a is not a unit quaternion: its length is 2"),
        (JointDesc::hinge(a, b).about(Vec3::X, Vec3::ZERO), "frame_b is not finite"),
        (JointDesc::rod(a, b, nan), "Distance: value is not finite"),
        (spring(nan, 0.0), "Distance: stiffness is not finite"),
        (spring(-1.0, 0.0), "Distance: stiffness is out of range"),
        (spring(0.0, 0.0), "Distance: stiffness is out of range"),
        (spring(1.0, -1.0), "Distance: damping is out of range"),
        (JointDesc::hinge(a, b).limited(JointAxis::Twist, 1.0, -1.0), "Twist: limits from 1 to -1"),
        (JointDesc::hinge(a, b).driven(JointAxis::Twist, Drive::Speed { speed: 1.0, max: -2.0 }), "Twist: max is"),
        (JointDesc::ball(a, b).breaking(nan, 1.0), "max_force is not finite"),
    ];
    for (desc, text) in wrong {
        let error = world.add_joint(desc).unwrap_err().to_string();
        assert!(error.contains(text), "`{error}` does not say `{text}`");
    }
    assert_eq!(world.joints().count(), 0);
    let joint = world.add_joint(JointDesc::ball(a, b)).unwrap();
    world.remove_joint(joint).unwrap();
    assert!(matches!(world.remove_joint(joint), Err(WorldError::StaleJoint { index: 0, generation: 0 })));
    assert!(matches!(world.repair_joint(joint), Err(WorldError::StaleJoint { .. })));
}

#[test]
fn a_removed_body_takes_its_joints_along() {
    common::on_shared_backends(|backend| {
        let name = backend.name();
        let mut world = World::new();
        let top = world.add(cube(Vec3::ZERO, 1.0)).unwrap();
        let low = world.add(cube(Vec3::Y * -0.3, 1.0)).unwrap();
        world.add_joint(JointDesc::ball(top, None)).unwrap();
        let link = world.add_joint(JointDesc::ball(low, top).anchors(Vec3::Y * 0.3, Vec3::ZERO)).unwrap();
        let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
        for _ in 0..15 {
            simulation.step(DT).unwrap();
        }
        assert!(simulation.body(low).unwrap().position.y > -0.31, "{name}: it hangs");
        simulation.world_mut().remove(top).unwrap();
        assert!(simulation.world().joint(link).is_err(), "{name}");
        assert_eq!(simulation.world().joints().count(), 0, "{name}");
        // Another body in its slot has nothing to do with it.
        let other = simulation.world_mut().add(cube(Vec3::X * 5.0, 1.0)).unwrap();
        for _ in 0..15 {
            simulation.step(DT).unwrap();
        }
        for body in [low, other] {
            let speed = simulation.body(body).unwrap().linear_velocity;
            assert!((speed + Vec3::Y * 0.25 * G).length() < 0.01, "{name}: {speed}");
        }
        // Joints for the first time in the slots of old ones, and more than there was room for.
        let mut last = other;
        for i in 0..8 {
            let at = simulation.body(last).unwrap().position;
            let next = simulation.world_mut().add(cube(at + Vec3::X * 0.3, 0.1)).unwrap();
            let joint = JointDesc::ball(next, last).anchors(Vec3::X * -0.15, Vec3::X * 0.15);
            simulation.world_mut().add_joint(joint).unwrap();
            simulation.step(DT).unwrap();
            let (worst, _, _) = errors(&mut simulation);
            assert!(worst < 0.05, "{name}: {i}: {worst} m");
            last = next;
        }
    });
}

#[test]
fn slots_and_rows_do_not_leak() {
    let mut world = World::new();
    let a = world.add(cube(Vec3::ZERO, 1.0)).unwrap();
    let b = world.add(cube(Vec3::X, 1.0)).unwrap();
    let fixed = world.add_joint(JointDesc::fixed(a, b)).unwrap();
    let mut simulation = simulate(world, Settings::default());
    simulation.step(DT).unwrap();
    let before = simulation.plan().capacities;
    simulation.world_mut().remove_joint(fixed).unwrap();
    for _ in 0..100 {
        let joint = simulation.world_mut().add_joint(JointDesc::fixed(a, b)).unwrap();
        simulation.step(DT).unwrap();
        simulation.world_mut().remove_joint(joint).unwrap();
        simulation.step(DT).unwrap();
    }
    assert_eq!(simulation.plan().capacities, before);
}

#[test]
fn a_world_without_joints_has_no_passes_for_them() {
    let mut world = World::new();
    world.add(cube(Vec3::ZERO, 1.0)).unwrap();
    let simulation = simulate(world, Settings::default());
    let plan = simulation.plan().recording.to_string();
    assert!(plan.contains("primal") && !plan.contains("joints_") && !plan.contains("primal_joints"), "{plan}");
}

#[test]
fn a_repeated_step_is_the_same_to_the_bit() {
    let hash = |pairs: u32| {
        let mut world = drystone::scenes::pendulum(5, 10.0, 1.0).unwrap();
        for i in 0..10 {
            world.add(cube(Vec3::new(0.15 * i as f32, 0.0, 0.0), 1.0)).unwrap();
        }
        let capacities = drystone::state::Capacities { pairs, manifolds: pairs, ..Default::default() };
        let device = Device::Cpu { threads: None };
        let mut simulation = Simulation::with_capacities(world, Settings::default(), device, capacities).unwrap();
        run(&mut simulation, 1.0);
        drystone::metrics::Metrics::of(&mut simulation).unwrap().pose_hash
    };
    assert_eq!(hash(1), hash(1000));
}
