//! Rods and ropes.

use super::*;
use drystone::world::JointDesc;

#[test]
fn a_rope_pulls_and_never_pushes() {
    common::on_shared_backends(|backend| {
        let mut world = World::new();
        let body = world.add(cube(Vec3::Y * -0.5, 4.0)).unwrap();
        let joint = world.add_joint(JointDesc::rope(body, None, 1.0)).unwrap();
        let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
        for step in 1..=150u32 {
            simulation.step(DT).unwrap();
            let (y, pull) = (simulation.body(body).unwrap().position.y, simulation.joint(joint).unwrap().force);
            assert!(pull.y >= 0.0, "{}: step {step}: {pull}", backend.name());
            assert!(y > -1.02, "{}: step {step}: {y} m", backend.name());
            // Slack, it does nothing.
            let fall = 0.5 + 0.5 * G * DT * DT * (step * (step + 1)) as f32;
            if fall < 0.98 {
                assert!((y + fall).abs() < 1e-4 && pull.y == 0.0, "{}: step {step}: {y} m, {pull}", backend.name());
            }
        }
        let (y, pull) = (simulation.body(body).unwrap().position.y, simulation.joint(joint).unwrap().force);
        assert!((y + 1.0).abs() < 2e-3 && (pull.y / (4.0 * G) - 1.0).abs() < 0.01, "{}: {y} m, {pull}", backend.name());
    });
}

#[test]
fn a_rod_keeps_its_length_both_ways() {
    let mut world = World::new();
    let body = world.add(cube(Vec3::new(0.6, 0.8, 0.0), 1.0)).unwrap();
    world.add_joint(JointDesc::rod(body, None, 1.0)).unwrap();
    let mut simulation = simulate(world, iterating(10));
    for step in 0..600 {
        simulation.step(DT).unwrap();
        let length = simulation.body(body).unwrap().position.length();
        assert!((length - 1.0).abs() < 5e-3, "step {step}: {length} m");
    }
}

#[test]
fn points_that_coincide_are_no_trouble() {
    let mut world = World::new();
    let a = world.add(cube(Vec3::ZERO, 1.0)).unwrap();
    let b = world.add(cube(Vec3::ZERO, 1.0)).unwrap();
    let mut rod = JointDesc::rod(a, b, 0.0);
    rod.collide = false;
    world.add_joint(rod).unwrap();
    let mut simulation = simulate(world, Settings::default());
    run(&mut simulation, 1.0);
    for body in [a, b] {
        let state = simulation.body(body).unwrap();
        assert!(state.enabled && state.position.is_finite(), "{state:?}");
    }
}

/// What holds a weight half a metre below a hook.
pub fn rod(body: BodyHandle, hook: BodyHandle) -> JointDesc {
    JointDesc::rod(body, hook, 0.5)
}

#[test]
fn a_rod_breaks_is_repaired_and_goes_with_its_body() {
    life::lives(rod);
}

/// What holds a weight half a metre below a hook.
pub fn rope(body: BodyHandle, hook: BodyHandle) -> JointDesc {
    JointDesc::rope(body, hook, 0.5)
}

#[test]
fn a_rope_breaks_is_repaired_and_goes_with_its_body() {
    life::lives(rope);
}

#[test]
fn rods_fall_around_their_points() {
    let world = drystone::scenes::rods(5).unwrap();
    let balls: Vec<_> = world.handles().collect();
    let start = balls.iter().map(|b| world.desc(*b).unwrap().position.y).collect::<Vec<_>>();
    let mut simulation = simulate(world, iterating(10));
    let mut lowest = vec![9.0f32; 5];
    for step in 0..300 {
        simulation.step(DT).unwrap();
        for (i, ball) in balls.iter().enumerate() {
            let state = simulation.body(*ball).unwrap();
            let length = (state.position - Vec3::new(0.0, 2.0, 0.6 * i as f32)).length();
            assert!((length - 1.0).abs() < 5e-3, "step {step}: {i}: {length} m");
            // Never faster than the fall makes it; the first steps are worth a tenth of a metre a second.
            let speed = (2.0 * G * (start[i] - state.position.y).max(0.0)).sqrt();
            assert!(state.linear_velocity.length() < 1.02 * speed + 0.2, "step {step}: {i}: {state:?}");
            lowest[i] = lowest[i].min(state.position.y);
        }
    }
    assert!(lowest.iter().all(|y| *y < 1.1), "{lowest:?}");
}
