//! First of the three passes of the exclusive scan (reduce, then scan): the sum of every tile.
//!
//! Reduce-then-scan reads the input twice, but needs no forward-progress guarantee between workgroups, which Vulkan
//! does not give; a look-back scan may hang on some devices.

use crate::gpu::{Group, Load, Read, Store, least, saturating_sum};
use crate::layout::{Extent, tile};
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
/// Most tiles whose sums every workgroup adds up by itself: four a lane, beside the four values that a lane has.
pub const FEW_TILES: u32 = 1024;

layout! {
    /// Push constants of the scan's passes.
    pub struct Push {
        /// Number of values.
        pub extent: Extent,
        /// Counter that receives the total.
        pub total: u32,
        /// Values that a sum stands for: [`TILE`], or 1 when there are so few that `scan_spine` scans them by itself.
        pub tile: u32,
        /// Not 0: there are few tiles, and `scan_apply` adds their sums up by itself, without `scan_spine` before it.
        pub few: u32,
    }
}

/// The values of a tile that belong to a lane, neighbours in memory.
#[derive(Clone, Copy)]
pub struct Share {
    /// The first.
    pub from: u32,
    /// Behind the last.
    pub to: u32,
    /// At least as many as there are, the same for all lanes of the workgroup.
    pub rounds: u32,
}

/// What belongs to a lane of the tile from `start` to `end`, `each` to a lane.
#[inline(always)]
pub fn share(group: &Group, start: u32, end: u32, each: u32) -> Share {
    let from = least(start + group.lane * each, end);
    Share { from, to: from + least(each, end - from), rounds: least(each, end - start) }
}

/// Sum of a lane's share of `values`, held at `u32::MAX`. Every lane makes as many rounds, since what follows is done
/// by all lanes of a subgroup together.
#[inline(always)]
pub fn sum(values: &Read<'_, u32>, share: Share) -> u32 {
    let mut sum = 0;
    let mut round = 0;
    while round < share.rounds {
        let i = share.from + round;
        // Beyond the share, nothing is added.
        let value = if i < share.to { values.at(i) } else { 0 };
        sum = saturating_sum(sum, value);
        round += 1;
    }
    sum
}

/// Sums one tile.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    // The same for all lanes of the workgroup, and so is what comes of it up to the scan.
    let (start, end) = tile(group.index, TILE, push.extent.count(&b.counters, b.values.len()));
    if start >= end {
        return;
    }
    let share = share(group, start, end, TILE / group.lanes);
    let (_, total) = group.exclusive(shared, sum(&b.values, share));
    if group.lane == 0 {
        b.sums.put(group.index, total);
    }
}
