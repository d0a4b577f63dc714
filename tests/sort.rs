//! The stable radix sort against std's stable sort.

mod common;

use common::{Random, on_every_backend};
use drystone::backend::RunnerExt;
use drystone::layout::Extent;
use drystone::plan::Recording;
use drystone::plan::primitives::sort::{KeyedItems, Sort};

const SIZES: [u32; 11] = [0, 1, 2, 63, 64, 65, 255, 256, 257, 65_537, 4_000_000];

/// Inputs a sort can get wrong: what must keep its order, what overflows a bin, what crosses tile borders.
fn inputs(n: u32) -> Vec<(&'static str, Vec<u32>)> {
    let mut random = Random::new(u64::from(n));
    let few = if n > 100_000 { 1 } else { 0 };
    let mut list = vec![
        ("random", (0..n).map(|_| random.bits()).collect::<Vec<_>>()),
        ("sorted", (0..n).map(|i| i.wrapping_mul(977)).collect()),
        ("equal", vec![0xdead_beef; n as usize]),
        // Every digit of every round turns up, in an order that is worst for bins and for the ballot.
        ("reversed with extremes", (0..n).map(|i| if i % 3 == 0 { u32::MAX } else { !i }).collect()),
        ("one bit apart", (0..n).map(|i| 1 << (i % 32)).collect()),
        ("last digit only", (0..n).map(|i| (i % 2) << 31).collect()),
    ];
    // The largest size runs on every kind that differs in how it fills the bins.
    list.truncate(if few == 1 { 4 } else { list.len() });
    list
}

fn plan(n: u32, key_bits: u32) -> (Recording, KeyedItems, KeyedItems) {
    let mut recording = Recording::new("sort");
    let counters = recording.buffer("counters", 1).unwrap();
    let input = KeyedItems::new(&mut recording, "input", u64::from(n)).unwrap();
    let sort = Sort { input, extent: Extent::host(n), key_bits, counters };
    let sorted = sort.record(&mut recording, "sort").unwrap();
    (recording, input, sorted)
}

#[test]
fn agrees_with_std_and_repeats_to_the_bit() {
    on_every_backend(|backend| {
        for n in SIZES {
            let (recording, input, sorted) = plan(n, 32);
            let mut runner = backend.runner(&recording).unwrap();
            for (kind, keys) in inputs(n) {
                let payloads: Vec<u32> = (0..n).collect();
                let mut expected: Vec<(u32, u32)> = keys.iter().copied().zip(0..n).collect();
                expected.sort_by_key(|pair| pair.0);
                for round in 0..2 {
                    runner.write(input.keys, &keys).unwrap();
                    runner.write(input.payloads, &payloads).unwrap();
                    runner.run().unwrap();
                    let (k, p) = (runner.read(sorted.keys).unwrap(), runner.read(sorted.payloads).unwrap());
                    let same = k.into_iter().zip(p).eq(expected.iter().copied());
                    assert!(same, "{} keys, {kind}, run {round}, on {}", n, backend.name());
                }
            }
        }
    });
}

#[test]
fn looks_only_at_the_bits_it_is_told_of() {
    on_every_backend(|backend| {
        let (recording, input, sorted) = plan(1000, 8);
        let mut runner = backend.runner(&recording).unwrap();
        let keys: Vec<u32> = (0..1000).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
        runner.write(input.keys, &keys).unwrap();
        runner.write(input.payloads, &(0..1000).collect::<Vec<u32>>()).unwrap();
        runner.run().unwrap();
        let mut expected: Vec<u32> = (0..1000).collect();
        expected.sort_by_key(|&i| keys[i as usize] & 0xff);
        assert_eq!(runner.read(sorted.payloads).unwrap(), expected, "{}", backend.name());
    });
}

#[test]
fn takes_its_count_from_the_device() {
    on_every_backend(|backend| {
        let limit = 10_000;
        let mut recording = Recording::new("sort by a counter");
        let counters = recording.buffer("counters", 2).unwrap();
        let input = KeyedItems::new(&mut recording, "input", u64::from(limit)).unwrap();
        let sort = Sort { input, extent: Extent::counter(1, limit), key_bits: 32, counters };
        let sorted = sort.record(&mut recording, "sort").unwrap();
        let mut runner = backend.runner(&recording).unwrap();
        let keys: Vec<u32> = (0..limit).rev().collect();
        // Zero, a part, all, and a counter that says more than there is room for.
        for count in [0, 1, 4096, 4097, 9_999, limit, limit + 5] {
            runner.write(counters, &[0, count]).unwrap();
            runner.write(input.keys, &keys).unwrap();
            runner.write(input.payloads, &keys).unwrap();
            runner.run().unwrap();
            let there = count.min(limit) as usize;
            let mut expected = keys[..there].to_vec();
            expected.sort_unstable();
            let found = runner.read(sorted.keys).unwrap();
            assert_eq!(found[..there], expected, "{count} keys on {}", backend.name());
        }
    });
}
