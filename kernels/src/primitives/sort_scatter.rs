//! Last pass of a radix sort round: moves every key and its payload to its place, keeping equal digits in order.
//!
//! A subgroup takes a stretch of neighbouring keys and goes through it a row at a time. Within a row it finds by
//! ballot which lanes hold the same digit; the lowest of them advances the subgroup's counter for that digit, and
//! the others line up behind it. That is stable for any subgroup width. At most [`RANKERS`] subgroups share the
//! tile, so that their counters fit into 8 kB of workgroup memory even where subgroups are narrow; further ones idle.
//! With one lane (the CPU) all this is the textbook counting sort.

use crate::gpu::{Group, Load, Store, least, shared_add};
use crate::layout::tile;
pub use crate::primitives::sort_count::Push;
use crate::primitives::sort_count::{BITS, DIGITS, TILE, digit};
use crate::stage;

stage! {
    "sort_scatter" group 256, shared u32 2048 {
        read 0 keys: u32,
        read 1 payloads: u32,
        read 2 counters: u32,
        read 3 table: u32,
        write 4 keys_out: u32,
        write 5 payloads_out: u32,
    }
}

/// Subgroups of a workgroup that rank keys.
pub const RANKERS: u32 = 8;

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
    let mut d = group.lane;
    while d < DIGITS {
        let mut place = b.table.at(d.wrapping_mul(push.tiles).wrapping_add(group.index));
        if rankers == 1 {
            shared.put(d, place);
        } else {
            let mut ranker = 0;
            while ranker < rankers {
                let there = shared.at(ranker * DIGITS + d);
                shared.put(ranker * DIGITS + d, place);
                place = place.wrapping_add(there);
                ranker += 1;
            }
        }
        d += group.lanes;
    }
    group.barrier();

    let room = least(b.keys_out.len(), b.payloads_out.len());
    // All lanes of a subgroup rank or none does, and every one goes through as many rows: ballots and shuffles have them all.
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
