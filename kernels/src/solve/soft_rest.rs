//! Where bodies start that only particles touch or hold: with as much of gravity and of the user's force as they felt in
//! the last step, as what bodies touch does. `predict` knows nothing of particles and lets them start at their targets,
//! so in every step a ball at rest on cloth would first fall on it, and few iterations do not bring both back.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, decay};
use crate::math::{Pose, Twist};
use crate::solve::predict::share;
use crate::state::rigid::{Body, Params, gravity, option, row};
use crate::state::soft::SOFT_ROW_WORDS;
use crate::{layout, stage};

stage! {
    "soft_rest" each 256 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 velocities: Twist,
        read 3 previous: Vec3,
        read 4 forces: Twist,
        read 5 rows: u32,
        read 6 soft_rows: u32,
        update 7 poses: Pose,
        update 8 deltas: Twist,
    }
}

layout! {
    /// Push constants of `soft_rest`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Takes back what one body did not feel.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let (params, body) = (b.params.at(0), b.bodies.at(item));
    let first = item.wrapping_mul(SOFT_ROW_WORDS);
    let touched = b.soft_rows.at(first) < b.soft_rows.at(first.wrapping_add(1));
    let alone = row(&b.rows, item, u32::MAX).count() == 0;
    if body.is_dynamic() & touched & alone & (params.options & option::PAIRS == 0) {
        let dt = params.dt;
        let (mut left, mut part) = (1.0, 1.0);
        if (body.linear_damping > 0.0) | (body.angular_damping > 0.0) {
            (left, part) = decay(body.linear_damping * dt);
        }
        let fall = gravity(&b.params, body.world()) * (body.gravity_scale * dt * dt * part);
        let pushed = b.forces.at(item).linear * (dt * dt / body.mass * part);
        let felt = (b.velocities.at(item).linear - b.previous.at(item) * left) * dt;
        let lack =
            fall * (1.0 - share(&params, felt, fall, false)) + pushed * (1.0 - share(&params, felt, pushed, false));
        let (mut pose, mut way) = (b.poses.at(item), b.deltas.at(item));
        pose.position -= lack;
        way.linear -= lack;
        b.poses.put(item, pose);
        b.deltas.put(item, way);
    }
}
