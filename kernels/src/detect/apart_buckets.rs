//! Writes where the joints of each key begin in the sorted list; `joints_apart` looks this up.

use crate::gpu::{Load, Store};
use crate::{layout, stage};

stage! {
    "apart_buckets" each 256 {
        read 0 keys: u32,
        write 1 buckets: u32,
    }
}

layout! {
    /// Push constants of `apart_buckets`.
    pub struct Push {
        /// Number of joints, sorted by key.
        pub count: u32,
        /// Bits of a key.
        pub bits: u32,
    }
}

/// Looks at one joint and the one before it.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let key = b.keys.at(item);
    let mut first = key < 1 << (push.bits & 31);
    if first && item > 0 {
        first = b.keys.at(item - 1) != key;
    }
    if first {
        b.buckets.put(key, item);
    }
}
