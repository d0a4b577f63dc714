//! Writes the place of every body in the order of the colours: the inverse permutation of that order.

use crate::gpu::{Load, Store};
use crate::{layout, stage};

stage! {
    "body_order" each 256 {
        read 0 order: u32,
        write 1 body_order: u32,
    }
}

layout! {
    /// Push constants of `body_order`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Writes the place of one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item < push.count {
        b.body_order.put(b.order.at(item), item);
    }
}
