//! Files that `drystone run` writes besides its table: pictures, a page, a trace. Each is updated after every step.

use super::follow::Followers;
use super::html::Page;
use super::pictures::{self, Pictures};
use super::trace::Trace;
use clap::Args;
use drystone::scenes::Scene;
use drystone::{Simulation, StepReport};
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Options of `drystone run` about files.
#[derive(Args)]
pub struct FileOptions {
    /// Write a page with pictures, plots, settings and device, which opens in any browser without a network.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write every pass of every step as a trace for Chrome or Perfetto.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    pictures: pictures::PictureOptions,
}

impl FileOptions {
    /// Whether there will be a page.
    pub fn wants_page(&self) -> bool {
        self.report.is_some()
    }
}

/// Everything that watches a run.
pub struct Outputs<'a> {
    clock: Instant,
    pictures: Pictures<'a>,
    page: Option<Page>,
    trace: Option<Trace>,
}

impl<'a> Outputs<'a> {
    /// Checks what was asked for, and that files can be written, before the run begins.
    pub fn new(
        options: &'a FileOptions,
        scene: &Scene,
        steps: u32,
        dt: f32,
        bar: &ProgressBar,
    ) -> anyhow::Result<Self> {
        let pictures = Pictures::new(&options.pictures, scene, steps, dt, bar)?;
        let page = options.report.as_ref().map(|path| Page::new(path, &scene.name, steps, dt, &pictures));
        let trace = options.trace.as_ref().map(|path| Trace::new(path, &scene.name));
        Ok(Self { clock: Instant::now(), pictures, page: page.transpose()?, trace: trace.transpose()? })
    }

    /// Before the first step.
    pub fn start(&mut self, simulation: &mut Simulation) -> anyhow::Result<()> {
        if let Some(page) = &mut self.page {
            page.start(simulation)?;
        }
        self.pictures.start(simulation)
    }

    /// After step number `step`, which took `time`.
    pub fn step(
        &mut self,
        step: u32,
        time: Duration,
        report: &StepReport,
        simulation: &mut Simulation,
    ) -> anyhow::Result<()> {
        if let Some(trace) = &mut self.trace {
            trace.step(step, self.clock.elapsed().saturating_sub(time), time, report)?;
        }
        if let Some(page) = &mut self.page {
            page.step(step, time, report, simulation)?;
        }
        self.pictures.step(step, simulation)
    }

    /// After the last step: writes what is left to be written.
    pub fn finish(self, simulation: &mut Simulation, followers: &Followers) -> anyhow::Result<()> {
        if let Some(trace) = self.trace {
            trace.finish()?;
        }
        if let Some(page) = self.page {
            page.finish(simulation, followers)?;
        }
        self.pictures.finish(simulation)
    }
}
