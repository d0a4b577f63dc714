//! Bending: the angle theta between two triangles that share a side, with energy k/2 (theta - rest)^2 and the block k g
//! g^T, which is positive semi-definite (g the gradient of the angle).
//!
//! ```text
//!        c              theta is 0 when both lie in a plane, and grows when c and d go down
//!       / \             n1 = e x (c - a), n2 = (d - a) x e, both up here
//!      a-e-b            theta = atan2((n1 x n2) . e / |e|, n1 . n2)
//!       \ /
//!        d
//! ```

use super::Block;
use crate::gpu::glam::Vec3;
use crate::gpu::{abs, quadrant_angle, sqrt};
use crate::state::soft::Hinge;
use core::f32::consts::PI;

/// Vectors from the first corner to the others.
#[derive(Clone, Copy)]
pub struct Wings {
    /// From a to b.
    pub b: Vec3,
    /// From a to c.
    pub c: Vec3,
    /// From a to d.
    pub d: Vec3,
}

/// Smallest sine of an angle, and smallest fraction of the longest side, with which a triangle counts as having a
/// normal.
const SLIVER: f32 = 1e-6;

/// The angle of (x, y) in -pi to pi.
#[inline(always)]
fn angle_of(y: f32, x: f32) -> f32 {
    let first = quadrant_angle(abs(y), abs(x));
    let upper = if x < 0.0 { PI - first } else { first };
    if y < 0.0 { -upper } else { upper }
}

/// A difference of angles by the shorter way round.
#[inline(always)]
pub fn wrapped(angle: f32) -> f32 {
    let down = if angle > PI { angle - 2.0 * PI } else { angle };
    if down < -PI { down + 2.0 * PI } else { down }
}

/// The angle between the triangles; `normals` need not have length one.
#[inline(always)]
fn angle(e: Vec3, normals: (Vec3, Vec3)) -> f32 {
    let along = e * (1.0 / sqrt(e.length_squared()));
    angle_of(normals.0.cross(normals.1).dot(along), normals.0.dot(normals.1))
}

#[inline(always)]
fn normals(w: &Wings) -> (Vec3, Vec3) {
    (w.b.cross(w.c), w.d.cross(w.b))
}

/// Whether both triangles have a normal.
#[inline(always)]
fn is_sound(w: &Wings, n: (Vec3, Vec3)) -> bool {
    let e = w.b.length_squared();
    let least = SLIVER * SLIVER * e;
    (e > 0.0)
        & (n.0.length_squared() > least * w.c.length_squared())
        & (n.1.length_squared() > least * w.d.length_squared())
}

/// Force and stiffness of a hinge on a corner; `before` holds the corners at the start of the step.
#[inline(always)]
pub fn hinge(h: &Hinge, corner: u32, now: &Wings, before: &Wings, dt: f32) -> Block {
    let mut block = Block::none();
    let (n, p) = (normals(now), normals(before));
    if is_sound(now, n) {
        let theta = angle(now.b, n);
        let e = sqrt(now.b.length_squared());
        let along = now.b * (1.0 / e);
        let (m1, m2) = (n.0 * (1.0 / n.0.length_squared()), n.1 * (1.0 / n.1.length_squared()));
        // Distance of corners c and d from a, measured along the side.
        let (c, d) = (now.c.dot(along), now.d.dot(along));
        let mut g = m1 * (e - c) + m2 * (e - d);
        g = if corner == 1 { m1 * c + m2 * d } else { g };
        g = if corner == 2 { m1 * -e } else { g };
        g = if corner == 3 { m2 * -e } else { g };
        let mut pull = h.stiffness * wrapped(theta - h.angle);
        let mut k = h.stiffness;
        if (h.damping > 0.0) & is_sound(before, p) {
            pull += h.damping * wrapped(theta - angle(before.b, p)) / dt;
            k += h.damping / dt;
        }
        block.force = g * -pull;
        block.add_square(k, g);
    }
    block
}
