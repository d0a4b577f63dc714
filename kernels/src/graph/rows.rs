//! Writes where each body's entries of every kind begin and end in the sorted list (`rows`), and the entries
//! themselves, in the form that the next step needs too. Every entry also names the body at its other end, so that a
//! pass which needs only that does not have to read manifolds and joints scattered over memory.

use crate::detect::manifold::Manifold;
use crate::gpu::{Load, Store, least};
use crate::solve::joints::Joint;
use crate::state::rigid::{Entry, NONE, entry};
use crate::{layout, stage};

stage! {
    "rows" each 256 {
        read 0 keys: u32,
        read 1 manifolds: Manifold,
        read 2 joints: Joint,
        read 3 payloads: u32,
        write 4 rows: u32,
        write 5 entries: Entry,
    }
}

layout! {
    /// Push constants of `rows`.
    pub struct Push {
        /// Capacity for entries of manifolds: payloads from there on belong to joints.
        pub contacts: u32,
        /// Capacity for all entries.
        pub limit: u32,
        /// Key of entries that belong to no body.
        pub nobody: u32,
    }
}

/// The entry of `body` that was at `place` before the sort.
#[inline(always)]
fn entry_of(body: u32, place: u32, push: &Push, b: &Bindings<'_>) -> Entry {
    if place < push.contacts {
        let ends = b.manifolds.at(place >> 1).ends;
        Entry { side: place, other: if place & 1 == 0 { ends.body_b } else { ends.body_a } }
    } else {
        let side = place - push.contacts;
        let joint = b.joints.at(side >> 1);
        let other = if side & 1 == 0 { joint.body_b } else { joint.body_a };
        // The body itself is in nobody's way.
        Entry { side: side | entry::JOINT << entry::SHIFT, other: if other == NONE { body } else { other } }
    }
}

/// Processes one entry and its neighbours. Every word of a row is written by one item: the first entry of a kind writes
/// where that kind begins, and where missing kinds before it do; the last entry of the row writes where it ends.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let limit = least(push.limit, least(b.keys.len(), b.payloads.len()));
    if item >= limit {
        return;
    }
    // SAFETY: here and below, places up to `limit`, which is no more than there are keys and payloads.
    let (key, place) = unsafe { (b.keys.known(item), b.payloads.known(item)) };
    if key == push.nobody {
        return;
    }
    // SAFETY: `item` is the number of the invocation, and entries are stored by number only.
    unsafe { b.entries.put_own(item, entry_of(key, place, push, b)) };
    let kind_of = |place: u32| if place < push.contacts { entry::CONTACT } else { entry::JOINT };
    let (first, kind) = (key.wrapping_mul(entry::ROW_WORDS), kind_of(place));
    let mut word = 0;
    // SAFETY: as above.
    if item > 0 && unsafe { b.keys.known(item - 1) } == key {
        // Kinds never decrease within a row.
        word = 1;
        if kind > 0 {
            // SAFETY: as above.
            word = kind_of(unsafe { b.payloads.known(item - 1) }) + 1;
        }
    }
    while word <= kind {
        b.rows.put(first.wrapping_add(word), item);
        word += 1;
    }
    // SAFETY: as above.
    if item + 1 == limit || unsafe { b.keys.known(item + 1) } != key {
        let mut word = kind + 1;
        while word <= entry::KINDS {
            b.rows.put(first.wrapping_add(word), item + 1);
            word += 1;
        }
    }
}
