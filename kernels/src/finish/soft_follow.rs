//! Behind all that moves bodies: particles go where their hard attachments hold them, as far as few iterations have
//! left them somewhere else. As behind joints, that adds no velocity, so it adds no momentum. The multiplier has the
//! force that holds the particle; what it missed in this step is not carried on as an error, which it would then have
//! to take back slowly (Eq. 18) while the body moves on. Reads poses; writes `soft_positions`.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, finite, fmin, least, sqrt};
use crate::math::Pose;
use crate::state::rigid::NONE;
use crate::state::soft::{Attachment, AttachmentState, HARD, Particle, SOFT_ROW_WORDS, soft_entry};
use crate::{layout, stage};

stage! {
    "soft_follow" each 64 {
        read 0 particles: Particle,
        read 1 soft_entries: u32,
        read 2 attachments: Attachment,
        read 3 attachment_states: AttachmentState,
        read 4 poses: Pose,
        read 5 soft_pair_rows: u32,
        update 6 soft_positions: Vec3,
    }
}

layout! {
    /// Push constants of `soft_follow`.
    pub struct Push {
        /// Number of attachments.
        pub count: u32,
        /// Not 0: soft surfaces meet each other.
        pub pairs: u32,
    }
}

/// Farthest that a particle follows in a step, as a part of the distance to its neighbours: as with joints, one that a
/// body was taken away from comes back in ten steps. Pairs of soft surfaces that are farther apart are listed.
pub const FOLLOWS: f32 = 0.1;

/// Whether an attachment holds its particle hard.
#[inline(always)]
fn holds(attachment: &Attachment, state: &AttachmentState) -> bool {
    (attachment.there != 0) & (state.broken == 0) & (attachment.stiffness >= HARD)
}

/// Moves the particle of one attachment.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let attachment = b.attachments.at(item);
    if !holds(&attachment, &b.attachment_states.at(item)) {
        return;
    }
    let index = attachment.particle;
    let particle = b.particles.at(index);
    // Of several only the last moves it: attachments are the last of its entries.
    let first = least(particle.first, particle.end);
    let mut e = least(particle.end, b.soft_entries.len());
    let mut last = NONE;
    while e > first {
        e -= 1;
        let entry = b.soft_entries.at(e);
        let at = soft_entry::index(entry);
        let is_one = soft_entry::kind(entry) == soft_entry::ATTACHMENT;
        if is_one && holds(&b.attachments.at(at), &b.attachment_states.at(at)) {
            last = at;
        }
        e = if is_one & (last == NONE) { e } else { first };
    }
    // What is beside another soft surface has gone as far as it may without crossing it.
    let row = index.wrapping_mul(SOFT_ROW_WORDS);
    let beside = (push.pairs != 0) && (b.soft_pair_rows.at(row) < b.soft_pair_rows.at(row.wrapping_add(1)));
    if (last != item) | beside | (particle.mass <= 0.0) {
        return;
    }
    let mut place = attachment.anchor;
    if attachment.body != NONE {
        place = b.poses.at(attachment.body).point(attachment.anchor);
    }
    let at = b.soft_positions.at(index);
    let way = place - at;
    let length = sqrt(way.length_squared());
    let part = if length > 0.0 { fmin(1.0, FOLLOWS * particle.length / length) } else { 0.0 };
    let to = at + way * part;
    if finite(to.x) & finite(to.y) & finite(to.z) {
        b.soft_positions.put(index, to);
    }
}
