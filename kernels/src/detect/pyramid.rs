//! One level of a pyramid over the leaves in Morton order: each box joins [`FAN`] neighbours of the level below.
//! `hierarchy` makes the first, and `pyramid_top` those that are small.
//!
//! With it `refit` finds the box of any run of leaves from a handful of reads. The usual refit lets the second of two
//! children that arrives go on upwards; it would have to pass boxes between workgroups within a dispatch, and
//! depend on who comes first. This way every pass is free of both.

use crate::gpu::{Load, Store};
use crate::layout::{Extent, Volume};
use crate::{layout, stage};

stage! {
    "pyramid" each 256 {
        read 0 counters: u32,
        update 1 levels: Volume,
    }
}

/// Boxes that are joined to one of the next level.
pub const FAN: u32 = 8;

layout! {
    /// Push constants of `pyramid`.
    pub struct Push {
        /// Number of leaves.
        pub extent: Extent,
        /// The level to build; level 0 are the leaves.
        pub level: u32,
        /// Where the level below starts in `levels`; not used for level 1.
        pub below: u32,
        /// Where the level starts in `levels`.
        pub start: u32,
    }
}

/// Joins the boxes below one box.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let mut below = push.extent.count(&b.counters, u32::MAX);
    let mut level = 1;
    while level < push.level && below > 1 {
        below = below.div_ceil(FAN);
        level += 1;
    }
    if item >= below.div_ceil(FAN) {
        return;
    }
    let from = item * FAN;
    let to = if below - from < FAN { below } else { from + FAN };
    let mut volume = Volume::EMPTY;
    let mut i = from;
    while i < to {
        volume = volume.union(&b.levels.at(push.below.wrapping_add(i)));
        i += 1;
    }
    b.levels.put(push.start.wrapping_add(item), volume);
}
