//! One round of colouring: no two bodies that share a manifold or a joint may have the same colour.
//!
//! Bodies keep the colour of the last step. One that has none, or shares it with a neighbour of higher priority, takes the
//! lowest colour that no neighbour has. Priorities are hashed from the index: in the order of the index itself a
//! change would have to travel along a whole chain, round by round. Rounds read one array and write the other; once one
//! has changed nothing, the two are alike and those behind it have nothing to do.

use crate::gpu::{Load, Store, least};
use crate::state::rigid::{Body, Entry, NONE, row};
use crate::{layout, stage};

stage! {
    "colour" each 256 {
        read 0 bodies: Body,
        read 1 rows: u32,
        read 2 entries: Entry,
        read 3 colours: u32,
        write 4 coloured: u32,
        update 5 changes: u32,
    }
}

layout! {
    /// Push constants of `colour`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Colours there are; at most 32.
        pub colours: u32,
        /// The round, from 0 on: where `changes` tells whether it changed anything.
        pub round: u32,
    }
}

/// Who gives way: the body with the smaller hash, or index when they are equal.
#[inline(always)]
pub fn precedes(a: u32, b: u32) -> bool {
    let (ha, hb) = (hash(a), hash(b));
    ha > hb || (ha == hb && a > b)
}

/// A number that looks nothing like `i`.
#[inline(always)]
pub fn hash(i: u32) -> u32 {
    let x = (i ^ (i >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Colours one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count || (push.round > 0 && b.changes.at(push.round - 1) == 0) {
        return;
    }
    let mine = b.colours.at(item);
    let mut next = NONE;
    if b.bodies.at(item).is_dynamic() {
        let mut used = 0u32;
        let colours = least(push.colours, 32);
        let mut gives_way = mine >= colours;
        let near = row(&b.rows, item, b.entries.len());
        let mut e = near.start;
        while e < near.end {
            // SAFETY: `row` has held the end against the number of entries.
            let other = unsafe { b.entries.known(e) }.other;
            let colour = b.colours.at(other);
            if colour < colours && b.bodies.at(other).is_dynamic() {
                used |= 1 << colour;
                gives_way = gives_way || (colour == mine && precedes(other, item));
            }
            e += 1;
        }
        next = mine;
        if gives_way {
            let free = (!used).trailing_zeros();
            next = least(free, colours);
        }
    }
    b.coloured.put(item, next);
    if next != mine {
        b.changes.or(push.round, 1);
    }
}
