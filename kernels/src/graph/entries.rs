//! Two entries a manifold, one for each body that forces move: the keys and payloads that are sorted into rows.

use crate::detect::manifold::Manifold;
use crate::gpu::{Load, Store};
use crate::state::rigid::Body;
use crate::{layout, stage};

stage! {
    "entries" each 256 {
        read 0 bodies: Body,
        read 1 manifolds: Manifold,
        read 2 counters: u32,
        write 3 keys: u32,
        write 4 payloads: u32,
    }
}

layout! {
    /// Push constants of `entries`.
    pub struct Push {
        /// Room for entries.
        pub limit: u32,
        /// Key of entries that belong to no body: behind all others.
        pub nobody: u32,
    }
}

/// Writes one entry.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit {
        return;
    }
    let mut key = push.nobody;
    if item >> 1 < b.counters.at(crate::detect::gate::counter::SOLVED) {
        let ends = b.manifolds.at(item >> 1).ends;
        let body = if item & 1 == 0 { ends.body_a } else { ends.body_b };
        if b.bodies.at(body).is_dynamic() {
            key = body;
        }
    }
    b.keys.put(item, key);
    b.payloads.put(item, item);
}
