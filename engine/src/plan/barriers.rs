//! Barriers, derived from what every command reads and writes.
//!
//! Two commands *conflict* when they touch the same bytes and at least one of them writes. A barrier is put before a
//! command that conflicts with an earlier one and is not yet ordered after it. The barrier names the kinds of use on
//! both sides, and orders everything before it of those kinds at once. A command that conflicts with nothing gets no
//! barrier, and commands between two barriers may overlap on the device.
//!
//! A recording is usually run repeatedly, so its end can conflict with its beginning. Conflicts between one run and
//! the next that the barriers within a run do not order are ordered by a barrier before the first command.

use super::recording::{Recording, Use, UseKind};
use drystone_kernels::gpu::BufferId;
use std::collections::BTreeSet;
use std::ops::Range;

/// An execution barrier, and a memory barrier too when a write has to become visible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Barrier {
    /// Kinds of use that are waited for.
    pub before: BTreeSet<UseKind>,
    /// Kinds of use that wait.
    pub after: BTreeSet<UseKind>,
    /// Whether writes are made visible. Without it (a write after reads) waiting is enough.
    pub memory: bool,
    /// The buffers that made it necessary.
    pub buffers: BTreeSet<BufferId>,
}

/// A command of the recording, or a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Index of a command.
    Command(usize),
    /// A barrier.
    Barrier(Barrier),
}

/// A recording's commands with the barriers between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schedule {
    /// In the order of execution.
    pub steps: Vec<Step>,
}

impl Schedule {
    /// The barriers, in order.
    pub fn barriers(&self) -> impl Iterator<Item = &Barrier> {
        self.steps.iter().filter_map(|s| if let Step::Barrier(barrier) = s { Some(barrier) } else { None })
    }

    /// The same schedule with barrier number `index` taken out. Wrong on purpose: tests use it to prove that
    /// validation would see a missing barrier.
    pub fn without_barrier(&self, index: usize) -> Self {
        let mut seen = 0;
        let mut steps = self.steps.clone();
        steps.retain(|s| {
            let is = matches!(s, Step::Barrier(_));
            seen += usize::from(is);
            !(is && seen == index + 1)
        });
        Self { steps }
    }
}

/// An earlier use, and the kinds of use that are already ordered after it.
struct Past {
    range: Range<u64>,
    kind: UseKind,
    writes: bool,
    ordered: BTreeSet<UseKind>,
}

#[derive(Default)]
struct Tracker {
    past: Vec<Vec<Past>>,
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Tracker {
    /// The barrier that `uses` need, if any.
    fn barrier(&self, uses: &[Use]) -> Option<Barrier> {
        let mut barrier = Barrier::default();
        for u in uses {
            for past in &self.past[u.block.0 as usize] {
                let conflict = (past.writes || u.access.writes()) && overlap(&past.range, &u.range);
                if conflict && !past.ordered.contains(&u.kind) {
                    barrier.before.insert(past.kind);
                    barrier.after.insert(u.kind);
                    barrier.memory |= past.writes;
                    barrier.buffers.insert(u.buffer);
                }
            }
        }
        (!barrier.before.is_empty()).then_some(barrier)
    }

    /// Notes that a barrier orders every earlier use of its `before` kinds before every later use of its `after`
    /// kinds, whichever buffer it was made for.
    fn apply(&mut self, barrier: &Barrier) {
        for past in self.past.iter_mut().flatten() {
            if barrier.before.contains(&past.kind) && (barrier.memory || !past.writes) {
                past.ordered.extend(&barrier.after);
            }
        }
    }

    /// Remembers the uses of a command. Uses that it overwrites are forgotten: later commands conflict with this
    /// command, which is itself ordered after them.
    fn remember(&mut self, uses: &[Use]) {
        for u in uses {
            let past = &mut self.past[u.block.0 as usize];
            let writes = u.access.writes();
            if writes {
                past.retain(|p| !(u.range.start <= p.range.start && p.range.end <= u.range.end));
            }
            let known = past
                .iter()
                .any(|p| p.kind == u.kind && p.writes == writes && p.range == u.range && p.ordered.is_empty());
            if !known {
                past.push(Past { range: u.range.clone(), kind: u.kind, writes, ordered: BTreeSet::new() });
            }
        }
    }
}

/// Derives the barriers for running `recording` repeatedly.
pub fn schedule(recording: &Recording) -> Schedule {
    let mut tracker = Tracker::default();
    tracker.past.resize_with(recording.blocks().len(), Vec::new);
    let uses: Vec<Vec<Use>> = recording.commands().iter().map(|c| recording.uses(c)).collect();
    let mut within = Vec::with_capacity(uses.len());
    for uses in &uses {
        let barrier = tracker.barrier(uses);
        if let Some(barrier) = &barrier {
            tracker.apply(barrier);
        }
        tracker.remember(uses);
        within.push(barrier);
    }
    // The same run once more, to see what its own barriers do not order after the run before.
    let mut opening = Barrier::default();
    for (uses, barrier) in uses.iter().zip(&within) {
        if let Some(barrier) = barrier {
            tracker.apply(barrier);
        }
        if let Some(missing) = tracker.barrier(uses) {
            opening.before.extend(missing.before);
            opening.after.extend(missing.after);
            opening.buffers.extend(missing.buffers);
            opening.memory |= missing.memory;
        }
        tracker.remember(uses);
    }
    let mut steps = Vec::new();
    if !opening.before.is_empty() {
        steps.push(Step::Barrier(opening));
    }
    for (index, barrier) in within.into_iter().enumerate() {
        steps.extend(barrier.map(Step::Barrier));
        steps.push(Step::Command(index));
    }
    Schedule { steps }
}
