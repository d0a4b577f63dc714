//! Which colliders the inside of every triangle of a soft surface touches or is about to: those that come nearer to it
//! there than to its corners, whose contacts `soft_touch` finds. Writes `soft_face_contacts`, and which particles have a
//! triangle that touches something (`soft_near`, cleared before).
//!
//! A triangle meets the corners of a collider (of what is round, the ends of its axis, or points of its rims) that are
//! above its inside, and else the place that is nearest: of two edges, or of a ball. All push along the triangle's own
//! normal, away from the collider's middle: that is right however deep a corner is in, and no side of a flat surface is a
//! wall to what slides over it. They are planes, so what comes is found on its way as for particles.

use crate::detect::collide::{Solid, point};
use crate::detect::soft_near::on_triangle;
use crate::detect::soft_touch::held_to;
use crate::detect::walk::Tree;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, abs, fmax, fmin, least, sqrt};
use crate::layout::{Aabb, END, LEAF, Node, Volume};
use crate::math::{Pose, Twist};
use crate::queries::records::Filter;
use crate::solve::soft::contact::{MARGIN_LENGTH, MARGIN_RADIUS};
use crate::state::rigid::{Collider, Hull, HullEdge, HullFace, NONE, Params, shape, world_pose};
use crate::state::soft::{Attachment, AttachmentState, Particle, SOFT_CONTACTS, SoftCached, SoftContact};
use crate::{layout, stage};

stage! {
    "soft_face_touch" each 64 {
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
        read 15 hull_vertices: Vec3,
        read 16 hull_faces: HullFace,
        read 17 hull_edges: HullEdge,
        read 18 soft_triangles: u32,
        update 19 soft_face_contacts: SoftContact,
        update 20 soft_near: u32,
        read 21 soft_face_cached: SoftCached,
    }
}

layout! {
    /// Push constants of `soft_face_touch`.
    pub struct Push {
        /// Number of triangles.
        pub count: u32,
        /// Leaves of the hierarchy.
        pub leaves: u32,
    }
}

/// Rounds on the way to a collider.
const ROUNDS: u32 = 8;
/// Rounds in which the nearest places of a triangle and a collider are found: each goes from one to the other.
const STEPS: u32 = 8;
/// How far what is found may be from the nearest place, as a part of the distance between particles.
const NEARLY: f32 = 1e-3;
/// By how much the place that is nearest has to be nearer than the corners, as a part of the same distance: so far what
/// is round may dip between particles, a ball of two such distances, but no farther than the surface is thick. With
/// contacts of triangles besides, it would be held three times as stiffly, and few iterations would not find what it
/// gives to the cloth. A place that pushed in the last step does so until it does not any more.
const DIPS: f32 = 0.1;
/// Least cosine between a triangle's normal and the way from a side of it to a collider, if that side meets it: what is
/// farther beside the triangle is the next one's.
const ABOVE: f32 = 0.7;

/// A triangle on its way.
#[derive(Clone, Copy)]
struct Face {
    a: Vec3,
    /// From the first corner to the second.
    ab: Vec3,
    /// From the first to the third.
    ac: Vec3,
}

impl Face {
    #[inline(always)]
    fn at(&self, shares: Vec3) -> Vec3 {
        self.a + self.ab * shares.y + self.ac * shares.z
    }

    /// Shares of the corners in the place that is nearest to `p`.
    #[inline(always)]
    fn nearest(&self, p: Vec3) -> Vec3 {
        on_triangle(p - self.a, self.ab, self.ac)
    }

    /// The triangle, every corner moved.
    #[inline(always)]
    fn moved(&self, ways: &Self, t: f32) -> Self {
        Self { a: self.a + ways.a * t, ab: self.ab + ways.ab * t, ac: self.ac + ways.ac * t }
    }
}

/// A collider in its own axes.
#[derive(Clone, Copy)]
struct Shape {
    collider: Collider,
    hull: Hull,
    /// Radius around its core: what is nearest to that is looked for, since it is found in fewer rounds.
    round: f32,
}

/// How many corners a collider has.
#[inline(always)]
fn corners(of: &Shape) -> u32 {
    let code = of.collider.what.shape;
    let round = if code == shape::SPHERE { 0 } else { 2 };
    let flat = if code == shape::BOX { 8 } else { of.hull.vertices };
    let curved = if code == shape::CONE { 5 } else { 8 };
    let plain = if (code == shape::BOX) | (code == shape::HULL) { flat } else { round };
    if shape::is_curved(code) { curved } else { plain }
}

/// Corner `i` of one; `towards` is where the triangle is seen from its middle.
#[inline(always)]
fn corner(of: &Shape, i: u32, towards: Vec3, b: &Bindings<'_>) -> Vec3 {
    let (code, half) = (of.collider.what.shape, of.collider.size.half());
    let signed = |bit: u32, v: f32| if i & bit == 0 { -v } else { v };
    let mut place = Vec3::new(signed(2, half.x), signed(1, half.y), signed(4, half.z));
    if code == shape::CAPSULE {
        place = Vec3::new(0.0, signed(1, half.y), 0.0);
    } else if code == shape::HULL {
        place = b.hull_vertices.at(of.hull.first.wrapping_add(i));
    } else if shape::is_curved(code) {
        // The point of the rim that is nearest to the triangle, and a quarter, half and three quarters around.
        let flat = sqrt(towards.x * towards.x + towards.z * towards.z);
        let (x, z) = if flat > 1e-6 { (towards.x / flat, towards.z / flat) } else { (1.0, 0.0) };
        let (x, z) = if i & 1 == 0 { (x, z) } else { (-z, x) };
        let away = if i & 2 == 0 { half.x } else { -half.x };
        let rim = Vec3::new(x * away, if i & 4 == 0 { -half.y } else { half.y }, z * away);
        place = if (code == shape::CONE) & (i >= 4) { Vec3::Y * half.y } else { rim };
    }
    place
}

#[inline(always)]
fn surface(p: Vec3, of: &Shape, b: &Bindings<'_>) -> point::Surface {
    point::surface(p, &of.collider, &of.hull, b.hull_faces, b.hull_edges)
}

/// The place of a triangle that is nearest to a collider, and the collider's surface there.
#[inline(always)]
fn nearest(face: &Face, of: &Shape, tiny: f32, b: &Bindings<'_>) -> (Vec3, point::Surface) {
    let mut shares = face.nearest(Vec3::ZERO);
    let mut found = point::Surface { distance: 0.0, normal: Vec3::Y };
    let mut step = 0;
    while step < STEPS {
        let p = face.at(shares);
        found = surface(p, of, b);
        let deep = found.distance + of.round;
        let next = face.nearest(p - found.normal * deep);
        let way = face.at(next) - p;
        let over = (deep <= 0.0) | (way.length_squared() <= tiny * tiny) | (step + 1 == STEPS);
        shares = if over { shares } else { next };
        step = if over { STEPS } else { step + 1 };
    }
    (shares, found)
}

/// Puts a contact into its place by the gap; the farthest one falls out. Returns how many there are.
#[inline(always)]
fn insert(first: u32, count: u32, contact: &SoftContact, b: &mut Bindings<'_>) -> u32 {
    let mut i = count;
    while i > 0 {
        let before = b.soft_face_contacts.at(first + i - 1);
        let same = (contact.collider == before.collider) & (contact.feature < before.feature);
        let tie = (contact.collider < before.collider) | same;
        if (contact.k < before.k) | ((contact.k == before.k) & tie) {
            if i < SOFT_CONTACTS {
                b.soft_face_contacts.put(first + i, before);
            }
            i -= 1;
        } else {
            break;
        }
    }
    if i < SOFT_CONTACTS {
        b.soft_face_contacts.put(first + i, *contact);
    }
    least(count + 1, SOFT_CONTACTS)
}

/// Looks around one triangle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let first = item.wrapping_mul(SOFT_CONTACTS);
    let dt = b.params.at(0).dt;
    let place = item.wrapping_mul(3);
    let (ia, ib, ic) = (
        b.soft_triangles.at(place),
        b.soft_triangles.at(place.wrapping_add(1)),
        b.soft_triangles.at(place.wrapping_add(2)),
    );
    let (pa, pb, pc) = (b.particles.at(ia), b.particles.at(ib), b.particles.at(ic));
    let (mut count, mut dropped) = (0, 0);
    let there = (pa.mass > 0.0) & (pb.mass > 0.0) & (pc.mass > 0.0);
    let touches = (pa.radius >= 0.0) & (pb.radius >= 0.0) & (pc.radius >= 0.0);
    if (ia != ib) & (ib != ic) & (ic != ia) & there & touches {
        let (a, radius) = (b.soft_positions.at(ia), pa.radius);
        let length = fmax(pa.length, fmax(pb.length, pc.length));
        let gravity = b.params.at(0).gravity;
        let way_of = |i: u32, p: &Particle| {
            let pull = gravity * p.gravity_scale + p.force * (1.0 / p.mass);
            (b.soft_velocities.at(i) + pull * dt) * dt
        };
        let (wa, wb, wc) = (way_of(ia, &pa), way_of(ib, &pb), way_of(ic, &pc));
        let (at_b, at_c) = (b.soft_positions.at(ib), b.soft_positions.at(ic));
        // At which a side of the triangle makes a contact, and its inside or a corner of the collider.
        let close = MARGIN_RADIUS * pa.radius;
        let margin = close + MARGIN_LENGTH * length;
        let reach = Vec3::splat(radius + margin);
        let point = |p: Vec3| Aabb { min: p, max: p };
        let bounds = point(a).union(&point(at_b)).union(&point(at_c));
        let bounds = bounds.union(&point(a + wa)).union(&point(at_b + wb)).union(&point(at_c + wc));
        let bounds = Aabb { min: bounds.min - reach, max: bounds.max + reach };
        let tree = Tree { nodes: b.nodes, volumes: b.volumes, ropes: b.ropes };
        let leaves = least(push.leaves, least(b.order.len(), LEAF - 1));
        let mut place = Tree::root(leaves);
        // No node is visited twice, so the bound is only met in a broken tree.
        let mut fuel = leaves.wrapping_mul(2);
        while (place != END) & (fuel > 0) {
            let (meets, next) = tree.look(place, &bounds);
            fuel -= 1;
            let slot = if meets { b.order.at(place & !LEAF) } else { 0 };
            let collider = b.colliders.at(slot);
            let filter = Filter { exclude: NONE, flags: 0, groups: pa.groups, mask: pa.mask };
            // Nothing of a half-space comes between particles.
            if meets && filter.sees(&collider) & (collider.what.shape < shape::HALF_SPACE) {
                let (pose, velocity) = (b.poses.at(collider.what.body), b.velocities.at(collider.what.body));
                let solid = Solid::new(&collider, &world_pose(&collider, &pose));
                let code = collider.what.shape;
                let rounded = (code == shape::SPHERE) | (code == shape::BOX) | (code == shape::CAPSULE);
                let round = if rounded { collider.size.radius } else { 0.0 };
                let of = Shape { collider, hull: b.hulls.at(collider.hull).bounded(), round };
                let moves = |p: Vec3, way: Vec3| {
                    solid.to_local(way - (velocity.linear + velocity.angular.cross(p - pose.position)) * dt)
                };
                let face = Face {
                    a: solid.to_local(a - solid.centre),
                    ab: solid.to_local(at_b - a),
                    ac: solid.to_local(at_c - a),
                };
                let (ma, mb, mc) = (moves(a, wa), moves(at_b, wb), moves(at_c, wc));
                let ways = Face { a: ma, ab: mb - ma, ac: mc - ma };
                let fastest = fmax(ma.length_squared(), fmax(mb.length_squared(), mc.length_squared()));
                let fastest = sqrt(fastest);
                let tiny = NEARLY * length;
                let (mut t, mut round) = (0.0, 0);
                let mut here = face;
                let mut shares = Vec3::X;
                let mut found = point::Surface { distance: 0.0, normal: Vec3::Y };
                let mut gap = 0.0;
                while round < ROUNDS {
                    here = face.moved(&ways, t);
                    (shares, found) = nearest(&here, &of, tiny, b);
                    gap = found.distance - radius;
                    let over = (gap <= close) | (t >= 1.0);
                    round = if over { ROUNDS } else { round + 1 };
                    t = if over { t } else { fmin(t + gap / fmax(fastest, 1e-30), 1.0) };
                }
                let entries = b.soft_entries;
                let near = gap <= margin;
                let free = near
                    && !held_to(&pa, collider.what.body, entries, &b.attachments, &b.attachment_states)
                    && !held_to(&pb, collider.what.body, entries, &b.attachments, &b.attachment_states)
                    && !held_to(&pc, collider.what.body, entries, &b.attachments, &b.attachment_states);
                if free {
                    let across = here.ab.cross(here.ac);
                    let area = sqrt(across.length_squared());
                    let n = across * (1.0 / fmax(area, 1e-30));
                    let height = n.dot(here.a);
                    let out = if height < 0.0 { n * -1.0 } else { n };
                    let of_corners = fmin(
                        surface(here.a, &of, b).distance,
                        fmin(surface(here.a + here.ab, &of, b).distance, surface(here.a + here.ac, &of, b).distance),
                    );
                    let all = if area > 1e-30 { corners(&of) } else { 0 };
                    let is_round = (code == shape::SPHERE) | (code == shape::CAPSULE);
                    let mut dips = if is_round { fmin(DIPS * length, pa.radius) } else { tiny };
                    let mut k = 0;
                    while k < SOFT_CONTACTS {
                        let cached = b.soft_face_cached.at(first + k);
                        let same = (cached.collider == slot.wrapping_add(1)) & (cached.particle == ia);
                        let pushed = cached.force.length_squared() > 0.0;
                        dips = if same & pushed & (cached.feature == all) { tiny } else { dips };
                        k += 1;
                    }
                    let mut best = f32::MAX;
                    let mut i = 0;
                    while i <= all {
                        let is_corner = i < all;
                        let (mut w, mut on) = (shares, here.at(shares) - found.normal * found.distance);
                        // Within the collider its nearest place may be beside the triangle.
                        let off = out.dot(found.normal) * found.distance;
                        let mut from_start = if found.distance < 0.0 { gap } else { off - radius };
                        // What the corners of the triangle meet themselves, or a corner of the collider is.
                        let inside = fmin(shares.x, fmin(shares.y, shares.z)) > NEARLY;
                        let meets = inside | ((gap <= close) & (abs(found.normal.dot(n)) >= ABOVE));
                        let mut wanted = meets & (found.distance < of_corners - dips) & (gap < best - tiny);
                        if is_corner {
                            let p = corner(&of, i, out, b);
                            w = here.nearest(p);
                            let off = here.at(w) - p;
                            let beside = off - n * off.dot(n);
                            from_start = abs(height) - out.dot(p) - of.round - radius;
                            on = p + out * of.round;
                            wanted = (beside.length_squared() <= tiny * tiny) & (from_start <= margin);
                            best = if wanted { fmin(best, from_start) } else { best };
                        }
                        if wanted {
                            let mut contact = SoftContact::none();
                            let goes = ways.at(w) * t;
                            contact.collider = slot;
                            contact.body = collider.what.body;
                            contact.normal = solid.to_world(out);
                            let on = solid.to_world(on) + (solid.centre - pose.position);
                            contact.point = pose.rotation.inverse().apply(on);
                            contact.k = from_start - out.dot(goes);
                            contact.feature = i;
                            (contact.wb, contact.wc) = (w.y, w.z);
                            dropped += (count == SOFT_CONTACTS) as u32;
                            count = insert(first, count, &contact, b);
                        }
                        i += 1;
                    }
                }
            }
            place = next;
        }
    }
    if count > 0 {
        b.soft_near.or(ia, 1);
        b.soft_near.or(ib, 1);
        b.soft_near.or(ic, 1);
    }
    while count < SOFT_CONTACTS {
        b.soft_face_contacts.put(first + count, SoftContact::none());
        count += 1;
    }
    let mut nearest = b.soft_face_contacts.at(first);
    nearest.dropped = dropped;
    b.soft_face_contacts.put(first, nearest);
}
