//! How many boxes after it in Morton order each leaf's box overlaps. An exclusive scan turns the counts into places,
//! and `pairs_fill` writes the pairs there: no atomic append, so the list is the same in every run.

use crate::gpu::{Load, Store};
use crate::layout::{Aabb, END, Extent, Node};
use crate::walk::{Tree, next_overlap};
use crate::{layout, stage};

stage! {
    "pairs_count" each 64 {
        read 0 nodes: Node,
        read 1 node_boxes: Aabb,
        read 2 leaf_boxes: Aabb,
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
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters);
    if item >= leaves {
        return;
    }
    let tree = Tree { nodes: b.nodes, node_boxes: b.node_boxes, leaf_boxes: b.leaf_boxes, ropes: b.ropes };
    let bounds = b.leaf_boxes.at(item);
    let mut fuel = leaves * 2;
    let mut count = 0;
    let mut at = b.ropes.at(item);
    while at != END {
        let leaf = next_overlap(&tree, &bounds, at, &mut fuel);
        if leaf == END {
            at = END;
        } else {
            count += 1;
            at = b.ropes.at(leaf);
        }
    }
    b.counts.put(item, count);
}
