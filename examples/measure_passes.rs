//! Every pass of any scene as a table and as CSV: median, 95th percentile, dispatches, bytes, GB/s.
//!
//! ```text
//! cargo run --release --example measure_passes -- [SCENE [DEVICE [STEPS [FILE.csv]]]]
//! cargo run --release --example measure_passes -- pile cpu 60 pile.csv
//! cargo run --release --example measure_passes -- examples/scenes/wall.json llvmpipe
//! ```
//!
//! DEVICE is `cpu`, or a part of a Vulkan device's name. Bytes are those of the buffers that a pass declares to read or
//! write, each counted once for every time a pass comes up, as long as their lists are: what has to be moved when
//! nothing is found in a cache, and all of the lists is in use. Times of sub-steps are added up. What a scene does
//! later on is left out.

use anyhow::{Context, Result};
use drystone::backend::Device;
use drystone::plan::{Command, Recording};
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions};
use drystone::{Simulation, scenes};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Dispatches, fills and copies of a pass in a step, and bytes.
#[derive(Clone, Copy, Default)]
struct Load {
    commands: usize,
    bytes: u64,
}

/// What every pass of a recording declares, by name.
fn loads(recording: &Recording) -> BTreeMap<&'static str, Load> {
    let mut loads = BTreeMap::<_, Load>::new();
    let size = |id| recording.info(id).map_or(0, |b| u64::from(b.stride) * b.count);
    let mut last = "";
    for command in recording.commands() {
        let load = loads.entry(command.name()).or_default();
        load.commands += 1;
        match command {
            // The colours of a sweep share the lists among them.
            Command::Dispatch { .. } if command.name() == last => {}
            Command::Dispatch { invocation, .. } => {
                let buffers: BTreeSet<_> = invocation.buffers.iter().copied().collect();
                load.bytes += buffers.into_iter().map(size).sum::<u64>();
            }
            Command::Fill { range, .. } => load.bytes += range.end - range.start,
            Command::Copy { size, .. } => load.bytes += 2 * size,
            _ => {}
        }
        last = command.name();
    }
    loads
}

fn part(sorted: &[Duration], percent: usize) -> f64 {
    sorted.get(sorted.len().saturating_sub(1) * percent / 100).map_or(0.0, |t| t.as_secs_f64() * 1e3)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |i: usize, usual: &str| arguments.get(i).map_or_else(|| usual.to_owned(), Clone::clone);
    let (name, device) = (argument(0, "pile"), argument(1, "cpu"));
    let steps: usize = argument(2, "60").parse().context("the number of steps")?;
    let scene = if name.ends_with(".json") {
        scenes::file::read(Path::new(&name))?
    } else {
        scenes::build(&name, &BTreeMap::new())?
    };
    let device = if device == "cpu" {
        Device::Cpu { threads: None }
    } else {
        let options = OwnDeviceOptions { name: Some(device), ..Default::default() };
        Device::Vulkan(Arc::new(OwnDevice::new(&Loader::system()?, &options)?))
    };
    let dt = scene.dt;
    let mut simulation = Simulation::new(scene.world, scene.settings, device)?;
    // Until lists have their length; the first step has more iterations than others.
    for _ in 0..5 {
        simulation.step(dt)?;
    }
    let mut times = BTreeMap::<&'static str, Vec<Duration>>::new();
    for _ in 0..steps {
        let mut step = BTreeMap::<_, Duration>::new();
        for (pass, _, time) in simulation.step(dt)?.times.iter().flat_map(|run| run.by_stage()) {
            *step.entry(pass).or_default() += time;
        }
        step.into_iter().for_each(|(pass, time)| times.entry(pass).or_default().push(time));
    }
    let substeps = simulation.settings().substeps as usize;
    let loads = loads(&simulation.plan().recording);
    let mut rows: Vec<_> = times
        .into_iter()
        .map(|(pass, mut times)| {
            times.sort_unstable();
            let Load { commands, bytes } = loads.get(pass).copied().unwrap_or_default();
            (pass, part(&times, 50), part(&times, 95), commands * substeps, bytes * substeps as u64)
        })
        .collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));

    println!("{name} on {}: {} bodies, {steps} steps", simulation.device().name, simulation.world().len());
    println!("{:<20} {:>10} {:>10} {:>10} {:>10} {:>8}", "pass", "median ms", "p95 ms", "dispatches", "MB", "GB/s");
    let mut csv = String::from("pass,median_ms,p95_ms,dispatches,bytes,gb_per_s\n");
    for (pass, median, p95, commands, bytes) in rows {
        let rate = if median > 0.0 { bytes as f64 / median / 1e6 } else { 0.0 };
        let mb = bytes as f64 / 1e6;
        println!("{pass:<20} {median:>10.3} {p95:>10.3} {commands:>10} {mb:>10.2} {rate:>8.2}");
        csv += &format!("{pass},{median:.6},{p95:.6},{commands},{bytes},{rate:.3}\n");
    }
    if let Some(path) = arguments.get(3) {
        std::fs::File::create(path).with_context(|| path.clone())?.write_all(csv.as_bytes())?;
        println!("wrote {path}");
    }
    Ok(())
}
