//! Coordinates along lengths: where a's point is in b's frame. Used by ball, hinge, fixed and slider joints.
//!
//! ```text
//!            e_y                          r  from a's centre of mass to a's point
//!             |   . a's point             s  from b's centre of mass to a's point
//!             | .                         d  from b's point to a's
//!     b's point---- e_x                   e  axis of the frame on b, turns with it
//!           /
//!         e_z         C = e . d           J_a = [e, r x e]      J_b = -[e, s x e]
//! ```
//!
//! Both forces act at a's point along the same line, so a joint exerts no net torque on the pair, however large d is.

use super::{JointEnds, Measure};
use crate::gpu::glam::Vec3;

/// One of the three coordinates.
#[inline(always)]
pub fn measure(ends: &JointEnds, axis: u32) -> Measure {
    let local = if axis == super::axis::X {
        Vec3::X
    } else if axis == super::axis::Y {
        Vec3::Y
    } else {
        Vec3::Z
    };
    let e = ends.frame.apply(local);
    Measure {
        value: e.dot(ends.apart),
        linear: e,
        turn_a: ends.lever_a.cross(e),
        turn_b: ends.reach_b.cross(e),
        turned: 0.0,
    }
}
