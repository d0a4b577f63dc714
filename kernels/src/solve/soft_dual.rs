//! Dual pass of springs and attachments (Algorithm 1, lines 26 to 35): hard ones get a multiplier (Eq. 11) and grow by
//! Eq. 12; those with a finite stiffness grow towards it (Eq. 16). Reads deltas; writes `spring_states` and
//! `attachment_states`.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, abs, sqrt};
use crate::math::{Pose, Twist};
use crate::solve::soft::{Hook, K_BODY, K_MOST, grown, most};
use crate::state::soft::{Attachment, AttachmentState, HARD, Particle, Spring, SpringState};
use crate::{layout, stage};

stage! {
    "soft_dual" each 64 {
        read 0 particles: Particle,
        read 1 soft_positions: Vec3,
        read 2 soft_deltas: Vec3,
        read 3 springs: Spring,
        read 4 attachments: Attachment,
        read 5 starts: Pose,
        read 6 poses: Pose,
        read 7 deltas: Twist,
        update 8 spring_states: SpringState,
        update 9 attachment_states: AttachmentState,
    }
}

layout! {
    /// Push constants of `soft_dual`.
    pub struct Push {
        /// Number of springs; items from there on are attachments.
        pub springs: u32,
        /// Number of attachments.
        pub attachments: u32,
    }
}

/// Updates one spring or attachment.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item < push.springs {
        let (spring, mut state) = (b.springs.at(item), b.spring_states.at(item));
        if spring.stiffness <= 0.0 {
            return;
        }
        let start = b.soft_positions.at(spring.b) - b.soft_positions.at(spring.a);
        let apart = start + (b.soft_deltas.at(spring.b) - b.soft_deltas.at(spring.a));
        let error = sqrt(apart.length_squared()) - spring.rest - state.left;
        if spring.stiffness >= HARD {
            state.lambda += state.k * error;
        }
        let most = most(spring.stiffness, state.unit, K_MOST);
        state.k = grown(state.k, state.unit, most, abs(error), spring.rest);
        b.spring_states.put(item, state);
    } else if item - push.springs < push.attachments {
        let place = item - push.springs;
        let (attachment, mut state) = (b.attachments.at(place), b.attachment_states.at(place));
        if (attachment.there != 0) & (state.broken == 0) {
            let hook = Hook::of(&attachment, &b.starts, &b.deltas, &b.poses);
            let at = attachment.particle;
            let off = hook.off(b.soft_positions.at(at), b.soft_deltas.at(at)) - state.left;
            if attachment.stiffness >= HARD {
                state.lambda += off * state.k;
            }
            let error = sqrt(off.length_squared());
            let most = most(attachment.stiffness, state.unit, K_BODY);
            state.k = grown(state.k, state.unit, most, error, b.particles.at(at).length);
            b.attachment_states.put(place, state);
        }
    }
}
