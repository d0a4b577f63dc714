//! A step of each kind, small enough for an interpreter that looks for undefined behaviour (`tools/sanitize miri`): a
//! contact, a hull, a joint. Compiled they take no time, and see to it that what the interpreter would run does run.

use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::world::{BodyDesc, Collider, JointDesc, World};
use drystone::{Settings, Simulation};

/// Two steps of one iteration on the caller's thread.
fn run(world: World) -> Vec<Vec3> {
    let settings = Settings::default().with(|s| {
        (s.iterations, s.colours) = (1, 2);
        if let Some(avbd) = s.avbd_mut() {
            avbd.cold_iterations = 1;
        }
    });
    let mut simulation = Simulation::new(world, settings, Device::Cpu { threads: Some(1) }).unwrap();
    for _ in 0..2 {
        simulation.step(1.0 / 60.0).map(drop).unwrap();
    }
    let places: Vec<_> = simulation.bodies().unwrap().into_iter().map(|(_, state)| state.position).collect();
    assert!(places.iter().all(|p| p.is_finite()));
    places
}

fn floor() -> World {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    world
}

#[test]
fn a_contact() {
    let mut world = floor();
    world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(Collider::cuboid(Vec3::ONE))).unwrap();
    world.add(BodyDesc::dynamic().at(Vec3::Y * 1.5).with(Collider::sphere(0.5))).unwrap();
    let places = run(world);
    assert!((places[1].y - 0.5).abs() < 0.05 && (places[2].y - 1.5).abs() < 0.05, "{places:?}");
}

#[test]
fn a_hull() {
    let mut world = floor();
    let points = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    world.add(BodyDesc::dynamic().at(Vec3::Y * 0.25).with(Collider::hull(&points).unwrap())).unwrap();
    world.add(BodyDesc::dynamic().at(Vec3::Y * 2.0).with(Collider::cuboid(Vec3::ONE))).unwrap();
    run(world);
}

#[test]
fn a_joint() {
    let mut world = floor();
    let a = world.add(BodyDesc::dynamic().at(Vec3::Y * 5.0).with(Collider::sphere(0.5))).unwrap();
    let b = world.add(BodyDesc::dynamic().at(Vec3::new(2.0, 5.0, 0.0)).with(Collider::sphere(0.5))).unwrap();
    world.add_joint(JointDesc::ball(a, b).anchors(Vec3::X, Vec3::NEG_X)).unwrap();
    let places = run(world);
    assert!((places[2] - places[1] - Vec3::X * 2.0).length() < 0.01, "{places:?}");
}
