//! Where there are several worlds: writes the order of the boxes by world and within each by Morton code, and the keys
//! over which `hierarchy` builds. A key has the world in its upper bits, so that each is a subtree of its own, and as
//! much of the Morton code as is left below. What is cut off makes the tree coarser, never the order another one.

use crate::gpu::{Load, Store};
use crate::{layout, stage};

stage! {
    "world_order" each 256 {
        read 0 leaf_worlds: u32,
        read 1 places: u32,
        read 2 codes: u32,
        read 3 code_order: u32,
        write 4 keys: u32,
        write 5 order: u32,
    }
}

layout! {
    /// Push constants of `world_order`.
    pub struct Push {
        /// Number of boxes.
        pub count: u32,
        /// Bits that the number of a world takes, 1 to 31.
        pub world_bits: u32,
    }
}

/// Writes the place of one box.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let place = b.places.at(item);
    // A code has 31 bits. There are 32 - `world_bits` for it.
    let code = b.codes.at(place).wrapping_shr(push.world_bits.wrapping_sub(1));
    let world = b.leaf_worlds.at(item).wrapping_shl(32u32.wrapping_sub(push.world_bits));
    b.keys.put(item, world | code);
    b.order.put(item, b.code_order.at(place));
}
