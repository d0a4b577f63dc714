//! Islands as blocks of the descent: what hangs together and touches nothing fixed is moved as one.

use super::Solve;
use crate::plan::graph::islands::Forest;
use crate::plan::primitives::sort::KeyedItems;
use crate::plan::{PlanError, Recording};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::solve::momentum;

/// Islands of what `ties` connects, and of what is joined already.
pub(super) fn find(
    solve: &Solve<'_>,
    r: &mut Recording,
    mut forest: Forest,
    ties: u32,
) -> Result<KeyedItems, PlanError> {
    forest.join(r, solve.state, solve.capacities, solve.sizes, ties)?;
    forest.islands(r, solve.state, solve.capacities, solve.sizes, "islands")
}

/// Moves them. `last`: those too that are too large for every iteration.
pub(super) fn record(solve: &Solve<'_>, r: &mut Recording, islands: KeyedItems, last: bool) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = momentum::Bind {
        bodies: s.bodies,
        starts: s.starts,
        solver_bodies: solve.solver_bodies,
        islands: islands.keys,
        members: islands.payloads,
        poses: s.poses,
        deltas: solve.deltas,
        rows: s.rows,
        entries: s.entries,
        params: s.params,
        joints: s.joints.joints,
        joint_rows: s.joints.rows,
        row_states: s.joints.states,
        body_order: solve.graph.body_order,
        rotations: solve.rotations,
    };
    let (count, joints) = (solve.capacities.bodies, solve.capacities.joints);
    let push = momentum::Push { count, joints, last: u32::from(last) };
    r.dispatch_indirect(solve.sizes.args, dispatch::ISLANDS, bind.with(push))
}
