//! Coordinates about angles: how a's frame is turned relative to b's. Used by hinges, sliders, limits, motors and
//! bending.
//!
//! ```text
//!        y  .---.  swing y, z: the rotation that takes b's x axis to a's, the short way
//!        | /   a_x
//!        |/  /            twist: what is left of the rotation after that, about a's x axis
//!    b --+------- x
//!       /                 a = (c, a_y, a_z) is a's x axis in b's frame, sigma its angle to x, f = sigma / sin sigma
//!      z
//!     twist   = 2 atan2(q_x, q_w)       J = (a + x) / (1 + c)
//!     swing y = -f a_z                  J = a x grad = (-f a_y, f c - f' a_z^2, f' a_y a_z)
//!     swing z =  f a_y                  J = a x grad = (-f a_z, f' a_y a_z, f c - f' a_y^2)
//! ```
//!
//! with f' = df/dc = (f c - 1) / sin^2 sigma. Twist and swing do not depend on the sign of the quaternion, so a hinge
//! may turn for ever. The swing has no direction where a's axis points against b's; joints that hold or limit it do not
//! come near.

use super::{Measure, axis};
use crate::gpu::{abs, fmax, glam::Vec3, quadrant_angle, sqrt};
use crate::math::Rotation;
use core::f32::consts::PI;

/// All three angles and their derivatives, in world space.
#[derive(Clone, Copy)]
pub struct Angles {
    values: Vec3,
    twist: Vec3,
    swing_y: Vec3,
    swing_z: Vec3,
}

/// An angle in -pi to pi.
#[inline(always)]
pub fn wrapped(angle: f32) -> f32 {
    if angle > PI {
        angle - 2.0 * PI
    } else if angle < -PI {
        angle + 2.0 * PI
    } else {
        angle
    }
}

impl Angles {
    /// Angles of a joint without angular rows: all zero.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = Vec3::ZERO;
        Self { values: zero, twist: zero, swing_y: zero, swing_z: zero }
    }

    /// Angles of frame `a` relative to frame `b`.
    #[inline(always)]
    pub fn new(a: &Rotation, b: &Rotation) -> Self {
        let between = b.inverse().then_after(a);
        let x = between.apply(Vec3::X);
        let half = quadrant_angle(abs(between.x), abs(between.s));
        let negative = (between.x < 0.0) != (between.s < 0.0);
        let twist = if negative { -2.0 * half } else { 2.0 * half };
        let c = x.x;
        let square = x.y * x.y + x.z * x.z;
        // Within 1/3 degree of the opposite direction, the direction of the swing is lost.
        let sine = sqrt(square);
        let quarter = quadrant_angle(sine, abs(c));
        let sigma = if c < 0.0 { PI - quarter } else { quarter };
        let mut f = 1.0 + square * (1.0 / 6.0);
        let mut slope = -1.0 / 3.0;
        if square > 1e-3 || c < 0.0 {
            let sine = fmax(sine, 5e-3);
            f = sigma / sine;
            slope = (f * c - 1.0) / (sine * sine);
        }
        let mixed = slope * x.y * x.z;
        Self {
            values: Vec3::new(twist, -f * x.z, f * x.y),
            twist: b.apply((x + Vec3::X) * (1.0 / fmax(1.0 + c, 1e-2))),
            swing_y: b.apply(Vec3::new(-f * x.y, f * c - slope * x.z * x.z, mixed)),
            swing_z: b.apply(Vec3::new(-f * x.z, mixed, f * c - slope * x.y * x.y)),
        }
    }

    /// One of the three coordinates.
    #[inline(always)]
    pub fn measure(&self, axis: u32) -> Measure {
        let mut value = self.values.z;
        let mut turn = self.swing_z;
        if axis == axis::TWIST {
            (value, turn) = (self.values.x, self.twist);
        } else if axis == axis::SWING_Y {
            (value, turn) = (self.values.y, self.swing_y);
        }
        Measure { value, linear: Vec3::ZERO, turn_a: turn, turn_b: turn, turned: 0.0 }
    }
}

#[cfg(all(test, not(target_arch = "spirv")))]
mod tests {
    use super::*;

    /// Derivatives against differences, all around.
    #[test]
    fn derivatives_are_those_of_the_angles() {
        for i in 0..200 {
            let at = |k: f32| (i as f32 * k).sin();
            let b = Rotation::exp(Vec3::new(at(1.3), at(2.7), at(0.7)) * 2.0);
            let turn = Rotation::exp(Vec3::new(at(5.1) * 3.0, at(3.3), at(4.9)));
            let a = b.then_after(&turn);
            let angles = Angles::new(&a, &b);
            for axis in [axis::TWIST, axis::SWING_Y, axis::SWING_Z] {
                for way in [Vec3::X, Vec3::Y, Vec3::Z] {
                    let step = 1e-2;
                    let value = |s: f32| Angles::new(&Rotation::exp(way * s).then_after(&a), &b).measure(axis).value;
                    let slope = wrapped(value(step) - value(-step)) / (2.0 * step);
                    let expected = angles.measure(axis).turn_a.dot(way);
                    let scale = 1.0 + expected.abs();
                    assert!((slope - expected).abs() < 2e-2 * scale, "{i}: axis {axis} {way}: {slope}, not {expected}");
                }
            }
        }
    }
}
