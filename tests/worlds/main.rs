//! Many worlds in one: none sees another, and each has the bits that it has alone.

#[path = "../common/mod.rs"]
mod common;
mod life;

use common::{Backend, Random, on_device};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::scenes;
use drystone::world::{BodyDesc, Collider, JointDesc, World, WorldError};
use drystone::{Settings, Simulation};

const DT: f32 = 1.0 / 60.0;

fn on(threads: usize) -> Device {
    Device::Cpu { threads: Some(threads) }
}

/// Moves every dynamic body of a world a little, another way for each number: copies are the same otherwise.
fn nudge(world: &mut World, number: u32) {
    let mut random = Random::new(u64::from(number) + 1);
    for body in world.handles_in(number).collect::<Vec<_>>() {
        let v = Vec3::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0), random.range(-1.0, 1.0));
        world.set_velocity(body, v, v * 2.0).unwrap();
    }
}

/// Hashes of worlds that are alone, nudged as numbers say, and how many bodies touch in them.
fn alone(worlds: &World, number: u32, device: Device, steps: u32) -> Vec<u64> {
    let mut world = worlds.alone(number).unwrap();
    let mut random = Random::new(u64::from(number) + 1);
    for body in world.handles_in(0).collect::<Vec<_>>() {
        let v = Vec3::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0), random.range(-1.0, 1.0));
        world.set_velocity(body, v, v * 2.0).unwrap();
    }
    let mut simulation = Simulation::new(world, Settings::default(), device).unwrap();
    let step = |_| {
        simulation.step(DT).unwrap();
        simulation.world_hash(0).unwrap()
    };
    (0..steps).map(step).collect()
}

/// Steps `world` and compares every hash of the worlds in `watched` with those of these worlds alone.
fn same_as_alone(mut world: World, watched: &[u32], backend: &Backend, steps: u32) {
    (0..world.worlds()).for_each(|number| nudge(&mut world, number));
    let expected: Vec<_> = watched.iter().map(|n| alone(&world, *n, backend.device(), steps)).collect();
    let mut simulation = Simulation::new(world, Settings::default(), backend.device()).unwrap();
    for step in 0..steps as usize {
        simulation.step(DT).unwrap();
        let hashes = simulation.world_hashes().unwrap();
        for (number, alone) in watched.iter().zip(&expected) {
            assert_eq!(hashes[*number as usize], alone[step], "world {number} after step {step} on {}", backend.name());
        }
    }
    // They are different worlds.
    let mut hashes = simulation.world_hashes().unwrap();
    let count = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), count);
}

/// A pile of boxes, balls, capsules and a hull on a floor.
fn heap() -> World {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let points: Vec<_> = common::box_points(Vec3::splat(0.3)).into_iter().chain([Vec3::Y * 0.5]).collect();
    for i in 0..24 {
        let at = Vec3::new((i % 3) as f32 * 0.7, 0.5 + (i / 6) as f32 * 1.1, (i / 3 % 2) as f32 * 0.8);
        let shape = match i % 4 {
            0 => Collider::cuboid(Vec3::new(0.8, 0.6, 0.7)),
            1 => Collider::sphere(0.35),
            2 => Collider::capsule(0.3, 0.2),
            _ => Collider::hull(&points).unwrap(),
        };
        world.add(BodyDesc::dynamic().at(at).turned(Quat::from_rotation_y(i as f32)).with(shape)).unwrap();
    }
    world
}

/// A chain between two posts with a ball on it.
fn chain() -> World {
    let mut world = World::new();
    let post = world.add(BodyDesc::fixed().at(Vec3::Y * 3.0).with(Collider::cuboid(Vec3::splat(0.2)))).unwrap();
    let mut last = post;
    for i in 0..8 {
        let at = Vec3::new(0.4 * (i as f32 + 0.5), 3.0, 0.0);
        let link = world.add(BodyDesc::dynamic().at(at).with(Collider::capsule(0.12, 0.05))).unwrap();
        let joint = JointDesc::ball(link, last).placed(&world, at - Vec3::X * 0.2, Quat::IDENTITY).unwrap();
        world.add_joint(joint).unwrap();
        last = link;
    }
    let at = Vec3::new(1.5, 3.5, 0.0);
    world.add(BodyDesc::dynamic().at(at).with(Collider::sphere(0.3))).unwrap();
    world
}

/// Everything at once, in worlds that differ: heaps, chains, ragdolls, bouncing balls, other gravity.
fn mixture() -> World {
    let mut world = World::new();
    world.add_shared(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    world.add_shared(BodyDesc::fixed().at(Vec3::X * 0.2).with(Collider::cuboid(Vec3::splat(0.4)))).unwrap();
    world.add_worlds(5).unwrap();
    for number in 0..6 {
        let other = [heap(), chain(), scenes::ragdolls(1).unwrap()][number as usize % 3].clone();
        let ball = Collider::sphere(0.25).restitution(if number < 3 { 0.8 } else { 0.0 });
        world.set_gravity_of(number, Vec3::new(0.1 * number as f32, -9.81 + number as f32, 0.0)).unwrap();
        let mut places = Vec::new();
        for body in other.handles() {
            let desc = other.desc(body).unwrap().clone();
            let floor = desc.colliders.iter().any(|c| matches!(c.shape, drystone::world::Shape::HalfSpace));
            let half = Vec3::Y * 0.1 * number as f32;
            let position = desc.position + half;
            places.push((body, (!floor).then(|| world.add_to(number, desc.at(position)).unwrap())));
        }
        let place = |body| places.iter().find(|p| p.0 == body).and_then(|p| p.1);
        for joint in other.joints() {
            let mut desc = other.joint(joint).unwrap().clone();
            desc.body_a = place(desc.body_a).unwrap();
            desc.body_b = desc.body_b.map(|b| place(b).unwrap());
            world.add_joint(desc).unwrap();
        }
        for i in 0..3 {
            let at = Vec3::new(0.6 * i as f32, 4.0 + i as f32, 0.3);
            world.add_to(number, BodyDesc::dynamic().at(at).with(ball.clone())).unwrap();
        }
    }
    world
}

#[test]
fn copies_of_a_heap_have_the_bits_of_the_heap_alone() {
    let worlds = heap().copies(12).unwrap();
    assert_eq!((worlds.worlds(), worlds.len()), (12, 12 * 25));
    same_as_alone(worlds, &[0, 1, 7, 11], &Backend::Cpu, 90);
}

#[test]
fn copies_of_a_ragdoll_have_the_bits_of_the_ragdoll_alone() {
    same_as_alone(scenes::ragdolls(1).unwrap().copies(12).unwrap(), &[0, 5, 11], &Backend::Cpu, 120);
}

#[test]
fn worlds_that_differ_have_the_bits_they_have_alone() {
    same_as_alone(mixture(), &[0, 1, 2, 3, 4, 5], &Backend::Cpu, 120);
}

#[test]
fn a_world_that_is_copied_once_is_the_world() {
    let run = |world: World| {
        let mut simulation = Simulation::new(world, Settings::default(), on(2)).unwrap();
        (0..60).for_each(|_| drop(simulation.step(DT).unwrap()));
        let passes = simulation.plan().recording.commands().len();
        (simulation.world_hash(0).unwrap(), passes)
    };
    let world = heap();
    assert_eq!(run(world.copies(1).unwrap()), run(world.clone()), "and records the same passes");
    assert_eq!(run(world.alone(0).unwrap()), run(world));
}

#[test]
fn drivers_give_worlds_the_bits_they_have_alone() {
    for (name, _) in common::DRIVERS {
        let worlds = scenes::ragdolls(1).unwrap().copies(6).unwrap();
        on_device(name, |backend| same_as_alone(worlds.clone(), &[0, 4], backend, 10));
    }
}

#[test]
fn what_is_wrong_is_named() {
    let mut world = heap();
    assert_eq!(world.add_to(1, BodyDesc::fixed()), Err(WorldError::NoWorld { world: 1, count: 1 }));
    assert_eq!(world.add_worlds(2).unwrap(), 1..3);
    let ball = || BodyDesc::dynamic().with(Collider::sphere(0.5));
    let (a, b) = (world.add_to(1, ball()).unwrap(), world.add_to(2, ball()).unwrap());
    assert_eq!(world.add_joint(JointDesc::ball(a, b)), Err(WorldError::WorldsApart { a: 1, b: 2 }));
    assert_eq!(world.add_shared(BodyDesc::fixed()), Err(WorldError::SharedLate));
    assert!(matches!(world.add_shared(ball()), Err(WorldError::SharedKind { .. })));
    assert!(matches!(world.copies(2), Err(WorldError::SeveralWorlds { count: 3 })));
    assert!(matches!(world.alone(3), Err(WorldError::NoWorld { .. })));
    assert!(matches!(world.reset_world_to(1, &[]), Err(WorldError::WrongCount { bodies: 1, given: 0, .. })));
    assert!(matches!(world.add_worlds(1 << 20), Err(WorldError::Full { .. })));
    assert!(world.set_gravity_of(1, Vec3::NAN).is_err());

    let mut simulation = Simulation::new(world, Settings::default(), on(1)).unwrap();
    let adaptive = Settings::default().with(|s| s.substeps_most = 4);
    simulation.set_settings(adaptive).unwrap();
    let error = simulation.step(DT).unwrap_err().to_string();
    assert!(error.contains("substeps_most"), "{error}");
}
