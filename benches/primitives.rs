//! Every primitive at 1e4 to 4e6 elements on every backend there is, and the sort beside rayon's.
//!
//! Times are of the run alone: inputs are written before each, outside the clock. On Vulkan they are wall-clock times
//! from submission to completion. `cargo bench -- 'sort/.*/1000000'` picks some.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use drystone::backend::{Runner, RunnerExt};
use drystone::cpu::Cpu;
use drystone::glam::Vec3;
use drystone::layout::{Aabb, Extent};
use drystone::plan::detect::bvh::{Bvh, Search};
use drystone::plan::primitives::reduce;
use drystone::plan::primitives::scan::{Scan, Scratch};
use drystone::plan::primitives::sort::{KeyedItems, Sort};
use drystone::plan::{Buffer, Recording};
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions, VulkanRunner};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZES: [u32; 4] = [10_000, 100_000, 1_000_000, 4_000_000];

/// Devices to measure: the CPU, and every usable Vulkan device.
fn devices() -> Vec<(String, Option<Arc<OwnDevice>>)> {
    let mut list = vec![("cpu".to_owned(), None)];
    let Ok(loader) = Loader::system() else { return list };
    for support in loader.devices().unwrap_or_default() {
        let options = OwnDeviceOptions { name: Some(support.device_name.clone()), ..Default::default() };
        if let Ok(device) = OwnDevice::new(&loader, &options) {
            let short = support.device_name.split_whitespace().next().unwrap_or("vulkan").to_lowercase();
            list.push((short, Some(Arc::new(device))));
        }
    }
    list
}

fn runner(device: &Option<Arc<OwnDevice>>, recording: Recording) -> Box<dyn Runner> {
    match device {
        None => Box::new(Cpu::new(recording, None).expect("memory and threads")),
        Some(device) => Box::new(VulkanRunner::new(device.clone(), recording).expect("a usable device")),
    }
}

fn hashed(i: u32) -> u32 {
    let x = (i ^ (i >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Unit boxes at random in a cube with about one and a half neighbours each.
fn boxes(n: u32) -> Vec<Aabb> {
    let size = (n as f32).cbrt() * 2.0;
    let unit = |seed: u32| hashed(seed) as f32 / u32::MAX as f32 * size;
    (0..n)
        .map(|i| {
            let min = Vec3::new(unit(3 * i), unit(3 * i + 1), unit(3 * i + 2));
            Aabb { min, max: min + 1.0 }
        })
        .collect()
}

/// Sets the inputs before a run.
type Set = Box<dyn Fn(&mut dyn Runner)>;

/// A recording, and how to set its inputs.
type Case = (Recording, Set);

/// The case for so many elements.
type MakeCase = fn(u32) -> Case;

fn counted(recording: &mut Recording) -> Buffer<u32> {
    recording.buffer("counters", 2).expect("a new name")
}

fn reduce_case(n: u32) -> Case {
    let mut recording = Recording::new("reduce");
    let counters = counted(&mut recording);
    let values = recording.buffer("values", u64::from(n)).expect("a new name");
    let extent = Extent::host(n);
    reduce::record(&mut recording, "reduce", values, counters, extent, reduce::op::SUM_U32).expect("a plan");
    (recording, Box::new(|_| ()))
}

fn scan_case(n: u32) -> Case {
    let mut recording = Recording::new("scan");
    let counters = counted(&mut recording);
    let values = recording.buffer("values", u64::from(n)).expect("a new name");
    let prefixes = recording.buffer("prefixes", u64::from(n)).expect("a new name");
    let scratch = Scratch::new(&mut recording, "scan", n).expect("a new name");
    let scan = Scan { values, prefixes, extent: Extent::host(n), counters, total: 0 };
    scan.record(&mut recording, scratch).expect("a plan");
    (recording, Box::new(|_| ()))
}

fn sort_case(n: u32) -> Case {
    let mut recording = Recording::new("sort");
    let counters = counted(&mut recording);
    let input = KeyedItems::new(&mut recording, "input", u64::from(n)).expect("a new name");
    let sort = Sort { input, extent: Extent::host(n), key_bits: 32, counters };
    sort.record(&mut recording, "sort").expect("a plan");
    let keys: Vec<u32> = (0..n).map(hashed).collect();
    let payloads: Vec<u32> = (0..n).collect();
    let set = move |runner: &mut dyn Runner| {
        runner.write(input.keys, &keys).expect("it fits");
        runner.write(input.payloads, &payloads).expect("it fits");
    };
    (recording, Box::new(set))
}

fn bvh_case(n: u32, with_pairs: bool) -> Case {
    let mut recording = Recording::new(if with_pairs { "bvh and pairs" } else { "bvh" });
    let counters = counted(&mut recording);
    let target = recording.buffer("boxes", u64::from(n)).expect("a new name");
    let bvh = Bvh { boxes: target, extent: Extent::host(n), counters };
    let tree = bvh.record(&mut recording, "bvh").expect("a plan");
    if with_pairs {
        let overflow = recording.buffer("overflow", 1).expect("a new name");
        let search = Search { capacity: 4 * n, needed: 1, overflow, bit: 0, tile: 64, crowded: 0, most: u32::MAX };
        search.record(&mut recording, "pairs", &tree).expect("a plan");
    }
    let boxes = boxes(n);
    // The passes leave the boxes alone: once is enough.
    let written = std::cell::Cell::new(false);
    let set = move |runner: &mut dyn Runner| {
        if !written.replace(true) {
            runner.write(target, &boxes).expect("it fits");
        }
    };
    (recording, Box::new(set))
}

fn primitives(c: &mut Criterion) {
    let devices = devices();
    let cases: [(&str, MakeCase); 5] = [
        ("reduce", reduce_case),
        ("scan", scan_case),
        ("sort", sort_case),
        ("bvh", |n| bvh_case(n, false)),
        ("bvh+pairs", |n| bvh_case(n, true)),
    ];
    for (name, case) in cases {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(1500));
        for n in SIZES {
            group.throughput(Throughput::Elements(u64::from(n)));
            for (device, handle) in &devices {
                group.bench_function(BenchmarkId::new(device, n), |b| {
                    let (recording, set) = case(n);
                    let mut runner = runner(handle, recording);
                    b.iter_custom(|times| {
                        (0..times)
                            .map(|_| {
                                set(&mut *runner);
                                let start = Instant::now();
                                runner.run().expect("it ran before");
                                start.elapsed()
                            })
                            .sum()
                    });
                });
            }
            if name == "sort" {
                group.bench_function(BenchmarkId::new("rayon par_sort_unstable", n), |b| {
                    let pairs: Vec<(u32, u32)> = (0..n).map(|i| (hashed(i), i)).collect();
                    b.iter_custom(|times| {
                        (0..times)
                            .map(|_| {
                                let mut copy = pairs.clone();
                                let start = Instant::now();
                                copy.par_sort_unstable_by_key(|pair| pair.0);
                                start.elapsed()
                            })
                            .sum()
                    });
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, primitives);
criterion_main!(benches);
