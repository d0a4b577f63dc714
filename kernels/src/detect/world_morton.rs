//! Where there are several worlds: writes the Morton code of every box's centre in the grid over its own world, as
//! `morton` does for one, and the identity permutation that is sorted along with it. Reads `boxes` and the worlds'
//! boxes; writes `keys` and `order`.

use crate::detect::morton::code;
use crate::detect::world_bounds::{scene, world_of};
use crate::gpu::{Load, Store, abs};
use crate::layout::Aabb;
use crate::state::rigid::{Body, Collider};
use crate::{layout, stage};

stage! {
    "world_morton" each 256 {
        read 0 boxes: Aabb,
        read 1 colliders: Collider,
        read 2 bodies: Body,
        read 3 scenes: u32,
        write 4 keys: u32,
        write 5 order: u32,
    }
}

layout! {
    /// Push constants of `world_morton`.
    pub struct Push {
        /// Number of boxes.
        pub count: u32,
        /// Number of worlds.
        pub worlds: u32,
    }
}

/// Codes one box.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let centre = b.boxes.at(item).centre();
    // Also false for NaN.
    let finite = (abs(centre.x) <= f32::MAX) & (abs(centre.y) <= f32::MAX) & (abs(centre.z) <= f32::MAX);
    let world = world_of(&b.bodies.at(b.colliders.at(item).what.body), push.worlds);
    let scene = scene(&b.scenes, world, push.worlds);
    b.keys.put(item, (finite as u32) << 30 | code(centre, &scene));
    b.order.put(item, item);
}
