//! One round of colouring: no two bodies that share a manifold or a joint may have the same colour.
//!
//! Bodies keep the colour of the last step. One that has none, or shares it with a neighbour of higher priority, takes the
//! lowest colour that no neighbour has. Priorities are hashed from the index: in the order of the index itself a
//! change would have to travel along a whole chain, round by round. Rounds read one array and write the other; once one
//! has changed nothing, the two are alike and those behind it have nothing to do.

use crate::gpu::{Load, Read, Store, least};
use crate::solve::joints::Joint;
use crate::state::rigid::{Body, Entry, EntryRange, NONE, row};
use crate::{layout, stage};

stage! {
    "colour" each 256 {
        read 0 bodies: Body,
        read 1 rows: u32,
        read 2 entries: Entry,
        read 3 colours: u32,
        write 4 coloured: u32,
        read 5 joints: Joint,
        read 6 joint_links: u32,
        update 7 changes: u32,
    }
}

layout! {
    /// Push constants of `colour`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Colours there are; at most 32.
        pub colours: u32,
        /// Not 0: there are joints.
        pub joints: u32,
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

#[inline(always)]
fn hash(i: u32) -> u32 {
    let x = (i ^ (i >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Bodies that share a manifold or a joint with one.
#[derive(Clone, Copy)]
pub struct Neighbours {
    contacts: EntryRange,
    joints: EntryRange,
    body: u32,
}

impl Neighbours {
    /// Of `body`; `joints` is 0 when there are none in the world.
    #[inline(always)]
    pub fn new(rows: &Read<'_, u32>, entries: &Read<'_, Entry>, links: &Read<'_, u32>, body: u32, joints: u32) -> Self {
        let mut linked = EntryRange::EMPTY;
        if joints != 0 {
            linked = row(links, body, links.len());
        }
        Self { contacts: row(rows, body, entries.len()), joints: linked, body }
    }

    /// How many; some may be named twice.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.contacts.count().wrapping_add(self.joints())
    }

    /// How many of them joints tie to the body.
    #[inline(always)]
    pub fn joints(&self) -> u32 {
        self.joints.count()
    }

    /// The `n`th of them. A joint to the world names the body itself, which is in nobody's way.
    #[inline(always)]
    pub fn at(&self, n: u32, entries: &Read<'_, Entry>, joints: &impl Load<Joint>, links: &impl Load<u32>) -> u32 {
        let touching = self.contacts.count();
        if n < touching {
            entries.at(self.contacts.start + n).other
        } else {
            let joint = joints.at(links.at(self.joints.start + n - touching) >> 1);
            let other = if joint.body_a == self.body { joint.body_b } else { joint.body_a };
            if other == NONE { self.body } else { other }
        }
    }
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
        let near = Neighbours::new(&b.rows, &b.entries, &b.joint_links, item, push.joints);
        let mut n = 0;
        while n < near.count() {
            let other = near.at(n, &b.entries, &b.joints, &b.joint_links);
            let colour = b.colours.at(other);
            if b.bodies.at(other).is_dynamic() && colour < colours {
                used |= 1 << colour;
                gives_way = gives_way || (colour == mine && precedes(other, item));
            }
            n += 1;
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
