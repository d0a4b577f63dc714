//! Joints put together axis by axis.

use super::*;
use drystone::glam::Quat;
use drystone::world::JointDesc;
use drystone::world::joint::{Drive, JointAxis};

#[test]
fn every_axis_is_what_it_was_told() {
    common::on_shared_backends(|backend| {
        // X free, Y locked, Z limited; twist driven, swing about y limited, about z locked.
        let mut world = weightless();
        let body = world.add(cube(Vec3::ZERO, 1.0).moving(Vec3::ONE)).unwrap();
        let joint = JointDesc::generic(body, None)
            .locked(JointAxis::Y)
            .limited(JointAxis::Z, -0.5, 0.25)
            .driven(JointAxis::Twist, Drive::Speed { speed: 2.0, max: 10.0 })
            .limited(JointAxis::SwingY, -0.2, 0.2)
            .locked(JointAxis::SwingZ);
        world.add_joint(joint).unwrap();
        let mut simulation = Simulation::new(world, iterating(10), backend.device()).unwrap();
        for step in 1..=120 {
            simulation.step(DT).unwrap();
            let state = simulation.body(body).unwrap();
            let name = backend.name();
            assert!((state.linear_velocity.x - 1.0).abs() < 0.01, "{name}: step {step}: {state:?}");
            assert!(state.position.y.abs() < 2e-3, "{name}: step {step}: {state:?}");
            assert!(state.position.z < 0.255, "{name}: step {step}: {state:?}");
            assert!(step < 30 || (state.angular_velocity.x - 2.0).abs() < 0.02, "{name}: step {step}: {state:?}");
            let axis = state.rotation * Vec3::X;
            assert!(axis.y.abs() < 5e-3 && axis.z.abs() < 0.21, "{name}: step {step}: {axis}");
        }
    });
}

#[test]
fn a_cone_holds_a_swinging_limb() {
    // A limb on a ball joint with 30 degrees of swing falls over and stays there.
    let mut world = World::new();
    let limb = Collider::capsule(0.2, 0.1);
    let body = BodyDesc::dynamic().at(Vec3::Y * 0.3).spinning(Vec3::new(0.3, 2.0, 1.0)).with(limb);
    let body = world.add(body).unwrap();
    let limit = 30f32.to_radians();
    let up = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let joint = JointDesc::ball(body, None)
        .anchors(Vec3::Y * -0.3, Vec3::ZERO)
        .frames(up, up)
        .limited(JointAxis::Twist, -0.5, 0.5)
        .limited(JointAxis::SwingY, -limit, limit)
        .limited(JointAxis::SwingZ, -limit, limit);
    world.add_joint(joint).unwrap();
    let mut simulation = simulate(world, iterating(10));
    run(&mut simulation, 10.0);
    let (worst, bent, _) = errors(&mut simulation);
    assert!(worst < 1e-3, "{worst} m");
    assert!(bent < 0.5f64.to_radians(), "{} degrees beyond the limits", bent.to_degrees());
    assert!(simulation.body(body).unwrap().angular_velocity.length() < 0.05);
}

#[test]
fn springs_resist_bending() {
    // A pole of five segments stands on end, held by nothing but its springs.
    let mut world = World::new();
    let segment = Collider::cuboid(Vec3::new(0.1, 0.5, 0.1));
    let mut last = None;
    for i in 0..5 {
        let place = Vec3::Y * (0.25 + 0.5 * i as f32);
        let body = world.add(BodyDesc::dynamic().at(place).with(segment.clone()).weighing(1.0)).unwrap();
        let joint = JointDesc::ball(body, last).placed(&world, Vec3::Y * (0.5 * i as f32), Quat::IDENTITY).unwrap();
        world.add_joint(joint.stiff(2000.0, 20.0)).unwrap();
        last = Some(body);
    }
    let top = last.unwrap();
    world.set_force(top, Vec3::X * 5.0, Vec3::ZERO).unwrap();
    let mut simulation = simulate(world, iterating(10));
    run(&mut simulation, 5.0);
    let (worst, _, _) = errors(&mut simulation);
    assert!(worst < 1e-3, "{worst} m");
    let bent = simulation.body(top).unwrap().position.x;
    // Each joint bends by the moment over its stiffness, small angles: force 5 N, levers 2.25 - y; the weight adds to
    // it.
    let way: f32 = (0..5).map(|i| 0.5 * i as f32).map(|y| 5.0 / 2000.0 * (2.25 - y) * (2.25 - y)).sum();
    assert!(bent > way && bent < 1.1 * way, "{bent} m, not {way}");
}

/// What holds a weight half a metre below a hook.
pub fn hung(body: BodyHandle, hook: BodyHandle) -> JointDesc {
    // Held along y by a limit, driven along x, free along z and about angles but for a spring about one.
    let spring = Drive::Spring { target: 0.0, stiffness: 5.0, damping: 1.0, max: f32::INFINITY };
    JointDesc::generic(body, hook)
        .limited(JointAxis::Y, -0.5, f32::INFINITY)
        .driven(JointAxis::X, Drive::Position { target: 0.0, max: 50.0 })
        .driven(JointAxis::Twist, spring)
}

#[test]
fn a_generic_joint_breaks_is_repaired_and_goes_with_its_body() {
    life::lives(hung);
}

#[test]
fn limbs_fall_over_as_far_as_they_may() {
    let world = drystone::scenes::limbs(4).unwrap();
    let limbs: Vec<_> = world.handles().collect();
    let mut simulation = simulate(world, iterating(10));
    run(&mut simulation, 5.0);
    for (i, limb) in limbs.iter().enumerate() {
        let state = simulation.body(*limb).unwrap();
        let up = state.rotation * Vec3::Y;
        let (leans, expected) = (up.x.atan2(up.y), std::f32::consts::FRAC_PI_2 * (i + 1) as f32 / 5.0);
        assert!((leans - expected).abs() < 0.5f32.to_radians(), "{i}: {leans} rad, not {expected}");
    }
}

#[test]
fn coordinates_with_one_limit_only_are_stopped_by_it() {
    // Cubes far from each other, each with another coordinate that goes on at a constant speed until its limit.
    let axes = [
        (JointAxis::X, Vec3::X, false),
        (JointAxis::Z, Vec3::Z, false),
        (JointAxis::Twist, Vec3::X, true),
        (JointAxis::SwingY, Vec3::Y, true),
        (JointAxis::SwingZ, Vec3::Z, true),
    ];
    common::on_shared_backends(|backend| {
        let mut world = weightless();
        let mut cubes = Vec::new();
        for (axis, along, turns) in axes {
            for side in [-1.0f32, 1.0] {
                let place = Vec3::Y * (3.0 * cubes.len() as f32);
                let (body, way) = (cube(place, 1.0), along * (side * 2.0));
                let body = world.add(if turns { body.spinning(way) } else { body.moving(way) }).unwrap();
                let (low, high) = if side < 0.0 { (-0.5, f32::INFINITY) } else { (f32::NEG_INFINITY, 0.5) };
                let joint = JointDesc::generic(body, None).anchors(Vec3::ZERO, place).limited(axis, low, high);
                world.add_joint(joint).unwrap();
                let name = format!("{}: {axis:?} in {low}..{high}", backend.name());
                cubes.push((body, place, along * side, turns, name));
            }
        }
        let mut simulation = Simulation::new(world, iterating(10), backend.device()).unwrap();
        for step in 1..=60 {
            simulation.step(DT).unwrap();
            for (body, place, along, turns, name) in &cubes {
                let state = simulation.body(*body).unwrap();
                let way = if *turns { state.rotation.to_scaled_axis() } else { state.position - place };
                let (now, expected) = (way.dot(*along), (2.0 * step as f32 * DT).min(0.5));
                assert!((now - expected).abs() < 0.01, "{name}: step {step}: {now}, not {expected}");
            }
        }
    });
}
