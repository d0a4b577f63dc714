//! How many overlapping pairs each leaf has to report (see `walk`). An exclusive scan turns the counts into places,
//! and `pairs_fill` writes the pairs there: no atomic append, so the list is the same in every run. The first few are
//! kept, so that most leaves need not be walked for again.

use crate::gpu::Store;
use crate::layout::{END, Extent, LEAF, Node, Volume};
use crate::walk::Tree;
use crate::{layout, stage};

stage! {
    "pairs_count" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 ropes: u32,
        read 3 counters: u32,
        write 4 counts: u32,
        write 5 partners: u32,
    }
}

layout! {
    /// Push constants of `pairs_count`.
    pub struct Push {
        /// Number of leaves.
        pub extent: Extent,
    }
}

/// Partners that are kept of a leaf.
pub const KEPT: u32 = 8;

/// Counts for one leaf.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters);
    if item >= leaves {
        return;
    }
    let tree = Tree { nodes: b.nodes, volumes: b.volumes, ropes: b.ropes };
    let mut seeker = tree.seeker(item, leaves);
    let mut count = 0;
    // No node is visited twice, so the bound is only met in a broken tree.
    let mut fuel = leaves * 2;
    while seeker.at != END && fuel > 0 {
        fuel -= 1;
        let other = seeker.at & !LEAF;
        if tree.visit(&mut seeker) {
            if count < KEPT {
                b.partners.put(item * KEPT + count, other);
            }
            count += 1;
        }
    }
    // A walk that was cut short must not pass for a complete one. Besides the bound there are drivers that end every
    // loop after 65,535 rounds (llvmpipe). The scan holds sums at u32::MAX, so this is reported as an overflow.
    b.counts.put(item, if seeker.at == END { count } else { u32::MAX });
}
