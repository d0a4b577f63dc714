//! Removes pairs of colliders whose bodies a joint keeps from colliding: sets their `touches` to 0.

use crate::detect::apart_pairs::{keeps_apart, pair_key};
use crate::gpu::{Load, Store, least};
use crate::layout::{Extent, Pair};
use crate::solve::joints::Joint;
use crate::state::rigid::Collider;
use crate::{layout, stage};

stage! {
    "joints_apart" each 64 {
        read 0 counters: u32,
        read 1 pairs: Pair,
        read 2 colliders: Collider,
        read 3 joints: Joint,
        read 4 keys: u32,
        read 5 joint_numbers: u32,
        read 6 buckets: u32,
        write 7 touches: u32,
    }
}

layout! {
    /// Push constants of `joints_apart`.
    pub struct Push {
        /// Number of pairs.
        pub pairs: Extent,
        /// Number of joints, sorted by key.
        pub joints: u32,
        /// Bits of a key.
        pub bits: u32,
    }
}

/// Looks at one pair.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.pairs.count(&b.counters, b.pairs.len()) {
        return;
    }
    let pair = b.pairs.at(item);
    let (one, two) = (b.colliders.at(pair.a).what.body, b.colliders.at(pair.b).what.body);
    let (key, count) = (pair_key(one, two, push.bits), least(push.joints, b.keys.len()));
    let mut place = b.buckets.at(key);
    // Different bodies may share a key, and two bodies may share several joints. For a key without joints, the bucket
    // is beyond the end of the list.
    let mut apart = false;
    while !apart && place < count && b.keys.at(place) == key {
        let joint = b.joints.at(b.joint_numbers.at(place));
        let these = (joint.body_a == one && joint.body_b == two) || (joint.body_a == two && joint.body_b == one);
        apart = these && keeps_apart(&joint);
        place += 1;
    }
    if apart {
        b.touches.put(item, 0);
    }
}
