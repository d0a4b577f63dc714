//! Soft bodies that come and go; snapshots, rollback, repeatability; and worlds without any.

use super::{run, simulation};
use crate::common::iterating;
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::world::{AttachmentDesc, BodyDesc, Cloth, Collider, SoftDesc, SoftHandle, SoftSurface, Solid, World};
use drystone::{Settings, Simulation, Snapshot, scenes};

/// Cloth between the world and a box, a block beside it, and boxes that fall.
fn mixed() -> (World, SoftHandle) {
    let mut world = scenes::drop(10).unwrap();
    let cloth = SoftDesc::cloth(Vec3::new(20.0, 3.0, 0.0), Vec3::X, Vec3::Z, (9, 9), &Cloth::default());
    let meeting = SoftSurface::new(0.01, 0.5).meeting_soft();
    let cloth = world.add_soft(cloth.touching(meeting)).unwrap();
    // Another one falls onto it from so high that it has come there after some tenths of a second.
    let above = SoftDesc::cloth(Vec3::new(20.2, 3.1, 0.3), Vec3::X * 0.5, Vec3::Z * 0.5, (5, 5), &Cloth::default());
    world.add_soft(above.touching(meeting)).unwrap();
    let weight = world.add(BodyDesc::dynamic().at(Vec3::new(21.0, 2.9, 1.0)).with(Collider::cuboid(Vec3::splat(0.1))));
    let weight = weight.unwrap();
    for corner in [0, 8] {
        world.attach(AttachmentDesc::to_world(cloth, corner)).unwrap();
    }
    world.attach(AttachmentDesc::to_body(cloth, 80, weight)).unwrap();
    let block = SoftDesc::block(Vec3::new(30.0, 3.0, 0.0), Vec3::ONE, (3, 3, 3), &Solid::default());
    let block = world.add_soft(block).unwrap();
    world.attach(AttachmentDesc::to_world(block, 0)).unwrap();
    (world, cloth)
}

fn state(simulation: &mut Simulation) -> Vec<Vec3> {
    let all: Vec<_> = simulation.world().soft_bodies().collect();
    let mut places: Vec<Vec3> = all.into_iter().flat_map(|s| simulation.soft(s).unwrap().positions).collect();
    places.extend(simulation.bodies().unwrap().iter().map(|(_, b)| b.position));
    places
}

#[test]
fn the_same_bits_come_out_on_any_number_of_threads() {
    let made = |threads: usize| {
        let (world, _) = mixed();
        let device = Device::Cpu { threads: Some(threads) };
        let mut simulation = Simulation::new(world, iterating(6), device).unwrap();
        run(&mut simulation, 0.5, 1.0 / 60.0);
        state(&mut simulation)
    };
    let one = made(1);
    assert!(one.iter().all(|p| p.is_finite()));
    assert_eq!(one, made(2));
    assert_eq!(one, made(3));
}

#[test]
fn snapshots_and_rollback_go_on_to_the_bit() {
    let (world, cloth) = mixed();
    let mut simulation = simulation(world, iterating(6));
    simulation.keep_frames(4);
    run(&mut simulation, 0.4, 1.0 / 60.0);
    let bytes = simulation.snapshot().unwrap().to_bytes();
    let frame = simulation.step(1.0 / 60.0).unwrap().frame;
    let after_one = state(&mut simulation);
    // Between the frames something comes, something goes.
    let more = SoftDesc::rope(Vec3::ZERO, Vec3::X, 5, 1.0, 100.0, 0.1).moved(Vec3::Y * 9.0);
    let more = more.touching(SoftSurface::new(0.02, 0.5).meeting_soft());
    simulation.world_mut().add_soft(more).unwrap();
    simulation.world_mut().remove_soft(cloth).unwrap();
    simulation.step(1.0 / 60.0).unwrap();
    assert!(simulation.soft(cloth).is_err());
    simulation.roll_back(frame).unwrap();
    assert_eq!(state(&mut simulation), after_one);
    run(&mut simulation, 0.3, 1.0 / 60.0);
    let straight = state(&mut simulation);

    let snapshot = Snapshot::from_bytes(&bytes).unwrap();
    let mut other = Simulation::from_snapshot(&snapshot, Device::Cpu { threads: Some(1) }).unwrap();
    other.step(1.0 / 60.0).unwrap();
    assert_eq!(state(&mut other), after_one);
    run(&mut other, 0.3, 1.0 / 60.0);
    assert_eq!(state(&mut other), straight);
    let same = other.snapshot().unwrap().to_bytes() == simulation.snapshot().unwrap().to_bytes();
    assert!(same, "the same bytes");
    // And back into the first, which has gone on.
    simulation.restore(&snapshot).unwrap();
    simulation.step(1.0 / 60.0).unwrap();
    assert_eq!(state(&mut simulation), after_one);
}

#[test]
fn bodies_come_and_go_between_steps() {
    let (world, cloth) = mixed();
    let mut simulation = simulation(world, iterating(6));
    run(&mut simulation, 0.2, 1.0 / 60.0);
    let before = simulation.soft(cloth).unwrap();
    let rope = SoftDesc::rope(Vec3::ZERO, Vec3::X, 50, 1.0, 1000.0, 0.1).moved(Vec3::new(50.0, 9.0, 0.0));
    let rope = simulation.world_mut().add_soft(rope).unwrap();
    assert_eq!(simulation.soft(rope).unwrap().positions[0], Vec3::new(50.0, 9.0, 0.0), "as it was described");
    simulation.step(1.0 / 60.0).unwrap();
    let near = simulation.soft(cloth).unwrap();
    let moved = near.positions.iter().zip(&before.positions).map(|(a, b)| (*a - *b).length()).fold(0.0, f32::max);
    assert!(moved < 0.2, "the cloth went on from where it was: {moved}");
    run(&mut simulation, 0.5, 1.0 / 60.0);
    assert!(simulation.soft(rope).unwrap().positions[0].y < 8.0, "it falls");
    simulation.world_mut().remove_soft(rope).unwrap();
    simulation.step(1.0 / 60.0).unwrap();
    assert!(simulation.soft(rope).is_err());
    assert!(simulation.world_mut().attach(AttachmentDesc::to_world(rope, 0)).is_err());
    // A body that goes takes its attachments along.
    let weight = simulation.world().handles().last().unwrap();
    simulation.world_mut().remove(weight).unwrap();
    run(&mut simulation, 0.2, 1.0 / 60.0);
    assert!(simulation.soft(cloth).unwrap().positions.iter().all(|p| p.is_finite()));
}

#[test]
fn worlds_without_particles_have_neither_passes_nor_buffers_for_them() {
    let mut simulation = simulation(scenes::drop(20).unwrap(), Settings::default());
    simulation.step(1.0 / 60.0).unwrap();
    let recording = &simulation.plan().recording;
    let soft = |name: &str| name.contains("soft");
    assert!(!recording.commands().iter().any(|c| soft(c.name())));
    let names = ["particles", "springs", "membranes", "hinges", "tetrahedra", "attachments", "states"];
    let named = |name: &str| soft(name) || names.iter().any(|n| name.starts_with(n) || name.ends_with("ment_states"));
    let found: Vec<_> = recording.buffers().iter().map(|b| b.name.clone()).filter(|n| named(n)).collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let sound = SoftDesc::cloth(Vec3::ZERO, Vec3::X, Vec3::Z, (3, 3), &Cloth::default());
    let refused = |change: &dyn Fn(&mut SoftDesc), word: &str| {
        let mut desc = sound.clone();
        change(&mut desc);
        let error = World::new().add_soft(desc).unwrap_err().to_string();
        assert!(error.contains(word), "`{error}` does not say `{word}`");
    };
    refused(&|d| *d = SoftDesc::default(), "rest");
    refused(&|d| d.masses[4] = 0.0, "masses");
    refused(&|d| d.masses.truncate(8), "masses");
    refused(&|d| d.velocities = vec![Vec3::ZERO; 2], "velocities");
    refused(&|d| d.rest[1].x = f32::NAN, "rest");
    refused(&|d| d.triangles[2].corners[1] = 99, "triangles[2]");
    refused(&|d| d.triangles[0].corners[1] = d.triangles[0].corners[0], "triangles[0]");
    refused(&|d| d.triangles[0].mu = -1.0, "mu");
    refused(&|d| d.rest.fill(Vec3::ONE), "triangles[0]");
    refused(&|d| d.hinges[0].stiffness = f32::NAN, "hinges[0]");
    let mut world = World::new();
    let soft = world.add_soft(sound.clone()).unwrap();
    assert!(world.attach(AttachmentDesc::to_world(soft, 9)).unwrap_err().to_string().contains("9"));
    assert!(world.attach(AttachmentDesc::to_world(soft, 1).max_force(0.0)).is_err());
    assert!(world.attach(AttachmentDesc::to_world(soft, 1).at(Vec3::splat(f32::NAN))).is_err());
    let held = world.attach(AttachmentDesc::to_world(soft, 1)).unwrap();
    world.detach(held).unwrap();
    assert!(world.detach(held).is_err());
    assert!(world.set_particle_force(soft, 9, Vec3::X).is_err());
    assert!(world.set_particle_force(soft, 8, Vec3::X).is_ok());
}
