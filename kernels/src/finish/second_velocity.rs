//! Writes the velocities at the end of a step of second order, and what the next step needs to know of this one. Runs
//! after every pass that takes velocity times dt for the motion of a body. See `second_predict`.

use crate::gpu::{Load, abs, fmax, fmin, sqrt};
use crate::math::Twist;
use crate::solve::joints::JointForce;
use crate::state::rigid::{Body, Entry, Params, contact_row, gravity, joint_row};
use crate::state::second::{LastStep, Weights};
use crate::{layout, stage};

stage! {
    "second_velocity" each 256 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 rows: u32,
        read 3 entries: Entry,
        read 4 joint_forces: JointForce,
        update 5 last_steps: LastStep,
        update 6 velocities: Twist,
    }
}

layout! {
    /// Push constants of `second_velocity`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Sum of the pulls of a body's joints, relative to the force that holds and accelerates it, up to which the body is
/// integrated to second order.
const LIGHTLY: f32 = 4.0;
/// The same sum from which on it is integrated to first order; in between, in proportion. A body under many times its
/// own weight oscillates faster than a step can follow, and few iterations lag behind: implicit Euler damps that.
/// Chosen on chains and pendulums.
const HEAVILY: f32 = 16.0;
/// By how many times the other body of a joint may be lighter. A light body that holds a heavier one is such a chain,
/// and a load that was integrated otherwise than it gained 4% to 20% of energy.
const LOPSIDED: f32 = 4.0;
/// Relative change of acceleration from one step to the next that counts as a jump.
const JUMP: f32 = 0.5;
/// Relative change of velocity in a step that counts as none.
const STEADY: f32 = 0.01;

/// Finishes one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let (params, body) = (b.params.at(0), b.bodies.at(item));
    // SAFETY: here and below, `item` is the number of the invocation, and these are stored and loaded by number only.
    let (mut last, went) = unsafe { (b.last_steps.at_own(item), b.velocities.at_own(item)) };
    let dt = params.dt;
    let delta = Twist { linear: went.linear * dt, angular: went.angular * dt };
    let mut velocity = went;
    let mut smooth = body.is_dynamic() && contact_row(&b.rows, item, u32::MAX).count() == 0;
    let mut then = (velocity.linear - last.start.linear) * (1.0 / dt);
    let weight = sqrt(gravity(&b.params, body.world()).length_squared()) * abs(body.gravity_scale);
    if last.used != 0 {
        let weights = Weights::new(dt, &last);
        let per_step = 1.0 / (weights.ahead * dt);
        velocity.linear = (delta.linear - last.delta.linear * weights.back) * per_step;
        velocity.angular = (delta.angular - last.delta.angular * weights.back) * per_step;
        // What was felt in this step, and in the last one.
        let now = (velocity.linear - last.start.linear) * (1.0 / dt);
        then = (last.start.linear - last.before.linear) * (1.0 / last.dt);
        // In zero gravity, and at one speed, rounding is no jump.
        let floor = sqrt(velocity.linear.length_squared()) * (STEADY / dt);
        let usual = (sqrt(then.length_squared()) + weight) * JUMP + floor;
        if (now - then).length_squared() > usual * usual {
            (velocity, smooth, last.used) = (went, false, 0);
        }
        // SAFETY: as above.
        unsafe { b.velocities.put_own(item, velocity) };
    }
    let mut pulled = 0.0;
    let mut lopsided = false;
    let row = joint_row(&b.rows, item, b.entries.len());
    let mut e = row.start;
    while e < row.end {
        let entry = b.entries.at(e);
        pulled += sqrt(b.joint_forces.at(entry.joint()).force.length_squared());
        let other = b.bodies.at(entry.other);
        lopsided |= other.is_dynamic() & (other.mass * LOPSIDED < body.mass);
        e += 1;
    }
    let usual = body.mass * (sqrt(then.length_squared()) + weight);
    let heavily = (pulled / fmax(usual, 1e-30) - LIGHTLY) / (HEAVILY - LIGHTLY);
    last.blend = if lopsided { 0.0 } else { 1.0 - fmax(0.0, fmin(heavily, 1.0)) };
    last.delta = delta;
    last.before = last.start;
    last.after = velocity;
    last.dt = if smooth { dt } else { 0.0 };
    // SAFETY: as above.
    unsafe { b.last_steps.put_own(item, last) };
}
