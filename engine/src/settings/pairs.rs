//! Numbers of the solvers that go from one contact or joint to the next: what games have used for twenty years, to
//! compare with, on the same contacts, joints and caches.
//!
//! They have no soft bodies, no moving, bouncing or rolling surfaces, and no integration of second order: worlds and
//! settings with any of these are refused.

use super::Solver;
use drystone_kernels::state::rigid::{Params, option};

/// Sequential impulses (Catto, "Iterative Dynamics with Temporal Coherence", 2005, and "Fast and Simple Physics using
/// Sequential Impulses", 2006): velocities are solved contact by contact with accumulated impulses that are clamped,
/// from those of the last step on, and overlap is corrected by a part of it turned into speed.
///
/// Wants iterations, ten or more, and one sub-step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImpulseSettings {
    /// Part of an error that is corrected in a step, 0 to 1. By name `baumgarte`. 0.2: Catto's.
    pub baumgarte: f32,
    /// Overlap that is left alone, metres, so that contacts at rest are not lost. By name `slop_impulse`. 5 mm:
    /// Box2D's.
    pub slop: f32,
    /// Greatest speed of a correction, m/s. By name `speed_impulse`. 4: Box2D's.
    pub speed: f32,
}

impl Default for ImpulseSettings {
    fn default() -> Self {
        Self { baumgarte: 0.2, slop: 5e-3, speed: 4.0 }
    }
}

/// Soft steps (Catto, "Solver2D", 2024; what Box2D does since version 3): sequential impulses in sub-steps, errors
/// corrected by damped springs as stiff as a sub-step allows, and a pass behind each that takes what the springs gave
/// back out of the velocities.
///
/// Wants sub-steps, four or more, and one iteration each.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SoftStepSettings {
    /// Frequency of contacts, hertz. By name `hertz`. 30: Box2D's. Those with what does not move, and joints, have
    /// twice as much.
    pub hertz: f32,
    /// The same at most, in sub-steps a second. By name `hertz_rate`. 0.25: Box2D's; a step cannot follow more.
    pub rate: f32,
    /// Damping ratio of contacts. By name `damping_contact`. 10: Box2D's, so that nothing bounces off a correction.
    pub damping: f32,
    /// Damping ratio of joints. By name `damping_joint`. 2: Box2D's.
    pub damping_joint: f32,
    /// Greatest speed of a correction, m/s. By name `speed_soft`. 4: Box2D's.
    pub speed: f32,
}

impl Default for SoftStepSettings {
    fn default() -> Self {
        Self { hertz: 30.0, rate: 0.25, damping: 10.0, damping_joint: 2.0, speed: 4.0 }
    }
}

/// Extended position-based dynamics (Mueller et al., "Detailed Rigid Body Simulation with Extended Position Based
/// Dynamics", 2020): positions are corrected contact by contact, and velocities follow from them. Friction holds what
/// stays within its cone; what slides is braked behind, on velocities, and speed along normals that corrections gave is
/// taken out.
///
/// Wants sub-steps, ten or more, and one iteration each; multipliers begin at nothing in every sub-step and are kept
/// over the iterations of one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct XpbdSettings {
    /// Compliance of contacts, metres a newton. By name `compliance`. 0: rigid.
    pub compliance: f32,
}

impl Default for XpbdSettings {
    fn default() -> Self {
        Self { compliance: 0.0 }
    }
}

/// A bound that nothing reaches, and whose product with a step is still a number.
const UNBOUNDED: f32 = 1e30;

/// What all of them tell the kernels: contacts are found and kept as by default, and nothing of an overlap is left to a
/// solver that knows stiffness.
fn pair_params(options: u32) -> Params {
    let usual = super::AvbdSettings::default().params();
    Params {
        slop: 0.0,
        mean_pull: 0.0,
        warm: 1.0,
        warm_joint: 1.0,
        options: option::PAIRS | option::CURVED | options,
        pair_speed: UNBOUNDED,
        ..usual
    }
}

impl ImpulseSettings {
    pub(super) fn params(&self) -> Params {
        let usual = pair_params(0);
        Params { pair_part: self.baumgarte, pair_slop: self.slop, pair_speed: self.speed, ..usual }
    }
}

impl SoftStepSettings {
    pub(super) fn params(&self) -> Params {
        let usual = pair_params(option::SOFT_STEP);
        let Self { hertz, rate, damping, damping_joint, speed } = *self;
        let soft = Params { pair_hertz: hertz, pair_rate: rate, pair_damping: damping, ..usual };
        Params { pair_damping_joint: damping_joint, pair_speed: speed, ..soft }
    }
}

impl XpbdSettings {
    pub(super) fn params(&self) -> Params {
        let usual = pair_params(option::XPBD);
        Params { pair_part: 1.0, pair_compliance: self.compliance, warm: 0.0, warm_joint: 0.0, ..usual }
    }
}

/// With something changed, and as a [`Solver`].
macro_rules! changeable {
    ($($settings:ident, $solver:ident;)*) => {$(
        impl $settings {
            /// With something changed.
            pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
                change(&mut self);
                self
            }
        }

        impl From<$settings> for Solver {
            fn from(settings: $settings) -> Self {
                Self::$solver(settings)
            }
        }
    )*};
}

changeable! {
    ImpulseSettings, Impulse;
    SoftStepSettings, SoftStep;
    XpbdSettings, Xpbd;
}
