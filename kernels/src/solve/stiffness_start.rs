//! Warm start of the stiffness of every row of a contact, when each row has its own (Eq. 19; Algorithm 1, line 6):
//!
//! ```text
//! k = min(max(gamma k, k_start), k_max)
//! ```
//!
//! with gamma = `warm_stiffness`. Runs directly after `contacts`, which wrote into the place of the stiffness the
//! number of the matching point of the last step. Reads the cached stiffness; writes that of points and of tangent
//! rows.

use crate::detect::contacts::find_cached;
use crate::detect::gate::counter;
use crate::detect::manifold::{Manifold, feature_words, features, record, word};
use crate::finish::stiffness_store::ROWS;
use crate::gpu::glam::UVec4;
use crate::gpu::{Load, Local, Store, fmax, fmin, least};
use crate::solve::contact::TANGENTS;
use crate::state::rigid::{Body, CachedPair, Entry, NONE, POINTS, Params};
use crate::{layout, stage};

stage! {
    "stiffness_start" each 64 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 manifolds: Manifold,
        read 3 rows: u32,
        read 4 entries: Entry,
        read 5 cached_pairs: CachedPair,
        read 6 cached_stiffness: UVec4,
        read 7 counters: u32,
        update 8 points: UVec4,
        write 9 tangent_stiffness: UVec4,
    }
}

layout! {
    /// Push constants of `stiffness_start`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
    }
}

/// Starts one manifold.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit || item >= b.counters.at(counter::SOLVED) {
        return;
    }
    let (params, manifold) = (b.params.at(0), b.manifolds.at(item));
    let (lowest, highest) = (params.k_start * manifold.unit, params.k_max * manifold.unit);
    let place = record(item) + word::K;
    let told = features(b.points.at(place));
    let cached = find_cached(&manifold.ends, &b.bodies, &b.rows, &b.entries, &b.cached_pairs);
    let mut row = 0;
    while row < ROWS {
        let mut old = Local::splat(0);
        if cached != NONE {
            old = features(b.cached_stiffness.at(cached.wrapping_mul(ROWS) + row));
        }
        let mut new = Local::splat(0);
        let mut point = 0;
        while point < least(manifold.count, POINTS) {
            let which = f32::from_bits(told.at(point));
            let slid = which < 0.0;
            let number = (if slid { -which } else { which } as u32).wrapping_sub(1);
            let mut k = 0.0;
            if number < POINTS {
                k = f32::from_bits(old.at(number));
            }
            let k = fmin(fmax(params.warm_stiffness * k, lowest), highest);
            // In the record a negative stiffness marks a point that slid in the last step.
            let k = if slid && row == ROWS - 1 { -k } else { k };
            new.put(point, k.to_bits());
            point += 1;
        }
        if row < TANGENTS {
            b.tangent_stiffness.put(item.wrapping_mul(TANGENTS) + row, feature_words(&new));
        } else {
            b.points.put(place, feature_words(&new));
        }
        row += 1;
    }
}
