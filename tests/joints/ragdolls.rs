//! Ragdolls that fall on each other.

use super::*;
use drystone::metrics::Metrics;
use drystone::scenes;

/// Length of the shortest limb: a lower arm.
const LIMB: f64 = 0.29;

fn settled(count: u32, seconds: f32) {
    let scene = scenes::build("ragdolls", &[("count".to_owned(), f64::from(count))].into()).unwrap();
    let mut simulation = Simulation::new(scene.world, scene.settings, Device::Cpu { threads: None }).unwrap();
    run(&mut simulation, seconds);
    let (worst, _, _) = errors(&mut simulation);
    assert!(worst < 0.01 * LIMB, "{count}: joints are off by {worst} m");
    let metrics = Metrics::of(&mut simulation).unwrap();
    println!("{count}: joints {worst} m, overlap {} m, {} m/s", metrics.max_penetration, metrics.max_speed);
    assert!(metrics.max_penetration < 0.01, "{count}: {} m of overlap", metrics.max_penetration);
    let bodies = simulation.bodies().unwrap();
    assert!(bodies.iter().all(|(_, s)| s.enabled && s.position.y > -0.01), "{count}: something is below the floor");
    // A limb here and there may still be sliding down, or tremble where others hold it fast.
    let moving = bodies.iter().filter(|(_, s)| s.linear_velocity.length() > 0.1).count();
    assert!(moving * 300 <= bodies.len(), "{count}: {moving} of {} bodies still move", bodies.len());
    assert!(metrics.max_speed < 1.0, "{count}: {} m/s", metrics.max_speed);
}

#[test]
fn ragdolls_start_apart() {
    let mut simulation = simulate(scenes::ragdolls(60).unwrap(), iterating(1));
    simulation.step(DT).unwrap();
    let metrics = Metrics::of(&mut simulation).unwrap();
    assert!(metrics.max_penetration == 0.0, "{} m", metrics.max_penetration);
    let (worst, bent, _) = errors(&mut simulation);
    assert!(worst < 1e-3 && bent < 1e-2, "{worst} m, {bent} rad");
}

#[test]
fn a_hundred_ragdolls_come_to_rest() {
    settled(100, 10.0);
}

#[test]
fn a_thousand_ragdolls_come_to_rest() {
    settled(1000, 12.0);
}
