//! What a step leaves behind: broken joints, velocities, contacts for the next step (Algorithm 1, line 37).

use super::solve::{Solve, row_stiffness, surfaces};
use super::step::event_room;
use super::{Buffer, PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::finish::{
    body_poses, continuous, joints_break, sensors_keep, sensors_tell, store, touching_tell, velocity,
};

/// Forces of joints, and what they break. Without dual passes the force is that of the stiffness.
pub(super) fn record_joint_forces(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let (s, count) = (solve.state, solve.capacities.joints);
    if count == 0 {
        return Ok(());
    }
    let bind = joints_break::Bind {
        params: s.params,
        starts: s.starts,
        poses: s.poses,
        deltas: solve.deltas,
        joint_rows: s.joints.rows,
        row_states: s.joints.states,
        joints: s.joints.joints,
        joint_forces: s.joints.forces,
        counters: s.counters,
        events: s.events,
    };
    let events = event_room(solve.capacities);
    let push = joints_break::Push { count, penalty: u32::from(!solve.options.dual), events };
    r.dispatch_indirect(solve.sizes.args, dispatch::JOINTS, bind.with(push))
}

/// Velocities, poses, quarantine.
pub(super) fn record_velocity(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = velocity::Bind {
        params: s.params,
        starts: s.starts,
        deltas: solve.deltas,
        bodies: s.bodies,
        poses: s.poses,
        velocities: s.velocities,
        previous: s.previous,
        counters: s.counters,
        solver_bodies: solve.solver_bodies,
        body_order: solve.graph.body_order,
        rotations: solve.rotations,
        events: s.events,
    };
    let push = velocity::Push { count: solve.capacities.bodies, events: event_room(solve.capacities) };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(push))
}

/// Stops bodies with continuous detection where they first touched what they would have passed through.
pub(super) fn record_continuous(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let s = solve.state;
    if solve.capacities.continuous == 0 {
        return Ok(());
    }
    let bind = continuous::Bind {
        bodies: s.bodies,
        starts: s.starts,
        deltas: solve.deltas,
        body_order: solve.graph.body_order,
        rotations: solve.rotations,
        rows: s.rows,
        entries: s.entries,
        manifolds: s.manifolds,
        colliders: s.colliders,
        hulls: s.hulls.hulls,
        hull_vertices: s.hulls.vertices,
        hull_faces: s.hulls.faces,
        hull_loops: s.hulls.loops,
        hull_edges: s.hulls.edges,
        poses: s.poses,
    };
    let push = continuous::Push { count: solve.capacities.bodies };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(push))
}

/// Contacts for the next step.
pub(super) fn record_store(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = store::Bind {
        manifolds: s.manifolds,
        points: s.points,
        features: s.features,
        starts: s.starts,
        counters: s.counters,
        cached_pairs: s.cached_pairs,
        cached_points: s.cached_points,
    };
    let push = store::Push { limit: solve.capacities.manifolds };
    r.dispatch_indirect(solve.sizes.args, dispatch::MANIFOLDS, bind.with(push))?;
    if solve.options.features.surfaces {
        surfaces::record_store(solve, r)?;
    }
    if solve.options.row_stiffness { row_stiffness::record_store(solve, r) } else { Ok(()) }
}

/// Which contacts began, went on or ended, among those that somebody asked about; `touched` tells which pushed before.
pub(super) fn record_touching(solve: &Solve<'_>, r: &mut Recording, touched: Buffer<u32>) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = touching_tell::Bind {
        params: s.params,
        manifolds: s.manifolds,
        points: s.points,
        starts: s.starts,
        colliders: s.colliders,
        touched,
        counters: s.counters,
        last_touching: s.last_touching,
        events: s.events,
        report_impulses: s.report_impulses,
    };
    let push = touching_tell::Push { limit: solve.capacities.manifolds, events: event_room(solve.capacities) };
    r.dispatch_indirect(solve.sizes.args, dispatch::MANIFOLDS, bind.with(push))
}

/// What began and ended overlapping sensors.
pub(super) fn record_sensors(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let (s, limit) = (solve.state, solve.options.sensed_room(solve.capacities));
    let (overlaps, last_overlaps, counters) = (s.overlaps, s.last_overlaps, s.counters);
    let bind = sensors_tell::Bind { overlaps, last_overlaps, counters, events: s.events };
    let push = sensors_tell::Push { limit, events: event_room(solve.capacities) };
    r.dispatch_indirect(solve.sizes.args, dispatch::SENSED, bind.with(push))?;
    let bind = sensors_keep::Bind { overlaps, last_overlaps, counters };
    r.dispatch_indirect(solve.sizes.args, dispatch::SENSED, bind.with(sensors_keep::Push { limit }))
}

/// Commands for the end of a frame: poses for drawing.
pub(super) fn frame_end(step: &Recording, s: &StateBuffers, capacities: &Capacities) -> Result<Recording, PlanError> {
    let mut r = Recording::sharing(step, "frame end");
    let bind = body_poses::Bind {
        bodies: s.bodies,
        poses: s.poses,
        body_frames: s.body_frames,
        body_poses: s.body_poses,
        previous_body_poses: s.previous_body_poses,
    };
    let count = capacities.bodies;
    r.dispatch_each(u64::from(count), bind.with(body_poses::Push { count }))?;
    Ok(r)
}
