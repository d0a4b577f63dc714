//! The reduction against iterators.

mod common;

use common::{Random, on_every_backend};
use drystone::backend::RunnerExt;
use drystone::layout::Extent;
use drystone::plan::Recording;
use drystone::plan::primitives::reduce::{self, op};

const SIZES: [u32; 11] = [0, 1, 2, 63, 64, 65, 255, 256, 257, 65_537, 4_000_000];

#[test]
fn integers_agree_with_std_and_repeat_to_the_bit() {
    on_every_backend(|backend| {
        for n in SIZES {
            for op in [op::SUM_U32, op::MIN_U32, op::MAX_U32] {
                let mut recording = Recording::new("reduce");
                let counters = recording.buffer("counters", 1).unwrap();
                let values = recording.buffer("values", u64::from(n)).unwrap();
                let extent = Extent::host(n);
                let result = reduce::record(&mut recording, "reduce", values, counters, extent, op).unwrap();
                let mut runner = backend.runner(&recording).unwrap();
                let mut random = Random::new(u64::from(n));
                let inputs: [(&str, Vec<u32>); 4] = [
                    ("random", (0..n).map(|_| random.bits()).collect()),
                    ("sorted", (0..n).collect()),
                    ("equal", vec![0x8000_0001; n as usize]),
                    ("extreme at the end", (0..n).map(|i| if i + 1 == n { u32::MAX } else { i.max(5) }).collect()),
                ];
                for (kind, input) in inputs {
                    let expected = match op {
                        op::SUM_U32 => input.iter().fold(0u32, |a, &b| a.wrapping_add(b)),
                        op::MIN_U32 => input.iter().copied().min().unwrap_or(u32::MAX),
                        _ => input.iter().copied().max().unwrap_or(0),
                    };
                    for run in 0..2 {
                        runner.write(values, &input).unwrap();
                        runner.run().unwrap();
                        let found = runner.read(result).unwrap()[0];
                        assert_eq!(found, expected, "{n} values, {kind}, op {op}, run {run}, on {}", backend.name());
                    }
                }
            }
        }
    });
}

#[test]
fn floats_agree_with_an_f64_sum_and_pass_over_nan() {
    on_every_backend(|backend| {
        for n in [0u32, 1, 257, 65_537, 1_000_000] {
            let mut random = Random::new(7);
            let mut input: Vec<f32> = (0..n).map(|_| random.range(0.5, 1.5)).collect();
            for op in [op::SUM_F32, op::MIN_F32, op::MAX_F32] {
                if op != op::SUM_F32 && n > 2 {
                    input[1] = f32::NAN;
                }
                let mut recording = Recording::new("reduce floats");
                let counters = recording.buffer("counters", 1).unwrap();
                let values = recording.buffer("values", u64::from(n)).unwrap();
                let extent = Extent::host(n);
                let result = reduce::record(&mut recording, "reduce", values, counters, extent, op).unwrap();
                let mut runner = backend.runner(&recording).unwrap();
                runner.write(values, bytemuck::cast_slice(&input)).unwrap();
                runner.run().unwrap();
                let found = f32::from_bits(runner.read(result).unwrap()[0]);
                let place = format!("{n} values, op {op}, on {}", backend.name());
                match op {
                    op::SUM_F32 => {
                        // Tiles of 4096 are summed first, so the error stays that of short sums.
                        let exact: f64 = input.iter().map(|&v| f64::from(v)).sum();
                        let error = (f64::from(found) - exact).abs() / exact.max(1.0);
                        assert!(error < 1e-5, "{place}: {found}, exactly {exact}");
                    }
                    op::MIN_F32 => assert_eq!(found, input.iter().copied().fold(f32::INFINITY, f32::min), "{place}"),
                    _ => assert_eq!(found, input.iter().copied().fold(f32::NEG_INFINITY, f32::max), "{place}"),
                }
            }
        }
    });
}

#[test]
fn takes_its_count_from_the_device() {
    on_every_backend(|backend| {
        let limit = 20_000;
        let mut recording = Recording::new("reduce by a counter");
        let counters = recording.buffer("counters", 1).unwrap();
        let values = recording.buffer("values", u64::from(limit)).unwrap();
        let extent = Extent::counter(0, limit);
        let result = reduce::record(&mut recording, "reduce", values, counters, extent, op::SUM_U32).unwrap();
        let mut runner = backend.runner(&recording).unwrap();
        runner.write(values, &vec![1; limit as usize]).unwrap();
        // From many to few: what an earlier, longer run left behind must not be counted.
        for count in [limit + 1, limit, 4097, 4096, 1, 0] {
            runner.write(counters, &[count]).unwrap();
            runner.run().unwrap();
            assert_eq!(runner.read(result).unwrap()[0], count.min(limit), "on {}", backend.name());
        }
    });
}
