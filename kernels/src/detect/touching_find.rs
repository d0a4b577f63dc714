//! Finds for every contact with events whether it pushed in the last step, and marks last step's contacts that exist
//! again. Runs after `contacts`, while the rows of the last step still exist. Writes `touched` and `met_again`.

use crate::detect::contacts::find_cached;
use crate::detect::gate::counter;
use crate::detect::manifold::Manifold;
use crate::gpu::{Load, Store, least};
use crate::state::rigid::{Body, CachedPair, Collider, Entry, NONE};
use crate::state::touching::{Touching, generations, is_told};
use crate::{layout, stage};

stage! {
    "touching_find" each 64 {
        read 0 manifolds: Manifold,
        read 1 colliders: Collider,
        read 2 counters: u32,
        read 3 bodies: Body,
        read 4 rows: u32,
        read 5 entries: Entry,
        read 6 cached_pairs: CachedPair,
        read 7 last_touching: Touching,
        write 8 touched: u32,
        write 9 met_again: u32,
    }
}

layout! {
    /// Push constants of `touching_find`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
    }
}

/// Looks at one manifold.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= least(push.limit, b.counters.at(counter::SOLVED)) {
        return;
    }
    let ends = b.manifolds.at(item).ends;
    let (one, two) = (b.colliders.at(ends.collider_a), b.colliders.at(ends.collider_b));
    let mut touched = 0;
    if is_told(&one, &two) {
        let cached = find_cached(&ends, &b.bodies, &b.rows, &b.entries, &b.cached_pairs);
        if cached != NONE {
            b.met_again.put(cached, 1);
            let last = b.last_touching.at(cached);
            touched = (last.touches != 0 && last.generations == generations(&one, &two)) as u32;
        }
    }
    b.touched.put(item, touched);
}
