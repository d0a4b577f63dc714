//! Triangles of cloth: stable Neo-Hookean energy Psi = mu/2 (|F|^2 - 2) + l/2 (J - a)^2, with mu and lambda the Lame
//! coefficients times the thickness, l = lambda + mu, a = 1 + mu/l, F = (f0, f1) the deformation gradient and J = |f0 x
//! f1| the area over that at rest.
//!
//! With (u, v) a corner's weights, w = u f1 - v f0 and n the normal, J changes by d = w x n along a motion of the
//! corner, and its second derivative is (|w|^2 I - w w^T - d d^T) / J. With s = l (J - a) the force is -A (mu (u f0 + v
//! f1) + s d), and the block A (mu (u^2 + v^2) I + l d d^T + r (|w|^2 I - w w^T - d d^T)) with r = max(0, s) / J: the
//! second derivative itself while the triangle is stretched, positive definite always.
//!
//! Damping is that of the metric, as of [tetrahedra](super::tetrahedron).

use super::Block;
use crate::gpu::glam::Vec3;
use crate::gpu::{fmax, sqrt};
use crate::state::soft::Membrane;

/// Lower bound of J squared, so that a flat triangle has no division by zero.
const FLAT: f32 = 1e-20;

/// Columns of the deformation gradient: sides from the first corner to the others, in coordinates of the rest shape.
#[inline(always)]
fn columns(m: &Membrane, to_b: Vec3, to_c: Vec3) -> (Vec3, Vec3) {
    (to_b * m.b0 + to_c * m.c0, to_b * m.b1 + to_c * m.c1)
}

/// The weights of a corner, 0 to 2.
#[inline(always)]
pub fn weights(m: &Membrane, corner: u32) -> (f32, f32) {
    let (mut u, mut v) = (-(m.b0 + m.c0), -(m.b1 + m.c1));
    (u, v) = if corner == 1 { (m.b0, m.b1) } else { (u, v) };
    if corner == 2 { (m.c0, m.c1) } else { (u, v) }
}

/// Force and stiffness of a triangle on a corner. Pairs are the sides from a to b and from a to c, now and at the start
/// of the step.
#[inline(always)]
pub fn membrane(m: &Membrane, corner: u32, now: (Vec3, Vec3), before: (Vec3, Vec3), dt: f32) -> Block {
    let (f0, f1) = columns(m, now.0, now.1);
    let (u, v) = weights(m, corner);
    let l = m.lambda + m.mu;
    let a = 1.0 + m.mu / l;
    let normal = f0.cross(f1);
    let j = sqrt(fmax(normal.length_squared(), FLAT));
    let w = f1 * u - f0 * v;
    let d = w.cross(normal) * (1.0 / j);
    let s = l * (j - a);
    let fw = f0 * u + f1 * v;
    let r = fmax(0.0, s) / j;
    let mut block = Block::none();
    block.force = (fw * m.mu + d * s) * -m.area;
    block.add_scalar(m.area * (m.mu * (u * u + v * v) + r * w.length_squared()));
    block.add_square(m.area * (l - r), d);
    block.add_square(-m.area * r, w);
    if m.damping > 0.0 {
        let (p0, p1) = columns(m, before.0, before.1);
        let (c00, c11, c01) = (f0.dot(f0) - p0.dot(p0), f1.dot(f1) - p1.dot(p1), f0.dot(f1) - p0.dot(p1));
        let scale = 2.0 * m.area * m.damping / dt;
        block.force -= (f0 * (c00 * u + c01 * v) + f1 * (c01 * u + c11 * v)) * scale;
        let wide = scale * (u * u + v * v);
        block.add_square(wide, f0);
        block.add_square(wide, f1);
        block.add_square(scale, fw);
    }
    block
}
