//! Snapshots and rollback: a world that is put back goes on, to the bit, as if it had never stopped; and bytes that
//! were tampered with are refused, or give a world that can be stepped.

#[path = "../common/mod.rs"]
mod common;
mod frames;
mod life;
mod mutated;
mod rollback;
mod straight;

use common::{Backend, DRIVERS};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::vulkan::OwnDevice;
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, World};
use drystone::{Settings, Simulation, Snapshot, scenes};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const DT: f32 = 1.0 / 60.0;
const CPU: Device = Device::Cpu { threads: Some(1) };

fn scene(name: &str, parameters: &[(&str, f64)]) -> scenes::Scene {
    let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    scenes::build(name, &parameters).unwrap()
}

fn hash(simulation: &mut Simulation) -> u64 {
    Metrics::of(simulation).unwrap().pose_hash
}

fn steps(simulation: &mut Simulation, count: u32) {
    for _ in 0..count {
        simulation.step(DT).unwrap();
    }
}

/// A driver, opened once for all tests: to compile the pipelines takes longer than to run them. Whatever the validation
/// layers say fails the test that finds it.
fn driver(name: &'static str) -> Arc<OwnDevice> {
    static OPEN: Mutex<BTreeMap<&str, Arc<OwnDevice>>> = Mutex::new(BTreeMap::new());
    let mut open = OPEN.lock().unwrap();
    open.entry(name).or_insert_with(|| common::open(name)).clone()
}

fn silent(device: &OwnDevice) {
    let said = device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}

/// Calls `test` for the CPU and for every driver.
fn on_every_backend(test: impl Fn(&Backend)) {
    test(&Backend::Cpu);
    on_every_driver(test);
}

fn on_every_driver(test: impl Fn(&Backend)) {
    for (name, _) in DRIVERS {
        let device = driver(name);
        test(&Backend::Vulkan(device.clone()));
        silent(&device);
    }
}

/// There and back through bytes.
fn through_bytes(snapshot: &Snapshot) -> Snapshot {
    let bytes = snapshot.to_bytes();
    let back = Snapshot::from_bytes(&bytes).unwrap();
    assert!(back.to_bytes() == bytes, "the same bytes again");
    back
}

/// Not only poses are the same, but everything that outlives a step.
fn same(a: &Snapshot, b: &Snapshot, place: &str) {
    for ((name, a), (_, b)) in a.buffers().zip(b.buffers()) {
        let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
        assert!(a == b, "{place}: {name} of {} and {} bytes, {differ} are others", a.len(), b.len());
    }
    assert!(a.to_bytes() == b.to_bytes(), "{place}: what the host knows");
}

/// A little of everything: hulls, capsules, compounds, joints that break, are driven or have names, sensors, belts,
/// things that bounce and roll, continuous bodies, kinematic ones, free slots.
fn zoo() -> (World, Vec<BodyHandle>) {
    let mut world = World::new();
    world.set_gravity(Vec3::new(0.1, -9.0, 0.0)).unwrap();
    let belt = Collider::cuboid(Vec3::new(20.0, 1.0, 20.0)).surface(Vec3::X * 0.3, Vec3::Y * 0.1);
    world.add_named("belt", BodyDesc::fixed().at(Vec3::Y * -0.5).with(belt)).unwrap();
    let sensor = Collider::cuboid(Vec3::splat(2.0)).sensing();
    world.add_named("sensor", BodyDesc::fixed().at(Vec3::new(0.0, 0.6, 0.0)).with(sensor)).unwrap();
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(0.3, 1.2, 0.3), Vec3::new(0.8, 0.2, 0.9)];
    let stone = Collider::hull(&corners).unwrap();
    let moved: Vec<_> = corners.iter().map(|c| *c + Vec3::X * 2.0).collect();
    let descs = [
        BodyDesc::dynamic().at(Vec3::new(0.0, 1.0, 0.0)).with(stone.clone()),
        BodyDesc::dynamic().at(Vec3::new(-2.0, 3.0, 0.0)).with(Collider::hull(&moved).unwrap()),
        BodyDesc::dynamic().at(Vec3::new(0.2, 2.6, 0.1)).with(stone).with(Collider::sphere(0.3).at(Vec3::Y)),
        BodyDesc::dynamic().at(Vec3::new(2.0, 1.0, 0.0)).with(Collider::capsule(0.4, 0.2).rolling(0.02, 0.01)),
        BodyDesc::dynamic().at(Vec3::new(-3.0, 2.0, 1.0)).with(Collider::sphere(0.4).restitution(0.7)),
        BodyDesc::dynamic().at(Vec3::new(-3.0, 0.5, -2.0)).damped(0.5, 0.2).with(Collider::cuboid(Vec3::ONE)),
        BodyDesc::dynamic().at(Vec3::new(-3.0, 1.6, -2.0)).with(Collider::cuboid(Vec3::ONE).frictions(0.9, 0.4)),
        BodyDesc::kinematic().at(Vec3::new(3.0, 0.3, 3.0)).with(Collider::cuboid(Vec3::splat(0.6))),
        BodyDesc::dynamic()
            .at(Vec3::new(4.0, 5.0, 0.0))
            .continuous(true)
            .moving(Vec3::Y * -30.0)
            .with(Collider::sphere(0.1).density(5000.0)),
        BodyDesc::dynamic().at(Vec3::new(0.0, 5.0, 5.0)).weighing(2.0).inertia(Vec3::ONE).gravity_scale(0.5),
    ];
    let mut bodies: Vec<_> = descs.into_iter().map(|desc| world.add(desc).unwrap()).collect();
    let gone = world.add(BodyDesc::dynamic().at(Vec3::Y * 9.0).with(Collider::sphere(0.2))).unwrap();
    let hook = Vec3::new(0.0, 6.0, 5.0);
    let hinge = JointDesc::hinge(bodies[9], None).placed(&world, hook, Quat::IDENTITY).unwrap().friction(0.1);
    world.add_joint_named("hinge", hinge).unwrap();
    for i in 0..4 {
        let place = Vec3::new(6.0, 4.0 - i as f32, 0.0);
        let body = world.add(BodyDesc::dynamic().at(place).with(Collider::sphere(0.3))).unwrap();
        let joint = match i {
            0 => JointDesc::ball(body, None).anchors(Vec3::Y * 0.5, place + Vec3::Y * 0.5),
            1 => JointDesc::fixed(body, bodies[9 + i]).anchors(Vec3::Y, Vec3::ZERO).breaking(900.0, 1e9),
            2 => JointDesc::rod(body, bodies[9 + i], 1.0),
            _ => JointDesc::spring(body, bodies[9 + i], 1.0, 500.0, 5.0),
        };
        world.add_joint(joint).unwrap();
        bodies.push(body);
    }
    world.remove(gone).unwrap();
    (world, bodies)
}

/// What a game says to the zoo in a frame.
fn play(frame: u64, world: &mut World, bodies: &mut Vec<BodyHandle>) {
    let n = bodies.len() as u64;
    world.apply_impulse(bodies[(frame * 7 % n) as usize], Vec3::new(0.3, 1.0, 0.1), Vec3::Y * 0.1).unwrap();
    world.apply_force(bodies[(frame * 5 % n) as usize], Vec3::new(3.0, 9.0, -2.0), Vec3::ZERO).unwrap();
    let round = Quat::from_rotation_y(frame as f32 * 0.02);
    world.set_target(bodies[7], round * Vec3::new(3.0, 0.3, 3.0), round).unwrap();
    if frame.is_multiple_of(5) {
        let place = Vec3::new((frame % 3) as f32, 6.0 + (frame % 4) as f32, (frame % 2) as f32);
        let shape = if frame.is_multiple_of(2) {
            Collider::cuboid(Vec3::splat(0.5))
        } else {
            let tip = 0.5 + (frame % 7) as f32 * 0.1;
            Collider::hull(&[Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::Y * tip]).unwrap()
        };
        bodies.push(world.add(BodyDesc::dynamic().at(place).with(shape)).unwrap());
    }
    if frame.is_multiple_of(7) && bodies.len() > 16 {
        world.remove(bodies.remove(14 + (frame as usize * 31) % (bodies.len() - 14))).unwrap();
    }
    if frame.is_multiple_of(11) {
        world.set_force(bodies[5], Vec3::X * (frame % 5) as f32 * 50.0, Vec3::ZERO).unwrap();
        world.set_material(bodies[6], 0, |c| c.restitution = 0.1 * (frame % 5) as f32).unwrap();
    }
    if frame.is_multiple_of(13) {
        let (a, b) = (bodies[bodies.len() - 1], bodies[5]);
        world.add_joint(JointDesc::rope(a, b, 6.0)).unwrap();
    }
}

fn stiff() -> Settings {
    Settings::default().with(|s| {
        if let Some(a) = s.avbd_mut() {
            a.row_stiffness = true;
        }
    })
}
