//! Limits on the memory and time of a run. Scene files are untrusted: a few thousand bytes can ask for a thousand
//! million colliders, or for bodies that all lie in one place. An error names the option that raises the limit.

use anyhow::Context;
use clap::Args;
use drystone::scenes::file::Budget;
use drystone::state::Limits;
use drystone::{Error, Simulation};
use std::time::Duration;

/// Options about what a run may take.
#[derive(Args)]
pub struct BudgetOptions {
    /// Most memory of the step's buffers, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 4096, help_heading = "Budget")]
    max_memory: u64,
    /// Most pairs of colliders whose boxes overlap. Bounds the time of a step too.
    #[arg(long, value_name = "N", default_value_t = 32_000_000, help_heading = "Budget")]
    max_pairs: u32,
    /// Most colliders that a scene file may have, copies included.
    #[arg(long, value_name = "N", default_value_t = Budget::default().colliders, help_heading = "Budget")]
    max_colliders: usize,
    /// Minutes after which a run ends, with what was made until then.
    #[arg(long, value_name = "M", default_value_t = 60.0, help_heading = "Budget")]
    max_minutes: f64,
}

impl BudgetOptions {
    /// Of scene files.
    pub fn file(&self) -> Budget {
        Budget::default().with_colliders(self.max_colliders)
    }

    /// Of the step.
    pub fn limits(&self) -> Limits {
        Limits::none().with_memory(self.max_memory.saturating_mul(1 << 20)).with_pairs(self.max_pairs)
    }

    /// Of the whole run.
    pub fn time(&self) -> anyhow::Result<Duration> {
        let time = Duration::try_from_secs_f64(self.max_minutes * 60.0).ok().filter(|time| !time.is_zero());
        time.with_context(|| format!("--max-minutes {}: it must be greater than 0", self.max_minutes))
    }
}

/// Names the option that raises a limit, where one was met.
pub fn explained<T>(result: drystone::Result<T>) -> anyhow::Result<T> {
    let option = match &result {
        Err(Error::MemoryLimit { .. }) => "--max-memory",
        Err(Error::PairLimit { .. }) => "--max-pairs",
        _ => return Ok(result?),
    };
    result.with_context(|| format!("the scene is beyond the budget of this run; {option} raises it"))
}

/// Steps, within the budget.
pub fn step(simulation: &mut Simulation, dt: f32) -> anyhow::Result<drystone::StepReport> {
    explained(simulation.step(dt))
}
