//! How far a joint is from where it holds its bodies.

use super::{Hold, JointAxis, JointDesc};
use crate::glam::{DVec3, Quat, Vec3};

/// How far a joint is from where it holds its bodies. Free coordinates do not count, limited ones count by how far
/// they are beyond the limit, and springs and motors hold nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JointError {
    /// Over all coordinates along lengths, metres.
    pub linear: f64,
    /// Over all coordinates about angles, radians.
    pub angular: f64,
}

impl JointDesc {
    /// The error of the joint for given poses (position, rotation) of its bodies' origins. Without a body b the
    /// second pose is ignored: the joint holds a to the world.
    pub fn error(&self, a: (Vec3, Quat), b: (Vec3, Quat)) -> JointError {
        let b = if self.body_b.is_some() { b } else { (Vec3::ZERO, Quat::IDENTITY) };
        let end = |(position, rotation): (Vec3, Quat), anchor: Vec3, frame: Quat| {
            let turn = rotation.as_dquat();
            (position.as_dvec3() + turn * anchor.as_dvec3(), turn * frame.as_dquat())
        };
        let (point_a, frame_a) = end(a, self.anchor_a, self.frame_a);
        let (point_b, frame_b) = end(b, self.anchor_b, self.frame_b);
        let apart = frame_b.inverse() * (point_a - point_b);
        let between = frame_b.inverse() * frame_a;
        let x = between * DVec3::X;
        let twist = 2.0 * (between.x / between.w).atan();
        let (sine, cosine) = (x.y.hypot(x.z), x.x);
        let swing = if sine > 1e-9 { sine.atan2(cosine) / sine } else { 1.0 };
        let values = [apart.x, apart.y, apart.z, twist, -swing * x.z, swing * x.y, apart.length()];
        let mut squares = JointError::default();
        for axis in JointAxis::ALL {
            let value = values[axis as usize];
            let off = match self.axes[axis as usize].hold {
                Hold::Free => continue,
                Hold::At(at) => value - f64::from(at),
                Hold::Between(low, high) => (value - f64::from(high)).max(0.0) + (f64::from(low) - value).max(0.0),
            };
            match axis {
                JointAxis::Twist | JointAxis::SwingY | JointAxis::SwingZ => squares.angular += off * off,
                _ => squares.linear += off * off,
            }
        }
        JointError { linear: squares.linear.sqrt(), angular: squares.angular.sqrt() }
    }
}
