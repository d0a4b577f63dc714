//! Writes positions and normals of particles for a renderer to draw. `layout::SOFT_VERTEX_VERSION` versions their
//! layout. Vertices of the frame before are kept beside them, for motion vectors and interpolation.
//!
//! A particle adds up the normals of the triangles around it itself, in the order of their numbers, so the sum is the
//! same on every machine and nothing is written by two.

use crate::gpu::{Load, Store, glam::Vec3, sqrt};
use crate::layout::SoftVertex;
use crate::state::soft::Particle;
use crate::{layout, stage};

stage! {
    "soft_vertices" each 64 {
        read 0 particles: Particle,
        read 1 soft_positions: Vec3,
        read 2 soft_triangles: u32,
        read 3 soft_fan_starts: u32,
        read 4 soft_fans: u32,
        update 5 soft_vertices: SoftVertex,
        write 6 previous_soft_vertices: SoftVertex,
    }
}

layout! {
    /// Push constants of `soft_vertices`.
    pub struct Push {
        /// Number of particles.
        pub count: u32,
    }
}

/// Shows one particle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let particle = b.particles.at(item);
    let position = b.soft_positions.at(item);
    let end = b.soft_fan_starts.at(item + 1);
    let end = if end < b.soft_fans.len() { end } else { b.soft_fans.len() };
    let mut normal = Vec3::ZERO;
    let mut i = b.soft_fan_starts.at(item);
    while i < end {
        let first = b.soft_fans.at(i).wrapping_mul(3);
        let p0 = b.soft_positions.at(b.soft_triangles.at(first));
        let p1 = b.soft_positions.at(b.soft_triangles.at(first.wrapping_add(1)));
        let p2 = b.soft_positions.at(b.soft_triangles.at(first.wrapping_add(2)));
        // Twice the area long.
        normal += (p1 - p0).cross(p2 - p0);
        i += 1;
    }
    let square = normal.length_squared();
    let normal = if square > 1e-30 { normal * (1.0 / sqrt(square)) } else { Vec3::ZERO };
    let present = (particle.mass > 0.0) as u32;
    let now = SoftVertex { position, present, normal, owner: particle.owner };
    // One that was just added has no previous vertex: it gets the present one.
    let before = b.soft_vertices.at(item);
    b.previous_soft_vertices.put(item, if before.present != 0 { before } else { now });
    b.soft_vertices.put(item, now);
}
