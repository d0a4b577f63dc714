//! Contacts of spheres and capsules with hulls, and of hulls with a half-space.

use super::hull::{Polytope, Tables};
use super::hull_clip::over_face;
use super::round::{clamp, direction};
use super::spread::Spread;
use super::{Contact, Solid};
use crate::detect::collide::numbers::{FACE_PREFERENCE, FACE_SKIN, ON_FACE, SAME_POINT, SHORTEST_REST};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, abs, fmax, fmin, sqrt};
use crate::state::rigid::ROLLS;

/// Contact of a sphere or capsule, which is a, with a hull.
///
/// While the capsule's axis is outside the hull, the nearest points are either a point of the axis and one on an edge,
/// or an end of the axis and a point on the face whose plane is farthest below that end. If the axis runs through the
/// hull, the shortest way out is across a face, or at right angles to the axis and an edge.
#[inline(always)]
pub fn round_contact(t: &Tables<'_>, a: &Solid, b: &Polytope, margin: f32) -> Contact {
    let middle = b.solid.to_local(a.centre - b.solid.centre);
    let d = b.solid.to_local(a.y * (2.0 * a.half.y));
    let p = middle - d * 0.5;
    let dd = d.length_squared();

    // The face farthest below the whole segment, and below each of its ends.
    let (mut way, mut face) = (f32::NEG_INFINITY, 0);
    let (mut way_p, mut face_p) = (f32::NEG_INFINITY, 0);
    let (mut way_q, mut face_q) = (f32::NEG_INFINITY, 0);
    let (mut enters, mut leaves) = (0.0, 1.0);
    let mut k = 0;
    while k < b.hull.faces {
        let plane = b.face(t, k);
        let above_p = plane.normal.dot(p) - plane.offset;
        let above_q = plane.normal.dot(p + d) - plane.offset;
        let above = fmin(above_p, above_q);
        if above > way {
            (way, face) = (above, k);
        }
        if above_p > way_p {
            (way_p, face_p) = (above_p, k);
        }
        if above_q > way_q {
            (way_q, face_q) = (above_q, k);
        }
        let change = above_q - above_p;
        if change > 0.0 {
            leaves = fmin(leaves, -above_p / change);
        } else if change < 0.0 {
            enters = fmax(enters, -above_p / change);
        } else if above_p > 0.0 {
            leaves = -1.0;
        }
        k += 1;
    }
    let inside = enters <= leaves;

    // The nearest point on an edge; if inside, the edge axis of least overlap.
    let mut nearest = f32::MAX;
    let (mut on_hull, mut on_axis) = (Vec3::ZERO, p);
    let (mut least, mut across, mut over_edge) = (f32::NEG_INFINITY, Vec3::Y, p);
    let mut k = 0;
    while k < b.hull.edges {
        let edge = b.edge(t, k);
        let e = edge.along;
        let r = p - edge.start;
        let (ee, de) = (e.length_squared(), d.dot(e));
        let cross = dd * ee - de * de;
        let s = if cross > 1e-4 * dd * ee { clamp((de * e.dot(r) - d.dot(r) * ee) / cross, 0.0, 1.0) } else { 0.0 };
        let u = clamp((de * s + e.dot(r)) / ee, 0.0, 1.0);
        let s = if dd > 0.0 { clamp((de * u - d.dot(r)) / dd, 0.0, 1.0) } else { 0.0 };
        let (q, h) = (p + d * s, edge.start + e * u);
        let square = (q - h).length_squared();
        if square < nearest {
            nearest = square;
            (on_hull, on_axis) = (h, q);
        }
        if inside && cross > 1e-5 * dd * ee {
            let l = e.cross(d) * (1.0 / sqrt(cross));
            let l = if l.dot(edge.left + edge.right) < 0.0 { -l } else { l };
            // The axis must lie between the normals beside the edge; otherwise the edge does not protrude that way.
            let between = edge.left.cross(l).dot(e) * l.cross(edge.right).dot(e) > 0.0;
            let out = l.dot(r);
            if between && out > least {
                (least, across, over_edge) = (out, l, q);
            }
        }
        k += 1;
    }

    let distance = sqrt(nearest);
    let flat = b.face(t, face).normal;
    let mut out = direction(on_axis - on_hull, flat).0;
    let mut height = distance;
    // Tests whether the faces lie under the ends; if inside, whether the best face lies under the deeper end.
    let deeper = if flat.dot(d) > 0.0 { p } else { p + d };
    let mut under = false;
    let mut end = 0;
    while end < 2 {
        let (above, index, q) = if end == 0 { (way_p, face_p, p) } else { (way_q, face_q, p + d) };
        let plane = b.face(t, if inside { face } else { index });
        let q = if inside { deeper } else { q };
        let over = over_face(t, b, &plane, plane.normal, q, Vec3::ZERO, 0.0);
        under = over.from <= over.to;
        if under && !inside && above > 0.0 && above <= height {
            (out, height, on_axis) = (plane.normal, above, q);
            on_hull = q - out * above;
        }
        end += 1;
    }
    if inside {
        let threshold = if under { way + FACE_PREFERENCE * abs(way) + FACE_SKIN * a.radius } else { way };
        let by_edge = least > threshold;
        out = if by_edge { across } else { flat };
        height = if by_edge { least } else { way };
        on_axis = if by_edge { over_edge } else { deeper };
        on_hull = on_axis - out * height;
    }

    let mut contact = Contact::none();
    let world = |v: Vec3| b.solid.centre + b.solid.to_world(v);
    // On a face: contacts at both ends of the stretch over it, so that a capsule rests without rocking.
    if dd > 0.0 && out.dot(flat) > ON_FACE {
        let plane = b.face(t, face);
        let over = over_face(t, b, &plane, flat, p, d, 0.0);
        let lower = flat.dot(p + d * if flat.dot(d) > 0.0 { over.from } else { over.to }) - plane.offset;
        // Not if something beside the face is nearer.
        if over.to - over.from > SHORTEST_REST && lower < height + FACE_SKIN * a.radius {
            contact.normal = b.solid.to_world(flat);
            let mut end = 0;
            while end < 2 {
                let q = p + d * if end == 0 { over.from } else { over.to };
                let above = flat.dot(q) - plane.offset;
                if above - a.radius < margin {
                    contact.add(world(q - flat * a.radius), world(q - flat * above), ROLLS | (1 + end));
                }
                end += 1;
            }
            return contact;
        }
    }
    contact.normal = b.solid.to_world(out);
    if height - a.radius < margin {
        contact.add(world(on_axis - out * a.radius), world(on_hull), ROLLS);
    }
    contact
}

/// Contact of a hull with a half-space: of the vertices within the margin, those that span the largest area.
#[inline(always)]
pub fn half_space_contact(t: &Tables<'_>, a: &Polytope, b: &Solid, margin: f32) -> Contact {
    let up = a.solid.to_local(b.y);
    let base = b.y.dot(a.solid.centre - b.centre);
    let near = SAME_POINT * sqrt(a.solid.half.length_squared());
    let mut spread = Spread::new(up, margin);
    let mut pass = 0;
    while pass < 4 {
        spread.begin(pass, near);
        let mut i = 0;
        while i < a.hull.vertices {
            let v = a.vertex(t, i);
            spread.consider(pass, v, base + up.dot(v), i);
            i += 1;
        }
        pass += 1;
    }
    let mut contact = Contact::none();
    contact.normal = b.y;
    let mut k = 0;
    while k < spread.count {
        let p = a.solid.centre + a.solid.to_world(spread.point.at(k));
        contact.add(p, p - b.y * spread.height.at(k), spread.name.at(k));
        k += 1;
    }
    contact
}
