//! Third pass of the exclusive scan: every tile scans its values, starting from the sum of all tiles before it.

use crate::gpu::{Group, Load, Store, saturating_sum};
use crate::layout::tile;
pub use crate::primitives::scan_sums::Push;
use crate::primitives::scan_sums::{TILE, share, sum};
use crate::stage;

stage! {
    "scan_apply" group 256, shared u32 256 {
        read 0 values: u32,
        read 1 counters: u32,
        read 2 before: u32,
        write 3 prefixes: u32,
    }
}

/// Scans one tile.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    // The same for all lanes of the workgroup, and so is what comes of it up to the scan.
    let (start, end) = tile(group.index, TILE, push.extent.count(&b.counters, b.values.len()));
    if start >= end {
        return;
    }
    let share = share(group, start, end, TILE / group.lanes);
    // A lone lane starts at the tile's start: nothing stands before it.
    let within = if group.lanes > 1 { group.exclusive(shared, sum(&b.values, share)).0 } else { 0 };
    let mut prefix = saturating_sum(b.before.at(group.index), within);
    let mut i = share.from;
    while i < share.to {
        b.prefixes.put(i, prefix);
        prefix = saturating_sum(prefix, b.values.at(i));
        i += 1;
    }
}
