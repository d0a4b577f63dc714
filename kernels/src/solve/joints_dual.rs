//! Multipliers and stiffness of every joint after the bodies have moved (Algorithm 1, lines 26 to 35; Eq. 11, 12 and 16).

use crate::gpu::{Load, Store, abs, fmax, fmin};
use crate::math::{Pose, Twist};
use crate::solve::joints::{Joint, JointEnds, JointRow, JointRules, RowState, flag, role};
use crate::state::rigid::{Params, option};
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
    }
}

layout! {
    /// Push constants of `joints_dual`.
    pub struct Push {
        /// Joints.
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
    let mut r = 0;
    while r < rows {
        let row = b.joint_rows.at(joint.first_row + r);
        let mut state = b.row_states.at(joint.first_row + r);
        let asked = row.ask(&rules, &state, &ends.measure(row.axis), joint.length);
        let length = if row.turns() { 1.0 } else { joint.length };
        // Section 4, "Bounding the Dual Variables".
        let highest = params.k_max * state.unit;
        let strongest = highest * length;
        state.lambda = fmax(-strongest, fmin(asked.force, strongest));
        if asked.inside && (row.grows() || by_row) {
            let spring = row.role == role::SPRING;
            let gentle = row.ramps_gently();
            let beta = if gentle { params.beta_spring } else { params.beta_joint };
            // Eq. 12 and 16 in the row's own units.
            let grown = state.k + beta * state.unit / length * abs(asked.error);
            // And never less than the load of a spring needs.
            let least = if gentle { params.k_load_spring * abs(state.lambda) / length } else { 0.0 };
            state.k = fmin(fmax(grown, least), highest);
            if spring {
                state.k = fmin(state.k, row.stiffest(params.dt));
            }
        }
        b.row_states.put(joint.first_row + r, state);
        r += 1;
    }
}
