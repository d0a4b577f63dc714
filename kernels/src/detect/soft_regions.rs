//! Where every particle may go in this step, relative to where it is: see [`region`]. Reads velocities; writes
//! `soft_regions`.

use crate::detect::soft_near::region;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store};
use crate::layout::Aabb;
use crate::state::rigid::Params;
use crate::state::soft::Particle;
use crate::{layout, stage};

stage! {
    "soft_regions" each 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 soft_velocities: Vec3,
        write 3 soft_regions: Aabb,
    }
}

layout! {
    /// Push constants of `soft_regions`.
    pub struct Push {
        /// Number of particles.
        pub count: u32,
    }
}

/// Writes that of one particle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let (params, particle) = (b.params.at(0), b.particles.at(item));
    let mut found = Aabb { min: Vec3::ZERO, max: Vec3::ZERO };
    if particle.mass > 0.0 {
        let pull = params.gravity * particle.gravity_scale + particle.force * (1.0 / particle.mass);
        found = region(&particle, (b.soft_velocities.at(item) + pull * params.dt) * params.dt);
    }
    b.soft_regions.put(item, found);
}
