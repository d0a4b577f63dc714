//! Every stage of the step on every backend: the same buffers in, the same buffers out.
//!
//! The step is cut after each stage in turn and run from the same warm state. Integers must agree exactly: keys, orders,
//! rows, colours, counts, features. Floats must agree to [`RELATIVE`] of the largest of their kind in the buffer.
//! GPUs may fuse multiplications and additions, and the solver's differences of large forces magnify that.

mod common;

use common::{Backend, on_every_backend};
use drystone::backend::{Device, Runner};
use drystone::plan::{BufferId, Recording};
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

#[test]
fn every_stage_of_the_step_agrees() {
    let settings = Settings { iterations: 1, colour_rounds: 3, colours: 8, ..Settings::default() };
    let mut simulation = Simulation::new(scenes::drop(80).unwrap(), settings, Device::Cpu { threads: None }).unwrap();
    for _ in 0..90 {
        simulation.step(1.0 / 60.0).unwrap();
    }
    let recording = simulation.plan().recording.clone();
    let state = read_all(simulation.runner());
    // Cut after the first of every stage, and at the end.
    let names: Vec<_> = recording.commands().iter().map(|c| c.name()).collect();
    let mut cuts: Vec<usize> = (1..=names.len()).filter(|&n| !names[..n - 1].contains(&names[n - 1])).collect();
    cuts.push(names.len());
    // The scans are short; `tests/scan.rs` sees the other passes of long ones.
    assert!(cuts.len() >= 29, "a step of {} different stages", cuts.len());

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
