//! Warm start of joints: stores every row's coordinate at the start of the step, chooses which of two limits may push,
//! and sets multipliers and stiffness to begin with (Eq. 19; Algorithm 1, lines 5 and 6). Reads poses, velocities and
//! `load_shares`; updates `row_states`.
//!
//! With [`option::ROWS`] every row keeps its stiffness from step to step, as published. Otherwise stiffness comes from
//! the load or from the mass carried, whichever is less, and none is carried over: bodies between joints that are
//! stiffer than necessary hardly move in a few iterations, and over-stiff joints damp free fall. The rows that hold a
//! point share one stiffness from the load of all of them; separate values would change while the joint turns, and add
//! energy. Only part of a joint's pull is a load: see `load_share`. A joint that stiff springs bend begins with as much
//! stiffness as they have: see [`STIFFEST`].

use crate::gpu::{Load, Store, abs, finite, fmax, fmin, glam::Vec3, sqrt};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::joints::{Joint, JointEnds, JointRow, RowState, axis, flag, role, unit};
use crate::state::rigid::{Body, NONE, Params, gravity, held_back, kind, option};
use crate::{layout, stage};

stage! {
    "joints_start" each 64 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 poses: Pose,
        read 3 joints: Joint,
        read 4 joint_rows: JointRow,
        update 5 row_states: RowState,
        read 6 load_shares: f32,
        read 7 velocities: Twist,
        read 8 previous: Vec3,
    }
}

layout! {
    /// Push constants of `joints_start`.
    pub struct Push {
        /// Number of joints.
        pub count: u32,
    }
}

/// Most units with which a joint begins for the sake of springs that turn its bodies. Those have their stiffness from
/// the first iteration on, and what holds the point as much of it at the distance of the bodies: a row that is to hold
/// something and is softer than a spring beside it gives way instead of the spring. The pole of the flag (Fig. 5), 20
/// segments with springs of 500 units and a load of some, was off by 5% of a segment at 5 iterations and swayed ever
/// more; so was a pole with nothing on it. Springs softer than a unit change nothing. Bounded, because a joint that is
/// stiffer than what it carries holds its bodies still in a few iterations: with 10,000 a pole of 40 bends by a quarter
/// of what it does with many iterations.
pub const STIFFEST: f32 = 1000.0;

/// Starts one joint.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let joint = b.joints.at(item);
    if joint.rows == 0 || joint.flags & flag::BROKEN != 0 {
        return;
    }
    let params = b.params.at(0);
    let world = joint.body_b == NONE;
    let index = if world { joint.body_a } else { joint.body_b };
    let (pose_a, body_a) = (b.poses.at(joint.body_a), b.bodies.at(joint.body_a));
    let (mut pose_b, mut body_b) = (b.poses.at(index), b.bodies.at(index));
    if world {
        pose_b = Pose { position: Vec3::ZERO, rotation: Rotation::IDENTITY };
        body_b = body_b.turned_into(kind::STATIC);
    }
    let ends = JointEnds::new(&joint, pose_a.position - pose_b.position, &pose_a.rotation, &pose_b.rotation);
    let rows = joint.rows_within(b.joint_rows.len());
    let (mut square, mut bends) = (0.0, 0.0);
    let mut r = 0;
    while r < rows {
        let (row, state) = (b.joint_rows.at(joint.first_row + r), b.row_states.at(joint.first_row + r));
        square += if row.holds_point() & finite(state.lambda) { state.lambda * state.lambda } else { 0.0 };
        bends = fmax(bends, if row.turns() & (row.role == role::SPRING) { row.stiffest(params.dt) } else { 0.0 });
        r += 1;
    }
    // Both bodies have the same share if both are dynamic, because the joint puts them into one island.
    let share = b.load_shares.at(if body_a.is_dynamic() { joint.body_a } else { index });
    let pull = params.warm_joint * sqrt(square);
    let by_row = params.options & option::ROWS != 0;
    let falls = gravity(&b.params, body_a.world_with(&body_b));
    let held = held_back(&params, falls, &body_a, b.velocities.at(joint.body_a).linear, b.previous.at(joint.body_a))
        + held_back(&params, falls, &body_b, b.velocities.at(index).linear, b.previous.at(index));
    let mut r = 0;
    while r < rows {
        let row = b.joint_rows.at(joint.first_row + r);
        let mut state = b.row_states.at(joint.first_row + r);
        let measure = ends.measure(row.axis);
        let (unit, heavier) = unit(&measure, &body_a, &pose_a.rotation, &body_b, &pose_b.rotation, params.dt);
        let length = if row.turns() { 1.0 } else { joint.length };
        let side = if row.role == role::LIMIT { row.nearer(measure.value) } else { 0.0 };
        // The multiplier is dropped if it belongs to the other limit.
        let carried = if state.side == side { params.warm_joint } else { 0.0 };
        // A multiplier that is not finite is dropped as well.
        state.lambda = if finite(state.lambda) { state.lambda * carried } else { 0.0 };
        let stiffest = row.stiffest(params.dt);
        let spring = row.role == role::SPRING;
        let gentle = row.ramps_gently();
        let asks = if row.holds_point() { bends / fmax(joint.length * joint.length, 1e-30) } else { 0.0 };
        let asks = if spring & row.turns() { stiffest } else { asks };
        let more = if by_row { 0.0 } else { fmin(asks / fmax(heavier, 1e-30), STIFFEST) };
        let start = if gentle { params.k_spring } else { params.k_joint + if more > 1.0 { more } else { 0.0 } };
        // Started with the unit of the heavier body alone, because that is the one the joint has to hold.
        let mut k = start * if gentle || by_row { unit } else { heavier };
        if row.grows() && gentle {
            k += params.k_load_spring * abs(state.lambda) / length;
        } else if row.grows() {
            let mut load = if row.holds_point() { pull } else { abs(state.lambda) };
            load *= if row.turns() { 1.0 } else { share };
            load *= if row.axis == axis::DISTANCE { params.taut } else { 1.0 };
            // The smaller of what the load and what the carried mass ask for; rows about angles use only the load.
            let carried = params.k_carried_joint / fmax(held, 1e-30);
            let per_load = if row.turns() { params.k_load_joint } else { fmin(params.k_load_joint / length, carried) };
            k += per_load * load;
        }
        if by_row {
            // Eq. 19, row by row. Stiffness that belongs to the other limit is dropped.
            let kept = if state.side == side { params.warm_stiffness * state.k } else { 0.0 };
            k = fmax(kept, start * unit);
        }
        state.k = fmin(k, params.k_max * unit);
        if spring {
            let whole = params.options & option::VBD != 0;
            state.k = if whole { stiffest } else { fmin(state.k, stiffest) };
        }
        state.start = measure.value;
        state.unit = unit;
        state.side = side;
        b.row_states.put(joint.first_row + r, state);
        r += 1;
    }
}
