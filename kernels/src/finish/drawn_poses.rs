//! Writes poses interpolated between the last two frames, for a renderer with its own frame rate. They go directly into
//! the renderer's instance data, with any stride between one body and the next.

use crate::gpu::{Load, Store};
use crate::layout::BodyPose;
use crate::{layout, stage};

stage! {
    "drawn_poses" each 256 {
        read 0 body_poses: BodyPose,
        read 1 previous_body_poses: BodyPose,
        write 2 target: u32,
    }
}

layout! {
    /// Push constants of `drawn_poses`.
    pub struct Push {
        /// Number of poses that the target has room for.
        pub count: u32,
        /// Number of body slots; poses from there on have no body.
        pub bodies: u32,
        /// First word of the first pose.
        pub first: u32,
        /// Words from one pose to the next.
        pub stride: u32,
        /// Weight of the interpolation: 0 for the pose of the frame before, 1 for the last one.
        pub part: f32,
    }
}

/// Writes one pose.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let at = push.first.wrapping_add(item.wrapping_mul(push.stride));
    if item >= push.bodies {
        b.target.put(at.wrapping_add(3), 0);
        return;
    }
    let now = b.body_poses.at(item);
    let pose = now.after(&b.previous_body_poses.at(item), push.part);
    let (p, r) = (pose.position, pose.rotation);
    b.target.put(at, p.x.to_bits());
    b.target.put(at.wrapping_add(1), p.y.to_bits());
    b.target.put(at.wrapping_add(2), p.z.to_bits());
    b.target.put(at.wrapping_add(3), pose.present);
    b.target.put(at.wrapping_add(4), r.x.to_bits());
    b.target.put(at.wrapping_add(5), r.y.to_bits());
    b.target.put(at.wrapping_add(6), r.z.to_bits());
    b.target.put(at.wrapping_add(7), r.s.to_bits());
}
