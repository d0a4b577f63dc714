//! Empties every body's row before `rows` fills those that have entries.

use crate::gpu::Store;
use crate::{layout, stage};

stage! {
    "rows_clear" each 256 {
        write 0 rows: u32,
    }
}

layout! {
    /// Push constants of `rows_clear`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Empties one row.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item < push.count {
        b.rows.put(item.wrapping_mul(2), 0);
        b.rows.put(item.wrapping_mul(2) | 1, 0);
    }
}
