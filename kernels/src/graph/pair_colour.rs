//! One round of colouring manifolds and joints, for solvers that go from one to the next: no two that share a body
//! which forces move may have the same colour.
//!
//! Nothing is kept from step to step. In the first round each takes a colour by its hash; one that shares it with a
//! neighbour of higher priority then takes one that no neighbour has, beginning to look at another place in every
//! round, so that neighbours which look at the same time rarely find the same. Rounds read one array and write the
//! other; once one has changed nothing, the two are alike and those behind it have nothing to do.

use crate::detect::gate::counter;
use crate::detect::manifold::Manifold;
use crate::gpu::{Load, Read, Store};
use crate::graph::colour::{hash, precedes};
use crate::solve::joints::{Joint, flag};
use crate::state::rigid::{Entry, EntryRange, NONE, entry, row};
use crate::{layout, stage};

stage! {
    "pair_colour" each 256 {
        read 0 manifolds: Manifold,
        read 1 joints: Joint,
        read 2 counters: u32,
        read 3 rows: u32,
        read 4 entries: Entry,
        read 5 colours: u32,
        write 6 coloured: u32,
        update 7 changes: u32,
    }
}

layout! {
    /// Push constants of `pair_colour`.
    pub struct Push {
        /// Room for manifolds: what is counted from there on are joints.
        pub manifolds: u32,
        /// Room for both.
        pub limit: u32,
        /// The round, from 0 on: where `changes` tells whether it changed anything.
        pub round: u32,
    }
}

/// Colours: as many as leave room for the fallback, and both kinds, in the 64 ranges of a workgroup.
pub const COLOURS: u32 = 31;
/// Colours that are taken as long as one of them is free: most piles need no more, and every further one is a dispatch.
pub const USUAL: u32 = 16;
/// Rounds; an odd number. What has found no colour by then is solved in turn.
pub const ROUNDS: u32 = 13;

/// The two bodies of a manifold or joint; both [`NONE`] when there is nothing to solve.
#[inline(always)]
pub fn ends(
    item: u32,
    contacts: u32,
    manifolds: &impl Load<Manifold>,
    joints: &impl Load<Joint>,
    solved: u32,
) -> (u32, u32) {
    let mut found = (NONE, NONE);
    if item >= contacts {
        let joint = joints.at(item - contacts);
        if joint.rows > 0 && joint.flags & flag::BROKEN == 0 {
            found = (joint.body_a, joint.body_b);
        }
    } else if item < solved {
        let manifold = manifolds.at(item);
        if manifold.count > 0 {
            found = (manifold.ends.body_a, manifold.ends.body_b);
        }
    }
    found
}

/// The manifold or joint of an entry, counted as one list.
#[inline(always)]
pub fn pair_of(e: &Entry, contacts: u32) -> u32 {
    if e.kind() == entry::CONTACT { e.manifold() } else { contacts.wrapping_add(e.joint()) }
}

/// What a manifold or joint draws its colour and its priority by. The room that there is for manifolds must not matter:
/// it depends on what there was before.
#[inline(always)]
pub fn name_of(item: u32, contacts: u32) -> u32 {
    if item >= contacts { (item - contacts) | 1 << 31 } else { item }
}

/// The row of a body, or none of the world's.
#[inline(always)]
pub fn row_of(rows: &impl Load<u32>, body: u32, entries: &Read<'_, Entry>) -> EntryRange {
    if body == NONE { EntryRange::EMPTY } else { row(rows, body, entries.len()) }
}

/// One of the colours that `used` leaves free, or [`COLOURS`]. `turn` says where to begin to look.
#[inline(always)]
fn free_colour(used: u32, turn: u32) -> u32 {
    let usual = (1u32 << USUAL) - 1;
    let free = !used & usual;
    let from = turn % USUAL;
    let turned = (free >> from) | (free << (USUAL - from)) & usual;
    let mut colour = (!used).trailing_zeros();
    if turned != 0 {
        colour = (turned.trailing_zeros() + from) % USUAL;
    }
    if colour < COLOURS { colour } else { COLOURS }
}

/// Colours one manifold or joint.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit || (push.round > 0 && b.changes.at(push.round - 1) == 0) {
        return;
    }
    let solved = b.counters.at(counter::SOLVED);
    let (body_a, body_b) = ends(item, push.manifolds, &b.manifolds, &b.joints, solved);
    let name = name_of(item, push.manifolds);
    let turn = hash(name.wrapping_add(push.round.wrapping_mul(0x9e37_79b9)));
    let mut mine = NONE;
    let mut next = NONE;
    if body_a != NONE {
        next = turn % USUAL;
        if push.round > 0 {
            mine = b.colours.at(item);
            let mut used = 0u32;
            let mut gives_way = mine >= COLOURS;
            let mut side = 0;
            while side < 2 {
                let near = row_of(&b.rows, if side == 0 { body_a } else { body_b }, &b.entries);
                let mut e = near.start;
                while e < near.end {
                    // SAFETY: `row` has held the end against the number of entries.
                    let other = pair_of(&unsafe { b.entries.known(e) }, push.manifolds);
                    let colour = b.colours.at(other);
                    if other != item && colour < COLOURS {
                        used |= 1 << colour;
                        gives_way = gives_way || (colour == mine && precedes(name_of(other, push.manifolds), name));
                    }
                    e += 1;
                }
                side += 1;
            }
            next = mine;
            if gives_way {
                next = free_colour(used, turn);
            }
        }
    }
    b.coloured.put(item, next);
    if next != mine {
        b.changes.or(push.round, 1);
    }
}
