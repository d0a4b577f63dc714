//! Ball joints, and attachment to a point of the world.

use super::*;
use drystone::metrics::Metrics;
use drystone::world::JointDesc;

#[test]
fn a_small_pendulum_has_the_period_of_its_length() {
    // A cube whose centre hangs 1 m below the joint: T = 2 pi sqrt((I + m l^2) / (m g l)).
    let mut world = World::new();
    let (length, angle) = (1.0f32, 0.05f32);
    let place = Vec3::new(length * angle.sin(), -length * angle.cos(), 0.0);
    let turn = drystone::glam::Quat::from_rotation_z(angle);
    let body = world.add(cube(place, 2.0).turned(turn)).unwrap();
    world.add_joint(JointDesc::ball(body, None).anchors(Vec3::Y * length, Vec3::ZERO)).unwrap();
    let mut simulation = simulate(world, Settings::default());
    let (mut crossings, mut before) = (Vec::new(), place.x);
    for step in 1..=600 {
        simulation.step(DT).unwrap();
        let x = simulation.body(body).unwrap().position.x;
        if before > 0.0 && x <= 0.0 {
            crossings.push((step as f32 - x / (x - before)) * DT);
        }
        before = x;
    }
    let period = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f32;
    let inertia = 0.2f32 * 0.2 / 6.0;
    let expected = std::f32::consts::TAU * ((inertia + length * length) / (G * length)).sqrt();
    assert!((period / expected - 1.0).abs() < 0.01, "{period} s, not {expected}");
}

#[test]
fn what_is_joined_falls_like_everything() {
    let mut world = World::new();
    let a = world.add(cube(Vec3::Y * 10.0, 1.0)).unwrap();
    let b = world.add(cube(Vec3::new(0.4, 10.0, 0.0), 100.0)).unwrap();
    world
        .add_joint(JointDesc::ball(a, b).placed(&world, Vec3::new(0.2, 10.0, 0.0), Default::default()).unwrap())
        .unwrap();
    let mut simulation = simulate(world, Settings::default());
    for n in 1..=60u32 {
        simulation.step(DT).unwrap();
        let fall = 0.5 * G * DT * DT * (n * (n + 1)) as f32;
        for body in [a, b] {
            let state = simulation.body(body).unwrap();
            assert!((state.position.y - (10.0 - fall)).abs() < 1e-4, "step {n}: {}", state.position);
            assert!(state.angular_velocity.length() < 1e-3, "step {n}: {}", state.angular_velocity);
        }
    }
}

#[test]
fn a_swinging_chain_keeps_its_length_and_gains_no_energy() {
    let world = drystone::scenes::pendulum(10, 1.0, 1.5).unwrap();
    let mut simulation = simulate(world, iterating(10));
    let start = Metrics::of(&mut simulation).unwrap().energy();
    // Heights are measured from where the chain hangs straight.
    let lowest = 0.5 * 10.0 * 9.81 * 2.0;
    for step in 0..600 {
        simulation.step(DT).unwrap();
        let energy = Metrics::of(&mut simulation).unwrap().energy();
        assert!(energy - start < 0.005 * lowest, "step {step}: {start} J has become {energy}");
        let (worst, _, _) = errors(&mut simulation);
        // The end of the chain whips: a twentieth of a link, for a step or two.
        assert!(worst < 0.05 * 0.2, "step {step}: {worst} m");
    }
}

#[test]
fn the_world_holds_a_point_on_every_backend() {
    common::on_shared_backends(|backend| {
        let mut world = World::new();
        let body = world.add(cube(Vec3::ZERO, 5.0)).unwrap();
        let joint = JointDesc::ball(body, None).anchors(Vec3::new(0.1, 0.1, 0.1), Vec3::new(0.1, 0.1, 0.1));
        let joint = world.add_joint(joint).unwrap();
        let mut simulation = Simulation::new(world, iterating(8), backend.device()).unwrap();
        for _ in 0..60 {
            simulation.step(DT).unwrap();
            let (worst, _, _) = errors(&mut simulation);
            assert!(worst < 1e-3, "{}: {worst} m", backend.name());
        }
        let state = simulation.body(body).unwrap();
        assert!(state.angular_velocity.length() > 0.1, "{}: it swings: {state:?}", backend.name());
        assert!(simulation.joint(joint).unwrap().force.y > 0.0, "{}", backend.name());
    });
}

#[test]
fn a_hanging_body_pulls_with_its_weight_whatever_it_is() {
    for mass in [1e-3, 1.0, 1e5f32] {
        let mut world = World::new();
        let body = world.add(cube(Vec3::ZERO, mass)).unwrap();
        let joint = world.add_joint(JointDesc::ball(body, None).anchors(Vec3::Y * 0.1, Vec3::Y * 0.1)).unwrap();
        let mut simulation = simulate(world, Settings::default());
        run(&mut simulation, 2.0);
        let force = simulation.joint(joint).unwrap().force;
        assert!((force / (mass * G) - Vec3::Y).length() < 0.01, "{mass} kg: {force}");
    }
}

#[test]
fn joined_bodies_do_not_touch_unless_they_may() {
    for (collide, expected) in [(false, 0), (true, 1)] {
        let mut world = weightless();
        let a = world.add(cube(Vec3::ZERO, 1.0)).unwrap();
        let b = world.add(cube(Vec3::X * 0.15, 1.0)).unwrap();
        let mut joint = JointDesc::ball(a, b).anchors(Vec3::X * 0.075, Vec3::X * -0.075);
        joint.collide = collide;
        world.add_joint(joint).unwrap();
        let mut simulation = simulate(world, Settings::default());
        assert_eq!(simulation.step(DT).unwrap().manifolds, expected);
    }
}

/// What holds a weight half a metre below a hook.
pub fn hung(body: BodyHandle, hook: BodyHandle) -> JointDesc {
    JointDesc::ball(body, hook).anchors(Vec3::Y * 0.5, Vec3::ZERO)
}

#[test]
fn a_ball_joint_breaks_is_repaired_and_goes_with_its_body() {
    life::lives(hung);
}
