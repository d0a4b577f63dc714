//! Cylinders and cones against every shape.
//!
//! A rim is no polygon: whichever corners were chosen, a drum that rolls over them would hop. So nothing here is an
//! approximation by corners. Shapes are known by how far they reach in a direction, which is exact for a rim, and what
//! is looked for is the direction along which two of them are farthest apart, or overlap least.
//!
//! 1. Flat faces of either are tried first ([`flat`]): faces of boxes and hulls, ends of cylinders, bases of cones. If the
//!    deepest point of the other lies over the best of them, and no deeper than a little, that is the answer. Most
//!    contacts of a scene at rest end here, with up to four points.
//! 2. Else the nearest points are found ([`nearest`], the method of Gilbert, Johnson and Keerthi). It only works for shapes
//!    that are apart. Shapes that overlap are first made thinner, which gives a direction; then the first is moved along
//!    it until they are just apart, which gives the next one. Where the direction no longer changes, the overlap along it is
//!    the least there is nearby: of a Minkowski difference whose radius of curvature is r, an error of the direction
//!    becomes (depth + gap) / (r + depth + gap) of itself in a round.
//! 3. Two straight lines that lie along each other there, a generator of a cylinder or cone, the axis of a capsule, an edge,
//!    make two points; all else makes one.
//!
//! Points on generators and rims are where they are in this step, and roll: anchors of the last step would brake them.
//! Points on flat ends are fixed to the body, so that a drum that stands has the features that a box has.

mod flat;
mod gjk;

use super::hull::{Polytope, Tables};
use super::round::clamp;
use super::{Contact, Solid};
use crate::detect::collide::numbers::{
    ALONG, APART, CLOSE_ENOUGH, FACE_PREFERENCE, FACE_TIE, INSET, SHORTEST_REST, SURE,
};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, abs, fmax, fmin, sqrt};
use crate::state::rigid::{Collider, ROLLS, shape, thickness};
use gjk::nearest;

/// Any shape, in world axes.
#[derive(Clone, Copy)]
pub struct Convex {
    /// One of [`shape`].
    code: u32,
    /// Its middle and axes, and its share of the tables if it is a box or a hull.
    p: Polytope,
    /// Radius around a sphere's middle or a capsule's axis, which are all that is looked at of them otherwise.
    round: f32,
    /// Half of its shortest side.
    thickness: f32,
}

/// A flat face of a shape, or the plane of a half-space.
#[derive(Clone, Copy)]
struct Facet {
    /// Outward, in world axes.
    normal: Vec3,
    /// Of its plane from the shape's middle.
    offset: f32,
    /// Which one it is.
    index: u32,
}

/// A straight line on a shape's surface, or its axis: two ends, relative to its middle.
#[derive(Clone, Copy)]
struct Line {
    from: Vec3,
    to: Vec3,
}

impl Convex {
    /// The collider, of which `solid` is made.
    #[inline(always)]
    pub fn new(t: &Tables<'_>, collider: &Collider, solid: Solid) -> Self {
        let code = collider.what.shape;
        let round = if code == shape::SPHERE || code == shape::CAPSULE { solid.radius } else { 0.0 };
        Self { code, p: Polytope::new(t, collider, solid), round, thickness: thickness(collider) }
    }

    /// The same after a way.
    #[inline(always)]
    pub fn moved(&self, way: Vec3) -> Self {
        Self { p: self.p.moved(way), ..*self }
    }

    /// Whether it is a cylinder or a cone.
    #[inline(always)]
    fn is_curved(&self) -> bool {
        self.code == shape::CYLINDER || self.code == shape::CONE
    }

    /// Whether it has faces in the tables.
    #[inline(always)]
    fn is_polytope(&self) -> bool {
        self.code == shape::BOX || self.code == shape::HULL
    }

    /// How many flat faces it has.
    #[inline(always)]
    fn facets(&self) -> u32 {
        if self.is_polytope() {
            self.p.hull.faces
        } else if self.code == shape::CYLINDER {
            2
        } else {
            (self.code == shape::CONE || self.code == shape::HALF_SPACE) as u32
        }
    }

    /// Flat face `index`: of a cylinder the upper end is the first.
    #[inline(always)]
    fn facet(&self, t: &Tables<'_>, index: u32) -> Facet {
        if self.is_polytope() {
            let face = self.p.face(t, index);
            Facet { normal: self.p.solid.to_world(face.normal), offset: face.offset, index }
        } else if self.code == shape::HALF_SPACE {
            Facet { normal: self.p.solid.y, offset: 0.0, index }
        } else {
            let up = self.code == shape::CYLINDER && index == 0;
            Facet { normal: self.p.solid.y * if up { 1.0 } else { -1.0 }, offset: self.p.solid.half.y, index }
        }
    }

    /// The point that is farthest along `d`, relative to the middle, of the shape made thinner by `inset`.
    #[inline(always)]
    fn farthest(&self, t: &Tables<'_>, d: Vec3, inset: f32) -> Vec3 {
        let s = &self.p.solid;
        let l = s.to_local(d);
        let h = s.half;
        let mut local;
        if self.code == shape::HULL {
            local = Vec3::ZERO;
            let mut far = f32::NEG_INFINITY;
            let mut i = 0;
            while i < self.p.hull.vertices {
                let v = t.vertices.at(self.p.hull.first.wrapping_add(i));
                let along = l.dot(v);
                local = if along > far { v } else { local };
                far = fmax(far, along);
                i += 1;
            }
            local *= thinner(inset, self.p.hull.inner);
        } else if self.is_curved() {
            let (out, across) = radial(l);
            let cone = self.code == shape::CONE;
            let apex = cone && 2.0 * h.y * l.y > h.x * across;
            let top = if cone { apex } else { l.y > 0.0 };
            let radius = if apex { 0.0 } else { h.x };
            local = Vec3::new(out.x * radius, if top { h.y } else { -h.y }, out.z * radius);
            if cone {
                // Made thinner, a cone is a smaller one about the middle of the ball that it holds.
                let ball = inner_radius(h);
                let middle = Vec3::new(0.0, ball - h.y, 0.0);
                local = middle + (local - middle) * thinner(inset, ball);
            } else {
                local = Vec3::new(
                    local.x - out.x * inset,
                    local.y - if top { inset } else { -inset },
                    local.z - out.z * inset,
                );
            }
        } else {
            // A box; the axis of a capsule, and the middle of a sphere, have nothing to be made thinner by.
            let inset = if self.code == shape::BOX { inset } else { 0.0 };
            let side = |half: f32, v: f32| if v < 0.0 { inset - half } else { half - inset };
            local = Vec3::new(side(h.x, l.x), side(h.y, l.y), side(h.z, l.z));
        }
        s.to_world(local)
    }

    /// The line that reaches farthest along `d`: a capsule's axis, a generator from the lower end up; a box or hull has the
    /// edge whose middle is farthest.
    #[inline(always)]
    fn line(&self, t: &Tables<'_>, d: Vec3) -> Line {
        let s = &self.p.solid;
        let l = s.to_local(d);
        let (mut from, mut to) = (Vec3::ZERO, Vec3::ZERO);
        if self.is_polytope() {
            let mut far = f32::NEG_INFINITY;
            let mut i = 0;
            while i < self.p.hull.edges {
                let edge = self.p.edge(t, i);
                let along = l.dot(edge.start * 2.0 + edge.along);
                if along > far {
                    (far, from, to) = (along, edge.start, edge.start + edge.along);
                }
                i += 1;
            }
        } else if self.is_curved() {
            let (out, _) = radial(l);
            let rim = out * s.half.x;
            from = rim - Vec3::Y * s.half.y;
            to = Vec3::Y * s.half.y + if self.code == shape::CONE { Vec3::ZERO } else { rim };
        } else {
            from = Vec3::new(0.0, -s.half.y, 0.0);
            to = -from;
        }
        Line { from: s.to_world(from), to: s.to_world(to) }
    }
}

/// The part of a direction across the y axis, of length one, and how long it was. Along the axis any will do.
#[inline(always)]
fn radial(l: Vec3) -> (Vec3, f32) {
    let across = sqrt(l.x * l.x + l.z * l.z);
    let scale = 1.0 / fmax(across, 1e-30);
    (if across > 1e-12 { Vec3::new(l.x * scale, 0.0, l.z * scale) } else { Vec3::X }, across)
}

/// What a shape that holds a ball is multiplied with to be thinner by `inset` everywhere, or almost so.
#[inline(always)]
fn thinner(inset: f32, ball: f32) -> f32 {
    fmax(1.0 - inset / ball, 0.25)
}

/// The radius of the largest ball in a cone with these half extents.
#[inline(always)]
fn inner_radius(h: Vec3) -> f32 {
    2.0 * h.x * h.y / (h.x + sqrt(h.x * h.x + 4.0 * h.y * h.y))
}

/// The contact of two shapes, at least one of which is a cylinder or a cone; a half-space is the second. Points are
/// made where they are less than `near` apart.
#[inline(always)]
pub fn contact(t: &Tables<'_>, first: &Convex, second: &Convex, near: f32) -> Contact {
    // Around the second one's middle: far from the origin of the world positions have fewer digits.
    let origin = second.p.solid.centre;
    let (a, b) = (first.moved(-origin), second.moved(-origin));
    let thin = fmin(a.thickness, b.thickness);

    // The flat face along which they are farthest apart.
    let half = a.p.solid.half;
    let bias = FACE_TIE * (half.x + half.y + half.z);
    let (mut facet, mut on_b) = (Facet { normal: Vec3::Y, offset: 0.0, index: 0 }, false);
    let mut separation = f32::NEG_INFINITY;
    let plane = b.code == shape::HALF_SPACE;
    let facets_a = if plane { 0 } else { a.facets() };
    let mut k = 0;
    while k < facets_a + b.facets() && separation < near {
        let of_b = k >= facets_a;
        let (reference, other) = if of_b { (b, a) } else { (a, b) };
        let face = reference.facet(t, if of_b { k - facets_a } else { k });
        let way = face.normal.dot(other.p.solid.centre - reference.p.solid.centre) - face.offset;
        // Even if the other reached nowhere towards it, most faces would be worse.
        if way > separation {
            let apart = way + face.normal.dot(other.farthest(t, -face.normal, 0.0)) - other.round;
            if apart > separation + bias {
                (separation, facet, on_b) = (apart, face, of_b);
            }
        }
        k += 1;
    }
    let mut contact = Contact::none();
    if separation >= near {
        return contact;
    }
    let (reference, incident) = if on_b { (b, a) } else { (a, b) };
    contact = flat::contact(t, &reference, &incident, &facet, on_b, separation, near);
    // A point that lies as deep as the shape does over the face.
    let over = contact.count > 0;
    let sure = over && separation > -SURE * thin;
    if !plane && !sure {
        let out = if on_b { facet.normal } else { -facet.normal };
        let mut found = gjk::Nearest { normal: out, separation, on_a: Vec3::ZERO, overlap: true, moved: 0.0 };
        let mut round = 0;
        while round < ROUNDS {
            let before = found.normal;
            let thinner = round == 0;
            let next =
                nearest(t, &a, &b, before, if thinner { f32::NEG_INFINITY } else { APART * thin }, INSET * thin, near);
            // Deep in each other, the best face is as good a start as any.
            if !thinner || !next.overlap {
                found = next;
            }
            let settled = found.moved == 0.0 || 1.0 - found.normal.dot(before) < CLOSE_ENOUGH;
            let gone = !thinner && next.separation >= near;
            round = if (!thinner && settled) || gone { ROUNDS } else { round + 1 };
        }
        if found.separation >= near {
            contact.count = 0;
            return contact;
        }
        let preferred = separation >= found.separation - FACE_PREFERENCE * abs(found.separation) - FACE_TIE * thin;
        if !over || !preferred {
            contact = edges(t, &a, &b, &found, near);
        }
    }
    let mut k = 0;
    while k < contact.count {
        contact.on_a.put(k, contact.on_a.at(k) + origin);
        contact.on_b.put(k, contact.on_b.at(k) + origin);
        k += 1;
    }
    contact
}

/// Most rounds of the search for a direction; the first is with thinner shapes.
const ROUNDS: u32 = 6;

/// Points where no face meets anything: two if lines lie along each other, else one.
#[inline(always)]
fn edges(t: &Tables<'_>, a: &Convex, b: &Convex, found: &gjk::Nearest, near: f32) -> Contact {
    let n = found.normal;
    let mut contact = Contact::none();
    contact.normal = n;
    let (la, lb) = (a.line(t, -n), b.line(t, n));
    let (pa, pb) = (a.p.solid.centre + la.from - n * a.round, b.p.solid.centre + lb.from + n * b.round);
    let (da, db) = (la.to - la.from, lb.to - lb.from);
    let (aa, bb) = (da.length_squared(), db.length_squared());
    let cross = da.cross(db).length_squared();
    let (fall_a, fall_b) = (n.dot(da), n.dot(db));
    // Along each other, and both along the surface of the contact.
    let parallel = cross < ALONG * aa * bb && fall_a * fall_a < ALONG * aa && fall_b * fall_b < ALONG * bb;
    if parallel && aa > 0.0 && bb > 0.0 {
        let (s0, s1) = ((pb - pa).dot(da) / aa, (pb + db - pa).dot(da) / aa);
        let (low, high) = (clamp(fmin(s0, s1), 0.0, 1.0), clamp(fmax(s0, s1), 0.0, 1.0));
        if high - low > SHORTEST_REST * fmin(1.0, sqrt(bb / aa)) {
            let mut end = 0;
            while end < 2 {
                let on_a = pa + da * if end == 0 { low } else { high };
                let on_line = pb + db * clamp((on_a - pb).dot(db) / bb, 0.0, 1.0);
                let gap = n.dot(on_a - on_line);
                contact.add_if(gap < near, on_a, on_a - n * gap, ROLLS | (1 + end));
                end += 1;
            }
            return contact;
        }
    }
    let on_a = found.on_a - n * a.round;
    contact.add_if(found.separation < near, on_a, on_a - n * found.separation, ROLLS);
    contact
}
