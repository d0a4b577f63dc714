//! What `drystone run` writes beside its table: pictures, a page, a trace. Each watches the run step by step.

use super::pictures;
use clap::Args;
use drystone::scenes::Scene;
use drystone::{Simulation, StepReport};
use indicatif::ProgressBar;
use std::time::Duration;

/// Options of `drystone run` about files.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    pictures: pictures::Options,
}

/// Everything that watches a run.
pub struct Outputs<'a> {
    pictures: pictures::Pictures<'a>,
}

impl<'a> Outputs<'a> {
    /// Checks what was asked for before the run begins.
    pub fn new(options: &'a Options, scene: &Scene, steps: u32, dt: f32, bar: &ProgressBar) -> anyhow::Result<Self> {
        Ok(Self { pictures: pictures::Pictures::new(&options.pictures, scene, steps, dt, bar)? })
    }

    /// Before the first step.
    pub fn start(&mut self, simulation: &mut Simulation) -> anyhow::Result<()> {
        self.pictures.start(simulation)
    }

    /// After step number `step`, which took `time`.
    pub fn step(
        &mut self,
        step: u32,
        _time: Duration,
        _report: &StepReport,
        simulation: &mut Simulation,
    ) -> anyhow::Result<()> {
        self.pictures.step(step, simulation)
    }

    /// After the last step: writes what is left to be written.
    pub fn finish(self, simulation: &mut Simulation) -> anyhow::Result<()> {
        self.pictures.finish(simulation)
    }
}
