//! How many colours of a sweep, and rounds of colouring, get a dispatch of their own: as many as the last frames
//! needed. What a step needs beyond that is done within one workgroup, with the same result (`primal`, `colour_rest`),
//! so a guess costs time at most.

use crate::plan::step::StepOptions;
use drystone_kernels::detect::gate::counter;

/// Frames after which fewer are taken, if none of them needed more.
const PATIENCE: u32 = 30;
/// How many more than were needed when more are needed: what grows goes on growing for a while.
const MARGIN: u32 = 1;
/// Colours at least: contacts begin at once, and the first colours have most of the bodies.
const LEAST_COLOURS: u32 = 4;

/// A number that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Expected {
    now: u32,
    /// Most that was needed, and in how many frames nothing more than what is expected was.
    most: u32,
    frames: u32,
}

impl Expected {
    /// Nothing is known: everything gets a dispatch.
    const ALL: Self = Self { now: u32::MAX, most: 0, frames: 0 };

    fn learn(&mut self, needed: u32) {
        self.most = self.most.max(needed);
        self.frames += 1;
        if needed > self.now {
            *self = Self { now: needed.saturating_add(MARGIN), most: needed, frames: 0 };
        } else if self.frames >= PATIENCE {
            *self = Self { now: self.most, most: 0, frames: 0 };
        }
    }
}

/// What is expected of the next steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Swept {
    colours: Expected,
    rounds: Expected,
}

impl Swept {
    pub const ALL: Self = Self { colours: Expected::ALL, rounds: Expected::ALL };

    /// Takes in what a step left behind.
    pub fn learn(&mut self, counters: &[u32]) {
        let count = |slot: u32| counters.get(slot as usize).copied().unwrap_or(0);
        self.colours.learn(count(counter::COLOURS).max(LEAST_COLOURS));
        // One more sees that nothing has changed.
        self.rounds.learn(count(counter::ROUNDS).saturating_add(1));
    }

    /// Options with as many dispatches.
    pub fn of(&self, options: StepOptions) -> StepOptions {
        StepOptions {
            swept_colours: self.colours.now.min(options.colours),
            swept_rounds: self.rounds.now.min(options.colour_rounds | 1),
            ..options
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(expected: &mut Expected, needs: impl IntoIterator<Item = u32>) -> u32 {
        needs.into_iter().for_each(|needed| expected.learn(needed));
        expected.now
    }

    #[test]
    fn more_are_taken_at_once_and_fewer_after_a_while() {
        let mut expected = Expected::ALL;
        assert_eq!(learned(&mut expected, [3; PATIENCE as usize - 1]), u32::MAX);
        assert_eq!(learned(&mut expected, [5]), 5);
        assert_eq!(learned(&mut expected, [7]), 8);
        // One frame in which seven were needed keeps them.
        let one_in_ten = (0..PATIENCE).map(|i| if i % 10 == 0 { 7 } else { 2 });
        assert_eq!(learned(&mut expected, one_in_ten), 7);
        assert_eq!(learned(&mut expected, [2; PATIENCE as usize]), 2);
    }

    #[test]
    fn there_are_never_more_than_there_can_be() {
        let options = StepOptions::default();
        let all = Swept::ALL.of(options);
        assert_eq!((all.swept_colours, all.swept_rounds), (options.colours, options.colour_rounds | 1));
        let mut swept = Swept::ALL;
        (0..PATIENCE).for_each(|_| swept.learn(&[]));
        let least = swept.of(options);
        assert_eq!((least.swept_colours, least.swept_rounds), (LEAST_COLOURS.min(options.colours), 1));
    }
}
