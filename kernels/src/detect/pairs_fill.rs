//! Writes the overlapping pairs at the offsets that the scan of `pairs_count` gave. Pairs beyond the capacity are left
//! out; which ones depends only on the boxes.

use crate::detect::pairs_count::{KEPT, KEPT_ELEMENTS};
use crate::detect::walk::Tree;
use crate::gpu::glam::UVec4;
use crate::gpu::{Load, Local, Store, least};
use crate::layout::{END, Extent, LEAF, Node, Pair, Volume};
use crate::{layout, stage};

stage! {
    "pairs_fill" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 ropes: u32,
        read 3 counters: u32,
        read 4 order: u32,
        read 5 places: u32,
        write 6 pairs: Pair,
        read 7 counts: u32,
        read 8 partners: UVec4,
        read 9 leaf_worlds: u32,
        read 10 roots: u32,
    }
}

layout! {
    /// Push constants of `pairs_fill`.
    pub struct Push {
        /// Number of leaves.
        pub extent: Extent,
        /// Capacity of the list of pairs.
        pub capacity: u32,
        /// Number of worlds, where there are several: see [`Tree::walks`].
        pub worlds: u32,
    }
}

#[inline(always)]
fn pair(one: u32, two: u32) -> Pair {
    if one < two { Pair { a: one, b: two } } else { Pair { a: two, b: one } }
}

/// Writes the pairs of one leaf.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters, least(b.ropes.len(), LEAF - 1));
    if item >= leaves {
        return;
    }
    let this = b.order.at(item);
    let mut place = b.places.at(this);
    let count = b.counts.at(this);
    let kept = if count > KEPT { 0 } else { count };
    let (low, high) = (b.partners.at(item * KEPT_ELEMENTS), b.partners.at(item * KEPT_ELEMENTS + 1));
    let partners = Local::of([low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w]);
    let mut k = 0;
    while k < kept && place < push.capacity {
        b.pairs.put(place, pair(this, b.order.at(partners.at(k))));
        place += 1;
        k += 1;
    }
    if count <= KEPT {
        return;
    }
    let tree = Tree { nodes: b.nodes, volumes: b.volumes, ropes: b.ropes };
    let (mut seeker, mut shared) = tree.walks(item, leaves, push.worlds, &b.leaf_worlds, &b.roots);
    let mut fuel = leaves * 2;
    let mut goes_on = true;
    while goes_on {
        while seeker.at != END && place < push.capacity && fuel > 0 {
            fuel -= 1;
            let other = seeker.at & !LEAF;
            if tree.visit(&mut seeker) {
                b.pairs.put(place, pair(this, b.order.at(other)));
                place += 1;
            }
        }
        goes_on = shared != END && place < push.capacity && fuel > 0;
        if goes_on {
            seeker = seeker.among_all(shared);
            shared = END;
        }
    }
}
