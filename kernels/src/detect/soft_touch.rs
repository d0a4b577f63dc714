//! Which colliders every particle touches or is about to: a walk through the hierarchy with the particle's box, drawn
//! out by the way it goes, and for each collider that it comes near a plane.
//!
//! A particle that is near begins where it is. One that comes goes on towards the collider until it is near: by its
//! distance each time, which no shape is nearer than. The plane is that of the nearest place then. Shapes are convex,
//! so they lie behind it, and what passes by beside them is not held back.

use crate::detect::collide::{Solid, point};
use crate::detect::walk::Tree;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, fmin, least, sqrt};
use crate::layout::{Aabb, END, LEAF, Node, Volume};
use crate::math::{Pose, Twist};
use crate::queries::records::Filter;
use crate::solve::soft::contact::{MARGIN_LENGTH, MARGIN_RADIUS};
use crate::state::rigid::{Collider, Hull, HullEdge, HullFace, NONE, Params, shape, world_pose};
use crate::state::soft::{Attachment, AttachmentState, Particle, SOFT_CONTACTS, SoftContact, soft_entry};
use crate::{layout, stage};

stage! {
    "soft_touch" each 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 soft_positions: Vec3,
        read 3 soft_velocities: Vec3,
        read 4 soft_entries: u32,
        read 5 attachments: Attachment,
        read 6 attachment_states: AttachmentState,
        read 7 nodes: Node,
        read 8 volumes: Volume,
        read 9 ropes: u32,
        read 10 order: u32,
        read 11 colliders: Collider,
        read 12 poses: Pose,
        read 13 velocities: Twist,
        read 14 hulls: Hull,
        read 15 hull_faces: HullFace,
        read 16 hull_edges: HullEdge,
        update 17 soft_contacts: SoftContact,
    }
}

layout! {
    /// Push constants of `soft_touch`.
    pub struct Push {
        /// Number of particles.
        pub count: u32,
        /// Leaves of the hierarchy.
        pub leaves: u32,
    }
}

/// Rounds on the way to a collider.
const ROUNDS: u32 = 8;

/// Whether one of the particle's attachments holds it to a body: they are the last of its entries.
#[inline(always)]
fn held_to(particle: &Particle, body: u32, b: &Bindings<'_>) -> bool {
    let first = least(particle.first, particle.end);
    let mut e = least(particle.end, b.soft_entries.len());
    let mut held = false;
    while e > first {
        e -= 1;
        let entry = b.soft_entries.at(e);
        if soft_entry::kind(entry) == soft_entry::ATTACHMENT {
            let at = soft_entry::index(entry);
            let attachment = b.attachments.at(at);
            let holds = (attachment.there != 0) & (b.attachment_states.at(at).broken == 0);
            held |= holds & (attachment.body == body);
        } else {
            e = first;
        }
    }
    held
}

/// The contact of a particle with a collider, with its gap in place of a stiffness; or none.
#[inline(always)]
fn meet(slot: u32, particle: &Particle, at: Vec3, way: Vec3, margin: f32, b: &Bindings<'_>) -> SoftContact {
    let mut contact = SoftContact::none();
    let collider = b.colliders.at(slot);
    let filter = Filter { exclude: NONE, flags: 0, groups: particle.groups, mask: particle.mask };
    if filter.sees(&collider) & (collider.what.shape < shape::NONE) {
        let (pose, velocity) = (b.poses.at(collider.what.body), b.velocities.at(collider.what.body));
        let solid = Solid::new(&collider, &world_pose(&collider, &pose));
        let hull = b.hulls.at(collider.hull).bounded();
        let moves = velocity.linear + velocity.angular.cross(at - pose.position);
        let (p, way) = (solid.to_local(at - solid.centre), solid.to_local(way - moves * b.params.at(0).dt));
        let length = sqrt(way.length_squared());
        let (mut t, mut round) = (0.0, 0);
        let mut found = point::Surface { distance: 0.0, normal: Vec3::Y };
        let mut gap = 0.0;
        while round < ROUNDS {
            found = point::surface(p + way * t, &collider, &hull, b.hull_faces, b.hull_edges);
            gap = found.distance - particle.radius;
            let over = (gap <= margin) | (t >= 1.0);
            round = if over { ROUNDS } else { round + 1 };
            t = if over { t } else { fmin(t + gap / length, 1.0) };
        }
        if gap <= margin {
            let n = solid.to_world(found.normal);
            let on = solid.to_world(p + way * t - found.normal * found.distance) + (solid.centre - pose.position);
            contact.collider = slot;
            contact.body = collider.what.body;
            contact.normal = n;
            contact.point = pose.rotation.inverse().apply(on);
            contact.k = gap - found.normal.dot(way) * t;
        }
    }
    contact
}

/// Looks around one particle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let first = item.wrapping_mul(SOFT_CONTACTS);
    let (params, particle) = (b.params.at(0), b.particles.at(item));
    let (mut count, mut dropped) = (0, 0);
    if (particle.mass > 0.0) & (particle.radius >= 0.0) {
        let at = b.soft_positions.at(item);
        let pull = params.gravity * particle.gravity_scale + particle.force * (1.0 / particle.mass);
        let way = (b.soft_velocities.at(item) + pull * params.dt) * params.dt;
        let margin = MARGIN_RADIUS * particle.radius + MARGIN_LENGTH * particle.length;
        let reach = Vec3::splat(particle.radius + margin);
        let bounds = Aabb { min: at - reach, max: at + reach };
        let bounds = bounds.union(&Aabb { min: bounds.min + way, max: bounds.max + way });
        let tree = Tree { nodes: b.nodes, volumes: b.volumes, ropes: b.ropes };
        let leaves = least(push.leaves, least(b.order.len(), LEAF - 1));
        let mut place = Tree::root(leaves);
        // No node is visited twice, so the bound is only met in a broken tree.
        let mut fuel = leaves.wrapping_mul(2);
        while (place != END) & (fuel > 0) {
            let (meets, next) = tree.look(place, &bounds);
            fuel -= 1;
            if meets {
                let contact = meet(b.order.at(place & !LEAF), &particle, at, way, margin, b);
                if (contact.collider != NONE) && !held_to(&particle, contact.body, b) {
                    // Into its place by the gap; the farthest one falls out.
                    let mut i = count;
                    while i > 0 {
                        let before = b.soft_contacts.at(first + i - 1);
                        let nearer =
                            (contact.k < before.k) | ((contact.k == before.k) & (contact.collider < before.collider));
                        if nearer {
                            if i < SOFT_CONTACTS {
                                b.soft_contacts.put(first + i, before);
                            }
                            i -= 1;
                        } else {
                            break;
                        }
                    }
                    if i < SOFT_CONTACTS {
                        b.soft_contacts.put(first + i, contact);
                    }
                    dropped += (count == SOFT_CONTACTS) as u32;
                    count = least(count + 1, SOFT_CONTACTS);
                }
            }
            place = next;
        }
    }
    while count < SOFT_CONTACTS {
        b.soft_contacts.put(first + count, SoftContact::none());
        count += 1;
    }
    let mut nearest = b.soft_contacts.at(first);
    nearest.dropped = dropped;
    b.soft_contacts.put(first, nearest);
}
