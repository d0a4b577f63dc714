//! Mass of every soft body, and the force that it lacks: what its inertia asks for at where the iterations have left it.
//! Forces of its elements add up to nothing. For `soft_momentum`.

use crate::gpu::glam::Vec3;
use crate::gpu::{Group, Load, Store, least};
use crate::solve::system::{System, Systems};
use crate::state::soft::{Particle, SoftRange};
use crate::{layout, stage};

stage! {
    "soft_sums" group 64 {
        read 0 particles: Particle,
        read 1 soft_bodies: SoftRange,
        read 2 soft_targets: Vec3,
        read 3 soft_deltas: Vec3,
        write 4 soft_lacks: SoftLack,
    }
}

layout! {
    /// Push constants of `soft_sums`.
    pub struct Push {
        /// Number of soft bodies.
        pub count: u32,
    }

    /// What a soft body lacks, or how far an island goes.
    pub struct SoftLack {
        /// Mass times the way to where inertia would have it, kilogram metres; or the way, metres.
        pub way: Vec3,
        /// Kilograms.
        pub mass: f32,
    }
}

/// Soft bodies of a workgroup; its subgroups take them in turn.
pub const BODIES: u32 = 4;

/// Adds up this workgroup's soft bodies.
#[inline(always)]
pub fn run(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    // All lanes of a subgroup make the same rounds, because the sums need all lanes.
    let mut turn = group.subgroup;
    while turn < BODIES {
        let body = group.index.wrapping_mul(BODIES).wrapping_add(turn);
        let (mut first, mut end) = (0, 0);
        if body < push.count {
            let range = b.soft_bodies.at(body);
            (first, end) = (range.first, least(range.first.wrapping_add(range.count), b.particles.len()));
        }
        let mut sum = System::none();
        let mut i = first.wrapping_add(group.slot);
        while group.any(i < end) {
            if i < end {
                let mass = b.particles.at(i).mass;
                sum.ll.x += mass;
                sum.force += (b.soft_targets.at(i) - b.soft_deltas.at(i)) * mass;
            }
            i = i.wrapping_add(group.width());
        }
        let sum = Systems::<f32>::gather(&sum).over_lanes(group, group.width());
        if (body < push.count) & (group.slot == 0) {
            b.soft_lacks.put(body, SoftLack { way: Vec3::new(sum.force.x, sum.force.y, sum.force.z), mass: sum.ll.x });
        }
        turn += group.subgroups;
    }
}
