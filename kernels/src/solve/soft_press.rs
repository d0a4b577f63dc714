//! Multipliers and stiffness of contacts of particles, or of triangles (Algorithm 1, lines 26 to 35).

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, fmin};
use crate::math::{Pose, Twist};
use crate::solve::soft::contact::{Spot, gone, press};
use crate::solve::soft::grown;
use crate::state::rigid::NONE;
use crate::state::soft::{Particle, SoftContact};
use crate::{layout, stage};

stage! {
    "soft_press" each 64 {
        read 0 particles: Particle,
        read 1 soft_deltas: Vec3,
        read 2 starts: Pose,
        read 3 deltas: Twist,
        update 4 soft_contacts: SoftContact,
        read 5 soft_triangles: u32,
    }
}

layout! {
    /// Push constants of `soft_press`.
    pub struct Push {
        /// Places for contacts.
        pub count: u32,
        /// Not 0: they are contacts of triangles.
        pub triangles: u32,
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
    let spot = Spot::of(item, &contact, push.triangles != 0, &b.soft_triangles);
    let (_, way) = gone(&contact, spot.of_list(&b.soft_deltas), &b.starts, &b.deltas);
    let overlap = -fmin(0.0, (contact.error + way).dot(contact.normal));
    contact.lambda = press(&contact, way).force;
    contact.k = grown(contact.k, contact.unit, contact.most, overlap, b.particles.at(spot.a).length);
    b.soft_contacts.put(item, contact);
}
