//! The host's description of a stage: its bindings, and how to run it natively. Not compiled for the GPU.

use super::Word;
use core::marker::PhantomData;
use core::ops::Range;

/// Whether the processor has the instructions of x86-64-v3 that stages are compiled with a second time.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn has_v3() -> bool {
    // The macro remembers the answers.
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// How a stage uses a binding. Barriers are derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only read.
    Read,
    /// Only written.
    Write,
    /// Read and written.
    Update,
}

impl Access {
    /// True when the stage may look at what the buffer held before.
    pub fn reads(self) -> bool {
        self != Self::Write
    }

    /// True when the stage may change the buffer.
    pub fn writes(self) -> bool {
        self != Self::Read
    }

    /// The word used in stage declarations and in the manifest.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Update => "update",
        }
    }
}

/// One storage buffer of a stage.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Number in descriptor set 0; bindings are numbered without gaps.
    pub number: u32,
    /// The field's name in the stage's declaration.
    pub name: &'static str,
    /// How it is used.
    pub access: Access,
    /// Bytes an element.
    pub stride: u32,
    /// What the words of an element are.
    pub words: fn() -> Vec<Word>,
}

/// Memory bound to a stage on the CPU.
#[derive(Clone, Copy, Debug)]
pub struct RawBuffer {
    /// First byte; aligned to 16.
    pub start: *mut u8,
    /// Bytes.
    pub size: usize,
}

/// The arguments of a native run.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Push constants.
    pub push: &'a [u8],
    /// Buffers in the order of the stage's bindings.
    pub buffers: &'a [RawBuffer],
}

/// A stage: one compute pass, the same on every backend.
pub struct Stage {
    /// Name of the file, the entry point, the timer.
    pub name: &'static str,
    /// Lanes a workgroup on the GPU; items a workgroup for stages that treat each item by itself.
    pub threads: u32,
    /// Bytes of push constants.
    pub push_size: u32,
    /// Storage buffers, by binding number.
    pub bindings: &'static [Binding],
    /// Push constants as text, for printed recordings.
    pub push_text: fn(&[u8]) -> String,
    /// Runs a range of workgroups on the calling thread.
    ///
    /// # Safety
    /// `buffers` has an entry a binding, each alive, aligned to 16 and large enough for the indices the stage
    /// reaches; `push` has `push_size` bytes; what runs at the same time on other threads are other workgroups of the
    /// same dispatch, or stages that share no written buffer with it.
    pub run: unsafe fn(Call<'_>, Range<u32>),
    /// The same on nothing but the instructions that every processor of the kind has. The bits are the same.
    ///
    /// # Safety
    /// As for `run`.
    pub baseline: unsafe fn(Call<'_>, Range<u32>),
}

impl core::fmt::Debug for Stage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stage").field("name", &self.name).field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// Names a buffer of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// A buffer of a recording whose elements are `T`.
pub struct Buffer<T> {
    id: BufferId,
    elements: PhantomData<fn() -> T>,
}

impl<T> Buffer<T> {
    /// The typed name for `id`. The recording that hands out ids sees to it that the type fits.
    pub fn new(id: BufferId) -> Self {
        Self { id, elements: PhantomData }
    }

    /// The untyped name.
    pub fn id(self) -> BufferId {
        self.id
    }
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Buffer<T> {}

impl<T> core::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Buffer({})", self.id.0)
    }
}

/// A stage with its buffers and push constants chosen: ready to be dispatched.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The stage.
    pub stage: &'static Stage,
    /// Buffers in the order of the stage's bindings.
    pub buffers: Vec<BufferId>,
    /// Push constants.
    pub push: Vec<u8>,
}
