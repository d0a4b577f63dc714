//! The convenient side of Vulkan: uploads, runs, waits, reads back. Built from the same parts that hosts use.

use super::error::{During, Error};
use super::memory::{Allocation, GpuAllocator, Location, Memory};
use super::own::OwnDevice;
use super::program::{Program, ProgramOptions};
use super::queue::Queue;
use super::record::Exit;
use crate::Result;
use crate::backend::{DeviceInfo, MemoryUse, Part, RunTimes, Runner, Write, check_bounds, no_part, unknown};
use crate::plan::barriers::{Schedule, schedule};
use crate::plan::{BufferId, Recording};
use ash::vk;
use std::sync::Arc;
use std::time::Duration;

/// Bytes moved at a time between host and device.
const STAGING: u64 = 16 << 20;
/// Longer than any recording takes, on any device that still works.
const PATIENCE: Duration = Duration::from_secs(600);

/// By the buffer they go to.
type Copies = Vec<(vk::Buffer, Vec<vk::BufferCopy>)>;

/// A recording on an [`OwnDevice`].
pub struct VulkanRunner {
    info: DeviceInfo,
    staging: Option<(vk::Buffer, Allocation)>,
    /// Copies out of the staging buffer that the next submission begins with.
    copies: Copies,
    program: Program<GpuAllocator>,
    queue: Queue,
    // Last: everything above is made from it.
    device: Arc<OwnDevice>,
}

// SAFETY: all handles are used through `&mut self`; Vulkan objects may move between threads.
unsafe impl Send for VulkanRunner {}

impl VulkanRunner {
    /// Makes the recording ready on `device`.
    pub fn new(device: Arc<OwnDevice>, recording: Recording) -> Result<Self> {
        let schedule = schedule(&recording);
        // SAFETY: the derived schedule has every barrier.
        unsafe { Self::with_schedule(device, recording, &schedule) }
    }

    /// The same with barriers of the caller's making.
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
        // SAFETY: the device is alive and kept so by the `Arc`; it was made with the required features.
        let (queue, program) = unsafe {
            let memory = GpuAllocator::new(host)?;
            let queue = Queue::new(host, device.queue())?;
            (queue, Program::with_schedule(host, memory, recording, schedule, ProgramOptions::default())?)
        };
        let mut runner = Self { info, staging: None, copies: Vec::new(), program, queue, device };
        let buffer = runner.create_staging()?;
        runner.staging = Some(buffer);
        runner.clear(0)?;
        Ok(runner)
    }

    fn create_staging(&mut self) -> Result<(vk::Buffer, Allocation), Error> {
        let device = &self.device.host().device;
        let info = vk::BufferCreateInfo::default()
            .size(STAGING)
            .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the device is alive; the buffer is bound once, to memory of the size and kind it asks for, and
        // destroyed if anything fails.
        unsafe {
            let buffer = device.create_buffer(&info, None).during("vkCreateBuffer")?;
            let requirements = device.get_buffer_memory_requirements(buffer);
            let allocation = match self.program.allocator().allocate("staging", requirements, Location::Readback) {
                Ok(allocation) => allocation,
                Err(error) => {
                    device.destroy_buffer(buffer, None);
                    return Err(error);
                }
            };
            match device.bind_buffer_memory(buffer, allocation.memory, allocation.offset) {
                Ok(()) => Ok((buffer, allocation)),
                Err(result) => {
                    device.destroy_buffer(buffer, None);
                    self.program.allocator().free(allocation);
                    Err(Error::Call { call: "vkBindBufferMemory", result })
                }
            }
        }
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
                    // Whatever comes next on the queue or on the host sees what was done.
                    let everything = [vk::MemoryBarrier::default()
                        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
                        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
                    let (from, to) = (
                        vk::PipelineStageFlags::ALL_COMMANDS,
                        vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST,
                    );
                    device.cmd_pipeline_barrier(
                        commands,
                        from,
                        to,
                        vk::DependencyFlags::empty(),
                        &everything,
                        &[],
                        &[],
                    );
                })?
            }
        };
        Ok(self.queue.wait(value, PATIENCE)?)
    }

    /// Makes the copies that wait for the next submission, so that the staging buffer can be used again.
    fn flush(&mut self) -> Result<()> {
        if self.copies.is_empty() {
            return Ok(());
        }
        let (staging, _) = self.staging()?;
        let copies = std::mem::take(&mut self.copies);
        self.submit(|device, commands| record_copies(device, commands, staging, &copies))
    }

    fn staging(&self) -> Result<(vk::Buffer, *mut u8)> {
        let missing = || Error::OutOfMemory {
            buffer: "staging".to_owned(),
            size: STAGING,
            why: "the allocator returned memory that the host cannot see".to_owned(),
        };
        let (buffer, allocation) = self.staging.as_ref().ok_or_else(missing)?;
        let mapped = allocation.mapped.ok_or_else(missing)?;
        Ok((*buffer, mapped.as_ptr().cast()))
    }

    fn handle(&self, buffer: BufferId) -> Result<vk::Buffer> {
        self.program.vk_buffer(buffer).ok_or_else(|| unknown(self.program.recording(), buffer))
    }

    /// The device.
    pub fn own_device(&self) -> &Arc<OwnDevice> {
        &self.device
    }
}

/// Copies out of the staging buffer, and a barrier that makes them visible to whatever follows.
fn record_copies(device: &ash::Device, commands: vk::CommandBuffer, staging: vk::Buffer, copies: &Copies) {
    if copies.is_empty() {
        return;
    }
    let written = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
    let (from, to) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::ALL_COMMANDS);
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

    /// Fills the staging buffer; the copies out of it are part of the next run, and cost no submission of their own. What does
    /// not fit is submitted before.
    fn write_batch(&mut self, writes: &[Write<'_>]) -> Result<()> {
        for w in writes {
            check_bounds(self.program.recording(), w.buffer, w.offset, w.bytes.len() as u64)?;
        }
        self.flush()?;
        let (_, mapped) = self.staging()?;
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
                // SAFETY: the staging buffer holds `STAGING` bytes, `used + size` at most that, and the device is idle.
                unsafe { std::ptr::copy_nonoverlapping(now.as_ptr(), mapped.add(used as usize), now.len()) };
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
        let (staging, mapped) = self.staging()?;
        let source = self.handle(buffer)?;
        let mut at = offset;
        for chunk in into.chunks_mut(STAGING as usize) {
            let region = [vk::BufferCopy { src_offset: at, dst_offset: 0, size: chunk.len() as u64 }];
            // SAFETY: both ranges lie inside their buffers.
            self.submit(|device, commands| unsafe { device.cmd_copy_buffer(commands, source, staging, &region) })?;
            // SAFETY: the copy is done and visible to the host; the staging buffer holds `STAGING` bytes.
            unsafe { std::ptr::copy_nonoverlapping(mapped, chunk.as_mut_ptr(), chunk.len()) };
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

    fn run_part(&mut self, part: Part) -> Result<RunTimes> {
        let owner = self.device.clone();
        let exit = Exit {
            stages: vk::PipelineStageFlags::TRANSFER,
            access: vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE,
        };
        let mut run = None;
        let (staging, _) = self.staging()?;
        let copies = std::mem::take(&mut self.copies);
        let value = {
            let Self { queue, program, .. } = self;
            let _alone = owner.lock_queue();
            // SAFETY: the program records into a command buffer of the helper's, submitted once and in order.
            unsafe {
                queue.submit(&[], &[], |commands| {
                    record_copies(&owner.host().device, commands, staging, &copies);
                    run = program.record_part(part, commands, Some(exit));
                })
            }?
        };
        self.queue.wait(value, PATIENCE)?;
        // The run is over, so its time stamps are there; a device without any reports none.
        let run = run.ok_or_else(|| no_part(self.program.recording(), part))?;
        let mut times = RunTimes { run, passes: Vec::new() };
        while let Some(found) = self.program.part_times(part)? {
            times = found;
        }
        Ok(times)
    }

    fn memory(&self) -> Vec<MemoryUse> {
        self.program.memory()
    }
}

impl Drop for VulkanRunner {
    fn drop(&mut self) {
        if let Some((buffer, allocation)) = self.staging.take() {
            // SAFETY: every submission was waited for.
            unsafe { self.device.host().device.destroy_buffer(buffer, None) };
            self.program.allocator().free(allocation);
        }
    }
}
