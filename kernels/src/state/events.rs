//! Events of a step for the host, as records in a list. The order in which they are appended differs from run to run;
//! the host sorts them, and nothing on the device reads them.

use crate::detect::gate::counter;
use crate::gpu::glam::Vec3;
use crate::gpu::{Store, Write};
use crate::layout;

layout! {
    /// One event.
    pub struct EventRecord {
        /// One of [`event`].
        pub kind: u32,
        /// Slot of the body, joint or collider.
        pub index: u32,
        /// Number of steps made before, sub-steps included.
        pub step: u32,
        /// The collider that overlaps the sensor `index`, or the second collider of a contact.
        pub other: u32,
        /// Generations of both: see [`Overlap`](crate::detect::sensors_list::Overlap).
        pub generations: u32,
        /// For a joint the force, newtons, and the torque, newton metres; for a contact the impulse on the first
        /// collider, newton seconds.
        pub value: Vec3,
        /// Point of a contact, in world space.
        pub point: Vec3,
    }
}

/// Kinds of events.
pub mod event {
    /// A body's state was not finite, and the body was disabled.
    pub const QUARANTINED: u32 = 0;
    /// A joint broke.
    pub const BROKEN: u32 = 1;
    /// Something began to overlap a sensor.
    pub const SENSOR_BEGIN: u32 = 2;
    /// Something no longer overlaps a sensor.
    pub const SENSOR_END: u32 = 3;
    /// Two colliders began to push each other.
    pub const CONTACT_BEGIN: u32 = 4;
    /// Two colliders go on pushing each other.
    pub const CONTACT_PERSIST: u32 = 5;
    /// Two colliders no longer push each other.
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

/// Appends a record. Beyond the capacity `room` it is only counted.
#[inline(always)]
pub fn append(counters: &mut Write<'_, u32>, events: &mut Write<'_, EventRecord>, room: u32, record: EventRecord) {
    let place = counters.add(counter::EVENTS, 1);
    if place < room {
        events.put(place, record);
    }
}
