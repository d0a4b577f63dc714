//! What every backend can do with a recording: fill its buffers, run it, tell how long each pass took, read results.
//!
//! This is the convenient side, for tools, tests and hosts without a frame loop: [`Runner::run`] waits. Renderers use
//! [`crate::vulkan::Program`], which only records.

use crate::plan::{Buffer, BufferId, Recording};
use crate::{Error, Result};
use bytemuck::Pod;
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

/// What runs the kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Time a command took, or several of the same stage in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassTime {
    /// The stage, `fill` or `copy`.
    pub name: &'static str,
    /// Index of the command in the recording, or of the first.
    pub command: usize,
    /// How many there are.
    pub commands: usize,
    /// How long it took, or all of them.
    pub time: Duration,
}

/// Times of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTimes {
    /// Which run, counted from 0.
    pub run: u64,
    /// All commands, in order. Empty when the device has no time stamps.
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
pub struct MemoryUse {
    /// The buffer's name.
    pub name: String,
    /// Bytes on the device.
    pub bytes: u64,
}

/// Bytes for a part of a buffer.
#[derive(Clone, Copy, Debug)]
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

/// Room for a part of a buffer that is to be read.
#[derive(Debug)]
pub struct ReadInto<'a> {
    /// The buffer.
    pub buffer: BufferId,
    /// First byte in it.
    pub offset: u64,
    /// Where to put what is there.
    pub into: &'a mut [u8],
}

impl<'a> ReadInto<'a> {
    /// For the first elements of `buffer`.
    pub fn new<T: Pod>(buffer: Buffer<T>, into: &'a mut [T]) -> Self {
        Self { buffer: buffer.id(), offset: 0, into: bytemuck::cast_slice_mut(into) }
    }
}

/// A recording of a runner: the one it was made with, or one that was attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part(pub(crate) u32);

impl Part {
    /// The recording that the runner was made with.
    pub const FIRST: Self = Self(0);
}

/// The memory that a part brought, and that which its commands touch.
pub(crate) struct PartBlocks {
    own: Range<u32>,
    /// `None` when it was detached.
    used: Option<BTreeSet<u32>>,
}

impl PartBlocks {
    /// Of a recording whose blocks from number `first` on are its own.
    pub fn new(recording: &Recording, first: usize) -> Self {
        let first = u32::try_from(first).unwrap_or(u32::MAX);
        let end = recording.blocks().len() as u32;
        Self { own: first..end.max(first), used: Some(recording.used_blocks()) }
    }

    /// Of a part that was detached.
    pub fn gone() -> Self {
        Self { own: 0..0, used: None }
    }

    /// Whether it was not detached.
    pub fn is_there(&self) -> bool {
        self.used.is_some()
    }

    /// Blocks that can be given back with a part, which is one of those that were attached.
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
    /// The recording it was made with, and the buffers of all that were attached.
    fn recording(&self) -> &Recording;
    /// Overwrites part of a buffer. Waits for the device.
    fn write_bytes(&mut self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()>;
    /// Overwrites parts of buffers that do not overlap, all in one go. Waits for the device once at most; what is written is there
    /// for the next run or read.
    fn write_batch(&mut self, writes: &[Write<'_>]) -> Result<()> {
        writes.iter().try_for_each(|w| self.write_bytes(w.buffer, w.offset, w.bytes))
    }
    /// Reads part of a buffer. Waits for the device.
    fn read_bytes(&mut self, buffer: BufferId, offset: u64, into: &mut [u8]) -> Result<()>;
    /// Makes ready another recording over the same buffers, begun with [`Recording::sharing`] from [`Runner::recording`].
    /// Its own buffers are made too, and stay until it is detached, or as long as the runner.
    fn attach(&mut self, recording: Recording) -> Result<Part>;
    /// Gives back what a recording that was attached needs: its commands, and the memory of the buffers that it brought. Handles of
    /// those lead nowhere from now on, or to what is attached next. Refused while another part uses them.
    fn detach(&mut self, part: Part) -> Result<()>;
    /// Runs an attached recording once and waits for it.
    fn run_part(&mut self, part: Part) -> Result<RunTimes>;
    /// Runs the recording once and waits for it.
    fn run(&mut self) -> Result<RunTimes> {
        self.run_part(Part::FIRST)
    }
    /// Runs a recording so many times in a row, then reads, and waits once for all of it. Without any run it only
    /// reads.
    fn run_and_read(&mut self, part: Part, runs: u32, reads: &mut [ReadInto<'_>]) -> Result<Vec<RunTimes>> {
        let times = (0..runs).map(|_| self.run_part(part)).collect::<Result<_>>()?;
        reads.iter_mut().try_for_each(|r| self.read_bytes(r.buffer, r.offset, r.into))?;
        Ok(times)
    }
    /// Becomes the runner of another recording. What is persistent ([`Role`](crate::state::Role)) is carried over to the
    /// buffer of the same name, as far as it fits; everything else is zero, unless all buffers are the same as before.
    /// Recordings that were attached are gone. On failure everything stays as it was.
    fn replace(&mut self, recording: Recording) -> Result<()>;
    /// Memory by block: a buffer's, or that of several which are not in use at the same time.
    fn memory(&self) -> Vec<MemoryUse>;
}

/// Where to run.
#[derive(Clone)]
pub enum Device {
    /// The CPU.
    Cpu {
        /// Worker threads; one a core when `None`. With one, everything runs on the caller's thread and none is started.
        threads: Option<usize>,
    },
    /// A Vulkan device of the engine's own.
    #[cfg(feature = "loader")]
    Vulkan(std::sync::Arc<crate::vulkan::OwnDevice>),
}

impl Device {
    /// Makes a recording ready to run.
    pub fn runner(&self, recording: Recording) -> Result<Box<dyn Runner>> {
        Ok(match self {
            Self::Cpu { threads } => Box::new(crate::cpu::Cpu::new(recording, *threads)?),
            #[cfg(feature = "loader")]
            Self::Vulkan(device) => Box::new(crate::vulkan::VulkanRunner::new(device.clone(), recording)?),
        })
    }

    /// Whether it is the CPU, by itself or behind a Vulkan driver.
    pub fn is_cpu(&self) -> bool {
        match self {
            Self::Cpu { .. } => true,
            #[cfg(feature = "loader")]
            Self::Vulkan(device) => device.support().is_cpu(),
        }
    }
}

/// Typed reads and writes.
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
