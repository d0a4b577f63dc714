//! How far a point is from the surface of a collider, and which way leads out of it: exact for every shape, inside and
//! outside, in the collider's own axes.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Read, abs, fmax, fmin, sqrt};
use crate::state::rigid::{Collider, Hull, HullEdge, HullFace, shape};

/// The place of the surface that is nearest to a point.
#[derive(Clone, Copy)]
pub struct Surface {
    /// From there to the point, metres; below 0 inside.
    pub distance: f32,
    /// Out of the shape there.
    pub normal: Vec3,
}

/// Of a number, without zero.
#[inline(always)]
fn sign(v: f32) -> f32 {
    if v < 0.0 { -1.0 } else { 1.0 }
}

/// A box with a radius around it: spheres, boxes and capsules.
#[inline(always)]
pub fn rounded(p: Vec3, half: Vec3, radius: f32) -> Surface {
    let q = Vec3::new(abs(p.x) - half.x, abs(p.y) - half.y, abs(p.z) - half.z);
    let out = Vec3::new(fmax(q.x, 0.0), fmax(q.y, 0.0), fmax(q.z, 0.0));
    let length = sqrt(out.length_squared());
    // Inside, the nearest side.
    let (x, y) = ((q.x >= q.y) & (q.x >= q.z), q.y >= q.z);
    let one = |on: bool| if on { 1.0 } else { 0.0 };
    let side = Vec3::new(one(x), one(!x & y), one(!x & !y));
    let outside = length > 1e-12;
    let n = if outside { out * (1.0 / fmax(length, 1e-30)) } else { side };
    let distance = if outside { length } else { fmax(q.x, fmax(q.y, q.z)) };
    Surface { distance: distance - radius, normal: Vec3::new(n.x * sign(p.x), n.y * sign(p.y), n.z * sign(p.z)) }
}

/// A cylinder or a cone along y.
#[inline(always)]
pub fn curved(p: Vec3, half: f32, radius: f32, is_cone: bool) -> Surface {
    let round = sqrt(p.x * p.x + p.z * p.z);
    let out = if round > 1e-12 { Vec3::new(p.x, 0.0, p.z) * (1.0 / round) } else { Vec3::X };
    // In the half plane of the axis and the point: how far out, how high.
    let (distance, away, up);
    if is_cone {
        let (height, slant) = (2.0 * half, sqrt(4.0 * half * half + radius * radius));
        let (side_away, side_up) = (height / slant, radius / slant);
        let below = -half - p.y;
        let beside = side_away * round + side_up * (p.y - half);
        // The nearest of the line from the tip to the rim.
        let along = (radius * round - height * (p.y - half)) / (slant * slant);
        let t = fmax(0.0, fmin(along, 1.0));
        let (x, y) = (round - radius * t, p.y - half + height * t);
        let length = sqrt(x * x + y * y);
        let under = (below > 0.0) & (round <= radius);
        let inside = (below <= 0.0) & (beside <= 0.0);
        let base = if inside { below > beside } else { under };
        // On the line itself its own direction is the one that is left.
        let plain = inside | (length <= 1e-12);
        distance = if base {
            below
        } else if plain {
            beside
        } else {
            length
        };
        let scale = 1.0 / fmax(length, 1e-30);
        away = if base {
            0.0
        } else if plain {
            side_away
        } else {
            x * scale
        };
        up = if base {
            -1.0
        } else if plain {
            side_up
        } else {
            y * scale
        };
    } else {
        let flat = rounded(Vec3::new(round, p.y, 0.0), Vec3::new(radius, half, f32::MAX), 0.0);
        (distance, away, up) = (flat.distance, flat.normal.x, flat.normal.y);
    }
    Surface { distance, normal: out * away + Vec3::Y * up }
}

/// A convex hull. If the face whose plane is farthest from the point holds the point's foot, that is the nearest place;
/// otherwise an edge has it.
#[inline(always)]
pub fn hull(p: Vec3, hull: &Hull, faces: Read<'_, HullFace>, edges: Read<'_, HullEdge>) -> Surface {
    let mut surface = Surface { distance: f32::MIN, normal: Vec3::Y };
    let mut i = 0;
    while i < hull.faces {
        let face = faces.at(hull.first.wrapping_add(i));
        let distance = face.normal.dot(p) - face.offset;
        if distance > surface.distance {
            surface = Surface { distance, normal: face.normal };
        }
        i += 1;
    }
    if surface.distance > 0.0 {
        let foot = p - surface.normal * surface.distance;
        let mut beyond = f32::MIN;
        i = 0;
        while i < hull.faces {
            let face = faces.at(hull.first.wrapping_add(i));
            beyond = fmax(beyond, face.normal.dot(foot) - face.offset);
            i += 1;
        }
        if beyond > 1e-5 * hull.inner {
            let mut nearest = Vec3::ZERO;
            let mut least = f32::MAX;
            i = 0;
            while i < hull.edges {
                let edge = edges.at(hull.first.wrapping_add(i));
                let from = p - edge.start;
                let t = fmax(0.0, fmin(from.dot(edge.along) / fmax(edge.along.length_squared(), 1e-30), 1.0));
                let way = from - edge.along * t;
                if way.length_squared() < least {
                    (nearest, least) = (way, way.length_squared());
                }
                i += 1;
            }
            let length = sqrt(least);
            if length > 1e-12 {
                surface = Surface { distance: length, normal: nearest * (1.0 / length) };
            }
        }
    }
    surface
}

/// Of a collider. This is where shapes are told apart.
#[inline(always)]
pub fn surface(
    p: Vec3,
    collider: &Collider,
    of: &Hull,
    faces: Read<'_, HullFace>,
    edges: Read<'_, HullEdge>,
) -> Surface {
    let (code, half) = (collider.what.shape, collider.size.half());
    if code == shape::HALF_SPACE {
        Surface { distance: p.y, normal: Vec3::Y }
    } else if code == shape::HULL {
        hull(p, of, faces, edges)
    } else if shape::is_curved(code) {
        curved(p, half.y, half.x, code == shape::CONE)
    } else {
        rounded(p, half, collider.size.radius)
    }
}
