//! Sliders.

use super::*;
use drystone::world::JointDesc;
use drystone::world::joint::{Drive, JointAxis};

#[test]
fn a_bead_slides_down_its_wire() {
    // Along a wire at 30 degrees it falls at g / 2.
    let mut world = World::new();
    let (sine, cosine) = (0.5f32, 0.75f32.sqrt());
    let axis = Vec3::new(cosine, -sine, 0.0);
    let body = world.add(cube(Vec3::ZERO, 3.0)).unwrap();
    world.add_joint(JointDesc::slider(body, None).about(axis, axis)).unwrap();
    let mut simulation = simulate(world, iterating(10));
    for n in 1..=60u32 {
        simulation.step(DT).unwrap();
        let state = simulation.body(body).unwrap();
        let expected = axis * (0.5 * G * sine * DT * DT * (n * (n + 1)) as f32);
        assert!((state.position - expected).length() < 0.01, "step {n}: {} not {expected}", state.position);
        let (worst, bent, _) = errors(&mut simulation);
        assert!(worst < 2e-3 && bent < 1e-3, "step {n}: {worst} m, {bent} rad");
    }
}

#[test]
fn limits_stop_a_slider_and_a_motor_drives_it() {
    common::on_shared_backends(|backend| {
        let mut world = World::new();
        let body = world.add(cube(Vec3::ZERO, 2.0)).unwrap();
        let slider = JointDesc::slider(body, None).about(Vec3::Y, Vec3::Y).limited(JointAxis::X, -1.0, 0.5);
        let joint = world.add_joint(slider).unwrap();
        let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
        for _ in 0..120 {
            simulation.step(DT).unwrap();
        }
        let y = simulation.body(body).unwrap().position.y;
        assert!((y + 1.0).abs() < 5e-3, "{}: {y} m", backend.name());
        let lift = Drive::Speed { speed: 1.0, max: 100.0 };
        simulation.world_mut().set_drive(joint, JointAxis::X, Some(lift)).unwrap();
        for _ in 0..60 {
            simulation.step(DT).unwrap();
        }
        let state = simulation.body(body).unwrap();
        assert!((state.position.y - 0.0).abs() < 0.05, "{}: {}", backend.name(), state.position);
        assert!((state.linear_velocity.y - 1.0).abs() < 0.02, "{}: {}", backend.name(), state.linear_velocity);
        for _ in 0..60 {
            simulation.step(DT).unwrap();
        }
        let y = simulation.body(body).unwrap().position.y;
        assert!((y - 0.5).abs() < 5e-3, "{}: the upper limit stops the motor: {y} m", backend.name());
    });
}

#[test]
fn a_slider_on_a_turning_body_turns_with_it() {
    // A bead held by a spring on a rod that spins at 2 rad/s: k x = m w^2 (r + x).
    let mut world = weightless();
    let hub = world.add(BodyDesc::kinematic().spinning(Vec3::Z * 2.0)).unwrap();
    let body = world.add(cube(Vec3::X, 1.0).moving(Vec3::Y * 2.0).spinning(Vec3::Z * 2.0)).unwrap();
    let spring = Drive::Spring { target: 1.0, stiffness: 104.0, damping: 5.0, max: f32::INFINITY };
    world.add_joint(JointDesc::slider(body, hub).driven(JointAxis::X, spring)).unwrap();
    let mut simulation = simulate(world, iterating(10));
    run(&mut simulation, 5.0);
    let distance = simulation.body(body).unwrap().position.length();
    let expected = 104.0 / 100.0;
    assert!((distance - expected).abs() < 0.005, "{distance} m, not {expected}");
}

/// What holds a weight half a metre below a hook.
pub fn hung(body: BodyHandle, hook: BodyHandle) -> JointDesc {
    JointDesc::slider(body, hook).anchors(Vec3::ZERO, Vec3::Y * -0.5).limited(JointAxis::X, -0.1, 0.1)
}

#[test]
fn a_slider_breaks_is_repaired_and_goes_with_its_body() {
    life::lives(hung);
}

#[test]
fn lifts_rise_each_to_its_limit() {
    let world = drystone::scenes::lifts(4).unwrap();
    let lifts: Vec<_> = world.handles().collect();
    let mut simulation = simulate(world, iterating(10));
    run(&mut simulation, 0.5);
    for lift in &lifts {
        let y = simulation.body(*lift).unwrap().position.y;
        // 300 N less their weight, up to a metre a second.
        let expected = 0.5 - 0.5 / ((300.0 - 20.0 * G) / 20.0);
        assert!((y - expected).abs() < 0.02, "{y} m, not {expected}");
    }
    run(&mut simulation, 3.5);
    for (i, lift) in lifts.iter().enumerate() {
        let y = simulation.body(*lift).unwrap().position.y;
        assert!((y - (1.0 + 0.5 * i as f32)).abs() < 5e-3, "{i}: {y} m");
    }
}

#[test]
fn a_slider_with_one_limit_only_is_stopped_by_it() {
    common::on_shared_backends(|backend| {
        // One beside the other: one falls down, one up.
        let mut world = World::new();
        let mut beads = Vec::new();
        for (low, high, up) in [(-1.0, f32::INFINITY, -1.0f32), (f32::NEG_INFINITY, 1.0, 1.0)] {
            let body = world.add(cube(Vec3::X * up, 2.0).gravity_scale(-up)).unwrap();
            let slider = JointDesc::slider(body, None).anchors(Vec3::ZERO, Vec3::X * up).about(Vec3::Y, Vec3::Y);
            world.add_joint(slider.limited(JointAxis::X, low, high)).unwrap();
            beads.push((body, up, format!("{}: {low}..{high}", backend.name())));
        }
        let mut simulation = Simulation::new(world, iterating(10), backend.device()).unwrap();
        for step in 1..=120u32 {
            simulation.step(DT).unwrap();
            for (body, up, place) in &beads {
                let way = simulation.body(*body).unwrap().position.y * up;
                // Free fall as backward Euler has it, until the limit.
                let expected = 0.5 * G * DT * DT * (step * (step + 1)) as f32;
                if expected < 0.9 {
                    assert!((way - expected).abs() < 0.01, "{place}: step {step}: {way} m, not {expected}");
                }
                assert!(way < 1.005, "{place}: step {step}: {way} m");
            }
        }
        for (body, up, place) in beads {
            let state = simulation.body(body).unwrap();
            assert!((state.position.y * up - 1.0).abs() < 5e-3, "{place}: {}", state.position);
            assert!(state.linear_velocity.length() < 1e-2, "{place}: {}", state.linear_velocity);
        }
    });
}
