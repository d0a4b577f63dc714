//! Takes pairs with a sensor out of `touches`, because they make no contacts, and writes into `sensed` which of them
//! overlap.

use crate::gpu::{Load, Store};
use crate::layout::{Extent, Pair};
use crate::state::rigid::{Collider, senses};
use crate::{layout, stage};

stage! {
    "sensors" each 64 {
        read 0 counters: u32,
        read 1 pairs: Pair,
        read 2 colliders: Collider,
        update 3 touches: u32,
        write 4 sensed: u32,
    }
}

layout! {
    /// Push constants of `sensors`.
    pub struct Push {
        /// Number of pairs.
        pub pairs: Extent,
    }
}

/// Looks at one pair. Items beyond the count write 0, so that the whole list can be scanned.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.pairs.limit {
        return;
    }
    let mut overlaps = 0;
    if item < push.pairs.count(&b.counters, b.pairs.len()) {
        let pair = b.pairs.at(item);
        if senses(&b.colliders.at(pair.a), &b.colliders.at(pair.b)) {
            overlaps = b.touches.at(item);
            b.touches.put(item, 0);
        }
    }
    b.sensed.put(item, overlaps);
}
