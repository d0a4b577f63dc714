//! Contacts of particles for the next step: forces, and where those that stick began to.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store};
use crate::math::{Pose, Twist};
use crate::queries::records::generation_of;
use crate::solve::soft::contact::{gone, press};
use crate::state::rigid::{Collider, NONE};
use crate::state::soft::{SOFT_CONTACTS, SoftCached, SoftContact};
use crate::{layout, stage};

stage! {
    "soft_keep" each 64 {
        read 0 soft_contacts: SoftContact,
        read 1 colliders: Collider,
        read 2 soft_positions: Vec3,
        read 3 soft_deltas: Vec3,
        read 4 starts: Pose,
        read 5 poses: Pose,
        read 6 deltas: Twist,
        write 7 soft_cached: SoftCached,
    }
}

layout! {
    /// Push constants of `soft_keep`.
    pub struct Push {
        /// Places for contacts.
        pub count: u32,
    }
}

/// Keeps one.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let contact = b.soft_contacts.at(item);
    let (mut collider, mut generation, mut sticks, mut anchor) = (0, 0, 0, Vec3::ZERO);
    if contact.collider != NONE {
        let index = item / SOFT_CONTACTS;
        let delta = b.soft_deltas.at(index);
        let (_, way) = gone(&contact, delta, &b.starts, &b.deltas, &b.poses);
        let centre = b.starts.at(contact.body).position;
        let off = (b.soft_positions.at(index) - centre) + (delta - b.deltas.at(contact.body).linear);
        collider = contact.collider.wrapping_add(1);
        generation = generation_of(&b.colliders.at(contact.collider));
        sticks = press(&contact, way).sticks as u32;
        let here = b.poses.at(contact.body).rotation.inverse().apply(off);
        anchor = if contact.sticks != 0 { contact.anchor } else { here };
    }
    let SoftContact { lambda: force, k, dropped, .. } = contact;
    b.soft_cached.put(item, SoftCached { collider, generation, force, anchor, k, sticks, dropped });
}
