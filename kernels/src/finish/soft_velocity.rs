//! Writes velocities and final positions of particles from how far each moved (Algorithm 1, line 37). Velocities come
//! from where forces sent it (`soft_ends`), which is farther where planes between soft surfaces held it back: what was
//! cut off there had no force that another one felt, so it would be lost. A particle whose state is no longer finite
//! goes back to where it was, at rest.

use crate::detect::gate::counter;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, finite};
use crate::state::events::{EventRecord, append, event};
use crate::state::rigid::Params;
use crate::state::soft::Particle;
use crate::{layout, stage};

stage! {
    "soft_velocity" each 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 soft_deltas: Vec3,
        update 3 soft_positions: Vec3,
        update 4 soft_velocities: Vec3,
        write 5 soft_previous: Vec3,
        update 6 counters: u32,
        write 7 events: EventRecord,
        read 8 soft_ends: Vec3,
        read 9 soft_limits: u32,
    }
}

layout! {
    /// Push constants of `soft_velocity`.
    pub struct Push {
        /// Number of particles.
        pub count: u32,
        /// Capacity of the list of events.
        pub events: u32,
        /// Not 0: soft surfaces meet each other, so there may be limits.
        pub meets: u32,
    }
}

/// Finishes one particle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count || b.particles.at(item).mass <= 0.0 {
        return;
    }
    let delta = b.soft_deltas.at(item);
    let p = b.soft_positions.at(item) + delta;
    let mut way = b.soft_ends.at(item);
    // Contacts that there was no room for push nothing: what goes on against them would get faster and faster.
    if (push.meets != 0) && f32::from_bits(b.soft_limits.at(item)) < f32::MAX {
        way = delta;
    }
    let v = way * (1.0 / b.params.at(0).dt);
    let sound = finite(p.x) & finite(p.y) & finite(p.z) & finite(v.x) & finite(v.y) & finite(v.z);
    b.soft_previous.put(item, if sound { b.soft_velocities.at(item) } else { Vec3::ZERO });
    if sound {
        b.soft_positions.put(item, p);
        b.soft_velocities.put(item, v);
    } else {
        b.soft_velocities.put(item, Vec3::ZERO);
        let step = b.counters.at(counter::STEPS).wrapping_sub(1);
        append(&mut b.counters, &mut b.events, push.events, EventRecord::new(event::PARTICLE_HELD, item, step));
    }
}
