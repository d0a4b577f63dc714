//! Which subgroup sizes the tests really run on: measured by a kernel, not taken from the driver's word.

mod common;

use common::{Backend, DRIVERS, on_device};
use drystone::backend::RunnerExt;
use drystone::plan::Recording;
use drystone_kernels::primitives::probe::{Bind, Push, STAGE, word};

fn probe(backend: &Backend) -> Vec<u32> {
    let mut recording = Recording::new("probe");
    let out = recording.buffer("out", u64::from(word::COUNT)).unwrap();
    recording.dispatch(1, Bind { out }.with(Push { offset: 2 })).unwrap();
    let mut runner = backend.runner(&recording).unwrap();
    runner.run().unwrap();
    runner.read(out).unwrap()
}

#[test]
fn sizes_four_and_eight_are_exercised() {
    let mut measured = Vec::new();
    for (name, size) in DRIVERS {
        on_device(name, |backend| {
            let out = probe(backend);
            assert_eq!(out[word::SUBGROUPS as usize], STAGE.threads / size, "{name}: subgroups");
            assert_eq!(out[word::BALLOT as usize], size, "{name}: lanes by ballot");
            assert_eq!(out[word::SUM as usize], 3 * size, "{name}: sum over a subgroup");
            assert_eq!(out[word::TOTAL as usize], 3 * STAGE.threads, "{name}: sum over the workgroup");
        });
        measured.push(size);
    }
    measured.sort_unstable();
    assert_eq!(measured, [4, 8]);
}

#[test]
fn the_cpu_is_a_device_with_one_lane() {
    assert_eq!(probe(&Backend::Cpu), [1, 1, 3, 3]);
}
