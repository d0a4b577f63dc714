//! After the last round: bodies that still share a colour with a neighbour, or found none free, go into the fallback,
//! which solves them one after the other. Writes the keys that sort bodies by colour.

use crate::gpu::{Load, Store};
use crate::graph::colour::{Neighbours, precedes};
use crate::solve::joints::Joint;
use crate::state::rigid::{Body, Entry};
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
        read 7 joints: Joint,
        read 8 joint_links: u32,
        write 9 changes: u32,
    }
}

layout! {
    /// Push constants of `colour_settle`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Colours there are; the fallback comes behind them.
        pub colours: u32,
        /// Not 0: there are joints.
        pub joints: u32,
        /// Rounds of colouring.
        pub rounds: u32,
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
        key = mine;
        let near = Neighbours::new(&b.rows, &b.entries, &b.joint_links, item, push.joints);
        let mut n = 0;
        while n < near.count() {
            let other = near.at(n, &b.entries, &b.joints, &b.joint_links);
            if b.coloured.at(other) == mine && precedes(other, item) && b.bodies.at(other).is_dynamic() {
                key = push.colours;
            }
            n += 1;
        }
    }
    b.colours.put(item, mine);
    b.keys.put(item, key);
    b.order.put(item, item);
}
