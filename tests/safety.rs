//! Whatever safe code puts into recordings, push constants and buffers, the CPU backend neither crashes nor panics nor
//! runs on for ever: what is out of range is read as zeros and written nowhere.

mod common;

use common::Random;
use common::forged::{noise, of_words};
use drystone::backend::{Device, Runner, RunnerExt};
use drystone::cpu::Cpu;
use drystone::glam::Vec3;
use drystone::kernels::STAGES;
use drystone::layout::{Aabb, DispatchArgs, Extent};
use drystone::plan::detect::bvh::{Bvh, Search};
use drystone::plan::primitives::reduce::{self, op};
use drystone::plan::primitives::scan::{Scan, Scratch};
use drystone::plan::primitives::sort::{KeyedItems, Sort};
use drystone::plan::{BufferId, Command, Groups, PlanError, Recording, Stage};
use drystone::world::{BodyDesc, Collider, JointDesc, World};
use drystone::{Settings, Simulation};
use drystone_kernels::gpu::Invocation;
use drystone_kernels::graph::body_order;
use drystone_kernels::solve::joints::Joint;
use drystone_kernels::state::edits::EditRecord;
use drystone_kernels::state::rigid::Collider as ColliderRecord;
use std::time::{Duration, Instant};

const DT: f32 = 1.0 / 60.0;

/// More than anything here takes, on a machine that has other things to do.
const LONG: Duration = Duration::from_secs(20);

fn cpu(recording: Recording) -> Cpu {
    Cpu::new(recording, Some(2)).unwrap()
}

/// Runs once, and sees to it that it does not take for ever.
fn run(runner: &mut dyn Runner) {
    let start = Instant::now();
    runner.run().unwrap();
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

/// Bodies of every shape, two of them with a joint.
fn small_world() -> World {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let points = common::box_points(Vec3::splat(0.5));
    let mut last = None;
    for i in 0..10 {
        let collider = match i % 6 {
            0 => Collider::cuboid(Vec3::ONE),
            1 => Collider::sphere(0.5),
            2 => Collider::capsule(0.4, 0.3),
            3 => Collider::cylinder(0.5, 0.5),
            4 => Collider::cone(0.5, 0.5),
            _ => Collider::hull(&points).unwrap(),
        };
        let at = Vec3::new((i % 3) as f32 * 0.8, 0.5 + (i / 3) as f32 * 0.9, 0.0);
        let body = world.add(BodyDesc::dynamic().at(at).with(collider)).unwrap();
        if let Some(other) = last.filter(|_| i % 2 == 0) {
            world.add_joint(JointDesc::ball(other, body)).unwrap();
        }
        last = Some(body);
    }
    world
}

fn simulation() -> Simulation {
    Simulation::new(small_world(), Settings::default(), Device::Cpu { threads: Some(2) }).unwrap()
}

#[test]
fn sums_of_more_values_than_a_buffer_has_are_those_of_what_is_there() {
    for beyond in [100, 5000, 1 << 20, u32::MAX] {
        let mut recording = Recording::new("short");
        let counters = recording.buffer("counters", 1).unwrap();
        let values = recording.buffer("values", 10).unwrap();
        let sum = reduce::record(&mut recording, "sum", values, counters, Extent::host(beyond), op::SUM_U32).unwrap();
        let mut runner = cpu(recording);
        runner.write(values, &[3; 10]).unwrap();
        run(&mut runner);
        assert_eq!(runner.read_at(sum, 0).unwrap(), 30, "{beyond}");
    }
}

#[test]
fn scans_of_more_values_than_a_buffer_has_stay_inside() {
    for beyond in [100, 8192, 100_000, 1 << 24] {
        let mut recording = Recording::new("short");
        let counters = recording.buffer("counters", 1).unwrap();
        let values = recording.buffer("values", 10).unwrap();
        let prefixes = recording.buffer("prefixes", 7).unwrap();
        let scratch = Scratch::new(&mut recording, "scan", 10).unwrap();
        let scan = Scan { values, prefixes, extent: Extent::host(beyond), counters, total: 5 };
        scan.record(&mut recording, scratch).unwrap();
        let mut runner = cpu(recording);
        runner.write(values, &[1; 10]).unwrap();
        run(&mut runner);
        assert_eq!(runner.read(prefixes).unwrap(), [0, 1, 2, 3, 4, 5, 6], "{beyond}");
    }
}

#[test]
fn sorts_of_more_keys_than_a_buffer_has_stay_inside() {
    for beyond in [100, 5000, 1 << 20] {
        let mut recording = Recording::new("short");
        let counters = recording.buffer("counters", 1).unwrap();
        let input = KeyedItems::new(&mut recording, "input", 10).unwrap();
        let sort = Sort { input, extent: Extent::host(beyond), key_bits: 32, counters };
        let sorted = sort.record(&mut recording, "sort").unwrap();
        let mut runner = cpu(recording);
        runner.write(input.keys, &[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]).unwrap();
        run(&mut runner);
        assert_eq!(runner.read_first(sorted.keys, 10).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "{beyond}");
    }
}

#[test]
fn trees_over_more_boxes_than_a_buffer_has_stay_inside() {
    for beyond in [100, 5000] {
        let mut recording = Recording::new("short");
        let counters = recording.buffer("counters", 1).unwrap();
        let overflow = recording.buffer("overflow", 1).unwrap();
        let boxes = recording.buffer("boxes", 10).unwrap();
        let tree = Bvh { boxes, extent: Extent::host(beyond), counters };
        let tree = tree.record(&mut recording, "tree").unwrap();
        let search = Search { capacity: 1000, needed: 0, overflow, bit: 77, tile: 0, crowded: 9, most: 1 };
        search.record(&mut recording, "search", &tree).unwrap();
        let mut runner = cpu(recording);
        runner.write(boxes, &[Aabb { min: Vec3::ZERO, max: Vec3::ONE }; 10]).unwrap();
        run(&mut runner);
    }
}

#[test]
fn push_constants_of_another_size_are_refused_by_name() {
    let mut recording = Recording::new("push");
    let (order, other) = (recording.buffer("order", 8).unwrap(), recording.buffer("other", 8).unwrap());
    let good = body_order::Bind { order, body_order: other }.with(body_order::Push { count: 8 });
    for push in [vec![], vec![0; 3], vec![0; 5], vec![0; 128]] {
        let size = push.len();
        let error = recording.dispatch(1, Invocation { push, ..good.clone() }).unwrap_err();
        assert_eq!(error, PlanError::PushSize { command: "body_order".to_owned(), size, expected: 4 });
        assert!(error.to_string().contains("push constants"), "{error}");
    }
    for buffers in [vec![], vec![order.id()], vec![order.id(), other.id(), other.id()]] {
        let given = buffers.len();
        let error = recording.dispatch(1, Invocation { buffers, ..good.clone() }).unwrap_err();
        assert_eq!(error, PlanError::BufferCount { command: "body_order".to_owned(), buffers: given, bindings: 2 });
    }
    let plain = recording.buffer::<DispatchArgs>("plain", 1).unwrap();
    let error = recording.dispatch_indirect(plain, 0, good.clone()).unwrap_err();
    assert!(matches!(error, PlanError::NotArguments { .. }), "{error}");
    let error = recording.dispatch(1 << 24, good).unwrap_err();
    assert!(matches!(error, PlanError::TooManyGroups { .. }), "{error}");
    assert!(recording.commands().is_empty());
}

#[test]
fn counts_in_push_constants_that_reach_beyond_buffers_do_no_harm() {
    let mut recording = Recording::new("push");
    let (order, other) = (recording.buffer("order", 8).unwrap(), recording.buffer("other", 8).unwrap());
    let mut invocation = body_order::Bind { order, body_order: other }.with(body_order::Push { count: 8 });
    invocation.push = u32::MAX.to_le_bytes().to_vec();
    recording.dispatch(1000, invocation).unwrap();
    let mut runner = cpu(recording);
    runner.write(order, &[u32::MAX, 7, 1 << 31, 8, 9, 3, 2, 1]).unwrap();
    run(&mut runner);
    assert_eq!(runner.read(other).unwrap()[1..], [7, 6, 5, 0, 0, 0, 1]);
}

#[test]
fn dispatches_of_more_workgroups_than_there_is_work_for_come_to_an_end() {
    for args in [[u32::MAX; 3], [65_536, 65_536, 1], [u32::MAX, 1, 1], [0, u32::MAX, 5]] {
        let mut recording = Recording::new("indirect");
        let (order, other) = (recording.buffer("order", 8).unwrap(), recording.buffer("other", 8).unwrap());
        let sizes = recording.dispatch_args("sizes", 2).unwrap();
        let invocation = body_order::Bind { order, body_order: other }.with(body_order::Push { count: 8 });
        recording.dispatch_indirect(sizes, 1, invocation).unwrap();
        let mut runner = cpu(recording);
        runner.write(order, &[7, 6, 5, 4, 3, 2, 1, 0]).unwrap();
        runner.write_at(sizes, 1, &DispatchArgs { x: args[0], y: args[1], z: args[2] }).unwrap();
        run(&mut runner);
        let expected = if args[0] == 0 { [0; 8] } else { [7, 6, 5, 4, 3, 2, 1, 0] };
        assert_eq!(runner.read(other).unwrap(), expected, "{args:?}");
    }
}

#[test]
fn colliders_of_bodies_that_are_not_there_do_no_harm() {
    for body in [11, 1 << 20, 1 << 31, u32::MAX] {
        let mut simulation = simulation();
        simulation.step(DT).unwrap();
        let colliders = simulation.plan().buffers.colliders;
        let mut records: Vec<ColliderRecord> = simulation.runner().read(colliders).unwrap();
        records.iter_mut().skip(1).step_by(2).for_each(|c| c.what.body = body);
        records.iter_mut().for_each(|c| c.hull = body);
        simulation.runner().write(colliders, &records).unwrap();
        run(simulation.runner());
        run(simulation.runner());
    }
}

#[test]
fn changes_of_bodies_that_are_not_there_do_no_harm() {
    for what in 0..9 {
        let mut simulation = simulation();
        simulation.step(DT).unwrap();
        let (edits, counters) = (simulation.plan().buffers.edits, simulation.plan().buffers.counters);
        let mut records: Vec<EditRecord> = simulation.runner().read(edits).unwrap();
        records.iter_mut().zip(0..).for_each(|(e, i)| (e.body, e.what) = (u32::MAX - i / 2, what));
        simulation.runner().write(edits, &records).unwrap();
        simulation.runner().write_at(counters, 7, &u32::MAX).unwrap();
        run(simulation.runner());
    }
}

#[test]
fn joints_of_bodies_and_rows_that_are_not_there_do_no_harm() {
    for wrong in [12, 1 << 31, u32::MAX] {
        let mut simulation = simulation();
        simulation.step(DT).unwrap();
        let joints = simulation.plan().buffers.joints.joints;
        let mut records: Vec<Joint> = simulation.runner().read(joints).unwrap();
        for (i, joint) in records.iter_mut().enumerate() {
            match i % 3 {
                0 => joint.body_a = wrong,
                1 => (joint.first_row, joint.rows) = (wrong, wrong),
                _ => (joint.body_b, joint.rows) = (wrong.wrapping_sub(1), wrong),
            }
        }
        simulation.runner().write(joints, &records).unwrap();
        run(simulation.runner());
    }
}

fn scramble(runner: &mut dyn Runner, random: &mut Random) {
    let sizes: Vec<u64> = runner.recording().buffers().iter().map(|b| b.capacity()).collect();
    for (buffer, size) in (0..).zip(sizes) {
        let words = noise(random, size as usize / 4);
        runner.write_bytes(BufferId(buffer), 0, bytemuck::cast_slice(&words)).unwrap();
    }
}

#[test]
fn every_stage_takes_any_bytes_and_any_push_constants() {
    let start = Instant::now();
    for seed in 0..300 {
        let mut random = Random::new(seed);
        for stage in STAGES {
            let mut recording = Recording::new("noise");
            let buffers = stage.bindings.iter().map(|binding| {
                // Of no elements, of some, and of more than a tile has. A walk through a tree that is none may go
                // through all of it, for every leaf: that is bounded, but long.
                let tiles = stage.name.contains("sort") || stage.name.contains("scan") || stage.name == "reduce";
                let count = [0, 3, 70, 150, if tiles { 5000 } else { 300 }][random.below(5) as usize];
                of_words(&mut recording, binding.name.to_owned(), binding.stride / 4, count)
            });
            let buffers: Vec<_> = buffers.collect();
            let push = bytemuck::cast_slice(&noise(&mut random, stage.push_size as usize / 4)).to_vec();
            let invocation = Invocation { stage, buffers, push };
            recording.dispatch(u64::from(1 + random.below(6)), invocation).unwrap();
            let mut runner = cpu_of(&recording, seed);
            scramble(&mut runner, &mut random);
            let before = Instant::now();
            runner.run().unwrap();
            assert!(before.elapsed() < LONG, "{}, seed {seed}: {:?}", stage.name, before.elapsed());
        }
        // As many seeds as there is time for, and not fewer than some.
        if start.elapsed() > Duration::from_secs(30) && seed > 40 {
            break;
        }
    }
}

/// One thread or two in turn.
fn cpu_of(recording: &Recording, seed: u64) -> Cpu {
    Cpu::new(recording.clone(), Some(1 + (seed % 2) as usize)).unwrap()
}

#[test]
fn a_step_takes_any_bytes_in_any_of_its_buffers() {
    let mut simulation = simulation();
    simulation.step(DT).unwrap();
    let base = simulation.plan().recording.clone();
    let runner = simulation.runner();
    // Every command by itself too: most of the memory is written anew by earlier commands of a step.
    let mut parts = Vec::new();
    for command in 0..base.commands().len() {
        let mut part = Recording::sharing(&base, format!("command {command}"));
        part.repeat(&base, command..command + 1).unwrap();
        parts.push(runner.attach(part).unwrap());
    }
    let start = Instant::now();
    for seed in 0..400 {
        let mut random = Random::new(seed + 1000);
        scramble(runner, &mut random);
        let before = Instant::now();
        if seed % 2 == 0 {
            runner.run().unwrap();
        } else {
            for &part in &parts {
                runner.run_part(part).unwrap();
            }
        }
        assert!(before.elapsed() < LONG, "seed {seed}: {:?}", before.elapsed());
        if start.elapsed() > Duration::from_secs(30) && seed > 50 {
            break;
        }
    }
}

#[test]
fn an_engine_that_is_not_disturbed_never_reaches_beyond_a_buffer() {
    // Counted in builds with debug assertions only, and by all tests of a process: so this one runs in a process of its
    // own.
    let program = std::env::current_exe().unwrap();
    let child = std::process::Command::new(program)
        .args(["--exact", "undisturbed_scenes", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
}

#[test]
#[ignore = "counts accesses of the whole process, run by the test above"]
fn undisturbed_scenes() {
    let mut simulation = simulation();
    for _ in 0..60 {
        simulation.step(DT).unwrap();
    }
    for name in ["pile", "ragdolls", "chainmail", "bridge", "wall"] {
        let scene = drystone::scenes::build(name, &Default::default()).unwrap();
        let mut simulation = Simulation::new(scene.world, scene.settings, Device::Cpu { threads: None }).unwrap();
        for _ in 0..4 {
            simulation.step(DT).unwrap();
        }
        assert_eq!(drystone_kernels::gpu::strays(), 0, "{name}");
    }
}

#[test]
fn sizes_of_dispatches_and_stages_can_be_told_from_a_recording() {
    // What a host that runs recordings itself has to hold against its device.
    let base = simulation().plan().recording.clone();
    for command in base.commands() {
        if let Command::Dispatch { invocation, groups: Groups::Direct(count) } = command {
            let stage: &Stage = invocation.stage;
            assert!(*count <= Groups::most(stage), "{}", stage.name);
        }
    }
}
