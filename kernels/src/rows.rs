//! Where each body's entries start and end in the sorted list, and the list itself as the next step will need it.

use crate::gpu::{Load, Store};
use crate::{layout, stage};

stage! {
    "rows" each 256 {
        read 0 keys: u32,
        read 1 payloads: u32,
        write 2 rows: u32,
        write 3 entries: u32,
    }
}

layout! {
    /// Push constants of `rows`.
    pub struct Push {
        /// Entries there is room for.
        pub limit: u32,
        /// Key of entries that belong to no body.
        pub nobody: u32,
    }
}

/// Looks at one entry and its neighbours. A row is two words, written by two different items.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit {
        return;
    }
    let key = b.keys.at(item);
    b.entries.put(item, b.payloads.at(item));
    if key == push.nobody {
        return;
    }
    if item == 0 || b.keys.at(item - 1) != key {
        b.rows.put(key * 2, item);
    }
    if item + 1 == push.limit || b.keys.at(item + 1) != key {
        b.rows.put(key * 2 + 1, item + 1);
    }
}
