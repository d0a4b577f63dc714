//! Where there are several worlds: writes the world of every box, in Morton order, as the key of a second, stable sort
//! that brings the boxes of each world together. The payload is the place in Morton order, by which `world_order` finds
//! everything again.

use crate::detect::world_bounds::world_of;
use crate::gpu::{Load, Store};
use crate::state::rigid::{Body, Collider};
use crate::{layout, stage};

stage! {
    "world_keys" each 256 {
        read 0 order: u32,
        read 1 colliders: Collider,
        read 2 bodies: Body,
        write 3 keys: u32,
        write 4 places: u32,
    }
}

layout! {
    /// Push constants of `world_keys`.
    pub struct Push {
        /// Number of boxes.
        pub count: u32,
        /// Number of worlds.
        pub worlds: u32,
    }
}

/// Writes the key of one box.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let collider = b.colliders.at(b.order.at(item));
    b.keys.put(item, world_of(&b.bodies.at(collider.what.body), push.worlds));
    b.places.put(item, item);
}
