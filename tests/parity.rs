//! Every stage of the step on every backend: the same buffers in, the same buffers out.
//!
//! The step is cut after each stage in turn and run from the same warm state. Integers must agree exactly: keys, orders,
//! rows, colours, counts, features. Floats must agree to [`RELATIVE`] of the largest of their kind in the buffer.
//! GPUs may fuse multiplications and additions, and the solver's differences of large forces magnify that.

mod common;

use common::{Backend, on_every_backend};
use drystone::backend::{Device, Runner};
use drystone::glam::Vec3;
use drystone::plan::{BufferId, Recording};
use drystone::world::{BodyDesc, Collider, JointDesc, World};
use drystone::{Settings, Simulation, scenes};

/// Largest difference of floats, as a part of the largest float of the buffer.
const RELATIVE: f32 = 1e-4;

/// Bytes of every buffer.
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

fn run(backend: &Backend, recording: &Recording, from: &Image) -> Image {
    let mut runner = backend.runner(recording).unwrap();
    for (id, bytes) in (0..).zip(from) {
        runner.write_bytes(BufferId(id), 0, bytes).unwrap();
    }
    runner.run().unwrap();
    read_all(&mut *runner)
}

/// Words that are floats: their exponent is neither that of a small integer nor that of a pattern of bits.
fn float(word: u32) -> Option<f32> {
    let value = f32::from_bits(word);
    (value == 0.0 || (1e-20..1e20).contains(&value.abs())).then_some(value)
}

fn compare(place: &str, recording: &Recording, a: &Image, b: &Image) {
    for (info, (a, b)) in recording.buffers().iter().zip(a.iter().zip(b)) {
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
        };
        let (a, b) = (words(a), words(b));
        let largest = a.iter().filter_map(|w| float(*w)).fold(0.0, |m: f32, v| m.max(v.abs()));
        for (i, (&x, &y)) in a.iter().zip(&b).enumerate() {
            let near = match (float(x), float(y)) {
                (Some(x), Some(y)) => (x - y).abs() <= RELATIVE * largest,
                _ => false,
            };
            assert!(
                x == y || near,
                "{place}: word {i} of {} is {x:#x} ({}) here, {y:#x} ({}) there",
                info.name,
                f32::from_bits(x),
                f32::from_bits(y)
            );
        }
    }
}

/// Cuts the step after the first of every stage that is `asked` for, and at the end, and compares what each leaves behind.
fn agrees(mut simulation: Simulation, asked: impl Fn(&str) -> bool, least: usize) {
    for _ in 0..90 {
        simulation.step(1.0 / 60.0).unwrap();
    }
    let recording = simulation.plan().recording.clone();
    let state = read_all(simulation.runner());
    let names: Vec<_> = recording.commands().iter().map(|c| c.name()).collect();
    let first = |n: &usize| !names[..n - 1].contains(&names[n - 1]);
    let mut cuts: Vec<usize> = (1..=names.len()).filter(first).filter(|n| asked(names[n - 1])).collect();
    cuts.push(names.len());
    assert!(cuts.len() >= least, "a step of {} different stages", cuts.len());

    let images: Vec<Image> = cuts.iter().map(|&n| run(&Backend::Cpu, &recording.first(n), &state)).collect();
    assert!(images.last() != images.first(), "the step does something");
    on_every_backend(|backend| {
        for (&cut, expected) in cuts.iter().zip(&images) {
            let part = recording.first(cut);
            let place = format!("after {} (command {cut}) on {}", names[cut - 1], backend.name());
            compare(&place, &part, expected, &run(backend, &part, &state));
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
    agrees(short(world), |stage| asked.contains(&stage), 7);
}
