//! Islands as blocks of the descent: connected bodies that touch nothing fixed are moved as one rigid body, so that
//! momentum is conserved at few iterations.

use super::Solve;
use crate::plan::graph::islands::Forest;
use crate::plan::primitives::sort::KeyedItems;
use crate::plan::{PlanError, Recording};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::graph::islands::ties;
use drystone_kernels::solve::{aggregates, aggregates_move, momentum};

/// Islands of the bodies that `ties` connects, in addition to those that are joined already.
pub(super) fn find(
    solve: &Solve<'_>,
    r: &mut Recording,
    mut forest: Forest,
    ties: u32,
) -> Result<KeyedItems, PlanError> {
    forest.join(r, solve.state, solve.capacities, solve.sizes, ties)?;
    forest.islands(r, solve.state, solve.capacities, solve.sizes, "islands")
}

/// Moves every aggregate (bodies that stiff constraints tie together) as one, before the last dual pass.
pub(super) fn record_aggregates(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let (s, count) = (solve.state, solve.capacities.bodies);
    let mut forest = solve.new_forest(r, "aggregates")?;
    forest.join(r, s, solve.capacities, solve.sizes, ties::STIFF)?;
    let sorted = forest.islands(r, s, solve.capacities, solve.sizes, "aggregates")?;
    let (motions, island_of) = (r.scratch("motions", u64::from(count))?, forest.island_of);
    let bind = aggregates::Bind {
        bodies: s.bodies,
        starts: s.starts,
        solver_bodies: solve.solver_bodies,
        islands: sorted.keys,
        members: sorted.payloads,
        poses: s.poses,
        deltas: solve.deltas,
        rows: s.rows,
        params: s.params,
        joints: s.joints.joints,
        joint_rows: s.joints.rows,
        row_states: s.joints.states,
        body_order: solve.graph.body_order,
        rotations: solve.rotations,
        island_of,
        entries: s.entries,
        points: s.points,
        motions,
        surfaces: s.surfaces,
    };
    let push = aggregates::Push { count, joints: solve.capacities.joints };
    r.dispatch_indirect(solve.sizes.args, dispatch::ISLANDS, bind.with(push))?;
    let bind = aggregates_move::Bind {
        starts: s.starts,
        island_of,
        motions,
        body_order: solve.graph.body_order,
        deltas: solve.deltas,
        rotations: solve.rotations,
        poses: s.poses,
        solver_bodies: solve.solver_bodies,
    };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(aggregates_move::Push { count }))
}

/// Moves the islands. `last` includes islands that are too large for every iteration.
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
