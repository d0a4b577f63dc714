//! The walk through the hierarchy that finds what overlaps a leaf: no stack, no recursion, bounded.
//!
//! Used by `pairs_count` and `pairs_fill`. Every pair is found once, by one of its two leaves: the one of the smaller
//! size class, and among equals the one that comes first in Morton order. A floor that touches a million bodies
//! then searches for almost nothing and is found by each of them, instead of one lane walking through the whole scene.
//!
//! Who comes after a leaf in Morton order is exactly what the ropes reach from it, so a leaf starts at its own rope;
//! only when the tree holds something of a larger class, which may lie before it, the walk starts at the root.

use crate::gpu::{Load, Read};
use crate::layout::{LEAF, Node, Volume};

/// The hierarchy, as a walk reads it.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// Inner nodes.
    pub nodes: Read<'a, Node>,
    /// Their volumes.
    pub node_volumes: Read<'a, Volume>,
    /// Volumes of the leaves in Morton order.
    pub leaf_volumes: Read<'a, Volume>,
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
}

/// One step of a walk.
#[derive(Clone, Copy)]
pub struct Visit {
    /// Whether a leaf was reached that makes a pair with the seeker.
    pub hit: bool,
    /// Where to go on, or [`END`](crate::layout::END).
    pub next: u32,
}

impl Tree<'_> {
    /// The seeker at `leaf`.
    #[inline(always)]
    pub fn seeker(&self, leaf: u32) -> Seeker {
        Seeker { leaf, volume: self.leaf_volumes.at(leaf) }
    }

    /// Where the walk of `seeker` starts in a tree of `leaves` leaves.
    #[inline(always)]
    pub fn start(&self, seeker: &Seeker, leaves: u32) -> u32 {
        if leaves > 1 && self.node_volumes.at(0).class > seeker.volume.class { 0 } else { self.ropes.at(seeker.leaf) }
    }

    /// Visits the node or leaf `at`.
    #[inline(always)]
    pub fn visit(&self, seeker: &Seeker, at: u32) -> Visit {
        let is_leaf = at & LEAF != 0;
        // Loads are chosen by value: a leaf is its own range, and has nothing below it.
        let (volume, last, below) = if is_leaf {
            let leaf = at & !LEAF;
            (self.leaf_volumes.at(leaf), leaf, at)
        } else {
            let node = self.nodes.at(at);
            (self.node_volumes.at(at), node.last, node.left)
        };
        let mine = seeker.volume.class;
        let later = volume.class > mine || (volume.class == mine && last > seeker.leaf);
        let inside = later && volume.bounds.overlaps(&seeker.volume.bounds);
        Visit { hit: inside && is_leaf, next: if inside && !is_leaf { below } else { self.ropes.at(last) } }
    }
}
