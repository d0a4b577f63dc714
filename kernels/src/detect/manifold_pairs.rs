//! The place of every touching pair among the manifolds, and which pair every manifold is made of: the last pass of the
//! scan over what touches. `contacts` goes through manifolds by number, so that no lane of it is idle, and each writes
//! to a place that is its own whatever memory holds.

use crate::gpu::{Group, Store};
use crate::primitives::scan_apply::scan;
use crate::primitives::scan_sums;
use crate::{layout, stage};

stage! {
    "manifold_pairs" group 256, shared u32 256 {
        read 0 touches: u32,
        update 1 counters: u32,
        read 2 before: u32,
        write 3 manifold_offsets: u32,
        write 4 manifold_pairs: u32,
    }
}

layout! {
    /// Push constants of `manifold_pairs`.
    pub struct Push {
        /// The scan.
        pub scan: scan_sums::Push,
        /// Manifolds there is room for.
        pub manifolds: u32,
    }
}

/// Places the pairs of one tile.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    let Bindings { touches, counters, before, manifold_offsets, manifold_pairs } = b;
    scan(group, shared, &push.scan, (touches, before, counters), |pair, place, touches| {
        manifold_offsets.put(pair, place);
        if touches != 0 && place < push.manifolds {
            manifold_pairs.put(place, pair);
        }
    });
}
