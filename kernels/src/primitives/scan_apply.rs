//! Third pass of the exclusive scan: every tile scans its values, starting from the sum of all tiles before it. With
//! few tiles it is the second: each adds the sums up that are before it, and the last one stores the grand total.

use crate::gpu::{Group, Load, Read, Store, Write, least, saturating_sum};
use crate::layout::tile;
pub use crate::primitives::scan_sums::Push;
use crate::primitives::scan_sums::{TILE, share as share_of, sum};
use crate::stage;

stage! {
    "scan_apply" group 256, shared u32 256 {
        read 0 values: u32,
        update 1 counters: u32,
        read 2 before: u32,
        write 3 prefixes: u32,
    }
}

/// Scans one tile.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    scan(group, shared, push, (&b.values, &b.before, &mut b.counters), |i, prefix, _| b.prefixes.put(i, prefix));
}

/// Scans one tile of the values, with the sums of tiles, and gives every index, what is before it, and its value to
/// `put`.
#[inline(always)]
pub fn scan(
    group: &Group,
    shared: &mut Shared,
    push: &Push,
    (values, sums, counters): (&Read<'_, u32>, &Read<'_, u32>, &mut Write<'_, u32>),
    mut put: impl FnMut(u32, u32, u32),
) {
    // The same for all lanes of the workgroup, and so is what comes of it up to the scan.
    let count = push.extent.count(counters, values.len());
    let (start, end) = tile(group.index, TILE, count);
    let few = push.few != 0;
    if few && count == 0 && group.index == 0 && group.lane == 0 {
        counters.put(push.total, 0);
    }
    if start >= end {
        return;
    }
    let before = if few {
        let before = least(group.index, sums.len());
        let mine = share_of(group, 0, before, before.div_ceil(group.lanes));
        group.exclusive(shared, sum(sums, mine)).1
    } else {
        sums.at(group.index)
    };
    let share = share_of(group, start, end, TILE / group.lanes);
    // A lone lane starts at the tile's start: nothing stands before it.
    let within = if group.lanes > 1 { group.exclusive(shared, sum(values, share)).0 } else { 0 };
    let mut prefix = saturating_sum(before, within);
    let mut i = share.from;
    while i < share.to {
        let value = values.at(i);
        put(i, prefix, value);
        prefix = saturating_sum(prefix, value);
        i += 1;
    }
    // The lane that has the last value has the sum of all.
    if few && end == count && share.from < share.to && share.to == end {
        counters.put(push.total, prefix);
    }
}
