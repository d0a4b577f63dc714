//! Contact points of two hulls along an axis that `touch_hull` found.
//!
//! The area that two faces share has as corners: the corners of each face that lie inside the other, and the crossings
//! of their edges. These are enumerated and never stored, because a face may have any number of edges and lanes have no
//! memory to spare. A point is named by its corner, or by the two edges that cross in it.

use super::Contact;
use super::hull::{Polytope, Tables, axis};
use super::round::clamp;
use super::spread::Spread;
use crate::detect::collide::numbers::{CORNER, SAME_POINT};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, abs, fmax, fmin, sqrt};
use crate::state::rigid::{HullFace, NONE};

/// The part of a segment that lies over a face.
#[derive(Clone, Copy)]
pub struct ClippedSegment {
    /// Start of the part, 0 to 1 along the segment; larger than `to` if nothing is left.
    pub from: f32,
    /// End of the part.
    pub to: f32,
    /// The side of the face that cut off the beginning, or [`NONE`].
    pub from_side: u32,
    /// The side of the face that cut off the end, or [`NONE`].
    pub to_side: u32,
}

/// Clips the segment from `p` along `d` with the sides of a face, extruded along `up` and moved outward by `slack`. All
/// in the hull's axes.
#[inline(always)]
pub fn over_face(
    t: &Tables<'_>,
    hull: &Polytope,
    face: &HullFace,
    up: Vec3,
    p: Vec3,
    d: Vec3,
    slack: f32,
) -> ClippedSegment {
    let mut part = ClippedSegment { from: 0.0, to: 1.0, from_side: NONE, to_side: NONE };
    // Discs have no sides to clip with.
    let mut last = Vec3::ZERO;
    if face.count > 0 {
        last = hull.vertex(t, hull.corner(t, face, face.count - 1));
    }
    let mut side = 0;
    while side < face.count && part.from <= part.to {
        let next = hull.vertex(t, hull.corner(t, face, side));
        let out = (next - last).cross(up);
        let length = sqrt(out.length_squared());
        let beyond = out.dot(p - last) - slack * length;
        let change = out.dot(d);
        // A segment parallel to the side is inside or outside as a whole.
        if abs(change) <= 1e-6 * length * sqrt(d.length_squared()) {
            if beyond > 0.0 {
                part.to = -1.0;
            }
        } else {
            let cut = -beyond / change;
            if change > 0.0 && cut < part.to {
                part.to = cut;
                part.to_side = side;
            }
            if change < 0.0 && cut > part.from {
                part.from = cut;
                part.from_side = side;
            }
        }
        last = next;
        side += 1;
    }
    part
}

/// The contact along the axis with this code.
#[inline(always)]
pub fn contact(t: &Tables<'_>, a: &Polytope, b: &Polytope, code: u32, margin: f32, hits: bool) -> Contact {
    if code >> axis::SHIFT == axis::EDGES {
        edge_contact(t, a, b, code & 0xffff, margin)
    } else {
        face_contact(t, a, b, code, margin, hits)
    }
}

/// The direction of the axis `code`, from b to a.
#[inline(always)]
pub fn direction_of(t: &Tables<'_>, a: &Polytope, b: &Polytope, code: u32) -> Vec3 {
    let (kind, index) = (code >> axis::SHIFT, code & 0xffff);
    if kind == axis::EDGES {
        let (ea, eb) = (a.edge(t, index >> 8), b.edge(t, index & 0xff));
        let l = a.solid.to_world(ea.along).cross(b.solid.to_world(eb.along));
        let out = if l.dot(a.solid.to_world(ea.left + ea.right)) < 0.0 { 1.0 } else { -1.0 };
        l * (out / sqrt(fmax(l.length_squared(), 1e-30)))
    } else if kind == axis::FACE_B {
        b.solid.to_world(b.face(t, index).normal)
    } else {
        -a.solid.to_world(a.face(t, index).normal)
    }
}

#[inline(always)]
fn edge_contact(t: &Tables<'_>, a: &Polytope, b: &Polytope, pair: u32, margin: f32) -> Contact {
    let (ea, eb) = (a.edge(t, pair >> 8), b.edge(t, pair & 0xff));
    let (da, db) = (a.solid.to_world(ea.along), b.solid.to_world(eb.along));
    let l = da.cross(db);
    let square = l.length_squared();
    // From b to a: opposite to the outward direction of a.
    let out = if l.dot(a.solid.to_world(ea.left + ea.right)) < 0.0 { 1.0 } else { -1.0 };
    let normal = l * (out / sqrt(square));
    let (pa, pb) = (a.solid.to_world(ea.start), b.solid.centre - a.solid.centre + b.solid.to_world(eb.start));
    // Closest points of the two lines, clamped to the edges.
    let r = pb - pa;
    let s = clamp(r.cross(db).dot(l) / square, 0.0, 1.0);
    let u = clamp(r.cross(da).dot(l) / square, 0.0, 1.0);
    let (on_a, on_b) = (pa + da * s, pb + db * u);
    let mut contact = Contact::none();
    contact.normal = normal;
    if normal.dot(on_a - on_b) < margin {
        contact.add(a.solid.centre + on_a, a.solid.centre + on_b, 1 << 27 | pair);
    }
    contact
}

/// Parts of the names of points: the kind of point, the two faces, and the corner or edges.
mod name {
    /// A corner of the incident face.
    pub const INCIDENT: u32 = 1 << 28;
    /// A crossing of two edges.
    pub const CROSSING: u32 = 2 << 28;
    /// A corner of the reference face.
    pub const REFERENCE: u32 = 3 << 28;
}

#[inline(always)]
fn face_contact(t: &Tables<'_>, a: &Polytope, b: &Polytope, code: u32, margin: f32, hits: bool) -> Contact {
    let on_b = code >> axis::SHIFT == axis::FACE_B;
    let (reference, incident) = if on_b { (*b, *a) } else { (*a, *b) };
    let face = reference.face(t, code & 0xffff);
    let n = reference.solid.to_world(face.normal);
    let offset = incident.solid.centre - reference.solid.centre;

    // The incident face is the one whose normal is most opposed to the reference normal.
    let up = incident.solid.to_local(n);
    let mut against = NONE;
    let mut least = 2.0;
    let mut k = 0;
    while k < incident.hull.faces {
        let cos = up.dot(incident.face(t, k).normal);
        if cos < least {
            least = cos - 1e-4;
            against = k;
        }
        k += 1;
    }
    let other = incident.face(t, against);
    let slope = up.dot(other.normal);

    // Size of the smaller hull: the points of a pebble on a rock are as far apart as the pebble is wide.
    let extent = |half: Vec3| half.length_squared();
    let size = sqrt(fmin(extent(reference.solid.half), extent(incident.solid.half)));
    let (slack, near) = (1e-4 * size, SAME_POINT * size);
    let faces = (on_b as u32) << 27 | (code & 0x7f) << 20 | against << 13;
    let mut spread = Spread::new(face.normal, margin);
    let mut pass = 0;
    // Loops end at their foot, because a lane of a GPU would hold the points once more for each: see `primal`.
    loop {
        spread.begin(pass, near);
        let mut i = 0;
        loop {
            // Edges of the incident face are clipped by the reference face; corners of the reference face are tested
            // against the incident face.
            let edge = i < other.count;
            let (hull, sides) = if edge { (reference, face) } else { (incident, other) };
            let (owner, corners) = if edge { (incident, other) } else { (reference, face) };
            let k = if edge { i } else { i - other.count };
            let next = if k + 1 < corners.count { k + 1 } else { 0 };
            let shift = if edge { offset } else { -offset };
            let into = |v: Vec3| hull.solid.to_local(owner.solid.to_world(v) + shift);
            let (corner, corner_next) = (owner.corner(t, &corners, k), owner.corner(t, &corners, next));
            let vertex = owner.vertex(t, corner);
            let p = into(vertex);
            let d = if edge { into(owner.vertex(t, corner_next)) - p } else { Vec3::ZERO };
            let stand = if edge { face.normal } else { -up };
            let part = over_face(t, &hull, &sides, stand, p, d, if edge { slack } else { -slack });
            if i < other.count + face.count && part.from <= part.to {
                if edge {
                    // The start of the clipped edge, and its end unless that is the start of the next edge.
                    let ends = if part.to_side == NONE { 1 } else { 2 };
                    let mut end = 0;
                    loop {
                        let at = if end == 0 { part.from } else { part.to };
                        let side = if end == 0 { part.from_side } else { part.to_side };
                        // Near a corner the point gets the corner's name, on whichever edge it lies.
                        let name = if at < CORNER {
                            name::INCIDENT | corner
                        } else if at > 1.0 - CORNER {
                            name::INCIDENT | corner_next
                        } else {
                            name::CROSSING | corner << 6 | side
                        };
                        let q = p + d * at;
                        spread.consider(pass, q, face.normal.dot(q) - face.offset, faces | name);
                        end += 1;
                        if end >= ends {
                            break;
                        }
                    }
                } else if slope < -1e-3 {
                    let height = (other.offset - other.normal.dot(p)) / slope;
                    let q = vertex + face.normal * height;
                    spread.consider(pass, q, height, faces | name::REFERENCE | corner);
                }
            }
            i += 1;
            if i >= other.count + face.count {
                break;
            }
        }
        pass += 1;
        if pass >= 4 {
            break;
        }
    }

    let mut contact = Contact::none();
    contact.normal = if on_b { n } else { -n };
    let mut k = 0;
    loop {
        let tip = reference.solid.centre + reference.solid.to_world(spread.point.at(k));
        let foot = tip - n * spread.height.at(k);
        let wanted = k < spread.count;
        contact.add_if(wanted, if on_b { tip } else { foot }, if on_b { foot } else { tip }, spread.name.at(k));
        k += 1;
        if k >= spread.count {
            break;
        }
    }
    if hits && contact.count == 0 {
        // No point lies over the face: uses the deepest vertex.
        let (mut low, mut tip) = (f32::MAX, Vec3::ZERO);
        let mut i = 0;
        while i < incident.hull.vertices {
            let vertex = incident.vertex(t, i);
            let height = up.dot(vertex);
            tip = if height < low { vertex } else { tip };
            low = if height < low { height } else { low };
            i += 1;
        }
        let tip = incident.solid.centre + incident.solid.to_world(tip);
        let foot = tip - n * (n.dot(offset) + low - face.offset);
        contact.add(if on_b { tip } else { foot }, if on_b { foot } else { tip }, faces);
    }
    contact
}
