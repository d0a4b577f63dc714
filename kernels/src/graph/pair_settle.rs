//! After the last round: manifolds and joints that still share a colour with a neighbour, or found none free, go into
//! the fallback, which solves them one after the other. Writes the keys that sort them by colour, and by kind within a
//! colour.

use crate::detect::gate::counter;
use crate::detect::manifold::Manifold;
use crate::gpu::{Load, Store};
use crate::graph::colour::precedes;
use crate::graph::colour_settle::UNSOLVED;
use crate::graph::pair_colour::{COLOURS, ends, name_of, pair_of, row_of};
use crate::solve::joints::Joint;
use crate::state::rigid::{Entry, NONE, entry, node};
use crate::{layout, stage};

stage! {
    "pair_settle" each 256 {
        read 0 manifolds: Manifold,
        read 1 joints: Joint,
        read 2 counters: u32,
        read 3 rows: u32,
        read 4 entries: Entry,
        read 5 coloured: u32,
        write 6 keys: u32,
        write 7 pairs: u32,
    }
}

layout! {
    /// Push constants of `pair_settle`.
    pub struct Push {
        /// Room for manifolds: what is counted from there on are joints.
        pub manifolds: u32,
        /// Room for both.
        pub limit: u32,
    }
}

/// Settles one manifold or joint.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit {
        return;
    }
    let solved = b.counters.at(counter::SOLVED);
    let (body_a, body_b) = ends(item, push.manifolds, &b.manifolds, &b.joints, solved);
    let joint = item >= push.manifolds;
    let mut key = UNSOLVED;
    if body_a != NONE {
        let mine = b.coloured.at(item);
        let mut colour = if mine < COLOURS { mine } else { COLOURS };
        let mut side = 0;
        while side < 2 {
            let near = row_of(&b.rows, if side == 0 { body_a } else { body_b }, &b.entries);
            let mut e = near.start;
            while e < near.end {
                // SAFETY: `row` has held the end against the number of entries.
                let other = pair_of(&unsafe { b.entries.known(e) }, push.manifolds);
                let first = precedes(name_of(other, push.manifolds), name_of(item, push.manifolds));
                if other != item && b.coloured.at(other) == mine && first {
                    colour = COLOURS;
                }
                e += 1;
            }
            side += 1;
        }
        key = node::range(colour, entry::KINDS, if joint { entry::JOINT } else { entry::CONTACT });
    }
    b.keys.put(item, key);
    b.pairs.put(item, if joint { item - push.manifolds } else { item });
}
