//! Where every body came to when manifolds and joints were solved one after the other: its way is known, its rotation
//! is that by the angular part of it.

use crate::gpu::{Load, Store};
use crate::math::{Pose, Rotation, Twist};
use crate::state::rigid::Body;
use crate::{layout, stage};

stage! {
    "pair_turns" each 256 {
        read 0 bodies: Body,
        read 1 starts: Pose,
        read 2 deltas: Twist,
        read 3 body_order: u32,
        write 4 rotations: Rotation,
        write 5 poses: Pose,
    }
}

layout! {
    /// Push constants of `pair_turns`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Turns one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count || !b.bodies.at(item).is_dynamic() {
        return;
    }
    let (start, way) = (b.starts.at(item), b.deltas.at(item));
    let rotation = Rotation::exp(way.angular).then_after(&start.rotation).normalized();
    b.rotations.put(b.body_order.at(item), rotation);
    b.poses.put(item, Pose { position: start.position + way.linear, rotation });
}
