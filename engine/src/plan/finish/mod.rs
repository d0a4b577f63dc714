//! Passes at the end of a step: broken joints, velocities, and the contacts kept for the next step (Algorithm 1, line
//! 37).

use super::solve::{Solve, row_stiffness, surfaces};
use super::step::event_room;
use super::{Buffer, PlanError, Recording};
use crate::state::{Capacities, SoftBuffers, StateBuffers};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::finish::{
    body_poses, continuous, joints_break, sensors_keep, sensors_tell, soft_vertices, store, touching_tell, velocity,
};
use drystone_kernels::layout::SoftVertex;

/// Computes the forces of joints, and breaks those beyond their limits. Without dual passes the force is stiffness
/// times error.
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
        means: s.means,
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

/// Reports which contacts began, continued or ended, among those with reports switched on; `touched` says which
/// pushed in the last step.
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

/// Reports which overlaps with sensors began and ended.
pub(super) fn record_sensors(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let (s, limit) = (solve.state, solve.options.sensed_room(solve.capacities));
    let (overlaps, last_overlaps, counters) = (s.overlaps, s.last_overlaps, s.counters);
    let bind = sensors_tell::Bind { overlaps, last_overlaps, counters, events: s.events };
    let push = sensors_tell::Push { limit, events: event_room(solve.capacities) };
    r.dispatch_indirect(solve.sizes.args, dispatch::SENSED, bind.with(push))?;
    let bind = sensors_keep::Bind { overlaps, last_overlaps, counters };
    r.dispatch_indirect(solve.sizes.args, dispatch::SENSED, bind.with(sensors_keep::Push { limit }))
}

/// Positions and normals of particles, and what was in `vertices` before.
pub(super) fn record_soft_vertices(
    r: &mut Recording,
    soft: &SoftBuffers,
    capacities: &Capacities,
    vertices: Buffer<SoftVertex>,
    previous: Buffer<SoftVertex>,
) -> Result<(), PlanError> {
    let bind = soft_vertices::Bind {
        particles: soft.particles,
        soft_positions: soft.positions,
        soft_triangles: soft.triangles,
        soft_fan_starts: soft.fan_starts,
        soft_fans: soft.fans,
        soft_vertices: vertices,
        previous_soft_vertices: previous,
    };
    let count = capacities.particles;
    r.dispatch_each(u64::from(count), bind.with(soft_vertices::Push { count }))
}

/// Commands for the end of a frame: poses and vertices for drawing.
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
    if let Some(soft) = &s.soft {
        record_soft_vertices(&mut r, soft, capacities, soft.vertices, soft.previous_vertices)?;
    }
    Ok(r)
}
