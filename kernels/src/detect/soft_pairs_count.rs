//! Counts, for every piece of a soft surface, the contacts of its own corners and sides that may come about in this
//! step: a walk through the hierarchy of pieces. A scan gives each piece its place in the list, which `soft_pairs_fill`
//! writes in the same order. Writes `soft_pair_counts`.

use crate::detect::soft_near::{Near, corner};
use crate::detect::walk::Tree;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, least};
use crate::layout::{Aabb, END, LEAF, Node, Volume};
use crate::state::soft::Particle;
use crate::state::soft_pairs::{SoftFace, SoftPair, SoftRest, owns};
use crate::{layout, stage};

stage! {
    "soft_pairs_count" each 64 {
        read 0 particles: Particle,
        read 1 soft_positions: Vec3,
        read 2 soft_regions: Aabb,
        read 3 soft_rests: SoftRest,
        read 4 soft_faces: SoftFace,
        read 5 soft_boxes: Aabb,
        read 6 nodes: Node,
        read 7 volumes: Volume,
        read 8 ropes: u32,
        read 9 order: u32,
        write 10 soft_pair_counts: u32,
    }
}

layout! {
    /// Push constants of `soft_pairs_count`.
    pub struct Push {
        /// Number of pieces. There is one count more, which is 0.
        pub count: u32,
    }
}

/// Meetings of two pieces to be tried: three corners of the one with the triangle of the other, and nine of sides.
pub const TRIES: u32 = 12;

/// What try `i` of a piece with another is about: whether both pieces have it, and which features meet.
#[derive(Clone, Copy)]
pub struct Try {
    /// Whether it is one.
    pub there: bool,
    /// Whether edges meet.
    pub edges: bool,
    /// First two nodes.
    pub above: (u32, u32),
    /// Last two nodes.
    pub below: (u32, u32),
    /// Code of the features.
    pub features: u32,
}

impl Try {
    /// Try `i` of piece `one`, of number `item`, with piece `two`, of number `other`.
    #[inline(always)]
    pub fn new(i: u32, (item, one): (u32, &SoftFace), (other, two): (u32, &SoftFace)) -> Self {
        let edges = i >= 3;
        let own = if edges { (i - 3) / 3 } else { i };
        let its = if edges { (i - 3) % 3 } else { 0 };
        let own_bit = if edges { owns::SIDE } else { owns::CORNER } << own;
        let its_bit = if edges { owns::SIDE << its } else { owns::TRIANGLE };
        let there = (one.owns & own_bit != 0) & (two.owns & its_bit != 0) & (!edges | (item < other));
        let next = |i: u32| if i == 2 { 0 } else { i + 1 };
        let mut above = (corner(one, own), corner(two, 0));
        let mut below = (corner(two, 1), corner(two, 2));
        if edges {
            above = (corner(one, own), corner(one, next(own)));
            below = (corner(two, its), corner(two, next(its)));
        }
        Self { there, edges, above, below, features: i }
    }

    /// The pair, if there may be a contact; its normal is zero otherwise.
    #[inline(always)]
    pub fn pair(&self, near: &Near<'_>) -> SoftPair {
        near.pair(self.edges, self.above, self.below)
    }
}

/// Counts those of one piece.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item > push.count {
        return;
    }
    let mut count = 0;
    if item < push.count {
        let near =
            Near { particles: b.particles, positions: b.soft_positions, regions: b.soft_regions, rests: b.soft_rests };
        let (face, bounds) = (b.soft_faces.at(item), b.soft_boxes.at(item));
        let tree = Tree { nodes: b.nodes, volumes: b.volumes, ropes: b.ropes };
        let leaves = least(push.count, least(b.order.len(), LEAF - 1));
        let mut place = Tree::root(leaves);
        // No node is visited twice, so the bound is only met in a broken tree.
        let mut fuel = leaves.wrapping_mul(2);
        while (place != END) & (fuel > 0) {
            let (meets, next) = tree.look(place, &bounds);
            fuel -= 1;
            if meets {
                let other = b.order.at(place & !LEAF);
                let partner = b.soft_faces.at(other);
                let mut i = if other == item { TRIES } else { 0 };
                while i < TRIES {
                    let meeting = Try::new(i, (item, &face), (other, &partner));
                    if meeting.there && meeting.pair(&near).normal.length_squared() > 0.0 {
                        count += 1;
                    }
                    i += 1;
                }
            }
            place = next;
        }
        // A walk that was cut short must not count as complete.
        count = if place == END { count } else { u32::MAX };
    }
    b.soft_pair_counts.put(item, count);
}
