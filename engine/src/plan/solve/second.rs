//! Integration of second order (BDF2): replaces the targets after `predict`, and the velocities after all passes that
//! derive them from displacements. Plans of first order have none of these passes.

use super::Solve;
use crate::plan::{PlanError, Recording};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::finish::second_velocity;
use drystone_kernels::solve::second_predict;

/// Appends the targets of bodies whose displacement in the last step is known.
pub(in crate::plan) fn record_predict(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = second_predict::Bind {
        params: s.params,
        bodies: s.bodies,
        velocities: s.velocities,
        starts: s.starts,
        forces: s.forces,
        rows: s.rows,
        body_order: solve.graph.body_order,
        last_steps: s.last_steps,
        solver_bodies: solve.solver_bodies,
        deltas: solve.deltas,
        poses: s.poses,
        rotations: solve.rotations,
    };
    let push = second_predict::Push { count: solve.capacities.bodies };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(push))
}

/// Appends the velocities at the end of the step, and keeps the displacements for the next step.
pub(in crate::plan) fn record_velocity(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = second_velocity::Bind {
        params: s.params,
        bodies: s.bodies,
        rows: s.rows,
        entries: s.entries,
        joint_forces: s.joints.forces,
        last_steps: s.last_steps,
        velocities: s.velocities,
    };
    let push = second_velocity::Push { count: solve.capacities.bodies };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(push))
}
