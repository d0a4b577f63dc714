//! Which world a handle is of. The upper bits of a handle's generation tell it, those below how often the slot was used: a
//! handle that strayed into another world of the process is an error there, and not some other body.

use super::{BodyHandle, JointHandle};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bits of a generation that count how often a slot was used.
const USES: u32 = (1 << 20) - 1;

/// Worlds of a process, by turns: the 4096th has the number of the first again.
const WORLDS: u32 = 4095;

/// The number of a world, in the upper bits of generations. Copies of a world have the same, since handles are those of
/// all of them; one that was read from bytes has 0 and takes handles of any, since it may be from another process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorldNumber(u32);

impl WorldNumber {
    /// Of a new world.
    pub fn next() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self((NEXT.fetch_add(1, Relaxed) % WORLDS + 1) * (USES + 1))
    }

    /// The generation of a handle to a slot that was used so often.
    pub fn generation(self, uses: u32) -> u32 {
        self.0 | uses & USES
    }

    /// Whether a handle of this generation may be of this world.
    pub fn knows(self, generation: u32) -> bool {
        let of = generation & !USES;
        of == 0 || self.0 == 0 || of == self.0
    }
}

/// How often the slot of a handle was used when the handle was made: what is written and told.
pub(crate) fn uses(generation: u32) -> u32 {
    generation & USES
}

/// The next use of a slot.
pub(crate) fn next_use(uses: u32) -> u32 {
    uses.wrapping_add(1) & USES
}

/// Handles are compared by slot and use, and not by world: one is the same before and after its world went through bytes.
macro_rules! compared {
    ($handle:ident) => {
        impl $handle {
            fn place(&self) -> (u32, u32) {
                (self.index, uses(self.generation))
            }
        }

        impl PartialEq for $handle {
            fn eq(&self, other: &Self) -> bool {
                self.place() == other.place()
            }
        }

        impl Eq for $handle {}

        impl Hash for $handle {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.place().hash(state);
            }
        }

        impl PartialOrd for $handle {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $handle {
            fn cmp(&self, other: &Self) -> Ordering {
                self.place().cmp(&other.place())
            }
        }
    };
}

compared!(BodyHandle);
compared!(JointHandle);
