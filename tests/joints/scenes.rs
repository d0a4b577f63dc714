//! The scenes with joints, beside those of the papers' figures.

use super::*;
use drystone::{AvbdSettings, scenes};

#[test]
fn limbs_with_soft_joints_come_to_rest() {
    let world = scenes::ragdolls(1).unwrap();
    let gentle = AvbdSettings::default().with(|a| (a.k_joint, a.k_load_joint, a.beta_joint) = (3.0, 10.0, 10.0));
    let soft = iterating(10).with(|s| s.solver = gentle.into());
    let mut simulation = simulate(world, soft);
    run(&mut simulation, 10.0);
    let (worst, _, _) = errors(&mut simulation);
    assert!(worst < 0.01 * 0.3, "{worst} m");
    let fastest = simulation.bodies().unwrap().iter().map(|(_, s)| s.linear_velocity.length()).fold(0.0, f32::max);
    assert!(fastest < 0.1, "{fastest} m/s");
}

#[test]
fn every_scene_with_joints_runs() {
    let names = ["bridge", "swing_box", "ragdolls", "rope", "motor", "hinge_limits", "chain_balls"];
    for name in names {
        let scene = scenes::build(name, &Default::default()).unwrap();
        let mut simulation = simulate(scene.world, iterating(10));
        run(&mut simulation, 0.5);
        let all = simulation.bodies().unwrap();
        assert!(all.iter().all(|(_, s)| s.enabled && s.position.is_finite()), "{name}");
        assert!(errors(&mut simulation).0 < 0.1, "{name}: {:?}", errors(&mut simulation));
    }
}

#[test]
fn a_net_of_joints_on_every_backend() {
    common::on_shared_backends(|backend| {
        let world = scenes::joint_grid(20).unwrap();
        let mut simulation = Simulation::new(world, iterating(10), backend.device()).unwrap();
        for _ in 0..20 {
            simulation.step(DT).unwrap();
        }
        let (worst, _, _) = errors(&mut simulation);
        assert!(worst < 0.01, "{}: {worst} m", backend.name());
    });
}
