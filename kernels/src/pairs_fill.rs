//! Writes the overlapping pairs to the places that the scan of `pairs_count` gave them. What lies beyond the capacity
//! is left out; which pairs those are depends only on the boxes.

use crate::gpu::{Load, Store};
use crate::layout::{END, Extent, LEAF, Node, Pair, Volume};
use crate::walk::Tree;
use crate::{layout, stage};

stage! {
    "pairs_fill" each 64 {
        read 0 nodes: Node,
        read 1 node_volumes: Volume,
        read 2 leaf_volumes: Volume,
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
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters);
    if item >= leaves {
        return;
    }
    let tree = Tree { nodes: b.nodes, node_volumes: b.node_volumes, leaf_volumes: b.leaf_volumes, ropes: b.ropes };
    let seeker = tree.seeker(item);
    let this = b.order.at(item);
    let mut at = tree.start(&seeker, leaves);
    let mut place = b.places.at(item);
    let mut fuel = leaves * 2;
    while at != END && place < push.capacity && fuel > 0 {
        fuel -= 1;
        let visit = tree.visit(&seeker, at);
        if visit.hit {
            let other = b.order.at(at & !LEAF);
            let pair = if this < other { Pair { a: this, b: other } } else { Pair { a: other, b: this } };
            b.pairs.put(place, pair);
            place += 1;
        }
        at = visit.next;
    }
}
