//! What happened in a step and the host wants to know, as records in a list. The order in which they are appended differs
//! from run to run; the host sorts them, and nothing on the device reads them.

use crate::detect::gate::counter;
use crate::gpu::{Store, Write};
use crate::layout;

layout! {
    /// Something that happened.
    pub struct EventRecord {
        /// One of [`event`].
        pub kind: u32,
        /// The body or joint.
        pub index: u32,
        /// Steps that had been made before, sub-steps included.
        pub step: u32,
        /// The force, newtons.
        pub force: f32,
        /// The torque, newton metres.
        pub torque: f32,
        /// The collider that overlaps a sensor; the sensor is `index`.
        pub other: u32,
        /// Generations of both: see [`Overlap`](crate::detect::sensors_list::Overlap).
        pub generations: u32,
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
}

/// Appends a record. Beyond `room` it is only counted.
#[inline(always)]
pub fn append(counters: &mut Write<'_, u32>, events: &mut Write<'_, EventRecord>, room: u32, record: EventRecord) {
    let place = counters.add(counter::EVENTS, 1);
    if place < room {
        events.put(place, record);
    }
}
