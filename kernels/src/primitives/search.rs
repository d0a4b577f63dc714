//! Search in sorted lists.

use crate::gpu::Load;

/// The first of `count` sorted keys that is not below `key`, or `count`.
#[inline(always)]
pub fn lower_bound(keys: &impl Load<u32>, count: u32, key: u32) -> u32 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if keys.at(middle) < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
