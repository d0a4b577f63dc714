//! Writes two entries for every manifold and every joint, one for each dynamic body: keys and payloads, which are then
//! sorted into rows. Manifolds come first and the sort is stable, so every row lists contacts before joints. Also
//! empties every body's row, before `rows` fills those that have entries.

use crate::detect::manifold::Manifold;
use crate::gpu::Load;
use crate::solve::joints::Joint;
use crate::state::rigid::{Body, clear_row};
use crate::{layout, stage};

stage! {
    "entries" each 256 {
        read 0 bodies: Body,
        read 1 manifolds: Manifold,
        read 2 joints: Joint,
        read 3 counters: u32,
        write 4 keys: u32,
        write 5 payloads: u32,
        write 6 rows: u32,
    }
}

layout! {
    /// Push constants of `entries`.
    pub struct Push {
        /// Capacity for entries of manifolds.
        pub contacts: u32,
        /// Capacity for all entries.
        pub limit: u32,
        /// Number of bodies, and the key of entries that belong to none: behind all others.
        pub nobody: u32,
    }
}

/// Writes one entry.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item < push.nobody {
        clear_row(&mut b.rows, item);
    }
    if item >= push.limit {
        return;
    }
    let mut body = push.nobody;
    if item >= push.contacts {
        // An empty joint slot and the world belong to no body. A broken joint keeps its entries, because it may be
        // repaired.
        let joint = b.joints.at((item - push.contacts) >> 1);
        body = if (item - push.contacts) & 1 == 0 { joint.body_a } else { joint.body_b };
    } else if item >> 1 < b.counters.at(crate::detect::gate::counter::SOLVED) {
        let ends = b.manifolds.at(item >> 1).ends;
        body = if item & 1 == 0 { ends.body_a } else { ends.body_b };
    }
    let mut key = push.nobody;
    if body < push.nobody && b.bodies.at(body).is_dynamic() {
        key = body;
    }
    // SAFETY: `item` is the number of the invocation, and these are stored by number only.
    unsafe {
        b.keys.put_own(item, key);
        b.payloads.put_own(item, item);
    }
}
