//! Moves particles to where they were sent: all of them by the part that their island may go (`soft_parts`), or one
//! colour all the way.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, least};
use crate::layout::Aabb;
use crate::solve::soft::pairs::confined;
use crate::state::soft::Particle;
use crate::{layout, stage};

stage! {
    "soft_move" each 64 {
        read 0 particles: Particle,
        read 1 soft_order: u32,
        read 2 soft_ranges: u32,
        read 3 soft_regions: Aabb,
        read 4 soft_limits: u32,
        read 5 soft_parts: u32,
        read 6 island_of: u32,
        read 7 soft_next: Vec3,
        update 8 soft_deltas: Vec3,
    }
}

layout! {
    /// Push constants of `soft_move`.
    pub struct Push {
        /// What to do: see [`how`].
        pub how: u32,
        /// Number of particles.
        pub count: u32,
        /// The colour.
        pub colour: u32,
    }
}

/// What `soft_move` does.
pub mod how {
    /// Every particle goes by the part of its island.
    pub const PARTS: u32 = 0;
    /// Every particle goes all the way.
    pub const ALL: u32 = 1;
    /// One colour goes all the way.
    pub const COLOUR: u32 = 2;
}

/// Moves one.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let mut index = item;
    let mut there = item < push.count;
    if push.how == how::COLOUR {
        let end = least(b.soft_ranges.at(push.colour.wrapping_add(1)), b.soft_order.len());
        let place = b.soft_ranges.at(push.colour).wrapping_add(item);
        there = place < end;
        index = b.soft_order.at(if there { place } else { 0 });
    }
    if !there {
        return;
    }
    let (delta, next) = (b.soft_deltas.at(index), b.soft_next.at(index));
    if push.how == how::PARTS {
        let part = f32::from_bits(b.soft_parts.at(b.island_of.at(b.particles.at(index).owner)));
        let next = confined(&b.soft_regions.at(index), f32::from_bits(b.soft_limits.at(index)), next);
        b.soft_deltas.put(index, if part >= 1.0 { next } else { delta + (next - delta) * part });
    } else {
        b.soft_deltas.put(index, next);
    }
}
