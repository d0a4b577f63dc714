//! A picture of the pile of ten thousand bricks, 1280 by 720 pixels, one sample with a ray to the sun and four for
//! occlusion, on every backend. Prints the median time of every pass beside criterion's figure for the whole.

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use drystone::backend::Device;
use drystone::render::{RenderOptions, Renderer};
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions};
use drystone::{Settings, Simulation, scenes};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Devices to measure: the CPU, and every usable Vulkan device.
fn devices() -> Vec<(String, Device)> {
    let mut list = vec![("cpu".to_owned(), Device::Cpu { threads: None })];
    let Ok(loader) = Loader::system() else { return list };
    for support in loader.devices().unwrap_or_default() {
        let options = OwnDeviceOptions { name: Some(support.device_name.clone()), ..Default::default() };
        if let Ok(device) = OwnDevice::new(&loader, &options) {
            let short = support.device_name.split_whitespace().next().unwrap_or("vulkan").to_lowercase();
            list.push((short, Device::Vulkan(Arc::new(device))));
        }
    }
    list
}

fn render(c: &mut Criterion) {
    let parameters = BTreeMap::from([("bodies".to_owned(), 10_000.0)]);
    let scene = scenes::build("pile", &parameters).expect("a scene");
    let options = RenderOptions { width: 1280, height: 720, samples: 1, occlusion_rays: 4 };
    let mut group = c.benchmark_group("render pile of 10,000, 1280x720");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(5));
    for (name, device) in devices() {
        let mut simulation = Simulation::new(scene.world.clone(), Settings::default(), device).expect("a world");
        for _ in 0..3 {
            simulation.step(1.0 / 60.0).expect("a step");
        }
        let mut renderer = Renderer::new(options).expect("good options");
        let mut passes: Vec<(&'static str, Vec<Duration>)> = Vec::new();
        group.bench_function(&name, |b| {
            b.iter_custom(|times| {
                let mut picture = || {
                    let start = Instant::now();
                    let image = renderer.render(&mut simulation, &scene.camera.into()).expect("a picture");
                    let taken = start.elapsed();
                    for (name, _, time) in image.times.by_stage() {
                        match passes.iter_mut().find(|p| p.0 == name) {
                            Some(pass) => pass.1.push(time),
                            None => passes.push((name, vec![time])),
                        }
                    }
                    taken
                };
                (0..times).map(|_| picture()).sum()
            });
        });
        for (pass, times) in &mut passes {
            times.sort_unstable();
            println!("{name:<12} {pass:<14} {:>9.3} ms", times[times.len() / 2].as_secs_f64() * 1e3);
        }
    }
    group.finish();
}

criterion_group!(benches, render);
criterion_main!(benches);
