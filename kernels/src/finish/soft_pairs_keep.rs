//! Contacts of soft surfaces for the next step: forces, and how far those that stick have gone.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store};
use crate::solve::soft::pairs::{gone_along, push_apart};
use crate::state::soft_pairs::{SoftPair, SoftPairCached};
use crate::{layout, stage};

stage! {
    "soft_pairs_keep" each 64 {
        read 0 soft_deltas: Vec3,
        read 1 soft_pair_places: u32,
        read 2 soft_pairs: SoftPair,
        write 3 soft_cached_pairs: SoftPairCached,
    }
}

layout! {
    /// Push constants of `soft_pairs_keep`.
    pub struct Push {
        /// Pairs that there is room for.
        pub capacity: u32,
        /// Number of pieces: the number of pairs stands behind their places.
        pub faces: u32,
    }
}

/// Keeps one.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if (item >= push.capacity) | (item >= b.soft_pair_places.at(push.faces)) {
        return;
    }
    let pair = b.soft_pairs.at(item);
    let way = gone_along(&pair, &b.soft_deltas);
    let n = pair.normal;
    let slid = pair.slid + (way - n * way.dot(n));
    let sticks = push_apart(&pair, way).sticks as u32;
    let slid = if sticks != 0 { slid } else { Vec3::ZERO };
    let SoftPair { other, features, lambda: force, k, .. } = pair;
    b.soft_cached_pairs.put(item, SoftPairCached { other, features, force, slid, k, sticks });
}
