//! Measures for every body how hard its joints pulled in the last step, and how much of that pull accelerated the body:
//! the component along the pull of m (a - g) less the user's force. `load_share` sums both up over assemblies. Reads
//! last step's joint forces and velocities; writes `carried_loads`, and sets all `load_shares` to 1.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, abs, fmax, sqrt};
use crate::math::Twist;
use crate::solve::joints::JointForce;
use crate::state::rigid::{Body, Entry, Params, contact_row, gravity, joint_row};
use crate::{layout, stage};

stage! {
    "carried_load" each 256 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 velocities: Twist,
        read 3 previous: Vec3,
        read 4 forces: Twist,
        read 5 rows: u32,
        read 6 entries: Entry,
        read 7 joint_forces: JointForce,
        write 8 carried_loads: CarriedLoad,
        write 9 load_shares: f32,
    }
}

layout! {
    /// Push constants of `carried_load`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }

    /// How much of its joints' pull a body showed as acceleration.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct CarriedLoad {
        /// Magnitude of the sum of its joints' forces, newtons.
        pub pull: f32,
        /// Component along that pull of the force that accelerated the body, newtons.
        pub along: f32,
    }
}

/// Measures one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let mut felt = CarriedLoad { pull: 0.0, along: 0.0 };
    let (body, touching) = (b.bodies.at(item), contact_row(&b.rows, item, u32::MAX));
    let links = joint_row(&b.rows, item, b.entries.len());
    // A body with contacts is left out, because their forces are not known here.
    if body.is_dynamic() && touching.start == touching.end {
        let mut pull = Vec3::ZERO;
        let mut e = links.start;
        while e < links.end {
            let entry = b.entries.at(e);
            let force = b.joint_forces.at(entry.joint()).force;
            pull += if entry.is_a() { force } else { -force };
            e += 1;
        }
        let params = b.params.at(0);
        let gained = (b.velocities.at(item).linear - b.previous.at(item)) * (1.0 / params.dt);
        let force =
            (gained - gravity(&b.params, body.world()) * body.gravity_scale) * body.mass - b.forces.at(item).linear;
        // Scaled by the largest component, because the square of a planet's weight overflows a float.
        let most = fmax(fmax(abs(pull.x), abs(pull.y)), abs(pull.z));
        if most > 0.0 {
            let unit = pull * (1.0 / most);
            let size = sqrt(unit.length_squared());
            felt = CarriedLoad { pull: most * size, along: unit.dot(force) / size };
        }
    }
    b.carried_loads.put(item, felt);
    b.load_shares.put(item, 1.0);
}
