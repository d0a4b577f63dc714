//! Warm start of springs and attachments (Algorithm 1, lines 5 and 6; Eq. 19). A unit of stiffness is the mass that a
//! row would move, over dt squared, so the same numbers serve grams and tons. Updates `spring_states`,
//! `attachment_states` and `soft_held`.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, fmax, sqrt};
use crate::math::Pose;
use crate::solve::soft::{ALPHA, K_BODY, K_FIXED, K_MOST, RAMP, WARM_STIFFNESS, body_gives, bounded, gives};
use crate::state::rigid::{Body, Params};
use crate::state::soft::{Attachment, AttachmentState, HARD, Particle, Spring, SpringState};
use crate::{layout, stage};

stage! {
    "soft_start" each 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 bodies: Body,
        read 3 springs: Spring,
        read 4 attachments: Attachment,
        read 5 soft_positions: Vec3,
        read 6 starts: Pose,
        update 7 spring_states: SpringState,
        update 8 attachment_states: AttachmentState,
        update 9 soft_held: u32,
    }
}

layout! {
    /// Push constants of `soft_start`.
    pub struct Push {
        /// Number of springs; items from there on are attachments.
        pub springs: u32,
        /// Number of attachments.
        pub attachments: u32,
    }
}

/// Starts one spring or attachment.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let dt = b.params.at(0).dt;
    if item < push.springs {
        let (spring, mut state) = (b.springs.at(item), b.spring_states.at(item));
        if spring.stiffness > 0.0 {
            let (one, other) = (b.particles.at(spring.a).mass, b.particles.at(spring.b).mass);
            state.unit = one * other / (fmax(one + other, 1e-30) * dt * dt);
            if spring.stiffness >= HARD {
                let apart = b.soft_positions.at(spring.b) - b.soft_positions.at(spring.a);
                state.left = (sqrt(apart.length_squared()) - spring.rest) * ALPHA;
                state.k = bounded(state.k * WARM_STIFFNESS, state.unit, K_MOST * state.unit);
            } else {
                // A finite stiffness is reached by doubling from step to step, however small the error is by then.
                (state.lambda, state.left) = (0.0, 0.0);
                state.k = bounded(state.k * RAMP, state.unit, spring.stiffness);
            }
            b.spring_states.put(item, state);
        }
    } else if item - push.springs < push.attachments {
        let place = item - push.springs;
        let (attachment, mut state) = (b.attachments.at(place), b.attachment_states.at(place));
        if (attachment.there != 0) & (state.broken == 0) {
            b.soft_held.or(b.particles.at(attachment.particle).owner, 1);
            let mut moves = gives(&b.particles.at(attachment.particle), dt);
            let mut fixed = true;
            if attachment.body < b.bodies.len() {
                let body = b.bodies.at(attachment.body);
                if body.is_dynamic() {
                    fixed = false;
                    moves += body_gives(&body, attachment.anchor, dt);
                }
            }
            state.unit = 1.0 / fmax(moves, 1e-30);
            if attachment.stiffness >= HARD {
                // A particle attached to something fixed is simply placed there: stiff from the start, and no body has
                // to follow.
                state.left = Vec3::ZERO;
                state.k = bounded(state.k * WARM_STIFFNESS, state.unit, K_BODY * state.unit);
                if fixed {
                    state.k = K_FIXED * state.unit;
                } else {
                    let place = b.starts.at(attachment.body).point(attachment.anchor);
                    state.left = (b.soft_positions.at(attachment.particle) - place) * ALPHA;
                }
            } else {
                (state.lambda, state.left) = (Vec3::ZERO, Vec3::ZERO);
                state.k = bounded(state.k * RAMP, state.unit, attachment.stiffness);
            }
            b.attachment_states.put(place, state);
        }
    }
}
