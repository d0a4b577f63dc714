//! A ray against each shape, in the shape's own space: `o` is where the ray starts, `d` its direction of length one. A
//! shape that is added gets a function here and a line in `touch` of the module above.

use super::Touch;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Read, abs, fmax, fmin, sqrt};
use crate::state::rigid::{Hull, HullFace};

/// The ray starts inside.
#[inline(always)]
fn inside(d: Vec3) -> Touch {
    Touch { distance: 0.0, normal: -d }
}

/// A ball around the origin.
#[inline(always)]
pub fn sphere(o: Vec3, d: Vec3, radius: f32) -> Touch {
    // From the point nearest to the middle: exact for small balls far away, where the textbook's formula is not.
    let along = -o.dot(d);
    let near = o + d * along;
    let square = radius * radius - near.length_squared();
    if o.length_squared() <= radius * radius {
        inside(d)
    } else if along < 0.0 || square < 0.0 {
        Touch::MISS
    } else {
        let distance = along - sqrt(square);
        Touch { distance: fmax(distance, 0.0), normal: (o + d * distance) / radius }
    }
}

/// A box with half sides `half`.
#[inline(always)]
pub fn cuboid(o: Vec3, d: Vec3, half: Vec3) -> Touch {
    let inverse = super::inverse(d);
    let (a, b) = ((-half - o) * inverse, (half - o) * inverse);
    let near = Vec3::new(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
    let enter = fmax(fmax(near.x, near.y), near.z);
    let leave = fmin(fmin(fmax(a.x, b.x), fmax(a.y, b.y)), fmax(a.z, b.z));
    if enter > leave || leave < 0.0 {
        Touch::MISS
    } else if enter <= 0.0 {
        inside(d)
    } else {
        let against = |v: f32| if v > 0.0 { -1.0 } else { 1.0 };
        let normal = if near.x >= enter {
            Vec3::new(against(d.x), 0.0, 0.0)
        } else if near.y >= enter {
            Vec3::new(0.0, against(d.y), 0.0)
        } else {
            Vec3::new(0.0, 0.0, against(d.z))
        };
        Touch { distance: enter, normal }
    }
}

/// A capsule along y: `half` the length of its axis.
#[inline(always)]
pub fn capsule(o: Vec3, d: Vec3, half: f32, radius: f32) -> Touch {
    let clamped = |y: f32| fmin(fmax(y, -half), half);
    let axis = o - Vec3::new(0.0, clamped(o.y), 0.0);
    // Seen along the axis a capsule is a disc. Where the ray enters that disc it meets the straight part, or it goes on
    // to the end that it has entered above or below of.
    let across = d.x * d.x + d.z * d.z;
    let steep = across < 1e-12;
    let along = if steep { 0.0 } else { -(o.x * d.x + o.z * d.z) / across };
    let near = o + d * along;
    let square = radius * radius - near.x * near.x - near.z * near.z;
    if axis.length_squared() <= radius * radius {
        inside(d)
    } else if square < 0.0 {
        Touch::MISS
    } else {
        let distance = if steep { 0.0 } else { along - sqrt(square / across) };
        let y = o.y + d.y * distance;
        if !steep && abs(y) <= half {
            let p = o + d * distance;
            let normal = Vec3::new(p.x, 0.0, p.z) / radius;
            if distance >= 0.0 { Touch { distance, normal } } else { Touch::MISS }
        } else {
            let end = if y > 0.0 { half } else { -half };
            sphere(o - Vec3::new(0.0, end, 0.0), d, radius)
        }
    }
}

/// A cylinder along y, or a cone with its base below: `half` of its height, and the radius of its base.
///
/// The side is where x^2 + z^2 is the square of the radius there, which is linear in y: a quadratic along the ray. What
/// is inside of it, of the planes through the ends, and on the right side of the apex, is the shape.
#[inline(always)]
pub fn curved(o: Vec3, d: Vec3, half: f32, radius: f32, cone: bool) -> Touch {
    // The radius shrinks by this for each metre upwards.
    let taper = if cone { radius / (2.0 * half) } else { 0.0 };
    let middle = if cone { 0.5 * radius } else { radius };
    // From the point nearest to the axis, as for a sphere.
    let across = d.x * d.x + d.z * d.z;
    let along = if across > 1e-12 { -(o.x * d.x + o.z * d.z) / across } else { 0.0 };
    let p = o + d * along;
    let (r, change) = (middle - taper * p.y, -taper * d.y);
    let a = across - change * change;
    let b = p.x * d.x + p.z * d.z - r * change;
    let c = p.x * p.x + p.z * p.z - r * r;
    let (mut enter, mut leave) = (-Touch::NEVER, Touch::NEVER);
    let mut normal = Vec3::ZERO;
    // Between the planes of the ends.
    let steep = super::inverse(Vec3::new(0.0, d.y, 0.0)).y;
    let (y0, y1) = ((-half - o.y) * steep, (half - o.y) * steep);
    let (slab_enter, slab_leave) = (fmin(y0, y1), fmax(y0, y1));
    let square = b * b - a * c;
    if abs(a) > 1e-9 {
        let root = sqrt(fmax(square, 0.0));
        // The root that loses no digits, and from it the other.
        let q = if b > 0.0 { -b - root } else { root - b };
        let (s0, s1) = (q / a, if abs(q) > 0.0 { c / q } else { 0.0 });
        let (first, second) = (fmin(s0, s1) + along, fmax(s0, s1) + along);
        if a > 0.0 {
            (enter, leave) = if square < 0.0 { (Touch::NEVER, -Touch::NEVER) } else { (first, second) };
        } else if square >= 0.0 {
            // Steeper than the side: it passes through the cone and through its mirror image, which is above the apex.
            if d.y < 0.0 { enter = second } else { leave = first }
        }
    } else if across <= 1e-12 && !cone {
        leave = if c > 0.0 { -Touch::NEVER } else { leave };
    } else if abs(b) > 1e-12 {
        // Along a generator's slope there is one crossing.
        let only = along - c / (2.0 * b);
        if b < 0.0 { enter = only } else { leave = only }
    }
    let side = enter > slab_enter;
    enter = fmax(enter, slab_enter);
    leave = fmin(leave, slab_leave);
    if enter > leave || leave < 0.0 {
        Touch::MISS
    } else if enter <= 0.0 {
        inside(d)
    } else {
        let hit = o + d * enter;
        if side {
            let out = sqrt(hit.x * hit.x + hit.z * hit.z);
            let scale = 1.0 / fmax(out, 1e-30);
            normal = Vec3::new(hit.x * scale, taper, hit.z * scale) * (1.0 / sqrt(1.0 + taper * taper));
        } else {
            normal.y = if d.y > 0.0 { -1.0 } else { 1.0 };
        }
        Touch { distance: enter, normal }
    }
}

/// Everything below y = 0.
#[inline(always)]
pub fn half_space(o: Vec3, d: Vec3) -> Touch {
    if o.y <= 0.0 {
        inside(d)
    } else if d.y < 0.0 {
        Touch { distance: -o.y / d.y, normal: Vec3::Y }
    } else {
        Touch::MISS
    }
}

/// A convex hull: what is below all of its faces.
#[inline(always)]
pub fn hull(o: Vec3, d: Vec3, hull: &Hull, faces: Read<'_, HullFace>) -> Touch {
    let (mut enter, mut leave) = (-Touch::NEVER, Touch::NEVER);
    let mut normal = Vec3::ZERO;
    let mut i = 0;
    while i < hull.faces {
        let face = faces.at(hull.first.wrapping_add(i));
        let (above, falls) = (face.normal.dot(o) - face.offset, -face.normal.dot(d));
        if falls > 0.0 {
            let distance = above / falls;
            normal = if distance > enter { face.normal } else { normal };
            enter = fmax(enter, distance);
        } else if falls < 0.0 {
            leave = fmin(leave, above / falls);
        } else if above > 0.0 {
            leave = -Touch::NEVER;
        }
        i += 1;
    }
    if enter > leave || leave < 0.0 {
        Touch::MISS
    } else if enter <= 0.0 {
        inside(d)
    } else {
        Touch { distance: enter, normal }
    }
}
