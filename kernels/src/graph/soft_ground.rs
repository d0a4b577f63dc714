//! Puts bodies with attached particles into the ground set between the phases of `islands`, so that they are in no
//! island: `momentum` and `aggregates` balance the forces they know, and know nothing of particles.

use crate::gpu::{Load, Store};
use crate::state::soft::SOFT_ROW_WORDS;
use crate::{layout, stage};

stage! {
    "soft_ground" each 256 {
        read 0 soft_rows: u32,
        write 1 parents: u32,
    }
}

layout! {
    /// Push constants of `soft_ground`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Looks at one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item < push.count {
        let first = item.wrapping_mul(SOFT_ROW_WORDS);
        if b.soft_rows.at(first) < b.soft_rows.at(first.wrapping_add(1)) {
            b.parents.put(item, crate::graph::forest::GROUND);
        }
    }
}
