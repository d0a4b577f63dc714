//! The walk through the hierarchy that finds what overlaps a leaf: no stack, no recursion, bounded.
//!
//! Used by `pairs_count` and `pairs_fill`. Leaf `k` looks only at leaves after itself, so every pair is found once.
//! It starts at its own rope instead of the root: what the ropes reach from there is exactly what comes after it.

use crate::gpu::{Load, Read};
use crate::layout::{Aabb, END, LEAF, Node};

/// The hierarchy, as a walk reads it.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// Inner nodes.
    pub nodes: Read<'a, Node>,
    /// Their boxes.
    pub node_boxes: Read<'a, Aabb>,
    /// Boxes of the leaves in Morton order.
    pub leaf_boxes: Read<'a, Aabb>,
    /// Where to go on after the subtree that ends with a leaf.
    pub ropes: Read<'a, u32>,
}

/// The next leaf whose box overlaps `bounds`, starting at the node or leaf `at`, or [`END`].
///
/// `fuel` bounds the visits over the whole walk (a node is visited once at most); it can only run out on a
/// broken tree.
#[inline(always)]
pub fn next_overlap(tree: &Tree<'_>, bounds: &Aabb, at: u32, fuel: &mut u32) -> u32 {
    let mut at = at;
    let mut found = END;
    while at != END && found == END && *fuel > 0 {
        *fuel -= 1;
        if at & LEAF != 0 {
            let leaf = at & !LEAF;
            if tree.leaf_boxes.at(leaf).overlaps(bounds) {
                found = leaf;
            } else {
                at = tree.ropes.at(leaf);
            }
        } else {
            let node = tree.nodes.at(at);
            at = if tree.node_boxes.at(at).overlaps(bounds) { node.left } else { tree.ropes.at(node.last) };
        }
    }
    found
}
