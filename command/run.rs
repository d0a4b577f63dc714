//! `drystone run`: a scene, a progress bar, the table of passes, a report.

use super::budget::{self, BudgetOptions};
use super::files::Output;
use super::follow::{FollowOptions, Followers};
use super::interrupt::{self, Ended};
use super::log;
use super::outputs;
use super::report::{Run, Watched};
use anyhow::{Context, bail};
use clap::{Parser, ValueEnum};
use drystone::backend::Device;
use drystone::metrics::Metrics;
use drystone::scenes::file::Budget;
use drystone::scenes::{self, Scene, Script};
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions};
use drystone::{Settings, Simulation};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// Vulkan on a GPU when there is one, else the CPU.
    Auto,
    /// Vulkan, on whatever device there is.
    Vulkan,
    /// The CPU.
    Cpu,
    /// The CPU with nothing but the instructions that every processor of its kind has: the same results, later.
    CpuBaseline,
}

/// Options of `drystone run`.
#[derive(Parser)]
pub struct Options {
    /// The scene by its name (an unknown one lists them all), or a file that ends with .json.
    #[arg(default_value = "pile", value_name = "SCENE|FILE.json")]
    scene: String,
    /// What to run on.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,
    /// A Vulkan device whose name contains this.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Steps; as many as the scene is worth by default.
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    /// Seconds a step; 1/60 unless the scene wants another.
    #[arg(long, value_name = "S")]
    dt: Option<f32>,
    /// Iterations a step; by default as many as the scene is meant for.
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// A parameter of the scene (`bodies=10000`) or a setting (`alpha=0.95`). May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Write the report as JSON, to a file or to standard output (-); the table then goes to standard error.
    #[arg(long, value_name = "FILE|-")]
    json: Option<String>,
    /// Put the final state of every body and joint into the report.
    #[arg(long)]
    state: bool,
    /// Print what the engine logs, to standard error.
    #[arg(long, value_enum, value_name = "DETAIL")]
    log: Option<log::Detail>,
    #[command(flatten)]
    budget: BudgetOptions,
    #[command(flatten)]
    follow: FollowOptions,
    #[command(flatten)]
    outputs: outputs::FileOptions,
}

/// Steps beyond which the number of them has to be said.
const MOST_STEPS: f64 = 1e7;

pub fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(detail) = options.log {
        log::start(detail);
    }
    // From here on: reading the scene and making the first plan are the file's doing too.
    interrupt::watch(options.budget.time()?)?;
    let mut scene = prepare_within(&options.scene, &options.set, &options.budget.file())?;
    if let Some(iterations) = options.iterations {
        scene.settings.iterations = iterations;
    }
    scene.settings.check()?;
    let dt = options.dt.unwrap_or(scene.dt);
    let least = drystone::LEAST_TIME_STEP;
    if !(dt >= least && dt <= 1.0) {
        bail!("a time step of {dt:e} s: it must be at least {least:e} s, and at most 1 s");
    }
    let worth = (f64::from(scene.seconds) / f64::from(dt)).round();
    let steps = match options.steps {
        Some(steps) => steps,
        None if worth > MOST_STEPS => bail!("{} s would be {worth} steps; say how many with --steps", scene.seconds),
        None => (worth as u32).max(1),
    };
    // Where the report cannot be written, nobody should have to wait for it.
    let to_stderr = options.json.as_deref() == Some("-");
    let json = options.json.as_ref().filter(|_| !to_stderr).map(|path| Output::create(path.as_ref())).transpose()?;
    let mut out: Box<dyn Write> = if to_stderr { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) };

    let bar = ProgressBar::new(u64::from(steps));
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} steps {msg}")?);
    let mut script = Script::new(&scene);
    let keep = options.json.is_some() || options.outputs.wants_page();
    let mut followers = Followers::new(&options.follow, &scene, dt, keep)?;
    let mut outputs = outputs::Outputs::new(&options.outputs, &scene, steps, dt, &bar)?;
    let (name, bodies, settings) = (scene.name, scene.world.len(), scene.settings);
    let limits = options.budget.limits();
    let mut simulation = budget::explained(Simulation::within(scene.world, settings, device(options)?, limits))?;
    let info = simulation.device();
    writeln!(out, "{name}: {bodies} bodies on {} ({})", info.name, info.backend)?;
    let start = Metrics::of(&mut simulation)?;
    let mut watched = Watched::new(&start, &mut simulation)?;
    followers.see(0, &mut simulation)?;
    outputs.start(&mut simulation)?;
    let mut end = start;
    let mut made = 0;
    while made < steps && interrupt::why().is_none() {
        let step = made;
        let time = f64::from(step) * f64::from(dt);
        let added = script.before_step(&mut simulation, time, dt).with_context(|| format!("before step {step}"))?;
        let now = simulation.steps();
        let clock = Instant::now();
        let report = budget::step(&mut simulation, dt).with_context(|| format!("step {step}"))?;
        let time = clock.elapsed();
        outputs.step(step, time, &report, &mut simulation)?;
        watched.step(now, time, added, report, simulation.world());
        end = Metrics::of(&mut simulation)?;
        watched.see(&end, &mut simulation)?;
        followers.see(step + 1, &mut simulation)?;
        if step % 6 == 5 {
            bar.set_message(format!("top {:.2} m, {} contacts", end.top, end.contacts));
        }
        bar.inc(1);
        made += 1;
    }
    let ended = Ended::after(made, steps).filter(|_| made < steps);
    followers.finish()?;
    outputs.finish(&mut simulation, &followers)?;
    bar.finish_and_clear();

    let run = Run { name, steps: made, dt, start, end, watched, followers };
    write!(out, "{}", run.table(&simulation))?;
    out.flush()?;
    if options.json.is_some() {
        let mut report = run.json(&mut simulation, options.state)?;
        if let Some(ended) = &ended {
            report["ended_early"] = ended.to_string().into();
        }
        let text = serde_json::to_string_pretty(&report)? + "\n";
        match json {
            Some(mut file) => {
                file.write_all(text.as_bytes()).context("cannot write the report")?;
                file.finish()?;
            }
            None => {
                let mut stdout = std::io::stdout();
                stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).context("cannot write the report")?;
            }
        }
    }
    ended.map_or(Ok(()), |ended| Err(ended.into()))
}

/// Builds or reads the scene, as [`prepare_within`] does, with what files may have by default.
pub fn prepare(name: &str, set: &[String]) -> anyhow::Result<Scene> {
    prepare_within(name, set, &Budget::default())
}

/// Builds or reads the scene, and sorts `--set` into settings and parameters of it.
pub fn prepare_within(name: &str, set: &[String], budget: &Budget) -> anyhow::Result<Scene> {
    let from_file = std::path::Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let mut parameters = BTreeMap::new();
    let mut wanted = Vec::new();
    for pair in set {
        let (key, value) = pair.split_once('=').with_context(|| format!("`--set {pair}`: expected KEY=VALUE"))?;
        let number: f64 = value.parse().with_context(|| format!("`--set {pair}`: `{value}` is not a number"))?;
        if Settings::knows(key) {
            wanted.push((key, number));
        } else {
            parameters.insert(key.to_owned(), number);
        }
    }
    let mut scene = if !from_file {
        scenes::build(name, &parameters)?
    } else if let Some(key) = parameters.into_keys().next() {
        bail!("{name}: there is no setting `{key}`, and files have no parameters")
    } else {
        scenes::file::read_within(name, budget)?
    };
    scene.settings.set_all(wanted)?;
    Ok(scene)
}

fn device(options: &Options) -> anyhow::Result<Device> {
    let cpu = Device::Cpu { threads: None };
    let wants_vulkan = options.backend == Backend::Vulkan || options.device.is_some();
    if let Backend::Cpu | Backend::CpuBaseline = options.backend {
        if options.device.is_some() {
            bail!("--device names a Vulkan device, but --backend is cpu");
        }
        let baseline = options.backend == Backend::CpuBaseline;
        return Ok(if baseline { Device::CpuBaseline { threads: None } } else { cpu });
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
