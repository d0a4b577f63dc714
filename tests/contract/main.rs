//! The contract of the record-only path, seen through a function table of the tests' own (`table.rs`): what it may call
//! and when, what becomes of it when any call fails, and when the device is lost.

#[path = "../common/mod.rs"]
mod common;
mod families;
mod recording;
mod table;

use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::queries::{QueryBatch, QueryFilter};
use drystone::stepper::Stepper;
use drystone::vulkan::ash::vk::{self, Handle};
use drystone::vulkan::{
    Allocation, Error, Frames, FramesOptions, GpuAllocator, Host, HostAccess, Kernels, Location, Memory, PoseTarget,
    Queue,
};
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, World};
use drystone::{Settings, Simulation, Snapshot};
use std::ptr::NonNull;
use std::time::Duration;
use table::{state, wrapped};

const DT: f32 = 1.0 / 60.0;

type InFrames = Stepper<Frames<GpuAllocator>>;

/// A few bodies of every kind of pass: boxes, a hull, a cylinder that bounces, a joint.
fn small_world() -> (World, Vec<BodyHandle>) {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let at = |i: u32| Vec3::new((i % 3) as f32 * 1.25, 0.5 + (i / 3) as f32, 0.0);
    let add = |i: u32| world.add(BodyDesc::dynamic().at(at(i)).with(Collider::cuboid(Vec3::ONE))).unwrap();
    let mut bodies: Vec<_> = (0..6).map(add).collect();
    let points = [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::ONE].map(|p| p * 0.5);
    let hull = BodyDesc::dynamic().at(Vec3::new(6.0, 1.0, 0.0)).with(Collider::hull(&points).unwrap());
    let drum = Collider::cylinder(0.5, 0.25).restitution(0.5);
    bodies.push(world.add(hull).unwrap());
    bodies.push(world.add(BodyDesc::dynamic().at(Vec3::new(8.0, 1.0, 0.0)).with(drum)).unwrap());
    world.add_joint(JointDesc::ball(bodies[6], bodies[7]).anchors(Vec3::X, -Vec3::X)).unwrap();
    (world, bodies)
}

/// # Safety
/// The host's device outlives the stepper, and `memory` makes allocators on it.
unsafe fn stepper_with<M: Memory>(
    host: &Host,
    world: World,
    memory: impl Fn() -> Result<M, Error>,
    options: &FramesOptions,
) -> drystone::Result<Stepper<Frames<M>>> {
    // SAFETY: this function's contract.
    unsafe {
        let kernels = Kernels::new(host)?;
        // As few commands as there may be, and other ones in the first step.
        let mut settings = Settings::default();
        let few = [("iterations", 1.0), ("cold_iterations", 2.0), ("colours", 2.0), ("colour_rounds", 1.0)];
        settings.set_all(few)?;
        Stepper::in_frames(&kernels, memory()?, world, settings, options.clone())
    }
}

/// # Safety
/// The host's device outlives the stepper.
unsafe fn stepper(host: &Host, world: World) -> drystone::Result<InFrames> {
    // SAFETY: this function's contract.
    unsafe { stepper_with(host, world, || GpuAllocator::new(host), &FramesOptions::default()) }
}

/// A host's allocator with an object of its own for every buffer, so that every one can fail.
struct Dedicated(Host);

// SAFETY: every allocation is an object of its own, as large as it is asked to be, mapped for its whole life. The
// driver behind it has one kind of memory.
unsafe impl Memory for Dedicated {
    fn allocate(
        &mut self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: Location,
    ) -> Result<Allocation, Error> {
        let device = &self.0.device;
        let refused = |why: vk::Result| Error::OutOfMemory {
            buffer: name.to_owned(),
            size: requirements.size,
            why: why.to_string(),
        };
        let info = vk::MemoryAllocateInfo::default().allocation_size(requirements.size);
        // SAFETY: no driver is behind the functions.
        unsafe {
            let memory = device.allocate_memory(&info, None).map_err(refused)?;
            let mut mapped = None;
            if location != Location::Device {
                let all = device.map_memory(memory, 0, requirements.size, vk::MemoryMapFlags::empty());
                let address = all.inspect_err(|_| device.free_memory(memory, None)).map_err(refused)?;
                mapped = NonNull::new(address);
            }
            Ok(Allocation::new(memory, 0, requirements.size).mapped(mapped))
        }
    }

    fn free(&mut self, allocation: Allocation) {
        // SAFETY: allocated above, given back once.
        unsafe { self.0.device.free_memory(allocation.memory, None) };
    }
}

/// Nothing is left, and nothing was done that may not be.
fn nothing_left(when: &str) {
    let (live, wrong) = state(|s| (std::mem::take(&mut s.live), std::mem::take(&mut s.wrong)));
    assert!(live.is_empty(), "{when}: left behind: {live:x?}");
    let bytes = state(|s| s.host_memory.values().sum::<usize>());
    assert_eq!(bytes, 0, "{when}: bytes of the host's callbacks that were not given back");
    assert!(wrong.is_empty(), "{when}: {wrong:?}");
}

/// What a game does in a frame that needs no longer lists.
fn play(frame: u64, world: &mut World, bodies: &[BodyHandle], guest: &mut Option<BodyHandle>) {
    let body = bodies[(frame % bodies.len() as u64) as usize];
    world.apply_impulse(body, Vec3::new(20.0, 200.0, 0.0), Vec3::ZERO).unwrap();
    world.set_pose(bodies[7], Vec3::new(8.0, 1.0, 0.0), Quat::IDENTITY).unwrap();
    match guest.take() {
        Some(old) => world.remove(old).unwrap(),
        None => {
            let ball = BodyDesc::dynamic().at(Vec3::new(-5.0, 3.0, 0.0)).with(Collider::sphere(0.5));
            *guest = Some(world.add(ball).unwrap());
        }
    }
}

#[test]
fn nothing_is_submitted_waited_for_or_allocated_in_a_thousand_frames() {
    const FRAMES: u64 = 1000;
    let device = common::open("llvmpipe");
    let host = wrapped(device.host(), true);
    let (world, bodies) = small_world();
    let mut guest = None;
    let copies = HostAccess::new(vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_READ);
    // SAFETY: the device outlives all of it; what is recorded is submitted once, in order, to one queue. The host's own
    // calls go past the table.
    unsafe {
        let mut stepper = stepper(&host, world).unwrap();
        let mut queue = Queue::new(device.host(), device.queue()).unwrap();
        assert!(state(|s| s.calls["vkCreateBuffer"] > 10 && s.calls["vkAllocateMemory"] > 0), "the table counts");
        let (mut told, mut timed) = (0, 0);
        // The first frames bring the world, and room for what the game adds.
        for frame in 1..=10 + FRAMES {
            if frame == 11 {
                state(|s| s.calls.clear());
            }
            // Now and then everything is waited for, so that command buffers are used again.
            let completed = frame.saturating_sub(if frame % 50 == 0 { 1 } else { 2 });
            queue.wait(completed, Duration::from_secs(60)).unwrap();
            play(frame, stepper.world_mut(), &bodies, &mut guest);
            let prepared = stepper.prepare(DT, completed).unwrap();
            let record = |commands| _ = stepper.record(commands, prepared, Some(copies), Some(copies));
            queue.submit(&[], &[], record).unwrap();
            for report in stepper.poll(completed).unwrap() {
                assert_eq!(report.dropped, 0, "frame {}", report.frame);
                told += 1;
                timed += usize::from(!report.times.is_empty());
            }
        }
        queue.wait(10 + FRAMES, Duration::from_secs(60)).unwrap();
        assert!(told >= FRAMES && timed as u64 >= FRAMES, "{told} reports, {timed} with times");
        // Times are asked for, without waiting for them; that is all.
        let calls = state(|s| s.calls.clone());
        assert!(calls.keys().eq(["vkGetQueryPoolResults"].iter()), "{calls:?}");
        // And the table would have seen it: a world that grows makes buffers when it is prepared, and only then. Their
        // memory may come from what the allocator has left of its last block.
        for i in 0..2000 {
            let ball = BodyDesc::dynamic().at(Vec3::new(i as f32 * 2.0, 50.0, 9.0)).with(Collider::sphere(0.5));
            stepper.world_mut().add(ball).unwrap();
        }
        let prepared = stepper.prepare(DT, 10 + FRAMES).unwrap();
        let called = |name: &str| state(|s| s.calls.get(name).copied().unwrap_or(0));
        assert!(called("vkCreateBuffer") > 10 && called("vkBindBufferMemory") > 10, "{:?}", state(|s| s.calls.clone()));
        state(|s| s.calls.clear());
        let last = queue.submit(&[], &[], |commands| _ = stepper.record(commands, prepared, None, None)).unwrap();
        assert!(state(|s| s.calls.is_empty()), "record calls nothing but what records");
        queue.wait(last, Duration::from_secs(60)).unwrap();
        drop(stepper);
    }
    assert!(state(|s| s.host_allocations) > 0, "the driver allocates with the host's callbacks");
    nothing_left("after a thousand frames");
    let said = device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}

/// Everything that makes objects: kernels, a stepper, room for queries, poses in a buffer of the host's, growth with
/// both of them there, frames that are kept, snapshots and going back. With
/// `again`, what failed is asked for once more, as a host would that has made room; without, the first failure ends it.
/// Tells the bodies and frames there were in the end.
///
/// # Safety
/// The host's device has no driver behind it.
unsafe fn life<M: Memory>(
    host: &Host,
    memory: impl Fn() -> Result<M, Error>,
    options: &FramesOptions,
    again: bool,
) -> drystone::Result<(usize, u32, u64)> {
    let mut failed = false;
    let mut twice = |call: &mut dyn FnMut() -> drystone::Result<()>| match call() {
        Err(error) if again && !failed => {
            failed = true;
            assert!(is_refusal(&error), "{error}");
            call()
        }
        other => other,
    };
    let commands = vk::CommandBuffer::from_raw(1);
    let mut made = None;
    twice(&mut || {
        // SAFETY: this function's contract.
        unsafe { stepper_with(host, small_world().0, &memory, options) }.map(|stepper| made = Some(stepper))
    })?;
    let stepper = made.as_mut().expect("made above");
    let mut batch = QueryBatch::new();
    batch.ray(Vec3::Y * 9.0, Vec3::NEG_Y, 20.0, QueryFilter::default())?;
    twice(&mut || stepper.reserve_queries(batch.room()))?;
    let target = PoseTarget::new(vk::Buffer::from_raw(7), 0, 32, 9);
    let mut lent = None;
    // SAFETY: nothing is behind the buffer.
    twice(&mut || unsafe { stepper.lend_pose_buffer(target) }.map(|made| lent = Some(made)))?;
    let mut snapshot: Option<Snapshot> = None;
    let mut kept = 0;
    for frame in 1..=6 {
        match frame {
            2 => (0..300).for_each(|i| {
                let at = Vec3::new(i as f32, 5.0, 5.0);
                stepper.world_mut().add(BodyDesc::dynamic().at(at).with(Collider::sphere(0.25))).unwrap();
            }),
            3 => stepper.keep_frames(2),
            5 => twice(&mut || stepper.restore(snapshot.as_ref().expect("taken in frame 3")))?,
            6 => twice(&mut || stepper.roll_back(kept))?,
            _ => {}
        }
        let mut prepared = None;
        twice(&mut || stepper.prepare(DT, frame - 1).map(|p| prepared = Some(p)))?;
        if frame == 3 {
            twice(&mut || stepper.reserve_snapshot())?;
        }
        // SAFETY: nothing is behind the commands.
        unsafe {
            stepper.record(commands, prepared.expect("prepared above"), None, None);
            stepper.record_poses(commands, lent.expect("lent above"), 0.5, None, None);
            stepper.record_queries(commands, &batch, None)?;
        }
        stepper.poll_queries(frame)?;
        if frame == 3 {
            // SAFETY: as above.
            unsafe { stepper.record_snapshot(commands) }?;
        }
        stepper.poll(frame)?;
        snapshot = stepper.poll_snapshots(frame)?.pop().map(|(_, snapshot)| snapshot).or(snapshot);
        kept = stepper.kept_frames().last().unwrap_or(0);
    }
    Ok((stepper.world().len(), stepper.capacities().bodies, kept))
}

/// Whether an error is that of a call that was made to fail.
fn is_refusal(error: &drystone::Error) -> bool {
    matches!(error, drystone::Error::Vulkan(Error::OutOfMemory { .. } | Error::Call { .. }))
}

/// Fails the call of every number that `which` takes by its name, in a life of its own.
fn fail_each<M: Memory>(
    real: &Host,
    make: impl Fn(&Host) -> Result<M, Error>,
    options: &FramesOptions,
    which: impl Fn(&str) -> bool,
) {
    let run = |fails, again| {
        let host = wrapped(real, false);
        state(|s| s.fails = fails);
        // SAFETY: no driver is behind the host's functions.
        unsafe { life(&host, || make(&host), options, again) }
    };
    let expected = run(None, false).unwrap();
    let calls = state(|s| std::mem::take(&mut s.fallible));
    nothing_left("without a failure");
    assert_eq!(expected.0, 309, "everything that was added is there");
    let chosen: Vec<_> = (0..).zip(&calls).filter(|(_, name)| which(name)).collect();
    assert!(chosen.len() > 1);
    println!("{} of {} calls", chosen.len(), calls.len());
    for (number, name) in chosen {
        let codes = [vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, vk::Result::ERROR_OUT_OF_HOST_MEMORY];
        let fails = Some((number, codes[number % 2]));
        let error = run(fails, false).expect_err(&format!("call {number}, {name}, failed"));
        assert!(is_refusal(&error), "call {number}, {name}: {error}");
        nothing_left(&format!("call {number} failed: {error}"));
        if number % 3 == 1 {
            let error = run(Some((number, vk::Result::ERROR_DEVICE_LOST)), false).unwrap_err();
            assert!(is_lost(&error).is_some() || is_refusal(&error), "call {number}, {name}, lost: {error}");
            nothing_left(&format!("the device was lost in call {number}, {name}"));
        }
        let found = run(fails, true).unwrap_or_else(|e| panic!("call {number}, {name}, failed once: {e}"));
        assert_eq!(found, expected, "call {number}, {name}, failed once");
        nothing_left(&format!("call {number}, {name}, failed once"));
    }
}

#[test]
fn every_call_that_fails_is_an_error_that_leaves_nothing_behind_and_can_be_tried_again() {
    let device = common::open("llvmpipe");
    let (usual, dedicated) = (FramesOptions::default(), |host: &Host| Ok(Dedicated(host.clone())));
    fail_each(device.host(), dedicated, &usual, |_| true);
    let once = FramesOptions { recorded_once: true, ..usual.clone() };
    fail_each(device.host(), dedicated, &once, |name| name.contains("Command"));
    // SAFETY: the device outlives the allocator.
    let gpu_allocator = |host: &Host| unsafe { GpuAllocator::new(host) };
    fail_each(device.host(), gpu_allocator, &usual, |name| ["vkAllocateMemory", "vkMapMemory"].contains(&name));
}

fn is_lost(error: &drystone::Error) -> Option<&'static str> {
    match error {
        drystone::Error::Vulkan(Error::DeviceLost(during)) => Some(during),
        _ => None,
    }
}

#[test]
fn a_lost_device_is_told_once_by_the_call_that_met_it_and_then_nothing_is_asked_of_it() {
    let device = common::open("llvmpipe");
    let cpu = Device::Cpu { threads: Some(1) };
    let snapshot = Simulation::new(small_world().0, Settings::default(), cpu).unwrap().snapshot().unwrap();
    let mut batch = QueryBatch::new();
    batch.ray(Vec3::Y, Vec3::NEG_Y, 2.0, QueryFilter::default()).unwrap();
    let target = PoseTarget::new(vk::Buffer::from_raw(7), 0, 32, 9);
    for growing in [false, true] {
        let host = wrapped(device.host(), false);
        let (world, bodies) = small_world();
        let commands = vk::CommandBuffer::from_raw(1);
        // SAFETY: no driver is behind the host's functions.
        unsafe {
            let mut stepper = stepper(&host, world).unwrap();
            let prepared = stepper.prepare(DT, 0).unwrap();
            stepper.record(commands, prepared, None, None);
            let met = if growing {
                for i in 0..300 {
                    let ball = BodyDesc::dynamic().at(Vec3::X * i as f32).with(Collider::sphere(0.25));
                    stepper.world_mut().add(ball).unwrap();
                }
                state(|s| s.fails = Some((s.fallible.len(), vk::Result::ERROR_DEVICE_LOST)));
                stepper.prepare(DT, 0).unwrap_err()
            } else {
                state(|s| s.lost = true);
                stepper.poll(1).unwrap_err()
            };
            let call = is_lost(&met).unwrap_or_else(|| panic!("{met}"));
            assert_eq!(call, if growing { "vkCreateBuffer" } else { "vkGetQueryPoolResults" });
            state(|s| s.calls.clear());
            let later = [
                stepper.prepare(DT, 1).map(drop),
                stepper.poll(1).map(drop),
                stepper.reserve_snapshot(),
                stepper.record_snapshot(commands).map(drop),
                stepper.poll_snapshots(1).map(drop),
                stepper.restore(&snapshot),
                stepper.roll_back(1),
                stepper.reserve_queries(batch.room()),
                stepper.record_queries(commands, &batch, None).map(drop),
                stepper.poll_queries(1).map(drop),
                stepper.lend_pose_buffer(target).map(drop),
            ];
            for error in later {
                assert_eq!(is_lost(&error.unwrap_err()), Some("an earlier call"));
            }
            assert!(state(|s| s.calls.is_empty()), "nothing is asked of a device that is lost");
            // The world is still there, to be read and to be brought to another device.
            assert!(stepper.world().desc(bodies[0]).is_ok());
            drop(stepper);
        }
        nothing_left("after the device was lost");
    }
}

#[test]
fn time_stamps_that_are_garbage_are_times_and_no_panic() {
    let device = common::open("llvmpipe");
    let garbage =
        [vec![7], vec![9, 3, 1], vec![u64::MAX, 0], vec![0, u64::MAX / 2, 5, u64::MAX], vec![1 << 63, 1 << 62]];
    for stamps in garbage {
        let host = wrapped(device.host(), false);
        let commands = vk::CommandBuffer::from_raw(1);
        // SAFETY: no driver is behind the host's functions.
        unsafe {
            let mut stepper = stepper(&host, small_world().0).unwrap();
            let mut told = 0;
            for frame in 1..=4 {
                let prepared = stepper.prepare(DT, frame - 1).unwrap();
                stepper.record(commands, prepared, None, None);
                state(|s| s.stamps = stamps.clone());
                for report in stepper.poll(frame).unwrap() {
                    told += report.times.len();
                    for times in &report.times {
                        // Nothing goes backwards: the longest pass is what half of the counter can tell.
                        let half = Duration::from_nanos(u64::MAX / 2 + 1024);
                        assert!(times.passes.iter().all(|p| p.time <= half), "{stamps:?}: {:?}", times.total());
                    }
                }
            }
            assert!(told > 0, "the stamps were taken");
        }
    }
}

#[test]
fn room_for_queries_that_is_asked_for_again_and_again_does_not_pile_up() {
    let device = common::open("llvmpipe");
    let host = wrapped(device.host(), false);
    let commands = vk::CommandBuffer::from_raw(1);
    // SAFETY: no driver is behind the host's functions.
    unsafe {
        let mut stepper = stepper(&host, small_world().0).unwrap();
        let (mut batch, mut made) = (QueryBatch::new(), Vec::new());
        for frame in 1..=300 {
            batch.ray(Vec3::Y * 9.0, Vec3::NEG_Y, 20.0, QueryFilter::default()).unwrap();
            stepper.reserve_queries(batch.room()).unwrap();
            let prepared = stepper.prepare(DT, frame - 1).unwrap();
            stepper.record(commands, prepared, None, None);
            // A ray more in every frame finds room in all of them.
            stepper.record_queries(commands, &batch, None).unwrap();
            stepper.poll(frame).unwrap();
            stepper.poll_queries(frame).unwrap();
            made.push(state(|s| s.live.len()));
        }
        // Room is doubled, from 1 to 512; all other frames find what there is.
        let grew = made.windows(2).filter(|w| w[1] > w[0]).count();
        assert!(grew <= 10, "{grew} frames left more objects behind than there were: {made:?}");
    }
    nothing_left("after queries");
}
