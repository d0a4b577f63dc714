//! Passes for moving surfaces and for rolling and torsional friction, recorded only in worlds that have such
//! surfaces.

use super::Solve;
use crate::plan::detect::Dispatches;
use crate::plan::{PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::finish::surfaces_store;
use drystone_kernels::solve::{rolling_dual, surfaces_start};

/// Appends the surface data of every manifold. It is found through the last step's rows, so it runs before they are
/// overwritten.
pub(in crate::plan) fn record_start(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    sizes: Dispatches,
) -> Result<(), PlanError> {
    let bind = surfaces_start::Bind {
        params: s.params,
        bodies: s.bodies,
        poses: s.poses,
        colliders: s.colliders,
        materials: s.materials,
        manifolds: s.manifolds,
        rows: s.rows,
        entries: s.entries,
        cached_pairs: s.cached_pairs,
        cached_torques: s.cached_torques,
        counters: s.counters,
        points: s.points,
        surfaces: s.surfaces,
    };
    let push = surfaces_start::Push { limit: capacities.manifolds };
    r.dispatch_indirect(sizes.args, dispatch::MANIFOLDS, bind.with(push))
}

/// Multipliers of rolling and torsional friction.
pub(super) fn record_dual(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = rolling_dual::Bind {
        manifolds: s.manifolds,
        deltas: solve.deltas,
        counters: s.counters,
        points: s.points,
        surfaces: s.surfaces,
    };
    let push = rolling_dual::Push { limit: solve.capacities.manifolds };
    r.dispatch_indirect(solve.sizes.args, dispatch::MANIFOLDS, bind.with(push))
}

/// Torques and anchors for the next step.
pub(in crate::plan) fn record_store(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = surfaces_store::Bind {
        params: s.params,
        manifolds: s.manifolds,
        points: s.points,
        starts: s.starts,
        colliders: s.colliders,
        materials: s.materials,
        surfaces: s.surfaces,
        counters: s.counters,
        cached_points: s.cached_points,
        cached_torques: s.cached_torques,
        impacts: s.impacts,
    };
    let bounces = u32::from(solve.options.features.bounces);
    let push = surfaces_store::Push { limit: solve.capacities.manifolds, bounces };
    r.dispatch_indirect(solve.sizes.args, dispatch::MANIFOLDS, bind.with(push))
}
