//! Second pass of the exclusive scan: one workgroup scans the tiles' sums and stores the grand total. The only pass
//! when there are few values: a dispatch by itself costs as much as scanning thousands.

use crate::gpu::{Group, Load, Store, least, saturating_sum};
pub use crate::primitives::scan_sums::Push;
use crate::primitives::scan_sums::{share, sum};
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
    let tile = if push.tile > 0 { push.tile } else { 1 };
    let tiles = least(push.extent.count(&b.counters, u32::MAX).div_ceil(tile), b.sums.len());

    let share = share(group, 0, tiles, tiles.div_ceil(group.lanes));
    let (mut before, total) = group.exclusive(shared, sum(&b.sums, share));
    let mut i = share.from;
    while i < share.to {
        b.prefixes.put(i, before);
        before = saturating_sum(before, b.sums.at(i));
        i += 1;
    }
    if group.lane == 0 {
        b.counters.put(push.total, total);
    }
}
