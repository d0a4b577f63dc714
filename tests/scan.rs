//! The exclusive scan against a sequential one.

mod common;

use common::{Random, on_every_backend};
use drystone::backend::RunnerExt;
use drystone::layout::Extent;
use drystone::plan::primitives::scan::{Scan, Scratch};
use drystone::plan::{Buffer, Recording};

/// With those around the most that one pass scans alone.
const SIZES: [u32; 13] = [0, 1, 2, 63, 64, 65, 255, 256, 257, 8192, 8193, 65_537, 4_000_000];

struct Plan {
    recording: Recording,
    values: Buffer<u32>,
    prefixes: Buffer<u32>,
    counters: Buffer<u32>,
}

fn plan(limit: u32, extent: Extent) -> Plan {
    let mut recording = Recording::new("scan");
    let counters = recording.buffer("counters", 2).unwrap();
    let values = recording.buffer("values", u64::from(limit)).unwrap();
    let prefixes = recording.buffer("prefixes", u64::from(limit)).unwrap();
    let scratch = Scratch::new(&mut recording, "scan", limit).unwrap();
    let scan = Scan { values, prefixes, extent, counters, total: 0 };
    scan.record(&mut recording, scratch).unwrap();
    Plan { recording, values, prefixes, counters }
}

/// The scan and the total, sums held at `u32::MAX`.
fn expected(values: &[u32]) -> (Vec<u32>, u32) {
    let mut sum = 0u32;
    let prefixes = values
        .iter()
        .map(|&v| {
            let before = sum;
            sum = sum.saturating_add(v);
            before
        })
        .collect();
    (prefixes, sum)
}

#[test]
fn agrees_with_a_sequential_scan_and_repeats_to_the_bit() {
    on_every_backend(|backend| {
        for n in SIZES {
            let plan = plan(n, Extent::host(n));
            let mut runner = backend.runner(&plan.recording).unwrap();
            let mut random = Random::new(u64::from(n));
            let inputs: [(&str, Vec<u32>); 4] = [
                ("random", (0..n).map(|_| random.below(1000)).collect()),
                ("sorted", (0..n).map(|i| i / 4096).collect()),
                ("equal", vec![1; n as usize]),
                ("sums beyond 32 bits", (0..n).map(|i| if i % 7 == 0 { u32::MAX / 3 } else { 0 }).collect()),
            ];
            for (kind, values) in inputs {
                let (prefixes, total) = expected(&values);
                for run in 0..2 {
                    runner.write(plan.values, &values).unwrap();
                    runner.run().unwrap();
                    let same = runner.read(plan.prefixes).unwrap() == prefixes;
                    assert!(same, "{n} values, {kind}, run {run}, on {}", backend.name());
                    assert_eq!(runner.read(plan.counters).unwrap()[0], total, "{n}, {kind}, on {}", backend.name());
                }
            }
        }
    });
}

#[test]
fn takes_its_count_from_the_device() {
    on_every_backend(|backend| {
        let limit = 5000;
        let plan = plan(limit, Extent::counter(1, limit));
        let mut runner = backend.runner(&plan.recording).unwrap();
        let values: Vec<u32> = (0..limit).map(|i| i % 13).collect();
        for count in [0, 1, 1024, 1025, 4999, limit, limit * 2] {
            runner.write(plan.counters, &[0, count]).unwrap();
            runner.write(plan.values, &values).unwrap();
            runner.run().unwrap();
            let there = count.min(limit) as usize;
            let (prefixes, total) = expected(&values[..there]);
            assert_eq!(runner.read(plan.prefixes).unwrap()[..there], prefixes, "{count} on {}", backend.name());
            assert_eq!(runner.read(plan.counters).unwrap()[0], total, "{count} on {}", backend.name());
        }
    });
}
