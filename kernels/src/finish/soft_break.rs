//! Breaks attachments whose force in the step exceeds their limit. As with joints, the multiplier is compared with the
//! limit. A broken attachment does nothing from the next step on. Writes `attachment_states` and `events`.

use crate::detect::gate::counter;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, sqrt};
use crate::math::{Pose, Twist};
use crate::solve::soft::Hook;
use crate::state::events::{EventRecord, append, event};
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
        /// Number of attachments.
        pub count: u32,
        /// Not 0: there are no multipliers, so the force is stiffness times error.
        pub penalty: u32,
        /// Capacity of the list of events.
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
        let hook = Hook::of(&attachment, &b.starts, &b.deltas, &b.poses);
        let at = attachment.particle;
        pull = hook.off(b.soft_positions.at(at), b.soft_deltas.at(at)) * state.k;
    }
    state.force = pull * -1.0;
    // An attachment without a limit has an infinite one, whose square nothing exceeds.
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
