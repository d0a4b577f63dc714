//! [`VulkanRunner`]: the [`Runner`] of the Vulkan backend. It uploads, runs, waits and reads back, on a device that
//! the engine opened, and is built from the same parts that hosts use.

use super::memory::{GpuAllocator, Location, SharedMemory};
use super::own::OwnDevice;
use super::program::{Program, ProgramOptions};
use super::queue::Queue;
use super::record::{Flags, HostAccess, record_carry};
use super::staging::HostBuffer;
use crate::Result;
use crate::backend::{DeviceInfo, MemoryUse, Part, ReadInto, RunTimes, Runner, Write, check_bounds, no_part, unknown};
use crate::plan::barriers::{Schedule, schedule};
use crate::plan::{BufferId, Recording};
use ash::vk;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Bytes moved at a time between host and device.
const STAGING: u64 = 16 << 20;
/// Time-out of a wait: longer than any recording takes on a device that still works.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs of a submission that are timed: sub-steps of a step.
const RUNS_TIMED: u32 = 16;

/// Copies out of the staging buffer, grouped by target buffer.
type Copies = Vec<(vk::Buffer, Vec<vk::BufferCopy>)>;

/// A recording on an [`OwnDevice`].
pub struct VulkanRunner {
    info: DeviceInfo,
    staging: HostBuffer<GpuAllocator>,
    /// Copies out of the staging buffer that the next submission begins with.
    copies: Copies,
    program: Program<GpuAllocator>,
    memory: SharedMemory<GpuAllocator>,
    options: ProgramOptions,
    queue: Queue,
    // Last: everything above is made from it.
    device: Arc<OwnDevice>,
}

impl VulkanRunner {
    /// Makes the recording ready on `device`.
    pub fn new(device: Arc<OwnDevice>, recording: Recording) -> Result<Self> {
        let schedule = schedule(&recording);
        // SAFETY: the derived schedule has every barrier.
        unsafe { Self::with_schedule(device, recording, &schedule) }
    }

    /// As [`VulkanRunner::new`], with a schedule from the caller. For tests that leave barriers out on purpose.
    ///
    /// # Safety
    /// A schedule with barriers missing has races on the device.
    pub unsafe fn with_schedule(device: Arc<OwnDevice>, recording: Recording, schedule: &Schedule) -> Result<Self> {
        let support = device.support();
        let info = DeviceInfo {
            backend: "vulkan",
            name: support.device_name.clone(),
            driver: support.driver.clone(),
            subgroup_size: support.subgroup_size,
        };
        let host = device.host();
        let options = ProgramOptions { frames_in_flight: RUNS_TIMED, ..ProgramOptions::default() };
        // SAFETY: the device is alive and kept so by the `Arc`; it was made with the required features.
        let (queue, memory, program) = unsafe {
            let memory = Arc::new(Mutex::new(GpuAllocator::new(host)?));
            let queue = Queue::new(host, device.queue())?;
            let program = Program::with_schedule(device.kernels()?, &memory, recording, schedule, options.clone())?;
            (queue, memory, program)
        };
        let staging = HostBuffer::new(device.kernels()?.shared(), &memory, c"staging", STAGING, Location::Readback)?;
        let mut runner = Self { info, staging, copies: Vec::new(), program, memory, options, queue, device };
        runner.clear(0)?;
        Ok(runner)
    }

    /// Zeroes the blocks from `first` on, so that runs start from the same bytes on every backend.
    fn clear(&mut self, first: usize) -> Result<()> {
        let buffers = self.program.vk_blocks(first);
        self.submit(|device, commands| {
            for &buffer in &buffers {
                // SAFETY: the buffer is alive and idle.
                unsafe { device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 0) };
            }
        })
    }

    fn submit(&mut self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<()> {
        let owner = self.device.clone();
        let device = &owner.host().device;
        let value = {
            let _alone = owner.lock_queue();
            // SAFETY: the closures of this file record valid commands; no semaphores are passed.
            unsafe {
                self.queue.submit(&[], &[], |commands| {
                    record(device, commands);
                    // Makes all writes visible to later commands on the queue and to the host.
                    record_host_reads(device, commands);
                })?
            }
        };
        Ok(self.queue.wait(value, PATIENCE)?)
    }

    /// Submits the copies that are queued for the next submission, so that the staging buffer can be reused.
    fn flush(&mut self) -> Result<()> {
        if self.copies.is_empty() {
            return Ok(());
        }
        let staging = self.staging.handle();
        let copies = std::mem::take(&mut self.copies);
        self.submit(|device, commands| record_copies(device, commands, staging, &copies))
    }

    fn handle(&self, buffer: BufferId) -> Result<vk::Buffer> {
        self.program.vk_buffer(buffer).ok_or_else(|| unknown(self.program.recording(), buffer))
    }

    /// The device.
    pub fn own_device(&self) -> &Arc<OwnDevice> {
        &self.device
    }
}

/// Makes copies out of buffers visible to the host, and to whatever comes next on the queue.
///
/// # Safety
/// `commands` is in the recording state, outside a render pass.
unsafe fn record_host_reads(device: &ash::Device, commands: vk::CommandBuffer) {
    let read = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ | vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
    let Flags { before: from, after, .. } = Flags::between_parts();
    let to = after | vk::PipelineStageFlags::HOST;
    // SAFETY: this function's contract.
    unsafe { device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &read, &[], &[]) };
}

/// Copies out of the staging buffer, and a barrier that makes them visible to whatever follows.
fn record_copies(device: &ash::Device, commands: vk::CommandBuffer, staging: vk::Buffer, copies: &Copies) {
    if copies.is_empty() {
        return;
    }
    let written = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
    let (from, to) = (vk::PipelineStageFlags::TRANSFER, Flags::between_parts().after);
    // SAFETY: `write_batch` made regions that lie inside both buffers, and no two of them overlap.
    unsafe {
        for (target, regions) in copies {
            device.cmd_copy_buffer(commands, staging, *target, regions);
        }
        device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &written, &[], &[]);
    }
}

impl Runner for VulkanRunner {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn recording(&self) -> &Recording {
        self.program.recording()
    }

    fn write_bytes(&mut self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        self.write_batch(&[Write { buffer, offset, bytes }])
    }

    /// Fills the staging buffer. The copies out of it become part of the next run and cost no submission of their
    /// own; what does not fit is submitted first.
    fn write_batch(&mut self, writes: &[Write<'_>]) -> Result<()> {
        for w in writes {
            check_bounds(self.program.recording(), w.buffer, w.offset, w.bytes.len() as u64)?;
        }
        self.flush()?;
        let mut used = 0;
        for w in writes {
            let target = self.handle(w.buffer)?;
            let (mut bytes, mut dst_offset) = (w.bytes, w.offset);
            while !bytes.is_empty() {
                if used == STAGING {
                    self.flush()?;
                    used = 0;
                }
                let size = (STAGING - used).min(bytes.len() as u64);
                let (now, later) = bytes.split_at(size as usize);
                self.staging.write(used, now);
                let region = vk::BufferCopy { src_offset: used, dst_offset, size };
                match self.copies.last_mut() {
                    Some((buffer, regions)) if *buffer == target => regions.push(region),
                    _ => self.copies.push((target, vec![region])),
                }
                (bytes, dst_offset, used) = (later, dst_offset + size, used + size);
            }
        }
        Ok(())
    }

    fn read_bytes(&mut self, buffer: BufferId, offset: u64, into: &mut [u8]) -> Result<()> {
        check_bounds(self.program.recording(), buffer, offset, into.len() as u64)?;
        self.flush()?;
        let staging = self.staging.handle();
        let source = self.handle(buffer)?;
        let mut at = offset;
        for chunk in into.chunks_mut(STAGING as usize) {
            let region = [vk::BufferCopy { src_offset: at, dst_offset: 0, size: chunk.len() as u64 }];
            // SAFETY: both ranges lie inside their buffers.
            self.submit(|device, commands| unsafe { device.cmd_copy_buffer(commands, source, staging, &region) })?;
            self.staging.read(0, chunk);
            at += chunk.len() as u64;
        }
        Ok(())
    }

    fn attach(&mut self, recording: Recording) -> Result<Part> {
        let first = self.program.recording().blocks().len();
        let part = self.program.attach(&recording)?;
        self.clear(first)?;
        Ok(part)
    }

    fn detach(&mut self, part: Part) -> Result<()> {
        // Queued copies may target buffers that are about to be freed. All other submissions are finished.
        self.flush()?;
        // SAFETY: nothing is under way, as said above.
        unsafe { self.program.detach(part) }
    }

    fn run_part(&mut self, part: Part) -> Result<RunTimes> {
        Ok(self.run_and_read(part, 1, &mut [])?.pop().unwrap_or_default())
    }

    /// One submission and one wait: copies into buffers, the runs, copies out of buffers.
    fn run_and_read(&mut self, part: Part, runs: u32, reads: &mut [ReadInto<'_>]) -> Result<Vec<RunTimes>> {
        for read in reads.iter() {
            check_bounds(self.program.recording(), read.buffer, read.offset, read.into.len() as u64)?;
        }
        let wanted: u64 = reads.iter().map(|r| r.into.len() as u64).sum();
        if wanted > STAGING {
            let times = if runs > 0 { self.run_and_read(part, runs, &mut [])? } else { Vec::new() };
            for read in reads.iter_mut() {
                self.read_bytes(read.buffer, read.offset, read.into)?;
            }
            return Ok(times);
        }
        let mut back = Vec::new();
        let mut at = 0;
        for read in reads.iter() {
            let size = read.into.len() as u64;
            back.push((self.handle(read.buffer)?, vk::BufferCopy { src_offset: read.offset, dst_offset: at, size }));
            at += size;
        }
        let owner = self.device.clone();
        let copied = vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE;
        let exit = HostAccess::new(vk::PipelineStageFlags::TRANSFER, copied);
        let staging = self.staging.handle();
        let copies = std::mem::take(&mut self.copies);
        let mut recorded = Vec::new();
        let value = {
            let Self { queue, program, .. } = self;
            let _alone = owner.lock_queue();
            // SAFETY: the program records into a command buffer of the helper's, submitted once and in order; the
            // copies lie inside both buffers.
            unsafe {
                queue.submit(&[], &[], |commands| {
                    let device = &owner.host().device;
                    record_copies(device, commands, staging, &copies);
                    for run in 0..runs {
                        let exit = (run + 1 == runs).then_some(exit);
                        recorded.extend(program.record_part(part, commands, None, exit));
                    }
                    for (source, region) in &back {
                        if region.size > 0 {
                            device.cmd_copy_buffer(commands, *source, staging, &[*region]);
                        }
                    }
                    record_host_reads(device, commands);
                })
            }?
        };
        self.queue.wait(value, PATIENCE)?;
        let mut at = 0;
        for read in reads.iter_mut() {
            self.staging.read(at, read.into);
            at += read.into.len() as u64;
        }
        if runs == 0 {
            return Ok(Vec::new());
        }
        // The runs are over, so their time stamps are there; a device without any reports none.
        let last = *recorded.last().ok_or_else(|| no_part(self.program.recording(), part))?;
        let mut times = Vec::new();
        while let Some(found) = self.program.part_times(part)? {
            times.push(found);
        }
        if times.is_empty() {
            times.push(RunTimes { run: last, passes: Vec::new() });
        }
        Ok(times)
    }

    fn replace(&mut self, recording: Recording) -> Result<()> {
        self.flush()?;
        // Every submission was waited for.
        if self.program.replace_commands(&recording, &[])?.is_some() {
            return Ok(());
        }
        // SAFETY: the device is alive and kept so by the `Arc`; the memory is its own.
        let program = unsafe { Program::new(self.device.kernels()?, &self.memory, recording, self.options.clone()) }?;
        let carried = self.program.persistent_copies(&program);
        let mut old = std::mem::replace(&mut self.program, program);
        let blocks = self.program.vk_blocks(0);
        let done = self.submit(|device, commands| {
            // SAFETY: the buffers are alive and idle; the copies lie inside both of theirs.
            unsafe { record_carry(device, commands, &blocks, &carried) }
        });
        if done.is_err() {
            std::mem::swap(&mut old, &mut self.program);
        }
        done
    }

    fn memory(&self) -> Vec<MemoryUse> {
        self.program.memory()
    }
}
