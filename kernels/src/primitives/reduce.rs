//! Reduces tiles of 32-bit values to one value each; run again over the partial results until one is left.
//!
//! Lanes stride through the tile, so neighbouring lanes read neighbouring words, then the workgroup folds its lanes in
//! a fixed tree: the order of additions depends on the device's workgroups, never on timing.

use crate::gpu::{Group, Load, Store, fmax, fmin};
use crate::layout::{Extent, tile};
use crate::{layout, stage};

stage! {
    "reduce" group 256, shared u32 256 {
        read 0 values: u32,
        read 1 counters: u32,
        write 2 partials: u32,
    }
}

/// Values a workgroup reduces to one.
pub const TILE: u32 = 4096;

layout! {
    /// Push constants of `reduce`.
    pub struct Push {
        /// Number of values.
        pub extent: Extent,
        /// What to do with them: one of [`op`].
        pub op: u32,
    }
}

/// Operations. Floats travel as their bits.
pub mod op {
    /// Sum of unsigned integers, wrapping.
    pub const SUM_U32: u32 = 0;
    /// Smallest unsigned integer.
    pub const MIN_U32: u32 = 1;
    /// Largest unsigned integer.
    pub const MAX_U32: u32 = 2;
    /// Sum of floats.
    pub const SUM_F32: u32 = 3;
    /// Smallest float, NaN left out.
    pub const MIN_F32: u32 = 4;
    /// Largest float, NaN left out.
    pub const MAX_F32: u32 = 5;
}

/// What an empty input gives.
#[inline(always)]
pub fn identity(op: u32) -> u32 {
    if op == op::MIN_U32 {
        u32::MAX
    } else if op == op::MIN_F32 {
        f32::INFINITY.to_bits()
    } else if op == op::MAX_F32 {
        f32::NEG_INFINITY.to_bits()
    } else {
        0
    }
}

/// Two values made one.
#[inline(always)]
pub fn combine(op: u32, a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    if op == op::SUM_U32 {
        a.wrapping_add(b)
    } else if op == op::MIN_U32 {
        if a < b { a } else { b }
    } else if op == op::MAX_U32 {
        if a > b { a } else { b }
    } else if op == op::SUM_F32 {
        (x + y).to_bits()
    } else if op == op::MIN_F32 {
        fmin(x, y).to_bits()
    } else {
        fmax(x, y).to_bits()
    }
}

/// Reduces one tile.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    let count = push.extent.count(&b.counters, b.values.len());
    // Tiles beyond the count give the identity: the next round takes them like any other.
    let (start, end) = tile(group.index, TILE, count);

    // As many rounds for every lane, so that all of them are at the barrier together.
    let mut value = identity(push.op);
    let rounds = (end - start) / group.lanes;
    let mut i = start + group.lane;
    let mut round = 0;
    while round < rounds {
        // SAFETY: below `end`, and `count` with it is no more than there are values.
        value = combine(push.op, value, unsafe { b.values.known(i) });
        i += group.lanes;
        round += 1;
    }
    if i < end {
        value = combine(push.op, value, b.values.at(i));
    }

    shared.put(group.lane, value);
    group.barrier();
    let mut half = group.lanes / 2;
    while half > 0 {
        if group.lane < half {
            let folded = combine(push.op, shared.at(group.lane), shared.at(group.lane + half));
            shared.put(group.lane, folded);
        }
        group.barrier();
        half /= 2;
    }
    if group.lane == 0 {
        b.partials.put(group.index, shared.at(0));
    }
}
