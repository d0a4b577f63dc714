//! Reports contacts of the last step that no longer have a manifold, because their colliders are too far apart.
//! Contacts of removed colliders are not reported. Writes `events`.

use crate::detect::gate::counter;
use crate::gpu::{Load, least};
use crate::state::events::{EventRecord, append, event};
use crate::state::rigid::{CachedPair, Collider};
use crate::state::touching::{Touching, event_of, generations, tells};
use crate::{layout, stage};

stage! {
    "touching_ended" each 64 {
        read 0 cached_pairs: CachedPair,
        read 1 colliders: Collider,
        read 2 last_touching: Touching,
        read 3 met_again: u32,
        update 4 counters: u32,
        write 5 events: EventRecord,
    }
}

layout! {
    /// Push constants of `touching_ended`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
        /// Capacity of the list of events.
        pub events: u32,
    }
}

/// Looks at one manifold of the last step.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= least(push.limit, b.counters.now(counter::MADE_BEFORE)) {
        return;
    }
    let last = b.last_touching.at(item);
    if last.touches == 0 || b.met_again.at(item) != 0 {
        return;
    }
    let pair = b.cached_pairs.at(item);
    let (one, two) = (b.colliders.at(pair.collider_a), b.colliders.at(pair.collider_b));
    let kind = event::CONTACT_END;
    if last.generations == generations(&one, &two) && tells(&one, &two, kind) {
        let step = b.counters.now(counter::STEPS).wrapping_sub(1);
        let record = event_of(kind, step, (pair.collider_a, pair.collider_b), last.generations);
        append(&mut b.counters, &mut b.events, push.events, record);
    }
}
