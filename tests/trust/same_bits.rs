//! What a world has room for is none of its business.

use crate::{DT, dynamic};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::metrics::Metrics;
use drystone::state::Capacities;
use drystone::world::{AttachmentDesc, BodyDesc, Cloth, Collider, JointDesc, SoftDesc, SoftSurface, Solid, World};
use drystone::{BodyState, Settings, Simulation};

/// Bodies that meet in the air, and on the ground.
fn world() -> World {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    for i in 0..40 {
        let at = Vec3::new((i % 4) as f32 * 1.1, 1.0 + i as f32 * 1.3, (i % 3) as f32 * 1.05);
        world.add(dynamic(at).moving(Vec3::new(1.0 - (i % 3) as f32, (i % 5) as f32 * -2.0, 0.3))).unwrap();
    }
    world
}

fn states(world: World, room: Capacities) -> (u64, Vec<BodyState>) {
    states_with(Settings::default(), world, room)
}

fn states_with(settings: Settings, world: World, room: Capacities) -> (u64, Vec<BodyState>) {
    let device = Device::Cpu { threads: Some(2) };
    let mut simulation = Simulation::with_capacities(world, settings, device, room).unwrap();
    for _ in 0..90 {
        simulation.step(DT).unwrap();
    }
    let states = simulation.bodies().unwrap().into_iter().map(|(_, state)| state).collect();
    (Metrics::of(&mut simulation).unwrap().pose_hash, states)
}

#[test]
fn room_for_joints_changes_no_bit_of_a_world_without_any() {
    let alone = states(world(), Capacities::default());
    let room = Capacities { joints: 100, joint_rows: 600, ..Capacities::default() };
    assert!(states(world(), room) == alone, "with room for joints");
    let mut visited = world();
    let bodies: Vec<_> = visited.handles().skip(1).collect();
    let joint = visited.add_joint(JointDesc::ball(bodies[3], bodies[4])).unwrap();
    visited.remove_joint(joint).unwrap();
    assert!(states(visited, Capacities::default()) == alone, "with a joint that came and went");
}

#[test]
fn room_for_anything_changes_no_bit() {
    let alone = states(world(), Capacities::default());
    let room = Capacities {
        bodies: 300,
        colliders: 500,
        pairs: 9000,
        manifolds: 7000,
        edits: 700,
        hulls: 9,
        hull_edges: 900,
        joints: 33,
        joint_rows: 200,
        continuous: 4,
        ..Capacities::default()
    };
    assert!(states(world(), room) == alone);
}

/// More than any of these worlds needs.
fn plenty() -> Capacities {
    Capacities {
        bodies: 300,
        colliders: 500,
        pairs: 9000,
        manifolds: 7000,
        joints: 33,
        joint_rows: 200,
        particles: 400,
        soft_entries: 3000,
        springs: 90,
        membranes: 300,
        hinges: 400,
        tetrahedra: 100,
        attachments: 50,
        soft_faces: 500,
        soft_pairs: 9000,
        ..Capacities::default()
    }
}

#[test]
fn room_changes_no_bit_with_solvers_that_go_from_pair_to_pair() {
    for solver in 3..=5 {
        let mut settings = Settings::default();
        settings.set("solver", f64::from(solver)).unwrap();
        let mut jointed = world();
        let bodies: Vec<_> = jointed.handles().skip(1).collect();
        for pair in bodies.windows(2).step_by(3) {
            jointed.add_joint(JointDesc::rope(pair[0], pair[1], 1.5)).unwrap();
        }
        let alone = states_with(settings, jointed.clone(), Capacities::default());
        assert!(states_with(settings, jointed, plenty()) == alone, "solver {solver}");
    }
}

#[test]
fn room_changes_no_bit_of_soft_bodies_that_meet() {
    let soft = |room: Capacities| {
        let mut world = world();
        let surface = SoftSurface::new(0.02, 0.5).meeting_soft();
        let cloth = |height: f32| {
            let corner = Vec3::new(-1.0, height, -1.0);
            SoftDesc::cloth(corner, Vec3::X * 4.0, Vec3::Z * 4.0, (7, 7), &Cloth::default()).touching(surface)
        };
        let block = SoftDesc::block(Vec3::new(1.0, 1.4, 1.0), Vec3::splat(0.5), (2, 2, 2), &Solid::default());
        let all = [cloth(0.7), cloth(0.8), block.touching(surface)].map(|desc| world.add_soft(desc).unwrap());
        world.attach(AttachmentDesc::to_world(all[1], 0)).unwrap();
        let device = Device::Cpu { threads: Some(2) };
        let mut simulation = Simulation::with_capacities(world, Settings::default(), device, room).unwrap();
        for _ in 0..40 {
            simulation.step(DT).unwrap();
        }
        let positions = all.map(|soft| simulation.soft(soft).unwrap().positions);
        (positions, Metrics::of(&mut simulation).unwrap().pose_hash)
    };
    assert!(soft(plenty()) == soft(Capacities::default()));
}
