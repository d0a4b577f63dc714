//! Fixed joints.

use super::*;
use drystone::world::JointDesc;

#[test]
fn a_beam_of_fixed_cubes_stays_straight() {
    let mut world = World::new();
    let mut last = None;
    for i in 0..5 {
        let body = world.add(cube(Vec3::X * (0.1 + 0.2 * i as f32), 1.0)).unwrap();
        let joint = JointDesc::fixed(body, last).placed(&world, Vec3::X * (0.2 * i as f32), Default::default());
        world.add_joint(joint.unwrap()).unwrap();
        last = Some(body);
    }
    let mut simulation = simulate(world, iterating(20));
    run(&mut simulation, 5.0);
    let (worst, bent, _) = errors(&mut simulation);
    assert!(worst < 1e-3 && bent < 5e-3, "{worst} m, {bent} rad");
    let end = simulation.body(last.unwrap()).unwrap();
    assert!(end.position.y.abs() < 0.01, "{}", end.position);
    assert!(end.linear_velocity.length() < 0.01, "{}", end.linear_velocity);
}

#[test]
fn two_that_are_fixed_spin_like_one() {
    common::on_shared_backends(|backend| {
        let mut world = weightless();
        let spin = Vec3::new(0.0, 0.0, 5.0);
        let at = Vec3::X * 0.1;
        let a = world.add(cube(at, 1.0).spinning(spin).moving(spin.cross(at))).unwrap();
        let b = world.add(cube(-at, 1.0).spinning(spin).moving(spin.cross(-at))).unwrap();
        world.add_joint(JointDesc::fixed(a, b).placed(&world, Vec3::ZERO, Default::default()).unwrap()).unwrap();
        let mut simulation = Simulation::new(world, iterating(8), backend.device()).unwrap();
        for _ in 0..120 {
            simulation.step(DT).unwrap();
        }
        let (worst, bent, _) = errors(&mut simulation);
        assert!(worst < 1e-3 && bent < 1e-3, "{}: {worst} m, {bent} rad", backend.name());
        // What is tied together by joints and touches nothing fixed keeps its angular momentum: no force from outside.
        let expected = 5.0;
        for spin in [a, b].map(|body| simulation.body(body).unwrap().angular_velocity.z) {
            assert!((spin / expected - 1.0).abs() < 0.01, "{}: {spin} rad/s, not {expected}", backend.name());
        }
    });
}

/// What holds a weight half a metre below a hook.
pub fn hung(body: BodyHandle, hook: BodyHandle) -> JointDesc {
    JointDesc::fixed(body, hook).anchors(Vec3::Y * 0.5, Vec3::ZERO)
}

#[test]
fn a_fixed_joint_breaks_is_repaired_and_goes_with_its_body() {
    life::lives(hung);
}
