//! How the words that a step leaves behind are interpreted: its report, its events, and how long lists need to be.

use super::core::Core;
use super::report::{Contact, Event, EventKind, Overlap, StepReport};
use crate::backend::RunTimes;
use crate::log::{info, warning};
use crate::state::{Capacities, List};
use drystone_kernels::detect::gate::{bit, counter};
use drystone_kernels::state::events::{EventRecord, event};

/// The results that are read back after a step.
pub(crate) struct Results<'a> {
    pub frame: u64,
    /// Sub-steps that were run.
    pub runs: u32,
    /// Whether the device chose how many of the recorded sub-steps it made.
    pub adaptive: bool,
    pub counters: &'a [u32],
    pub overflow: u32,
    /// Number of events that the list of events can hold.
    pub event_room: u32,
    pub events: &'a [EventRecord],
    /// Whether the world was rolled back or restored after this step was recorded.
    pub undone: bool,
}

impl Core {
    /// Interprets the results of a step: makes its report with events, and notes the capacities that lists need.
    pub fn digest(&mut self, results: &Results<'_>, times: Vec<RunTimes>) -> StepReport {
        let count = |slot: u32| results.counters.get(slot as usize).copied().unwrap_or(0);
        let since = count(counter::STEPS).wrapping_sub(self.made as u32);
        // In adaptive frames only the sub-steps that the device chose count.
        let runs = if results.adaptive { count(counter::SUBSTEPS).min(results.runs) } else { results.runs };
        let made = since.min(runs);
        let first = self.made;
        // More than the recorded sub-steps when the host submitted the recording several times. A difference of 2^31
        // or more cannot be a number of steps.
        let all = if since < 1 << 31 { since } else { made };
        // A frame that was rolled back does not count, nor do its events.
        let made = if results.undone { runs } else { made };
        if !results.undone {
            self.made += u64::from(all);
            self.started = self.made > 0;
            self.history.was_made(results.frame, self.made);
        }
        let happened = count(counter::EVENTS);
        let mut report = StepReport {
            frame: results.frame,
            pairs: count(counter::PAIRS),
            manifolds: count(counter::MANIFOLDS),
            fallback_bodies: count(counter::FALLBACK),
            dropped: runs - made,
            substeps: made,
            substeps_wanted: if results.adaptive { count(counter::WANTED) } else { runs },
            short_frames: if results.adaptive { count(counter::SHORT) } else { 0 },
            undone: results.undone,
            events_lost: happened.saturating_sub(results.event_room),
            times,
            ..StepReport::default()
        };
        self.counted = (report.pairs, report.manifolds);
        if self.options.expects && results.overflow == 0 && !results.undone {
            self.swept.learn(results.counters);
        }
        let notes = if results.undone { Vec::new() } else { std::mem::take(&mut self.notes) };
        report.events.extend(notes.into_iter().map(|kind| Event { step: first, kind }));
        if self.options.ahead {
            for (list, count) in [(List::Pairs, report.pairs), (List::Manifolds, report.manifolds)] {
                // Grows when seven eighths full, by a quarter: enough for the frames until the growth takes effect,
                // even in a collapse.
                if u64::from(count) * 8 > u64::from(self.plan.capacities.of(list)) * 7 {
                    let more = count.saturating_add(count / 4);
                    // Growing ahead is only a precaution, so it stays within the limit instead of failing.
                    let most =
                        if list == List::Pairs { self.options.limits.pairs.unwrap_or(u32::MAX) } else { u32::MAX };
                    let more = more.min(most.max(count));
                    *self.wanted.of_mut(list) = self.wanted.of(list).max(more);
                }
            }
        }
        if report.events_lost > 0 {
            warning!(frame = results.frame, lost = report.events_lost, "more events than there is room for");
        }
        if results.overflow != 0 {
            warning!(
                frame = results.frame,
                dropped = report.dropped,
                pairs = report.pairs,
                manifolds = report.manifolds,
                "lists are too short for the step"
            );
            let lists = [(bit::PAIRS, List::Pairs, report.pairs), (bit::MANIFOLDS, List::Manifolds, report.manifolds)];
            let mut needed = Capacities::default();
            for (bit, list, count) in lists {
                if results.overflow & (1 << bit) != 0 {
                    *needed.of_mut(list) = count;
                }
            }
            needed.soft_pairs = results.overflow >> bit::SOFT_PAIRS;
            if needed.pairs > 0 {
                // Manifolds were counted only among the pairs that fitted. Where a step cannot be repeated, both lists
                // become equally long, so that they grow in one go. Elsewhere the count is scaled up in proportion,
                // which takes less memory, and at worst another repetition.
                let fitted = f64::from(self.plan.capacities.pairs.max(1));
                let expected = f64::from(report.manifolds) * (f64::from(needed.pairs) / fitted).max(1.0);
                if self.options.ahead && self.options.limits.memory.is_none() {
                    needed.manifolds = needed.pairs;
                    self.wanted.manifolds = self.wanted.manifolds.max(self.wanted.pairs);
                } else {
                    needed.manifolds = needed.manifolds.max(expected.min(f64::from(needed.pairs)) as u32);
                }
            }
            self.wanted = self.wanted.at_least(&needed);
            report.needed = Some(needed);
        }
        if results.undone {
            return report;
        }
        if report.fallback_bodies > 0 && !self.fell_back {
            self.fell_back = true;
            self.history.change(results.frame, |host| host.fell_back = true);
            info!(bodies = report.fallback_bodies, "bodies found no colour and are solved in turn");
            let kind = EventKind::Fallback { bodies: report.fallback_bodies };
            report.events.push(Event { step: self.made.saturating_sub(1), kind });
        }
        let mut told: Vec<_> = results.events.iter().take(happened as usize).collect();
        // Lanes appended the events in no fixed order; sorting makes the order reproducible.
        told.sort_by_key(|e| (e.step, e.kind, e.index, e.other));
        for record in told {
            // The device counts steps with 32 bits.
            let step = first + u64::from(record.step.wrapping_sub(first as u32));
            if let Some(kind) = self.event(results.frame, record) {
                report.events.push(Event { step, kind });
            }
        }
        report
    }

    fn event(&mut self, frame: u64, record: &EventRecord) -> Option<EventKind> {
        let EventRecord { index, other, generations, .. } = *record;
        if record.kind == event::BROKEN {
            let joint = self.world.joint_store().handle(index)?;
            self.world.joint_broke(index);
            self.history.change(frame, |host| host.world.joint_broke(index));
            return Some(EventKind::Broken { joint, force: record.value.x, torque: record.value.y });
        }
        if record.kind == event::DETACHED {
            let attachment = self.world.soft_store_mut().let_go(index)?;
            self.history.change(frame, |host| {
                host.world.soft_store_mut().let_go(index);
            });
            return Some(EventKind::Detached { attachment, force: record.value.x });
        }
        if record.kind == event::PARTICLE_HELD {
            let (soft, particle) = self.world.soft_store().owner(index)?;
            return Some(EventKind::ParticleHeld { soft, particle });
        }
        if record.kind != event::QUARANTINED {
            let (a, collider_a) = self.world.collider_owner(index, generations & 0xffff)?;
            let (b, collider_b) = self.world.collider_owner(other, generations >> 16)?;
            let overlap = Overlap { sensor: a, sensor_collider: collider_a, body: b, collider: collider_b };
            let contact = Contact { a, collider_a, b, collider_b, impulse: record.value, point: record.point };
            return match record.kind {
                event::SENSOR_BEGIN => Some(EventKind::SensorBegin(overlap)),
                event::SENSOR_END => Some(EventKind::SensorEnd(overlap)),
                event::CONTACT_BEGIN => Some(EventKind::ContactBegin(contact)),
                event::CONTACT_PERSIST => Some(EventKind::ContactPersist(contact)),
                event::CONTACT_END => Some(EventKind::ContactEnd(contact)),
                _ => None,
            };
        }
        let body = self.world.handle(index)?;
        if self.quarantined.contains(&body) {
            return None;
        }
        warning!(frame, body = body.index, "a body's state is not finite: it takes no further part");
        self.quarantined.push(body);
        self.history.change(frame, |host| host.quarantined.push(body));
        Some(EventKind::Quarantined { body })
    }
}
