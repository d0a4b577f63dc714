//! Caches the stiffness of every row of a contact for the next step, when each row has its own (Eq. 19). Writes
//! `cached_stiffness`.

use crate::detect::gate::counter;
use crate::detect::manifold::{record, word};
use crate::gpu::glam::UVec4;
use crate::gpu::{Load, Store};
use crate::solve::contact::TANGENTS;
use crate::{layout, stage};

stage! {
    "stiffness_store" each 64 {
        read 0 counters: u32,
        read 1 points: UVec4,
        read 2 tangent_stiffness: UVec4,
        write 3 cached_stiffness: UVec4,
    }
}

layout! {
    /// Push constants of `stiffness_store`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
    }
}

/// Vectors that are cached for a manifold: tangent, bitangent and normal, with one word for each point.
pub const ROWS: u32 = TANGENTS + 1;

/// Keeps one manifold.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit || item >= b.counters.at(counter::SOLVED) {
        return;
    }
    let mut row = 0;
    while row < TANGENTS {
        b.cached_stiffness
            .put(item.wrapping_mul(ROWS) + row, b.tangent_stiffness.at(item.wrapping_mul(TANGENTS) + row));
        row += 1;
    }
    // Without the sign, which marks a point that slid.
    let normal = b.points.at(record(item) + word::K);
    let size = UVec4::new(normal.x & SIZE, normal.y & SIZE, normal.z & SIZE, normal.w & SIZE);
    b.cached_stiffness.put(item.wrapping_mul(ROWS) + TANGENTS, size);
}

/// All bits of a float but its sign.
const SIZE: u32 = 0x7fff_ffff;
