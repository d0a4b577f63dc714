//! Writes the force of every joint in the step, and breaks joints whose limit it exceeds. The multiplier is compared
//! with the limit, not stiffness times error, because it is the force whatever the stiffness. A broken joint does
//! nothing from the next step on. A joint whose force is not finite breaks whatever its limits, because one of its
//! bodies is about to be disabled and would take the other along. Writes `joint_forces`, `joints` and `events`.

use crate::detect::gate::counter;
use crate::gpu::{Load, Store, finite, glam::Vec3, sqrt};
use crate::math::{Pose, Twist};
use crate::solve::joints::{Joint, JointEnds, JointForce, JointRow, JointRules, RowState, flag};
use crate::state::events::{EventRecord, append, event};
use crate::state::rigid::Params;
use crate::{layout, stage};

stage! {
    "joints_break" each 64 {
        read 0 params: Params,
        read 1 starts: Pose,
        read 2 poses: Pose,
        read 3 deltas: Twist,
        read 4 joint_rows: JointRow,
        read 5 row_states: RowState,
        update 6 joints: Joint,
        write 7 joint_forces: JointForce,
        update 8 counters: u32,
        write 9 events: EventRecord,
    }
}

layout! {
    /// Push constants of `joints_break`.
    pub struct Push {
        /// Number of joints.
        pub count: u32,
        /// Not 0: there are no multipliers, so the force is stiffness times error.
        pub penalty: u32,
        /// Capacity of the list of events.
        pub events: u32,
    }
}

/// Looks at one joint.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let mut joint = b.joints.at(item);
    let mut force = Vec3::ZERO;
    let mut torque = Vec3::ZERO;
    if joint.rows > 0 && joint.flags & flag::BROKEN == 0 {
        let rules = JointRules::new(&b.params.at(0), false);
        let ends = JointEnds::moving(&joint, &b.starts, &b.deltas, &b.poses);
        let rows = joint.rows_within(b.joint_rows.len());
        let mut r = 0;
        while r < rows {
            let row = b.joint_rows.at(joint.first_row + r);
            let state = b.row_states.at(joint.first_row + r);
            let measure = ends.measure(row.axis);
            let pulls =
                if push.penalty != 0 { row.ask(&rules, &state, &measure, joint.length).force } else { state.lambda };
            if row.turns() {
                torque -= measure.turn_a * pulls;
            } else {
                force -= measure.linear * pulls;
            }
            r += 1;
        }
        // A joint without a limit has an infinite one, whose square nothing exceeds.
        let beyond = |v: Vec3, most: f32| v.length_squared() > most * most;
        let known = finite(force.x) & finite(force.y) & finite(force.z);
        let known = known & finite(torque.x) & finite(torque.y) & finite(torque.z);
        if !known {
            force = Vec3::ZERO;
            torque = Vec3::ZERO;
        }
        if !known || beyond(force, joint.max_force) || beyond(torque, joint.max_torque) {
            joint.flags |= flag::BROKEN;
            b.joints.put(item, joint);
            let step = b.counters.at(counter::STEPS).wrapping_sub(1);
            let (force, torque) = (sqrt(force.length_squared()), sqrt(torque.length_squared()));
            let mut record = EventRecord::new(event::BROKEN, item, step);
            record.value = Vec3::new(force, torque, 0.0);
            append(&mut b.counters, &mut b.events, push.events, record);
        }
    }
    b.joint_forces.put(item, JointForce { force, torque });
}
