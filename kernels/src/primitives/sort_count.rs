//! First pass of a radix sort round: how often each of the 256 digits occurs in every tile of keys.
//!
//! A round sorts by eight bits: `sort_count`, an exclusive scan over the table, `sort_scatter`. The table is laid out
//! digit by digit, tile by tile within a digit, so that its exclusive scan is at once the place where each
//! tile's keys of each digit go, and the sort is stable.

use crate::gpu::{Group, Load, Store, shared_add};
use crate::layout::{Extent, tile};
use crate::{layout, stage};

stage! {
    "sort_count" group 256, shared u32 256 {
        read 0 keys: u32,
        read 1 counters: u32,
        write 2 table: u32,
    }
}

/// Bits a round sorts by.
pub const BITS: u32 = 8;
/// Digits a round tells apart.
pub const DIGITS: u32 = 1 << BITS;
/// Keys a workgroup handles.
pub const TILE: u32 = 4096;

layout! {
    /// Push constants of the sort's passes.
    pub struct Push {
        /// Number of keys.
        pub extent: Extent,
        /// Lowest bit of this round's digit.
        pub shift: u32,
        /// Tiles the table has room for: those of `extent.limit` keys.
        pub tiles: u32,
    }
}

/// This round's digit of `key`.
#[inline(always)]
pub fn digit(key: u32, shift: u32) -> u32 {
    (key >> (shift & 31)) & (DIGITS - 1)
}

/// Counts one tile. Tiles beyond the count write zeros, so that the whole table can be scanned.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    if group.index >= push.tiles {
        return;
    }
    let mut d = group.lane;
    while d < DIGITS {
        shared.put(d, 0);
        d += group.lanes;
    }
    group.barrier();

    let count = push.extent.count(&b.counters, b.keys.len());
    let (start, end) = tile(group.index, TILE, count);
    // As many rounds for every lane, so that all of them are at the barrier together.
    let rounds = (end - start) / group.lanes;
    let mut i = start + group.lane;
    let mut round = 0;
    while round < rounds {
        // SAFETY: below `end`, and `count` with it is no more than there are keys.
        let key = unsafe { b.keys.known(i) };
        shared_add(shared, digit(key, push.shift), 1);
        i += group.lanes;
        round += 1;
    }
    if i < end {
        shared_add(shared, digit(b.keys.at(i), push.shift), 1);
    }
    group.barrier();

    d = group.lane;
    while d < DIGITS {
        b.table.put(d.wrapping_mul(push.tiles).wrapping_add(group.index), shared.at(d));
        d += group.lanes;
    }
}
