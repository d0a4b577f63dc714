//! Inverse mass and inertia of every body in world space, where it starts the step, for solvers that go from one
//! manifold or joint to the next. What forces do not move has none. Damping makes a body as heavy as `predict` says.

use crate::gpu::Load;
use crate::gpu::glam::{UVec4, Vec3};
use crate::math::Pose;
use crate::solve::pair::put_inverse;
use crate::solve::solver_body::word;
use crate::state::rigid::Body;
use crate::{layout, stage};

stage! {
    "pair_inverses" each 256 {
        read 0 bodies: Body,
        read 1 starts: Pose,
        read 2 solver_bodies: UVec4,
        read 3 body_order: u32,
        write 4 inverses: UVec4,
    }
}

layout! {
    /// Push constants of `pair_inverses`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Writes those of one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let (mut mass, mut diagonal, mut beside) = (0.0, Vec3::ZERO, Vec3::ZERO);
    if b.bodies.at(item).is_dynamic() {
        let heavy = b.solver_bodies.at(b.body_order.at(item).wrapping_mul(word::COUNT).wrapping_add(word::MASS));
        let (x, y, z) = (f32::from_bits(heavy.x), f32::from_bits(heavy.y), f32::from_bits(heavy.z));
        mass = 1.0 / f32::from_bits(heavy.w);
        let turned = b.starts.at(item).rotation;
        // R diag(1/I) R^T, a principal axis at a time.
        let axes =
            [(turned.apply(Vec3::X), 1.0 / x), (turned.apply(Vec3::Y), 1.0 / y), (turned.apply(Vec3::Z), 1.0 / z)];
        let [(p, i), (q, j), (r, k)] = axes;
        diagonal = p * p * i + q * q * j + r * r * k;
        let off = |v: Vec3| Vec3::new(v.x * v.y, v.x * v.z, v.y * v.z);
        beside = off(p) * i + off(q) * j + off(r) * k;
    }
    put_inverse(&mut b.inverses, item, mass, diagonal, beside);
}
