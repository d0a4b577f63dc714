//! A stiffness for every row of a contact, kept from step to step (Eq. 19): what the published scheme has. Plans of
//! solvers with one stiffness a point have none of these passes.

use super::Solve;
use crate::plan::detect::Dispatches;
use crate::plan::{PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::finish::stiffness_store;
use drystone_kernels::solve::stiffness_start;

/// Appends the initial stiffness. It is found through the last step's rows, so it runs before they are overwritten.
pub(in crate::plan) fn record_start(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    sizes: Dispatches,
) -> Result<(), PlanError> {
    let bind = stiffness_start::Bind {
        params: s.params,
        bodies: s.bodies,
        manifolds: s.manifolds,
        rows: s.rows,
        entries: s.entries,
        cached_pairs: s.cached_pairs,
        cached_stiffness: s.cached_stiffness,
        counters: s.counters,
        points: s.points,
        tangent_stiffness: s.tangent_stiffness,
    };
    let push = stiffness_start::Push { limit: capacities.manifolds };
    r.dispatch_indirect(sizes.args, dispatch::MANIFOLDS, bind.with(push))
}

/// Stiffness for the next step.
pub(in crate::plan) fn record_store(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = stiffness_store::Bind {
        counters: s.counters,
        points: s.points,
        tangent_stiffness: s.tangent_stiffness,
        cached_stiffness: s.cached_stiffness,
    };
    let push = stiffness_store::Push { limit: solve.capacities.manifolds };
    r.dispatch_indirect(solve.sizes.args, dispatch::MANIFOLDS, bind.with(push))
}
