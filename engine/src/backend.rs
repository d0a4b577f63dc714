//! The interface of every backend ([`Runner`]): write buffers, run a recording, measure the time of each pass, read
//! results.
//!
//! It is meant for tools, tests and hosts without a frame loop, because [`Runner::run`] waits for the device.
//! Renderers use [`crate::vulkan::Program`], which only records.

use crate::cpu::{Cpu, Instructions};
use crate::plan::{Buffer, BufferId, Recording};
use crate::{Error, Result};
use bytemuck::Pod;
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

/// What runs the kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// `cpu` or `vulkan`.
    pub backend: &'static str,
    /// The device's name.
    pub name: String,
    /// The driver, as it names itself.
    pub driver: String,
    /// Lanes a subgroup; 1 on the CPU backend.
    pub subgroup_size: u32,
}

/// Time of one command, or of several consecutive commands of the same stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassTime {
    /// The stage, `fill` or `copy`.
    pub name: &'static str,
    /// Index of the command, or of the first of several, in the recording.
    pub command: usize,
    /// Number of commands that were measured together.
    pub commands: usize,
    /// Time that these commands took together.
    pub time: Duration,
}

/// Times of the passes of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunTimes {
    /// Number of the run, counted from 0.
    pub run: u64,
    /// Times of all commands, in order. Empty when the device has no time stamps, or when timing is off.
    pub passes: Vec<PassTime>,
}

impl RunTimes {
    /// Sum over the passes.
    pub fn total(&self) -> Duration {
        self.passes.iter().map(|p| p.time).sum()
    }

    /// Passes of the same stage added up, in the order of their first appearance: name, dispatches, time.
    pub fn by_stage(&self) -> Vec<(&'static str, usize, Duration)> {
        let mut rows: Vec<(&'static str, usize, Duration)> = Vec::new();
        for pass in &self.passes {
            match rows.iter_mut().find(|r| r.0 == pass.name) {
                Some(row) => {
                    row.1 += pass.commands;
                    row.2 += pass.time;
                }
                None => rows.push((pass.name, pass.commands, pass.time)),
            }
        }
        rows
    }
}

/// Memory of one buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// The buffer's name.
    pub name: String,
    /// Bytes on the device.
    pub bytes: u64,
}

/// A write of bytes into part of a buffer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Write<'a> {
    /// The buffer.
    pub buffer: BufferId,
    /// First byte in it.
    pub offset: u64,
    /// What to put there.
    pub bytes: &'a [u8],
}

impl<'a> Write<'a> {
    /// `values` for the elements of `buffer` from `first` on.
    pub fn new<T: Pod>(buffer: Buffer<T>, first: u64, values: &'a [T]) -> Self {
        let offset = first.saturating_mul(size_of::<T>() as u64);
        Self { buffer: buffer.id(), offset, bytes: bytemuck::cast_slice(values) }
    }
}

/// A read of part of a buffer into memory of the caller's.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadInto<'a> {
    /// The buffer.
    pub buffer: BufferId,
    /// First byte in it.
    pub offset: u64,
    /// Where the bytes are copied to; its length is the number of bytes read.
    pub into: &'a mut [u8],
}

impl<'a> ReadInto<'a> {
    /// Reads the first `into.len()` elements of `buffer`.
    pub fn new<T: Pod>(buffer: Buffer<T>, into: &'a mut [T]) -> Self {
        Self { buffer: buffer.id(), offset: 0, into: bytemuck::cast_slice_mut(into) }
    }
}

/// Identifies a recording of a runner: the one it was made with, or one that was attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part(pub(crate) u32);

impl Part {
    /// The recording that the runner was made with.
    pub const FIRST: Self = Self(0);
}

/// The memory blocks that a part added to its runner, and the blocks that its commands touch.
pub(crate) struct PartBlocks {
    own: Range<u32>,
    /// Blocks that the commands touch; `None` when the part was detached.
    used: Option<BTreeSet<u32>>,
}

impl PartBlocks {
    /// For a recording whose own blocks begin with number `first`.
    pub fn new(recording: &Recording, first: usize) -> Self {
        let first = u32::try_from(first).unwrap_or(u32::MAX);
        let end = recording.blocks().len() as u32;
        Self { own: first..end.max(first), used: Some(recording.used_blocks()) }
    }

    /// For a part that was detached.
    pub fn gone() -> Self {
        Self { own: 0..0, used: None }
    }

    /// Whether it was not detached.
    pub fn is_there(&self) -> bool {
        self.used.is_some()
    }

    /// The blocks that can be freed with an attached part. An error when there is no such part, when it is the first,
    /// or when another part still uses one of its blocks.
    pub fn check_detach<'a>(
        recording: &Recording,
        parts: impl Iterator<Item = &'a Self> + Clone,
        part: Part,
    ) -> Result<Range<u32>> {
        let found = parts.clone().nth(part.0 as usize).filter(|p| p.is_there() && part != Part::FIRST);
        let own = found.ok_or_else(|| no_part(recording, part))?.own.clone();
        let uses = |p: &Self| p.used.as_ref().is_some_and(|used| own.clone().any(|block| used.contains(&block)));
        match (0..).zip(parts).find(|(user, p)| *user != part.0 && uses(p)) {
            Some((user, _)) => Err(Error::PartInUse { recording: recording.name().to_owned(), part: part.0, user }),
            None => Ok(own),
        }
    }
}

/// A recording with its buffers, ready to run.
pub trait Runner: Send {
    /// What runs the kernels.
    fn device(&self) -> &DeviceInfo;
    /// The recording the runner was made with, together with the buffers of all attached recordings.
    fn recording(&self) -> &Recording;
    /// Overwrites part of a buffer. Waits for the device. An error when the handle is unknown or the bytes do not
    /// fit.
    fn write_bytes(&mut self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()>;
    /// Overwrites parts of buffers in one batch; the parts must not overlap. Waits for the device at most once. The
    /// next run or read sees the bytes.
    fn write_batch(&mut self, writes: &[Write<'_>]) -> Result<()> {
        writes.iter().try_for_each(|w| self.write_bytes(w.buffer, w.offset, w.bytes))
    }
    /// Reads part of a buffer. Waits for the device. An error when the handle is unknown or the range is outside the
    /// buffer.
    fn read_bytes(&mut self, buffer: BufferId, offset: u64, into: &mut [u8]) -> Result<()>;
    /// Whether reads and writes are plain copies, for which nothing is submitted and nobody waits.
    fn copies_at_once(&self) -> bool {
        false
    }
    /// Prepares another recording over the same buffers, begun with [`Recording::sharing`] from
    /// [`Runner::recording`]. Allocates the buffers that only the new recording has; they live until it is detached
    /// or the runner is dropped.
    fn attach(&mut self, recording: Recording) -> Result<Part>;
    /// Frees an attached recording: its commands, and the memory of the buffers that it added. Handles of those
    /// buffers become invalid, or refer to what is attached next. An error while another part uses the buffers.
    fn detach(&mut self, part: Part) -> Result<()>;
    /// Runs an attached recording once and waits for it.
    fn run_part(&mut self, part: Part) -> Result<RunTimes>;
    /// Runs the recording once and waits for it.
    fn run(&mut self) -> Result<RunTimes> {
        self.run_part(Part::FIRST)
    }
    /// Runs a recording `runs` times in a row, then does the reads, and waits for the device once for all of it. With
    /// 0 runs it only reads.
    fn run_and_read(&mut self, part: Part, runs: u32, reads: &mut [ReadInto<'_>]) -> Result<Vec<RunTimes>> {
        let times = (0..runs).map(|_| self.run_part(part)).collect::<Result<_>>()?;
        reads.iter_mut().try_for_each(|r| self.read_bytes(r.buffer, r.offset, r.into))?;
        Ok(times)
    }
    /// Switches to another recording. Persistent buffers ([`Role`](crate::state::Role)) are copied to the buffer of
    /// the same name, as far as they fit; all others become zero, unless the two recordings have the same buffers.
    /// Attached recordings are dropped. On failure nothing changes.
    fn replace(&mut self, recording: Recording) -> Result<()>;
    /// Memory by block. A block holds one buffer, or several scratch buffers that are not in use at the same time.
    fn memory(&self) -> Vec<MemoryUse>;
}

/// Where to run.
#[derive(Clone)]
#[non_exhaustive]
pub enum Device {
    /// The CPU.
    Cpu {
        /// Number of worker threads; `None` means one a core. With 1, everything runs on the caller's thread and no
        /// thread is started.
        threads: Option<usize>,
    },
    /// The CPU with nothing but the instructions that every processor of the kind has. Results are the same bits,
    /// later: to look for a fault of the processor, of the compiler, or of a stage.
    CpuBaseline {
        /// As of [`Device::Cpu`].
        threads: Option<usize>,
    },
    /// A Vulkan device that the engine opened itself.
    #[cfg(feature = "loader")]
    Vulkan(std::sync::Arc<crate::vulkan::OwnDevice>),
}

impl Device {
    /// Makes a runner for a recording: allocates its buffers, and on Vulkan compiles the pipelines that are missing.
    pub fn runner(&self, recording: Recording) -> Result<Box<dyn Runner>> {
        Ok(match self {
            Self::Cpu { threads } => Box::new(Cpu::new(recording, *threads)?),
            Self::CpuBaseline { threads } => {
                Box::new(Cpu::with_instructions(recording, *threads, Instructions::Baseline)?)
            }
            #[cfg(feature = "loader")]
            Self::Vulkan(device) => Box::new(crate::vulkan::VulkanRunner::new(device.clone(), recording)?),
        })
    }

    /// Whether the kernels run on the CPU: on the CPU backend, or on a Vulkan driver without a GPU.
    pub fn is_cpu(&self) -> bool {
        match self {
            Self::Cpu { .. } | Self::CpuBaseline { .. } => true,
            #[cfg(feature = "loader")]
            Self::Vulkan(device) => device.support().is_cpu(),
        }
    }
}

/// Typed reads and writes over [`Runner`]. Indices count elements; every call waits for the device as the untyped one
/// does.
pub trait RunnerExt: Runner {
    /// Overwrites the first elements of a buffer.
    fn write<T: Pod>(&mut self, buffer: Buffer<T>, values: &[T]) -> Result<()> {
        self.write_bytes(buffer.id(), 0, bytemuck::cast_slice(values))
    }

    /// Overwrites elements from `index` on.
    fn write_from<T: Pod>(&mut self, buffer: Buffer<T>, index: u64, values: &[T]) -> Result<()> {
        self.write_bytes(buffer.id(), index.saturating_mul(size_of::<T>() as u64), bytemuck::cast_slice(values))
    }

    /// Overwrites one element.
    fn write_at<T: Pod>(&mut self, buffer: Buffer<T>, index: u64, value: &T) -> Result<()> {
        self.write_bytes(buffer.id(), index.saturating_mul(size_of::<T>() as u64), bytemuck::bytes_of(value))
    }

    /// Reads one element.
    fn read_at<T: Pod>(&mut self, buffer: Buffer<T>, index: u64) -> Result<T> {
        let mut value = T::zeroed();
        let offset = index.saturating_mul(size_of::<T>() as u64);
        self.read_bytes(buffer.id(), offset, bytemuck::bytes_of_mut(&mut value))?;
        Ok(value)
    }

    /// The whole buffer.
    fn read<T: Pod>(&mut self, buffer: Buffer<T>) -> Result<Vec<T>> {
        let info = self.recording().info(buffer.id());
        let count = info.ok_or_else(|| unknown(self.recording(), buffer.id()))?.count;
        self.read_first(buffer, count)
    }

    /// The first `count` elements.
    fn read_first<T: Pod>(&mut self, buffer: Buffer<T>, count: u64) -> Result<Vec<T>> {
        check_bounds(self.recording(), buffer.id(), 0, count.saturating_mul(size_of::<T>() as u64))?;
        let mut values = vec![T::zeroed(); count as usize];
        self.read_bytes(buffer.id(), 0, bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }
}

impl<R: Runner + ?Sized> RunnerExt for R {}

pub(crate) fn unknown(recording: &Recording, buffer: BufferId) -> Error {
    Error::UnknownBuffer { recording: recording.name().to_owned(), buffer: buffer.0 }
}

pub(crate) fn no_part(recording: &Recording, part: Part) -> Error {
    Error::UnknownPart { recording: recording.name().to_owned(), part: part.0 }
}

/// Checks that `size` bytes at `offset` lie inside a buffer.
pub(crate) fn check_bounds(recording: &Recording, buffer: BufferId, offset: u64, size: u64) -> Result<()> {
    let info = recording.info(buffer).ok_or_else(|| unknown(recording, buffer))?;
    let capacity = info.capacity();
    if offset.checked_add(size).is_none_or(|end| end > capacity) {
        return Err(Error::OutOfBounds { buffer: info.name.clone(), offset, size, capacity });
    }
    Ok(())
}
