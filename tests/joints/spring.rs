//! Springs of finite stiffness: frequency, damping, stiffness ratios.

use super::*;
use drystone::world::JointDesc;
use std::f32::consts::TAU;

/// Times at which a mass on a spring passes its place of rest downwards, and its greatest ways out between them.
fn swing(stiffness: f32, damping: f32, mass: f32, settings: Settings, dt: f32) -> (Vec<f32>, Vec<f32>) {
    let mut world = weightless();
    let body = world.add(cube(Vec3::Y * -1.1, mass)).unwrap();
    world.add_joint(JointDesc::spring(body, None, 1.0, stiffness, damping)).unwrap();
    let mut simulation = simulate(world, settings);
    let (mut times, mut peaks) = (Vec::new(), vec![0.0f32]);
    let mut before = -0.1;
    for step in 1..=(4.0 / dt) as u32 {
        simulation.step(dt).unwrap();
        let y = simulation.body(body).unwrap().position.y + 1.0;
        if before > 0.0 && y <= 0.0 {
            times.push((step as f32 - y / (y - before)) * dt);
            peaks.push(0.0);
        }
        let last = peaks.len() - 1;
        peaks[last] = peaks[last].max(y);
        before = y;
    }
    (times, peaks)
}

#[test]
fn a_mass_on_a_spring_has_its_frequency() {
    for (stiffness, mass) in [(100.0f32, 1.0f32), (1.0, 0.01), (1e7, 1e5)] {
        let (times, _) = swing(stiffness, 0.0, mass, Settings::default(), DT);
        let period = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f32;
        let expected = TAU * (mass / stiffness).sqrt();
        assert!((period / expected - 1.0).abs() < 0.02, "{stiffness} N/m, {mass} kg: {period} s, not {expected}");
    }
}

#[test]
fn damping_is_that_of_the_damper() {
    // Backward Euler damps by itself: at 1/960 s by w h / 2, which is known and small.
    let (stiffness, mass, ratio) = (100.0f32, 1.0f32, 0.1f32);
    let frequency = (stiffness / mass).sqrt();
    let dt = DT / 16.0;
    let (_, peaks) = swing(stiffness, 2.0 * ratio * (stiffness * mass).sqrt(), mass, Settings::default(), dt);
    let decrement = (peaks[1] / peaks[3]).ln() / 2.0;
    let found = decrement / (TAU * TAU + decrement * decrement).sqrt() - 0.5 * frequency * dt;
    assert!((found / ratio - 1.0).abs() < 0.05, "{found}, not {ratio}");
}

#[test]
fn a_stiff_spring_bears_a_load_with_its_own_stretch() {
    for stiffness in [1e3f32, 1e5, 1e7] {
        let mut world = World::new();
        let body = world.add(cube(Vec3::Y * -1.0, 10.0)).unwrap();
        let joint = world.add_joint(JointDesc::spring(body, None, 1.0, stiffness, 20.0)).unwrap();
        let mut simulation = simulate(world, iterating(5));
        run(&mut simulation, 15.0);
        let (y, pull) = (simulation.body(body).unwrap().position.y, simulation.joint(joint).unwrap().force.y);
        let expected = 10.0 * G / stiffness;
        assert!(
            (-y - 1.0 - expected).abs() < 0.02 * expected + 2e-6,
            "{stiffness} N/m: {} m, not {expected}",
            -y - 1.0
        );
        assert!((pull / (10.0 * G) - 1.0).abs() < 0.02, "{pull} N");
    }
}

#[test]
fn damping_leaves_falling_and_turning_alone() {
    // Two cubes turn about each other on a spring with a strong damper: its length does not change, so nothing is
    // damped.
    let mut world = World::new();
    let spin = 3.0f32;
    // m w^2 r = k stretch, with r = 1 m and the reduced mass.
    let stretch = spin * spin * 1.0 / 1e4;
    let at = Vec3::X;
    let (a, b) = (
        world.add(cube(at, 1.0).moving(Vec3::Y * spin)).unwrap(),
        world.add(cube(-at, 1.0).moving(Vec3::Y * -spin)).unwrap(),
    );
    world.add_joint(JointDesc::spring(a, b, 2.0 - stretch, 1e4, 100.0)).unwrap();
    let mut simulation = simulate(world, iterating(10));
    run(&mut simulation, 2.0);
    let states = [a, b].map(|body| simulation.body(body).unwrap());
    let middle = (states[0].linear_velocity + states[1].linear_velocity) * 0.5;
    assert!((middle.y + 2.0 * G).abs() < 0.01 * 2.0 * G, "{middle}");
    let around = (states[0].linear_velocity - states[1].linear_velocity).length() * 0.5;
    // What backward Euler takes from a circle: a factor of 1 / (1 + (w h)^2) a step, about.
    let euler = (1.0 + (spin * DT) * (spin * DT)).powf(-60.0);
    assert!((euler - 0.1..1.01).contains(&(around / spin)), "{around} m/s of {spin}");
}

/// What holds a weight half a metre below a hook.
pub fn hung(body: BodyHandle, hook: BodyHandle) -> JointDesc {
    let rest = 0.5 - 2.0 * G / 2000.0;
    JointDesc::spring(body, hook, rest, 2000.0, 100.0)
}

#[test]
fn a_spring_breaks_is_repaired_and_goes_with_its_body() {
    life::lives(hung);
}
