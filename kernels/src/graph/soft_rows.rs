//! Writes where each body's row of attachments begins and ends in the sorted list. All rows were cleared before.

use crate::gpu::{Load, Store, least};
use crate::state::soft::SOFT_ROW_WORDS;
use crate::{layout, stage};

stage! {
    "soft_rows" each 256 {
        read 0 keys: u32,
        write 1 soft_rows: u32,
    }
}

layout! {
    /// Push constants of `soft_rows`.
    pub struct Push {
        /// Number of entries.
        pub limit: u32,
        /// Key of entries that belong to no body.
        pub nobody: u32,
    }
}

/// Looks at one entry and its neighbours.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let limit = least(push.limit, b.keys.len());
    if item >= limit {
        return;
    }
    let key = b.keys.at(item);
    if key >= push.nobody {
        return;
    }
    if item == 0 || b.keys.at(item - 1) != key {
        b.soft_rows.put(key.wrapping_mul(SOFT_ROW_WORDS), item);
    }
    if item + 1 == limit || b.keys.at(item + 1) != key {
        b.soft_rows.put(key.wrapping_mul(SOFT_ROW_WORDS).wrapping_add(1), item + 1);
    }
}
