//! For every joint that keeps its bodies from touching each other, a number made of the two: `joints_apart` looks for
//! pairs of bodies in the sorted list of them, from where `apart_buckets` says. Rows will not do: those of this step
//! are made later, and those of the last one know nothing of joints that are new.

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
        /// Room for joints.
        pub count: u32,
        /// Bits of a key; joints that keep nothing apart have one more, and come last.
        pub bits: u32,
    }
}

/// The number of two bodies, whichever comes first: `bits` of them, 1 to 31, about as many as there are joints, so that
/// few have the same.
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
