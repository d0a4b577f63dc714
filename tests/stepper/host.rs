//! A host that owns command buffers, fences and memory, and frames that are made in it.

use super::*;

pub const DT: f32 = 1.0 / 60.0;

pub const IN_FLIGHT: u64 = 2;

/// A host with a frame loop: command buffers, a timeline semaphore, and a buffer that it reads results from.
pub struct HostLoop {
    pub device: Arc<OwnDevice>,
    pub pool: vk::CommandPool,
    pub commands: Vec<vk::CommandBuffer>,
    pub timeline: vk::Semaphore,
    pub buffer: vk::Buffer,
    pub memory: vk::DeviceMemory,
    pub mapped: *const u8,
}

/// Bytes the host can read back.
pub const ROOM: u64 = 1 << 20;

impl HostLoop {
    pub fn new(device: Arc<OwnDevice>) -> Self {
        let host = device.host();
        // SAFETY: ordinary Vulkan, with handles that are alive; `drop` destroys what is made here.
        unsafe {
            let vk = &host.device;
            let info = vk::CommandPoolCreateInfo::default()
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
                .queue_family_index(host.queue_family);
            let pool = vk.create_command_pool(&info, None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .level(vk::CommandBufferLevel::PRIMARY)
                .command_buffer_count(IN_FLIGHT as u32);
            let commands = vk.allocate_command_buffers(&info).unwrap();
            let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let timeline = vk.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None).unwrap();
            let usage = vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::STORAGE_BUFFER;
            let info = vk::BufferCreateInfo::default().size(ROOM).usage(usage);
            let buffer = vk.create_buffer(&info, None).unwrap();
            let requirements = vk.get_buffer_memory_requirements(buffer);
            let types = host.instance.get_physical_device_memory_properties(host.physical_device);
            let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let fits = |i: &u32| {
                let flags = types.memory_types[*i as usize].property_flags;
                requirements.memory_type_bits & (1 << i) != 0 && flags.contains(wanted)
            };
            let index = (0..types.memory_type_count).find(fits).unwrap();
            let info = vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(index);
            let memory = vk.allocate_memory(&info, None).unwrap();
            vk.bind_buffer_memory(buffer, memory, 0).unwrap();
            let mapped = vk.map_memory(memory, 0, ROOM, vk::MemoryMapFlags::empty()).unwrap().cast::<u8>();
            Self { pool, commands, timeline, buffer, memory, mapped, device }
        }
    }

    pub fn wait(&self, value: u64) {
        let (semaphores, values) = ([self.timeline], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive.
        unsafe { self.device.host().device.wait_semaphores(&info, u64::MAX) }.unwrap();
    }

    /// Frames that the device is through with.
    pub fn completed(&self) -> u64 {
        // SAFETY: the semaphore is alive.
        unsafe { self.device.host().device.get_semaphore_counter_value(self.timeline) }.unwrap()
    }

    /// Records frame number `frame`, from 1 on, with `record`, and submits it.
    pub fn frame(&self, frame: u64, record: impl FnOnce(vk::CommandBuffer)) {
        let vk = &self.device.host().device;
        let commands = self.commands[(frame % IN_FLIGHT) as usize];
        // SAFETY: the frame before the last is over, so its command buffer is free; what is recorded is valid.
        unsafe {
            let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            vk.begin_command_buffer(commands, &begin).unwrap();
            record(commands);
            vk.end_command_buffer(commands).unwrap();
        }
        self.submit(commands, frame);
    }

    /// Submits commands, to be done when the semaphore has `value`.
    pub fn submit(&self, commands: vk::CommandBuffer, value: u64) {
        let vk = &self.device.host().device;
        // SAFETY: the commands are complete and not pending.
        unsafe {
            let (buffers, semaphores, values) = ([commands], [self.timeline], [value]);
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
            let submit = vk::SubmitInfo::default()
                .command_buffers(&buffers)
                .signal_semaphores(&semaphores)
                .push_next(&mut timeline);
            let _alone = self.device.lock_queue();
            vk.queue_submit(self.device.queue(), &[submit], vk::Fence::null()).unwrap();
        }
    }

    /// Copies from one of the engine's buffers in a frame; the engine's `exit` named TRANSFER.
    pub fn copy(&self, commands: vk::CommandBuffer, source: vk::Buffer, size: u64) {
        let vk = &self.device.host().device;
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size }];
        let to_host = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ | vk::AccessFlags::TRANSFER_WRITE)];
        let (transfer, after) =
            (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST | vk::PipelineStageFlags::TRANSFER);
        // SAFETY: both buffers are alive and hold `size` bytes.
        unsafe {
            vk.cmd_copy_buffer(commands, source, self.buffer, &region);
            vk.cmd_pipeline_barrier(commands, transfer, after, vk::DependencyFlags::empty(), &to_host, &[], &[]);
        }
    }

    /// What was copied last.
    pub fn read<T: bytemuck::Pod>(&self, count: usize) -> Vec<T> {
        let mut values = vec![T::zeroed(); count];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        assert!(bytes.len() as u64 <= ROOM);
        // SAFETY: the mapping holds `ROOM` bytes, and the device is idle.
        unsafe { std::ptr::copy_nonoverlapping(self.mapped, bytes.as_mut_ptr(), bytes.len()) };
        values
    }

    pub fn stepper(&self, world: World, settings: Settings, options: FramesOptions) -> Stepper<Frames<GpuAllocator>> {
        let host = self.device.host();
        // SAFETY: the device is alive, has the features, and outlives the stepper, which tests drop first.
        unsafe {
            let kernels = Kernels::new(host).unwrap();
            let memory = GpuAllocator::new(host).unwrap();
            Stepper::in_frames(&kernels, memory, world, settings, options).unwrap()
        }
    }
}

impl Drop for HostLoop {
    fn drop(&mut self) {
        let vk = &self.device.host().device;
        // SAFETY: everything was waited for.
        unsafe {
            vk.destroy_buffer(self.buffer, None);
            vk.free_memory(self.memory, None);
            vk.destroy_semaphore(self.timeline, None);
            vk.destroy_command_pool(self.pool, None);
        }
        if !std::thread::panicking() {
            let said = self.device.validation().take();
            assert!(said.is_empty(), "{said:?}");
        }
    }
}

/// What the host's later commands do with the engine's buffers: read them in copies.
pub const COPIES: HostAccess = HostAccess::new(vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_READ);

/// Runs `frames` frames with `edit` before each, and returns all reports. Poses for drawing are copied in every frame.
pub fn run(
    host: &HostLoop,
    stepper: &mut Stepper<Frames<GpuAllocator>>,
    first: u64,
    frames: u64,
    mut edit: impl FnMut(u64, &mut Stepper<Frames<GpuAllocator>>),
) -> Vec<StepReport> {
    let mut reports = Vec::new();
    for frame in first..first + frames {
        host.wait((frame - 1).saturating_sub(IN_FLIGHT - 1));
        edit(frame, stepper);
        let prepared = stepper.prepare(DT, host.completed()).unwrap();
        host.frame(frame, |commands| {
            // SAFETY: the command buffer is being recorded, and submitted once, in order, to the device's one queue.
            let recorded = unsafe { stepper.record(commands, prepared, Some(COPIES), Some(COPIES)) };
            assert_eq!(recorded, frame);
            let poses = stepper.poses().unwrap();
            assert_eq!((poses.stride, poses.version), (32, drystone::layout::BODY_POSE_VERSION));
            let size = u64::from(poses.count) * u64::from(poses.stride);
            host.copy(commands, poses.current, size);
        });
        reports.extend(stepper.poll(host.completed()).unwrap());
    }
    host.wait(first + frames - 1);
    reports.extend(stepper.poll(host.completed()).unwrap());
    reports
}

/// Poses of all bodies as drawn, of the last frame.
pub fn drawn(host: &HostLoop, stepper: &Stepper<Frames<GpuAllocator>>) -> Vec<BodyPose> {
    host.read(stepper.capacities().bodies as usize)
}

/// The poses on the device are those of the simulation to the last bit. Takes one more submission, number `next`.
pub fn same_state(host: &HostLoop, stepper: &Stepper<Frames<GpuAllocator>>, simulation: &mut Simulation, next: u64) {
    let hash = Metrics::of(simulation).unwrap().pose_hash;
    let slots = simulation.world().handles().map(|h| h.index()).max().unwrap() as usize + 1;
    let source = stepper.vk_buffer(stepper.plan().buffers.poses.id()).unwrap();
    host.frame(next, |commands| host.copy(commands, source, slots as u64 * 28));
    host.wait(next);
    let bytes: Vec<u8> = host.read(slots * 28);
    assert_eq!(drystone_kernels::manifest::fnv1a(bytes), hash, "on {}", host.device.support().device_name);
}

/// Joints pull on the device as in the simulation, as far as the host's own copy tells. Takes submission number `next`.
pub fn same_forces(host: &HostLoop, stepper: &Stepper<Frames<GpuAllocator>>, simulation: &mut Simulation, next: u64) {
    let view = stepper.joint_forces().expect("there is room for joints");
    assert_eq!((view.stride as usize, view.offset), (size_of::<JointForce>(), 0));
    host.frame(next, |commands| host.copy(commands, view.buffer, u64::from(view.count) * u64::from(view.stride)));
    host.wait(next);
    let forces: Vec<JointForce> = host.read(view.count as usize);
    let joints = simulation.joints().unwrap();
    for (joint, state) in &joints {
        let JointForce { force, torque } = forces[joint.index() as usize];
        assert_eq!((force, torque), (state.force, state.torque), "{joint:?}");
    }
    assert!(joints.iter().any(|(_, state)| state.force.length() > 1e3), "they carry something: {joints:?}");
}

pub fn host_loops(test: impl Fn(&HostLoop)) {
    for (name, _) in DRIVERS {
        test(&HostLoop::new(open(name)));
    }
}

/// Room for pairs and contacts, so that no step has to be left out; bodies grow all the same.
pub fn roomy(pairs: u32) -> FramesOptions {
    let capacities = Capacities { pairs, manifolds: pairs, ..Default::default() };
    FramesOptions { frames_in_flight: IN_FLIGHT as u32, capacities, ..Default::default() }
}

pub fn boxes(count: u32) -> (World, Vec<BodyHandle>) {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let side = (f64::from(count)).cbrt().ceil() as u32;
    let bodies = (0..count).map(|i| {
        let (x, y, z) = (i % side, i / side / side, i / side % side);
        let place = Vec3::new(x as f32 * 1.3, 0.7 + y as f32 * 1.1, z as f32 * 1.3);
        let turn = Quat::from_rotation_y(0.1 * i as f32);
        BodyDesc::dynamic().at(place).turned(turn).with(Collider::cuboid(Vec3::ONE))
    });
    let handles = bodies.map(|desc| world.add(desc).unwrap()).collect();
    (world, handles)
}
