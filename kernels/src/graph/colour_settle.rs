//! Runs after the last round of colouring. Bodies that still share a colour with a neighbour, or found none free, go
//! into the fallback, which solves them one after the other. Writes the colours, and the keys that sort bodies by
//! colour and by kind within a colour.

use crate::gpu::{Load, Store};
use crate::graph::colour::{number, precedes};
use crate::state::rigid::{Body, Entry, node, row};
use crate::{layout, stage};

stage! {
    "colour_settle" each 256 {
        read 0 bodies: Body,
        read 1 rows: u32,
        read 2 entries: Entry,
        read 3 coloured: u32,
        write 4 colours: u32,
        write 5 keys: u32,
        write 6 order: u32,
        write 7 changes: u32,
        read 8 locals: u32,
    }
}

layout! {
    /// Push constants of `colour_settle`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Number of colours; the fallback comes after them.
        pub colours: u32,
        /// Number of rounds of colouring.
        pub rounds: u32,
        /// Number of kinds of nodes, see [`node`].
        pub kinds: u32,
        /// As in `colour`.
        pub worlds: u32,
    }
}

/// Key of bodies that are not solved.
pub const UNSOLVED: u32 = 255;

/// Settles one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    // Clears the flags of the rounds for the next step; there are fewer of them than items in a workgroup.
    if item < push.rounds {
        b.changes.put(item, 0);
    }
    if item >= push.count {
        return;
    }
    let mine = b.coloured.at(item);
    let mut key = UNSOLVED;
    if b.bodies.at(item).is_dynamic() {
        let mut colour = mine;
        let near = row(&b.rows, item, b.entries.len());
        let mut e = near.start;
        while e < near.end {
            // SAFETY: `row` has held the end against the number of entries.
            let other = unsafe { b.entries.known(e) }.other;
            let number = |body: u32| number(&b.locals, push.worlds, body);
            if b.coloured.at(other) == mine && precedes(number(other), number(item)) && b.bodies.at(other).is_dynamic()
            {
                colour = push.colours;
            }
            e += 1;
        }
        // All nodes are bodies.
        key = node::range(colour, push.kinds, node::RIGID);
    }
    b.colours.put(item, mine);
    b.keys.put(item, key);
    b.order.put(item, item);
}
