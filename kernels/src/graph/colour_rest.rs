//! The rounds of colouring that were not dispatched: plans dispatch as many as the last steps needed. One workgroup
//! makes those that are left, if the last one dispatched still changed something, so that colours are the same however
//! many were; and it tells how many were needed.

use crate::detect::gate::counter;
use crate::gpu::{Group, Store, least};
use crate::graph::colour::Neighbours;
use crate::state::rigid::{Body, Entry};
use crate::{layout, stage};

stage! {
    "colour_rest" group 256 {
        read 0 bodies: Body,
        read 1 rows: u32,
        read 2 entries: Entry,
        update 3 colours: u32,
        update 4 coloured: u32,
        update 5 changes: u32,
        write 6 counters: u32,
        read 7 locals: u32,
    }
}

layout! {
    /// Push constants of `colour_rest`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Colours there are; at most 32.
        pub colours: u32,
        /// Rounds that were dispatched, 1 at least: the first that is left reads `colours` and writes `coloured`.
        pub first: u32,
        /// Rounds there are.
        pub rounds: u32,
        /// As in `colour`.
        pub worlds: u32,
    }
}

/// Makes the rounds that are left. Lanes show each other colours by atomic words, and meet between rounds.
#[inline(always)]
pub fn run(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    // Whatever the push constants say, there are no more rounds and bodies than the buffers have elements.
    let rounds = least(push.rounds, b.changes.len());
    let count = least(push.count, least(b.colours.len(), b.coloured.len()));
    let mut goes_on = b.changes.now(push.first.wrapping_sub(1)) != 0;
    let mut there = true;
    let mut round = push.first;
    // Every lane makes every round: all of them are at the barrier together.
    while round < rounds {
        let mut item = group.lane;
        while goes_on && item < count {
            let (bodies, rows, entries, locals) = (&b.bodies, &b.rows, &b.entries, &b.locals);
            let graph = Neighbours { bodies, rows, entries, locals, worlds: push.worlds };
            let colour_of = |i: u32| if there { b.colours.now(i) } else { b.coloured.now(i) };
            let mine = colour_of(item);
            let next = graph.colour(item, mine, push.colours, colour_of);
            if there {
                b.coloured.put_now(item, next);
            } else {
                b.colours.put_now(item, next);
            }
            if next != mine {
                b.changes.or(round, 1);
            }
            item += group.lanes;
        }
        group.storage_barrier();
        goes_on = goes_on && b.changes.now(round) != 0;
        there = !there;
        round += 1;
    }
    if group.lane == 0 {
        let mut needed = 0;
        while needed < rounds && b.changes.now(needed) != 0 {
            needed += 1;
        }
        b.counters.put(counter::ROUNDS, needed);
        // `colour_ranges` raises it. Steps that are not made leave it as it is.
        b.counters.put(counter::COLOURS, 0);
    }
}
