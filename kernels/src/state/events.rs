//! What happened in a step and the host wants to know, as records in a list. The order in which they are appended differs
//! from run to run; the host sorts them, and nothing on the device reads them.

use crate::detect::gate::counter;
use crate::gpu::glam::Vec3;
use crate::gpu::{Store, Write};
use crate::layout;

layout! {
    /// Something that happened.
    pub struct EventRecord {
        /// One of [`event`].
        pub kind: u32,
        /// The body, joint or collider.
        pub index: u32,
        /// Steps that had been made before, sub-steps included.
        pub step: u32,
        /// The collider that overlaps a sensor, which is `index`; or the second one of a contact.
        pub other: u32,
        /// Generations of both: see [`Overlap`](crate::detect::sensors_list::Overlap).
        pub generations: u32,
        /// Of a joint the force, newtons, and the torque, newton metres; of a contact the impulse on the first collider,
        /// newton seconds.
        pub value: Vec3,
        /// Where a contact pushed.
        pub point: Vec3,
    }
}

/// Kinds of events.
pub mod event {
    /// A body's state was not finite, and it was taken out.
    pub const QUARANTINED: u32 = 0;
    /// A joint broke.
    pub const BROKEN: u32 = 1;
    /// Something began to overlap a sensor.
    pub const SENSOR_BEGIN: u32 = 2;
    /// Something no longer overlaps a sensor.
    pub const SENSOR_END: u32 = 3;
    /// Two colliders began to push each other.
    pub const CONTACT_BEGIN: u32 = 4;
    /// They did in the step before, and still do.
    pub const CONTACT_PERSIST: u32 = 5;
    /// They no longer do.
    pub const CONTACT_END: u32 = 6;
    /// An attachment let go of its particle.
    pub const DETACHED: u32 = 7;
    /// A particle's state was not finite, and it stays where it was.
    pub const PARTICLE_HELD: u32 = 8;
}

impl EventRecord {
    /// One of `kind` about `index`.
    #[inline(always)]
    pub fn new(kind: u32, index: u32, step: u32) -> Self {
        Self { kind, index, step, other: 0, generations: 0, value: Vec3::ZERO, point: Vec3::ZERO }
    }
}

/// Appends a record. Beyond `room` it is only counted.
#[inline(always)]
pub fn append(counters: &mut Write<'_, u32>, events: &mut Write<'_, EventRecord>, room: u32, record: EventRecord) {
    let place = counters.add(counter::EVENTS, 1);
    if place < room {
        events.put(place, record);
    }
}
