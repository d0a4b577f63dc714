//! After the last round: bodies that still share a colour with a neighbour, or found none free, go into the fallback,
//! which solves them one after the other. Writes the keys that sort bodies by colour, and by kind within a colour.

use crate::gpu::{Load, Store};
use crate::graph::colour::precedes;
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
    }
}

layout! {
    /// Push constants of `colour_settle`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Colours there are; the fallback comes behind them.
        pub colours: u32,
        /// Rounds of colouring.
        pub rounds: u32,
        /// Kinds of nodes, see [`node`].
        pub kinds: u32,
    }
}

/// Key of bodies that are not solved.
pub const UNSOLVED: u32 = 255;

/// Settles one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    // For the next step. There are fewer than a workgroup takes.
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
            if b.coloured.at(other) == mine && precedes(other, item) && b.bodies.at(other).is_dynamic() {
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
