//! Writes the overlapping pairs to the places that the scan of `pairs_count` gave them. What lies beyond the capacity
//! is left out; which pairs those are depends only on the boxes.

use crate::gpu::{Load, Store};
use crate::layout::{Aabb, END, Extent, Node, Pair};
use crate::walk::{Tree, next_overlap};
use crate::{layout, stage};

stage! {
    "pairs_fill" each 64 {
        read 0 nodes: Node,
        read 1 node_boxes: Aabb,
        read 2 leaf_boxes: Aabb,
        read 3 ropes: u32,
        read 4 counters: u32,
        read 5 order: u32,
        read 6 places: u32,
        write 7 pairs: Pair,
    }
}

layout! {
    /// Push constants of `pairs_fill`.
    pub struct Push {
        /// Number of leaves.
        pub extent: Extent,
        /// Pairs there is room for.
        pub capacity: u32,
    }
}

/// Writes the pairs of one leaf.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters);
    if item >= leaves {
        return;
    }
    let tree = Tree { nodes: b.nodes, node_boxes: b.node_boxes, leaf_boxes: b.leaf_boxes, ropes: b.ropes };
    let bounds = b.leaf_boxes.at(item);
    let this = b.order.at(item);
    let mut fuel = leaves * 2;
    let mut place = b.places.at(item);
    let mut at = b.ropes.at(item);
    while at != END && place < push.capacity {
        let leaf = next_overlap(&tree, &bounds, at, &mut fuel);
        if leaf == END {
            at = END;
        } else {
            let other = b.order.at(leaf);
            let pair = if this < other { Pair { a: this, b: other } } else { Pair { a: other, b: this } };
            b.pairs.put(place, pair);
            place += 1;
            at = b.ropes.at(leaf);
        }
    }
}
