//! Joints that break: at their limit, named, for good.

use super::*;
use drystone::EventKind;
use drystone::world::{BodyHandle, JointDesc, JointHandle};

fn broken(report: &drystone::StepReport) -> Vec<(JointHandle, f32)> {
    let named = report.events.iter().filter_map(|e| match e.kind {
        EventKind::Broken { joint, force, .. } => Some((joint, force)),
        _ => None,
    });
    named.collect()
}

/// Two cubes hang on the world in a row; the upper joint is to break.
fn hanging(mass: f32, limit: f32) -> (World, BodyHandle, JointHandle) {
    let mut world = World::new();
    let other = world.add(cube(Vec3::X * 3.0, mass)).unwrap();
    world.add_joint(JointDesc::fixed(other, None).anchors(Vec3::ZERO, Vec3::X * 3.0)).unwrap();
    let body = world.add(cube(Vec3::ZERO, mass)).unwrap();
    let joint = JointDesc::fixed(body, None).breaking(limit, f32::INFINITY);
    let joint = world.add_joint(joint).unwrap();
    (world, body, joint)
}

#[test]
fn a_joint_breaks_at_its_limit_whatever_the_mass() {
    for mass in [1e-3, 1.0, 300.0, 1e5f32] {
        let limit = 3.0 * mass * G;
        let (world, body, joint) = hanging(mass, limit);
        let mut simulation = simulate(world, Settings::default());
        let mut at = None;
        for step in 0..600 {
            // From nothing to four times the weight in ten seconds, its own included.
            let load = mass * G * (4.0 * step as f32 / 600.0 - 1.0);
            simulation.world_mut().set_force(body, Vec3::Y * -load, Vec3::ZERO).unwrap();
            let report = simulation.step(DT).unwrap();
            if let Some((named, force)) = broken(&report).first() {
                assert_eq!(*named, joint);
                assert!(*force > limit && *force < 1.05 * limit, "{mass} kg: {force} N of {limit}");
                at = Some((load + mass * G) / limit);
                break;
            }
        }
        let at = at.unwrap_or_else(|| panic!("{mass} kg: it did not break"));
        assert!((0.95..1.05).contains(&at), "{mass} kg: it broke at {at} of its limit");
        assert!(simulation.world().is_broken(joint).unwrap());
    }
}

#[test]
fn what_broke_falls_and_what_is_repaired_holds() {
    common::on_shared_backends(|backend| {
        let (world, body, joint) = hanging(2.0, 100.0);
        let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
        let name = backend.name();
        for _ in 0..30 {
            assert!(broken(&simulation.step(DT).unwrap()).is_empty(), "{name}: it bears its weight");
        }
        simulation.world_mut().break_joint(joint).unwrap();
        for _ in 0..6 {
            simulation.step(DT).unwrap();
        }
        let state = simulation.body(body).unwrap();
        assert!((state.linear_velocity.y + 0.1 * G).abs() < 0.02, "{name}: it falls: {state:?}");
        assert_eq!(simulation.joint(joint).unwrap().force, Vec3::ZERO, "{name}");
        simulation.world_mut().repair_joint(joint).unwrap();
        let mut limit = simulation.world().joint(joint).unwrap().clone();
        assert_eq!(limit.max_force, 100.0);
        limit.max_force = f32::INFINITY;
        simulation.world_mut().remove_joint(joint).unwrap();
        simulation.world_mut().add_joint(limit).unwrap();
        for _ in 0..150 {
            simulation.step(DT).unwrap();
        }
        let state = simulation.body(body).unwrap();
        assert!(state.position.length() < 2e-3, "{name}: it is back: {state:?}");
    });
}

#[test]
fn torque_breaks_a_joint_too() {
    // A beam of 1 m out of a wall: its weight bends the joint with m g / 2.
    for (limit, holds) in [(0.9f32, false), (1.1, true)] {
        let mut world = World::new();
        let beam = Collider::cuboid(Vec3::new(1.0, 0.1, 0.1));
        let body = world.add(BodyDesc::dynamic().at(Vec3::X * 0.5).with(beam).weighing(4.0)).unwrap();
        let joint = JointDesc::fixed(body, None).anchors(Vec3::X * -0.5, Vec3::ZERO);
        let joint = world.add_joint(joint.breaking(f32::INFINITY, limit * 4.0 * G * 0.5)).unwrap();
        let mut simulation = simulate(world, iterating(10));
        run(&mut simulation, 2.0);
        assert_eq!(simulation.world().is_broken(joint).unwrap(), !holds, "{limit}");
    }
}
