//! What is no longer a number is taken out, whatever it is and however it came about; the others go on.

use crate::common::Backend;
use crate::{DT, cube, dynamic, weightless};
use drystone::backend::RunnerExt;
use drystone::glam::Vec3;
use drystone::world::{BodyDesc, BodyHandle, JointDesc};
use drystone::{EventKind, Settings, Simulation, Solver, VbdSettings};

/// Steps, and sees to it that every number is finite; returns who was taken out and which joints broke.
fn survive(simulation: &mut Simulation, steps: u32, place: &str) -> (Vec<BodyHandle>, usize) {
    let (mut out, mut broken) = (Vec::new(), 0);
    for step in 0..steps {
        for event in simulation.step(DT).unwrap().events {
            match event.kind {
                EventKind::Quarantined { body } => out.push(body),
                EventKind::Broken { force, torque, .. } => {
                    assert!(force.is_finite() && torque.is_finite(), "{place}: {force} N, {torque} N m");
                    broken += 1;
                }
                _ => {}
            }
        }
        for (body, state) in simulation.bodies().unwrap() {
            let velocities = state.linear_velocity.is_finite() && state.angular_velocity.is_finite();
            let pose = state.position.is_finite() && state.rotation.is_finite();
            assert!(pose && velocities, "{place}, step {step}: {body:?} {state:?}");
        }
    }
    (out, broken)
}

#[test]
fn a_kinematic_body_that_leaves_the_range_of_numbers_is_taken_out() {
    kinematic(&Backend::Cpu);
}

fn kinematic(backend: &Backend) {
    let mut world = weightless();
    let bad = world.add(BodyDesc::kinematic().with(cube())).unwrap();
    let turning = world.add(BodyDesc::kinematic().at(Vec3::X * 5.0).with(cube())).unwrap();
    let good = world.add(BodyDesc::kinematic().at(Vec3::X * 10.0).moving(Vec3::Y).with(cube())).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
    simulation.world_mut().set_velocity(bad, Vec3::X * f32::MAX, Vec3::ZERO).unwrap();
    simulation.world_mut().set_velocity(turning, Vec3::ZERO, Vec3::splat(f32::MAX)).unwrap();
    let (out, _) = survive(&mut simulation, 100, &backend.name());
    assert!(out.contains(&bad), "{}: {out:?}", backend.name());
    assert!(!simulation.body(bad).unwrap().enabled);
    let state = simulation.body(good).unwrap();
    assert!(state.enabled && (state.position.y - 100.0 * DT).abs() < 0.01, "{state:?}");
}

#[test]
fn a_body_whose_colliders_lie_very_far_off_has_a_place_after_it_was_taken_out() {
    let mut world = weightless();
    let error = world.add(BodyDesc::dynamic().with(cube().at(Vec3::X * 1e31))).unwrap_err();
    assert!(error.to_string().contains("collider position") && error.to_string().contains("1e30"), "{error}");
    // As far as is accepted, and so fast that it leaves the range of numbers.
    let far = BodyDesc { mass: Some(1.0), inertia: Some(Vec3::ONE), ..BodyDesc::dynamic() };
    let far = far.with(cube().at(Vec3::new(1e30, -1e30, 1e30))).moving(Vec3::splat(f32::MAX));
    let body = world.add(BodyDesc { position: Vec3::splat(f32::MAX), ..far }).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), Backend::Cpu.device()).unwrap();
    survive(&mut simulation, 10, "far off");
    assert!(!simulation.body(body).unwrap().enabled);
}

#[test]
fn a_rotation_that_is_no_number_takes_its_body_out() {
    rotation(&Backend::Cpu);
}

fn rotation(backend: &Backend) {
    let mut world = weightless();
    let fast = world.add(dynamic(Vec3::ZERO).spinning(Vec3::splat(f32::MAX))).unwrap();
    let good = world.add(dynamic(Vec3::X * 5.0).moving(Vec3::Y)).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
    let (out, _) = survive(&mut simulation, 20, &backend.name());
    assert!(!out.contains(&good), "{}", backend.name());
    assert!(simulation.body(fast).unwrap().rotation.is_finite());
}

#[test]
fn a_way_that_is_finite_with_a_velocity_that_is_not_takes_its_body_out() {
    velocity(&Backend::Cpu);
}

fn velocity(backend: &Backend) {
    let mut world = weightless();
    let bad = world.add(dynamic(Vec3::ZERO).weighing(1e-6)).unwrap();
    let good = world.add(dynamic(Vec3::X * 5.0).moving(Vec3::Y)).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
    // 2e37 m in a step is a number, 1.2e39 m/s is not one.
    simulation.world_mut().apply_force(bad, Vec3::X * 7.2e34, Vec3::ZERO).unwrap();
    let (out, _) = survive(&mut simulation, 10, &backend.name());
    assert_eq!(out, [bad], "{}", backend.name());
    assert!(simulation.body(good).unwrap().enabled);
}

#[test]
fn a_joint_of_a_body_that_is_taken_out_is_no_nan_and_does_not_take_the_other_along() {
    joint(&Backend::Cpu);
}

fn joint(backend: &Backend) {
    // Without multipliers the force of a joint is that of its stiffness, and no number when an end of it is none.
    for solver in [Settings::default().solver, Solver::Vbd(VbdSettings::default())] {
        let place = format!("{}, {}", backend.name(), solver.name());
        let mut world = weightless();
        let bad = world.add(dynamic(Vec3::ZERO)).unwrap();
        let good = world.add(dynamic(Vec3::X * 3.0).moving(Vec3::Y * 0.1)).unwrap();
        let joint = world.add_joint(JointDesc::ball(bad, good)).unwrap();
        let settings = Settings::default().with(|s| s.solver = solver);
        let mut simulation = Simulation::new(world, settings, backend.device()).unwrap();
        simulation.step(DT).unwrap();
        let (buffer, index) = (simulation.plan().buffers.velocities, bad.index());
        let mut velocity = simulation.runner().read_at(buffer, index.into()).unwrap();
        velocity.linear.x = f32::NAN;
        simulation.runner().write_at(buffer, index.into(), &velocity).unwrap();
        let (out, _) = survive(&mut simulation, 30, &place);
        assert_eq!(out, [bad], "{place}");
        let state = simulation.joint(joint).unwrap();
        assert!(state.force.is_finite() && state.torque.is_finite(), "{place}: {state:?}");
        // Mended again it holds, and nothing of before is in it.
        simulation.world_mut().repair_joint(joint).unwrap();
        let (out, _) = survive(&mut simulation, 10, &place);
        assert!(out.is_empty(), "{place}: {out:?}");
    }
}

/// The same on a driver.
pub fn on_driver(backend: &Backend) {
    kinematic(backend);
    rotation(backend);
    velocity(backend);
    joint(backend);
}

#[test]
fn a_body_whose_rotation_overflowed_to_nothing_is_taken_out() {
    // With rotations of first order, a turn too large for a float was made 0 when it was normalised: finite, and none.
    for (solver, speed) in [(2.0, 1e30), (2.0, 1e20), (2.0, f32::MAX), (0.0, 1e30), (1.0, 1e30)] {
        let mut world = weightless();
        let fast = world.add(dynamic(Vec3::ZERO)).unwrap();
        let far = world.add(dynamic(Vec3::X * 9.0)).unwrap();
        let mut settings = Settings::default();
        settings.set("solver", solver).unwrap();
        let mut simulation = Simulation::new(world, settings, Backend::Cpu.device()).unwrap();
        simulation.world_mut().set_velocity(fast, Vec3::ZERO, Vec3::new(0.3, 1.0, 0.2) * speed).unwrap();
        survive(&mut simulation, 5, &format!("solver {solver}, {speed:e} rad/s"));
        assert!(simulation.body(far).unwrap().enabled);
    }
}
