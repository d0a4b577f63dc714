//! What integration of second order (BDF2) keeps of every body's last step. See `second_predict`.

use crate::layout;
use crate::math::Twist;

layout! {
    /// A body's last step.
    pub struct LastStep {
        /// Its motion in that step.
        pub delta: Twist,
        /// Velocity and angular momentum that it began with.
        pub before: Twist,
        /// Velocities at its end. If the body has others now, the user has set them since.
        pub after: Twist,
        /// Velocity and angular momentum that the step in progress began with.
        pub start: Twist,
        /// Length of the step, seconds; 0 if the next step must not use it.
        pub dt: f32,
        /// Weight with which the next step uses it, 0 to 1.
        pub blend: f32,
        /// Whether the step in progress concludes from it, or the last one did from the one before.
        pub used: u32,
    }
}

/// Weights of the last step and of the step ahead.
#[derive(Clone, Copy)]
pub struct Weights {
    /// Weight c of the last motion and of the last change of velocity.
    pub back: f32,
    /// Weight b of the step ahead.
    pub ahead: f32,
    /// Whether the last step is known and of similar length: beyond a ratio of 1 + sqrt(2) the method is not stable.
    pub sound: bool,
}

impl Weights {
    /// Of a step of `dt` seconds behind another.
    #[inline(always)]
    pub fn new(dt: f32, last: &LastStep) -> Self {
        let known = last.dt > 0.0;
        let pace = if known { dt / last.dt } else { 1.0 };
        // What goes on at one speed does so whatever counts.
        let back = last.blend * pace * pace / (1.0 + 2.0 * pace);
        let sound = known & (last.blend > 0.0) & (pace > 0.4) & (pace < 2.4);
        Self { back, ahead: 1.0 - back / pace, sound }
    }
}
