//! What particles ask of every rigid body that they are held to, for the sweep that follows: particles do not move during
//! the sweep of the bodies, and a body moves once in it, so this is what it would have found itself. A body has as many
//! particles as there are: all lanes of a subgroup share its row.

use crate::gpu::glam::Vec3;
use crate::gpu::{Group, Load, Store, Vector};
use crate::math::{Pose, Twist};
use crate::solve::soft::{attached, hold, lever, off};
use crate::solve::system::{System, Systems};
use crate::state::rigid::EntryRange;
use crate::state::soft::{Attachment, AttachmentState, SOFT_ROW_WORDS, SoftPull};
use crate::{layout, stage};

stage! {
    "soft_pull" group 64 {
        read 0 soft_rows: u32,
        read 1 soft_list: u32,
        read 2 attachments: Attachment,
        read 3 attachment_states: AttachmentState,
        read 4 soft_positions: Vec3,
        read 5 soft_deltas: Vec3,
        read 6 starts: Pose,
        read 7 poses: Pose,
        read 8 deltas: Twist,
        write 9 soft_pulls: SoftPull,
    }
}

layout! {
    /// Push constants of `soft_pull`.
    pub struct Push {
        /// Bodies.
        pub count: u32,
    }
}

/// Bodies of a workgroup: each subgroup takes the next one.
pub const BODIES: u32 = 4;

/// Adds up a workgroup's bodies.
#[inline(always)]
pub fn run(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    // The same rounds for all lanes of a subgroup: the sums want them all.
    let mut turn = group.subgroup;
    while turn < BODIES {
        let body = group.index.wrapping_mul(BODIES).wrapping_add(turn);
        let on = body < push.count;
        let mut row = EntryRange::EMPTY;
        if on {
            let first = body.wrapping_mul(SOFT_ROW_WORDS);
            let there = EntryRange { start: b.soft_rows.at(first), end: b.soft_rows.at(first.wrapping_add(1)) };
            row = there.within(b.soft_list.len());
        }
        let mut system = System::none();
        let mut e = row.start.wrapping_add(group.slot);
        while group.any(e < row.end) {
            if e < row.end {
                let index = b.soft_list.at(e);
                let (attachment, state) = (b.attachments.at(index), b.attachment_states.at(index));
                let lever = lever(&attachment, false, &b.poses.at(body));
                let at = attachment.particle;
                let (start, moved) = (b.starts.at(body).position, b.deltas.at(body));
                let off = off(b.soft_positions.at(at), b.soft_deltas.at(at), start, &moved, lever);
                attached(&mut system, hold(&state, off) * -1.0, state.k, lever);
            }
            e = e.wrapping_add(group.width());
        }
        if group.any(row.start < row.end) {
            let one = |v: Vec3| Vector::new(v.x, v.y, v.z);
            let all = Systems::<f32> {
                ll: one(system.ll),
                ll_off: one(system.ll_off),
                al: [one(system.al[0]), one(system.al[1]), one(system.al[2])],
                aa: one(system.aa),
                aa_off: one(system.aa_off),
                force: one(system.force),
                torque: one(system.torque),
            };
            let sum = all.over_lanes(group, group.width());
            let back = |v: Vector<f32>| Vec3::new(v.x, v.y, v.z);
            let total = System {
                ll: back(sum.ll),
                ll_off: back(sum.ll_off),
                al: [back(sum.al[0]), back(sum.al[1]), back(sum.al[2])],
                aa: back(sum.aa),
                aa_off: back(sum.aa_off),
                force: back(sum.force),
                torque: back(sum.torque),
            };
            if on && group.slot == 0 {
                b.soft_pulls.put(body, SoftPull::new(&total));
            }
        }
        turn += group.subgroups;
    }
}
