//! Prepares impacts: copies the velocities at the start of the step, moved by half a step of acceleration, and clears
//! all counts. Writes `start_velocities`, `impact_velocities`, `impact_counts`, and that nothing has bounced yet.
//! See [`impact`](crate::solve::impact).

use crate::detect::gate::counter;
use crate::gpu::{Load, Store};
use crate::math::Twist;
use crate::solve::impact::{acceleration, count};
use crate::state::rigid::{Body, Params, gravity, joint_row};
use crate::{layout, stage};

stage! {
    "bounce_start" each 256 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 velocities: Twist,
        read 3 forces: Twist,
        write 4 counters: u32,
        write 5 impact_velocities: Twist,
        write 6 impact_counts: u32,
        write 7 start_velocities: Twist,
        read 8 rows: u32,
        write 9 world_bounces: u32,
    }
}

layout! {
    /// Push constants of `bounce_start`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Starts one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let (params, body, mut velocity) = (b.params.at(0), b.bodies.at(item), b.velocities.at(item));
    b.start_velocities.put(item, velocity);
    velocity.linear += acceleration(gravity(&b.params, body.world()), &body, &b.forces.at(item)) * (0.5 * params.dt);
    b.impact_velocities.put(item, velocity);
    let mut word = 0;
    while word < count::WORDS {
        b.impact_counts.put(item.wrapping_mul(count::WORDS).wrapping_add(word), 0);
        word += 1;
    }
    // A damped or jointed body counts as resting on something: it is carried by forces that impacts do not know.
    if body.linear_damping > 0.0 || joint_row(&b.rows, item, u32::MAX).count() > 0 {
        b.impact_counts.put(item.wrapping_mul(count::WORDS).wrapping_add(count::RESTS), u32::MAX);
    }
    // Every body clears the word of its world: all of them write the same.
    b.world_bounces.put(body.world(), 0);
    if item == 0 {
        b.counters.put(counter::BOUNCES, 0);
    }
}
