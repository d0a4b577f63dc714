//! Surface properties of colliders beyond friction, and how the values of two touching colliders are combined.

use crate::gpu::{fmax, fmin, glam::Vec3, sqrt};
use crate::layout;

layout! {
    /// Surface properties of a collider. The list exists only in worlds where some collider has any of them.
    pub struct Material {
        /// Coefficient of restitution, 0 to 1: fraction of the speed of an impact that is left after it.
        pub restitution: f32,
        /// Lever of the torque against rolling, metres: the torque is this times the normal force.
        pub rolling: f32,
        /// The same against spinning about the normal, metres.
        pub torsional: f32,
        /// Velocity of the surface along itself, in body space, metres a second.
        pub linear: Vec3,
        /// Angular velocity of the surface about the collider's origin, in body space, radians a second.
        pub angular: Vec3,
    }
}

/// Bits of [`Collider::traits`](crate::state::rigid::Collider).
pub mod traits {
    /// Three bits: the rule for friction, one of [`rule`](super::rule).
    pub const FRICTION: u32 = 0;
    /// Three bits: the rule for restitution.
    pub const RESTITUTION: u32 = 3;
    /// Three bits: the rule for rolling and torsional friction.
    pub const ROLLING: u32 = 6;
    /// The collider is a sensor: it only reports what overlaps it.
    pub const SENSOR: u32 = 1 << 9;
    /// The collider's body has continuous detection.
    pub const CONTINUOUS: u32 = 1 << 10;
    /// Reports when a contact begins.
    pub const TELL_BEGIN: u32 = 1 << 11;
    /// Reports while a contact goes on.
    pub const TELL_PERSIST: u32 = 1 << 12;
    /// Reports when a contact ends.
    pub const TELL_END: u32 = 1 << 13;
    /// First bit of the generation of the collider's slot.
    pub const GENERATION: u32 = 16;
}

/// Rules that combine two values. If two colliders have different rules, the rule with the higher number is used.
pub mod rule {
    /// Root of the product.
    pub const GEOMETRIC: u32 = 0;
    /// Half of the sum.
    pub const AVERAGE: u32 = 1;
    /// The smaller one.
    pub const LEAST: u32 = 2;
    /// The product.
    pub const PRODUCT: u32 = 3;
    /// The larger one.
    pub const MOST: u32 = 4;
}

/// The rule of two colliders with these traits, whose bits begin at `shift`.
#[inline(always)]
pub fn rule_of(a: u32, b: u32, shift: u32) -> u32 {
    let (a, b) = ((a >> shift) & 7, (b >> shift) & 7);
    if a > b { a } else { b }
}

/// Two values by a rule.
#[inline(always)]
pub fn combine(rule: u32, a: f32, b: f32) -> f32 {
    if rule == rule::GEOMETRIC {
        sqrt(a * b)
    } else if rule == rule::AVERAGE {
        0.5 * (a + b)
    } else if rule == rule::LEAST {
        fmin(a, b)
    } else if rule == rule::PRODUCT {
        a * b
    } else {
        fmax(a, b)
    }
}
