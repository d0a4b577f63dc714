//! Where there are several worlds: finds the root of the subtree of each, and cuts the rope that leads from its last
//! leaf to the next world, so that walks stay in their own. Reads `nodes`; writes `roots` and `ropes`.

use crate::gpu::{Load, Store, least};
use crate::layout::{END, LEAF, Node};
use crate::{layout, stage};

stage! {
    "world_roots" each 256 {
        read 0 leaf_worlds: u32,
        read 1 nodes: Node,
        write 2 roots: u32,
        write 3 ropes: u32,
    }
}

layout! {
    /// Push constants of `world_roots`.
    pub struct Push {
        /// Number of leaves.
        pub count: u32,
    }
}

/// Looks at one leaf and one inner node.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = least(push.count, b.leaf_worlds.len());
    if item >= leaves {
        return;
    }
    let world = b.leaf_worlds.at(item);
    let begins = |leaf: u32| leaf == 0 || b.leaf_worlds.at(leaf - 1) != b.leaf_worlds.at(leaf);
    let ends = |leaf: u32| leaf + 1 >= leaves || b.leaf_worlds.at(leaf + 1) != b.leaf_worlds.at(leaf);
    let (alone, last) = (begins(item) && ends(item), ends(item));
    let mut root = END;
    if item + 1 < leaves {
        let node = b.nodes.at(item);
        let (from, to) = (least(node.first, leaves - 1), least(node.last, leaves - 1));
        if begins(from) && ends(to) && b.leaf_worlds.at(from) == b.leaf_worlds.at(to) {
            root = b.leaf_worlds.at(from);
        }
    }
    // At most one node has exactly the leaves of a world: every word of `roots` is written by one item.
    if root != END {
        b.roots.put(root, item);
    }
    if alone {
        b.roots.put(world, item | LEAF);
    }
    if last {
        b.ropes.put(item, END);
    }
}
