//! The stepper inside a host's frames: its own command buffers, two frames in flight, edits every frame, growth on the
//! way, under the validation layers with synchronisation validation on.

mod common;

use common::{DRIVERS, open};
use drystone::backend::{Device, RunnerExt};
use drystone::glam::{Quat, Vec3};
use drystone::layout::BodyPose;
use drystone::metrics::Metrics;
use drystone::state::{Capacities, List, UserBuffer};
use drystone::stepper::JointForce;
use drystone::vulkan::ash::vk;
use drystone::vulkan::{Frames, FramesOptions, GpuAllocator, HostAccess, Kernels, Overflow, OwnDevice, PoseTarget};
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, JointHandle, World};
use drystone::{EventKind, Settings, Simulation, StepReport, Stepper, scenes};
use std::sync::Arc;

const DT: f32 = 1.0 / 60.0;
const IN_FLIGHT: u64 = 2;

/// A host with a frame loop: command buffers, a timeline semaphore, and a buffer that it reads results from.
struct HostLoop {
    device: Arc<OwnDevice>,
    pool: vk::CommandPool,
    commands: Vec<vk::CommandBuffer>,
    timeline: vk::Semaphore,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *const u8,
}

/// Bytes the host can read back.
const ROOM: u64 = 1 << 20;

impl HostLoop {
    fn new(device: Arc<OwnDevice>) -> Self {
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

    fn wait(&self, value: u64) {
        let (semaphores, values) = ([self.timeline], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive.
        unsafe { self.device.host().device.wait_semaphores(&info, u64::MAX) }.unwrap();
    }

    /// Frames that the device is through with.
    fn completed(&self) -> u64 {
        // SAFETY: the semaphore is alive.
        unsafe { self.device.host().device.get_semaphore_counter_value(self.timeline) }.unwrap()
    }

    /// Records frame number `frame`, from 1 on, with `record`, and submits it.
    fn frame(&self, frame: u64, record: impl FnOnce(vk::CommandBuffer)) {
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
    fn submit(&self, commands: vk::CommandBuffer, value: u64) {
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
    fn copy(&self, commands: vk::CommandBuffer, source: vk::Buffer, size: u64) {
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
    fn read<T: bytemuck::Pod>(&self, count: usize) -> Vec<T> {
        let mut values = vec![T::zeroed(); count];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        assert!(bytes.len() as u64 <= ROOM);
        // SAFETY: the mapping holds `ROOM` bytes, and the device is idle.
        unsafe { std::ptr::copy_nonoverlapping(self.mapped, bytes.as_mut_ptr(), bytes.len()) };
        values
    }

    fn stepper(&self, world: World, settings: Settings, options: FramesOptions) -> Stepper<Frames<GpuAllocator>> {
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
const COPIES: HostAccess = HostAccess::new(vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_READ);

/// Runs `frames` frames with `edit` before each, and returns all reports. Poses for drawing are copied in every frame.
fn run(
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
fn drawn(host: &HostLoop, stepper: &Stepper<Frames<GpuAllocator>>) -> Vec<BodyPose> {
    host.read(stepper.capacities().bodies as usize)
}

/// The poses on the device are those of the simulation to the last bit. Takes one more submission, number `next`.
fn same_state(host: &HostLoop, stepper: &Stepper<Frames<GpuAllocator>>, simulation: &mut Simulation, next: u64) {
    let hash = Metrics::of(simulation).unwrap().pose_hash;
    let slots = simulation.world().handles().map(|h| h.index()).max().unwrap() as usize + 1;
    let source = stepper.vk_buffer(stepper.plan().buffers.poses.id()).unwrap();
    host.frame(next, |commands| host.copy(commands, source, slots as u64 * 28));
    host.wait(next);
    let bytes: Vec<u8> = host.read(slots * 28);
    assert_eq!(drystone_kernels::manifest::fnv1a(bytes), hash, "on {}", host.device.support().device_name);
}

/// Joints pull on the device as in the simulation, as far as the host's own copy tells. Takes submission number `next`.
fn same_forces(host: &HostLoop, stepper: &Stepper<Frames<GpuAllocator>>, simulation: &mut Simulation, next: u64) {
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

fn boxes(count: u32) -> (World, Vec<BodyHandle>) {
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

/// What a game does to a world in a frame: pushes, bodies that come and go.
fn play(frame: u64, world: &mut World, bodies: &mut Vec<BodyHandle>) {
    let n = bodies.len() as u64;
    let pushed = bodies[(frame * 7919 % n) as usize];
    world.apply_impulse(pushed, Vec3::new(0.5, 2.0, 0.1) * world.mass(pushed).unwrap(), Vec3::ZERO).unwrap();
    if frame.is_multiple_of(4) {
        let place = Vec3::new((frame % 5) as f32, 14.0 + frame as f32 * 0.3, (frame % 7) as f32);
        bodies.push(world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::ONE))).unwrap());
    }
    if frame.is_multiple_of(9) {
        world.remove(bodies.swap_remove((frame * 31 % n) as usize)).unwrap();
    }
}

fn host_loops(test: impl Fn(&HostLoop)) {
    for (name, _) in DRIVERS {
        test(&HostLoop::new(open(name)));
    }
}

/// Room for pairs and contacts, so that no step has to be left out; bodies grow all the same.
fn roomy(pairs: u32) -> FramesOptions {
    let capacities = Capacities { pairs, manifolds: pairs, ..Default::default() };
    FramesOptions { frames_in_flight: IN_FLIGHT as u32, capacities, ..Default::default() }
}

#[test]
fn a_thousand_boxes_step_inside_the_hosts_frames_as_in_a_simulation() {
    const FRAMES: u64 = 40;
    host_loops(|host| {
        let settings = Settings::default();
        let (world, mut bodies) = boxes(1000);
        let mut simulation = Simulation::new(world.clone(), settings, Device::Vulkan(host.device.clone())).unwrap();
        let mut stepper = host.stepper(world, settings, roomy(20_000));
        let mut same = bodies.clone();
        let reports = run(host, &mut stepper, 1, FRAMES, |frame, s| play(frame, s.world_mut(), &mut bodies));
        for frame in 1..=FRAMES {
            play(frame, simulation.world_mut(), &mut same);
            simulation.step(DT).unwrap();
        }
        assert_eq!(reports.len() as u64, FRAMES, "every frame is told once");
        assert!(reports.iter().zip(1..).all(|(r, frame)| r.frame == frame && r.dropped == 0));
        let grown = reports.iter().flat_map(|r| &r.events).filter(|e| matches!(e.kind, EventKind::Grown { .. }));
        assert!(grown.count() > 0, "bodies that came made the lists grow");
        assert!(reports.iter().any(|r| r.times.iter().any(|t| t.passes.iter().any(|p| p.name == "primal"))));
        assert_eq!(stepper.steps(), simulation.steps());

        let poses = drawn(host, &stepper);
        for (handle, state) in simulation.bodies().unwrap() {
            let pose = &poses[handle.index() as usize];
            assert_eq!(pose.present, 1);
            assert!((pose.position - state.position).length() < 1e-5, "{pose:?} {state:?}");
        }
        // The state itself is the same to the last bit.
        same_state(host, &stepper, &mut simulation, FRAMES + 1);
    });
}

/// Cubes that hang on the world by joints, one of them by one that breaks when it is pulled, above a stone that is a
/// hull.
fn hanging() -> (World, Vec<BodyHandle>, JointHandle) {
    let (mut world, _) = boxes(8);
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(0.3, 1.2, 0.3), Vec3::new(0.8, 0.2, 0.9)];
    world.add(BodyDesc::dynamic().at(Vec3::new(1.0, 6.0, 1.0)).with(Collider::hull(&corners).unwrap())).unwrap();
    let mut joints = Vec::new();
    let bodies: Vec<_> = (0..4)
        .map(|i| {
            let place = Vec3::new(20.0 + 3.0 * i as f32, 5.0, 0.0);
            let body = world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::ONE))).unwrap();
            let limit = if i == 2 { 1.5 * 9810.0 } else { f32::INFINITY };
            let joint = JointDesc::fixed(body, None).anchors(Vec3::ZERO, place).breaking(limit, f32::INFINITY);
            joints.push(world.add_joint(joint).unwrap());
            body
        })
        .collect();
    (world, bodies, joints[2])
}

/// Pulls one of them in the tenth frame, and hangs more on them in the twentieth.
fn pull(frame: u64, world: &mut World, bodies: &[BodyHandle]) {
    if frame == 10 {
        world.set_force(bodies[2], Vec3::Y * -20_000.0, Vec3::ZERO).unwrap();
    }
    if frame == 20 {
        for (i, &above) in bodies.iter().enumerate() {
            let place = Vec3::new(20.0 + 3.0 * i as f32, 3.5, 0.0);
            let body = world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::ONE * 0.5))).unwrap();
            let joint = JointDesc::ball(body, above).anchors(Vec3::Y * 0.75, Vec3::Y * -0.75);
            world.add_joint(joint).unwrap();
        }
    }
}

#[test]
fn joints_break_grow_and_are_told_in_frames_as_in_a_simulation() {
    const FRAMES: u64 = 36;
    let broken = |reports: &[StepReport]| -> Vec<_> {
        let events = reports.iter().flat_map(|r| &r.events);
        events.filter(|e| matches!(e.kind, EventKind::Broken { .. })).copied().collect()
    };
    host_loops(|host| {
        let with = |substeps: u32, most: u32| {
            Settings::default().with(|s| (s.substeps, s.substeps_most, s.stability) = (substeps, most, 1e-3))
        };
        // The last has sub-steps that the device chooses.
        for settings in [with(1, 0), with(3, 0), with(1, 4)] {
            let host = HostLoop::new(host.device.clone());
            let (world, bodies, weak) = hanging();
            let mut simulation = Simulation::new(world.clone(), settings, Device::Vulkan(host.device.clone())).unwrap();
            let mut stepper = host.stepper(world, settings, roomy(500));
            let reports = run(&host, &mut stepper, 1, FRAMES, |frame, s| pull(frame, s.world_mut(), &bodies));
            let mut expected = Vec::new();
            for frame in 1..=FRAMES {
                pull(frame, simulation.world_mut(), &bodies);
                expected.push(simulation.step(DT).unwrap());
            }
            assert_eq!(broken(&reports), broken(&expected), "with their steps and forces");
            assert_eq!(broken(&reports).len(), 1);
            let substeps = |reports: &[StepReport]| -> Vec<_> {
                reports.iter().map(|r| (r.substeps, r.substeps_wanted, r.short_frames, r.dropped)).collect()
            };
            let made = substeps(&reports);
            assert_eq!(made, substeps(&expected));
            let varied = made.iter().any(|m| m.0 != made[0].0);
            assert_eq!(varied, settings.substeps_most > 0, "{made:?}");
            assert!(stepper.world().is_broken(weak).unwrap());
            assert!(stepper.capacities().joints >= 8, "four joints came");
            same_state(&host, &stepper, &mut simulation, FRAMES + 1);
            same_forces(&host, &stepper, &mut simulation, FRAMES + 2);
        }
    });
}

#[test]
fn a_step_that_does_not_fit_is_skipped_or_made_in_part_and_told() {
    host_loops(|host| {
        for overflow in [Overflow::Skip, Overflow::Partial] {
            let (world, _) = boxes(60);
            let capacities = Capacities::default();
            let options = FramesOptions { overflow, capacities, ..Default::default() };
            // A heap that is far closer together than its number of bodies lets expect.
            let mut dense = world.clone();
            for i in 0..60 {
                let place = Vec3::new((i % 4) as f32 * 0.3, 5.0 + (i / 16) as f32 * 0.3, (i / 4 % 4) as f32 * 0.3);
                dense.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::ONE))).unwrap();
            }
            let host = HostLoop::new(host.device.clone());
            let mut stepper = host.stepper(dense, Settings::default(), options);
            let reports = run(&host, &mut stepper, 1, 12, |_, _| {});
            let short: Vec<_> = reports.iter().filter(|r| r.needed.is_some()).collect();
            assert!(!short.is_empty(), "the heap does not fit at first");
            let dropped: u32 = reports.iter().map(|r| r.dropped).sum();
            match overflow {
                Overflow::Skip => assert_eq!(dropped as usize, short.len()),
                Overflow::Partial => assert_eq!(dropped, 0),
                _ => unreachable!("neither was asked for"),
            }
            assert_eq!(stepper.steps(), 12 - u64::from(dropped));
            assert!(reports[8..].iter().all(|r| r.needed.is_none() && r.dropped == 0), "it fits in the end");
            let poses = drawn(&host, &stepper);
            assert!(poses.iter().filter(|p| p.present == 1).all(|p| p.position.is_finite()));
        }
    });
}

#[test]
fn poses_that_another_queue_owns_meanwhile_are_stepped_on_as_if_they_had_stayed() {
    const FRAMES: u64 = 7;
    // Every colour is a dispatch, and they are what takes time here.
    let mut few = Settings::default();
    few.set_all([("iterations", 2.0), ("cold_iterations", 0.0), ("colours", 4.0)]).unwrap();
    // Drivers here have one family. What is outside of the device stands for another: its halves are not recorded here,
    // and the engine's are the same.
    let outside = COPIES.on_family(vk::QUEUE_FAMILY_EXTERNAL);
    let host = &HostLoop::new(open("llvmpipe"));
    let (world, _) = boxes(60);
    let device = Device::Vulkan(host.device.clone());
    let mut simulation = Simulation::new(world.clone(), few, device).unwrap();
    let mut stepper = host.stepper(world, few, roomy(3000));
    let target = PoseTarget::new(host.buffer, 4096, 48, 60);
    // SAFETY: the host's buffer is large enough, and outlives the stepper.
    let lent = unsafe { stepper.lend_pose_buffer(target) }.unwrap();
    for frame in 1..=FRAMES {
        host.wait(frame - 1);
        if frame == 4 {
            // Lists grow while the old poses are with the other owner.
            for world in [stepper.world_mut(), simulation.world_mut()] {
                for i in 0..100 {
                    let at = Vec3::new(i as f32 * 1.5, 20.0, -9.0);
                    world.add(BodyDesc::dynamic().at(at).with(Collider::sphere(0.5))).unwrap();
                }
            }
        }
        let prepared = stepper.prepare(DT, frame - 1).unwrap();
        host.frame(frame, |commands| {
            let exit = if frame == FRAMES { COPIES } else { outside };
            // SAFETY: as in `run`.
            unsafe {
                stepper.record(commands, prepared, Some(outside), Some(exit));
                if frame == FRAMES {
                    stepper.record_poses(commands, lent, 1.0, Some(outside), Some(outside));
                    stepper.record_poses(commands, lent, 1.0, Some(outside), None);
                }
            }
        });
        simulation.step(DT).unwrap();
    }
    host.wait(FRAMES);
    assert!(stepper.poll(FRAMES).unwrap().iter().all(|r| r.dropped == 0));
    same_state(host, &stepper, &mut simulation, FRAMES + 1);
    let (poses, count) = (stepper.poses().unwrap(), simulation.world().len() as u64);
    let bodies = simulation.bodies().unwrap();
    host.frame(FRAMES + 2, |commands| host.copy(commands, poses.previous, count * 32));
    host.wait(FRAMES + 2);
    assert!(host.read::<BodyPose>(count as usize).iter().all(|pose| pose.present == 1), "carried over");
    host.frame(FRAMES + 3, |commands| host.copy(commands, poses.current, count * 32));
    host.wait(FRAMES + 3);
    let drawn = host.read::<BodyPose>(count as usize);
    for (body, state) in bodies {
        assert!((drawn[body.index() as usize].position - state.position).length() < 1e-5, "{body:?}");
    }
    let said = host.device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn a_compound_with_an_offset_centre_of_mass_is_drawn_where_its_user_put_it() {
    host_loops(|host| {
        let mut world = World::new();
        world.set_gravity(Vec3::ZERO).unwrap();
        let hammer = BodyDesc::dynamic()
            .at(Vec3::new(1.0, 2.0, 3.0))
            .turned(Quat::from_rotation_z(0.4))
            .with(Collider::cuboid(Vec3::new(1.0, 0.1, 0.1)))
            .with(Collider::cuboid(Vec3::new(0.2, 0.6, 0.3)).at(Vec3::new(0.6, 0.1, 0.2)));
        let still = world.add(hammer.clone()).unwrap();
        let turning = world.add(hammer.at(Vec3::Y * 20.0).spinning(Vec3::new(0.3, 1.0, 0.2))).unwrap();
        let mut simulation =
            Simulation::new(world.clone(), Settings::default(), Device::Cpu { threads: Some(1) }).unwrap();
        let mut stepper = host.stepper(world, Settings::default(), FramesOptions::default());
        run(host, &mut stepper, 1, 30, |_, _| {});
        for _ in 0..30 {
            simulation.step(DT).unwrap();
        }
        let poses = drawn(host, &stepper);
        for body in [still, turning] {
            let (state, pose) = (simulation.body(body).unwrap(), poses[body.index() as usize]);
            let r = pose.rotation;
            let rotation = Quat::from_xyzw(r.x, r.y, r.z, r.s);
            assert!((pose.position - state.position).length() < 1e-4, "{pose:?} {state:?}");
            assert!(rotation.dot(state.rotation).abs() > 1.0 - 1e-5, "{pose:?} {state:?}");
        }
        assert!((poses[still.index() as usize].position - Vec3::new(1.0, 2.0, 3.0)).length() < 1e-5);
    });
}

#[test]
fn poses_between_frames_go_into_the_hosts_buffer_with_its_stride() {
    const COUNT: u32 = 44;
    let read = HostAccess::new(vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
    // The kernel itself is compared on every device in `tests/parity.rs`.
    let host = HostLoop::new(open("llvmpipe"));
    let (world, bodies) = boxes(30);
    let settings = Settings::default().with(|s| s.substeps = 2);
    let mut simulation = Simulation::new(world.clone(), settings, Device::Vulkan(host.device.clone())).unwrap();
    let mut stepper = host.stepper(world, settings, roomy(2000));
    let target = PoseTarget::new(host.buffer, 20, 52, COUNT);
    for wrong in [PoseTarget::new(host.buffer, 20, 28, COUNT), PoseTarget::new(host.buffer, 2, 52, COUNT)] {
        // SAFETY: the buffer is alive; nothing comes of it.
        let error = unsafe { stepper.lend_pose_buffer(wrong) }.unwrap_err().to_string();
        assert!(error.contains("the buffer for poses"), "{error}");
    }
    // SAFETY: the buffer is alive as long as the host, and large enough.
    let lent = unsafe { stepper.lend_pose_buffer(target) }.unwrap();
    let places = |s: &mut Simulation| s.bodies().unwrap().into_iter().map(|(h, b)| (h, b.position)).collect();
    let check = |part: f32, before: &Vec<(BodyHandle, Vec3)>, now: &Vec<(BodyHandle, Vec3)>| {
        let bytes: Vec<u8> = host.read(20 + 52 * COUNT as usize);
        let shown = |slot: usize| bytemuck::pod_read_unaligned::<BodyPose>(&bytes[20 + 52 * slot..][..32]);
        for (body, place) in now {
            // One that has just come was nowhere before.
            let before = before.iter().find(|(b, _)| b == body).map_or(*place, |(_, p)| *p);
            let pose = shown(body.index() as usize);
            assert_eq!(pose.present, 1);
            assert!((pose.position - before.lerp(*place, part)).length() < 1e-5, "{body:?}: {pose:?}");
        }
        (0..COUNT as usize).filter(|slot| shown(*slot).present == 1).count()
    };
    let mut before: Vec<(BodyHandle, Vec3)> = Vec::new();
    for step in 1..=6u64 {
        if step == 4 {
            // One goes, and more come than there is room for: buffers are others from here on.
            for world in [simulation.world_mut(), stepper.world_mut()] {
                world.remove(bodies[3]).unwrap();
                for i in 0..12 {
                    let place = Vec3::new(i as f32 * 2.0, 30.0, 0.0);
                    world.add(BodyDesc::dynamic().at(place).with(Collider::sphere(0.3))).unwrap();
                }
            }
        }
        simulation.step(DT).unwrap();
        let now = places(&mut simulation);
        let prepared = stepper.prepare(DT, step - 1).unwrap();
        // SAFETY: as in `run`.
        host.frame(2 * step - 1, |commands| unsafe {
            stepper.record(commands, prepared, None, None);
            stepper.record_poses(commands, lent, 0.25, None, Some(read));
        });
        host.wait(2 * step - 1);
        check(0.25, &before, &now);
        // A frame of the renderer's without a step.
        // SAFETY: as in `run`.
        host.frame(2 * step, |commands| unsafe { stepper.record_poses(commands, lent, 0.75, None, Some(read)) });
        host.wait(2 * step);
        assert_eq!(check(0.75, &before, &now), now.len(), "those that are not there are not marked");
        before = now;
    }
    stepper.return_pose_buffer(lent);
}

#[test]
fn commands_that_are_recorded_once_do_the_same_and_are_timed() {
    let host = HostLoop::new(open("llvmpipe"));
    let (world, mut bodies) = boxes(60);
    let settings = Settings::default().with(|s| s.substeps = 2);
    let mut simulation = Simulation::new(world.clone(), settings, Device::Vulkan(host.device.clone())).unwrap();
    let mut stepper = host.stepper(world, settings, FramesOptions { recorded_once: true, ..roomy(4000) });
    let mut same = bodies.clone();
    let reports = run(&host, &mut stepper, 1, 12, |frame, s| play(frame, s.world_mut(), &mut bodies));
    for frame in 1..=12 {
        play(frame, simulation.world_mut(), &mut same);
        simulation.step(DT).unwrap();
    }
    let told: Vec<_> = reports.iter().map(|r| (r.dropped, r.times.len())).collect();
    assert_eq!(told, [(0, 2); 12], "every sub-step was made and timed");
    assert!(reports.iter().flat_map(|r| &r.times).all(|t| t.passes.iter().any(|p| p.name == "primal")));
    same_state(&host, &stepper, &mut simulation, 13);
}

#[test]
fn a_recording_may_be_submitted_again_and_makes_its_steps_again() {
    let host = HostLoop::new(open("llvmpipe"));
    let (world, _) = boxes(30);
    let settings = Settings::default();
    let mut simulation = Simulation::new(world.clone(), settings, Device::Vulkan(host.device.clone())).unwrap();
    let mut stepper = host.stepper(world, settings, roomy(2000));
    run(&host, &mut stepper, 1, 3, |_, _| {});
    let prepared = stepper.prepare(DT, 3).unwrap();
    let (vk, commands) = (&host.device.host().device, host.commands[0]);
    // SAFETY: the device is idle; the command buffer is submitted again only when it is again.
    unsafe {
        vk.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
        assert_eq!(stepper.record(commands, prepared, Some(COPIES), Some(COPIES)), 4);
        vk.end_command_buffer(commands).unwrap();
        for submission in 4..=8 {
            host.submit(commands, submission);
            host.wait(submission);
        }
    }
    (0..8).for_each(|_| drop(simulation.step(DT).unwrap()));
    let reports = stepper.poll(4).unwrap();
    assert_eq!((reports.len(), reports[0].frame, reports[0].dropped), (1, 4, 0));
    assert_eq!(stepper.steps(), simulation.steps());
    same_state(&host, &stepper, &mut simulation, 9);
    // And it goes on from there.
    let prepared = stepper.prepare(DT, 4).unwrap();
    // SAFETY: as in `run`.
    host.frame(10, |commands| unsafe {
        stepper.record(commands, prepared, Some(COPIES), Some(COPIES));
    });
    host.wait(10);
    simulation.step(DT).unwrap();
    assert_eq!((stepper.poll(5).unwrap().len(), stepper.steps()), (1, simulation.steps()));
    same_state(&host, &stepper, &mut simulation, 11);
}

#[test]
fn settings_change_between_frames_and_nothing_is_compiled_again() {
    host_loops(|host| {
        let (world, _) = boxes(60);
        let mut simulation =
            Simulation::new(world.clone(), Settings::default(), Device::Vulkan(host.device.clone())).unwrap();
        let vulkan = host.device.host();
        // SAFETY: the device is alive, has the features, and outlives the stepper.
        let (kernels, mut stepper) = unsafe {
            let kernels = Kernels::new(vulkan).unwrap();
            let memory = GpuAllocator::new(vulkan).unwrap();
            let stepper = Stepper::in_frames(&kernels, memory, world, Settings::default(), roomy(2000)).unwrap();
            (kernels, stepper)
        };
        let compiled = kernels.progress();
        let changed = |frame: u64| {
            let mut settings = Settings::default();
            settings.set("iterations", if frame < 10 { 4.0 } else { 9.0 }).unwrap();
            settings.set("substeps", if frame < 20 { 1.0 } else { 3.0 }).unwrap();
            settings
        };
        let reports = run(host, &mut stepper, 1, 30, |frame, s| s.set_settings(changed(frame)).unwrap());
        for frame in 1..=30 {
            simulation.set_settings(changed(frame)).unwrap();
            simulation.step(DT).unwrap();
        }
        assert_eq!(kernels.progress(), compiled, "no pipeline was made again");
        assert_eq!(stepper.steps(), 19 + 11 * 3);
        assert_eq!(reports.last().unwrap().times.len(), 3, "every sub-step has its times");
        let poses = drawn(host, &stepper);
        for (handle, state) in simulation.bodies().unwrap() {
            let pose = &poses[handle.index() as usize];
            assert!((pose.position - state.position).length() < 1e-5, "{pose:?} {state:?}");
        }
    });
}

#[test]
fn more_frames_than_may_be_in_flight_are_refused_by_name_and_nothing_prepared_is_lost() {
    let host = HostLoop::new(open("llvmpipe"));
    let (world, bodies) = boxes(2);
    let mut stepper = host.stepper(world, Settings::default(), FramesOptions::default());
    stepper.world_mut().set_gravity(Vec3::ZERO).unwrap();
    for frame in 1..=2 {
        let body = bodies[frame as usize - 1];
        stepper.world_mut().set_velocity(body, Vec3::X * frame as f32, Vec3::ZERO).unwrap();
        // Prepared twice, recorded once: what the first one took over is not lost.
        drop(stepper.prepare(DT, 0).unwrap());
        let prepared = stepper.prepare(DT, 0).unwrap();
        host.frame(frame, |commands| {
            // SAFETY: as in `run`.
            unsafe { stepper.record(commands, prepared, None, Some(COPIES)) };
        });
    }
    let error = stepper.prepare(DT, 0).unwrap_err().to_string();
    assert!(error.contains("2 frames are pending") && error.contains("frames in flight"), "{error}");
    host.wait(2);
    assert_eq!(stepper.poll(2).unwrap().len(), 2);
    run(&host, &mut stepper, 3, 1, |_, _| {});
    let poses = drawn(&host, &stepper);
    let moved = |body: BodyHandle| poses[body.index() as usize].position.x;
    assert!((moved(bodies[0]) - 3.0 * DT).abs() < 1e-5, "{}", moved(bodies[0]));
    assert!((moved(bodies[1]) - 1.3 - 2.0 * 2.0 * DT).abs() < 1e-5, "{}", moved(bodies[1]));
}

#[test]
fn a_stepper_can_move_between_threads_and_runs_on_the_cpu_alike() {
    fn is_send<T: Send>(_: &T) {}
    let device = Device::Cpu { threads: Some(2) };
    let (world, _) = boxes(30);
    let mut simulation = Simulation::new(world.clone(), Settings::default(), device.clone()).unwrap();
    let mut stepper = Stepper::on(&device, world, Settings::default()).unwrap();
    is_send(&stepper);
    is_send(&simulation);
    let stepper = std::thread::spawn(move || {
        for frame in 1..=20 {
            let prepared = stepper.prepare(DT).unwrap();
            assert_eq!(stepper.run(prepared).unwrap().frame, frame);
        }
        stepper
    });
    let mut stepper = stepper.join().unwrap();
    for _ in 0..20 {
        simulation.step(DT).unwrap();
    }
    assert_eq!(stepper.steps(), simulation.steps());
    let poses = stepper.plan().buffers.poses;
    assert_eq!(stepper.runner().read(poses).unwrap(), simulation.runner().read(poses).unwrap());
}

#[test]
fn a_persistent_buffer_that_is_declared_survives_growth_without_another_line() {
    common::on_every_backend(|backend| {
        let scene = scenes::drop(40).unwrap();
        let marks = UserBuffer::new("marks", 4, List::Bodies);
        let capacities = Capacities { pairs: 1, manifolds: 1, ..Default::default() };
        let mut simulation =
            Simulation::with_user_buffers(scene, Settings::default(), backend.device(), capacities, vec![marks])
                .unwrap();
        let id = simulation.plan().recording.find("marks").unwrap();
        let before = simulation.plan().recording.info(id).unwrap().count;
        let written: Vec<u8> = (0..before as u32).flat_map(|i| (i * 3 + 1).to_le_bytes()).collect();
        simulation.runner().write_bytes(id, 0, &written).unwrap();
        let generation = simulation.generation();
        for _ in 0..40 {
            simulation.world_mut().add(BodyDesc::dynamic().at(Vec3::Y * 30.0).with(Collider::sphere(0.1))).unwrap();
        }
        let report = simulation.step(DT).unwrap();
        assert!(report.grown > 0 && simulation.generation() != generation, "pairs and bodies both grew");
        let id = simulation.plan().recording.find("marks").unwrap();
        let now = simulation.plan().recording.info(id).unwrap().count;
        assert!(now > before);
        let mut read = vec![1; now as usize * 4];
        simulation.runner().read_bytes(id, 0, &mut read).unwrap();
        assert_eq!(read[..written.len()], written[..]);
        assert!(read[written.len()..].iter().all(|b| *b == 0));
    });
}

#[test]
fn scratch_may_hold_anything_when_a_step_begins() {
    use drystone::plan::BufferId;
    use drystone::state::Role;
    let scenes = [("drop", "bodies", 60), ("ragdolls", "count", 4)];
    for (name, parameter, count) in scenes {
        let hash = |poison: Option<u8>| {
            let scene = scenes::build(name, &[(parameter.to_owned(), f64::from(count))].into()).unwrap();
            let mut simulation =
                Simulation::new(scene.world, Settings::default(), Device::Cpu { threads: None }).unwrap();
            for _ in 0..30 {
                if let Some(byte) = poison {
                    let infos: Vec<_> = simulation.plan().recording.buffers().to_vec();
                    for (i, info) in infos.iter().enumerate().filter(|(_, b)| b.role == Role::Scratch) {
                        let bytes = vec![byte; (u64::from(info.stride) * info.count) as usize];
                        simulation.runner().write_bytes(BufferId(i as u32), 0, &bytes).unwrap();
                    }
                }
                simulation.step(DT).unwrap();
            }
            Metrics::of(&mut simulation).unwrap().pose_hash
        };
        let clean = hash(None);
        for byte in [0xff, 0x5a] {
            assert_eq!(hash(Some(byte)), clean, "{name} with scratch of {byte:#x}");
        }
    }
}

/// A vertex shader that takes a position, as words of SPIR-V: `gl_Position = position`.
const VERTEX_SHADER: &[u32] = &[
    0x0723_0203,
    0x0001_0000,
    0,
    12,
    0, // header: version 1.0, ids below 12
    0x0002_0011,
    1, // OpCapability Shader
    0x0003_000e,
    0,
    1, // OpMemoryModel Logical GLSL450
    0x0007_000f,
    0,
    1,
    0x6e69_616d,
    0,
    8,
    9, // OpEntryPoint Vertex %1 "main" %8 %9
    0x0004_0047,
    8,
    30,
    0, // OpDecorate %8 Location 0
    0x0004_0047,
    9,
    11,
    0, // OpDecorate %9 BuiltIn Position
    0x0002_0013,
    2, // %2 = OpTypeVoid
    0x0003_0021,
    3,
    2, // %3 = OpTypeFunction %2
    0x0003_0016,
    4,
    32, // %4 = OpTypeFloat 32
    0x0004_0017,
    5,
    4,
    4, // %5 = OpTypeVector %4 4
    0x0004_0020,
    6,
    1,
    5, // %6 = OpTypePointer Input %5
    0x0004_0020,
    7,
    3,
    5, // %7 = OpTypePointer Output %5
    0x0004_003b,
    6,
    8,
    1, // %8 = OpVariable %6 Input
    0x0004_003b,
    7,
    9,
    3, // %9 = OpVariable %7 Output
    0x0005_0036,
    2,
    1,
    0,
    3, // %1 = OpFunction %2 None %3
    0x0002_00f8,
    10, // OpLabel
    0x0004_003d,
    5,
    11,
    8, // %11 = OpLoad %5 %8
    0x0003_003e,
    9,
    11, // OpStore %9 %11
    0x0001_00fd,
    0x0001_0038, // OpReturn, OpFunctionEnd
];

/// A renderer's pipeline that draws a triangle a body, with the poses as instance data.
struct Drawing {
    device: Arc<OwnDevice>,
    pass: vk::RenderPass,
    frame: vk::Framebuffer,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl Drawing {
    fn new(device: Arc<OwnDevice>) -> Self {
        let vk = &device.host().device;
        // SAFETY: ordinary Vulkan, with handles that are alive; descriptions borrow locals; `drop` destroys what is
        // made.
        unsafe {
            let subpasses = [vk::SubpassDescription::default().pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)];
            let info = vk::RenderPassCreateInfo::default().subpasses(&subpasses);
            let pass = vk.create_render_pass(&info, None).unwrap();
            let info = vk::FramebufferCreateInfo::default().render_pass(pass).width(1).height(1).layers(1);
            let frame = vk.create_framebuffer(&info, None).unwrap();
            let layout = vk.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None).unwrap();
            let module = vk.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(VERTEX_SHADER), None);
            let module = module.unwrap();
            let stages = [vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::VERTEX)
                .module(module)
                .name(c"main")];
            let bindings = [vk::VertexInputBindingDescription::default()
                .stride(size_of::<BodyPose>() as u32)
                .input_rate(vk::VertexInputRate::INSTANCE)];
            let attributes = [vk::VertexInputAttributeDescription::default().format(vk::Format::R32G32B32A32_SFLOAT)];
            let input = vk::PipelineVertexInputStateCreateInfo::default()
                .vertex_binding_descriptions(&bindings)
                .vertex_attribute_descriptions(&attributes);
            let assembly =
                vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
            let raster =
                vk::PipelineRasterizationStateCreateInfo::default().rasterizer_discard_enable(true).line_width(1.0);
            let info = vk::GraphicsPipelineCreateInfo::default()
                .stages(&stages)
                .vertex_input_state(&input)
                .input_assembly_state(&assembly)
                .rasterization_state(&raster)
                .layout(layout)
                .render_pass(pass);
            let made = vk.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None);
            vk.destroy_shader_module(module, None);
            Self { pass, frame, layout, pipeline: made.unwrap()[0], device }
        }
    }

    fn draw(&self, commands: vk::CommandBuffer, poses: vk::Buffer, count: u32) {
        let vk = &self.device.host().device;
        let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width: 1, height: 1 } };
        let begin = vk::RenderPassBeginInfo::default().render_pass(self.pass).framebuffer(self.frame).render_area(area);
        // SAFETY: the command buffer is being recorded, on a family that draws; the buffer holds `count` poses.
        unsafe {
            vk.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            vk.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
            vk.cmd_bind_vertex_buffers(commands, 0, &[poses], &[0]);
            vk.cmd_draw(commands, 3, count, 0, 0);
            vk.cmd_end_render_pass(commands);
        }
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        let vk = &self.device.host().device;
        // SAFETY: everything was waited for.
        unsafe {
            vk.destroy_pipeline(self.pipeline, None);
            vk.destroy_pipeline_layout(self.layout, None);
            vk.destroy_framebuffer(self.frame, None);
            vk.destroy_render_pass(self.pass, None);
        }
    }
}

/// Steps and draws twice in every command buffer, four times over. The host names its reads on entry, or does not.
fn step_draw_step(host: &HostLoop, named: bool) {
    let drawing = Drawing::new(host.device.clone());
    let (world, _) = boxes(20);
    let options = FramesOptions { frames_in_flight: 4, ..roomy(500) };
    let mut stepper = host.stepper(world, Settings::default(), options);
    let reads = HostAccess::new(vk::PipelineStageFlags::VERTEX_INPUT, vk::AccessFlags::VERTEX_ATTRIBUTE_READ);
    for submission in 1..=4 {
        host.wait(submission - 1);
        host.frame(submission, |commands| {
            for _ in 0..2 {
                let prepared = stepper.prepare(DT, 2 * (submission - 1)).unwrap();
                // SAFETY: as in `run`; the drivers' one family draws.
                unsafe { stepper.record(commands, prepared, named.then_some(reads), Some(reads)) };
                let poses = stepper.poses().unwrap();
                drawing.draw(commands, poses.current, poses.count);
                drawing.draw(commands, poses.previous, poses.count);
            }
        });
    }
    host.wait(4);
    assert_eq!(stepper.poll(8).unwrap().len(), 8);
}

#[test]
fn step_draw_step_does_not_write_poses_that_a_vertex_shader_still_reads() {
    host_loops(|host| step_draw_step(host, true));
    // The same without a word on entry: the layers see what the barrier is for.
    let host = HostLoop::new(open("llvmpipe"));
    step_draw_step(&host, false);
    let said = host.device.validation().take();
    assert!(said.iter().any(|m| m.contains("WRITE_AFTER_READ") || m.contains("WRITE-AFTER-READ")), "{said:?}");
}

/// Vertices of soft bodies in the host's frames: positions are those of the particles to the bit, normals those of the
/// triangles around, and what lies beside them is what was drawn a frame before.
#[test]
fn vertices_of_soft_bodies_are_drawn_from_the_frame_before_and_the_last() {
    use drystone::layout::{SOFT_VERTEX_VERSION, SoftVertex};
    use drystone::world::{AttachmentDesc, Cloth, SoftDesc, SoftHandle, Solid};
    let cloth = || SoftDesc::cloth(Vec3::new(-0.5, 1.0, -0.5), Vec3::X, Vec3::Z, (9, 7), &Cloth::default());
    // One goes, and two come, which makes lists grow.
    let edit = |frame: u64, world: &mut World, soft: &mut Vec<SoftHandle>| match frame {
        4 => world.remove_soft(soft.remove(0)).unwrap(),
        6 => {
            soft.push(world.add_soft(cloth().moved(Vec3::X * 3.0)).unwrap());
            soft.push(world.add_soft(SoftDesc::rope(Vec3::Y, Vec3::ONE, 6, 0.1, 50.0, 0.1)).unwrap());
        }
        _ => {}
    };
    host_loops(|host| {
        let mut world = World::new();
        world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
        let held = world.add_soft(cloth()).unwrap();
        world.attach(AttachmentDesc::to_world(held, 0)).unwrap();
        let ball = world.add_soft(SoftDesc::ball(Vec3::Y * 2.0, 0.3, 4, &Solid::default())).unwrap();
        let mut soft = vec![held, ball];
        let settings = Settings::default().with(|s| s.iterations = 2);
        let mut stepper = host.stepper(world, settings, FramesOptions::default());
        let mut before: Vec<SoftVertex> = Vec::new();
        let mut moved = 0;
        for frame in 1..=9 {
            edit(frame, stepper.world_mut(), &mut soft);
            let prepared = stepper.prepare(DT, frame - 1).unwrap();
            let view = stepper.soft_vertices().expect("there are soft bodies");
            assert_eq!((view.stride as usize, view.offset), (size_of::<SoftVertex>(), 0));
            assert_eq!((view.version, view.generation), (SOFT_VERTEX_VERSION, stepper.generation()));
            let bytes = u64::from(view.count) * u64::from(view.stride);
            host.frame(3 * frame - 2, |commands| {
                // SAFETY: the command buffer is being recorded, and submitted once, in order, to the one queue.
                unsafe { stepper.record(commands, prepared, Some(COPIES), Some(COPIES)) };
                host.copy(commands, view.current, bytes);
            });
            host.wait(3 * frame - 2);
            let now: Vec<SoftVertex> = host.read(view.count as usize);
            host.frame(3 * frame - 1, |commands| host.copy(commands, view.previous, bytes));
            host.wait(3 * frame - 1);
            let previous: Vec<SoftVertex> = host.read(view.count as usize);
            let positions = stepper.plan().buffers.soft.unwrap().positions.id();
            let source = stepper.vk_buffer(positions).unwrap();
            host.frame(3 * frame, |commands| host.copy(commands, source, u64::from(view.count) * 12));
            host.wait(3 * frame);
            let positions: Vec<Vec3> = host.read(view.count as usize);
            let mut present = 0;
            for handle in &soft {
                let world = stepper.world();
                let first = world.soft_first_vertex(*handle).unwrap() as usize;
                let positions = &positions[first..first + world.soft_desc(*handle).unwrap().len()];
                let mut normals = vec![Vec3::ZERO; positions.len()];
                for corners in world.soft_triangles(*handle).unwrap() {
                    let [a, b, c] = corners.map(|c| positions[c as usize]);
                    corners.iter().for_each(|corner| normals[*corner as usize] += (b - a).cross(c - a));
                }
                for (i, (at, normal)) in positions.iter().zip(&normals).enumerate() {
                    let vertex = now[first + i];
                    assert_eq!((vertex.position, vertex.present, vertex.owner), (*at, 1, handle.index()));
                    let expected = normal.normalize_or_zero();
                    assert!((vertex.normal - expected).length() < 1e-4, "{}, not {expected}", vertex.normal);
                    let old = before.get(first + i).filter(|old| old.present == 1).unwrap_or(&vertex);
                    assert_eq!(previous[first + i], *old, "frame {frame}, {i}");
                    moved += u32::from(old.position != vertex.position);
                    let half = vertex.after(old, 0.5);
                    assert!((half.position - (vertex.position + old.position) * 0.5).length() < 1e-6);
                }
                present += positions.len();
            }
            assert_eq!(now.iter().filter(|v| v.present == 1).count(), present, "frame {frame}");
            stepper.poll(frame).unwrap();
            before = now;
        }
        assert!(moved > 500, "{moved} particles moved from frame to frame");
    });
}
