//! The engine's errors. Each message names what is wrong and what to do about it. Faults that a caller can cause are
//! errors, never panics.

use crate::plan::PlanError;
use drystone_kernels::manifest;

/// Result with the engine's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn at_least(pairs: u32) -> String {
    if pairs == u32::MAX { "more".to_owned() } else { pairs.to_string() }
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A recording is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The compiled kernels are damaged or do not belong to the sources.
    #[error(transparent)]
    Kernels(#[from] manifest::Error),
    /// A buffer handle does not belong to the recording.
    #[error("recording `{recording}` has no buffer {buffer}: the handle belongs to another recording")]
    UnknownBuffer {
        /// The recording.
        recording: String,
        /// The handle.
        buffer: u32,
    },
    /// A part that is not attached to this runner: never, or no longer.
    #[error("the runner of `{recording}` has no part {part}: it was attached to another one")]
    UnknownPart {
        /// The runner's recording.
        recording: String,
        /// The part.
        part: u32,
    },
    /// A part cannot be detached while another part uses its buffers.
    #[error("part {part} of `{recording}` cannot be detached: part {user} uses its buffers; detach that one first")]
    PartInUse {
        /// The runner's recording.
        recording: String,
        /// The part.
        part: u32,
        /// The part that uses its buffers.
        user: u32,
    },
    /// A read or write goes beyond the end of a buffer.
    #[error("{size} bytes at offset {offset} do not fit into buffer `{buffer}` of {capacity} bytes")]
    OutOfBounds {
        /// The buffer.
        buffer: String,
        /// First byte.
        offset: u64,
        /// Bytes.
        size: u64,
        /// Bytes of the buffer.
        capacity: u64,
    },
    /// The host has no memory for a buffer.
    #[error("no memory for buffer `{buffer}` of {size} bytes on the CPU backend; use a smaller world")]
    OutOfHostMemory {
        /// The buffer.
        buffer: String,
        /// Bytes.
        size: u64,
    },
    /// The world needs more memory than [`Limits::memory`](crate::state::Limits::memory) allows.
    #[error(
        "the world needs {needed} bytes, but the simulation was limited to {limit}; remove bodies, or raise the limit"
    )]
    MemoryLimit {
        /// Bytes it needs.
        needed: u64,
        /// Bytes it may have.
        limit: u64,
    },
    /// More pairs of colliders overlap than [`Limits::pairs`](crate::state::Limits::pairs) allows.
    #[error(
        "{} pairs of colliders overlap, but the simulation was limited to {limit}; bodies lie in one place, or are so fast \
         that their ways overlap: move them apart, or raise the limit", at_least(*.needed)
    )]
    PairLimit {
        /// Number of overlapping pairs; `u32::MAX` when the search stopped before it had counted them all.
        needed: u32,
        /// Number of pairs that is allowed.
        limit: u32,
    },
    /// The CPU backend cannot start its worker threads.
    #[error("cannot start worker threads: {0}")]
    Threads(String),
    /// A description or an edit was refused by the world; the world is unchanged.
    #[error(transparent)]
    World(#[from] crate::world::WorldError),
    /// A scene, its file or one of its parameters is unknown or invalid.
    #[error(transparent)]
    Scene(#[from] crate::scenes::SceneError),
    /// A picture that cannot be made.
    #[error(transparent)]
    Render(#[from] crate::render::RenderError),
    /// A query that cannot be answered.
    #[error(transparent)]
    Query(#[from] crate::queries::QueryError),
    /// A setting is out of its range.
    #[error(transparent)]
    Settings(#[from] crate::SettingsError),
    /// A snapshot was refused, or a rollback asked for a frame that is not kept.
    #[error(transparent)]
    Snapshot(#[from] crate::SnapshotError),
    /// A time step outside the allowed range.
    #[error("a time step of {0:e} s: it must be between 1e-6 s a sub-step and 1 s")]
    TimeStep(f32),
    /// The Vulkan backend.
    #[cfg(feature = "vulkan")]
    #[error(transparent)]
    Vulkan(#[from] crate::vulkan::Error),
}
