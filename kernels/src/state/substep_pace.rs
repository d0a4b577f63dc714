//! Rescales the velocity of the step before when sub-steps change their length. The acceleration of a body in the last
//! sub-step is taken from its change of velocity, which is scaled to what it would have been in a sub-step of the new
//! length. Forces do not depend on the length and stay as they are.

use crate::detect::gate::counter;
use crate::gpu::{Load, glam::Vec3};
use crate::math::Twist;
use crate::{layout, stage};

stage! {
    "substep_pace" each 256 {
        read 0 counters: u32,
        read 1 velocities: Twist,
        update 2 previous: Vec3,
    }
}

layout! {
    /// Push constants of `substep_pace`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Looks at one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let pace = f32::from_bits(b.counters.at(counter::PACE));
    if item >= push.count || pace == 1.0 {
        return;
    }
    let velocity = b.velocities.at(item).linear;
    // SAFETY: `item` is the number of the invocation, and this is stored and loaded by number only.
    unsafe {
        let gained = velocity - b.previous.at_own(item);
        b.previous.put_own(item, velocity - gained * pace);
    }
}
