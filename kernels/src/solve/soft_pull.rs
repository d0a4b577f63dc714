//! What particles ask of every rigid body that they are held to or touch, for the sweep that follows: particles do not
//! move during the sweep of the bodies, and a body moves once in it, so this is what it would have found itself. A body
//! has as many particles as there are: all lanes of a subgroup share its row.

use crate::gpu::glam::Vec3;
use crate::gpu::{Group, Load, Store};
use crate::math::{Pose, Twist};
use crate::solve::soft::contact::{gone, press_held, pressed};
use crate::solve::soft::{Hook, attached, hold};
use crate::solve::system::{System, Systems};
use crate::state::rigid::EntryRange;
use crate::state::soft::{Attachment, AttachmentState, SOFT_CONTACTS, SOFT_ROW_WORDS, SoftContact, SoftPull};
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
        read 10 soft_contacts: SoftContact,
    }
}

layout! {
    /// Push constants of `soft_pull`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Attachments; contacts are the entries behind them.
        pub attachments: u32,
    }
}

/// Bodies of a workgroup; its subgroups take them in turn.
pub const BODIES: u32 = 4;

/// Adds up the particles of this workgroup's bodies.
#[inline(always)]
pub fn run(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    // All lanes of a subgroup make the same rounds, because the sums need all lanes.
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
                if index < push.attachments {
                    let (attachment, state) = (b.attachments.at(index), b.attachment_states.at(index));
                    let hook = Hook::of(&attachment, &b.starts, &b.deltas, &b.poses);
                    let at = attachment.particle;
                    let off = hook.off(b.soft_positions.at(at), b.soft_deltas.at(at));
                    attached(&mut system, hold(&state, off) * -1.0, state.k, hook.lever);
                } else {
                    let place = index - push.attachments;
                    let (contact, at) = (b.soft_contacts.at(place), place / SOFT_CONTACTS);
                    let (lever, way) = gone(&contact, b.soft_deltas.at(at), &b.starts, &b.deltas, &b.poses);
                    let press = press_held(&contact, way);
                    pressed(&mut system, press.force * -1.0, &press, contact.normal, lever);
                }
            }
            e = e.wrapping_add(group.width());
        }
        if group.any(row.start < row.end) {
            let total = Systems::<f32>::gather(&system).over_lanes(group, group.width());
            if on && group.slot == 0 {
                b.soft_pulls.put(body, SoftPull::new(&total));
            }
        }
        turn += group.subgroups;
    }
}
