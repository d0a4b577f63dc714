//! `drystone passes`: the step of a scene as text; or the broad phase on every backend, every pass timed, results
//! compared.

use super::budget::{self, BudgetOptions};
use super::{interrupt, table};
use anyhow::{Context, bail};
use clap::{Parser, ValueEnum};
use drystone::Simulation;
use drystone::backend::{Device, RunTimes, Runner, RunnerExt};
use drystone::cpu::Cpu;
use drystone::glam::Vec3;
use drystone::layout::{Aabb, Extent, Pair};
use drystone::plan::barriers::schedule;
use drystone::plan::detect::bvh::{Bvh, Search};
use drystone::plan::{Buffer, Command, Recording};
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions, VulkanRunner};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Backends {
    /// The CPU, and every usable Vulkan device.
    Auto,
    /// Vulkan devices only.
    Vulkan,
    /// The CPU only.
    Cpu,
}

/// Options of `drystone passes`.
#[derive(Parser)]
pub struct Options {
    /// Print the step of this scene, or file that ends with .json, instead.
    #[arg(value_name = "SCENE|FILE.json")]
    scene: Option<String>,
    /// A parameter of the scene or a setting, as `run` takes them.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "scene")]
    set: Vec<String>,
    /// Boxes in the scene.
    #[arg(long, default_value_t = 200_000)]
    elements: u32,
    /// Runs that are timed; the median of each pass is shown.
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// What to run on.
    #[arg(long, value_enum, default_value_t = Backends::Auto)]
    backend: Backends,
    /// Only Vulkan devices whose name contains this.
    #[arg(long)]
    device: Option<String>,
    /// Print the recording first.
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    budget: BudgetOptions,
}

struct Plan {
    recording: Recording,
    boxes: Buffer<Aabb>,
    counters: Buffer<u32>,
    pairs: Buffer<Pair>,
    capacity: u32,
}

/// Counter that receives the number of pairs.
const NEEDED: u32 = 1;

fn plan(elements: u32) -> drystone::Result<Plan> {
    let capacity = elements.saturating_mul(4).max(16);
    let mut recording = Recording::new("broad phase");
    let counters = recording.buffer("counters", 2)?;
    let overflow = recording.buffer("overflow", 1)?;
    let boxes = recording.buffer("boxes", u64::from(elements))?;
    recording.fill(overflow, 0..1, 0)?;
    let tree = Bvh { boxes, extent: Extent::host(elements), counters }.record(&mut recording, "bvh")?;
    let search = Search { capacity, needed: NEEDED, overflow, bit: 0, tile: 64, crowded: 0, most: u32::MAX };
    let found = search.record(&mut recording, "pairs", &tree)?;
    Ok(Plan { recording, boxes, counters, pairs: found.pairs, capacity })
}

/// Unit boxes at reproducible places, with one or two neighbours each.
fn scene(elements: u32) -> Vec<Aabb> {
    let size = (elements as f32).cbrt() * 2.0;
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
        (word ^ (word >> 22)) as f32 / u32::MAX as f32 * size
    };
    (0..elements)
        .map(|_| {
            let min = Vec3::new(next(), next(), next());
            Aabb { min, max: min + 1.0 }
        })
        .collect()
}

/// What one backend did.
struct Outcome {
    device: String,
    times: Vec<RunTimes>,
    pairs: Vec<Pair>,
}

fn measure(runner: &mut dyn Runner, plan: &Plan, boxes: &[Aabb], runs: usize) -> drystone::Result<Outcome> {
    runner.write(plan.boxes, boxes)?;
    runner.run()?;
    let times = (0..runs.max(1)).map(|_| runner.run()).collect::<drystone::Result<_>>()?;
    let needed = runner.read(plan.counters)?[NEEDED as usize];
    let pairs = runner.read_first(plan.pairs, u64::from(needed.min(plan.capacity)))?;
    Ok(Outcome { device: runner.device().name.clone(), times, pairs })
}

/// Prints the step of a scene as it is after a step, when lists have the length they need.
fn print_step(name: &str, set: &[String], allowed: &BudgetOptions) -> anyhow::Result<()> {
    interrupt::watch(allowed.time()?)?;
    let scene = super::run::prepare_within(name, set, &allowed.file())?;
    let (cpu, limits) = (Device::Cpu { threads: None }, allowed.limits());
    let mut simulation = budget::explained(Simulation::within(scene.world, scene.settings, cpu, limits))?;
    // The first has more iterations, and does not stand for the others.
    for _ in 0..2 {
        budget::step(&mut simulation, scene.dt)?;
    }
    let recording = &simulation.plan().recording;
    let barriers = schedule(recording);
    let waits = barriers.barriers().filter(|b| !b.memory).count();
    let all = barriers.barriers().count();
    let dispatches = recording.commands().iter().filter(|c| matches!(c, Command::Dispatch { .. })).count();
    say!("{}", recording.to_string().trim_end());
    say!(
        "{}: {} commands, {dispatches} of them dispatches; {all} barriers, {waits} of them only wait",
        scene.name,
        recording.commands().len(),
    );
    Ok(())
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(scene) = &options.scene {
        return print_step(scene, &options.set, &options.budget);
    }
    let plan = plan(options.elements)?;
    if options.print {
        say!("{}", plan.recording);
    }
    let boxes = scene(options.elements);
    say!("broad phase over {} boxes: Morton codes, radix sort, linear BVH, all overlapping pairs", options.elements);

    let mut outcomes = Vec::new();
    if options.backend != Backends::Vulkan {
        let mut cpu = Cpu::new(plan.recording.clone(), None)?;
        let mut outcome = measure(&mut cpu, &plan, &boxes, options.runs)?;
        outcome.device = format!("cpu, {}", outcome.device);
        outcomes.push(outcome);
    }
    if options.backend != Backends::Cpu {
        for device in vulkan_devices(options)? {
            let mut runner = VulkanRunner::new(device, plan.recording.clone())?;
            outcomes.push(measure(&mut runner, &plan, &boxes, options.runs)?);
        }
    }
    if outcomes.is_empty() {
        bail!("no usable Vulkan device; `drystone info` says why, and the CPU backend always works: --backend cpu");
    }
    show(&outcomes)?;
    compare(&outcomes)
}

/// Every usable device, or none with a word about why.
fn vulkan_devices(options: &Options) -> anyhow::Result<Vec<Arc<OwnDevice>>> {
    let loader = match Loader::system() {
        Ok(loader) => loader,
        Err(error) => {
            say!("CPU only: {error}");
            return Ok(Vec::new());
        }
    };
    let wanted = options.device.as_ref().map(|n| n.to_lowercase());
    let mut found = Vec::new();
    let supports = match loader.devices() {
        Ok(supports) => supports,
        Err(error) => {
            say!("CPU only: {error}");
            return Ok(found);
        }
    };
    for support in supports {
        if wanted.as_ref().is_some_and(|n| !support.device_name.to_lowercase().contains(n)) {
            continue;
        }
        let name = support.device_name;
        let device = OwnDeviceOptions { name: Some(name.clone()), ..Default::default() };
        match OwnDevice::new(&loader, &device) {
            Ok(device) => found.push(Arc::new(device)),
            Err(error) => say!("left out: {error}"),
        }
    }
    if found.is_empty() {
        say!("CPU only: {}", drystone::vulkan::Error::NoDevice(options.device.clone()));
    }
    Ok(found)
}

fn milliseconds(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    times.get(times.len() / 2).map_or_else(|| "-".to_owned(), |t| format!("{:.3}", t.as_secs_f64() * 1e3))
}

fn show(outcomes: &[Outcome]) -> anyhow::Result<()> {
    let mut header = vec!["pass".to_owned(), "dispatches".to_owned()];
    header.extend(outcomes.iter().map(|o| format!("{} [ms]", o.device)));
    let stages = outcomes.iter().map(|o| o.times[0].by_stage()).max_by_key(Vec::len).unwrap_or_default();
    let column = |o: &Outcome, name: &str| {
        let of_run = |t: &RunTimes| t.by_stage().into_iter().find(|s| s.0 == name).map(|s| s.2);
        milliseconds(o.times.iter().filter_map(of_run).collect())
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (name, dispatches, _) in stages {
        let mut row = vec![name.to_owned(), dispatches.to_string()];
        row.extend(outcomes.iter().map(|o| column(o, name)));
        rows.push(row);
    }
    let mut total = vec!["all passes".to_owned(), String::new()];
    total.extend(outcomes.iter().map(|o| milliseconds(o.times.iter().map(RunTimes::total).collect())));
    rows.push(total);
    say!();
    say!("{}", table::text(&header, &rows).trim_end());
    Ok(())
}

fn compare(outcomes: &[Outcome]) -> anyhow::Result<()> {
    let first = outcomes.first().context("at least one backend ran")?;
    for other in &outcomes[1..] {
        if other.pairs != first.pairs {
            bail!("{} and {} found different pairs", first.device, other.device);
        }
    }
    let what = if outcomes.len() > 1 { "every backend found the same" } else { "found" };
    say!("\n{what} {} pairs, in the same order every time", first.pairs.len());
    Ok(())
}
