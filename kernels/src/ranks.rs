//! Where every body stands in the order of the colours: the order the other way round.

use crate::gpu::{Load, Store};
use crate::{layout, stage};

stage! {
    "ranks" each 256 {
        read 0 order: u32,
        write 1 ranks: u32,
    }
}

layout! {
    /// Push constants of `ranks`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Tells one body where it stands.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item < push.count {
        b.ranks.put(b.order.at(item), item);
    }
}
