//! Which pair every manifold is made of: the places that the scan gave, the other way round. `contacts` goes through
//! manifolds by number, so that no lane of it is idle, and each writes to a place that is its own whatever memory
//! holds.

use crate::gpu::{Load, Store};
use crate::{layout, stage};

stage! {
    "manifold_pairs" each 64 {
        read 0 touches: u32,
        read 1 manifold_offsets: u32,
        write 2 manifold_pairs: u32,
    }
}

layout! {
    /// Push constants of `manifold_pairs`.
    pub struct Push {
        /// Room for pairs.
        pub pairs: u32,
        /// Room for manifolds.
        pub manifolds: u32,
    }
}

/// Looks at one pair.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item < push.pairs && b.touches.at(item) != 0 {
        let place = b.manifold_offsets.at(item);
        if place < push.manifolds {
            b.manifold_pairs.put(place, item);
        }
    }
}
