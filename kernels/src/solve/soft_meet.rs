//! The warm start of contacts of particles: what the last step knew of the same particle and collider, which part of
//! the error is left alone, and how stiff it is (Eq. 18, 19).

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, abs, fmax, fmin, sqrt};
use crate::math::Pose;
use crate::queries::records::generation_of;
use crate::solve::soft::contact::{ALPHA_CONTACT, DRIFT, K_GROUND, K_TOUCH, ROUNDING, SLOP};
use crate::solve::soft::{K_BODY, WARM_STIFFNESS, body_gives, gives};
use crate::state::material::{combine, rule_of, traits};
use crate::state::rigid::{Body, Collider, NONE, Params};
use crate::state::soft::{Particle, SOFT_CONTACTS, SoftCached, SoftContact};
use crate::{layout, stage};

stage! {
    "soft_meet" each 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 bodies: Body,
        read 3 colliders: Collider,
        read 4 soft_positions: Vec3,
        read 5 starts: Pose,
        read 6 soft_cached: SoftCached,
        update 7 soft_contacts: SoftContact,
        update 8 soft_held: u32,
    }
}

layout! {
    /// Push constants of `soft_meet`.
    pub struct Push {
        /// Places for contacts.
        pub count: u32,
    }
}

/// Starts one.
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
    let (dt, particle, collider) = (b.params.at(0).dt, b.particles.at(index), b.colliders.at(contact.collider));
    let (body, start) = (b.bodies.at(contact.body), b.starts.at(contact.body));
    let mut moves = gives(&particle, dt);
    let moved = body.is_dynamic();
    if moved {
        moves += body_gives(&body, contact.point, dt);
    }
    contact.unit = 1.0 / fmax(moves, 1e-30);
    contact.most = contact.unit * if moved { K_BODY } else { K_GROUND };
    contact.k = if moved { K_TOUCH * contact.unit } else { contact.most };
    let rule = rule_of(0, collider.traits, traits::FRICTION);
    contact.friction = combine(rule, particle.friction, collider.friction.sliding);

    let (n, at) = (contact.normal, b.soft_positions.at(index));
    let off = at - start.point(contact.point);
    let gap = off.dot(n) - particle.radius;
    let mut slid = Vec3::ZERO;
    let mut i = 0;
    while i < SOFT_CONTACTS {
        let cached = b.soft_cached.at(index.wrapping_mul(SOFT_CONTACTS).wrapping_add(i));
        let same =
            (cached.collider == contact.collider.wrapping_add(1)) & (cached.generation == generation_of(&collider));
        if same {
            let way = at - start.point(cached.anchor);
            let across = way - n * way.dot(n);
            // What has rolled on sticks elsewhere.
            let near = across.length_squared() < DRIFT * DRIFT * particle.length * particle.length;
            if (cached.sticks != 0) & near {
                contact.friction = combine(rule, particle.friction, collider.friction.fixed);
                (slid, contact.sticks, contact.anchor) = (across, 1, cached.anchor);
            }
            if moved {
                contact.k = fmax(contact.k, fmin(cached.k * WARM_STIFFNESS, contact.most));
            }
            // Turned into the plane that is there now, and into its cone.
            let along = fmax(0.0, cached.force.dot(n));
            let across = cached.force - n * cached.force.dot(n);
            let (size, bound) = (sqrt(across.length_squared()), contact.friction * along);
            let part = if size > bound { bound / fmax(size, 1e-30) } else { 1.0 };
            contact.lambda = n * along + across * part;
            if along > 0.0 {
                b.soft_held.or(particle.owner, 1);
            }
        }
        i += 1;
    }
    let slop = SLOP * particle.length + ROUNDING * (abs(at.x) + abs(at.y) + abs(at.z));
    let beyond = if gap > 0.0 { fmax(0.0, gap - slop) } else { fmin(0.0, gap + slop) * (1.0 - ALPHA_CONTACT) };
    let way = sqrt(slid.length_squared());
    let returns = fmax(0.0, way - slop) * (1.0 - ALPHA_CONTACT) / fmax(way, 1e-30);
    contact.error = n * beyond + slid * returns;
    b.soft_contacts.put(item, contact);
}
