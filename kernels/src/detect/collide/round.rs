//! Contacts of spheres and capsules in closed form, and of boxes on a half-space. A sphere is a capsule of length 0.

use super::{Contact, Solid, component};
use crate::detect::collide::numbers::{ON_FACE, SHORTEST_REST};
use crate::gpu::glam::Vec3;
use crate::gpu::{abs, fmax, fmin, sqrt};
use crate::state::rigid::ROLLS;

#[inline(always)]
pub(super) fn clamp(v: f32, low: f32, high: f32) -> f32 {
    fmax(low, fmin(v, high))
}

/// Unit vector along `v` and its length; `fallback` and 0 if `v` is shorter than 1e-12.
#[inline(always)]
pub(super) fn direction(v: Vec3, fallback: Vec3) -> (Vec3, f32) {
    let length = sqrt(v.length_squared());
    if length > 1e-12 { (v * (1.0 / length), length) } else { (fallback, 0.0) }
}

#[inline(always)]
fn round_point(contact: &mut Contact, a: Vec3, ra: f32, b: Vec3, rb: f32, margin: f32, feature: u32) {
    let n = contact.normal;
    if n.dot(a - b) - ra - rb < margin {
        contact.add(a - n * ra, b + n * rb, ROLLS | feature);
    }
}

/// Contact of two spheres or capsules.
#[inline(always)]
pub fn round_round(a: &Solid, b: &Solid, margin: f32) -> Contact {
    let (da, db) = (a.y * (2.0 * a.half.y), b.y * (2.0 * b.half.y));
    let (pa, pb) = (a.centre - da * 0.5, b.centre - db * 0.5);
    let r = pa - pb;
    let (aa, bb, ab) = (da.dot(da), db.dot(db), da.dot(db));
    let (ar, br) = (da.dot(r), db.dot(r));
    let tiny = 1e-20;

    // Closest points of two segments, each parameter in 0..1 (Ericson, "Real-Time Collision Detection", 5.1.9).
    let cross = aa * bb - ab * ab;
    let parallel = cross <= 1e-4 * aa * bb;
    let mut s = if parallel || aa <= tiny { 0.0 } else { clamp((ab * br - ar * bb) / cross, 0.0, 1.0) };
    let mut t = if bb > tiny { (ab * s + br) / bb } else { 0.0 };
    if t < 0.0 || t > 1.0 || parallel {
        t = clamp(t, 0.0, 1.0);
        s = if aa > tiny { clamp((ab * t - ar) / aa, 0.0, 1.0) } else { 0.0 };
    }
    let (ca, cb) = (pa + da * s, pb + db * t);
    let mut contact = Contact::none();
    contact.normal = direction(ca - cb, Vec3::Y).0;

    if parallel && aa > tiny && bb > tiny {
        // Parallel: contacts at both ends of the stretch they share.
        let (t0, t1) = (-ar / aa, (ab - ar) / aa);
        let low = clamp(fmin(t0, t1), 0.0, 1.0);
        let high = clamp(fmax(t0, t1), 0.0, 1.0);
        if (high - low) * (high - low) * aa > 1e-4 * a.radius * a.radius {
            let low_b = clamp((ab * low + br) / bb, 0.0, 1.0);
            let high_b = clamp((ab * high + br) / bb, 0.0, 1.0);
            round_point(&mut contact, pa + da * low, a.radius, pb + db * low_b, b.radius, margin, 1);
            round_point(&mut contact, pa + da * high, a.radius, pb + db * high_b, b.radius, margin, 2);
            return contact;
        }
    }
    round_point(&mut contact, ca, a.radius, cb, b.radius, margin, 0);
    contact
}

/// Point of the box closest to `p`, in the box's axes, and the outward normal there; for a point inside, those of the
/// nearest face.
#[inline(always)]
fn box_surface(half: Vec3, p: Vec3) -> (Vec3, Vec3) {
    let nearest = Vec3::new(clamp(p.x, -half.x, half.x), clamp(p.y, -half.y, half.y), clamp(p.z, -half.z, half.z));
    let away = p - nearest;
    if away.length_squared() > 1e-14 * half.length_squared() {
        return (nearest, direction(away, Vec3::Y).0);
    }
    let (dx, dy, dz) = (half.x - abs(p.x), half.y - abs(p.y), half.z - abs(p.z));
    let sign = |v: f32| if v < 0.0 { -1.0 } else { 1.0 };
    if dx <= dy && dx <= dz {
        (Vec3::new(half.x * sign(p.x), p.y, p.z), Vec3::new(sign(p.x), 0.0, 0.0))
    } else if dy <= dz {
        (Vec3::new(p.x, half.y * sign(p.y), p.z), Vec3::new(0.0, sign(p.y), 0.0))
    } else {
        (Vec3::new(p.x, p.y, half.z * sign(p.z)), Vec3::new(0.0, 0.0, sign(p.z)))
    }
}

/// A sphere on a box.
#[inline(always)]
pub fn sphere_box(a: &Solid, b: &Solid, margin: f32) -> Contact {
    let p = b.to_local(a.centre - b.centre);
    let (surface, normal) = box_surface(b.half, p);
    let mut contact = Contact::none();
    if normal.dot(p - surface) - a.radius < margin {
        contact.normal = b.to_world(normal);
        contact.add(a.centre - contact.normal * a.radius, b.centre + b.to_world(surface), ROLLS);
    }
    contact
}

/// A capsule on a box; the box is a.
#[inline(always)]
pub fn box_capsule(a: &Solid, b: &Solid, margin: f32) -> Contact {
    let p = a.to_local(b.centre - a.centre);
    let d = a.to_local(b.y * b.half.y);
    // Closest points of segment and box, by alternating projections between the two convex sets.
    let mut t = 0.0;
    let mut round = 0;
    while round < 8 {
        let (surface, _) = box_surface(a.half, p + d * t);
        let square = d.length_squared();
        t = if square > 0.0 { clamp((surface - p).dot(d) / square, -1.0, 1.0) } else { 0.0 };
        round += 1;
    }
    let (surface, out) = box_surface(a.half, p + d * t);
    let mut contact = Contact::none();
    contact.normal = a.to_world(-out);

    // On a face: contacts at both ends of the stretch over the face, so that a capsule rests without rocking.
    let (ax, ay, az) = (abs(out.x), abs(out.y), abs(out.z));
    let axis = if ax > ay && ax > az {
        0
    } else if ay > az {
        1
    } else {
        2
    };
    if component(Vec3::new(ax, ay, az), axis) > ON_FACE {
        let (mut low, mut high) = (-1.0, 1.0);
        let mut k = 0;
        while k < 3 {
            if k != axis {
                let (pk, dk, hk) = (component(p, k), component(d, k), component(a.half, k));
                if abs(dk) > 1e-6 * hk {
                    let (t0, t1) = ((-hk - pk) / dk, (hk - pk) / dk);
                    low = fmax(low, fmin(t0, t1));
                    high = fmin(high, fmax(t0, t1));
                }
            }
            k += 1;
        }
        if high - low > 2.0 * SHORTEST_REST {
            let face = component(a.half, axis);
            let side = if component(out, axis) < 0.0 { -1.0 } else { 1.0 };
            let mut end = 0;
            while end < 2 {
                let q = p + d * if end == 0 { low } else { high };
                let above = component(q, axis) * side - face;
                if above - b.radius < margin {
                    let on_face = q - out * (above / component(out, axis) * side);
                    let on_capsule = b.centre + a.to_world(q - p) + contact.normal * b.radius;
                    contact.add(a.centre + a.to_world(on_face), on_capsule, ROLLS | (1 + end));
                }
                end += 1;
            }
            return contact;
        }
    }
    let q = p + d * t;
    if out.dot(q - surface) - b.radius < margin {
        let on_capsule = a.centre + a.to_world(q) + contact.normal * b.radius;
        contact.add(a.centre + a.to_world(surface), on_capsule, ROLLS);
    }
    contact
}

/// A sphere or capsule on a half-space.
#[inline(always)]
pub fn round_half_space(a: &Solid, b: &Solid, margin: f32) -> Contact {
    let mut contact = Contact::none();
    contact.normal = b.y;
    let axis = a.y * a.half.y;
    let ends = if a.half.y > 0.0 { 2 } else { 1 };
    let mut end = 0;
    while end < ends {
        let p = a.centre + axis * if end == 0 { 1.0 } else { -1.0 };
        let above = b.y.dot(p - b.centre);
        if above - a.radius < margin {
            contact.add(p - b.y * a.radius, p - b.y * above, ROLLS | end);
        }
        end += 1;
    }
    contact
}

/// Contact of a box with a half-space: the corners of the face that faces it.
#[inline(always)]
pub fn box_half_space(a: &Solid, b: &Solid, margin: f32) -> Contact {
    let mut contact = Contact::none();
    contact.normal = b.y;
    let n = a.to_local(b.y);
    let (ax, ay, az) = (abs(n.x), abs(n.y), abs(n.z));
    let axis = if ax > ay && ax > az {
        0
    } else if ay > az {
        1
    } else {
        2
    };
    let down = if component(n, axis) > 0.0 { -1.0 } else { 1.0 };
    let (h, u, v) = (a.half, if axis == 0 { a.y } else { a.x }, if axis == 2 { a.y } else { a.z });
    let (hu, hv) = (if axis == 0 { h.y } else { h.x }, if axis == 2 { h.y } else { h.z });
    let face = a.centre + a.axis(axis) * (component(h, axis) * down);
    let mut corner = 0;
    while corner < 4 {
        let p = face + u * if corner & 1 == 0 { hu } else { -hu } + v * if corner & 2 == 0 { hv } else { -hv };
        let above = b.y.dot(p - b.centre);
        if above < margin {
            let side = if down < 0.0 { 4 } else { 0 };
            contact.add(p, p - b.y * above, axis * 8 + side + corner);
        }
        corner += 1;
    }
    contact
}
