//! Snapshots as bytes: those of any world are read again, and few bytes do not ask for much.

use crate::common::forged::seal;
use crate::{DT, dynamic, weightless};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::metrics::Metrics;
use drystone::world::{BodyDesc, Cloth, Collider, SoftDesc, SoftSurface, World};
use drystone::{Settings, Simulation, Snapshot};

const CPU: Device = Device::Cpu { threads: Some(1) };

/// Through bytes, and a step more: the same as without.
fn goes_on(simulation: &mut Simulation, place: &str) {
    let bytes = simulation.snapshot().unwrap().to_bytes();
    let read = Snapshot::from_bytes(&bytes).unwrap_or_else(|error| panic!("{place}: {error}"));
    let mut again = Simulation::from_snapshot(&read, CPU).unwrap();
    for _ in 0..3 {
        simulation.step(DT).unwrap();
        again.step(DT).unwrap();
    }
    let hash = |simulation: &mut Simulation| Metrics::of(simulation).unwrap().pose_hash;
    assert_eq!(hash(&mut again), hash(simulation), "{place}");
}

#[test]
fn a_snapshot_of_a_continuous_cone_is_read_again() {
    for (place, collider) in [
        ("cone", Collider::cone(0.5, 0.4)),
        ("flat cone", Collider::cone(0.1, 2.2)),
        ("cylinder", Collider::cylinder(0.3, 0.7)),
    ] {
        let mut world = World::new();
        world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
        let mut desc = BodyDesc::dynamic().at(Vec3::Y * 3.0).moving(Vec3::Y * -20.0).with(collider);
        desc.continuous = true;
        world.add(desc).unwrap();
        let mut simulation = Simulation::new(world, Settings::default(), CPU).unwrap();
        for _ in 0..12 {
            simulation.step(DT).unwrap();
        }
        goes_on(&mut simulation, place);
    }
}

#[test]
fn a_snapshot_of_what_overflows_is_read_again() {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let fast = world.add(dynamic(Vec3::Y * 0.5)).unwrap();
    world.add(dynamic(Vec3::Y * 1.45)).unwrap();
    let cloth = SoftDesc::cloth(Vec3::Y * 2.0, Vec3::X, Vec3::Z, (3, 3), &Cloth::default());
    let cloth = world.add_soft(cloth.touching(SoftSurface::new(0.02, 0.5).meeting_soft())).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), CPU).unwrap();
    for (step, size) in [1e15, 1e25, 1e30, 1e35, 3e38].into_iter().enumerate() {
        simulation.world_mut().apply_impulse(fast, Vec3::new(0.1, -1.0, 0.0) * size, Vec3::ZERO).unwrap();
        simulation.world_mut().set_particle_force(cloth, step as u32, Vec3::Y * -size).unwrap();
        simulation.step(DT).unwrap();
        let bytes = simulation.snapshot().unwrap().to_bytes();
        Snapshot::from_bytes(&bytes).unwrap_or_else(|error| panic!("{size:e}: {error}"));
    }
}

#[test]
fn a_snapshot_of_few_bytes_that_asks_for_contacts_of_soft_surfaces_by_the_million_is_refused() {
    let mut simulation = Simulation::new(weightless(), Settings::default(), CPU).unwrap();
    simulation.step(DT).unwrap();
    let cloth = SoftDesc::cloth(Vec3::ZERO, Vec3::X, Vec3::Z, (3, 3), &Cloth::default());
    simulation.world_mut().add_soft(cloth.touching(SoftSurface::new(0.02, 0.5).meeting_soft())).unwrap();
    let mut bytes = simulation.snapshot().unwrap().to_bytes();
    assert!(bytes.len() < 20_000, "{}", bytes.len());
    // Every word that is 0 once: one of them is the number of contacts, and none makes a world of more than a few kB.
    let mut refused = false;
    for at in 20..bytes.len() - 12 {
        if bytes[at..at + 4] != [0; 4] {
            continue;
        }
        bytes[at..at + 4].copy_from_slice(&50_000_000u32.to_le_bytes());
        seal(&mut bytes);
        match Snapshot::from_bytes(&bytes) {
            Ok(snapshot) => {
                let mut limited = Simulation::new(weightless(), Settings::default(), CPU).unwrap();
                limited.limit_memory(Some(16 << 20));
                if let Err(error) = limited.restore(&snapshot) {
                    assert!(!error.to_string().contains("limited to"), "word at {at}: {error}");
                }
            }
            Err(error) => refused |= error.to_string().contains("contacts of soft surfaces"),
        }
        bytes[at..at + 4].fill(0);
    }
    assert!(refused);
}
