//! The warm start of contacts of soft surfaces: what the last step knew of the same features, which part of the error is
//! left alone, and how stiff they are (Eq. 18, 19). Updates `soft_pairs` and `soft_held`.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, abs, fmax, fmin, sqrt};
use crate::solve::soft::WARM_STIFFNESS;
use crate::solve::soft::contact::{ALPHA_CONTACT, DRIFT, ROUNDING, SLOP};
use crate::solve::soft::pairs::{K_PAIR, K_PAIR_MOST};
use crate::state::material::combine;
use crate::state::rigid::{NONE, Params};
use crate::state::soft::Particle;
use crate::state::soft_pairs::{SoftPair, SoftPairCached, pair_flag};
use crate::{layout, stage};

stage! {
    "soft_pairs_start" each 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 soft_positions: Vec3,
        read 3 soft_pair_places: u32,
        read 4 soft_cached_pairs: SoftPairCached,
        update 5 soft_pairs: SoftPair,
        update 6 soft_held: u32,
    }
}

layout! {
    /// Push constants of `soft_pairs_start`.
    pub struct Push {
        /// Pairs that there is room for.
        pub capacity: u32,
        /// Number of pieces: the number of pairs stands behind their places.
        pub faces: u32,
    }
}

/// Starts one.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if (item >= push.capacity) | (item >= b.soft_pair_places.at(push.faces)) {
        return;
    }
    let mut pair = b.soft_pairs.at(item);
    let (dt, upper, lower) = (b.params.at(0).dt, b.particles.at(pair.a), b.particles.at(pair.d));
    // A unit is that of inertia alone. With that of the elements, hundreds of times as much, a step would move two
    // bodies together by a hundredth of what they are due, and multipliers would add up the force of all that is left.
    let mut moves = 0.0;
    let mut i = 0;
    while i < 4 {
        let share = pair.share(i);
        let node = b.particles.at(pair.node(i));
        moves += share * share * if node.mass > 0.0 { dt * dt / node.mass } else { 0.0 };
        i += 1;
    }
    pair.unit = 1.0 / fmax(moves, 1e-30);
    let has = pair.thickness > 0.0;
    pair.most = if has { K_PAIR_MOST * pair.unit } else { 0.0 };
    pair.k = if has { K_PAIR * pair.unit } else { 0.0 };
    pair.friction = combine(0, upper.friction, lower.friction);
    let (n, at) = (pair.normal, b.soft_positions.at(pair.a));
    let edges = pair.flags & pair_flag::EDGES != 0;
    let distance = if edges { fmin(pair.ha, pair.hb) } else { pair.ha };
    let gap = distance - pair.thickness;
    let mut slid = Vec3::ZERO;
    if has & (pair.cached != NONE) {
        let cached = b.soft_cached_pairs.at(pair.cached);
        let across = cached.slid - n * cached.slid.dot(n);
        let near = across.length_squared() < DRIFT * DRIFT * upper.length * upper.length;
        slid = if (cached.sticks != 0) & near { across } else { slid };
        pair.k = fmax(pair.k, fmin(cached.k * WARM_STIFFNESS, pair.most));
        // Turned into the plane that is there now, and into its cone.
        let along = fmax(0.0, cached.force.dot(n));
        let across = cached.force - n * cached.force.dot(n);
        let (size, bound) = (sqrt(across.length_squared()), pair.friction * along);
        let part = if size > bound { bound / fmax(size, 1e-30) } else { 1.0 };
        pair.lambda = n * along + across * part;
        if (along > 0.0) & (pair.flags & pair_flag::INNER == 0) {
            b.soft_held.or(upper.owner, 1);
            b.soft_held.or(lower.owner, 1);
        }
    }
    pair.slid = slid;
    let slop = SLOP * upper.length + ROUNDING * (abs(at.x) + abs(at.y) + abs(at.z));
    let beyond = if gap > 0.0 { fmax(0.0, gap - slop) } else { fmin(0.0, gap + slop) * (1.0 - ALPHA_CONTACT) };
    let way = sqrt(slid.length_squared());
    let returns = fmax(0.0, way - slop) * (1.0 - ALPHA_CONTACT) / fmax(way, 1e-30);
    pair.error = n * beyond + slid * returns;
    b.soft_pairs.put(item, pair);
}
