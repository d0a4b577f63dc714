//! Multipliers and stiffness of contacts of particles (Algorithm 1, lines 26 to 35).

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, fmin};
use crate::math::{Pose, Twist};
use crate::solve::soft::contact::{gone, press};
use crate::solve::soft::grown;
use crate::state::rigid::NONE;
use crate::state::soft::{Particle, SOFT_CONTACTS, SoftContact};
use crate::{layout, stage};

stage! {
    "soft_press" each 64 {
        read 0 particles: Particle,
        read 1 soft_deltas: Vec3,
        read 2 starts: Pose,
        read 3 poses: Pose,
        read 4 deltas: Twist,
        update 5 soft_contacts: SoftContact,
    }
}

layout! {
    /// Push constants of `soft_press`.
    pub struct Push {
        /// Places for contacts.
        pub count: u32,
    }
}

/// Updates one.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let mut contact = b.soft_contacts.at(item);
    if contact.collider == NONE {
        return;
    }
    let index = item / SOFT_CONTACTS;
    let (_, way) = gone(&contact, b.soft_deltas.at(index), &b.starts, &b.deltas, &b.poses);
    let overlap = -fmin(0.0, (contact.error + way).dot(contact.normal));
    contact.lambda = press(&contact, way).force;
    contact.k = grown(contact.k, contact.unit, contact.most, overlap, b.particles.at(index).length);
    b.soft_contacts.put(item, contact);
}
