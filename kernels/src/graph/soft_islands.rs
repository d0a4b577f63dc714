//! Finds which soft bodies push or hold each other, and which bodies they push or hold, so that `soft_momentum` can give
//! all of them together the momentum that they have. Nodes are soft bodies, then bodies. On the ground are those that
//! something else acts on: what does not move, and bodies with contacts or joints of their own. Writes `parents`, the
//! island of every node, and the keys by which members are sorted.

use crate::gpu::{Load, Store};
use crate::graph::forest::{GROUND, apart, first, join};
use crate::state::rigid::{Body, NONE, row};
use crate::state::soft::{Attachment, AttachmentState, Particle, SOFT_CONTACTS, SOFT_ROW_WORDS, SoftContact};
use crate::state::soft_pairs::{SoftPair, pair_flag};
use crate::{layout, stage};

stage! {
    "soft_islands" each 64 {
        read 0 particles: Particle,
        read 1 bodies: Body,
        read 2 rows: u32,
        read 3 soft_rows: u32,
        read 4 soft_contacts: SoftContact,
        read 5 attachments: Attachment,
        read 6 attachment_states: AttachmentState,
        read 7 soft_pair_places: u32,
        read 8 soft_pairs: SoftPair,
        update 9 parents: u32,
        write 10 keys: u32,
        write 11 members: u32,
        write 12 island_of: u32,
    }
}

layout! {
    /// Push constants of `soft_islands`.
    pub struct Push {
        /// What to look at: one of [`phase`].
        pub phase: u32,
        /// How many of them there are; of pairs, how many there is room for.
        pub count: u32,
        /// Number of soft bodies.
        pub soft_bodies: u32,
        /// Number of soft bodies and bodies: the key of those in no island.
        pub nodes: u32,
        /// Number of pieces: the number of pairs stands behind their places.
        pub faces: u32,
    }
}

/// Phases of the stage.
pub mod phase {
    /// Makes every node a set of its own.
    pub const APART: u32 = 0;
    /// Joins by contacts of particles with bodies.
    pub const CONTACTS: u32 = 1;
    /// Joins by attachments.
    pub const ATTACHMENTS: u32 = 2;
    /// Joins by contacts of soft surfaces.
    pub const PAIRS: u32 = 3;
    /// Writes the island of every node.
    pub const SETTLE: u32 = 4;
    /// Joins by contacts of soft surfaces that there may be, whether they push or not.
    pub const NEAR: u32 = 5;
}

/// The number of a body's node in the forest.
#[inline(always)]
fn of_body(body: u32, push: &Push, b: &Bindings<'_>) -> u32 {
    let there = body < b.bodies.len();
    let moves = there && b.bodies.at(body).is_dynamic();
    if moves { body.wrapping_add(push.soft_bodies).wrapping_add(1) } else { GROUND }
}

/// Looks at one of what the phase is about.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    if push.phase == phase::APART {
        let mut free = true;
        if item >= push.soft_bodies {
            let body = item - push.soft_bodies;
            let at = body.wrapping_mul(SOFT_ROW_WORDS);
            let held = b.soft_rows.at(at) < b.soft_rows.at(at.wrapping_add(1));
            free = held & b.bodies.at(body).is_dynamic() & (row(&b.rows, body, u32::MAX).count() == 0);
        }
        apart(&mut b.parents, item, free);
    } else if push.phase == phase::SETTLE {
        let first = first(&mut b.parents, item.wrapping_add(1));
        let key = if first == GROUND { push.nodes } else { first - 1 };
        b.keys.put(item, key);
        b.members.put(item, item);
        b.island_of.put(item, key);
    } else {
        let (mut one, mut other) = (GROUND, GROUND);
        if push.phase == phase::CONTACTS {
            let contact = b.soft_contacts.at(item);
            if (contact.collider != NONE) & (contact.lambda.dot(contact.normal) > 0.0) {
                one = b.particles.at(item / SOFT_CONTACTS).owner.wrapping_add(1);
                other = of_body(contact.body, push, b);
            }
        } else if push.phase == phase::ATTACHMENTS {
            let attachment = b.attachments.at(item);
            if (attachment.there != 0) & (b.attachment_states.at(item).broken == 0) {
                one = b.particles.at(attachment.particle).owner.wrapping_add(1);
                other = of_body(attachment.body, push, b);
            }
        } else if item < b.soft_pair_places.at(push.faces) {
            let pair = b.soft_pairs.at(item);
            let joins = (push.phase == phase::NEAR) | (pair.lambda.dot(pair.normal) > 0.0);
            if joins & (pair.flags & pair_flag::INNER == 0) {
                one = b.particles.at(pair.a).owner.wrapping_add(1);
                other = b.particles.at(pair.d).owner.wrapping_add(1);
            }
        }
        if one != GROUND {
            join(&mut b.parents, one, other);
        }
    }
}
