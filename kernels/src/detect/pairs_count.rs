//! Counts the overlapping pairs that each leaf has to report (see `walk`). An exclusive scan turns the counts into
//! offsets, and `pairs_fill` writes the pairs there: there is no atomic append, so the list is the same in every run.
//! The first few partners are kept, so that most leaves need no second walk. Writes `counts` and `partners`.
//!
//! Leaves are walked in Morton order, but counts are stored in the order of the boxes, and so are pairs and manifolds:
//! a pass that goes through bodies by number then reads their contacts sequentially.

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
        read 7 leaf_worlds: u32,
        read 8 roots: u32,
    }
}

layout! {
    /// Push constants of `pairs_count`.
    pub struct Push {
        /// Number of leaves.
        pub extent: Extent,
        /// Index of the counter of pairs that crowded leaves have found so far, in steps of [`CROWD`].
        pub crowded: u32,
        /// Number of pairs beyond which the search stops, because the list would be refused anyway.
        pub most: u32,
        /// Number of worlds, where there are several: see [`Tree::walks`].
        pub worlds: u32,
    }
}

/// Number of pairs after which a leaf adds to the common counter, and again after each further so many.
pub const CROWD: u32 = 64;

/// Number of partners that are kept of a leaf.
pub const KEPT: u32 = 8;
/// Elements of `partners` that the kept partners of a leaf take.
pub const KEPT_ELEMENTS: u32 = KEPT / 4;

/// Counts for one leaf.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters, least(b.ropes.len(), LEAF - 1));
    if item >= leaves {
        return;
    }
    let tree = Tree { nodes: b.nodes, volumes: b.volumes, ropes: b.ropes };
    let (mut seeker, mut shared) = tree.walks(item, leaves, push.worlds, &b.leaf_worlds, &b.roots);
    let mut count = 0;
    let mut kept = Local::<u32, 8>::splat(0);
    // No node is visited twice, so this bound is reached only in a corrupt tree.
    let mut fuel = leaves * 2;
    let mut goes_on = true;
    while goes_on {
        while seeker.at != END && fuel > 0 {
            fuel -= 1;
            let other = seeker.at & !LEAF;
            if tree.visit(&mut seeker) {
                kept.put(count, other);
                count += 1;
                // Without this, a million boxes at one place would take hours. Which leaf passes the limit depends on
                // timing, but whether it is passed does not.
                if count % CROWD == 0 && b.counters.add(push.crowded, CROWD) >= push.most {
                    fuel = 0;
                }
            }
        }
        goes_on = shared != END && fuel > 0;
        if goes_on {
            seeker = seeker.among_all(shared);
            shared = END;
        }
    }
    let four = |k: u32| UVec4::new(kept.at(k), kept.at(k + 1), kept.at(k + 2), kept.at(k + 3));
    b.partners.put(item * KEPT_ELEMENTS, four(0));
    b.partners.put(item * KEPT_ELEMENTS + 1, four(4));
    // A walk that was cut short must not count as complete. It may be cut by the bounds above, or by a driver that ends
    // every loop after 65,535 rounds (llvmpipe). The scan saturates at u32::MAX, so this is reported as an overflow.
    b.counts.put(b.order.at(item), if seeker.at == END { count } else { u32::MAX });
}
