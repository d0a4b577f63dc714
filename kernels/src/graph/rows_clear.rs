//! Empties every body's row before `rows` fills those that have entries.

use crate::state::rigid::clear_row;
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
        clear_row(&mut b.rows, item);
    }
}
