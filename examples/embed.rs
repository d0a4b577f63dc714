//! Embeds the engine into a renderer that owns its Vulkan device: the host creates instance, device, queue, command
//! buffers and semaphores; the engine only records. Run with `cargo run --release --example embed [DEVICE]`.
//!
//! A thousand boxes fall while the host pushes some, adds some and removes some in every frame; lists grow on the way.
//! Two frames are in flight. The host's later commands read the poses straight from the engine's buffer; here a copy
//! stands for the vertex shader. In the end the same world is run by a [`Simulation`], and both must agree.

use anyhow::{Context, Result, ensure};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::layout::BodyPose;
use drystone::state::Capacities;
use drystone::vulkan::ash::{self, vk};
use drystone::vulkan::{
    FramesOptions, GpuAllocator, Host, HostAccess, Kernels, Loader, OwnDevice, OwnDeviceOptions, Support,
    enable_required,
};
use drystone::world::{BodyDesc, BodyHandle, Collider, World};
use drystone::{Settings, Simulation, Stepper};
use std::sync::Arc;

const FRAMES: u64 = 60;
const IN_FLIGHT: u64 = 2;
const DT: f32 = 1.0 / 60.0;

/// The renderer's own Vulkan.
struct Renderer {
    host: Host,
    name: String,
    queue: vk::Queue,
    pool: vk::CommandPool,
    commands: Vec<vk::CommandBuffer>,
    timeline: vk::Semaphore,
    _entry: ash::Entry,
}

impl Renderer {
    fn new(wanted: &str) -> Result<Self> {
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
                let fits = support.missing().is_empty() && support.timeline_semaphore;
                if fits && support.device_name.to_lowercase().contains(&wanted.to_lowercase()) {
                    let name = support.device_name.clone();
                    chosen = chosen.or(support.compute_family().map(|family| (physical_device, family, name)));
                }
            }
            let (physical_device, queue_family, name) = chosen.context("no such device can run the kernels")?;

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
            let host = Host::new(instance, physical_device, device, queue_family);
            Ok(Self { host, name, queue, pool, commands, timeline, _entry: entry })
        }
    }

    fn wait(&self, value: u64) -> Result<()> {
        let (semaphores, values) = ([self.timeline], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive.
        Ok(unsafe { self.host.device.wait_semaphores(&info, u64::MAX) }?)
    }

    /// Frames that the device is through with.
    fn completed(&self) -> Result<u64> {
        // SAFETY: the semaphore is alive.
        Ok(unsafe { self.host.device.get_semaphore_counter_value(self.timeline) }?)
    }

    /// Submits the commands of a frame.
    fn submit(&self, commands: vk::CommandBuffer, frame: u64) -> Result<()> {
        let (buffers, semaphores, values) = ([commands], [self.timeline], [frame]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let submit =
            vk::SubmitInfo::default().command_buffers(&buffers).signal_semaphores(&semaphores).push_next(&mut timeline);
        // SAFETY: the commands are complete, and everything they use is alive.
        Ok(unsafe { self.host.device.queue_submit(self.queue, &[submit], vk::Fence::null()) }?)
    }
}

/// Memory of the renderer's that it reads poses from, in place of a vertex shader.
struct Readable {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *const BodyPose,
}

/// Bodies that the renderer has room for.
const DRAWN: u64 = 4096;

impl Readable {
    fn new(host: &Host) -> Result<Self> {
        // SAFETY: ordinary Vulkan; the buffer is bound once, to memory that fits.
        unsafe {
            let size = DRAWN * size_of::<BodyPose>() as u64;
            let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST);
            let buffer = host.device.create_buffer(&info, None)?;
            let requirements = host.device.get_buffer_memory_requirements(buffer);
            let types = host.instance.get_physical_device_memory_properties(host.physical_device);
            let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let fits = |i: &u32| {
                let flags = types.memory_types[*i as usize].property_flags;
                requirements.memory_type_bits & (1 << i) != 0 && flags.contains(wanted)
            };
            let index = (0..types.memory_type_count).find(fits).context("memory that the host sees")?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(index);
            let memory = host.device.allocate_memory(&info, None)?;
            host.device.bind_buffer_memory(buffer, memory, 0)?;
            let mapped = host.device.map_memory(memory, 0, size, vk::MemoryMapFlags::empty())?.cast();
            Ok(Self { buffer, memory, mapped })
        }
    }
}

fn world() -> Result<(World, Vec<BodyHandle>)> {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space()))?;
    let place = |i: u32| Vec3::new((i % 10) as f32, 0.1 + (i / 100) as f32, (i / 10 % 10) as f32) * 1.1 + Vec3::Y * 0.6;
    let boxes = (0..1000).map(|i| world.add(BodyDesc::dynamic().at(place(i)).with(Collider::cuboid(Vec3::ONE))));
    let boxes = boxes.collect::<Result<_, _>>()?;
    Ok((world, boxes))
}

/// What the game does in a frame.
fn play(frame: u64, world: &mut World, boxes: &mut Vec<BodyHandle>) -> Result<()> {
    let pushed = boxes[(frame * 7919 % boxes.len() as u64) as usize];
    world.apply_impulse(pushed, Vec3::new(500.0, 4000.0, 100.0), Vec3::ZERO)?;
    if frame.is_multiple_of(3) {
        let place = Vec3::new((frame % 5) as f32, 14.0, (frame % 7) as f32);
        boxes.push(world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::ONE)))?);
    }
    if frame.is_multiple_of(10) {
        world.remove(boxes.swap_remove((frame * 31 % boxes.len() as u64) as usize))?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let renderer = Renderer::new(&wanted)?;
    let device = renderer.host.device.clone();
    let readable = Readable::new(&renderer.host)?;

    // Pipelines can be made on another thread while the renderer loads its own things.
    // SAFETY: the renderer's handles are alive and outlive the kernels; the features are enabled.
    let kernels = unsafe { Kernels::new(&renderer.host)? };
    std::thread::scope(|scope| scope.spawn(|| kernels.compile_all()).join().expect("no panic"))?;

    let (world, mut boxes) = world()?;
    let first_boxes = boxes.clone();
    // SAFETY: as above, for the stepper.
    let mut stepper = unsafe {
        let memory = GpuAllocator::new(&renderer.host)?;
        // Room for what the heap will be, so that no step is left out until lists have grown: only those of bodies do.
        let capacities = Capacities { pairs: 8000, manifolds: 4000, ..Default::default() };
        let options = FramesOptions { frames_in_flight: IN_FLIGHT as u32, capacities, ..Default::default() };
        Stepper::in_frames(&kernels, memory, world.clone(), Settings::default(), options)?
    };
    // What the renderer's commands do with the poses. On a graphics queue: VERTEX_SHADER and SHADER_READ.
    let drawing = HostAccess::new(vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_READ);

    let (mut dropped, mut grown) = (Vec::new(), 0);
    let mut tell = |report: &drystone::StepReport| {
        grown += report.events.iter().filter(|e| matches!(e.kind, drystone::EventKind::Grown { .. })).count();
        dropped.extend((report.dropped > 0).then_some(report.frame));
        if report.frame.is_multiple_of(20) {
            let time: std::time::Duration = report.times.iter().map(drystone::backend::RunTimes::total).sum();
            println!("frame {}: {} contacts, {time:?}", report.frame, report.manifolds);
        }
    };
    for frame in 1..=FRAMES {
        // The renderer's own pacing: the command buffer of this frame is free again.
        renderer.wait((frame - 1).saturating_sub(IN_FLIGHT - 1))?;
        play(frame, stepper.world_mut(), &mut boxes)?;
        let prepared = stepper.prepare(DT, renderer.completed()?)?;
        let commands = renderer.commands[(frame % IN_FLIGHT) as usize];
        // SAFETY: the command buffer is idle; the buffers are alive; one queue, submitted in order, once.
        unsafe {
            let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            device.begin_command_buffer(commands, &begin)?;
            stepper.record(commands, prepared, Some(drawing), Some(drawing));
            // ... the renderer's passes: poses are instance data, by body slot ...
            let poses = stepper.poses().context("poses")?;
            let size = DRAWN.min(poses.count.into()) * u64::from(poses.stride);
            let region = vk::BufferCopy { src_offset: poses.offset, dst_offset: 0, size };
            device.cmd_copy_buffer(commands, poses.current, readable.buffer, &[region]);
            let written = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ | vk::AccessFlags::TRANSFER_WRITE)];
            let (from, to) =
                (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST | vk::PipelineStageFlags::TRANSFER);
            device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &written, &[], &[]);
            device.end_command_buffer(commands)?;
        }
        renderer.submit(commands, frame)?;
        // What earlier frames did; nothing waits for it.
        stepper.poll(renderer.completed()?)?.iter().for_each(&mut tell);
    }
    renderer.wait(FRAMES)?;
    stepper.poll(FRAMES)?.iter().for_each(&mut tell);
    println!("lists grew {grown} times; frames without a step because of it: {dropped:?}");

    // The same world in a simulation that waits, on a device of the engine's own. It leaves out the same steps; what was
    // said for them belongs to the next one.
    let options = OwnDeviceOptions { name: Some(renderer.name.clone()), ..Default::default() };
    let own = Arc::new(OwnDevice::new(&Loader::system()?, &options)?);
    let mut simulation = Simulation::new(world, Settings::default(), Device::Vulkan(own))?;
    let mut boxes = first_boxes;
    for frame in 1..=FRAMES {
        play(frame, simulation.world_mut(), &mut boxes)?;
        if !dropped.contains(&frame) {
            simulation.step(DT)?;
        }
    }
    let mut differ = 0;
    for (body, state) in simulation.bodies()? {
        // SAFETY: the device is idle, and slots of this world are within the room that was copied.
        let pose = unsafe { *readable.mapped.add(body.index() as usize) };
        ensure!(pose.present == 1, "body {} is not drawn", body.index());
        differ += usize::from((pose.position - state.position).length() > 1e-5);
    }
    println!("{differ} of {} bodies differ from the simulation", simulation.world().len());
    ensure!(differ == 0, "both made the same steps, and must agree");

    // The engine goes first, then the renderer's own objects.
    drop(stepper);
    drop(kernels);
    // SAFETY: everything is idle; destroyed in the reverse order of creation.
    unsafe {
        device.destroy_buffer(readable.buffer, None);
        device.free_memory(readable.memory, None);
        device.destroy_semaphore(renderer.timeline, None);
        device.destroy_command_pool(renderer.pool, None);
        device.destroy_device(None);
        renderer.host.instance.destroy_instance(None);
    }
    Ok(())
}
