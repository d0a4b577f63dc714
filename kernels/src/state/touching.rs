//! Contacts with events: what is kept of them from step to step, and which colliders ask for events.

use crate::layout;
use crate::state::events::{EventRecord, event};
use crate::state::material::traits::{GENERATION, TELL_BEGIN, TELL_END, TELL_PERSIST};
use crate::state::rigid::Collider;

layout! {
    /// A contact of the last step that was made, by manifold.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Touching {
        /// Which of the colliders that had their slots they are: the first in the lower half.
        pub generations: u32,
        /// 1 when it pushed, as hard as whoever asked wants to hear of.
        pub touches: u32,
    }
}

/// Whether a collider asks for any event of its contacts.
#[inline(always)]
pub fn asks(collider: &Collider) -> bool {
    collider.traits & (TELL_BEGIN | TELL_PERSIST | TELL_END) != 0
}

/// Whether any event of the contact of two colliders is asked for by either.
#[inline(always)]
pub fn is_told(a: &Collider, b: &Collider) -> bool {
    asks(a) || asks(b)
}

/// Whether an event of this kind is.
#[inline(always)]
pub fn tells(a: &Collider, b: &Collider, kind: u32) -> bool {
    let bit = if kind == event::CONTACT_BEGIN {
        TELL_BEGIN
    } else if kind == event::CONTACT_PERSIST {
        TELL_PERSIST
    } else {
        TELL_END
    };
    (a.traits | b.traits) & bit != 0
}

/// See [`Touching::generations`].
#[inline(always)]
pub fn generations(a: &Collider, b: &Collider) -> u32 {
    (a.traits >> GENERATION) | ((b.traits >> GENERATION) << 16)
}

/// An event of two colliders.
#[inline(always)]
pub fn event_of(kind: u32, step: u32, colliders: (u32, u32), generations: u32) -> EventRecord {
    let mut record = EventRecord::new(kind, colliders.0, step);
    record.other = colliders.1;
    record.generations = generations;
    record
}
