//! Last pass of a radix sort round: moves every key and its payload to its place, keeping equal digits in order.
//!
//! A subgroup takes a stretch of neighbouring keys and goes through it a row at a time. Within a row it finds by
//! ballot which lanes hold the same digit; the lowest of them advances the subgroup's counter for that digit, and
//! the others line up behind it. That is stable for any subgroup width. At most [`RANKERS`] subgroups share the
//! tile, so that their counters fit into 8 kB of workgroup memory even where subgroups are narrow; further ones idle.
//! With one lane (the CPU) all this is the textbook counting sort.

use crate::gpu::{Group, Load, Read, Store, least, shared_add};
use crate::layout::tile;
pub use crate::primitives::sort_count::Push;
use crate::primitives::sort_count::{BITS, DIGITS, TILE, digit, sums_of};
use crate::stage;

stage! {
    "sort_scatter" group 256, shared u32 2048 {
        read 0 keys: u32,
        read 1 payloads: u32,
        read 2 counters: u32,
        read 3 table: u32,
        read 4 sums: u32,
        write 5 keys_out: u32,
        write 6 payloads_out: u32,
    }
}

/// Subgroups of a workgroup that rank keys.
pub const RANKERS: u32 = 8;

/// A lane a digit, or one lane for all.
const _: () = assert!(DIGITS == 256);

/// Rows of counts that a tile adds up.
struct Rows {
    /// First row of `sums`, or of the table when there are no sums.
    first: u32,
    /// Rows there, which make up all keys.
    all: u32,
    /// Those of them that are before the tile.
    before: u32,
    /// Rows of the table from here on are before the tile, too, and in no row above.
    from: u32,
}

impl Rows {
    #[inline(always)]
    fn of(tile: u32, push: &Push, b: &Bindings<'_>) -> Self {
        if push.group == 0 {
            // No more rows than there are, whatever the push constants say.
            let all = least(push.tiles, b.table.len() / DIGITS);
            return Self { first: 0, all, before: least(tile, all), from: tile };
        }
        let all = least(push.tiles.div_ceil(push.group), b.sums.len() / DIGITS);
        let own = tile / push.group;
        Self { first: sums_of(0, push), all, before: least(own, all), from: own.wrapping_mul(push.group) }
    }
}

/// Adds the row that begins at `first` to the 256 numbers of `shared` from `to` on.
#[inline(always)]
fn add_row(shared: &mut Shared, to: u32, rows: &Read<'_, u32>, first: u32) {
    if first > rows.len() || rows.len() - first < DIGITS {
        return;
    }
    let mut d = 0;
    while d < DIGITS {
        // SAFETY: the row lies within the buffer, as was just looked at.
        let count = unsafe { rows.known(first + d) };
        shared.put(to + d, shared.at(to + d).wrapping_add(count));
        d += 1;
    }
}

/// The places of all digits, by one lane: it goes row by row, since a row's counts lie side by side.
#[inline(always)]
fn alone(shared: &mut Shared, tile: u32, few: bool, counts: &Rows, b: &Bindings<'_>) {
    let mut d = 0;
    while d < 2 * DIGITS {
        shared.put(d, 0);
        d += 1;
    }
    // Everything, and in passing what is before the tile.
    let mut row = 0;
    while row < counts.all {
        let first = counts.first.wrapping_add(row.wrapping_mul(DIGITS));
        if few {
            add_row(shared, DIGITS, &b.table, first);
        } else {
            add_row(shared, DIGITS, &b.sums, first);
        }
        row += 1;
        if row == counts.before {
            // Of these, all so far are before the tile.
            let mut d = 0;
            while d < DIGITS {
                shared.put(d, shared.at(DIGITS + d));
                d += 1;
            }
        }
    }
    row = counts.from;
    while row < tile {
        add_row(shared, 0, &b.table, row.wrapping_mul(DIGITS));
        row += 1;
    }
    let mut lower = 0u32;
    d = 0;
    while d < DIGITS {
        shared.put(d, lower.wrapping_add(shared.at(d)));
        lower = lower.wrapping_add(shared.at(DIGITS + d));
        d += 1;
    }
}

/// Moves one tile.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    let count = push.extent.count(&b.counters, least(b.keys.len(), b.payloads.len()));
    let (start, end) = tile(group.index, TILE, count);
    // The same for all lanes of the workgroup.
    if start >= end {
        return;
    }

    let rankers = if group.subgroups < RANKERS { group.subgroups } else { RANKERS };
    let stretch = TILE / rankers;
    let first = start + group.subgroup * stretch;
    let rows = stretch / group.width();
    let ranks = group.subgroup < rankers;
    let mine = group.subgroup * DIGITS;

    // Where the tile's keys of this lane's digit start.
    let counts = Rows::of(group.index, push, b);
    let mut own = 0;
    if group.lanes > 1 {
        let (mut before, mut all) = (0u32, 0u32);
        let mut row = 0;
        while row < counts.all {
            let at = counts.first.wrapping_add(row.wrapping_mul(DIGITS)).wrapping_add(group.lane);
            let count = if push.group == 0 { b.table.at(at) } else { b.sums.at(at) };
            before = before.wrapping_add(if row < counts.before { count } else { 0 });
            all = all.wrapping_add(count);
            row += 1;
        }
        row = counts.from;
        while row < group.index {
            before = before.wrapping_add(b.table.at(row.wrapping_mul(DIGITS).wrapping_add(group.lane)));
            row += 1;
        }
        own = group.exclusive(shared, all).0.wrapping_add(before);
    }

    // Each ranker counts its stretch; a lone one need not, nobody stands before it.
    if rankers > 1 {
        let mut d = group.lane;
        while d < rankers * DIGITS {
            shared.put(d, 0);
            d += group.lanes;
        }
        group.barrier();
        if ranks {
            let mut row = 0;
            while row < rows {
                let i = first + row * group.width() + group.slot;
                if i < end {
                    shared_add(shared, mine + digit(b.keys.at(i), push.shift), 1);
                }
                row += 1;
            }
        }
        group.barrier();
    }

    // Counts become places: where this tile's keys of a digit start, plus the rankers before.
    if group.lanes == 1 {
        alone(shared, group.index, push.group == 0, &counts, b);
    } else {
        let (mut ranker, mut place) = (0, own);
        while ranker < rankers {
            let at = ranker * DIGITS + group.lane;
            let there = shared.at(at);
            shared.put(at, place);
            place = place.wrapping_add(if rankers > 1 { there } else { 0 });
            ranker += 1;
        }
    }
    group.barrier();

    let room = least(b.keys_out.len(), b.payloads_out.len());
    // All lanes of a subgroup rank or none does, and every one goes through as many rows: ballots and shuffles have
    // them all.
    if ranks {
        let mut row = 0;
        while row < rows {
            let i = first + row * group.width() + group.slot;
            let inside = i < end;
            // Lanes past the end take part in the ballots with the last digit. They come after every real key of the
            // tile, so they never stand before one in a counter's line.
            let (mut key, mut payload) = (u32::MAX, 0);
            if inside {
                // SAFETY: below `end`, and `count` with it is no more than there are keys and payloads.
                (key, payload) = unsafe { (b.keys.known(i), b.payloads.known(i)) };
            }
            let d = digit(key, push.shift);
            let peers = group.peers(d, BITS);
            let mut line = 0;
            if group.slot == peers.leader {
                line = shared_add(shared, mine + d, peers.count);
            }
            let place = group.from_slot(line, peers.leader).wrapping_add(peers.rank);
            if inside && place < room {
                // SAFETY: below `room`.
                unsafe {
                    b.keys_out.put_known(place, key);
                    b.payloads_out.put_known(place, payload);
                }
            }
            group.subgroup_barrier();
            row += 1;
        }
    }
}
