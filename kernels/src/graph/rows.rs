//! Where each body's entries start and end in the sorted list, and the list itself as the next step will need it. Every
//! entry says too which body is at its other end: whoever wants to know only that need not look into manifolds that lie all over memory.

use crate::detect::manifold::Manifold;
use crate::gpu::{Load, Store};
use crate::state::rigid::Entry;
use crate::{layout, stage};

stage! {
    "rows" each 256 {
        read 0 keys: u32,
        read 1 manifolds: Manifold,
        read 2 payloads: u32,
        write 3 rows: u32,
        write 4 entries: Entry,
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
    if key == push.nobody {
        return;
    }
    let side = b.payloads.at(item);
    let ends = b.manifolds.at(side >> 1).ends;
    let entry = Entry { side, other: if side & 1 == 0 { ends.body_b } else { ends.body_a } };
    // SAFETY: `item` is the number of the invocation, and entries are stored by number only.
    unsafe { b.entries.put_own(item, entry) };
    if item == 0 || b.keys.at(item - 1) != key {
        b.rows.put(key.wrapping_mul(2), item);
    }
    if item + 1 == push.limit || b.keys.at(item + 1) != key {
        b.rows.put(key.wrapping_mul(2) | 1, item + 1);
    }
}
