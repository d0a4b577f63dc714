//! Copies the list of overlaps with sensors for the next step.

use crate::detect::gate::counter;
use crate::detect::sensors_list::Overlap;
use crate::gpu::{Load, Store, least};
use crate::{layout, stage};

stage! {
    "sensors_keep" each 64 {
        read 0 overlaps: Overlap,
        write 1 last_overlaps: Overlap,
        update 2 counters: u32,
    }
}

layout! {
    /// Push constants of `sensors_keep`.
    pub struct Push {
        /// Capacity of the list of overlaps.
        pub limit: u32,
    }
}

/// Keeps one.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let now = least(b.counters.at(counter::SENSED), push.limit);
    if item < now {
        b.last_overlaps.put(item, b.overlaps.at(item));
    }
    if item == 0 {
        b.counters.put(counter::SENSED_LAST, now);
    }
}
