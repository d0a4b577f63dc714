//! Second pass of the exclusive scan: one workgroup scans the tiles' sums and stores the grand total. The only pass when
//! there are few values: a dispatch by itself costs as much as scanning thousands.

use crate::gpu::{Group, Load, Store, saturating_sum};
pub use crate::primitives::scan_sums::Push;
use crate::stage;

/// Most values that it scans by itself.
pub const FEW: u32 = 8192;

stage! {
    "scan_spine" group 256, shared u32 256 {
        read 0 sums: u32,
        update 1 counters: u32,
        write 2 prefixes: u32,
    }
}

/// Scans all sums.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    let tiles = push.extent.count(&b.counters).div_ceil(push.tile);

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
        b.prefixes.put(i, before);
        before = saturating_sum(before, b.sums.at(i));
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
