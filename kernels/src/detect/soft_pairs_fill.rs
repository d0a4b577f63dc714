//! Lists the contacts of soft surfaces at the places that the scan of `soft_pairs_count` gave, and finds for each which
//! one of the last step it was, by its pieces. Pairs that there is no room for become a bound of how far their
//! particles may go at all. Writes `soft_pairs` and `soft_limits`; updates `soft_face_pairs`.

use crate::detect::soft_near::Near;
use crate::detect::soft_pairs_count::{TRIES, Try};
use crate::detect::walk::Tree;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, fmax, fmin, least};
use crate::layout::{Aabb, END, LEAF, Node, Volume};
use crate::solve::soft::pairs::WITHIN;
use crate::state::rigid::NONE;
use crate::state::soft::Particle;
use crate::state::soft_pairs::{SoftFace, SoftPair, SoftPairCached, SoftRest};
use crate::{layout, stage};

stage! {
    "soft_pairs_fill" each 64 {
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
        read 10 soft_pair_places: u32,
        read 11 soft_cached_pairs: SoftPairCached,
        update 12 soft_face_pairs: u32,
        write 13 soft_pairs: SoftPair,
        update 14 soft_limits: u32,
    }
}

layout! {
    /// Push constants of `soft_pairs_fill`.
    pub struct Push {
        /// Number of pieces.
        pub count: u32,
        /// Pairs that there is room for.
        pub capacity: u32,
    }
}

/// Words of a piece in `soft_face_pairs`: where its contacts begin, and how many they are.
pub const WORDS: u32 = 2;

/// Which contact of the last step it was, of those of its piece.
#[inline(always)]
fn known(first: u32, count: u32, other: u32, features: u32, b: &Bindings<'_>) -> u32 {
    let end = least(first.wrapping_add(count), b.soft_cached_pairs.len());
    let mut found = NONE;
    let mut i = first;
    while i < end {
        let cached = b.soft_cached_pairs.at(i);
        if (cached.other == other) & (cached.features == features) {
            found = i;
            i = end;
        } else {
            i += 1;
        }
    }
    found
}

/// Lists those of one piece.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let near =
        Near { particles: b.particles, positions: b.soft_positions, regions: b.soft_regions, rests: b.soft_rests };
    let (face, bounds) = (b.soft_faces.at(item), b.soft_boxes.at(item));
    let words = item.wrapping_mul(WORDS);
    let (old, olds) = (b.soft_face_pairs.at(words), b.soft_face_pairs.at(words.wrapping_add(1)));
    let first = b.soft_pair_places.at(item);
    let end = b.soft_pair_places.at(item.wrapping_add(1));
    let mut at = first;
    let tree = Tree { nodes: b.nodes, volumes: b.volumes, ropes: b.ropes };
    let leaves = least(push.count, least(b.order.len(), LEAF - 1));
    let mut place = Tree::root(leaves);
    let mut fuel = if at < end { leaves.wrapping_mul(2) } else { 0 };
    while (place != END) & (fuel > 0) {
        let (meets, next) = tree.look(place, &bounds);
        fuel -= 1;
        if meets {
            let other = b.order.at(place & !LEAF);
            let partner = b.soft_faces.at(other);
            let mut i = if other == item { TRIES } else { 0 };
            while i < TRIES {
                let meeting = Try::new(i, (item, &face), (other, &partner));
                if meeting.there {
                    let mut pair = meeting.pair(&near);
                    if pair.normal.length_squared() > 0.0 {
                        if at < push.capacity {
                            pair.other = other;
                            pair.features = meeting.features;
                            pair.cached = known(old, olds, other, meeting.features, b);
                            b.soft_pairs.put(at, pair);
                        } else {
                            let apart = if pair.is_above(1) { fmin(pair.ha, pair.hb) } else { pair.ha };
                            let limit = fmax(0.0, WITHIN * 0.5 * apart).to_bits();
                            b.soft_limits.lower(pair.a, limit);
                            b.soft_limits.lower(pair.b, limit);
                            b.soft_limits.lower(pair.c, limit);
                            b.soft_limits.lower(pair.d, limit);
                        }
                        at += 1;
                    }
                }
                i += 1;
            }
        }
        place = next;
    }
    let listed = least(end, push.capacity);
    b.soft_face_pairs.put(words, first);
    b.soft_face_pairs.put(words.wrapping_add(1), listed.wrapping_sub(least(first, listed)));
}
