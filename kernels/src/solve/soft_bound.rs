//! How much of a motion a soft body may make as a whole without crossing itself or another one: a part for all of its
//! particles, 0 to 1. Of one body it is what both sides do relative to each other that counts; two bodies take half of
//! the gap each. Reads `soft_deltas` and where particles would go in `soft_next`; lowers `soft_parts`.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, fmin};
use crate::layout::Aabb;
use crate::solve::soft::pairs::{closable, confined, height};
use crate::state::soft::Particle;
use crate::state::soft_pairs::{SoftPair, pair_flag};
use crate::{layout, stage};

stage! {
    "soft_bound" each 64 {
        read 0 particles: Particle,
        read 1 soft_positions: Vec3,
        read 2 soft_deltas: Vec3,
        read 3 soft_next: Vec3,
        read 4 soft_regions: Aabb,
        read 5 soft_limits: u32,
        read 6 soft_pair_places: u32,
        read 7 soft_pairs: SoftPair,
        update 8 soft_parts: u32,
    }
}

layout! {
    /// Push constants of `soft_bound`.
    pub struct Push {
        /// Pairs that there is room for.
        pub capacity: u32,
        /// Number of pieces: the number of pairs stands behind their places.
        pub faces: u32,
    }
}

/// How far along the normal node `i` would go.
#[inline(always)]
fn goes(pair: &SoftPair, i: u32, b: &Bindings<'_>) -> f32 {
    let at = pair.node(i);
    let next = confined(&b.soft_regions.at(at), f32::from_bits(b.soft_limits.at(at)), b.soft_next.at(at));
    (next - b.soft_deltas.at(at)).dot(pair.normal)
}

/// The part of `way` that is within `most`.
#[inline(always)]
fn part(way: f32, most: f32) -> f32 {
    if way > most { most / way } else { 1.0 }
}

/// Looks at one pair.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if (item >= push.capacity) | (item >= b.soft_pair_places.at(push.faces)) {
        return;
    }
    let pair = b.soft_pairs.at(item);
    let place = b.soft_positions.at(pair.a);
    let inner = pair.flags & pair_flag::INNER != 0;
    let (mut upper, mut lower) = (1.0f32, 1.0f32);
    let mut i = 0;
    while i < 2 {
        if pair.is_above(i) {
            let (high, falls) = (height(&pair, i, b.soft_deltas.at(pair.node(i))), -goes(&pair, i, b));
            let mut j = 1;
            while j < 4 {
                if !pair.is_above(j) {
                    let low = height(&pair, j, b.soft_deltas.at(pair.node(j)));
                    let most = closable(&pair, high - low, place);
                    let rises = goes(&pair, j, b);
                    if inner {
                        upper = fmin(upper, part(falls + rises, most));
                    } else {
                        upper = fmin(upper, part(falls, 0.5 * most));
                        lower = fmin(lower, part(rises, 0.5 * most));
                    }
                }
                j += 1;
            }
        }
        i += 1;
    }
    let (one, other) = (b.particles.at(pair.a).owner, b.particles.at(pair.d).owner);
    if upper < 1.0 {
        b.soft_parts.lower(one, upper.to_bits());
    }
    if lower < 1.0 {
        b.soft_parts.lower(other, lower.to_bits());
    }
}
