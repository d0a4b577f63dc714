//! Handles know their world: the upper bits of a handle's generation hold the number of the world, the lower bits how
//! often the slot was used. A handle used with another world of the process is therefore an error, and not some other
//! body.

use super::{AttachmentHandle, BodyHandle, JointHandle, SoftHandle};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bits of a generation that count how often a slot was used.
const USES: u32 = (1 << 20) - 1;

/// Number of different world numbers in a process; the 4096th world gets the number of the first again.
const WORLDS: u32 = 4095;

/// The number of a world, in the upper bits of generations. Copies of a world have the same number, since they share
/// handles. A world read from bytes has number 0 and accepts handles of any world, since it may come from another
/// process.
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

/// How often the slot of a handle had been used when the handle was made: the part of a generation that is saved and
/// shown.
pub(crate) fn uses(generation: u32) -> u32 {
    generation & USES
}

/// The next use of a slot.
pub(crate) fn next_use(uses: u32) -> u32 {
    uses.wrapping_add(1) & USES
}

/// Compares handles by slot and use, not by world, so that a handle equals itself after its world was saved and
/// loaded.
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
compared!(SoftHandle);
compared!(AttachmentHandle);
