//! A world with a little of everything that runs for long: bodies come and go, lists grow, joints break and are mended,
//! soft bodies meet each other and rigid ones, are held and let go, queries are asked, snapshots are taken. Its memory
//! stays flat, and a second run has the same bits. It is small: a million steps of it are to be had in minutes.

use super::number;
use crate::common::{Random, box_points};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::world::{
    AttachmentDesc, AttachmentHandle, BodyDesc, BodyHandle, Cloth, Collider, JointDesc, SoftDesc, SoftHandle,
    SoftSurface, Solid, World,
};
use drystone::{EventKind, QueryBatch, QueryFilter, Settings, Simulation};

const DT: f32 = 1.0 / 60.0;

/// Most bodies at a time, and as many as stay for long.
const MOST: usize = 40;
const USUAL: usize = 12;

/// Bytes that the process has in memory, where the system tells.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

fn body(random: &mut Random) -> BodyDesc {
    let collider = match random.below(6) {
        0 => Collider::sphere(0.4),
        1 => Collider::cuboid(Vec3::splat(0.8)),
        2 => Collider::capsule(0.3, 0.25),
        3 => Collider::cylinder(0.4, 0.3),
        4 => Collider::cone(0.4, 0.4),
        _ => Collider::hull(&box_points(Vec3::new(0.3, 0.4, 0.5))).unwrap(),
    };
    let at = Vec3::new(random.range(-2.0, 2.0), random.range(2.0, 8.0), random.range(-2.0, 2.0));
    BodyDesc::dynamic().at(at).moving(Vec3::Y * random.range(-5.0, 0.0)).with(collider.restitution(random.unit() * 0.5))
}

/// A cloth and a block that meet, near the middle.
fn soft(world: &mut World) -> [SoftHandle; 2] {
    let cloth = Cloth { density: 2.0, stretch: 5e3, damping: 1.0, ..Cloth::default() };
    let cloth = SoftDesc::cloth(Vec3::new(-0.5, 2.6, -0.5), Vec3::X, Vec3::Z, (3, 3), &cloth);
    let block = SoftDesc::block(Vec3::Y * 3.2, Vec3::splat(0.4), (1, 1, 1), &Solid::default());
    let surface = SoftSurface::new(0.03, 0.5).meeting_soft();
    [cloth, block].map(|desc| world.add_soft(desc.touching(surface)).unwrap())
}

/// What came of a run.
#[derive(Debug, PartialEq, Eq)]
struct Life {
    hash: u64,
    added: u64,
    broken: u64,
    grown: u64,
    found: u64,
    refused: u64,
    let_go: u64,
}

/// Runs the world. `watch` is told after every thousandth step.
fn live(steps: u64, threads: usize, mut watch: impl FnMut(u64)) -> Life {
    let mut random = Random::new(99);
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let lift = world.add(BodyDesc::kinematic().at(Vec3::Y).with(Collider::cuboid(Vec3::new(2.0, 0.3, 2.0)))).unwrap();
    let settings = Settings::default().with(|s| {
        (s.iterations, s.colours) = (3, 8);
        if let Some(avbd) = s.avbd_mut() {
            avbd.cold_iterations = 8;
        }
    });
    let mut softs = soft(&mut world);
    let mut held: Option<AttachmentHandle> = None;
    let mut simulation = Simulation::new(world, settings, Device::Cpu { threads: Some(threads) }).unwrap();
    let mut bodies: Vec<BodyHandle> = Vec::new();
    let mut life = Life { hash: 0, added: 0, broken: 0, grown: 0, found: 0, refused: 0, let_go: 0 };
    for step in 0..steps {
        let world = simulation.world_mut();
        // A crowd now and then, which makes lists grow, and goes again.
        let come = if step % 997 == 0 { MOST } else { usize::from(random.below(8) == 0) };
        for _ in 0..come {
            if bodies.len() < MOST {
                bodies.push(world.add(body(&mut random)).unwrap());
                life.added += 1;
            }
        }
        let leave = match step % 997 {
            0..100 => 0,
            100 => bodies.len().saturating_sub(USUAL),
            _ => usize::from(bodies.len() > USUAL + 4),
        };
        for _ in 0..leave {
            world.remove(bodies.swap_remove(random.below(bodies.len() as u32) as usize)).unwrap();
        }
        if bodies.len() > 2 {
            let mut any = || bodies[random.below(bodies.len() as u32) as usize];
            let (a, b) = (any(), any());
            if step % 17 == 0 && a != b {
                let joint = JointDesc::ball(a, b).anchors(Vec3::X, Vec3::X * -1.0).breaking(2e3, f32::INFINITY);
                life.refused += u64::from(world.add_joint(joint).is_err());
            }
            if step % 3 == 0 {
                world.apply_impulse(a, Vec3::Y * random.range(0.0, 2000.0), Vec3::ZERO).unwrap();
            }
        }
        // Places of soft bodies and of what holds them are not used again: new ones are rare.
        if step % 100_000 == 99_999 {
            softs.iter().for_each(|old| world.remove_soft(*old).unwrap());
            (softs, held) = (soft(world), None);
        }
        if step % 1000 == 400 {
            let to = AttachmentDesc::to_world(softs[0], 4).at(Vec3::Y * 2.5).stiffness(500.0).max_force(400.0);
            held = Some(world.attach(to).unwrap());
        } else if step % 1000 == 800
            && let Some(held) = held.take()
        {
            world.detach(held).unwrap();
        }
        if step % 50 == 0 {
            let push = Vec3::new(random.range(-3.0, 3.0), random.range(0.0, 8.0), random.range(-3.0, 3.0));
            world.set_particle_force(softs[1], random.below(8), push).unwrap();
        }
        let height = 1.0 + (step % 240) as f32 / 240.0;
        world.set_target(lift, Vec3::Y * height, Quat::IDENTITY).unwrap();
        let joints: Vec<_> = world.joints().collect();
        for &joint in joints.iter().skip(8) {
            world.remove_joint(joint).unwrap();
        }
        if let Some(&joint) = joints.get(random.below(8) as usize) {
            if step % 11 == 0 { world.break_joint(joint).unwrap() } else { world.repair_joint(joint).unwrap() }
        }
        let report = simulation.step(DT).map_err(|e| e.to_string()).unwrap();
        life.grown += u64::from(report.grown);
        life.broken += report.events.iter().filter(|e| matches!(e.kind, EventKind::Broken { .. })).count() as u64;
        let let_go = |e: &&drystone::Event| matches!(e.kind, EventKind::Detached { .. });
        life.let_go += report.events.iter().filter(let_go).count() as u64;
        if step % 20 == 0 {
            let mut batch = QueryBatch::new();
            for _ in 0..5 {
                let from = Vec3::new(random.range(-2.0, 2.0), 15.0, random.range(-2.0, 2.0));
                batch.ray(from, Vec3::NEG_Y, 20.0, QueryFilter::default().with_soft()).unwrap();
            }
            life.found += simulation.query(&batch).unwrap().rays.iter().flatten().count() as u64;
        }
        if step % 500 == 499 {
            // Through bytes and back, in the middle of it.
            let bytes = simulation.snapshot().unwrap().to_bytes();
            simulation.restore(&drystone::Snapshot::from_bytes(&bytes).unwrap()).unwrap();
        }
        if step % 1000 == 999 {
            let finite = |s: SoftHandle, simulation: &mut Simulation| {
                simulation.soft(s).unwrap().positions.iter().all(|p| p.is_finite())
            };
            assert!(softs.iter().all(|s| finite(*s, &mut simulation)), "step {step}");
            let metrics = Metrics::of(&mut simulation).unwrap();
            assert_eq!(metrics.quarantined, 0, "step {step}");
            watch(step + 1);
        }
    }
    life.hash = Metrics::of(&mut simulation).unwrap().pose_hash;
    life
}

/// Runs it on so many threads, and again on one.
fn soak(steps: u64, threads: usize) {
    let start = std::time::Instant::now();
    let mut memory = Vec::new();
    let first = live(steps, threads, |step| {
        let now = resident();
        memory.extend(now.map(|bytes| (step, bytes)));
        if steps > 20_000 && step % 10_000 == 0 {
            println!("{step} steps, {} MiB, {:.0} s", now.unwrap_or(0) >> 20, start.elapsed().as_secs_f32());
        }
    });
    // What is reached after a tenth of the time is not exceeded by much.
    let settled = memory.iter().filter(|m| m.0 * 10 <= steps.max(10_000)).map(|m| m.1).max().unwrap_or(0);
    let most = memory.iter().map(|m| m.1).max().unwrap_or(0);
    println!(
        "{steps} steps in {:.0} s: {first:?}; {} MiB settled, {} MiB at most",
        start.elapsed().as_secs_f32(),
        settled >> 20,
        most >> 20
    );
    assert!(most <= settled + settled / 10 + (8 << 20), "memory grows: {settled} bytes settled, {most} at most");
    assert!(first.broken > 0 && first.grown > 0 && first.found > 0 && first.added > 50, "{first:?}");
    assert!(first.let_go > 0, "{first:?}");
    assert_eq!(live(steps, 1, |_| ()), first, "a second run");
}

#[test]
fn a_mixed_world_lives_on_with_flat_memory_and_the_same_bits_again() {
    soak(2000, 2);
}

/// `tools/soak STEPS`.
#[test]
#[ignore = "takes as long as one likes: tools/soak"]
fn for_long() {
    // Two threads have too little to do here to be worth waiting for each other.
    soak(number("DRYSTONE_SOAK_STEPS", 100_000), 1);
}
