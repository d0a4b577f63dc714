//! The walk through the hierarchy that finds what overlaps a leaf: no stack, no recursion, bounded.
//!
//! Used by `pairs_count` and `pairs_fill`. Every pair is found once, by one of its two leaves: the one of the smaller
//! size class, and among equals the one that comes first in Morton order. A floor that touches a million bodies
//! then searches for almost nothing and is found by each of them, instead of one lane walking through the whole scene.
//!
//! Who comes after a leaf in Morton order is exactly what the ropes reach from it, so a leaf starts at its own rope.
//! When the tree holds something of a larger class, which may lie before it, the walk starts at the root, looks
//! only for that until it comes to the subtree that holds the leaf and nothing larger, and goes on at the rope from there.

use crate::gpu::{Load, Read};
use crate::layout::{LEAF, Node, Volume, volume_of};

/// The hierarchy, as a walk reads it.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// Inner nodes.
    pub nodes: Read<'a, Node>,
    /// Volumes of nodes and of leaves in Morton order: see [`volume_of`].
    pub volumes: Read<'a, Volume>,
    /// Where to go on after the subtree that ends with a leaf.
    pub ropes: Read<'a, u32>,
}

/// A leaf that looks for others.
#[derive(Clone, Copy)]
pub struct Seeker {
    /// Its place in Morton order.
    pub leaf: u32,
    /// Its volume.
    pub volume: Volume,
    /// Where the walk is, or [`END`](crate::layout::END).
    pub at: u32,
    /// The least class that makes a pair: its own behind the leaf, the next larger one before it.
    pub least: u32,
}

impl Tree<'_> {
    /// The seeker at `leaf` of a tree of `leaves` leaves, where its walk starts.
    #[inline(always)]
    pub fn seeker(&self, leaf: u32, leaves: u32) -> Seeker {
        let volume = self.volumes.at(volume_of(leaf | LEAF));
        let before = leaves > 1 && self.volumes.at(volume_of(0)).class > volume.class;
        let at = if before { 0 } else { self.ropes.at(leaf) };
        Seeker { leaf, volume, at, least: volume.class.wrapping_add(before as u32) }
    }

    /// Makes one step. True when the walk was at a leaf that makes a pair with the seeker.
    #[inline(always)]
    pub fn visit(&self, seeker: &mut Seeker) -> bool {
        let is_leaf = seeker.at & LEAF != 0;
        let volume = self.volumes.at(volume_of(seeker.at));
        // Chosen by value: a leaf is its own range, and has nothing below it.
        let (last, below) = if is_leaf {
            (seeker.at & !LEAF, seeker.at)
        } else {
            let node = self.nodes.at(seeker.at);
            (node.last, node.left)
        };
        let inside = (volume.class >= seeker.least) & volume.bounds.overlaps(&seeker.volume.bounds);
        if inside && !is_leaf {
            seeker.at = below;
        } else {
            // Before its leaf, a walk comes to nothing that begins behind it.
            let passes = (seeker.least > seeker.volume.class) & (last >= seeker.leaf);
            seeker.at = self.ropes.at(if passes { seeker.leaf } else { last });
            seeker.least = if passes { seeker.volume.class } else { seeker.least };
        }
        inside && is_leaf
    }
}
