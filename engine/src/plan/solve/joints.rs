//! Joints in the iterations, beside the passes of the contacts. Worlds without joints have none of these.

use super::Solve;
use crate::plan::graph::islands::Forest;
use crate::plan::{Buffer, PlanError, Recording};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::graph::islands::ties;
use drystone_kernels::solve::{carried_load, joints_dual, joints_start, load_share};

/// Measures which part of the joint forces is load; then the joint coordinates at the start of the step, and the warm
/// start (lines 5 and 6).
pub(super) fn record_start(solve: &Solve<'_>, r: &mut Recording, forest: &mut Forest) -> Result<(), PlanError> {
    let (s, count) = (solve.state, solve.capacities.bodies);
    let carried_loads = r.scratch("carried_loads", u64::from(count))?;
    let load_shares = r.scratch("load_shares", u64::from(count))?;
    let bind = carried_load::Bind {
        params: s.params,
        bodies: s.bodies,
        velocities: s.velocities,
        previous: s.previous,
        forces: s.forces,
        rows: s.rows,
        entries: s.entries,
        joint_forces: s.joints.forces,
        carried_loads,
        load_shares,
    };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(carried_load::Push { count }))?;
    forest.join(r, s, solve.capacities, solve.sizes, ties::JOINTS)?;
    let sorted = forest.islands(r, s, solve.capacities, solve.sizes, "assemblies")?;
    let (islands, members) = (sorted.keys, sorted.payloads);
    let bind = load_share::Bind { islands, members, carried_loads, load_shares, params: s.params };
    let push = load_share::Push { count, iterations: solve.options.iterations };
    r.dispatch_indirect(solve.sizes.args, dispatch::ISLANDS, bind.with(push))?;
    record_coordinates(solve, r, load_shares)
}

/// Appends the coordinates at the start of the step, and the warm start. `load_shares` has the fraction of each body's
/// joint forces that is load.
pub(super) fn record_coordinates(
    solve: &Solve<'_>,
    r: &mut Recording,
    load_shares: Buffer<f32>,
) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = joints_start::Bind {
        params: s.params,
        bodies: s.bodies,
        poses: s.poses,
        joints: s.joints.joints,
        joint_rows: s.joints.rows,
        row_states: s.joints.states,
        load_shares,
        velocities: s.velocities,
        previous: s.previous,
    };
    let push = joints_start::Push { count: solve.capacities.joints };
    r.dispatch_indirect(solve.sizes.args, dispatch::JOINTS, bind.with(push))
}

/// Multipliers and stiffness (lines 26 to 35).
pub(super) fn record_dual(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = joints_dual::Bind {
        params: s.params,
        starts: s.starts,
        poses: s.poses,
        deltas: solve.deltas,
        joints: s.joints.joints,
        joint_rows: s.joints.rows,
        row_states: s.joints.states,
        solver_bodies: solve.solver_bodies,
        body_order: solve.graph.body_order,
        bodies: s.bodies,
    };
    let push = joints_dual::Push { count: solve.capacities.joints };
    r.dispatch_indirect(solve.sizes.args, dispatch::JOINTS, bind.with(push))
}
