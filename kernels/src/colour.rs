//! One round of colouring: no two bodies that share a manifold may have the same colour.
//!
//! Bodies keep the colour of the last step. One that has none, or shares it with a neighbour of higher priority, takes the
//! lowest colour that no neighbour has. Priorities are hashed from the index: in the order of the index itself a
//! change would have to travel along a whole chain, round by round. Rounds read one array and write the other.

use crate::gpu::{Load, Store};
use crate::rigid::{Body, NONE, row};
use crate::{layout, stage};

stage! {
    "colour" each 256 {
        read 0 bodies: Body,
        read 1 rows: u32,
        read 2 neighbours: u32,
        read 3 colours: u32,
        write 4 coloured: u32,
    }
}

layout! {
    /// Push constants of `colour`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Colours there are; at most 32.
        pub colours: u32,
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

/// Colours one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let mine = b.colours.at(item);
    let mut next = NONE;
    if b.bodies.at(item).is_dynamic() {
        let mut used = 0u32;
        let mut gives_way = mine >= push.colours;
        let row = row(&b.rows, item);
        let mut e = row.start;
        while e < row.end {
            let other = b.neighbours.at(e);
            let colour = b.colours.at(other);
            if b.bodies.at(other).is_dynamic() && colour < push.colours {
                used |= 1 << colour;
                gives_way = gives_way || (colour == mine && precedes(other, item));
            }
            e += 1;
        }
        next = mine;
        if gives_way {
            let free = (!used).trailing_zeros();
            next = if free < push.colours { free } else { push.colours };
        }
    }
    b.coloured.put(item, next);
}
