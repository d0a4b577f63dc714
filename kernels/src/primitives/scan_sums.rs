//! First of the three passes of the exclusive scan (reduce, then scan): the sum of every tile.
//!
//! Reduce-then-scan reads the input twice, but needs no forward-progress guarantee between workgroups, which Vulkan
//! does not give; a look-back scan may hang on some devices.

use crate::gpu::{Group, Load, Read, Store, saturating_sum};
use crate::layout::Extent;
use crate::{layout, stage};

stage! {
    "scan_sums" group 256, shared u32 256 {
        read 0 values: u32,
        read 1 counters: u32,
        write 2 sums: u32,
    }
}

/// Values a tile: four neighbouring words a lane, one 16-byte load.
pub const TILE: u32 = 1024;

layout! {
    /// Push constants of the scan's passes.
    pub struct Push {
        /// Number of values.
        pub extent: Extent,
        /// Counter that receives the total.
        pub total: u32,
        /// Values that a sum stands for: [`TILE`], or 1 when there are so few that `scan_spine` scans them by itself.
        pub tile: u32,
    }
}

/// The values of a tile that belong to a lane: `from..to`, neighbours in memory.
#[inline(always)]
pub fn share(group: &Group, count: u32) -> (u32, u32) {
    let each = TILE / group.lanes;
    let from = group.index * TILE + group.lane * each;
    let to = from + each;
    if from >= count {
        (count, count)
    } else if to > count {
        (from, count)
    } else {
        (from, to)
    }
}

/// Sum of `values[from..to]`, held at `u32::MAX`.
#[inline(always)]
pub fn sum(values: &Read<'_, u32>, from: u32, to: u32) -> u32 {
    let mut sum = 0;
    let mut i = from;
    while i < to {
        sum = saturating_sum(sum, values.at(i));
        i += 1;
    }
    sum
}

/// Sums one tile.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    let count = push.extent.count(&b.counters);
    if group.index * TILE >= count {
        return;
    }
    let (from, to) = share(group, count);
    let (_, total) = group.exclusive(shared, sum(&b.values, from, to));
    if group.lane == 0 {
        b.sums.put(group.index, total);
    }
}
