//! Multipliers and stiffness of contacts of soft surfaces (Algorithm 1, lines 26 to 35), and how far they have gone, for
//! the bodies that are moved as a whole next.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, fmin};
use crate::solve::soft::grown;
use crate::solve::soft::pairs::{gone_along, push_apart};
use crate::state::soft::Particle;
use crate::state::soft_pairs::SoftPair;
use crate::{layout, stage};

stage! {
    "soft_pairs_dual" each 64 {
        read 0 particles: Particle,
        read 1 soft_deltas: Vec3,
        read 2 soft_pair_places: u32,
        update 3 soft_pairs: SoftPair,
    }
}

layout! {
    /// Push constants of `soft_pairs_dual`.
    pub struct Push {
        /// Pairs that there is room for.
        pub capacity: u32,
        /// Number of pieces: the number of pairs stands behind their places.
        pub faces: u32,
        /// Not 0 before the first iteration: only how far they have gone.
        pub first: u32,
    }
}

/// Updates one.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if (item >= push.capacity) | (item >= b.soft_pair_places.at(push.faces)) {
        return;
    }
    let mut pair = b.soft_pairs.at(item);
    pair.way = gone_along(&pair, &b.soft_deltas);
    if push.first == 0 {
        let overlap = -fmin(0.0, (pair.error + pair.way).dot(pair.normal));
        pair.lambda = push_apart(&pair, pair.way).force;
        pair.k = grown(pair.k, pair.unit, pair.most, overlap, b.particles.at(pair.a).length);
    }
    b.soft_pairs.put(item, pair);
}
