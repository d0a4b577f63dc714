//! Second pass of the exclusive scan: one workgroup scans the tiles' sums in place and stores the grand total.

use crate::gpu::{Group, Load, Store, saturating_sum};
pub use crate::scan_sums::Push;
use crate::scan_sums::TILE;
use crate::stage;

stage! {
    "scan_spine" group 256, shared u32 256 {
        update 0 sums: u32,
        update 1 counters: u32,
    }
}

/// Scans all sums.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    let tiles = push.extent.count(&b.counters).div_ceil(TILE);

    let each = tiles.div_ceil(group.lanes);
    let from = min(group.lane * each, tiles);
    let to = min(from + each, tiles);

    let mut sum = 0;
    let mut i = from;
    while i < to {
        sum = saturating_sum(sum, b.sums.at(i));
        i += 1;
    }
    let (mut before, total) = group.exclusive(shared, sum);
    i = from;
    while i < to {
        let tile = b.sums.at(i);
        b.sums.put(i, before);
        before = saturating_sum(before, tile);
        i += 1;
    }
    if group.lane == 0 {
        b.counters.put(push.total, total);
    }
}

#[inline(always)]
fn min(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}
