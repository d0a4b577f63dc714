//! Every stage of the step on every backend: the same buffers in, the same buffers out.
//!
//! Each stage of a step is run by itself from what the CPU had in its buffers just then, in a warm state. What it wrote
//! is compared field by field: the stages' declarations say what every word is. Integers must agree exactly: keys, orders,
//! rows, colours, counts, features. Floats must agree to a part of the largest of the same field, see [`tolerance`].
//! GPUs may fuse multiplications and additions, and the solver's differences of large forces magnify that.

mod common;

use common::{Backend, on_every_backend};
use drystone::backend::{Device, Part, Runner, RunnerExt};
use drystone::glam::{Quat, Vec3};
use drystone::layout::BodyPose;
use drystone::plan::{Binding, BufferId, Command, Recording};
use drystone::world::{
    AttachmentDesc, BodyDesc, Cloth, Collider, ContactReports, JointDesc, SoftDesc, SoftSurface, Solid, World,
};
use drystone::{Integration, Settings, Simulation, scenes};
use drystone_kernels::detect::gate::counter;
use drystone_kernels::detect::manifold;
use drystone_kernels::finish::drawn_poses;
use drystone_kernels::gpu::{Scalar, Word, Words};
use drystone_kernels::math::Rotation;
use drystone_kernels::solve::solver_body;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Largest difference of a float, as a part of the largest of the same field.
const RELATIVE: f32 = 1e-4;

/// Absolute floor of [`RELATIVE`], in the unit of the field: fields that are differences of numbers around 1 may all be
/// next to nothing.
const FLOOR: f32 = 1e-6;

/// How far apart the floats of a field of a buffer may be: a part of the largest of them, and the floor.
fn tolerance(buffer: &str, field: &str) -> (f32, f32) {
    match (buffer, field) {
        // Unit vectors and quaternions come from a few operations on poses that are the same.
        ("points", "normal") | ("solver_bodies", "rotation") => (1e-5, FLOOR),
        // Copies of what the host or the last step wrote.
        ("solver_bodies", "position" | "mass" | "inertia") => (1e-6, 0.0),
        // What holds a particle to what does not move is 10,000 times as stiff as the particle is inert: a body's six
        // equations lose four digits to that. Multipliers are stiffness times what is left of the error.
        ("soft_deltas", _) => (2e-3, FLOOR),
        ("attachment_states" | "spring_states", "lambda" | "force" | "left" | "k") => (2e-3, 1e-3),
        ("soft_pulls" | "soft_velocities" | "soft_previous", _) => (2e-3, 1e-3),
        // The same with 30 units of stiffness, of elements that are stiffer than inertia.
        ("soft_contacts" | "soft_cached" | "soft_pairs" | "soft_cached_pairs", "lambda" | "force" | "k") => {
            (5e-3, 1e-3)
        }
        // Systems of particles before they are solved, and where they are sent.
        ("soft_blocks", _) => (2e-3, 1e-3),
        ("soft_next" | "soft_ends" | "soft_lacks" | "soft_ways", _) => (2e-3, FLOOR),
        _ => (RELATIVE, FLOOR),
    }
}

/// Bytes of buffers.
type Image = Vec<Vec<u8>>;

fn read_all(runner: &mut dyn Runner) -> Image {
    let sizes: Vec<u64> = runner.recording().buffers().iter().map(|b| u64::from(b.stride) * b.count).collect();
    (0..)
        .zip(sizes)
        .map(|(id, size)| {
            let mut bytes = vec![0; size as usize];
            runner.read_bytes(BufferId(id), 0, &mut bytes).unwrap();
            bytes
        })
        .collect()
}

/// A command by itself: the contents of every buffer that it uses, before it, and of those that it writes, after it.
struct Look {
    /// Its index in the recording.
    command: usize,
    before: Vec<(BufferId, Vec<u8>)>,
    /// In the order of its bindings.
    after: Image,
}

fn read(runner: &mut dyn Runner, id: BufferId) -> Vec<u8> {
    let info = runner.recording().info(id).unwrap();
    let mut bytes = vec![0; (u64::from(info.stride) * info.count) as usize];
    runner.read_bytes(id, 0, &mut bytes).unwrap();
    bytes
}

/// Makes some commands of a recording a part of a runner that began with its first command.
fn part(runner: &mut dyn Runner, recording: &Recording, commands: Range<usize>) -> Part {
    let mut some = Recording::sharing(runner.recording(), format!("{commands:?}"));
    some.repeat(recording, commands).unwrap();
    runner.attach(some).unwrap()
}

fn written(runner: &mut dyn Runner, command: &Command) -> Image {
    targets(command).map(|(_, id)| read(runner, id)).collect()
}

/// Goes through a recording on the CPU, and looks at some commands.
fn looks(recording: &Recording, commands: &[usize], from: &Image) -> Vec<Look> {
    let mut runner = Backend::Cpu.runner(&recording.first(1)).unwrap();
    let runner = runner.as_mut();
    for (id, bytes) in (0..).zip(from) {
        runner.write_bytes(BufferId(id), 0, bytes).unwrap();
    }
    let mut done = 0;
    let look = |&index: &usize| {
        let up_to = part(runner, recording, done..index);
        runner.run_part(up_to).unwrap();
        let command = &recording.commands()[index];
        let used: BTreeSet<u32> = recording.uses(command).iter().map(|used| used.buffer.0).collect();
        let before = used.into_iter().map(|id| (BufferId(id), read(runner, BufferId(id)))).collect();
        let this = part(runner, recording, index..index + 1);
        runner.run_part(this).unwrap();
        done = index + 1;
        Look { command: index, before, after: written(runner, command) }
    };
    commands.iter().map(look).collect()
}

/// The bindings that a command writes to, and their buffers.
fn targets(command: &Command) -> impl Iterator<Item = (&'static Binding, BufferId)> {
    let Command::Dispatch { invocation, .. } = command else { panic!("{} is no dispatch", command.name()) };
    let bound = invocation.stage.bindings.iter().zip(&invocation.buffers).map(|(binding, id)| (binding, *id));
    bound.filter(|(binding, _)| binding.access.writes())
}

/// Words of a buffer that a binding describes. Buffers of plain vectors are records of the module that packs them.
fn words(binding: &Binding) -> Vec<Word> {
    match binding.name {
        "points" => manifold::record_words(),
        "solver_bodies" => solver_body::record_words(),
        "counters" => counter_words(),
        // Floats in words that are lowered atomically.
        "soft_parts" | "soft_limits" => f32::within("part"),
        _ => (binding.words)(),
    }
}

/// What the counters are: some of those that sub-steps are chosen by are floats.
fn counter_words() -> Vec<Word> {
    let word = |slot: u32| match slot {
        counter::NEED => f32::within("need"),
        counter::LAST_DT => f32::within("last_dt"),
        counter::PACE => f32::within("pace"),
        _ => u32::within("count"),
    };
    (0..counter::COUNT).flat_map(word).collect()
}

/// The field of a word: components of vectors and quaternions, and elements of arrays, share one.
fn field(word: &Word) -> String {
    let parts = word.path.split('.').filter(|part| {
        let component = ["x", "y", "z", "w", "s"].contains(part);
        !component && part.parse::<u32>().is_err()
    });
    parts.collect::<Vec<_>>().join(".")
}

/// Where two images of a buffer first differ by more than the tolerance of the field.
fn difference(name: &str, words: &[Word], a: &[u8], b: &[u8]) -> Option<String> {
    let read = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
    };
    let (a, b) = (read(a), read(b));
    let fields: Vec<String> = words.iter().map(field).collect();
    let mut largest: HashMap<&str, f32> = HashMap::new();
    for (x, i) in a.iter().zip((0..words.len()).cycle()) {
        let value = f32::from_bits(*x).abs();
        if words[i].scalar == Scalar::F32 && value.is_finite() {
            let most = largest.entry(&fields[i]).or_default();
            *most = most.max(value);
        }
    }
    a.iter().zip(&b).enumerate().find_map(|(at, (&x, &y))| {
        let i = at % words.len();
        if x == y {
            return None;
        }
        let place = format!("element {} of {name}, {}", at / words.len(), words[i].path);
        if words[i].scalar != Scalar::F32 {
            return Some(format!("{place}: {x:#x} here, {y:#x} there"));
        }
        let (x, y) = (f32::from_bits(x), f32::from_bits(y));
        let (relative, floor) = tolerance(name, &fields[i]);
        let allowed = relative * largest.get(fields[i].as_str()).copied().unwrap_or(0.0) + floor;
        let near = (x - y).abs() <= allowed || x.is_nan() && y.is_nan();
        (!near).then(|| format!("{place}: {x} here, {y} there, more than {allowed} apart"))
    })
}

#[test]
fn a_wrong_normal_is_seen_although_the_stiffness_is_a_million() {
    let words = manifold::record_words();
    let at = |path: &str| words.iter().position(|w| w.path == path).unwrap();
    let mut right = vec![0f32; 2 * words.len()];
    for k in ["k.0", "k.1", "k.2", "k.3"] {
        right[at(k)] = 1e6;
    }
    right[at("normal.y")] = 1.0;
    let seen = |path: &str, off: f32| {
        let mut wrong = right.clone();
        wrong[at(path)] += off;
        difference("points", &words, bytemuck::cast_slice(&right), bytemuck::cast_slice(&wrong))
    };
    // What the largest word of the buffer would have allowed: 1e-4 of a million.
    let message = seen("normal.x", 94.0).expect("a normal that is off by 94");
    assert!(message.contains("normal.x"), "{message}");
    assert!(seen("normal.z", 1e-3).is_some(), "a normal that is off by a thousandth");
    assert!(seen("lambda.x.2", 1e-3).is_some(), "a multiplier of nothing");
    assert_eq!(seen("normal.y", 5e-6), None, "within the tolerance of the field");
    assert_eq!(seen("k.1", 90.0), None, "within that of the stiffness");
    // Friction is packed into an integer, which has no tolerance.
    let mut wrong: Vec<u32> = right.iter().map(|v| v.to_bits()).collect();
    wrong[at("friction")] += 1;
    assert!(difference("points", &words, bytemuck::cast_slice(&right), bytemuck::cast_slice(&wrong)).is_some());
}

/// Runs the stages of a step that are `asked` for, at `least` so many, on every backend, and compares what each wrote.
///
/// Each command begins with what the CPU had in its buffers just then. Machines that round differently would otherwise
/// drift apart within the step, until a point that stands at the border of what friction holds is held by one and not
/// by another: what is compared is what the one stage does. That commands run in their order and see each other's
/// results is for the whole step to show: `backends_agree_on_steps_from_the_same_state` in `tests/rigid_scenes.rs`.
fn agrees(mut simulation: Simulation, asked: impl Fn(&str) -> bool, least: usize) {
    for _ in 0..100 {
        simulation.step(1.0 / 60.0).unwrap();
    }
    let recording = simulation.plan().recording.clone();
    let mut state = read_all(simulation.runner());
    if simulation.plan().chosen.is_some() {
        // A frame begins: the host says so.
        let counters = &mut state[simulation.plan().buffers.counters.id().0 as usize];
        counters[counter::CHOSEN as usize * 4..][..4].fill(0);
    }
    let names: Vec<_> = recording.commands().iter().map(|c| c.name()).collect();
    let first = |n: &usize| !names[..*n].contains(&names[*n]);
    // The last of a stage sees what all the passes before it came to.
    let last = |n: &usize| !names[n + 1..].contains(&names[*n]);
    let dispatched = |n: &usize| matches!(recording.commands()[*n], Command::Dispatch { .. });
    let chosen = |n: &usize| dispatched(n) && asked(names[*n]) && (first(n) || last(n));
    let commands: Vec<usize> = (0..names.len()).filter(chosen).collect();
    let stages: BTreeSet<_> = commands.iter().map(|n| names[*n]).collect();
    assert!(stages.len() >= least, "only {stages:?}");

    let looks = looks(&recording, &commands, &state);
    on_every_backend(|backend| {
        let mut runner = backend.runner(&recording.first(1)).unwrap();
        let runner = runner.as_mut();
        for look in &looks {
            let command = &recording.commands()[look.command];
            let this = part(runner, &recording, look.command..look.command + 1);
            for (id, bytes) in &look.before {
                runner.write_bytes(*id, 0, bytes).unwrap();
            }
            runner.run_part(this).unwrap();
            let found = written(runner, command);
            for ((binding, id), (expected, found)) in targets(command).zip(look.after.iter().zip(&found)) {
                let name = &recording.info(id).unwrap().name;
                if let Some(difference) = difference(name, &words(binding), expected, found) {
                    panic!("{} (command {}) on {}: {difference}", command.name(), look.command, backend.name());
                }
            }
        }
    });
}

fn short(world: World) -> Simulation {
    let settings = Settings::default().with(|s| (s.iterations, s.colour_rounds, s.colours) = (1, 3, 8));
    Simulation::new(world, settings, Device::Cpu { threads: None }).unwrap()
}

#[test]
fn every_stage_of_the_step_agrees() {
    // The scans are short; `tests/scan.rs` sees the other passes of long ones.
    agrees(short(scenes::drop(80).unwrap()), |_| true, 32);
}

#[test]
fn cylinders_and_cones_agree() {
    // Standing and stacked, lying, on a box and beside it: contacts over faces, whose last bits no search decides.
    let mut world = scenes::floor(0.5).unwrap();
    let lying = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    for i in 0..24 {
        let at = |y: f32| Vec3::new((i % 6) as f32 * 1.5, y, (i / 6) as f32 * 2.5);
        let (lower, height) = match i % 4 {
            0 => (Collider::cylinder(0.4, 0.3), 0.4),
            1 => (Collider::cylinder(0.1, 0.4), 0.1),
            _ => (Collider::cuboid(Vec3::splat(0.6)), 0.3),
        };
        world.add(BodyDesc::dynamic().at(at(height)).with(lower)).unwrap();
        let (upper, turn, radius) = match i % 3 {
            0 => (Collider::cylinder(0.3, 0.2), Quat::IDENTITY, 0.3),
            1 => (Collider::cylinder(0.5, 0.2), lying, 0.2),
            _ => (Collider::cone(0.4, 0.35), Quat::IDENTITY, 0.4),
        };
        world.add(BodyDesc::dynamic().at(at(2.0 * height + radius)).turned(turn).with(upper)).unwrap();
    }
    let asked = ["bounds", "touch", "touch_curved", "manifold_pairs", "contacts_curved", "contacts", "velocity"];
    agrees(short(world), |stage| asked.contains(&stage), 7);
}

#[test]
fn islands_agree() {
    // A chain that is longer than what a lane adds up, one link in ten given a push, and balls that meet in pairs.
    let mut world = World::new();
    let mut last = None;
    for i in 0..150 {
        let place = Vec3::new(0.4 * i as f32, 0.0, 0.0);
        let velocity = if i % 10 == 0 { Vec3::Z } else { Vec3::ZERO };
        let link = BodyDesc::dynamic().at(place).moving(velocity).with(Collider::cuboid(Vec3::new(0.36, 0.1, 0.1)));
        let link = world.add(link).unwrap();
        if let Some(last) = last {
            let joint = JointDesc::ball(link, last).placed(&world, place - Vec3::X * 0.2, Default::default());
            world.add_joint(joint.unwrap()).unwrap();
        }
        last = Some(link);
        if i % 10 == 0 {
            for side in [-1.0, 1.0] {
                let ball = BodyDesc::dynamic().at(place + Vec3::new(0.52 * side, 5.0, 0.0)).moving(Vec3::X * -side);
                world.add(ball.with(Collider::sphere(0.5))).unwrap();
            }
        }
    }
    let asked = ["carried_load", "islands", "load_share", "joints_start", "momentum", "velocity"];
    agrees(short(world), |stage| asked.contains(&stage), 6);
}

#[test]
fn chosen_sub_steps_and_the_second_order_agree() {
    // A chain that swings, a box on the floor, and one that flies: frames of one sub-step, which is the last.
    let mut world = scenes::pendulum(6, 1.0, 1.0).unwrap();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    for (at, spin) in [(Vec3::new(5.0, 0.5, 0.0), Vec3::ZERO), (Vec3::new(9.0, 90.0, 0.0), Vec3::new(1.0, 2.0, 3.0))] {
        world.add(BodyDesc::dynamic().at(at).spinning(spin).with(Collider::cuboid(Vec3::ONE))).unwrap();
    }
    let settings = Settings::default().with(|s| {
        (s.iterations, s.colours, s.substeps_most, s.stability) = (2, 8, 3, 1.0);
        s.integration = Integration::Bdf2;
    });
    let mut simulation = Simulation::new(world, settings, Device::Cpu { threads: None }).unwrap();
    let reports: Vec<_> = (0..90).map(|_| simulation.step(1.0 / 60.0).unwrap()).collect();
    assert!(reports.iter().all(|r| r.substeps == 1), "{:?}", reports.last());
    let asked = |stage: &str| stage.starts_with("substep") || stage.starts_with("second");
    agrees(simulation, asked, 6);
}

#[test]
fn soft_bodies_agree() {
    // Cloth between the world and a box, a rope that keeps its length under another, a block held by a corner.
    let mut world = scenes::floor(0.5).unwrap();
    let cloth = SoftDesc::cloth(Vec3::new(0.0, 5.0, 0.0), Vec3::X, Vec3::Z, (6, 5), &Cloth::default());
    let cloth = world.add_soft(cloth).unwrap();
    let weight =
        BodyDesc::dynamic().at(Vec3::new(1.0, 4.9, 1.0)).with(Collider::cuboid(Vec3::splat(0.1)).density(200.0));
    let weight = world.add(weight).unwrap();
    world.attach(AttachmentDesc::to_world(cloth, 0)).unwrap();
    world.attach(AttachmentDesc::to_body(cloth, 29, weight)).unwrap();
    let rope = SoftDesc::rope(Vec3::new(3.0, 5.0, 0.0), Vec3::new(3.0, 4.0, 0.0), 5, 0.2, f32::INFINITY, 0.0);
    let rope = world.add_soft(rope).unwrap();
    let hung = BodyDesc::dynamic().at(Vec3::new(3.0, 3.9, 0.0)).with(Collider::cuboid(Vec3::splat(0.2)).density(100.0));
    let hung = world.add(hung).unwrap();
    world.attach(AttachmentDesc::to_world(rope, 0)).unwrap();
    world.attach(AttachmentDesc::to_body(rope, 4, hung)).unwrap();
    let block = SoftDesc::block(Vec3::new(6.0, 5.0, 0.0), Vec3::splat(0.4), (2, 2, 2), &Solid::default());
    let block = world.add_soft(block).unwrap();
    world.attach(AttachmentDesc::to_world(block, 0).stiffness(1e5)).unwrap();
    let asked = |stage: &str| stage.contains("soft") || stage == "velocity";
    agrees(short(world), asked, 21);
}

#[test]
fn contacts_of_soft_bodies_agree() {
    // Cloth over every shape, and a box that moves on a block on the floor.
    let mut world = scenes::floor(0.5).unwrap();
    let points = common::box_points(Vec3::new(0.2, 0.3, 0.25));
    let shapes = [
        Collider::sphere(0.3),
        Collider::cuboid(Vec3::splat(0.6)),
        Collider::capsule(0.1, 0.2),
        Collider::cylinder(0.3, 0.25),
        Collider::cone(0.3, 0.25),
        Collider::hull(&points).unwrap(),
    ];
    for (i, shape) in (0..).zip(shapes) {
        let place = Vec3::new(2.0 * i as f32, 0.3, 0.0);
        world.add(BodyDesc::fixed().at(place).with(shape)).unwrap();
        let corner = place + Vec3::new(-0.4, 0.34, -0.4);
        let cloth = SoftDesc::cloth(corner, Vec3::X * 0.8, Vec3::Z * 0.8, (5, 5), &Cloth::default());
        world.add_soft(cloth).unwrap();
    }
    let block = SoftDesc::block(Vec3::new(-2.0, 0.21, 0.0), Vec3::splat(0.4), (2, 2, 2), &Solid::default());
    world.add_soft(block).unwrap();
    let lid = BodyDesc::dynamic().at(Vec3::new(-2.0, 0.54, 0.0)).moving(Vec3::X * 0.1);
    world.add(lid.with(Collider::cuboid(Vec3::new(0.5, 0.2, 0.5)).density(100.0))).unwrap();
    let asked = |stage: &str| ["soft_touch", "soft_meet", "soft_press", "soft_keep", "soft_pull"].contains(&stage);
    agrees(short(world), asked, 5);
}

#[test]
fn contacts_of_soft_surfaces_agree() {
    // A cloth that lies on another one, a rope across both, and a cylinder that is turned.
    let mut world = scenes::twist(6, 5, 3.0).unwrap();
    for (i, height) in [(5, 0.0), (4, 0.012)] {
        let corner = Vec3::new(2.0 - 0.013 * height, 0.5 + height, 0.011 * height);
        let cloth = SoftDesc::cloth(corner, Vec3::X * 0.5, Vec3::Z * 0.5, (i, i), &Cloth::default());
        let cloth = world.add_soft(cloth.touching(SoftSurface::new(0.005, 0.4).meeting_soft())).unwrap();
        if i == 5 {
            for corner in [0, 4, 20, 24] {
                world.attach(AttachmentDesc::to_world(cloth, corner)).unwrap();
            }
        }
    }
    let rope = SoftDesc::rope(Vec3::new(1.8, 0.53, 0.2), Vec3::new(2.7, 0.53, 0.3), 7, 0.1, 1000.0, 1.0);
    world.add_soft(rope.touching(SoftSurface::new(0.006, 0.4).meeting_soft())).unwrap();
    let stages = [
        "soft_regions",
        "soft_boxes",
        "soft_pairs_count",
        "soft_pairs_fill",
        "soft_pair_keys",
        "soft_pairs_start",
        "soft_whole",
        "soft_bound",
        "soft_move",
        "soft_ask",
        "soft_settle",
        "soft_pairs_dual",
        "soft_pairs_keep",
        "soft_islands",
        "soft_sums",
        "soft_momentum",
        "soft_carry",
    ];
    agrees(short(world), |stage| stages.contains(&stage), 17);
}

#[test]
fn contacts_that_are_told_agree() {
    // One box of a heap asks, and rests on one other: events are listed by whoever comes first.
    let mut world = scenes::drop(40).unwrap();
    let base = BodyDesc::dynamic().at(Vec3::new(50.0, 0.5, 0.0)).with(Collider::cuboid(Vec3::ONE));
    world.add(base).unwrap();
    let asks = Collider::cuboid(Vec3::splat(0.5)).reports(ContactReports::ALL);
    world.add(BodyDesc::dynamic().at(Vec3::new(50.0, 1.25, 0.0)).with(asks)).unwrap();
    agrees(short(world), |stage| stage.starts_with("touching"), 3);
}

#[test]
fn poses_between_frames_agree_and_leave_what_lies_between_them_alone() {
    const COUNT: usize = 700;
    let mut random = common::Random::new(5);
    let mut pose = || {
        let turn = Quat::from_scaled_axis(common::ball(&mut random) * 3.0);
        let rotation = Rotation { x: turn.x, y: turn.y, z: turn.z, s: turn.w };
        BodyPose { position: common::ball(&mut random) * 50.0, present: 1, rotation }
    };
    let (before, now): (Vec<_>, Vec<_>) = (0..COUNT).map(|_| (pose(), pose())).unzip();
    let (first, stride) = (3usize, 13usize);
    let mut r = Recording::new("poses");
    let body_poses = r.buffer("now", COUNT as u64).unwrap();
    let previous_body_poses = r.buffer("before", COUNT as u64).unwrap();
    let target = r.buffer("target", (first + stride * COUNT) as u64).unwrap();
    let bind = drawn_poses::Bind { body_poses, previous_body_poses, target };
    // There is room for more than there are.
    let bodies = COUNT as u32 - 100;
    let push = drawn_poses::Push { count: COUNT as u32, bodies, first: first as u32, stride: stride as u32, part: 0.3 };
    r.dispatch_each(COUNT as u64, bind.with(push)).unwrap();
    on_every_backend(|backend| {
        let mut runner = backend.runner(&r).unwrap();
        runner.write(body_poses, &now).unwrap();
        runner.write(previous_body_poses, &before).unwrap();
        runner.write(target, &vec![u32::MAX; first + stride * COUNT]).unwrap();
        runner.run().unwrap();
        let words = runner.read(target).unwrap();
        assert!(words[..first].iter().all(|w| *w == u32::MAX));
        let shown = words[first..].chunks(stride);
        assert!(shown.clone().skip(bodies as usize).all(|words| words[3] == 0), "a slot without a body is marked");
        for ((words, now), before) in shown.zip(&now).zip(&before).take(bodies as usize) {
            assert!(words[8..].iter().all(|w| *w == u32::MAX), "what is the host's stays");
            let found: BodyPose = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[..8]));
            let (p, r) = (found.position, found.rotation);
            assert!((p - before.position.lerp(now.position, 0.3)).length() < 1e-4, "{found:?}");
            // Along the shorter way round.
            let quat = |r: Rotation| Quat::from_xyzw(r.x, r.y, r.z, r.s);
            let expected = quat(before.rotation).lerp(quat(now.rotation), 0.3);
            assert!(quat(r).dot(expected).abs() > 1.0 - 1e-5 && (quat(r).length() - 1.0).abs() < 1e-5, "{found:?}");
            assert_eq!(found.present, 1);
        }
    });
}
