//! Contacts of cylinders and cones with every shape.
//!
//! A rim is not approximated by a polygon, because a drum that rolls over corners would hop. Shapes are described by
//! their farthest point in a direction, which is exact for a rim. The search is for the direction along which two
//! shapes are farthest apart, or overlap least.
//!
//! 1. Flat faces of both shapes are tried first ([`flat`]): faces of boxes and hulls, ends of cylinders, bases of
//!    cones. If the deepest point of the other shape lies over the best face, and is not too deep, that face is the
//!    answer. Most contacts of a scene at rest end here, with up to four points.
//! 2. Otherwise the nearest points are found ([`nearest`], the method of Gilbert, Johnson and Keerthi), which only
//!    works for shapes that are apart. Shapes that overlap are first made thinner, which gives a direction; then the
//!    first is moved along it until they are just apart, which gives the next direction. Once the direction no longer
//!    changes, the overlap along it is a local minimum: where the Minkowski difference has a radius of curvature r,
//!    each round multiplies an error of the direction by (depth + gap) / (r + depth + gap).
//! 3. Two straight lines that are parallel there (a generator of a cylinder or cone, the axis of a capsule, an edge)
//!    make two points; everything else makes one.
//!
//! Points on generators and rims are new in every step, because the shape rolls and old anchors would brake it. Points
//! on flat ends are fixed to the body, so a standing drum has stable features as a box has.

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
    /// Its centre and axes, and its ranges in the tables if it is a box or a hull.
    pub p: Polytope,
    /// Radius of a sphere or capsule, 0 for other shapes. The search treats them as a point or segment and adds this.
    pub round: f32,
    /// Half of its shortest side.
    pub thickness: f32,
    /// Radius of an inscribed ball: of a cone the largest, of a hull the one about its centre of mass.
    ball: f32,
}

/// A flat face of a shape, or the plane of a half-space.
#[derive(Clone, Copy)]
struct Facet {
    /// Outward unit normal, in world axes.
    normal: Vec3,
    /// Distance of its plane from the shape's centre.
    offset: f32,
    /// Its number.
    index: u32,
}

/// A straight line on a shape's surface, or its axis: two ends relative to its centre.
#[derive(Clone, Copy)]
struct Line {
    from: Vec3,
    to: Vec3,
}

impl Convex {
    /// The shape of a collider whose solid is `solid`.
    #[inline(always)]
    pub fn new(t: &Outlines<'_>, collider: &Collider, solid: Solid) -> Self {
        Self::of(t.hulls, collider, solid)
    }

    /// The same for stages that only read the vertices of hulls.
    #[inline(always)]
    pub fn of(hulls: Read<'_, Hull>, collider: &Collider, solid: Solid) -> Self {
        let code = collider.what.shape;
        let round = if code == shape::SPHERE || code == shape::CAPSULE { solid.radius } else { 0.0 };
        let p = Polytope::listed(hulls, collider, solid);
        let ball = if code == shape::CONE { inner_radius(solid.half) } else { p.hull.inner };
        Self { code, p, round, thickness: thickness(collider), ball }
    }

    /// The shape, displaced by `way`.
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

    /// Number of its flat faces.
    #[inline(always)]
    fn facets(&self) -> u32 {
        let flat = (self.code == shape::CONE) | (self.code == shape::HALF_SPACE);
        let own = if self.code == shape::CYLINDER { 2 } else { flat as u32 };
        if self.is_polytope() { self.p.hull.faces } else { own }
    }

    /// Flat face number `index`; the upper end of a cylinder is number 0.
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

    /// Point farthest along `d`, relative to the centre, of the shape made thinner by `inset`.
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
        // A hull and a cone are scaled down: a cone about the centre of its inscribed ball.
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

    /// The line that extends farthest along `d`: the axis of a capsule, a generator from the lower end up, or of a box
    /// or hull the edge whose middle is farthest.
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

/// Unit vector of a direction's component across the y axis, and that component's length. For a direction along the
/// axis, any.
#[inline(always)]
fn radial(l: Vec3) -> (Vec3, f32) {
    let across = sqrt(l.x * l.x + l.z * l.z);
    let scale = 1.0 / fmax(across, 1e-30);
    let out = Vec3::new(l.x * scale, 0.0, l.z * scale);
    (if across > 1e-12 { out } else { Vec3::X }, across)
}

/// Scale that makes a shape with an inscribed ball of radius `ball` thinner by about `inset` everywhere.
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
    /// Whether the face belongs to the second shape.
    on_b: bool,
    separation: f32,
}

impl BestFace {
    /// Finds it; stops at the first face along which they are at least `near` apart.
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
            // Skips most faces: even if the other shape had no extent towards them, they would be worse.
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

    /// Whether it is as good as another direction; if so it is preferred, because it gives more points.
    #[inline(always)]
    fn is_as_good(&self, found: &Nearest, thin: f32) -> bool {
        self.separation >= found.separation - FACE_PREFERENCE * abs(found.separation) - FACE_TIE * thin
    }

    /// Whether another direction is nearly its own. Between two wide faces that lean against each other, and where one
    /// overhangs the other, there is always a direction with slightly less overlap, but only one point.
    #[inline(always)]
    fn is_along(&self, found: &Nearest) -> bool {
        self.normal().dot(found.normal) > PARALLEL
    }
}

/// Direction from the second shape to the first along which they are farthest apart, or overlap least, and the distance
/// along it.
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

/// Contact of two shapes, at least one of which is a cylinder or a cone; a half-space is always the second. Points are
/// made where they are less than `near` apart. `known` is a direction that [`apart`] found, or zero.
#[inline(always)]
pub fn contact(t: &Tables<'_>, first: &Convex, second: &Convex, near: f32, known: Vec3) -> Contact {
    // Relative to the second shape's centre, because positions far from the origin of the world have fewer digits.
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

/// Points of a contact without faces: two if lines are parallel there, else one.
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
    // The lines are parallel to each other and at right angles to the normal.
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
