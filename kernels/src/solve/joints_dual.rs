//! Dual pass of joints: updates multipliers and stiffness of every row after the bodies have moved (Algorithm 1, lines
//! 26 to 35; Eq. 11, 12 and 16). Reads poses, deltas and targets; writes `row_states`.
//!
//! Stiffness follows the mass that a joint carries. With f its force and d the distance by which it holds its bodies
//! back from their targets, that mass is f dt^2 / d, and the stiffness mass / dt^2 = f / d can hold it. Less stiffness
//! converges slowly under load; more makes the bodies move as if they were heavier. With [`option::ROWS`] stiffness
//! grows by Eq. 12 instead.

use crate::gpu::glam::UVec4;
use crate::gpu::{Load, Store, abs, fmax, fmin, sqrt};
use crate::math::{Pose, Twist};
use crate::solve::joints::{Joint, JointEnds, JointRow, JointRules, RowState, flag, role};
use crate::solve::solver_body::SolverBody;
use crate::state::rigid::{Body, NONE, Params, option};
use crate::{layout, stage};

stage! {
    "joints_dual" each 64 {
        read 0 params: Params,
        read 1 starts: Pose,
        read 2 poses: Pose,
        read 3 deltas: Twist,
        read 4 joints: Joint,
        read 5 joint_rows: JointRow,
        update 6 row_states: RowState,
        read 7 solver_bodies: UVec4,
        read 8 body_order: u32,
        read 9 bodies: Body,
    }
}

layout! {
    /// Push constants of `joints_dual`.
    pub struct Push {
        /// Number of joints.
        pub count: u32,
    }
}

/// Updates one joint.
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
    let rules = JointRules::new(&params, false);
    let ends = JointEnds::moving(&joint, &b.starts, &b.deltas, &b.poses);
    let by_row = params.options & option::ROWS != 0;
    let rows = joint.rows_within(b.joint_rows.len());
    // How far a body is held back from its target: distance in metres, and angle in radians.
    let held_back = |index: u32| {
        let mut held = (0.0, 0.0);
        if index != NONE && b.bodies.at(index).is_dynamic() {
            let target = SolverBody::target(&SolverBody::at(&b.solver_bodies, b.body_order.at(index)));
            let back = target.rotation.then_after(&b.poses.at(index).rotation.inverse()).log();
            let way = target.position - b.deltas.at(index).linear;
            held = (sqrt(way.length_squared()), sqrt(back.length_squared()));
        }
        held
    };
    let (held_a, held_b) = (held_back(joint.body_a), held_back(joint.body_b));
    let (held, turned) = (held_a.0 + held_b.0, held_a.1 + held_b.1);
    let mut square = 0.0;
    let mut r = 0;
    while r < rows {
        let row = b.joint_rows.at(joint.first_row + r);
        let state = b.row_states.at(joint.first_row + r);
        if row.holds_point() {
            let asked = row.ask(&rules, &state, &ends.measure(row.axis), joint.length);
            square += asked.force * asked.force;
        }
        r += 1;
    }
    let pull = sqrt(square);
    let mut r = 0;
    while r < rows {
        let row = b.joint_rows.at(joint.first_row + r);
        let mut state = b.row_states.at(joint.first_row + r);
        let asked = row.ask(&rules, &state, &ends.measure(row.axis), joint.length);
        let length = if row.turns() { 1.0 } else { joint.length };
        // Eq. 11, with the bound of section 4, "Bounding the Dual Variables".
        let highest = params.k_max * state.unit;
        let strongest = highest * length;
        state.lambda = fmax(-strongest, fmin(asked.force, strongest));
        if asked.inside && (row.grows() || by_row) {
            let spring = row.role == role::SPRING;
            let gentle = row.ramps_gently();
            let beta = if gentle { params.beta_spring } else { params.beta_joint };
            // Eq. 12 and 16, with stiffness in units of `unit` and errors in joint lengths or radians.
            let grown = state.k + beta * state.unit / length * abs(asked.error);
            // A gently ramping spring has at least the stiffness that its load asks for.
            let least = if gentle { params.k_load_spring * abs(state.lambda) / length } else { 0.0 };
            let mut wanted = fmax(grown, least);
            if !gentle && !by_row {
                let load = if row.holds_point() { pull } else { abs(state.lambda) };
                let way = if row.turns() { turned } else { held };
                let secant = params.k_joint * state.unit + params.ramp_joint * load / fmax(way, 1e-30);
                wanted = fmax(state.k, fmin(secant, params.ramp_most * state.k));
            }
            state.k = fmin(wanted, highest);
            if spring {
                state.k = fmin(state.k, row.stiffest(params.dt));
            }
        }
        b.row_states.put(joint.first_row + r, state);
        r += 1;
    }
}
