//! Walks through the hierarchy to find the leaves that overlap a given leaf: without stack or recursion, and bounded.
//! Only reads.
//!
//! Used by `pairs_count` and `pairs_fill`. Every pair is found once, by one of its two leaves: the one of the smaller
//! size class, and among equals the first in Morton order. So a floor that touches a million bodies searches for almost
//! nothing and is found by each of them; otherwise one lane would walk through the whole scene.
//!
//! From a leaf, ropes reach exactly the leaves that come after it in Morton order, so a walk starts at the leaf's own
//! rope. If the tree holds a leaf of a larger class, which may come before, the walk starts at the root instead. It
//! then looks only for larger classes until it reaches the subtree that holds the leaf and nothing larger, and
//! continues at the leaf's rope.
//!
//! Where there are several worlds, the leaves of each are one subtree, and so are those of what belongs to all. A walk
//! starts at the root of the leaf's own subtree, whose last rope is cut (`world_roots`), and goes on at that of what
//! belongs to all: however many worlds overlap, it enters no other.

use crate::gpu::{Load, Read};
use crate::layout::{Aabb, END, LEAF, Node, Volume, volume_of};

/// The hierarchy, as the walk reads it.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// Inner nodes.
    pub nodes: Read<'a, Node>,
    /// Volumes of nodes and of leaves in Morton order: see [`volume_of`].
    pub volumes: Read<'a, Volume>,
    /// Node at which to continue after the subtree that ends with a leaf.
    pub ropes: Read<'a, u32>,
}

/// A leaf that searches for partners, and the state of its walk.
#[derive(Clone, Copy)]
pub struct Seeker {
    /// Its place in Morton order.
    pub leaf: u32,
    /// Its volume.
    pub volume: Volume,
    /// Present node of the walk, or [`END`].
    pub at: u32,
    /// Smallest class that makes a pair: the leaf's own class after the leaf, the next larger one before it.
    pub least: u32,
}

impl Seeker {
    /// The same leaf in the subtree `root` of what belongs to all worlds: whatever its size, the leaf finds it.
    #[inline(always)]
    pub fn among_all(mut self, root: u32) -> Self {
        (self.at, self.least, self.volume.class) = (root, 0, 0);
        self
    }
}

impl Tree<'_> {
    /// The seeker of leaf number `leaf` in the subtree `root`, at the start of its walk.
    #[inline(always)]
    fn seeker(&self, leaf: u32, root: u32) -> Seeker {
        let volume = self.volumes.at(volume_of(leaf | LEAF));
        let before = root != END && self.volumes.at(volume_of(root)).class > volume.class;
        let at = if before { root } else { self.ropes.at(leaf) };
        Seeker { leaf, volume, at, least: volume.class.wrapping_add(before as u32) }
    }

    /// The seeker of leaf number `leaf` in a tree of `leaves` leaves, and the root of what belongs to all worlds, where
    /// it goes on. With no number of `worlds` there is one, and the tree is its own. What belongs to all has that
    /// number for its world, and seeks nothing.
    #[inline(always)]
    pub fn walks(
        &self,
        leaf: u32,
        leaves: u32,
        worlds: u32,
        leaf_worlds: &Read<'_, u32>,
        roots: &Read<'_, u32>,
    ) -> (Seeker, u32) {
        let (mut root, mut shared) = (if leaves > 1 { 0 } else { END }, END);
        let mut seeks = true;
        if worlds != 0 {
            let world = leaf_worlds.at(leaf);
            (root, shared) = (roots.at(world), roots.at(worlds));
            seeks = world != worlds;
        }
        let mut seeker = self.seeker(leaf, root);
        if !seeks {
            (seeker.at, shared) = (END, END);
        }
        (seeker, shared)
    }

    /// Where a walk over a tree of `leaves` leaves begins that is nobody's.
    #[inline(always)]
    pub fn root(leaves: u32) -> u32 {
        let root = if leaves == 1 { LEAF } else { 0 };
        if leaves == 0 { END } else { root }
    }

    /// Makes one step of a walk that is at `at`, for what overlaps a box: whether that is a leaf which does, and where
    /// to go on.
    #[inline(always)]
    pub fn look(&self, at: u32, bounds: &Aabb) -> (bool, u32) {
        let is_leaf = at & LEAF != 0;
        let inside = self.volumes.at(volume_of(at)).bounds.overlaps(bounds);
        let (last, below) = if is_leaf {
            (at & !LEAF, at)
        } else {
            let node = self.nodes.at(at);
            (node.last, node.left)
        };
        (inside & is_leaf, if inside & !is_leaf { below } else { self.ropes.at(last) })
    }

    /// Makes one step. Returns true if the walk was at a leaf that makes a pair with the seeker.
    #[inline(always)]
    pub fn visit(&self, seeker: &mut Seeker) -> bool {
        let is_leaf = seeker.at & LEAF != 0;
        let volume = self.volumes.at(volume_of(seeker.at));
        // Selected by value: the range of a leaf is the leaf itself, and it has no children.
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
            // Still before its leaf, and this subtree contains the leaf: the walk continues after the leaf, with its
            // own class.
            let passes = (seeker.least > seeker.volume.class) & (last >= seeker.leaf);
            seeker.at = self.ropes.at(if passes { seeker.leaf } else { last });
            seeker.least = if passes { seeker.volume.class } else { seeker.least };
        }
        inside && is_leaf
    }
}
