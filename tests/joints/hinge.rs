//! Hinges: angle, limits, motors.

use super::*;
use drystone::glam::Quat;
use drystone::world::joint::{Drive, JointAxis};
use drystone::world::{BodyHandle, JointDesc, JointHandle};

/// The same about its middle: a wheel, which backward Euler does not slow down.
fn wheel(world: &mut World, mass: f32) -> (BodyHandle, JointDesc) {
    let (body, hinge) = door(world, mass);
    (body, hinge.anchors(Vec3::ZERO, Vec3::X * 0.5))
}

/// A door of 1 m about the z axis of the world, lying along x, and its hinge.
fn door(world: &mut World, mass: f32) -> (BodyHandle, JointDesc) {
    let door = Collider::cuboid(Vec3::new(1.0, 0.1, 0.5));
    let body = world.add(BodyDesc::dynamic().at(Vec3::X * 0.5).with(door).weighing(mass)).unwrap();
    (body, JointDesc::hinge(body, None).anchors(Vec3::X * -0.5, Vec3::ZERO).about(Vec3::Z, Vec3::Z))
}

fn angle(simulation: &mut Simulation, body: BodyHandle) -> f32 {
    let x = simulation.body(body).unwrap().rotation * Vec3::X;
    x.y.atan2(x.x)
}

#[test]
fn a_spinning_hinge_turns_for_ever() {
    let mut world = weightless();
    let spin = Vec3::Z * 20.0;
    let (body, hinge) = wheel(&mut world, 1.0);
    world.set_velocity(body, Vec3::ZERO, spin).unwrap();
    world.add_joint(hinge).unwrap();
    let mut simulation = simulate(world, iterating(10));
    let (mut turned, mut before) = (0.0, 0.0);
    for step in 0..720 {
        simulation.step(DT).unwrap();
        let now = angle(&mut simulation, body);
        turned += (now - before + std::f32::consts::PI).rem_euclid(std::f32::consts::TAU) - std::f32::consts::PI;
        before = now;
        let (worst, bent, _) = errors(&mut simulation);
        assert!(worst < 0.01 && bent < 0.01, "step {step}: {worst} m, {bent} rad");
        let speed = simulation.body(body).unwrap().angular_velocity;
        assert!(speed.z < 20.1, "step {step}: {speed}");
    }
    assert!(turned > 20.0 * std::f32::consts::TAU, "{} revolutions", turned / std::f32::consts::TAU);
}

#[test]
fn a_hinge_holds_its_axis_under_load() {
    // The door hangs out sideways from a vertical axis: all its weight bends the hinge.
    let mut world = World::new();
    let (body, hinge) = door(&mut world, 10.0);
    world.add_joint(hinge.about(Vec3::Y, Vec3::Y)).unwrap();
    let mut simulation = simulate(world, Settings::default());
    run(&mut simulation, 5.0);
    let (worst, bent, _) = errors(&mut simulation);
    assert!(worst < 1e-3 && bent < 0.5f64.to_radians(), "{worst} m, {bent} rad");
    let state = simulation.body(body).unwrap();
    assert!(state.linear_velocity.length() < 1e-2, "{state:?}");
}

#[test]
fn a_limit_holds_within_half_a_degree() {
    common::on_shared_backends(|backend| {
        // One beside the other.
        let mut world = World::new();
        let limits = [(-0.5f32, 0.7f32), (-1.2, -0.1), (-3.0, 3.0)];
        let mut doors = Vec::new();
        for ((low, high), z) in limits.into_iter().zip([0.0, 2.0, 4.0]) {
            let (body, hinge) = door(&mut world, 10.0);
            world.set_pose(body, Vec3::new(0.5, 0.0, z), Quat::IDENTITY).unwrap();
            let hinge = hinge.anchors(Vec3::X * -0.5, Vec3::Z * z).limited(JointAxis::Twist, low, high);
            world.add_joint(hinge).unwrap();
            doors.push((body, low));
        }
        let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
        for _ in 0..240 {
            simulation.step(DT).unwrap();
        }
        for (body, low) in doors {
            // Gravity pulls the door down, to -90 degrees if it may.
            let expected = low.max(-std::f32::consts::FRAC_PI_2);
            let now = angle(&mut simulation, body);
            if expected == low {
                assert!((now - expected).abs() < 0.5f32.to_radians(), "{}: {now}, not {expected}", backend.name());
            } else {
                assert!(now > low && now < 0.0, "{}: {now}", backend.name());
            }
        }
    });
}

fn motor(world: &mut World, hinge: JointDesc, speed: f32, max: f32) -> JointHandle {
    world.add_joint(hinge.driven(JointAxis::Twist, Drive::Speed { speed, max })).unwrap()
}

#[test]
fn a_motor_reaches_its_speed_with_the_torque_it_has() {
    // I about the axis is m (1 + 0.01) / 12; without gravity the speed grows by T / I a second.
    let mut world = weightless();
    let (body, hinge) = wheel(&mut world, 3.0);
    let joint = motor(&mut world, hinge, 5.0, 0.5);
    let inertia = 3.0 * 1.01 / 12.0;
    let mut simulation = simulate(world, Settings::default());
    for step in 1..=300 {
        simulation.step(DT).unwrap();
        let speed = simulation.body(body).unwrap().angular_velocity.z;
        let expected = (0.5 / inertia * step as f32 * DT).min(5.0);
        assert!((speed - expected).abs() < 0.01 * expected + 1e-3, "step {step}: {speed} rad/s, not {expected}");
        let torque = simulation.joint(joint).unwrap().torque.z;
        assert!(torque <= 0.5 + 1e-4, "step {step}: {torque} N m");
    }
}

#[test]
fn a_motor_that_is_too_weak_is_pulled_down() {
    for (max, lifts) in [(0.9f32, false), (1.1, true)] {
        let mut world = World::new();
        let (body, hinge) = door(&mut world, 2.0);
        let weight = 2.0 * G * 0.5;
        let joint = motor(&mut world, hinge, 1.0, max * weight);
        let mut simulation = simulate(world, iterating(10));
        run(&mut simulation, 0.5);
        let now = angle(&mut simulation, body);
        assert_eq!(now > 0.0, lifts, "{max}: {now} rad");
        let torque = simulation.joint(joint).unwrap().torque.z;
        assert!(torque <= max * weight * 1.001, "{torque}");
    }
}

#[test]
fn a_position_motor_goes_there_and_stays() {
    let mut world = World::new();
    let (body, hinge) = door(&mut world, 2.0);
    let drive = Drive::Spring { target: 0.5, stiffness: 2000.0, damping: 200.0, max: 100.0 };
    world.add_joint(hinge.driven(JointAxis::Twist, drive)).unwrap();
    let mut simulation = simulate(world, Settings::default());
    run(&mut simulation, 3.0);
    // The spring gives way by weight over stiffness.
    let expected = 0.5 - 2.0 * G * 0.5 * 0.5f32.cos() / 2000.0;
    let now = angle(&mut simulation, body);
    assert!((now - expected).abs() < 2e-3, "{now} rad, not {expected}");
    assert!(simulation.body(body).unwrap().angular_velocity.length() < 1e-2);
}

#[test]
fn a_frame_sets_the_rest_of_a_hinge() {
    let mut world = weightless();
    let a = world.add(cube(Vec3::ZERO, 1.0).turned(Quat::from_rotation_z(1.0))).unwrap();
    let b = world.add(cube(Vec3::X * 0.5, 1.0)).unwrap();
    let frame = Quat::from_rotation_y(0.3);
    world.add_joint(JointDesc::hinge(a, b).placed(&world, Vec3::X * 0.25, frame).unwrap()).unwrap();
    let mut simulation = simulate(world, Settings::default());
    let (worst, bent, _) = errors(&mut simulation);
    assert!(worst < 1e-6 && bent < 1e-6, "{worst} {bent}");
    run(&mut simulation, 0.5);
    let turned = simulation.body(a).unwrap().rotation.angle_between(Quat::from_rotation_z(1.0));
    assert!(turned < 1e-3, "nothing turns it: {turned}");
}

/// What holds a weight half a metre below a hook.
pub fn hung(body: BodyHandle, hook: BodyHandle) -> JointDesc {
    let hinge = JointDesc::hinge(body, hook).anchors(Vec3::Y * 0.5, Vec3::ZERO).about(Vec3::Z, Vec3::Z);
    hinge.limited(JointAxis::Twist, -0.5, 0.5).driven(JointAxis::Twist, Drive::Speed { speed: 0.0, max: 1.0 })
}

#[test]
fn a_hinge_breaks_is_repaired_and_goes_with_its_body() {
    life::lives(hung);
}

/// What a door that begins level at rest falls by in `seconds`: the pendulum's equation, in doubles and tiny steps.
fn fallen(seconds: f64) -> f64 {
    // A bar of 1 m and 0.1 m about one end: I / m is (1 + 0.01) / 12 + 0.25, the lever of its weight half a metre.
    let inertia = 1.01 / 12.0 + 0.25;
    let (mut angle, mut speed, h) = (0.0f64, 0.0f64, 1e-5);
    for _ in 0..(seconds / h) as u32 {
        speed += h * f64::from(G) * 0.5 * angle.cos() / inertia;
        angle += h * speed;
    }
    angle
}

#[test]
fn a_hinge_with_one_limit_only_is_stopped_by_it() {
    let limit = 0.9f32;
    let reached = (1..).map(|i| f64::from(i) * 1e-2).find(|t| fallen(*t) > f64::from(limit)).unwrap() as f32;
    let expected: Vec<f32> = (0..180).map(|step| fallen(f64::from((step as f32 + 0.5) * DT)) as f32).collect();
    // Falling down onto the lower limit, falling up onto the upper one; infinite, and as far as floats go.
    let limits = [
        (-limit, f32::INFINITY, -1.0f32),
        (f32::NEG_INFINITY, limit, 1.0),
        (-limit, f32::MAX, -1.0),
        (-limit, 10.0, -1.0),
    ];
    common::on_shared_backends(|backend| {
        // One beside the other.
        let mut world = World::new();
        let mut doors = Vec::new();
        for ((low, high, up), z) in limits.into_iter().zip([0.0, 2.0, 4.0, 6.0]) {
            let door = BodyDesc::dynamic().at(Vec3::new(0.5, 0.0, z)).gravity_scale(-up);
            let body = world.add(door.with(Collider::cuboid(Vec3::new(1.0, 0.1, 0.5))).weighing(10.0)).unwrap();
            let hinge = JointDesc::hinge(body, None).anchors(Vec3::X * -0.5, Vec3::Z * z).about(Vec3::Z, Vec3::Z);
            world.add_joint(hinge.limited(JointAxis::Twist, low, high)).unwrap();
            doors.push((body, up, format!("{}: {low}..{high}", backend.name())));
        }
        let mut simulation = Simulation::new(world, iterating(10), backend.device()).unwrap();
        for step in 1..=180 {
            simulation.step(DT).unwrap();
            let t = step as f32 * DT;
            for (body, up, place) in &doors {
                let now = angle(&mut simulation, *body) * up;
                if t < reached - 0.05 {
                    // Backward Euler is ahead of the pendulum by half a step.
                    let expected = expected[step];
                    assert!((now - expected).abs() < 0.01, "{place}: {now} rad at {t} s, not {expected}");
                }
                assert!(now < limit + 0.5f32.to_radians(), "{place}: {now} rad at {t} s");
            }
        }
        for (body, up, place) in doors {
            let now = angle(&mut simulation, body) * up;
            assert!((now - limit).abs() < 0.5f32.to_radians(), "{place}: rests at {now} rad");
            assert!(simulation.body(body).unwrap().angular_velocity.length() < 1e-2, "{place}");
        }
    });
}

#[test]
fn a_hinge_with_one_limit_only_is_free_on_the_other_side() {
    // A wheel with a lower limit just below it turns up by three quarters of a turn as if there were no limit.
    let mut world = weightless();
    let (body, hinge) = wheel(&mut world, 1.0);
    world.set_velocity(body, Vec3::ZERO, Vec3::Z * 2.0).unwrap();
    world.add_joint(hinge.limited(JointAxis::Twist, -0.1, f32::INFINITY)).unwrap();
    let mut simulation = simulate(world, iterating(10));
    run(&mut simulation, 0.74 * std::f32::consts::TAU / 2.0);
    let speed = simulation.body(body).unwrap().angular_velocity.z;
    assert!((speed - 2.0).abs() < 0.01, "{speed} rad/s");
}
