//! What integration of second order remembers of every body's last step.

use crate::layout;
use crate::math::Twist;

layout! {
    /// A body's last step.
    pub struct LastStep {
        /// The way it went.
        pub delta: Twist,
        /// Velocity and angular momentum that it began with.
        pub before: Twist,
        /// Velocities that it ended with: others mean that somebody has set them since.
        pub after: Twist,
        /// Velocity and angular momentum that the step in progress began with.
        pub start: Twist,
        /// Seconds; 0 when nothing is to be concluded from it.
        pub dt: f32,
        /// How much is concluded from it, 0 to 1.
        pub blend: f32,
        /// Whether the step in progress concludes from it, or the last one did from the one before.
        pub used: u32,
    }
}

/// How much of the last step counts.
#[derive(Clone, Copy)]
pub struct Weights {
    /// Of the last way, and of the last change of velocity.
    pub back: f32,
    /// Of the step ahead.
    pub ahead: f32,
    /// Whether it is known at all, and about as long: beyond 1 + sqrt(2) times as long the method is not stable.
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
