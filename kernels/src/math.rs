//! Rotations as unit quaternions with 4-byte alignment, poses and twists.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Vector, sqrt};
use crate::layout;
use crate::solve::turns::Turns;

layout! {
    /// A rotation: unit quaternion, vector part and scalar.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Rotation {
        /// Of the vector part.
        pub x: f32,
        /// Of the vector part.
        pub y: f32,
        /// Of the vector part.
        pub z: f32,
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
    pub const IDENTITY: Self = Self { x: 0.0, y: 0.0, z: 0.0, s: 1.0 };

    /// With this vector part and this scalar.
    #[inline(always)]
    pub fn new(v: Vec3, s: f32) -> Self {
        Self { x: v.x, y: v.y, z: v.z, s }
    }

    /// The vector part.
    #[inline(always)]
    pub fn v(&self) -> Vec3 {
        Vec3::new(self.x, self.y, self.z)
    }

    /// First `other`, then `self`.
    #[inline(always)]
    pub fn then_after(&self, other: &Self) -> Self {
        let (v, w) = (self.v(), other.v());
        Self::new(self.s * w + other.s * v + v.cross(w), self.s * other.s - v.dot(w))
    }

    /// The other way round.
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        Self::new(-self.v(), self.s)
    }

    /// Length one again.
    #[inline(always)]
    pub fn normalized(&self) -> Self {
        let v = self.v();
        let scale = 1.0 / sqrt(v.length_squared() + self.s * self.s);
        Self::new(v * scale, self.s * scale)
    }

    /// A vector from body space to world space.
    #[inline(always)]
    pub fn apply(&self, u: Vec3) -> Vec3 {
        let v = self.v();
        let t = 2.0 * v.cross(u);
        u + self.s * t + v.cross(t)
    }

    /// The rotation by a vector: its length is the angle, its direction the axis.
    #[inline(always)]
    pub fn exp(w: Vec3) -> Self {
        let turn = Turns::<f32>::exp(Vector::new(w.x, w.y, w.z));
        Self { x: turn.v.x, y: turn.v.y, z: turn.v.z, s: turn.s }
    }

    /// The vector whose [`Rotation::exp`] this is, by the shorter way round.
    #[inline(always)]
    pub fn log(&self) -> Vec3 {
        let w = Turns::one(self).log();
        Vec3::new(w.x, w.y, w.z)
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

/// A vector and one more word as they lie in lists of four words.
#[inline(always)]
pub fn words(v: Vec3, w: u32) -> UVec4 {
    UVec4::new(v.x.to_bits(), v.y.to_bits(), v.z.to_bits(), w)
}

/// The vector in four words, without the last.
#[inline(always)]
pub fn vector(words: UVec4) -> Vec3 {
    Vec3::new(f32::from_bits(words.x), f32::from_bits(words.y), f32::from_bits(words.z))
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
