//! An entry for every node of every contact of soft surfaces: keys and payloads that are sorted into the rows of
//! particles. A payload is four times the number of the pair, and which node of it.

use crate::gpu::{Load, Store, least};
use crate::state::soft_pairs::SoftPair;
use crate::{layout, stage};

stage! {
    "soft_pair_keys" each 256 {
        read 0 soft_pair_places: u32,
        read 1 soft_pairs: SoftPair,
        write 2 keys: u32,
        write 3 payloads: u32,
    }
}

layout! {
    /// Push constants of `soft_pair_keys`.
    pub struct Push {
        /// Number of entries.
        pub limit: u32,
        /// Number of pieces: the number of pairs stands behind their places.
        pub faces: u32,
        /// Number of particles, and the key of entries that belong to none: behind all others.
        pub nobody: u32,
    }
}

/// Writes one entry.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit {
        return;
    }
    let (at, node) = (item / 4, item % 4);
    let mut key = push.nobody;
    if at < b.soft_pair_places.at(push.faces) {
        let pair = b.soft_pairs.at(at);
        // The second node of a point that meets a line is its first corner, and comes again.
        key = least(pair.node(node), push.nobody);
    }
    b.keys.put(item, key);
    b.payloads.put(item, item);
}
