//! How many overlapping pairs each leaf has to report (see `walk`). An exclusive scan turns the counts into places,
//! and `pairs_fill` writes the pairs there: no atomic append, so the list is the same in every run.

use crate::gpu::Store;
use crate::layout::{END, Extent, Node, Volume};
use crate::walk::Tree;
use crate::{layout, stage};

stage! {
    "pairs_count" each 64 {
        read 0 nodes: Node,
        read 1 node_volumes: Volume,
        read 2 leaf_volumes: Volume,
        read 3 ropes: u32,
        read 4 counters: u32,
        write 5 counts: u32,
    }
}

layout! {
    /// Push constants of `pairs_count`.
    pub struct Push {
        /// Number of leaves.
        pub extent: Extent,
    }
}

/// Counts for one leaf.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters);
    if item >= leaves {
        return;
    }
    let tree = Tree { nodes: b.nodes, node_volumes: b.node_volumes, leaf_volumes: b.leaf_volumes, ropes: b.ropes };
    let seeker = tree.seeker(item);
    let mut at = tree.start(&seeker, leaves);
    let mut count = 0;
    // No node is visited twice, so the bound is only met in a broken tree.
    let mut fuel = leaves * 2;
    while at != END && fuel > 0 {
        fuel -= 1;
        let visit = tree.visit(&seeker, at);
        if visit.hit {
            count += 1;
        }
        at = visit.next;
    }
    // A walk that was cut short must not pass for a complete one. Besides the bound there are drivers that end every
    // loop after 65,535 rounds (llvmpipe). The scan holds sums at u32::MAX, so this is reported as an overflow.
    b.counts.put(item, if at == END { count } else { u32::MAX });
}
