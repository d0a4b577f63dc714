//! Contact points over a flat face, when one of the two shapes is a cylinder or a cone.
//!
//! The area that two shapes share over a face is bounded by straight edges and arcs. Its corners are enumerated, and up
//! to four are chosen that span the largest area: edges of one shape clipped by the sides or the rim of the other, and
//! points of the rims.
//!
//! An end that lies flat has eight points that are fixed to the body. An end that is tilted so little that it may still
//! come to rest has four, counted from its lowest point, so a shape that rolls on its rim never rolls over corners. A
//! shape that is tilted more only has its lowest generator, whose ends are the lowest points of the rims.

use super::{Convex, Facet, radial};
use crate::detect::collide::Contact;
use crate::detect::collide::hull::Tables;
use crate::detect::collide::hull_clip::{ClippedSegment, over_face};
use crate::detect::collide::numbers::{CORNER, FACING, FLAT, PARALLEL, RIM_SLACK, SAME_POINT};
use crate::detect::collide::round::direction;
use crate::detect::collide::spread::Spread;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, fmax, fmin, sqrt};
use crate::state::rigid::{NONE, ROLLS, shape};

/// Parts of the names of points: the kind of point, stored above the corner or part.
mod name {
    /// A corner of the incident face, or the beginning of one of its edges.
    pub const INCIDENT: u32 = 1 << 8;
    /// A crossing of an edge with a rim or a side.
    pub const CROSSING: u32 = 2 << 8;
    /// A corner of the reference face.
    pub const REFERENCE: u32 = 3 << 8;
    /// A point of the incident rim.
    pub const RIM: u32 = 4 << 8;
    /// A point of the reference rim.
    pub const REFERENCE_RIM: u32 = 5 << 8;
    /// A crossing of the rims.
    pub const RIMS: u32 = 6 << 8;
    /// A point of a tilted rim, counted from the lowest.
    pub const TILTED: u32 = 1 << 4;
}

/// The end of a cylinder, or the base of a cone, in world axes.
#[derive(Clone, Copy)]
struct Disc {
    centre: Vec3,
    normal: Vec3,
    radius: f32,
    /// Directions from which its points are counted: the first point, and a quarter of a turn on.
    x: Vec3,
    z: Vec3,
}

impl Disc {
    /// Point `k` of 8 on the rim, an eighth of a turn apart: the quarters come first.
    #[inline(always)]
    fn point(&self, k: u32) -> Vec3 {
        let along = if k & 2 == 0 { 1.0 } else { 0.0 };
        let sign = if k & 1 == 0 { 1.0 } else { -1.0 };
        let (c, s) = (along * sign, (1.0 - along) * sign);
        let half = core::f32::consts::FRAC_1_SQRT_2;
        let between = ((c - s) * half, (c + s) * half);
        let (c, s) = (if k < 4 { c } else { between.0 }, if k < 4 { s } else { between.1 });
        self.centre + (self.x * c + self.z * s) * self.radius
    }

    /// The part of a segment that lies over the disc, seen along `up`, when its radius is larger by `slack`.
    #[inline(always)]
    fn over(&self, up: Vec3, p: Vec3, d: Vec3, slack: f32) -> ClippedSegment {
        let slope = self.normal.dot(up);
        let flatten = |v: Vec3| v - up * (self.normal.dot(v) / slope);
        let (x, along) = (flatten(p - self.centre), flatten(d));
        let radius = self.radius + slack;
        let (aa, ax) = (along.length_squared(), along.dot(x));
        let outside = x.length_squared() - radius * radius;
        let square = ax * ax - aa * outside;
        let root = sqrt(fmax(square, 0.0));
        let scale = 1.0 / fmax(aa, 1e-30);
        let (enters, leaves) = ((-ax - root) * scale, (root - ax) * scale);
        // A point, or a very short segment, is inside or outside as a whole.
        let short = aa <= 1e-12 * radius * radius;
        let misses = if short { outside > 0.0 } else { square < 0.0 };
        let (cut_from, cut_to) = ((enters > 0.0) & !short, (leaves < 1.0) & !short);
        let to = if cut_to { leaves } else { 1.0 };
        ClippedSegment {
            from: if cut_from { enters } else { 0.0 },
            to: if misses { -1.0 } else { to },
            from_side: if cut_from { 0 } else { NONE },
            to_side: if cut_to { 0 } else { NONE },
        }
    }
}

/// Points over a face.
#[derive(Clone, Copy)]
pub struct FlatContact {
    /// The points.
    pub contact: Contact,
    /// Whether the deepest point of the other shape lies over the face. If not, the nearest points may be elsewhere.
    pub over: bool,
    /// Whether a face of the other shape is parallel to it, or nearly so.
    pub parallel: bool,
}

/// Points over `facet` of the reference shape; `separation` is the distance of the incident shape from its plane.
#[inline(always)]
pub fn contact(
    t: &Tables<'_>,
    reference: &Convex,
    incident: &Convex,
    facet: &Facet,
    on_b: bool,
    separation: f32,
    near: f32,
) -> FlatContact {
    let n = facet.normal;
    let (middle_r, middle_i) = (reference.p.solid.centre, incident.p.solid.centre);
    let level = n.dot(middle_r) + facet.offset;
    let (curved_r, curved_i) = (reference.is_curved(), incident.is_curved());
    let (sides_r, sides_i) = (reference.is_polytope(), incident.is_polytope());

    // The incident face is the one whose normal is most opposed to the reference normal.
    let mut against = Facet { normal: n, offset: 0.0, index: 0 };
    let mut slope = 2.0;
    let mut k = 0;
    while k < incident.facets() {
        let face = incident.facet(&t.outlines(), k);
        let cos = n.dot(face.normal);
        let better = cos < slope;
        let lower = cos - 1e-4;
        slope = if better { lower } else { slope };
        against.normal = if better { face.normal } else { against.normal };
        against.offset = if better { face.offset } else { against.offset };
        against.index = if better { k } else { against.index };
        k += 1;
    }
    let slope = n.dot(against.normal);
    let level_i = against.normal.dot(middle_i) + against.offset;

    let disc_of = |s: &Convex, f: &Facet| Disc {
        centre: s.p.solid.centre + f.normal * f.offset,
        normal: f.normal,
        radius: s.p.solid.half.x,
        x: s.p.solid.x,
        z: s.p.solid.z,
    };
    let (disc_r, mut disc_i) = (disc_of(reference, facet), disc_of(incident, &against));
    let facing = slope < -FACING;
    let tilt = against.normal.cross(n).length_squared();
    let level_end = facing & (tilt < FLAT * FLAT);
    let tilted = curved_i & facing & !level_end;
    let lowest = incident.p.solid.to_world(radial(incident.p.solid.to_local(-n)).0);
    let beside = against.normal.cross(lowest);
    disc_i.x = if tilted { lowest } else { disc_i.x };
    disc_i.z = if tilted { beside } else { disc_i.z };

    let (mut face_r, mut face_i) = (reference.p.face(t, facet.index), incident.p.face(t, against.index));
    face_r.count = if sides_r { face_r.count } else { 0 };
    face_i.count = if sides_i { face_i.count } else { 0 };
    let line = incident.line(t, -n);
    let (line_start, line_way) = (middle_i + line.from, line.to - line.from);

    // Number of candidates of each kind.
    let eighths = if level_end { 8 } else { 4 };
    let rim_i = if curved_i & facing { eighths } else { 0 };
    let line_i = !(curved_i & level_end) as u32;
    let edges_i = if sides_i { face_i.count } else { line_i };
    let edges_r = if curved_i & facing { face_r.count } else { 0 };
    let parallel = curved_i & (slope < -PARALLEL);
    let rim_r = if curved_r & (sides_i | parallel) { 8 } else { 0 };
    let rims = if curved_r & parallel { 2 } else { 0 };
    let (end_0, end_1, end_2) = (rim_i, rim_i + edges_i, rim_i + edges_i + edges_r);
    let end_3 = end_2 + rim_r;

    // Crossings of the rims: on the line at right angles to the one between the centres.
    let between = disc_r.centre - disc_i.centre;
    let between = between - n * n.dot(between);
    let (toward, apart) = direction(between, disc_i.x);
    let (ri, rr) = (disc_i.radius, disc_r.radius);
    let along = (apart * apart + ri * ri - rr * rr) / (2.0 * fmax(apart, 1e-30));
    let square = ri * ri - along * along;
    let crossing = disc_i.centre + toward * along;
    let crossing = crossing - n * (n.dot(crossing) - level);
    let sideways = n.cross(toward) * sqrt(fmax(square, 0.0));

    // Size of the smaller shape, as for hulls.
    let extent = |s: &Convex| if s.code == shape::HALF_SPACE { f32::MAX } else { s.p.solid.half.length_squared() };
    let size = fmax(sqrt(fmin(extent(reference), extent(incident))), incident.round);
    let slack = if curved_r && curved_i { RIM_SLACK * fmin(ri, rr) } else { 1e-4 * size };
    let faces = (on_b as u32) << 27 | (facet.index & 0x7f) << 20 | against.index << 13;
    let mut spread = Spread::new(n, near);
    // An end that lies flat keeps the same points whichever way it leans slightly.
    let rests = curved_i & level_end;
    spread.tie = if rests { fmax(spread.tie, 2.0 * FLAT * disc_i.radius) } else { spread.tie };
    let mut deepest = f32::MAX;
    let total = end_3 + rims;
    // All candidates once for each of the four points, in one loop: see `nearest`.
    let (mut pass, mut i) = (0, 0);
    while (pass < 4) & (total > 0) {
        if i == 0 {
            spread.begin(pass, SAME_POINT * size);
        }
        let from_rim = i < end_0;
        let from_edge = (i >= end_0) & (i < end_1);
        let from_side = (i >= end_1) & (i < end_2);
        let from_crossing = i >= end_3;
        let own = from_rim | from_edge;
        // The candidate: a point `p`, or a segment from `p` along `d`.
        let from_line = from_edge & !sides_i;
        let listed = (from_edge & sides_i) | from_side;
        let number = i - if from_rim {
            0
        } else if from_edge {
            end_0
        } else if from_side {
            end_1
        } else if from_crossing {
            end_3
        } else {
            end_2
        };
        let disc = if own { disc_i } else { disc_r };
        let on_rim = disc.point(number);
        let crosses = crossing + sideways * if number == 0 { 1.0 } else { -1.0 };
        let mut p = if from_crossing { crosses } else { on_rim };
        p = if from_line { line_start } else { p };
        let mut d = if from_line { line_way } else { Vec3::ZERO };
        let (mut what, mut corner_next) = (number, 0);
        if listed {
            let owner = if own { incident.p } else { reference.p };
            let face = if own { face_i } else { face_r };
            what = owner.corner(t, &face, number);
            corner_next = owner.corner(t, &face, if number + 1 < face.count { number + 1 } else { 0 });
            let start = owner.vertex(t, what);
            p = owner.solid.centre + owner.solid.to_world(start);
            d = owner.solid.to_world(owner.vertex(t, corner_next) - start);
        }
        // Clips it to the other's face; a face without sides that is no disc extends everywhere.
        let clipper = if own { reference.p } else { incident.p };
        let mut sides = if own { face_r } else { face_i };
        sides.count = if from_crossing { 0 } else { sides.count };
        let inward = if own | curved_r { slack } else { -slack };
        let mut part = ClippedSegment { from: 0.0, to: 1.0, from_side: NONE, to_side: NONE };
        if sides.count > 0 {
            let stand = clipper.solid.to_local(if own { n } else { -n });
            let local = clipper.solid.to_local(p - clipper.solid.centre);
            part = over_face(t, &clipper, &sides, stand, local, clipper.solid.to_local(d), inward);
        }
        let round = if own { disc_r } else { disc_i }.over(n, p, d, inward);
        let by_disc = (if own { curved_r } else { curved_i }) & !from_crossing;
        part.from = if by_disc { round.from } else { part.from };
        part.to = if by_disc { round.to } else { part.to };
        part.from_side = if by_disc { round.from_side } else { part.from_side };
        part.to_side = if by_disc { round.to_side } else { part.to_side };
        let none = (from_crossing & ((square <= 0.0) | (apart < slack))) | (part.from > part.to);
        let last = (part.to_side == NONE) & listed;
        let one = (d.length_squared() <= 0.0) | last;
        let some = if one { 1 } else { 2 };
        let ends = if none { 0 } else { some };
        let mut end = 0;
        while end < ends {
            let at = if end == 0 { part.from } else { part.to };
            let q = p + d * at;
            let below = (level_i - against.normal.dot(q)) / fmin(slope, -1e-6);
            let beyond = !own;
            let above = if beyond { below } else { n.dot(q) - level - incident.round };
            let height = if beyond & (slope > -1e-3) { f32::MAX } else { above };
            let tip = q + n * if beyond { below } else { -incident.round };
            // Near a corner the point gets the corner's name, on whichever edge it lies.
            let corner = if own { name::INCIDENT } else { name::REFERENCE };
            let (begins, stops) = (at < CORNER, at > 1.0 - CORNER);
            let cut = name::CROSSING | what | (own as u32) << 6 | end << 7;
            let of_edge = if begins { corner | what } else { cut };
            let of_edge = if stops & !begins { corner | corner_next } else { of_edge };
            let rim = if own { name::RIM | what } else { name::REFERENCE_RIM | what };
            let fixed = if from_crossing { name::RIMS | what } else { rim };
            let fixed = faces | if listed { of_edge } else { fixed };
            let rolling = ROLLS | if from_line { 1 + end } else { name::TILTED | what };
            let named = if from_line | (from_rim & !level_end) { rolling } else { fixed };
            deepest = fmin(deepest, height);
            spread.consider(pass, tip, height, named);
            end += 1;
        }
        let last = i + 1 >= total;
        pass += last as u32;
        i = if last { 0 } else { i + 1 };
    }

    let mut contact = Contact::none();
    contact.normal = if on_b { n } else { -n };
    let mut k = 0;
    while k < spread.count {
        let (tip, height) = (spread.point.at(k), spread.height.at(k));
        let foot = tip - n * height;
        contact.add(if on_b { tip } else { foot }, if on_b { foot } else { tip }, spread.name.at(k));
        k += 1;
    }
    // The lowest point of a rim that lies flat is missed by at most 1 - cos(45 degrees) of the tilt.
    let left_out = if rests { 0.3 * FLAT * disc_i.radius } else { 0.0 };
    let over = (contact.count > 0) & (deepest <= separation + left_out + 1e-4 * size);
    FlatContact { contact, over, parallel: (contact.count > 0) & (parallel | (sides_i & (slope < -PARALLEL))) }
}
