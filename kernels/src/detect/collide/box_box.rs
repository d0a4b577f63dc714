//! Contact of two boxes: separating axes, then clipping of one face against the other.
//!
//! Faces are preferred: a pair of edges is chosen only if it is clearly better, because it gives one point where a face
//! gives up to four, and a stack must not flicker between the two. Up to eight clipped points are reduced to the four
//! that span the largest area. A point is named by the two edges it lies on, not by its index in the clipped polygon.

use super::swept::{self, Axis, bonus};
use super::{Contact, Solid, at, component};
use crate::detect::collide::numbers::{FACE_PREFERENCE, FACE_SKIN, FACE_TIE, STRIP};
use crate::gpu::glam::Vec3;
use crate::gpu::{Local, Store, abs, fmax, fmin, least, sqrt};
use crate::state::rigid::Approach;

/// Code for no axis.
const NO_EDGE: u32 = u32::MAX;

#[inline(always)]
fn lengths(v: Vec3) -> Vec3 {
    Vec3::new(abs(v.x), abs(v.y), abs(v.z))
}

/// How far a box with these half extents extends along the cross products of its axes with `v`, whose components are
/// absolute values.
#[inline(always)]
fn edge_extents(half: Vec3, v: Vec3) -> Vec3 {
    Vec3::new(half.y * v.z + half.z * v.y, half.x * v.z + half.z * v.x, half.x * v.y + half.y * v.x)
}

/// The axis with the highest score: along which the boxes are farthest apart, overlap least, or will meet (see
/// [`swept`](super::swept)). Once they are too far apart along any axis, the search stops with that distance. Codes are
/// 0 to 2 for the faces of a, 3 to 5 for those of b, and `6 + 3 i + j` for edge i of a with edge j of b. Most boxes of
/// a world lie still, so without `SWEPT` the code for moving boxes is not compiled in.
#[inline(always)]
pub fn best_axis<const SWEPT: bool>(a: &Solid, b: &Solid, approach: &Approach) -> Axis {
    let offset = b.centre - a.centre;
    // Columns: b's axes seen from a. Rows: a's axes seen from b.
    let (cx, cy, cz) = (a.to_local(b.x), a.to_local(b.y), a.to_local(b.z));
    let (ta, tb) = (a.to_local(offset), b.to_local(offset));
    let (lx, ly, lz) = (lengths(cx), lengths(cy), lengths(cz));
    let (rx, ry, rz) = (Vec3::new(lx.x, ly.x, lz.x), Vec3::new(lx.y, ly.y, lz.y), Vec3::new(lx.z, ly.z, lz.z));

    // By how much every axis closes.
    let (mut wa, mut wb) = (Vec3::ZERO, Vec3::ZERO);
    let (mut bonus_a, mut bonus_b) = (0.0, 0.0);
    if SWEPT {
        (wa, wb) = (a.to_local(approach.way), b.to_local(approach.way));
        (bonus_a, bonus_b) = (bonus(approach, a.half, b.half), bonus(approach, b.half, a.half));
    }
    let mut apart = f32::NEG_INFINITY;
    let mut best = Axis { code: NO_EDGE, score: f32::NEG_INFINITY, separation: 0.0, closing: 0.0 };
    let mut try_face = |code: u32, offset: f32, extent: f32, way: f32, bias: f32| {
        let separation = abs(offset) - extent;
        let (mut closing, mut score) = (0.0, separation);
        if SWEPT {
            closing = if offset < 0.0 { -way } else { way };
            score = swept::score(approach, separation, closing, if code < 3 { bonus_a } else { bonus_b });
            apart = fmax(apart, separation);
        }
        if score > best.score + bias {
            best = Axis { code, score, separation, closing };
        }
    };
    // A later face must beat an earlier one by a little, so that ties are decided the same way every step.
    let bias = FACE_TIE * (a.half.x + a.half.y + a.half.z);
    try_face(0, ta.x, a.half.x + b.half.dot(rx), wa.x, 0.0);
    try_face(1, ta.y, a.half.y + b.half.dot(ry), wa.y, bias);
    try_face(2, ta.z, a.half.z + b.half.dot(rz), wa.z, bias);
    try_face(3, tb.x, b.half.x + a.half.dot(lx), wb.x, bias);
    try_face(4, tb.y, b.half.y + a.half.dot(ly), wb.y, bias);
    try_face(5, tb.z, b.half.z + a.half.dot(lz), wb.z, bias);
    let apart = if SWEPT { apart } else { best.separation };
    if apart >= approach.near {
        best.separation = apart;
        return best;
    }

    let smallest = |h: Vec3| -fmax(fmax(-h.x, -h.y), -h.z);
    let size = fmax(smallest(a.half), smallest(b.half));
    let wanted = best.score + approach.faces * (FACE_PREFERENCE * abs(best.score) + FACE_SKIN * size);
    let mut edge = Axis { code: NO_EDGE, score: wanted, separation: 0.0, closing: 0.0 };
    // The gap along the cross product of two edges, before division by its length; dividing does not improve a negative
    // gap.
    let enough = fmin(edge.score, 0.0);
    let mut try_edge = |code: u32, cos: f32, gap: f32, offset: f32, way: Vec3| {
        let square = 1.0 - cos * cos;
        // For nearly parallel edges a face axis is as good.
        if gap > enough && square > 1e-3 {
            let scale = 1.0 / sqrt(square);
            let separation = gap * scale;
            // Closing can only lower the score, so an axis whose separation is too small need not be scored.
            if separation > edge.score {
                let (mut closing, mut score) = (0.0, separation);
                if SWEPT {
                    closing = component(way, (code - 6) / 3) * if offset < 0.0 { -scale } else { scale };
                    score = swept::score(approach, separation, closing, 0.0);
                }
                if score > edge.score {
                    edge = Axis { code, score, separation, closing };
                }
            }
        }
    };
    let (ox, oy, oz) = (ta.cross(cx), ta.cross(cy), ta.cross(cz));
    let gaps = |o: Vec3, l: Vec3| lengths(o) - edge_extents(a.half, l);
    let (gx, gy, gz) = (gaps(ox, lx), gaps(oy, ly), gaps(oz, lz));
    let (ex, ey, ez) = (edge_extents(b.half, rx), edge_extents(b.half, ry), edge_extents(b.half, rz));
    let (wx, wy, wz) = (wa.cross(cx), wa.cross(cy), wa.cross(cz));
    try_edge(6, cx.x, gx.x - ex.x, ox.x, wx);
    try_edge(7, cy.x, gy.x - ex.y, oy.x, wy);
    try_edge(8, cz.x, gz.x - ex.z, oz.x, wz);
    try_edge(9, cx.y, gx.y - ey.x, ox.y, wx);
    try_edge(10, cy.y, gy.y - ey.y, oy.y, wy);
    try_edge(11, cz.y, gz.y - ey.z, oz.y, wz);
    try_edge(12, cx.z, gx.z - ez.x, ox.z, wx);
    try_edge(13, cy.z, gy.z - ez.y, oy.z, wy);
    try_edge(14, cz.z, gz.z - ez.z, oz.z, wz);
    if edge.code != NO_EDGE { edge } else { best }
}

/// The contact along the axis with this code.
#[inline(always)]
pub fn contact(a: &Solid, b: &Solid, code: u32, approach: &Approach, hits: bool) -> Contact {
    let margin = approach.near;
    if code >= 6 { edge_contact(a, b, code - 6, margin) } else { face_contact(a, b, code, approach, hits) }
}

/// Middle of the edge along `axis` that is farthest in `direction`.
#[inline(always)]
fn edge_middle(s: &Solid, axis: u32, direction: Vec3) -> (Vec3, u32) {
    let d = s.to_local(direction);
    let pick = |h: f32, v: f32| if v < 0.0 { -h } else { h };
    let corner = Vec3::new(
        if axis == 0 { 0.0 } else { pick(s.half.x, d.x) },
        if axis == 1 { 0.0 } else { pick(s.half.y, d.y) },
        if axis == 2 { 0.0 } else { pick(s.half.z, d.z) },
    );
    let bits = (corner.x < 0.0) as u32 | ((corner.y < 0.0) as u32) << 1 | ((corner.z < 0.0) as u32) << 2;
    (s.centre + s.to_world(corner), bits)
}

#[inline(always)]
fn edge_contact(a: &Solid, b: &Solid, pair: u32, margin: f32) -> Contact {
    let (i, j) = (pair / 3, pair % 3);
    let (ea, eb) = (a.axis(i), b.axis(j));
    let l = ea.cross(eb);
    let l = l * (1.0 / sqrt(l.length_squared()));
    // From b to a.
    let normal = if l.dot(a.centre - b.centre) < 0.0 { -l } else { l };
    let (pa, bits_a) = edge_middle(a, i, -normal);
    let (pb, bits_b) = edge_middle(b, j, normal);
    // Closest points of the two lines.
    let r = pa - pb;
    let ab = ea.dot(eb);
    let scale = 1.0 / (1.0 - ab * ab);
    let s = (ab * eb.dot(r) - ea.dot(r)) * scale;
    let t = (eb.dot(r) - ab * ea.dot(r)) * scale;
    let (on_a, on_b) = (pa + ea * s, pb + eb * t);
    let mut contact = Contact::none();
    contact.normal = normal;
    if normal.dot(on_a - on_b) < margin {
        contact.add(on_a, on_b, 0x1000 | pair << 6 | bits_a << 3 | bits_b);
    }
    contact
}

/// A polygon while it is clipped: points in the reference face's coordinates (two in the plane, the third above it),
/// and for each the edge that leaves it, four bits apart. Edges 0 to 3 are the incident face's, 4 to 7 the reference
/// face's.
#[derive(Clone, Copy)]
struct Polygon {
    count: u32,
    point: Local<Vec3, 8>,
    edges: u32,
}

impl Polygon {
    #[inline(always)]
    fn empty() -> Self {
        Self { count: 0, point: Local::splat(Vec3::ZERO), edges: 0 }
    }

    /// Adds a point if it is wanted and there is room.
    #[inline(always)]
    fn add(&mut self, wanted: bool, point: Vec3, edge: u32) {
        let place = if wanted { self.count } else { 8 };
        self.point.put(place, point);
        if place < 8 {
            self.edges |= edge << (4 * place);
            self.count += 1;
        }
    }

    /// Number of points. Clamped to the capacity so that the compiler omits bounds checks.
    #[inline(always)]
    fn count(&self) -> u32 {
        least(self.count, 8)
    }

    /// The edge that leaves point `k`.
    #[inline(always)]
    fn edge(&self, k: u32) -> u32 {
        self.edges >> (4 * k) & 7
    }
}

/// Bit mask of the sides of the reference rectangle beyond which a point lies.
#[inline(always)]
fn beyond(p: Vec3, hu: f32, hv: f32) -> u32 {
    (p.x > hu) as u32 | ((p.y > hv) as u32) << 1 | ((p.x < -hu) as u32) << 2 | ((p.y < -hv) as u32) << 3
}

/// Cuts off the part beyond side `side` of the reference rectangle.
#[inline(always)]
fn clip(polygon: &Polygon, side: u32, hu: f32, hv: f32) -> Polygon {
    let inside = |p: Vec3| {
        if side == 0 {
            hu - p.x
        } else if side == 1 {
            hv - p.y
        } else if side == 2 {
            hu + p.x
        } else {
            hv + p.y
        }
    };
    let mut out = Polygon::empty();
    let (mut q, count) = (at(&polygon.point, 0), polygon.count());
    let mut k = 0;
    // This loop and others here end at their foot, because a lane of a GPU would hold two polygons more: see `primal`.
    loop {
        if k < count {
            let p = q;
            q = at(&polygon.point, if k + 1 < count { k + 1 } else { 0 });
            let (dp, dq) = (inside(p), inside(q));
            let label = polygon.edge(k);
            out.add(dp >= 0.0, p, label);
            let cut = p + (q - p) * (dp / (dp - dq));
            // Where the polygon leaves, the new edge runs along the side; where it enters, it is the old edge again.
            out.add((dp >= 0.0) != (dq >= 0.0), cut, if dp >= 0.0 { 4 + side } else { label });
        }
        k += 1;
        if k >= count {
            break;
        }
    }
    out
}

#[inline(always)]
fn face_contact(a: &Solid, b: &Solid, code: u32, approach: &Approach, hits: bool) -> Contact {
    let margin = approach.near;
    let on_b = code >= 3;
    let axis = if on_b { code - 3 } else { code };
    let reference = if on_b { *b } else { *a };
    let incident = if on_b { *a } else { *b };

    let toward = incident.centre - reference.centre;
    let up = reference.axis(axis);
    let flipped = up.dot(toward) < 0.0;
    let n = if flipped { -up } else { up };
    let (iu, iv) = ((axis + 1) % 3, (axis + 2) % 3);
    let (u, v) = (reference.axis(iu), reference.axis(iv));
    let (hu, hv, hn) = (component(reference.half, iu), component(reference.half, iv), component(reference.half, axis));

    // The incident face is the one whose normal is most opposed to the reference normal.
    let d = incident.to_local(n);
    let (ax, ay, az) = (abs(d.x), abs(d.y), abs(d.z));
    let face = if ax >= ay && ax >= az {
        0
    } else if ay >= az {
        1
    } else {
        2
    };
    let below = component(d, face) > 0.0;
    let (ju, jv) = ((face + 1) % 3, (face + 2) % 3);
    let side =
        incident.axis(face) * if below { -component(incident.half, face) } else { component(incident.half, face) };
    let (eu, ev) = (incident.axis(ju) * component(incident.half, ju), incident.axis(jv) * component(incident.half, jv));
    let middle = incident.centre + side - reference.centre;
    let project = |p: Vec3| Vec3::new(p.dot(u), p.dot(v), p.dot(n) - hn);

    let mut polygon = Polygon::empty();
    polygon.add(true, project(middle + eu + ev), 0);
    polygon.add(true, project(middle - eu + ev), 1);
    polygon.add(true, project(middle - eu - ev), 2);
    polygon.add(true, project(middle + eu - ev), 3);
    // Clips only at sides beyond which some corner lies.
    let mut sides = beyond(at(&polygon.point, 0), hu, hv)
        | beyond(at(&polygon.point, 1), hu, hv)
        | beyond(at(&polygon.point, 2), hu, hv)
        | beyond(at(&polygon.point, 3), hu, hv);
    loop {
        if sides != 0 {
            polygon = clip(&polygon, sides.trailing_zeros(), hu, hv);
            sides &= sides - 1;
        }
        if sides == 0 {
            break;
        }
    }

    // Keeps points within the margin, then the four that span the largest area. A thin strip is an edge grazing
    // another, as at the seam of two boxes side by side; the other box carries what lies on both.
    let mut near = 0u32;
    let mut k = 0;
    let first = at(&polygon.point, 0);
    let (mut wide_u, mut wide_v) = (0.0, 0.0);
    while k < polygon.count() {
        let p = at(&polygon.point, k);
        // At least half of the true width, whichever point comes first.
        (wide_u, wide_v) = (fmax(wide_u, abs(p.x - first.x)), fmax(wide_v, abs(p.y - first.y)));
        near |= ((p.z < margin) as u32) << k;
        k += 1;
    }
    if fmin(wide_u, wide_v) < STRIP * approach.skin && !hits {
        near = 0;
    }
    let kept = reduce(&polygon, near);

    let mut contact = Contact::none();
    contact.normal = if on_b { n } else { -n };
    let name = 0x2000 | (code << 10) | (flipped as u32) << 9 | face << 7 | (below as u32) << 6;
    let mut k = 0;
    loop {
        if k < polygon.count() {
            let p = at(&polygon.point, k);
            let before = polygon.edge(if k > 0 { k - 1 } else { polygon.count - 1 });
            let edges = before << 3 | polygon.edge(k);
            let foot = reference.centre + u * p.x + v * p.y + n * hn;
            let tip = foot + n * p.z;
            let (on_a, on_b) = if on_b { (tip, foot) } else { (foot, tip) };
            contact.add_if(kept & (1 << k) != 0, on_a, on_b, name ^ (edges << 14));
        }
        k += 1;
        if k >= polygon.count() {
            break;
        }
    }
    if hits && contact.count == 0 {
        // No point lies over the face: uses the deepest corner.
        let away = |h: f32, d: f32| if d < 0.0 { h } else { -h };
        let h = incident.half;
        let corner = incident.to_world(Vec3::new(away(h.x, d.x), away(h.y, d.y), away(h.z, d.z)));
        let tip = incident.centre + corner;
        let foot = tip - n * (n.dot(tip - reference.centre) - hn);
        contact.add(if on_b { tip } else { foot }, if on_b { foot } else { tip }, name);
    }
    contact
}

/// Bit mask of the points to keep of those in `near`: the deepest, the one farthest from it, and the farthest on either
/// side of the line between the two.
#[inline(always)]
fn reduce(polygon: &Polygon, near: u32) -> u32 {
    if near.count_ones() <= 4 {
        return near;
    }
    let mut first = near.trailing_zeros();
    let mut k = first + 1;
    while k < polygon.count() {
        let (low, here) = (at(&polygon.point, first).z, at(&polygon.point, k).z);
        if near & (1 << k) != 0 && here < low - 1e-6 * abs(low) {
            first = k;
        }
        k += 1;
    }
    let p = at(&polygon.point, first);
    let flat = |q: Vec3| Vec3::new(q.x - p.x, q.y - p.y, 0.0);
    let mut second = first;
    let mut best = -1.0;
    k = 0;
    while k < polygon.count() {
        let distance = flat(at(&polygon.point, k)).length_squared();
        if near & (1 << k) != 0 && distance > best {
            (best, second) = (distance, k);
        }
        k += 1;
    }
    let line = flat(at(&polygon.point, second));
    let (mut third, mut fourth) = (first, first);
    let (mut low, mut high) = (0.0, 0.0);
    k = 0;
    while k < polygon.count() {
        let q = flat(at(&polygon.point, k));
        let area = line.x * q.y - line.y * q.x;
        let here = near & (1 << k) != 0;
        if here && area < low {
            (low, third) = (area, k);
        }
        if here && area > high {
            (high, fourth) = (area, k);
        }
        k += 1;
    }
    1 << first | 1 << second | 1 << third | 1 << fourth
}
