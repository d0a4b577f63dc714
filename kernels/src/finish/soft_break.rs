//! What every attachment pulled its particle with in the step, and which of them it was too much for. As with joints, the
//! multiplier is compared with the limit. One that has let go does nothing from the next step on.

use crate::detect::gate::counter;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, sqrt};
use crate::math::{Pose, Twist};
use crate::solve::soft::{lever, off};
use crate::state::events::{EventRecord, append, event};
use crate::state::rigid::NONE;
use crate::state::soft::{Attachment, AttachmentState, HARD};
use crate::{layout, stage};

stage! {
    "soft_break" each 64 {
        read 0 soft_positions: Vec3,
        read 1 soft_deltas: Vec3,
        read 2 attachments: Attachment,
        read 3 starts: Pose,
        read 4 poses: Pose,
        read 5 deltas: Twist,
        update 6 attachment_states: AttachmentState,
        update 7 counters: u32,
        write 8 events: EventRecord,
    }
}

layout! {
    /// Push constants of `soft_break`.
    pub struct Push {
        /// Attachments.
        pub count: u32,
        /// Not 0: there are no multipliers, the force is that of the stiffness.
        pub penalty: u32,
        /// Room for events.
        pub events: u32,
    }
}

/// Looks at one attachment.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let (attachment, mut state) = (b.attachments.at(item), b.attachment_states.at(item));
    if (attachment.there == 0) | (state.broken != 0) {
        return;
    }
    let mut pull = state.lambda;
    if (push.penalty != 0) | (attachment.stiffness < HARD) {
        let to_world = attachment.body == NONE;
        let body = if to_world { 0 } else { attachment.body };
        let lever = lever(&attachment, to_world, &b.poses.at(body));
        let mut moved = b.deltas.at(body);
        let mut start = b.starts.at(body).position;
        if to_world {
            moved = Twist { linear: Vec3::ZERO, angular: Vec3::ZERO };
            start = Vec3::ZERO;
        }
        let at = attachment.particle;
        pull = off(b.soft_positions.at(at), b.soft_deltas.at(at), start, &moved, lever) * state.k;
    }
    state.force = pull * -1.0;
    // The square of no limit is infinite, and nothing is beyond that.
    if pull.length_squared() > attachment.max_force * attachment.max_force {
        state.broken = 1;
        state.lambda = Vec3::ZERO;
        let step = b.counters.at(counter::STEPS).wrapping_sub(1);
        let mut record = EventRecord::new(event::DETACHED, item, step);
        record.value = Vec3::new(sqrt(pull.length_squared()), 0.0, 0.0);
        append(&mut b.counters, &mut b.events, push.events, record);
    }
    b.attachment_states.put(item, state);
}
