//! One round of colouring: no two bodies that share a manifold or a joint may have the same colour. Reads rows and
//! entries; writes `coloured` and `changes`.
//!
//! Bodies keep the colour of the last step. A body that has none, or shares it with a neighbour of higher priority,
//! takes the lowest colour that no neighbour has. Priorities are hashes of the index, in several worlds of that in the
//! body's own (`locals`): with the index itself, a change would have to travel along a whole chain, round by round. A round reads one array and writes the other; after a
//! round without changes both are equal, and later rounds have nothing to do.

use crate::gpu::{Load, Read, Store, least};
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
        read 6 locals: u32,
    }
}

layout! {
    /// Push constants of `colour`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Number of colours; at most 32.
        pub colours: u32,
        /// Number of the round, from 0 on: the index in `changes` of its flag.
        pub round: u32,
        /// Not 0 where there are several worlds: a body's number is that in its own.
        pub worlds: u32,
    }
}

/// The number of a body by which it takes precedence: in its own world, where there are several.
#[inline(always)]
pub fn number(locals: &Read<'_, u32>, worlds: u32, body: u32) -> u32 {
    let mut number = body;
    if worlds != 0 {
        number = locals.at(body);
    }
    number
}

/// Whether body `a` has priority over `b`: the larger hash does, or on equal hashes the larger index.
#[inline(always)]
pub fn precedes(a: u32, b: u32) -> bool {
    let (ha, hb) = (hash(a), hash(b));
    ha > hb || (ha == hb && a > b)
}

/// Hash of `i`.
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
    let graph =
        Neighbours { bodies: &b.bodies, rows: &b.rows, entries: &b.entries, locals: &b.locals, worlds: push.worlds };
    let next = graph.colour(item, mine, push.colours, |other| b.colours.at(other));
    b.coloured.put(item, next);
    if next != mine {
        b.changes.or(push.round, 1);
    }
}

/// Who is whose neighbour.
pub struct Neighbours<'a, 'b> {
    /// Bodies.
    pub bodies: &'b Read<'a, Body>,
    /// Their rows.
    pub rows: &'b Read<'a, u32>,
    /// What those list.
    pub entries: &'b Read<'a, Entry>,
    /// Numbers of the bodies in their worlds.
    pub locals: &'b Read<'a, u32>,
    /// Whether there are several.
    pub worlds: u32,
}

impl Neighbours<'_, '_> {
    /// Whether a body has priority over another one of its world.
    #[inline(always)]
    fn precedes(&self, a: u32, b: u32) -> bool {
        precedes(number(self.locals, self.worlds, a), number(self.locals, self.worlds, b))
    }

    /// The colour that a body with colour `mine` takes in a round, among so many.
    #[inline(always)]
    pub fn colour(&self, item: u32, mine: u32, colours: u32, colour_of: impl Fn(u32) -> u32) -> u32 {
        let mut next = NONE;
        if self.bodies.at(item).is_dynamic() {
            let mut used = 0u32;
            let colours = least(colours, 32);
            let mut gives_way = mine >= colours;
            let near = row(self.rows, item, self.entries.len());
            let mut e = near.start;
            while e < near.end {
                // SAFETY: `row` has held the end against the number of entries.
                let other = unsafe { self.entries.known(e) }.other;
                let colour = colour_of(other);
                if colour < colours && self.bodies.at(other).is_dynamic() {
                    used |= 1 << colour;
                    gives_way = gives_way || (colour == mine && self.precedes(other, item));
                }
                e += 1;
            }
            next = mine;
            if gives_way {
                let free = (!used).trailing_zeros();
                next = least(free, colours);
            }
        }
        next
    }
}
