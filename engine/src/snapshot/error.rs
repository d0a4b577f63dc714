//! Errors of snapshots and of rolling back.

use crate::world::WorldError;

/// Why a snapshot was refused. The world is unchanged then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes do not begin with the header of a snapshot.
    #[error("these bytes are no snapshot of drystone: give what `Snapshot::to_bytes` made, from its first byte on")]
    Foreign,
    /// It was written by another version of the format.
    #[error(
        "the snapshot has format {found}, this engine reads {known}; take it again with this version of the engine"
    )]
    Version {
        /// The format it has.
        found: u32,
        /// The format that is read.
        known: u32,
    },
    /// It is shorter or longer than its header says.
    #[error(
        "the snapshot has {found} bytes and was written with {written}: it was cut off or appended to; copy it again"
    )]
    Length {
        /// Bytes there are.
        found: u64,
        /// Bytes there were.
        written: u64,
    },
    /// Its bytes are not the ones that were written.
    #[error("the snapshot is damaged: its checksum is {found:016x} and was {written:016x}; copy it again")]
    Checksum {
        /// That of the bytes there are.
        found: u64,
        /// That of the bytes there were.
        written: u64,
    },
    /// A list ends before all of it was read.
    #[error("the snapshot ends within a value: {needed} bytes at byte {at}, where {left} are left; take it again")]
    Truncated {
        /// Bytes that the value has.
        needed: u64,
        /// Bytes there are.
        left: u64,
        /// Where it begins.
        at: u64,
    },
    /// A value in it is invalid. The engine does not write such snapshots, so its bytes were changed afterwards.
    #[error("the snapshot holds nonsense in {what}: {why}; take it again")]
    Content {
        /// Where.
        what: &'static str,
        /// What is wrong there.
        why: String,
    },
    /// A body or joint in it could not be added to any world.
    #[error("the snapshot holds nonsense in {what} {index}: {error}; take it again")]
    World {
        /// "body" or "joint".
        what: &'static str,
        /// Its slot.
        index: u32,
        /// What is wrong with it.
        error: WorldError,
    },
    /// A setting in it is unknown, missing or out of its range.
    #[error("the snapshot's settings: {0}; take it again with this version of the engine")]
    Settings(String),
    /// A buffer in it is not one of the engine's, or one of the user's is missing.
    #[error("the snapshot's buffer `{buffer}` {why}; make the world with the same `UserBuffer`s as the one it is of")]
    Buffer {
        /// The buffer.
        buffer: String,
        /// What is wrong with it.
        why: String,
    },
    /// What a device wrote for it is too short.
    #[error("a snapshot recorded on the device has {needed} bytes, and {given} were given; give all of them")]
    Device {
        /// Bytes it has.
        needed: u64,
        /// Bytes that were given.
        given: u64,
    },
    /// No memory is reserved for a snapshot that is to be recorded.
    #[error("no room for the snapshot: call `Stepper::reserve_snapshot` behind `Stepper::prepare` in the same frame")]
    NoRoom,
    /// The frame that a world is to be rolled back to is not kept.
    #[error("frame {frame} is not kept: there are {oldest} to {newest}; keep more frames, or go back to one of these")]
    NotKept {
        /// The frame.
        frame: u64,
        /// The oldest that is.
        oldest: u64,
        /// The newest that is; older than the oldest when there is none.
        newest: u64,
    },
}

impl SnapshotError {
    pub(crate) fn content(what: &'static str, why: impl Into<String>) -> Self {
        Self::Content { what, why: why.into() }
    }
}
