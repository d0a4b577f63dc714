//! How many overlapping pairs each leaf has to report (see `walk`). An exclusive scan turns the counts into places,
//! and `pairs_fill` writes the pairs there: no atomic append, so the list is the same in every run. The first few are
//! kept, so that most leaves need not be walked for again.
//!
//! Leaves are walked for in Morton order, but counts stand in the order of the boxes: so will the pairs, and all that is made of
//! them, and who goes through bodies by number goes through the memory of their contacts from one end to the other.

use crate::detect::walk::Tree;
use crate::gpu::glam::UVec4;
use crate::gpu::{Load, Local, Store, least};
use crate::layout::{END, Extent, LEAF, Node, Volume};
use crate::{layout, stage};

stage! {
    "pairs_count" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 ropes: u32,
        update 3 counters: u32,
        write 4 counts: u32,
        write 5 partners: UVec4,
        read 6 order: u32,
    }
}

layout! {
    /// Push constants of `pairs_count`.
    pub struct Push {
        /// Number of leaves.
        pub extent: Extent,
        /// Counter of what crowded leaves have found so far, a [`CROWD`] at a time.
        pub crowded: u32,
        /// Pairs beyond which nobody looks for more: the list would be refused anyway.
        pub most: u32,
    }
}

/// Pairs of a leaf from which on it tells the others how many it has found, again after every so many.
pub const CROWD: u32 = 64;

/// Partners that are kept of a leaf.
pub const KEPT: u32 = 8;
/// Elements of `partners` that they take.
pub const KEPT_ELEMENTS: u32 = KEPT / 4;

/// Counts for one leaf.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters, least(b.ropes.len(), LEAF - 1));
    if item >= leaves {
        return;
    }
    let tree = Tree { nodes: b.nodes, volumes: b.volumes, ropes: b.ropes };
    let mut seeker = tree.seeker(item, leaves);
    let mut count = 0;
    let mut kept = Local::<u32, 8>::splat(0);
    // No node is visited twice, so the bound is only met in a broken tree.
    let mut fuel = leaves * 2;
    while seeker.at != END && fuel > 0 {
        fuel -= 1;
        let other = seeker.at & !LEAF;
        if tree.visit(&mut seeker) {
            kept.put(count, other);
            count += 1;
            // A million boxes in one place would be looked at for hours. Who passes the limit depends on who is first, but
            // that it is passed does not.
            if count % CROWD == 0 && b.counters.add(push.crowded, CROWD) >= push.most {
                fuel = 0;
            }
        }
    }
    let four = |k: u32| UVec4::new(kept.at(k), kept.at(k + 1), kept.at(k + 2), kept.at(k + 3));
    b.partners.put(item * KEPT_ELEMENTS, four(0));
    b.partners.put(item * KEPT_ELEMENTS + 1, four(4));
    // A walk that was cut short must not pass for a complete one. Besides the bounds there are drivers that end every
    // loop after 65,535 rounds (llvmpipe). The scan holds sums at u32::MAX, so this is reported as an overflow.
    b.counts.put(b.order.at(item), if seeker.at == END { count } else { u32::MAX });
}
