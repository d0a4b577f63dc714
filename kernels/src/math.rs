//! Rotations as unit quaternions with 4-byte alignment, and the exponential and logarithm that the solver moves
//! bodies with. Exact forms: first-order ones lose a fifth of a body's spin every second at 60 Hz.

use crate::gpu::glam::Vec3;
use crate::gpu::{quadrant_angle, sin_cos, sqrt};
use crate::layout;

layout! {
    /// A rotation: unit quaternion, vector part and scalar.
    pub struct Rotation {
        /// Vector part.
        pub v: Vec3,
        /// Scalar part.
        pub s: f32,
    }

    /// Position of the centre of mass, and rotation.
    pub struct Pose {
        /// Centre of mass.
        pub position: Vec3,
        /// From body space to world space.
        pub rotation: Rotation,
    }

    /// A linear and an angular part: velocities, displacements, forces.
    pub struct Twist {
        /// Linear part.
        pub linear: Vec3,
        /// Angular part, in world space.
        pub angular: Vec3,
    }
}

impl Rotation {
    /// No rotation.
    pub const IDENTITY: Self = Self { v: Vec3::ZERO, s: 1.0 };

    /// First `other`, then `self`.
    #[inline(always)]
    pub fn then_after(&self, other: &Self) -> Self {
        Self {
            v: self.s * other.v + other.s * self.v + self.v.cross(other.v),
            s: self.s * other.s - self.v.dot(other.v),
        }
    }

    /// The other way round.
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        Self { v: -self.v, s: self.s }
    }

    /// Length one again.
    #[inline(always)]
    pub fn normalized(&self) -> Self {
        let scale = 1.0 / sqrt(self.v.length_squared() + self.s * self.s);
        Self { v: self.v * scale, s: self.s * scale }
    }

    /// A vector from body space to world space.
    #[inline(always)]
    pub fn apply(&self, u: Vec3) -> Vec3 {
        let t = 2.0 * self.v.cross(u);
        u + self.s * t + self.v.cross(t)
    }

    /// The rotation by a vector: its length is the angle, its direction the axis.
    #[inline(always)]
    pub fn exp(w: Vec3) -> Self {
        let square = w.length_squared();
        // sin(a/2)/a to the fourth order where the angle is small.
        if square < 1e-4 {
            Self { v: w * (0.5 - square * (1.0 / 48.0)), s: 1.0 - square * 0.125 + square * square * (1.0 / 384.0) }
        } else {
            let angle = sqrt(square);
            let (sine, cosine) = sin_cos(angle * 0.5);
            Self { v: w * (sine / angle), s: cosine }
        }
    }

    /// The vector whose [`Rotation::exp`] this is, by the shorter way round.
    #[inline(always)]
    pub fn log(&self) -> Vec3 {
        // Both signs are the same rotation; the positive scalar is the short way.
        let sign = if self.s < 0.0 { -1.0 } else { 1.0 };
        let (v, s) = (self.v * sign, self.s * sign);
        let square = v.length_squared();
        if square < 1e-4 {
            // angle / sin(angle/2) in powers of sin(angle/2).
            v * (2.0 + square * (1.0 / 3.0))
        } else {
            let length = sqrt(square);
            v * (2.0 * quadrant_angle(length, s) / length)
        }
    }
}

impl Pose {
    /// A point from body space to world space.
    #[inline(always)]
    pub fn point(&self, p: Vec3) -> Vec3 {
        self.position + self.rotation.apply(p)
    }

    /// A pose given in this one's space, in world space.
    #[inline(always)]
    pub fn of(&self, local: &Pose) -> Pose {
        Pose { position: self.point(local.position), rotation: self.rotation.then_after(&local.rotation) }
    }
}

/// Two directions at right angles to `n` and to each other. Stable: depends on `n` only.
#[inline(always)]
pub fn tangents(n: Vec3) -> (Vec3, Vec3) {
    // Duff et al., "Building an Orthonormal Basis, Revisited", 2017.
    let sign = if n.z < 0.0 { -1.0 } else { 1.0 };
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    (Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x), Vec3::new(b, sign + n.y * n.y * a, -n.y))
}

/// Inertia about the principal axes applied to `w`, in world space.
#[inline(always)]
pub fn inertia(rotation: &Rotation, principal: Vec3, w: Vec3) -> Vec3 {
    rotation.apply(principal * rotation.inverse().apply(w))
}
