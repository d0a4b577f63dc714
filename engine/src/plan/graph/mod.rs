//! The graph of the bodies (Algorithm 1, line 2): rows (the contacts and joints of every body), colours, and islands.

mod colours;
pub(super) mod islands;
mod rows;

use super::detect::Dispatches;
use super::primitives::bits;
use super::step::StepOptions;
use super::{PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use drystone_kernels::gpu::Buffer;

/// The order in which bodies are solved.
#[derive(Clone, Copy)]
pub(super) struct Graph {
    /// Bodies sorted by colour; where each colour begins is in `ranges`.
    pub order: Buffer<u32>,
    /// Where every body stands in that order.
    pub body_order: Buffer<u32>,
}

/// Appends the passes.
pub(super) fn record(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    options: &StepOptions,
    sizes: Dispatches,
) -> Result<Graph, PlanError> {
    rows::record(r, s, capacities, sizes)?;
    colours::record(r, s, capacities, options, sizes)
}
