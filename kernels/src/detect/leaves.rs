//! Brings the boxes into Morton order: neighbours in space become neighbours in memory.

use crate::gpu::Load;
use crate::layout::{Aabb, Extent, LEAF, Volume, size_class, volume_of};
use crate::{layout, stage};

stage! {
    "leaves" each 256 {
        read 0 boxes: Aabb,
        read 1 counters: u32,
        read 2 order: u32,
        write 3 volumes: Volume,
    }
}

layout! {
    /// Push constants of `leaves`.
    pub struct Push {
        /// Number of boxes.
        pub extent: Extent,
    }
}

/// Fetches one box.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item < LEAF && item < push.extent.count(&b.counters, b.order.len()) {
        let bounds = b.boxes.at(b.order.at(item));
        // SAFETY: `item` is the number of the invocation, no other one has the same place, and nothing else is stored.
        unsafe { b.volumes.put_own(volume_of(item | LEAF), Volume { bounds, class: size_class(&bounds) }) };
    }
}
