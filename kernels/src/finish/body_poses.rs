//! Writes poses as the user means them, of the body's own origin and axes instead of its centre of mass and principal
//! axes, for a renderer to draw. `layout::BODY_POSE_VERSION` versions their layout. The poses of the frame before are
//! kept beside them, for motion vectors and interpolation.

use crate::gpu::{Load, Store};
use crate::layout::BodyPose;
use crate::math::Pose;
use crate::state::rigid::{Body, BodyFrame, kind};
use crate::{layout, stage};

stage! {
    "body_poses" each 256 {
        read 0 bodies: Body,
        read 1 poses: Pose,
        read 2 body_frames: BodyFrame,
        update 3 body_poses: BodyPose,
        write 4 previous_body_poses: BodyPose,
    }
}

layout! {
    /// Push constants of `body_poses`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Shows one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let (frame, pose) = (b.body_frames.at(item), b.poses.at(item));
    let rotation = pose.rotation.then_after(&frame.axes.inverse());
    let position = pose.position - rotation.apply(frame.centre);
    let present = (!b.bodies.at(item).is(kind::DISABLED)) as u32;
    let now = BodyPose { position, present, rotation };
    // A body that was just added has no previous pose: it gets the present one.
    let before = b.body_poses.at(item);
    b.previous_body_poses.put(item, if before.present != 0 { before } else { now });
    b.body_poses.put(item, now);
}
