//! How much of the way to where the iterations sent them soft bodies may go all at once without crossing: a part, 0 to 1,
//! for all that are near each other. Heights above a plane are linear in it, so where nothing has crossed at the end it
//! is 1, however far all of them go together. Reads where particles are in `soft_deltas` and where they would go in
//! `soft_next`; lowers `soft_parts` of their island.

use crate::gpu::Load;
use crate::gpu::glam::Vec3;
use crate::layout::Aabb;
use crate::solve::soft::pairs::{closable_together, confined, gap};
use crate::state::soft::Particle;
use crate::state::soft_pairs::SoftPair;
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
        read 8 island_of: u32,
        update 9 soft_parts: u32,
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

/// Where node `i` would go.
#[inline(always)]
fn goes(pair: &SoftPair, i: u32, b: &Bindings<'_>) -> Vec3 {
    let at = pair.node(i);
    confined(&b.soft_regions.at(at), f32::from_bits(b.soft_limits.at(at)), b.soft_next.at(at))
}

/// Looks at one pair.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if (item >= push.capacity) | (item >= b.soft_pair_places.at(push.faces)) {
        return;
    }
    let pair = b.soft_pairs.at(item);
    let d = &b.soft_deltas;
    let now = gap(&pair, d.at(pair.a), d.at(pair.b), d.at(pair.c), d.at(pair.d));
    let then = gap(&pair, goes(&pair, 0, b), goes(&pair, 1, b), goes(&pair, 2, b), goes(&pair, 3, b));
    let (closes, most) = (now - then, closable_together(&pair, now, b.soft_positions.at(pair.a)));
    if closes > most {
        b.soft_parts.lower(b.island_of.at(b.particles.at(pair.a).owner), (most / closes).to_bits());
    }
}
