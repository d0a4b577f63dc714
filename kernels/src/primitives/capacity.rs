//! Compares a list's count with its capacity: sets the overflow bit if it does not fit, and writes the indirect
//! dispatch over what does. Nothing is cut silently: the counter keeps the size that was needed.

use crate::gpu::{Load, Store};
use crate::layout::{DispatchArgs, MAX_GROUPS_X};
use crate::{layout, stage};

stage! {
    "capacity" each 1 {
        read 0 counters: u32,
        update 1 overflow: u32,
        write 2 args: DispatchArgs,
    }
}

layout! {
    /// Push constants of `capacity`.
    pub struct Push {
        /// Counter that holds the list's length.
        pub slot: u32,
        /// Items the list has room for.
        pub capacity: u32,
        /// Items a workgroup of the dispatch takes.
        pub tile: u32,
        /// Bit of the overflow word that belongs to this list.
        pub bit: u32,
        /// Which dispatch to write.
        pub index: u32,
    }
}

/// Checks one list.
#[inline(always)]
pub fn run(_item: u32, push: &Push, b: &mut Bindings<'_>) {
    let needed = b.counters.at(push.slot);
    let fits = needed <= push.capacity;
    if !fits {
        b.overflow.or(0, 1 << (push.bit & 31));
    }
    let count = if fits { needed } else { push.capacity };
    let groups = count.div_ceil(if push.tile > 0 { push.tile } else { 1 });
    let x = if groups < MAX_GROUPS_X { groups } else { MAX_GROUPS_X };
    let y = groups.div_ceil(MAX_GROUPS_X);
    b.args.put(push.index, DispatchArgs { x, y, z: 1 });
}
