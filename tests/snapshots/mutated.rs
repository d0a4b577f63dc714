//! Bytes that were tampered with: refused by name, or a world that can be stepped. Never a panic.

use super::*;
use crate::common::Random;
use crate::common::forged::seal;
use drystone::SnapshotError;
use drystone::snapshot::FORMAT;
use drystone::world::{AttachmentDesc, Cloth, SoftDesc, Solid};

/// Two boxes and a hull on a hinge, a sensor, something removed, something said: as small as it gets.
fn small() -> Vec<u8> {
    let mut world = World::new();
    world.add_named("floor", BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let gone = world.add(BodyDesc::dynamic().with(Collider::sphere(1.0))).unwrap();
    let stone = Collider::hull(&[Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::Y]).unwrap().restitution(0.3);
    let hull = world.add(BodyDesc::dynamic().at(Vec3::Y * 1.5).with(stone)).unwrap();
    let cube = Collider::cuboid(Vec3::ONE).rolling(0.1, 0.1);
    let cube = world.add(BodyDesc::dynamic().at(Vec3::new(0.3, 0.5, 0.3)).with(cube)).unwrap();
    world.add(BodyDesc::fixed().with(Collider::sphere(1.0).sensing())).unwrap();
    world.add_joint_named("arm", JointDesc::hinge(hull, cube).anchors(Vec3::Y, Vec3::Y * 2.0).friction(1.0)).unwrap();
    world.remove(gone).unwrap();
    let mut simulation = Simulation::new(world, stiff(), CPU).unwrap();
    steps(&mut simulation, 20);
    simulation.world_mut().apply_impulse(cube, Vec3::Y, Vec3::ZERO).unwrap();
    simulation.world_mut().apply_force(hull, Vec3::X, Vec3::ZERO).unwrap();
    simulation.world_mut().add(BodyDesc::dynamic().at(Vec3::Y * 4.0).with(Collider::sphere(0.3))).unwrap();
    simulation.snapshot().unwrap().to_bytes()
}

fn rich() -> Vec<u8> {
    let (world, mut bodies) = zoo();
    let mut simulation = Simulation::new(world, stiff(), CPU).unwrap();
    for frame in 1..=20 {
        play(frame, simulation.world_mut(), &mut bodies);
        simulation.step(DT).unwrap();
    }
    play(21, simulation.world_mut(), &mut bodies);
    simulation.snapshot().unwrap().to_bytes()
}

/// Cloth, a rope and a block, on a box, on each other and on the world.
fn soft() -> Vec<u8> {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let cube = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(Collider::cuboid(Vec3::ONE))).unwrap();
    let cloth = SoftDesc::cloth(Vec3::new(0.0, 1.05, 0.0), Vec3::X * 0.6, Vec3::Z * 0.6, (3, 3), &Cloth::default());
    let cloth = world.add_soft(cloth).unwrap();
    let rope = SoftDesc::rope(Vec3::Y * 3.0, Vec3::Y * 2.0, 3, 1.0, 1000.0, 0.1);
    let rope = world.add_soft(rope).unwrap();
    let block = SoftDesc::block(Vec3::new(2.0, 0.6, 0.0), Vec3::ONE, (1, 1, 1), &Solid::default());
    world.add_soft(block).unwrap();
    world.attach(AttachmentDesc::to_world(rope, 0)).unwrap();
    world.attach(AttachmentDesc::to_body(rope, 2, cube).max_force(1e4)).unwrap();
    world.attach(AttachmentDesc::to_body(cloth, 8, cube)).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), CPU).unwrap();
    steps(&mut simulation, 20);
    simulation.world_mut().set_particle_force(cloth, 4, Vec3::Y).unwrap();
    simulation.snapshot().unwrap().to_bytes()
}

/// Values that are the first to go wrong.
fn odd(random: &mut Random) -> u32 {
    let odd = [0, 1, u32::MAX, 1 << 31, 1 << 29, f32::NAN.to_bits(), f32::INFINITY.to_bits(), 1e38f32.to_bits(), 2, 64];
    odd[random.below(odd.len() as u32) as usize]
}

/// Does something to bytes.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let length = bytes.len() as u32;
    let mut at = || random.below(length) as usize;
    let (i, j) = (at(), at());
    match random.below(9) {
        0 | 1 => bytes[i] ^= 1 << random.below(8),
        2 => bytes[i] = random.bits() as u8,
        3 => bytes.truncate(i),
        4 => {
            let more: Vec<u8> = (0..=random.below(16)).map(|_| random.bits() as u8).collect();
            bytes.splice(i..i, more);
        }
        5 => drop(bytes.drain(i..(i + 1 + random.below(16) as usize).min(length as usize))),
        6 => {
            // Two words change places.
            let (i, j) = (i.min(bytes.len() - 4), j.min(bytes.len() - 4));
            for k in 0..4 {
                bytes.swap(i + k, j + k);
            }
        }
        7 => {
            let i = i.min(bytes.len() - 4);
            let word = odd(random).to_le_bytes();
            bytes[i..i + 4].copy_from_slice(&word);
        }
        _ => {
            // A word is a little more or less than it was.
            let i = i.min(bytes.len() - 4);
            let word = u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
            let word = word.wrapping_add(random.below(5)).wrapping_sub(2).to_le_bytes();
            bytes[i..i + 4].copy_from_slice(&word);
        }
    }
}

#[test]
fn a_hundred_thousand_mutated_snapshots_are_refused_or_can_be_stepped() {
    let whole = [small(), rich(), soft()];
    println!("{:?} bytes", whole.each_ref().map(Vec::len));
    let mut stage = Simulation::new(World::new(), Settings::default(), CPU).unwrap();
    let mut random = Random::new(7);
    let (mut refused, mut accepted, mut stepped) = (0, 0, 0);
    for round in 0..100_000u32 {
        // Of those with much in them fewer, as they take longer.
        let right = &whole[[1, 2, 0, 0, 0, 2, 0, 0, 0, 0][round as usize % 10]];
        let mut bytes = right.clone();
        let sealed = round % 4 > 0;
        for _ in 0..=random.below(3) {
            if bytes.len() > 8 {
                mutate(&mut bytes, &mut random);
            }
        }
        if sealed {
            seal(&mut bytes);
        }
        match Snapshot::from_bytes(&bytes) {
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
            Ok(snapshot) => {
                assert!(sealed || bytes == *right, "round {round}: damage that nobody saw");
                accepted += 1;
                if accepted % 60 == 0 {
                    // What it makes of the bytes is a snapshot like any other.
                    Snapshot::from_bytes(&snapshot.to_bytes()).unwrap();
                    stage.restore(&snapshot).unwrap();
                    for _ in 0..2 {
                        stage.step(DT).unwrap();
                    }
                    stage.snapshot().unwrap();
                    stepped += 1;
                }
            }
        }
    }
    println!("{refused} refused, {accepted} accepted, {stepped} stepped");
    assert!(refused > 60_000 && accepted > 5000 && stepped > 100, "{refused} {accepted} {stepped}");
}

/// Kernels on a device do not fall over what was accepted, either.
#[test]
fn forged_snapshots_can_be_stepped_on_a_device() {
    let right = rich();
    on_every_driver(|backend| {
        let mut stage = Simulation::new(World::new(), Settings::default(), backend.device()).unwrap();
        let mut random = Random::new(11);
        let mut stepped = 0;
        while stepped < 10 {
            let mut bytes = right.clone();
            (0..6).for_each(|_| mutate(&mut bytes, &mut random));
            seal(&mut bytes);
            if let Ok(snapshot) = Snapshot::from_bytes(&bytes) {
                stage.restore(&snapshot).unwrap();
                stage.step(DT).unwrap();
                stepped += 1;
            }
        }
    });
}

#[test]
fn what_is_wrong_has_a_name() {
    let right = small();
    assert!(Snapshot::from_bytes(&right).is_ok());
    let refused = |bytes: &[u8]| Snapshot::from_bytes(bytes).unwrap_err();
    assert_eq!(refused(&[]), SnapshotError::Foreign);
    assert_eq!(refused(b"something else altogether"), SnapshotError::Foreign);
    assert!(matches!(refused(&right[..10]), SnapshotError::Truncated { .. }));
    assert!(matches!(refused(&right[..right.len() - 1]), SnapshotError::Length { .. }));
    let mut longer = right.clone();
    longer.push(0);
    assert!(matches!(refused(&longer), SnapshotError::Length { .. }));
    let mut newer = right.clone();
    newer[8] += 1;
    let error = refused(&newer);
    assert_eq!(error, SnapshotError::Version { found: FORMAT + 1, known: FORMAT });
    assert!(error.to_string().contains("take it again with this version"), "{error}");
    for at in 20..right.len() - 8 {
        let mut damaged = right.clone();
        damaged[at] ^= 0x10;
        assert!(matches!(refused(&damaged), SnapshotError::Checksum { .. }), "byte {at}");
    }
    // With the right checksum: a name that is no text, a body of NaN.
    let mut forged = right.clone();
    let name = forged.windows(5).position(|w| w == b"floor").unwrap();
    forged[name] = 0xff;
    seal(&mut forged);
    let error = refused(&forged);
    assert!(matches!(error, SnapshotError::Content { what: "names of bodies", .. }), "{error}");
    let mut forged = right.clone();
    let place: Vec<u8> = [0.3f32, 0.5, 0.3].iter().flat_map(|v| v.to_le_bytes()).collect();
    let at = forged.windows(12).position(|w| w == place).unwrap();
    forged[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    seal(&mut forged);
    let error = refused(&forged);
    assert!(matches!(error, SnapshotError::World { what: "body", index: 3, .. }), "{error}");
    assert!(error.to_string().contains("position is not finite"), "{error}");
}
