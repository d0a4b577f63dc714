//! Embeds the engine into a renderer that owns its Vulkan device: the host creates instance, device, queue, command
//! buffers and semaphores; the engine only records. Run with `cargo run --release --example embed`.
//!
//! The renderer writes boxes into a buffer of the engine's; the engine finds the overlapping pairs, in the same command
//! buffer; the renderer's later passes may read them.

use anyhow::{Context, Result};
use drystone::glam::Vec3;
use drystone::layout::{Aabb, Extent};
use drystone::plan::Recording;
use drystone::plan::detect::bvh::{Bvh, Search};
use drystone::vulkan::ash::{self, vk};
use drystone::vulkan::{Exit, GpuAllocator, Host, Program, ProgramOptions, Support, Timing, enable_required};

const FRAMES: u64 = 6;
const IN_FLIGHT: u64 = 2;
const BOXES: u32 = 2000;

/// The renderer's own Vulkan.
struct Renderer {
    host: Host,
    queue: vk::Queue,
    pool: vk::CommandPool,
    commands: Vec<vk::CommandBuffer>,
    timeline: vk::Semaphore,
    _entry: ash::Entry,
}

impl Renderer {
    fn new() -> Result<Self> {
        // SAFETY: ordinary Vulkan start-up; every handle is alive where it is used.
        unsafe {
            let entry = ash::Entry::load().context("no Vulkan loader; on Debian: apt install mesa-vulkan-drivers")?;
            let application = vk::ApplicationInfo::default().api_version(drystone::vulkan::API_VERSION);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info, None)?;

            // Ask the engine about every device before one is created.
            let mut chosen = None;
            for physical_device in instance.enumerate_physical_devices()? {
                let support = Support::query(&instance, physical_device);
                println!("{}: lacks {:?}", support.device_name, support.missing());
                if support.missing().is_empty() && support.timeline_semaphore {
                    chosen = chosen.or(support.compute_family().map(|family| (physical_device, family)));
                }
            }
            let (physical_device, queue_family) = chosen.context("no device can run the kernels")?;

            // The renderer's features, with the engine's added.
            let mut features = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
            enable_required(&mut features);
            let priorities = [1.0];
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&priorities)];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut features);
            let device = instance.create_device(physical_device, &info, None)?;
            let queue = device.get_device_queue(queue_family, 0);

            let info = vk::CommandPoolCreateInfo::default()
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
                .queue_family_index(queue_family);
            let pool = device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .level(vk::CommandBufferLevel::PRIMARY)
                .command_buffer_count(IN_FLIGHT as u32);
            let commands = device.allocate_command_buffers(&info)?;
            let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let timeline = device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None)?;
            let host =
                Host { instance, physical_device, device, queue_family, pipeline_cache: None, debug_utils: None };
            Ok(Self { host, queue, pool, commands, timeline, _entry: entry })
        }
    }

    fn wait(&self, value: u64) -> Result<()> {
        let (semaphores, values) = ([self.timeline], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive.
        Ok(unsafe { self.host.device.wait_semaphores(&info, u64::MAX) }?)
    }
}

fn main() -> Result<()> {
    let renderer = Renderer::new()?;
    let device = renderer.host.device.clone();

    // The step, as data. It can be printed, counted and tested without a device.
    let mut recording = Recording::new("broad phase");
    let counters = recording.buffer("counters", 2)?;
    let overflow = recording.buffer("overflow", 1)?;
    let boxes = recording.buffer::<Aabb>("boxes", u64::from(BOXES))?;
    recording.fill(overflow, 0..1, 0)?;
    let bvh = Bvh { boxes, extent: Extent::host(BOXES), counters, spare: 0 };
    let tree = bvh.record(&mut recording, "bvh")?;
    Search { capacity: BOXES, needed: 1, overflow, bit: 0, tile: 64 }.record(&mut recording, "pairs", &tree)?;

    // SAFETY: the renderer's handles are alive and outlive the program; the features are enabled.
    let mut program = unsafe {
        let memory = GpuAllocator::new(&renderer.host)?;
        let options = ProgramOptions { frames_in_flight: IN_FLIGHT as u32, timing: Timing::Passes };
        Program::new(&renderer.host, memory, recording, options)?
    };

    let target = program.vk_buffer(boxes.id()).context("a buffer of this recording")?;
    for frame in 0..FRAMES {
        // The renderer's own pacing: the command buffer of this frame is free again.
        renderer.wait((frame + 1).saturating_sub(IN_FLIGHT))?;
        let commands = renderer.commands[(frame % IN_FLIGHT) as usize];
        // SAFETY: the command buffer is idle; the engine's buffers are alive; one queue, submitted in order.
        unsafe {
            let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            device.begin_command_buffer(commands, &begin)?;
            // The renderer's pass: a row of boxes that slide into each other. On entry the engine expects such writes to
            // be visible to the compute stage, and its own earlier reads to be over.
            let row: Vec<Aabb> = (0..BOXES)
                .map(|i| {
                    let min = Vec3::X * i as f32 * (1.4 - 0.1 * frame as f32);
                    Aabb { min, max: min + 1.0 }
                })
                .collect();
            let (compute, transfer) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::TRANSFER);
            let none = vk::DependencyFlags::empty();
            let visible = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::SHADER_READ)];
            device.cmd_pipeline_barrier(commands, compute, transfer, none, &[], &[], &[]);
            device.cmd_update_buffer(commands, target, 0, bytemuck::cast_slice(&row));
            device.cmd_pipeline_barrier(commands, transfer, compute, none, &visible, &[], &[]);
            let seen_by = Exit {
                stages: vk::PipelineStageFlags::VERTEX_SHADER | vk::PipelineStageFlags::COMPUTE_SHADER,
                access: vk::AccessFlags::SHADER_READ,
            };
            program.record(commands, Some(seen_by));
            // ... the renderer's passes after: they may read `program.vk_buffer(...)` in vertex and compute shaders ...
            device.end_command_buffer(commands)?;

            let (buffers, semaphores, values) = ([commands], [renderer.timeline], [frame + 1]);
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
            let submit = vk::SubmitInfo::default()
                .command_buffers(&buffers)
                .signal_semaphores(&semaphores)
                .push_next(&mut timeline);
            device.queue_submit(renderer.queue, &[submit], vk::Fence::null())?;
        }
        // Times of earlier frames arrive when they are there; nothing waits for them.
        while let Some(times) = program.times()? {
            println!("frame {frame}: run {} took {:?} in {} passes", times.run, times.total(), times.passes.len());
        }
    }

    renderer.wait(FRAMES)?;
    for memory in program.memory().iter().filter(|m| m.bytes > 20_000) {
        println!("{:<24} {:>9} bytes", memory.name, memory.bytes);
    }
    // The engine goes first, then the renderer's own objects.
    drop(program);
    // SAFETY: everything is idle; destroyed in the reverse order of creation.
    unsafe {
        device.destroy_semaphore(renderer.timeline, None);
        device.destroy_command_pool(renderer.pool, None);
        device.destroy_device(None);
        renderer.host.instance.destroy_instance(None);
    }
    Ok(())
}
