//! Moves particles, and bodies that only particles act on, by the way of their island (`soft_momentum`). Updates
//! `soft_deltas`, `deltas` and `poses`.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store};
use crate::math::{Pose, Twist};
use crate::solve::soft_sums::SoftLack;
use crate::state::soft::Particle;
use crate::{layout, stage};

stage! {
    "soft_carry" each 64 {
        read 0 particles: Particle,
        read 1 island_of: u32,
        read 2 soft_ways: SoftLack,
        read 3 starts: Pose,
        update 4 soft_deltas: Vec3,
        update 5 deltas: Twist,
        update 6 poses: Pose,
    }
}

layout! {
    /// Push constants of `soft_carry`.
    pub struct Push {
        /// Number of particles; items from there on are bodies.
        pub particles: u32,
        /// Number of soft bodies.
        pub soft_bodies: u32,
        /// Number of soft bodies and bodies.
        pub nodes: u32,
    }
}

/// Moves one.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let of_body = item >= push.particles;
    let body = if of_body { item - push.particles } else { 0 };
    let mut node = body.wrapping_add(push.soft_bodies);
    let mut there = of_body;
    if !of_body {
        let particle = b.particles.at(item);
        (node, there) = (particle.owner, particle.mass > 0.0);
    }
    if !there | (node >= push.nodes) {
        return;
    }
    let key = b.island_of.at(node);
    if key >= push.nodes {
        return;
    }
    let way = b.soft_ways.at(key).way;
    if of_body {
        let delta = b.deltas.at(body);
        let linear = delta.linear + way;
        b.deltas.put(body, Twist { linear, ..delta });
        b.poses.put(body, Pose { position: b.starts.at(body).position + linear, ..b.poses.at(body) });
    } else {
        b.soft_deltas.put(item, b.soft_deltas.at(item) + way);
    }
}
