//! `drystone run`: a scene, a progress bar, the table of passes, a report.

use super::{outputs, table};
use anyhow::{Context, bail};
use clap::{Parser, ValueEnum};
use drystone::backend::Device;
use drystone::glam::DVec3;
use drystone::metrics::Metrics;
use drystone::scenes::{self, Scene};
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions};
use drystone::{Settings, Simulation, StepReport};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// Vulkan on a GPU when there is one, else the CPU.
    Auto,
    /// Vulkan, on whatever device there is.
    Vulkan,
    /// The CPU.
    Cpu,
}

/// Options of `drystone run`.
#[derive(Parser)]
pub struct Options {
    /// The scene: pile, stack, pyramid, drop, dominoes, friction, rolling, spinner.
    #[arg(default_value = "pile")]
    scene: String,
    /// What to run on.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,
    /// A Vulkan device whose name contains this.
    #[arg(long)]
    device: Option<String>,
    /// Steps; as many as the scene is worth by default.
    #[arg(long)]
    steps: Option<u32>,
    /// Seconds a step.
    #[arg(long, default_value_t = 1.0 / 60.0)]
    dt: f32,
    /// Iterations a step.
    #[arg(long)]
    iterations: Option<u32>,
    /// A parameter of the scene (`bodies=10000`) or a setting (`alpha=0.95`). May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Write the report as JSON, to a file or to standard output (-).
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Put the final state of every body into the report.
    #[arg(long)]
    state: bool,
    #[command(flatten)]
    outputs: outputs::FileOptions,
}

/// What is watched while the scene runs.
#[derive(Default)]
struct Watched {
    steps: Vec<Duration>,
    passes: Vec<(&'static str, usize, Vec<Duration>)>,
    last: StepReport,
    events: Vec<Value>,
    max_penetration: f64,
    max_speed: f64,
    max_energy: f64,
    fallback: u32,
}

impl Watched {
    fn step(&mut self, time: Duration, report: StepReport) {
        self.steps.push(time);
        for run in &report.times {
            for (name, count, time) in run.by_stage() {
                match self.passes.iter_mut().find(|p| p.0 == name) {
                    Some(pass) => pass.2.push(time),
                    None => self.passes.push((name, count, vec![time])),
                }
            }
        }
        self.fallback = self.fallback.max(report.fallback_bodies);
        self.last = report;
    }
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let (scene, settings) = prepare(options)?;
    let steps = options.steps.unwrap_or((scene.seconds / options.dt).round() as u32).max(1);
    let device = device(options)?;
    let mut simulation = Simulation::new(scene.world.clone(), settings, device)?;
    let info = simulation.device().clone();
    let quiet = options.json.as_deref() == Some("-");
    if !quiet {
        println!("{}: {} bodies on {} ({})", scene.name, scene.world.len(), info.name, info.backend);
    }
    let start = Metrics::of(&mut simulation)?;
    let mut watched = Watched { max_energy: start.energy(), ..Watched::default() };
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(u64::from(steps)) };
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} steps {msg}")?);

    let mut outputs = outputs::Outputs::new(&options.outputs, &scene, steps, options.dt, &bar)?;
    outputs.start(&mut simulation)?;
    let mut later = scene.later.clone();
    for step in 0..steps {
        let now = step as f32 * options.dt;
        while let Some(at) = later.iter().position(|(time, _)| *time <= now) {
            let body = simulation.world_mut().add(later.swap_remove(at).1)?;
            watched.events.push(json!({"step": step, "event": "body added", "body": body.index()}));
        }
        let clock = Instant::now();
        let report = simulation.step(options.dt).with_context(|| format!("step {step}"))?;
        outputs.step(step, clock.elapsed(), &report, &mut simulation)?;
        watched.step(clock.elapsed(), report);
        // Looking at the state costs a read-back: ten times a second is enough.
        if step % 6 == 5 || step + 1 == steps {
            let m = Metrics::of(&mut simulation)?;
            watched.max_penetration = watched.max_penetration.max(m.max_penetration);
            watched.max_speed = watched.max_speed.max(m.max_speed);
            watched.max_energy = watched.max_energy.max(m.energy());
            bar.set_message(format!("top {:.2} m, {} contacts", m.top, m.contacts));
        }
        bar.inc(1);
    }
    outputs.finish(&mut simulation)?;
    bar.finish_and_clear();

    let end = Metrics::of(&mut simulation)?;
    if !quiet {
        print_tables(&watched, &start, &end, &simulation);
    }
    if let Some(target) = &options.json {
        let report = report(options, &scene, steps, &mut simulation, &watched, &end)?;
        let text = serde_json::to_string_pretty(&report)?;
        if target == "-" {
            println!("{text}");
        } else {
            std::fs::write(target, text).with_context(|| format!("cannot write {target}"))?;
        }
    }
    Ok(())
}

/// Sorts `--set` into settings and parameters of the scene.
fn prepare(options: &Options) -> anyhow::Result<(Scene, Settings)> {
    let mut settings = Settings::default();
    let mut parameters = BTreeMap::new();
    for pair in &options.set {
        let (key, value) = pair.split_once('=').with_context(|| format!("`--set {pair}`: expected KEY=VALUE"))?;
        let number: f64 = value.parse().with_context(|| format!("`--set {pair}`: `{value}` is not a number"))?;
        if !settings.set(key, number) {
            parameters.insert(key.to_owned(), number);
        }
    }
    if let Some(iterations) = options.iterations {
        settings.iterations = iterations;
    }
    settings.check()?;
    Ok((scenes::build(&options.scene, &parameters)?, settings))
}

fn device(options: &Options) -> anyhow::Result<Device> {
    let cpu = Device::Cpu { threads: None };
    let wants_vulkan = options.backend == Backend::Vulkan || options.device.is_some();
    if options.backend == Backend::Cpu {
        if options.device.is_some() {
            bail!("--device names a Vulkan device, but --backend is cpu");
        }
        return Ok(cpu);
    }
    let open = || {
        let loader = Loader::system()?;
        OwnDevice::new(&loader, &OwnDeviceOptions { name: options.device.clone(), ..Default::default() })
    };
    match open() {
        // A driver that itself runs on the CPU is slower than the CPU backend.
        Ok(device) if wants_vulkan || !device.support().is_cpu() => Ok(Device::Vulkan(Arc::new(device))),
        Ok(device) => {
            eprintln!("{} is no GPU: using the CPU backend (--backend vulkan overrides)", device.support().device_name);
            Ok(cpu)
        }
        Err(error) if wants_vulkan => Err(error.into()),
        Err(error) => {
            eprintln!("using the CPU backend: {error}");
            Ok(cpu)
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Mean, median and 95th percentile in milliseconds.
fn statistics(times: &[Duration]) -> (f64, f64, f64) {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |part: f64| sorted.get(((sorted.len().max(1) - 1) as f64 * part) as usize).copied().unwrap_or_default();
    let mean = times.iter().sum::<Duration>().as_secs_f64() * 1e3 / times.len().max(1) as f64;
    (mean, milliseconds(at(0.5)), milliseconds(at(0.95)))
}

fn print_tables(watched: &Watched, start: &Metrics, end: &Metrics, simulation: &Simulation) {
    let mut passes: Vec<_> = watched.passes.iter().map(|p| (p.0, p.1, statistics(&p.2))).collect();
    passes.sort_by(|a, b| b.2.0.total_cmp(&a.2.0));
    let header = ["pass", "dispatches", "mean [ms]", "median [ms]"].map(str::to_owned);
    let rows: Vec<Vec<String>> = passes
        .iter()
        .map(|(name, count, (mean, median, _))| {
            vec![(*name).to_owned(), count.to_string(), format!("{mean:.3}"), format!("{median:.3}")]
        })
        .collect();
    println!();
    table::print(&header, &rows);
    let (mean, median, p95) = statistics(&watched.steps);
    let memory: u64 = simulation.memory().iter().map(|m| m.bytes).sum();
    println!("\nstep          {mean:.2} ms mean, {median:.2} ms median, {p95:.2} ms p95");
    println!(
        "contacts      {} points in {} manifolds of {} pairs",
        end.contacts, watched.last.manifolds, watched.last.pairs
    );
    println!("top           {:.3} m at the start, {:.3} m at the end", start.top, end.top);
    println!(
        "penetration   {:.2} mm at the end, {:.2} mm at worst",
        end.max_penetration * 1e3,
        watched.max_penetration * 1e3
    );
    println!("energy        {:.4e} J at the start, {:.4e} J at the end", start.energy(), end.energy());
    println!(
        "memory        {:.1} MB, {} bytes a body",
        memory as f64 / 1e6,
        memory / simulation.world().len().max(1) as u64
    );
    println!("pose hash     {:016x}", end.pose_hash);
}

fn vector(v: DVec3) -> Value {
    json!([v.x, v.y, v.z])
}

fn report(
    options: &Options,
    scene: &Scene,
    steps: u32,
    simulation: &mut Simulation,
    watched: &Watched,
    end: &Metrics,
) -> anyhow::Result<Value> {
    let info = simulation.device().clone();
    let s = *simulation.settings();
    let (mean, median, p95) = statistics(&watched.steps);
    let passes: Vec<Value> = watched
        .passes
        .iter()
        .map(|(name, dispatches, times)| {
            let (mean, median, _) = statistics(times);
            json!({"name": name, "ms_mean": mean, "ms_median": median, "dispatches": dispatches})
        })
        .collect();
    let memory = simulation.memory();
    let by_buffer: BTreeMap<_, _> = memory.iter().map(|m| (m.name.clone(), m.bytes)).collect();
    let mut report = json!({
        "scene": scene.name,
        "backend": info.backend,
        "device": {"name": info.name, "driver": info.driver, "subgroup_size": info.subgroup_size},
        "bodies": simulation.world().len(),
        "steps": steps,
        "dt": options.dt,
        "settings": {
            "iterations": s.iterations, "alpha": s.alpha, "beta": s.beta, "gamma": s.gamma, "k_start": s.k_start,
            "k_max": s.k_max, "tolerance": s.tolerance, "margin": s.margin, "colours": s.colours,
            "colour_rounds": s.colour_rounds, "rescale_friction": s.rescale_friction, "substeps": s.substeps,
        },
        "step_ms": {"mean": mean, "median": median, "p95": p95},
        "passes": passes,
        "counts": {
            "pairs": watched.last.pairs, "manifolds": watched.last.manifolds, "contacts": end.contacts,
            "colours": simulation.colours()?, "fallback_bodies": watched.fallback, "overflow": 0,
        },
        "memory": {"total": memory.iter().map(|m| m.bytes).sum::<u64>(), "by_buffer": by_buffer},
        "metrics": {
            "end": {
                "kinetic_energy": end.kinetic_energy, "potential_energy": end.potential_energy,
                "momentum": vector(end.momentum), "angular_momentum": vector(end.angular_momentum),
                "max_penetration": end.max_penetration, "mean_penetration": end.mean_penetration,
                "max_speed": end.max_speed, "top": end.top, "quarantined": end.quarantined,
            },
            "worst": {
                "max_penetration": watched.max_penetration, "max_speed": watched.max_speed,
                "energy": watched.max_energy,
            },
        },
        "pose_hash": format!("{:016x}", end.pose_hash),
        "events": watched.events,
    });
    if options.state {
        let bodies: Vec<Value> = simulation
            .bodies()?
            .iter()
            .map(|(handle, b)| {
                json!({
                    "body": handle.index(), "position": b.position.to_array(), "rotation": b.rotation.to_array(),
                    "linear_velocity": b.linear_velocity.to_array(),
                    "angular_velocity": b.angular_velocity.to_array(), "enabled": b.enabled,
                })
            })
            .collect();
        report["state"] = Value::Array(bodies);
    }
    Ok(report)
}
