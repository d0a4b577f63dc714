//! Why a plan or a recording is refused. Each message names the command and the buffer.

use std::ops::Range;

/// Why a command cannot be recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Two buffers of a recording have the same name.
    #[error("recording `{recording}` already has a buffer named `{name}`; names must differ, they appear in reports")]
    DuplicateBuffer {
        /// The recording.
        recording: String,
        /// The name.
        name: String,
    },
    /// A buffer handle comes from another recording.
    #[error(
        "`{command}` names buffer {buffer}, but recording `{recording}` has {buffers} buffers: the handle belongs to another recording"
    )]
    UnknownBuffer {
        /// The recording.
        recording: String,
        /// The command.
        command: String,
        /// The handle.
        buffer: u32,
        /// Buffers there are.
        buffers: usize,
    },
    /// A recording uses buffers of one that was detached.
    #[error("recording `{recording}` uses buffers that were attached to `{base}` and are gone")]
    Gone {
        /// The recording.
        recording: String,
        /// What it was to be attached to.
        base: String,
    },
    /// The elements of a buffer do not have the size that a stage expects.
    #[error("`{command}` binds `{buffer}` with {stride} bytes an element where the stage has {expected}")]
    Stride {
        /// The command.
        command: String,
        /// The buffer.
        buffer: String,
        /// Bytes an element as declared.
        stride: u32,
        /// Bytes an element in the stage.
        expected: u32,
    },
    /// The same buffer is bound twice to one dispatch and written.
    #[error("`{command}` binds `{buffer}` twice and writes it; lanes would race")]
    Aliased {
        /// The command.
        command: String,
        /// The buffer.
        buffer: String,
    },
    /// An invocation has another number of buffers than its stage has bindings.
    #[error("`{command}` is given {buffers} buffers where the stage has {bindings} bindings")]
    BufferCount {
        /// The command.
        command: String,
        /// Buffers given.
        buffers: usize,
        /// Bindings of the stage.
        bindings: usize,
    },
    /// An invocation has push constants of another size than its stage.
    #[error("`{command}` is given {size} bytes of push constants where the stage has {expected}")]
    PushSize {
        /// The command.
        command: String,
        /// Bytes given.
        size: usize,
        /// Bytes of the stage's.
        expected: usize,
    },
    /// The size of a dispatch is to come from a buffer that was not declared for it.
    #[error("`{command}` takes its size from `{buffer}`, which is no buffer of `Recording::dispatch_args`")]
    NotArguments {
        /// The command.
        command: String,
        /// The buffer.
        buffer: String,
    },
    /// A range reaches beyond its buffer, or is not a multiple of 4 bytes.
    #[error("`{command}` uses bytes {}..{} of `{buffer}`, which has {size}; ranges lie inside and are multiples of 4", range.start, range.end)]
    Range {
        /// The command.
        command: String,
        /// The buffer.
        buffer: String,
        /// The range.
        range: Range<u64>,
        /// Bytes of the buffer.
        size: u64,
    },
    /// A dispatch of more workgroups than any device takes, or of more lanes than 32 bits can number.
    #[error("`{command}` wants {groups} workgroups; at most {most} can be dispatched")]
    TooManyGroups {
        /// The command.
        command: String,
        /// Workgroups asked for.
        groups: u64,
        /// Workgroups that the stage can have.
        most: u32,
    },
    /// A recording was made to share another one's buffers, but does not begin with them.
    #[error("recording `{recording}` does not begin with the buffers of `{base}`; make it with `Recording::sharing`")]
    NotShared {
        /// The recording.
        recording: String,
        /// The one whose buffers it was to share.
        base: String,
    },
    /// Two buffers that share memory are in use at the same time.
    #[error(
        "recording `{recording}` uses `{buffer}` while `{other}` lies in the same memory; scratch of another recording \
         holds nothing until it is written anew"
    )]
    SharedMemory {
        /// The recording.
        recording: String,
        /// The buffer.
        buffer: String,
        /// The other one.
        other: String,
    },
    /// Elements of a user's buffer that are not whole words.
    #[error("user buffer `{name}` has {stride} bytes an element; it must be a multiple of 4, and not 0")]
    UserStride {
        /// The buffer.
        name: String,
        /// Bytes an element.
        stride: u32,
    },
    /// A primitive is asked to handle more items than its indices reach.
    #[error("{what} of {count} items: at most {limit} are supported")]
    TooManyItems {
        /// The primitive.
        what: &'static str,
        /// Items asked for.
        count: u64,
        /// Items supported.
        limit: u64,
    },
}
