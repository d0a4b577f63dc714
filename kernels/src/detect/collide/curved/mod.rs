//! Cylinders and cones against every shape.
//!
//! A rim is no polygon: whichever corners were chosen, a drum that rolls over them would hop. So nothing here is an
//! approximation by corners. Shapes are known by how far they reach in a direction, which is exact for a rim, and what
//! is looked for is the direction along which two of them are farthest apart, or overlap least.
//!
//! 1. Flat faces of either are tried first ([`flat`]): faces of boxes and hulls, ends of cylinders, bases of cones. If
//!    the deepest point of the other lies over the best of them, and no deeper than a little, that is the answer. Most
//!    contacts of a scene at rest end here, with up to four points.
//! 2. Else the nearest points are found ([`nearest`], the method of Gilbert, Johnson and Keerthi). It only works for
//!    shapes that are apart. Shapes that overlap are first made thinner, which gives a direction; then the first is
//!    moved along it until they are just apart, which gives the next one. Where the direction no longer changes, the
//!    overlap along it is the least there is nearby: where the Minkowski difference has a radius of curvature r, an
//!    error of the direction becomes (depth + gap) / (r + depth + gap) of itself in a round.
//! 3. Two straight lines that lie along each other there, a generator of a cylinder or cone, the axis of a capsule, an
//!    edge, make two points; all else makes one.
//!
//! Points on generators and rims are where they are in this step, and roll: anchors of the last step would brake them.
//! Points on flat ends are fixed to the body, so that a drum that stands has the features that a box has.

mod flat;
pub mod gjk;

use super::hull::{Outlines, Polytope, Tables};
use super::round::clamp;
use super::{Contact, Solid};
use crate::detect::collide::numbers::{ALONG, FACE_PREFERENCE, FACE_TIE, GRAZE, GRAZE_THIN, PARALLEL, SHORTEST_REST};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Read, Store, abs, fmax, fmin, sqrt};
use crate::state::rigid::{Collider, Hull, ROLLS, shape, thickness};
use flat::FlatContact;
use gjk::{Nearest, nearest};

/// Any shape, in world axes.
#[derive(Clone, Copy)]
pub struct Convex {
    /// One of [`shape`].
    pub code: u32,
    /// Its middle and axes, and its share of the tables if it is a box or a hull.
    pub p: Polytope,
    /// Radius around a sphere's middle or a capsule's axis, which are all that is looked at of them otherwise.
    pub round: f32,
    /// Half of its shortest side.
    pub thickness: f32,
    /// Radius of a ball that it holds: of a cone the largest, of a hull that around its centre of mass.
    ball: f32,
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
    pub fn new(t: &Outlines<'_>, collider: &Collider, solid: Solid) -> Self {
        Self::of(t.hulls, collider, solid)
    }

    /// The same, for stages that know no more of hulls than their vertices.
    #[inline(always)]
    pub fn of(hulls: Read<'_, Hull>, collider: &Collider, solid: Solid) -> Self {
        let code = collider.what.shape;
        let round = if code == shape::SPHERE || code == shape::CAPSULE { solid.radius } else { 0.0 };
        let p = Polytope::listed(hulls, collider, solid);
        let ball = if code == shape::CONE { inner_radius(solid.half) } else { p.hull.inner };
        Self { code, p, round, thickness: thickness(collider), ball }
    }

    /// The same after a way.
    #[inline(always)]
    pub fn moved(&self, way: Vec3) -> Self {
        Self { p: self.p.moved(way), ..*self }
    }

    /// Whether it is a cylinder or a cone.
    #[inline(always)]
    fn is_curved(&self) -> bool {
        shape::is_curved(self.code)
    }

    /// Whether it has faces in the tables.
    #[inline(always)]
    fn is_polytope(&self) -> bool {
        (self.code == shape::BOX) | (self.code == shape::HULL)
    }

    /// How many flat faces it has.
    #[inline(always)]
    fn facets(&self) -> u32 {
        let flat = (self.code == shape::CONE) | (self.code == shape::HALF_SPACE);
        let own = if self.code == shape::CYLINDER { 2 } else { flat as u32 };
        if self.is_polytope() { self.p.hull.faces } else { own }
    }

    /// Flat face `index`: of a cylinder the upper end is the first.
    #[inline(always)]
    fn facet(&self, t: &Outlines<'_>, index: u32) -> Facet {
        let face = self.p.face_of(t, index);
        let listed = self.p.solid.to_world(face.normal);
        let y = self.p.solid.y;
        let plane = self.code == shape::HALF_SPACE;
        let up = plane | ((self.code == shape::CYLINDER) & (index == 0));
        let sign = if up { 1.0 } else { -1.0 };
        let (end, height) = (y * sign, if plane { 0.0 } else { self.p.solid.half.y });
        let polytope = self.is_polytope();
        let normal = if polytope { listed } else { end };
        Facet { normal, offset: if polytope { face.offset } else { height }, index }
    }

    /// The point that is farthest along `d`, relative to the middle, of the shape made thinner by `inset`.
    #[inline(always)]
    pub fn farthest(&self, hull_vertices: Read<'_, Vec3>, d: Vec3, inset: f32) -> Vec3 {
        let s = &self.p.solid;
        let l = s.to_local(d);
        let h = s.half;
        let hull = self.code == shape::HULL;
        let (mut corner, mut far) = (Vec3::ZERO, f32::NEG_INFINITY);
        let vertices = if hull { self.p.hull.vertices } else { 0 };
        let mut i = 0;
        while i < vertices {
            let v = hull_vertices.at(self.p.hull.first.wrapping_add(i));
            let along = l.dot(v);
            corner = if along > far { v } else { corner };
            far = fmax(far, along);
            i += 1;
        }
        let side = |v: f32| if v < 0.0 { -1.0 } else { 1.0 };
        let cone = self.code == shape::CONE;
        // A hull and a cone become smaller ones: a cone about the middle of the ball that it holds.
        let scaled = hull | cone;
        let inset_box = if (self.code == shape::BOX) | (self.code == shape::CYLINDER) { inset } else { 0.0 };
        let mut local =
            Vec3::new(side(l.x) * (h.x - inset_box), side(l.y) * (h.y - inset_box), side(l.z) * (h.z - inset_box));
        if self.is_curved() {
            let (out, across) = radial(l);
            let apex = cone & (2.0 * h.y * l.y > h.x * across);
            let low = cone & !apex;
            let rim = out * if apex { 0.0 } else { h.x - inset_box };
            local = rim + Vec3::Y * if low { -h.y } else { local.y };
            local.y = if apex { h.y } else { local.y };
        }
        local = if hull { corner } else { local };
        if scaled & (inset > 0.0) {
            let middle = Vec3::Y * if cone { self.ball - h.y } else { 0.0 };
            local = middle + (local - middle) * thinner(inset, self.ball);
        }
        s.to_world(local)
    }

    /// The line that reaches farthest along `d`: a capsule's axis, a generator from the lower end up; a box or hull has
    /// the edge whose middle is farthest.
    #[inline(always)]
    fn line(&self, t: &Tables<'_>, d: Vec3) -> Line {
        let s = &self.p.solid;
        let l = s.to_local(d);
        let (mut from, mut to) = (Vec3::ZERO, Vec3::ZERO);
        let mut far = f32::NEG_INFINITY;
        let polytope = self.is_polytope();
        let edges = if polytope { self.p.hull.edges } else { 0 };
        let mut i = 0;
        while i < edges {
            let edge = self.p.edge(t, i);
            let (middle, end) = (edge.start * 2.0 + edge.along, edge.start + edge.along);
            let along = l.dot(middle);
            let farther = along > far;
            far = if farther { along } else { far };
            from = if farther { edge.start } else { from };
            to = if farther { end } else { to };
            i += 1;
        }
        let (out, _) = radial(l);
        let rim = out * if self.is_curved() { s.half.x } else { 0.0 };
        let top = rim * if self.code == shape::CONE { 0.0 } else { 1.0 };
        let up = Vec3::Y * s.half.y;
        let (low, high) = (rim - up, top + up);
        let (from, to) = (if polytope { from } else { low }, if polytope { to } else { high });
        Line { from: s.to_world(from), to: s.to_world(to) }
    }
}

/// The part of a direction across the y axis, of length one, and how long it was. Along the axis any will do.
#[inline(always)]
fn radial(l: Vec3) -> (Vec3, f32) {
    let across = sqrt(l.x * l.x + l.z * l.z);
    let scale = 1.0 / fmax(across, 1e-30);
    let out = Vec3::new(l.x * scale, 0.0, l.z * scale);
    (if across > 1e-12 { out } else { Vec3::X }, across)
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

/// The flat face along which two shapes are farthest apart.
#[derive(Clone, Copy)]
struct BestFace {
    facet: Facet,
    /// Whether it is of the second.
    on_b: bool,
    separation: f32,
}

impl BestFace {
    /// Once they are `near` apart along one, that one.
    #[inline(always)]
    fn of(t: &Outlines<'_>, a: &Convex, b: &Convex, near: f32) -> Self {
        // A later face must beat an earlier one by a little, so that ties are decided the same way every step.
        let half = a.p.solid.half;
        let bias = FACE_TIE * (half.x + half.y + half.z);
        let facet = Facet { normal: Vec3::Y, offset: 0.0, index: 0 };
        let mut best = Self { facet, on_b: false, separation: f32::NEG_INFINITY };
        let facets_a = if b.code == shape::HALF_SPACE { 0 } else { a.facets() };
        let facets = facets_a + b.facets();
        let mut k = 0;
        while k < facets {
            let on_b = k >= facets_a;
            let (reference, other) = if on_b { (*b, *a) } else { (*a, *b) };
            let facet = reference.facet(t, if on_b { k - facets_a } else { k });
            let way = facet.normal.dot(other.p.solid.centre - reference.p.solid.centre) - facet.offset;
            k += 1;
            // Even if the other reached nowhere towards it, most faces would be worse.
            if way > best.separation {
                let separation = way + facet.normal.dot(other.farthest(t.vertices, -facet.normal, 0.0)) - other.round;
                if separation > best.separation + bias {
                    best = Self { facet, on_b, separation };
                }
                k = if separation >= near { facets } else { k };
            }
        }
        best
    }

    /// From b to a.
    #[inline(always)]
    fn normal(&self) -> Vec3 {
        if self.on_b { self.facet.normal } else { -self.facet.normal }
    }

    /// Whether it is as good as another direction: it has more points.
    #[inline(always)]
    fn is_as_good(&self, found: &Nearest, thin: f32) -> bool {
        self.separation >= found.separation - FACE_PREFERENCE * abs(found.separation) - FACE_TIE * thin
    }

    /// Whether another direction is all but its own. Between two wide faces that lean against each other, and where one
    /// hangs over the other, there is always one with a little less overlap, and with a single point.
    #[inline(always)]
    fn is_along(&self, found: &Nearest) -> bool {
        self.normal().dot(found.normal) > PARALLEL
    }
}

/// The direction from the second to the first along which they are farthest apart, or overlap least, and by how much.
#[inline(always)]
pub fn apart(t: &Outlines<'_>, first: &Convex, second: &Convex, near: f32) -> (Vec3, f32) {
    let origin = second.p.solid.centre;
    let (a, b) = (first.moved(-origin), second.moved(-origin));
    let face = BestFace::of(t, &a, &b, near);
    let (mut normal, mut separation) = (face.normal(), face.separation);
    if (b.code != shape::HALF_SPACE) & (separation < near) {
        let found = nearest(t, &a, &b, normal, separation, near, false);
        let preferred = face.is_as_good(&found, fmin(a.thickness, b.thickness));
        normal = if preferred { normal } else { found.normal };
        separation = if preferred { separation } else { found.separation };
    }
    (normal, separation)
}

/// The contact of two shapes, at least one of which is a cylinder or a cone; a half-space is the second. Points are
/// made where they are less than `near` apart. `known` is a direction that was found by [`apart`], or nothing.
#[inline(always)]
pub fn contact(t: &Tables<'_>, first: &Convex, second: &Convex, near: f32, known: Vec3) -> Contact {
    // Around the second one's middle: far from the origin of the world positions have fewer digits.
    let origin = second.p.solid.centre;
    let (a, b) = (first.moved(-origin), second.moved(-origin));
    let thin = fmin(a.thickness, b.thickness);
    let outlines = t.outlines();
    let face = BestFace::of(&outlines, &a, &b, near);
    let separation = face.separation;
    let mut flat = FlatContact { contact: Contact::none(), over: false, parallel: false };
    if separation < near {
        let (reference, incident) = if face.on_b { (b, a) } else { (a, b) };
        flat = flat::contact(t, &reference, &incident, &face.facet, face.on_b, separation, near);
    }
    let mut contact = flat.contact;
    let reach = |s: &Convex| fmax(fmax(s.p.solid.half.x, s.p.solid.half.y), s.p.solid.half.z) + s.round;
    let shallow = fmin(GRAZE * fmin(reach(&a), reach(&b)), GRAZE_THIN * thin);
    let sure = flat.over & (separation > -shallow);
    if (b.code != shape::HALF_SPACE) & !sure & (separation < near) {
        let is_known = known.length_squared() > 0.0;
        let start = if is_known { known } else { face.normal() };
        let found = nearest(&outlines, &a, &b, start, separation, near, is_known);
        let gone = found.separation >= near;
        contact.count = if gone { 0 } else { contact.count };
        let flat = (flat.over & face.is_as_good(&found, thin)) | (flat.parallel & face.is_along(&found));
        if !gone & !flat {
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

/// Points where no face meets anything: two if lines lie along each other, else one.
#[inline(always)]
fn edges(t: &Tables<'_>, a: &Convex, b: &Convex, found: &Nearest, near: f32) -> Contact {
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
    let parallel = (cross < ALONG * aa * bb) & (fall_a * fall_a < ALONG * aa) & (fall_b * fall_b < ALONG * bb);
    let (s0, s1) = ((pb - pa).dot(da) / fmax(aa, 1e-30), (pb + db - pa).dot(da) / fmax(aa, 1e-30));
    let (low, high) = (clamp(fmin(s0, s1), 0.0, 1.0), clamp(fmax(s0, s1), 0.0, 1.0));
    let long = high - low > SHORTEST_REST * fmin(1.0, sqrt(bb / fmax(aa, 1e-30)));
    let two = parallel & long & (aa > 0.0) & (bb > 0.0);
    let single = found.on_a - n * a.round;
    let mut end = 0;
    while end < if two { 2 } else { 1 } {
        let on_line_a = pa + da * if end == 0 { low } else { high };
        let on_line_b = pb + db * clamp((on_line_a - pb).dot(db) / fmax(bb, 1e-30), 0.0, 1.0);
        let on_a = if two { on_line_a } else { single };
        let gap = if two { n.dot(on_line_a - on_line_b) } else { found.separation };
        contact.add_if(gap < near, on_a, on_a - n * gap, ROLLS | if two { 1 + end } else { 0 });
        end += 1;
    }
    contact
}
