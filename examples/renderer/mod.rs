//! The Vulkan that a renderer has anyway, as short as it gets: instance, device, queues, command buffers, a timeline
//! semaphore, buffers. The examples have it in common; nothing in here is the engine's, but for the two calls that ask
//! what the engine needs of a device.

#![allow(dead_code, reason = "every example uses its own part of this module")]

use anyhow::{Context, Result};
use drystone::vulkan::ash::{self, vk};
use drystone::vulkan::{API_VERSION, Host, Support, enable_required};
use std::cell::RefCell;

/// Frames in flight.
pub const IN_FLIGHT: u64 = 2;

/// A queue with command buffers, one a frame in flight, and a semaphore that counts the frames.
pub struct Lane {
    pub family: u32,
    pub queue: vk::Queue,
    pub timeline: vk::Semaphore,
    pool: vk::CommandPool,
    commands: Vec<vk::CommandBuffer>,
}

/// A renderer that owns its device.
pub struct Renderer {
    /// What the engine borrows. Its family is that of the lane that the engine records for.
    pub host: Host,
    pub name: String,
    /// Draws, and computes too where no other lane does.
    pub graphics: Lane,
    /// Computes beside it, on a queue of its own where there is one.
    pub compute: Option<Lane>,
    buffers: RefCell<Vec<(vk::Buffer, vk::DeviceMemory)>>,
    _entry: ash::Entry,
}

/// A buffer that the host sees.
#[derive(Clone, Copy)]
pub struct HostBuffer {
    pub buffer: vk::Buffer,
    pub mapped: *mut u8,
}

impl HostBuffer {
    /// Reads elements from byte `offset` on, while the device does not write them.
    pub fn read<T: bytemuck::Pod>(&self, offset: usize) -> T {
        // SAFETY: examples read inside of what they asked for.
        unsafe { self.mapped.add(offset).cast::<T>().read_unaligned() }
    }
}

impl Renderer {
    /// Opens the first device whose name has `wanted` in it and that has everything the engine needs.
    pub fn new(wanted: &str) -> Result<Self> {
        Self::with_lanes(wanted, false)
    }

    /// The same; with `two` lanes, even if they share a queue.
    pub fn with_lanes(wanted: &str, two: bool) -> Result<Self> {
        // SAFETY: ordinary Vulkan start-up; every handle is alive where it is used.
        unsafe {
            let entry = ash::Entry::load().context("no Vulkan loader; on Debian: apt install mesa-vulkan-drivers")?;
            let application = vk::ApplicationInfo::default().api_version(API_VERSION);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info, None)?;
            let devices = instance.enumerate_physical_devices()?.into_iter();
            let (physical_device, support) = devices
                .map(|device| (device, Support::query(&instance, device)))
                .find(|(_, s)| s.device_name.to_lowercase().contains(&wanted.to_lowercase()) && s.missing().is_empty())
                .context("no such device can run the kernels")?;

            let draws = |flags: vk::QueueFlags| flags.contains(vk::QueueFlags::GRAPHICS);
            let graphics = (0u32..).zip(&support.queue_families).find(|(_, f)| draws(f.0)).context("a queue")?.0;
            let compute = support.compute_family().filter(|family| *family != graphics);
            let priorities = [1.0];
            let families = std::iter::once(graphics).chain(compute);
            let queues: Vec<_> = families
                .map(|f| vk::DeviceQueueCreateInfo::default().queue_family_index(f).queue_priorities(&priorities))
                .collect();
            // The renderer's features, with the engine's added.
            let mut features = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
            enable_required(&mut features);
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut features);
            let device = instance.create_device(physical_device, &info, None)?;
            let graphics = Lane::new(&device, graphics)?;
            let compute = compute.or(two.then_some(graphics.family));
            let compute = compute.map(|family| Lane::new(&device, family)).transpose()?;
            let queue_family = compute.as_ref().unwrap_or(&graphics).family;
            let host = Host::new(instance, physical_device, device, queue_family);
            let buffers = RefCell::default();
            Ok(Self { host, name: support.device_name, graphics, compute, buffers, _entry: entry })
        }
    }

    /// The lane that the engine records for.
    pub fn physics(&self) -> &Lane {
        self.compute.as_ref().unwrap_or(&self.graphics)
    }

    /// A buffer in memory that the host sees. It is destroyed with the renderer.
    pub fn host_buffer(&self, size: u64, usage: vk::BufferUsageFlags) -> Result<HostBuffer> {
        let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let device = &self.host.device;
        // SAFETY: ordinary Vulkan; the buffer is bound once, to memory that fits.
        unsafe {
            let info = vk::BufferCreateInfo::default().size(size).usage(usage);
            let buffer = device.create_buffer(&info, None)?;
            let memory = self.allocate(device.get_buffer_memory_requirements(buffer), seen)?;
            self.buffers.borrow_mut().push((buffer, memory));
            device.bind_buffer_memory(buffer, memory, 0)?;
            let mapped = device.map_memory(memory, 0, size, vk::MemoryMapFlags::empty())?.cast();
            Ok(HostBuffer { buffer, mapped })
        }
    }

    /// Memory of its own for one resource.
    pub fn allocate(&self, needs: vk::MemoryRequirements, flags: vk::MemoryPropertyFlags) -> Result<vk::DeviceMemory> {
        let Host { instance, physical_device, device, .. } = &self.host;
        // SAFETY: the handles are alive.
        unsafe {
            let types = instance.get_physical_device_memory_properties(*physical_device);
            let fits = |i: &u32| {
                let has = types.memory_types[*i as usize].property_flags;
                needs.memory_type_bits & (1 << i) != 0 && has.contains(flags)
            };
            let index = (0..types.memory_type_count).find(fits).context("memory of that kind")?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
            Ok(device.allocate_memory(&info, None)?)
        }
    }

    /// Waits until a lane is through with a frame.
    pub fn wait(&self, lane: &Lane, frame: u64) -> Result<()> {
        let (semaphores, values) = ([lane.timeline], [frame]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive.
        Ok(unsafe { self.host.device.wait_semaphores(&info, u64::MAX) }?)
    }

    /// Frames that a lane is through with.
    pub fn completed(&self, lane: &Lane) -> Result<u64> {
        // SAFETY: the semaphore is alive.
        Ok(unsafe { self.host.device.get_semaphore_counter_value(lane.timeline) }?)
    }

    /// Begins the commands of a frame, from 1 on, once those that had the same command buffer are done.
    pub fn begin(&self, lane: &Lane, frame: u64) -> Result<vk::CommandBuffer> {
        self.wait(lane, frame.saturating_sub(IN_FLIGHT))?;
        let commands = lane.commands[(frame % IN_FLIGHT) as usize];
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is idle.
        unsafe { self.host.device.begin_command_buffer(commands, &begin)? };
        Ok(commands)
    }

    /// Submits them; they wait for `after`, a value of another lane's semaphore.
    pub fn submit(
        &self,
        lane: &Lane,
        frame: u64,
        commands: vk::CommandBuffer,
        after: Option<(&Lane, u64)>,
    ) -> Result<()> {
        let (buffers, signals, values) = ([commands], [lane.timeline], [frame]);
        let (waits, wait_values): (Vec<_>, Vec<_>) = after.iter().map(|(lane, value)| (lane.timeline, *value)).unzip();
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&values);
        let submit = vk::SubmitInfo::default()
            .command_buffers(&buffers)
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signals)
            .push_next(&mut timeline);
        // SAFETY: the commands are complete, and everything they use is alive.
        unsafe {
            self.host.device.end_command_buffer(commands)?;
            Ok(self.host.device.queue_submit(lane.queue, &[submit], vk::Fence::null())?)
        }
    }

    /// A barrier of the renderer's own.
    pub fn barrier(
        &self,
        commands: vk::CommandBuffer,
        from: (vk::PipelineStageFlags, vk::AccessFlags),
        to: (vk::PipelineStageFlags, vk::AccessFlags),
    ) {
        let memory = [vk::MemoryBarrier::default().src_access_mask(from.1).dst_access_mask(to.1)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is being recorded, outside a render pass.
        unsafe { self.host.device.cmd_pipeline_barrier(commands, from.0, to.0, none, &memory, &[], &[]) };
    }
}

impl Lane {
    unsafe fn new(device: &ash::Device, family: u32) -> Result<Self> {
        // SAFETY: the device is alive, and has a queue of the family.
        unsafe {
            let queue = device.get_device_queue(family, 0);
            let info = vk::CommandPoolCreateInfo::default()
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
                .queue_family_index(family);
            let pool = device.create_command_pool(&info, None)?;
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(IN_FLIGHT as u32);
            let commands = device.allocate_command_buffers(&info)?;
            let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let timeline = device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None)?;
            Ok(Self { family, queue, timeline, pool, commands })
        }
    }
}

impl Drop for Renderer {
    /// The engine's objects were dropped before.
    fn drop(&mut self) {
        let device = &self.host.device;
        // SAFETY: everything is idle then, and destroyed in the reverse order of creation.
        unsafe {
            let _ = device.device_wait_idle();
            for (buffer, memory) in self.buffers.take() {
                device.destroy_buffer(buffer, None);
                device.free_memory(memory, None);
            }
            for lane in std::iter::once(&self.graphics).chain(&self.compute) {
                device.destroy_semaphore(lane.timeline, None);
                device.destroy_command_pool(lane.pool, None);
            }
            device.destroy_device(None);
            self.host.instance.destroy_instance(None);
        }
    }
}
