//! The distance coordinate: how far a's point is from b's. Used by rods, ropes and springs.
//!
//! ```text
//!     b's point o-------- d -------->o a's point        n = d / |d|
//!
//!     C = |d| - rest        J_a = [n, r_a x n]      J_b = -[n, r_b x n]
//!     d2C/dx2 = (I - n n^T) / |d|     across the line; under tension it holds the line straight, and without it a taut
//!                                     spring pumps energy
//! ```

use super::{JointEnds, Measure, some_length};
use crate::gpu::{abs, glam::Vec3};
use crate::math::tangents;
use crate::solve::system::System;

/// The coordinate and its derivatives.
#[inline(always)]
pub fn measure(ends: &JointEnds) -> Measure {
    let value = some_length(ends.apart);
    let n = ends.apart * (1.0 / value);
    // Points that coincide are pulled along an arbitrary axis.
    let n = if value > 1e-9 { n } else { ends.frame.apply(Vec3::X) };
    Measure { value, linear: n, turn_a: ends.lever_a.cross(n), turn_b: ends.lever_b.cross(n), turned: 0.0 }
}

/// Adds the geometric stiffness of a force f along the line: f / |d| across it, and that of the levers (section 3.5).
#[inline(always)]
pub fn stiffen(system: &mut System, ends: &JointEnds, is_a: bool, n: Vec3, force: f32) {
    let lever = if is_a { ends.lever_a } else { ends.lever_b };
    let k = abs(force) / some_length(ends.apart);
    let (t, u) = tangents(n);
    system.pull(t, lever.cross(t), k, 0.0);
    system.pull(u, lever.cross(u), k, 0.0);
    system.stiffen(lever, n * force);
}
