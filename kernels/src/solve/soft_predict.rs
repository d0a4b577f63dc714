//! Prediction of particles: where every particle would go on its own (Eq. 2), and the initial guess where the
//! iterations start. Reads velocities; writes `soft_targets` and `soft_deltas`.
//!
//! Few iterations hardly move a soft body as a whole, so forces on it take effect only in part. A body that nothing
//! holds therefore starts with all of gravity, and falls correctly. A body that is held starts without: gravity and the
//! forces that hold it then take effect to the same part, so it swings more slowly but hangs as far as it should. The
//! only case in between is a particle that falls freely although something holds its body: a share of gravity that
//! follows the motion more closely would add energy.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, fmax, fmin, sqrt};
use crate::state::rigid::Params;
use crate::state::soft::Particle;
use crate::{layout, stage};

stage! {
    "soft_predict" each 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 soft_velocities: Vec3,
        read 3 soft_previous: Vec3,
        read 4 soft_held: u32,
        write 5 soft_targets: Vec3,
        write 6 soft_deltas: Vec3,
    }
}

layout! {
    /// Push constants of `soft_predict`.
    pub struct Push {
        /// Number of particles.
        pub count: u32,
    }
}

/// Predicts one particle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let (params, particle) = (b.params.at(0), b.particles.at(item));
    let mut target = Vec3::ZERO;
    let mut guess = Vec3::ZERO;
    if particle.mass > 0.0 {
        let (dt, velocity) = (params.dt, b.soft_velocities.at(item));
        let way = velocity * dt;
        let pull = (params.gravity * particle.gravity_scale + particle.force * (1.0 / particle.mass)) * (dt * dt);
        let felt = (velocity - b.soft_previous.at(item)) * dt;
        let off = sqrt((felt - pull).length_squared() / fmax(pull.length_squared(), 1e-30));
        let free = fmax(0.0, fmin((params.held - off) / (params.held - params.falling), 1.0));
        target = way + pull;
        guess = way + pull * if b.soft_held.at(particle.owner) == 0 { 1.0 } else { free };
    }
    b.soft_targets.put(item, target);
    b.soft_deltas.put(item, guess);
}
