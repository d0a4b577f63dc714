//! Reports which overlaps with sensors began and ended: those in this step's list and not in the last one, and the
//! reverse. Each lane searches the other list from one end to the other; for some thousand overlaps that is cheaper
//! than sorting both. Writes `events`.

use crate::detect::gate::counter;
use crate::detect::sensors_list::Overlap;
use crate::gpu::{Load, Read, least};
use crate::state::events::{EventRecord, append, event};
use crate::{layout, stage};

stage! {
    "sensors_tell" each 64 {
        read 0 overlaps: Overlap,
        read 1 last_overlaps: Overlap,
        update 2 counters: u32,
        write 3 events: EventRecord,
    }
}

layout! {
    /// Push constants of `sensors_tell`.
    pub struct Push {
        /// Capacity of the list of overlaps.
        pub limit: u32,
        /// Capacity of the list of events.
        pub events: u32,
    }
}

/// Whether `which` is among the first `count` of a list.
#[inline(always)]
fn has(list: &Read<'_, Overlap>, count: u32, which: &Overlap) -> bool {
    let mut found = false;
    let mut i = 0;
    while (i < count) & !found {
        let one = list.at(i);
        let same = (one.sensor == which.sensor) & (one.other == which.other);
        found = same & (one.generations == which.generations);
        i += 1;
    }
    found
}

/// Looks at one place of both lists.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let room = least(push.limit, least(b.overlaps.len(), b.last_overlaps.len()));
    let now = least(b.counters.now(counter::SENSED), room);
    let before = least(b.counters.now(counter::SENSED_LAST), room);
    let step = b.counters.now(counter::STEPS).wrapping_sub(1);
    if item < now {
        let overlap = b.overlaps.at(item);
        if !has(&b.last_overlaps, before, &overlap) {
            append(&mut b.counters, &mut b.events, push.events, told(event::SENSOR_BEGIN, &overlap, step));
        }
    }
    if item < before {
        let overlap = b.last_overlaps.at(item);
        if !has(&b.overlaps, now, &overlap) {
            append(&mut b.counters, &mut b.events, push.events, told(event::SENSOR_END, &overlap, step));
        }
    }
}

#[inline(always)]
fn told(kind: u32, overlap: &Overlap, step: u32) -> EventRecord {
    let mut record = EventRecord::new(kind, overlap.sensor, step);
    record.other = overlap.other;
    record.generations = overlap.generations;
    record
}
