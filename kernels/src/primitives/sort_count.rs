//! First pass of a radix sort round: how often each of the 256 digits occurs in every tile of keys.
//!
//! A round sorts by eight bits: `sort_count`, `sort_scatter`. The table has a row of counts for every tile. The place of
//! a tile's keys of a digit is the number of all keys with a lower digit, and of those with the same digit in the tiles
//! before: that is a stable sort. `sort_scatter` adds these up by itself, which costs less than a dispatch between
//! the two. So that it has few rows to add up, those of as many neighbouring tiles as there are groups of them are
//! added up here too, by atomic additions, whose order does not matter.

use crate::gpu::{Group, Load, Store, shared_add};
use crate::layout::{Extent, tile};
use crate::{layout, stage};

stage! {
    "sort_count" group 256, shared u32 256 {
        read 0 keys: u32,
        read 1 counters: u32,
        write 2 table: u32,
        update 3 sums: u32,
    }
}

/// Bits a round sorts by.
pub const BITS: u32 = 8;
/// Digits a round tells apart.
pub const DIGITS: u32 = 1 << BITS;
/// Keys a workgroup handles.
pub const TILE: u32 = 4096;
/// Most tiles whose rows are added up without sums over groups.
pub const FEW_TILES: u32 = 16;

layout! {
    /// Push constants of the sort's passes.
    pub struct Push {
        /// Number of keys.
        pub extent: Extent,
        /// Lowest bit of this round's digit.
        pub shift: u32,
        /// Tiles the table has room for: those of `extent.limit` keys.
        pub tiles: u32,
        /// Tiles a group; 0 when there are few tiles, and no sums over groups of them.
        pub group: u32,
    }
}

/// Tiles a group for so many of them: about as many as there are groups, so that there is as little to add up as there
/// can be; 0 for few.
pub fn tiles_a_group(tiles: u32) -> u32 {
    if tiles > FEW_TILES { tiles.isqrt().max(1) } else { 0 }
}

/// Where the sums of a group begin that has the tile: those of a round lie behind each other, and rounds too.
#[inline(always)]
pub fn sums_of(tile: u32, push: &Push) -> u32 {
    let group = if push.group > 0 { push.group } else { 1 };
    let round = (push.shift / BITS).wrapping_mul(push.tiles.div_ceil(group));
    round.wrapping_add(tile / group).wrapping_mul(DIGITS)
}

/// This round's digit of `key`.
#[inline(always)]
pub fn digit(key: u32, shift: u32) -> u32 {
    (key >> (shift & 31)) & (DIGITS - 1)
}

/// Counts one tile. Tiles beyond the count write zeros, so that rows can be added up without knowing the count.
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

    let (row, sums) = (group.index.wrapping_mul(DIGITS), sums_of(group.index, push));
    d = group.lane;
    while d < DIGITS {
        let found = shared.at(d);
        b.table.put(row.wrapping_add(d), found);
        if push.group > 0 && found > 0 {
            b.sums.add(sums.wrapping_add(d), found);
        }
        d += group.lanes;
    }
}
