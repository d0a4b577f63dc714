//! Writes a key for every joint that keeps its bodies from colliding, a hash of the two bodies. `joints_apart` looks
//! pairs of bodies up in the list sorted by key, starting where `apart_buckets` says. The rows of bodies cannot be used
//! instead: those of this step do not exist yet, and those of the last step do not know new joints.

use crate::gpu::{Load, Store};
use crate::graph::colour::hash;
use crate::solve::joints::{Joint, flag};
use crate::{layout, stage};

stage! {
    "apart_pairs" each 64 {
        read 0 joints: Joint,
        write 1 keys: u32,
        write 2 joint_numbers: u32,
    }
}

layout! {
    /// Push constants of `apart_pairs`.
    pub struct Push {
        /// Capacity of the list of joints.
        pub count: u32,
        /// Number of bits of a key. Joints that keep nothing apart have the next higher bit set, so they sort last.
        pub bits: u32,
    }
}

/// Hash of two bodies, the same in either order, with `bits` bits, 1 to 31: about as many values as there are joints,
/// so that few pairs share one.
#[inline(always)]
pub fn pair_key(one: u32, two: u32, bits: u32) -> u32 {
    let (low, high) = if one < two { (one, two) } else { (two, one) };
    hash(low ^ hash(high)) >> (32u32.wrapping_sub(bits) & 31)
}

/// Whether a joint keeps its bodies apart.
#[inline(always)]
pub fn keeps_apart(joint: &Joint) -> bool {
    joint.flags & flag::APART != 0 && joint.flags & flag::BROKEN == 0
}

/// Writes the key of one joint.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let joint = b.joints.at(item);
    let mut key = 1 << (push.bits & 31);
    if keeps_apart(&joint) {
        key = pair_key(joint.body_a, joint.body_b, push.bits);
    }
    b.keys.put(item, key);
    b.joint_numbers.put(item, item);
}
