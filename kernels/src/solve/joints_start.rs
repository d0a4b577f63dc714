//! Every joint at the start of a step: its coordinates, which limits may push, and multipliers and stiffness to begin with
//! (Eq. 19).
//!
//! With [`option::ROWS`] every row keeps its stiffness from step to step, as published. Else:
//!
//! Stiffness is that of the load and of the mass carried, whichever asks for less, and nothing of it is carried over: bodies
//! between joints that stay stiffer than they need to be hardly move in a few iterations, and over-stiff joints damp free fall. The rows that hold a point share
//! the load of all of them; with a stiffness of their own each, it would change while the joint turns, and pump energy. Of what a joint
//! pulls with only that part is a load which is felt by something: see `load_share`.

use crate::gpu::{Load, Store, abs, finite, fmax, fmin, glam::Vec3, sqrt};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::joints::{Joint, JointEnds, JointRow, RowState, axis, flag, role, unit};
use crate::state::rigid::{Body, NONE, Params, held_back, option};
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
        /// Joints.
        pub count: u32,
    }
}

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
        body_b.kind = crate::state::rigid::kind::STATIC;
    }
    let ends = JointEnds::new(&joint, pose_a.position - pose_b.position, &pose_a.rotation, &pose_b.rotation);
    let rows = joint.rows_within(b.joint_rows.len());
    let mut square = 0.0;
    let mut r = 0;
    while r < rows {
        let (row, state) = (b.joint_rows.at(joint.first_row + r), b.row_states.at(joint.first_row + r));
        square += if row.holds_point() & finite(state.lambda) { state.lambda * state.lambda } else { 0.0 };
        r += 1;
    }
    // Those of its bodies that joints move are of one island, and have the same.
    let share = b.load_shares.at(if body_a.is_dynamic() { joint.body_a } else { index });
    let pull = params.warm_joint * sqrt(square);
    let by_row = params.options & option::ROWS != 0;
    let held = held_back(&params, &body_a, b.velocities.at(joint.body_a).linear, b.previous.at(joint.body_a))
        + held_back(&params, &body_b, b.velocities.at(index).linear, b.previous.at(index));
    let mut r = 0;
    while r < rows {
        let row = b.joint_rows.at(joint.first_row + r);
        let mut state = b.row_states.at(joint.first_row + r);
        let measure = ends.measure(row.axis);
        let (unit, heavier) = unit(&measure, &body_a, &pose_a.rotation, &body_b, &pose_b.rotation, params.dt);
        let length = if row.turns() { 1.0 } else { joint.length };
        let side = if row.role == role::LIMIT { row.nearer(measure.value) } else { 0.0 };
        // A multiplier of the other limit is of no use.
        let carried = if state.side == side { params.warm_joint } else { 0.0 };
        // What it held when it broke is of no use either, when it is no number.
        state.lambda = if finite(state.lambda) { state.lambda * carried } else { 0.0 };
        let stiffest = row.stiffest(params.dt);
        let spring = row.role == role::SPRING;
        let gentle = row.ramps_gently();
        let start = if gentle { params.k_spring } else { params.k_joint };
        // What a joint holds is the heavier of its bodies.
        let mut k = start * if gentle || by_row { unit } else { heavier };
        if row.grows() && gentle {
            k += params.k_load_spring * abs(state.lambda) / length;
        } else if row.grows() {
            let mut load = if row.holds_point() { pull } else { abs(state.lambda) };
            load *= if row.turns() { 1.0 } else { share };
            load *= if row.axis == axis::DISTANCE { params.taut } else { 1.0 };
            // The smaller of what the load and what the mass carried ask for; angles know only of the load.
            let carried = params.k_carried_joint / fmax(held, 1e-30);
            let per_load = if row.turns() { params.k_load_joint } else { fmin(params.k_load_joint / length, carried) };
            k += per_load * load;
        }
        if by_row {
            // Eq. 19, every row by itself. What a limit had on its other side is of no use.
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
