//! Primal pass over one colour of particles: moves each to where its forces balance (Algorithm 1, lines 9 to 21). No
//! two particles of a colour share an element, and rigid bodies do not move meanwhile, so every lane reads current
//! positions. Reads elements and bodies; writes `soft_deltas` of this colour.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, finite, least};
use crate::math::{Pose, Twist};
use crate::solve::soft::Block;
use crate::solve::soft::contact::{ROUNDS, gone, press};
use crate::solve::soft::elements::elements;
use crate::state::rigid::{NONE, Params};
use crate::state::soft::{
    Attachment, AttachmentState, Hinge, Membrane, Particle, SOFT_CONTACTS, SoftContact, Spring, SpringState,
    Tetrahedron,
};
use crate::{layout, stage};

stage! {
    "soft_primal" each 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 soft_order: u32,
        read 3 soft_ranges: u32,
        read 4 soft_entries: u32,
        read 5 soft_positions: Vec3,
        read 6 soft_targets: Vec3,
        update 7 soft_deltas: Vec3,
        read 8 springs: Spring,
        read 9 spring_states: SpringState,
        read 10 membranes: Membrane,
        read 11 hinges: Hinge,
        read 12 tetrahedra: Tetrahedron,
        read 13 attachments: Attachment,
        read 14 attachment_states: AttachmentState,
        read 15 starts: Pose,
        read 16 poses: Pose,
        read 17 deltas: Twist,
        read 18 soft_contacts: SoftContact,
    }
}

layout! {
    /// Push constants of `soft_primal`.
    pub struct Push {
        /// Number of the colour.
        pub colour: u32,
    }
}

elements!();

/// Where a particle that touches something goes: which of its contacts push is found in some rounds, since one that
/// does not yet has no stiffness that would hold it back.
#[inline(always)]
fn within_contacts(index: u32, block: &Block, delta: Vec3, b: &Bindings<'_>) -> Vec3 {
    let mut next = delta;
    let mut round = 0;
    while round < ROUNDS {
        let mut with = *block;
        with.force = block.force_behind(next - delta);
        let mut i = 0;
        while i < SOFT_CONTACTS {
            let contact = b.soft_contacts.at(index.wrapping_mul(SOFT_CONTACTS).wrapping_add(i));
            if contact.collider != NONE {
                let (_, way) = gone(&contact, next, &b.starts, &b.deltas, &b.poses);
                with.add_press(&press(&contact, way), contact.normal);
            }
            i += 1;
        }
        next += with.solve();
        round += 1;
    }
    next
}

/// Moves one particle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let end = least(b.soft_ranges.at(push.colour.wrapping_add(1)), b.soft_order.len());
    let place = b.soft_ranges.at(push.colour).wrapping_add(item);
    if place >= end {
        return;
    }
    let index = b.soft_order.at(place);
    let particle = b.particles.at(index);
    let delta = b.soft_deltas.at(index);
    let block = asked_of_all(index, &particle, delta, b);
    let mut next = delta + block.solve();
    let first = index.wrapping_mul(SOFT_CONTACTS);
    if b.soft_contacts.at(first).collider != NONE {
        next = within_contacts(index, &block, delta, b);
    }
    if (particle.mass > 0.0) & finite(next.x) & finite(next.y) & finite(next.z) {
        b.soft_deltas.put(index, next);
    }
}
