//! The same inside a host's frames, where nothing is submitted or waited for by the engine.

use super::*;
use drystone::state::Capacities;
use drystone::vulkan::ash::vk;
use drystone::vulkan::{Allocation, Frames, FramesOptions, GpuAllocator, Location, Memory, OwnDevice, Queue};
use drystone::{Error, SnapshotError, StepReport, Stepper};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// A host that submits by itself.
struct Host {
    stepper: Stepper<Frames<GpuAllocator>>,
    queue: Queue,
    /// Timeline value of every frame, from frame 1 on.
    submitted: Vec<u64>,
    device: Arc<OwnDevice>,
}

impl Host {
    fn new(device: &Arc<OwnDevice>, world: World, settings: Settings, in_flight: u32) -> Self {
        let capacities = Capacities { pairs: 2000, manifolds: 1000, ..Default::default() };
        let options = FramesOptions { frames_in_flight: in_flight, capacities, ..Default::default() };
        // SAFETY: the device is alive, has the features, and outlives the stepper and the queue.
        let (stepper, queue) = unsafe {
            let kernels = device.kernels().unwrap();
            let memory = GpuAllocator::new(device.host()).unwrap();
            let stepper = Stepper::in_frames(kernels, memory, world, settings, options).unwrap();
            (stepper, Queue::new(device.host(), device.queue()).unwrap())
        };
        Self { stepper, queue, submitted: Vec::new(), device: device.clone() }
    }

    /// Waits until frame `frame` is done, and says that it is.
    fn wait(&mut self, frame: u64) -> Vec<StepReport> {
        if frame > 0 {
            self.queue.wait(self.submitted[frame as usize - 1], PATIENCE).unwrap();
        }
        self.stepper.poll(frame).unwrap()
    }

    /// One frame of one step. `behind` records more.
    fn frame(&mut self, completed: u64, behind: impl FnOnce(&mut Stepper<Frames<GpuAllocator>>, vk::CommandBuffer)) {
        let prepared = self.stepper.prepare(DT, completed).unwrap();
        self.stepper.reserve_snapshot().unwrap();
        let (stepper, queue, _alone) = (&mut self.stepper, &mut self.queue, self.device.lock_queue());
        // SAFETY: recorded into the queue's commands, which are submitted once and in order.
        let value = unsafe {
            queue.submit(&[], &[], |commands| {
                stepper.record(commands, prepared, None, None);
                behind(stepper, commands);
            })
        };
        self.submitted.push(value.unwrap());
    }

    fn recorded(&self) -> u64 {
        self.submitted.len() as u64
    }

    /// The state behind the last frame.
    fn snapshot(&mut self) -> Snapshot {
        self.stepper.reserve_snapshot().unwrap();
        let (stepper, queue, _alone) = (&mut self.stepper, &mut self.queue, self.device.lock_queue());
        // SAFETY: as above; the frame counts as completed when this is done, too.
        let value =
            unsafe { queue.submit(&[], &[], |commands| assert!(stepper.record_snapshot(commands).is_ok())) }.unwrap();
        self.queue.wait(value, PATIENCE).unwrap();
        let recorded = self.recorded();
        let mut snapshots = self.stepper.poll_snapshots(recorded).unwrap();
        assert_eq!(snapshots.len(), 1);
        snapshots.pop().unwrap().1
    }

    fn finish(mut self) {
        let last = self.recorded();
        self.wait(last);
        let Self { stepper, queue, device, .. } = self;
        drop((stepper, queue));
        silent(&device);
    }
}

/// The hash of a snapshot's poses.
fn hash_of(snapshot: &Snapshot) -> u64 {
    hash(&mut Simulation::from_snapshot(&through_bytes(snapshot), CPU).unwrap())
}

/// A buffer of the host's that the device writes and the host reads.
struct Landing {
    buffer: vk::Buffer,
    memory: Allocation,
    allocator: GpuAllocator,
}

impl Landing {
    fn new(device: &OwnDevice, size: u64) -> Self {
        let host = device.host();
        // SAFETY: the device outlives this; the buffer is bound once.
        unsafe {
            let mut allocator = GpuAllocator::new(host).unwrap();
            let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST);
            let buffer = host.device.create_buffer(&info, None).unwrap();
            let requirements = host.device.get_buffer_memory_requirements(buffer);
            let memory = allocator.allocate("landing", requirements, Location::Readback).unwrap();
            host.device.bind_buffer_memory(buffer, memory.memory, memory.offset).unwrap();
            Self { buffer, memory, allocator }
        }
    }

    fn bytes(&self, range: std::ops::Range<u64>) -> Vec<u8> {
        let start = self.memory.mapped.unwrap().as_ptr().cast::<u8>();
        // SAFETY: the device is done with it, and the range is inside.
        unsafe {
            std::slice::from_raw_parts(start.add(range.start as usize), range.end as usize - range.start as usize)
        }
        .to_vec()
    }

    fn destroy(mut self, device: &OwnDevice) {
        // SAFETY: the device is done with it.
        unsafe { device.host().device.destroy_buffer(self.buffer, None) };
        self.allocator.free(self.memory);
    }
}

#[test]
fn a_snapshot_is_recorded_and_restored_inside_frames() {
    const FRAMES: u64 = 16;
    let settings = stiff().with(|s| s.colours = 5);
    for (name, _) in DRIVERS {
        let device = driver(name);
        // What a simulation makes of it.
        let (world, mut bodies) = zoo();
        let first = bodies.clone();
        let mut straight = Simulation::new(world.clone(), settings, Device::Vulkan(device.clone())).unwrap();
        let mut hashes = Vec::new();
        for frame in 1..=FRAMES {
            play(frame, straight.world_mut(), &mut bodies);
            straight.step(DT).unwrap();
            hashes.push(hash(&mut straight));
        }
        let mut bodies = first;
        let mut host = Host::new(&device, world, settings, 3);
        let landing = Landing::new(&device, 4 << 20);
        let mut in_the_middle = None;
        let mut given = None;
        for frame in 1..=FRAMES {
            play(frame, host.stepper.world_mut(), &mut bodies);
            host.wait(frame.saturating_sub(3));
            host.frame(frame.saturating_sub(3), |stepper, commands| match frame {
                // SAFETY: behind the frame, in its own commands.
                8 => assert_eq!(unsafe { stepper.record_snapshot(commands) }.unwrap(), 8),
                9 => {
                    assert!(stepper.snapshot_size() + 64 < 4 << 20);
                    // SAFETY: behind the frame, in its own commands; the buffer has the room.
                    given = Some(unsafe { stepper.record_snapshot_into(commands, landing.buffer, 64) });
                }
                _ => {}
            });
            let done = host.stepper.poll_snapshots(frame.saturating_sub(3)).unwrap();
            for (of, snapshot) in done {
                assert_eq!((of, frame), (8, 11), "as soon as the frame is done, and no sooner");
                in_the_middle = Some((snapshot, bodies.clone()));
            }
        }
        host.wait(FRAMES);
        assert_eq!(hash_of(&host.snapshot()), hashes[FRAMES as usize - 1], "{name}: taking them changed nothing");
        let (snapshot, _) = in_the_middle.unwrap();
        assert_eq!(hash_of(&snapshot), hashes[7], "{name}");
        let given = given.unwrap();
        assert_eq!(given.frame(), 9);
        let bytes = landing.bytes(64..64 + given.size());
        assert_eq!(hash_of(&given.finish(&bytes).unwrap()), hashes[8], "{name}: in the host's own buffer");
        landing.destroy(&device);

        // Restored into a stepper that held something else and has frames pending.
        let (mut unused, mut bodies) = zoo();
        (1..=8).for_each(|frame| play(frame, &mut unused, &mut bodies));
        let mut other = Host::new(&device, scene("pile", &[("bodies", 30.0)]).world, Settings::default(), 3);
        other.frame(0, |_, _| ());
        let prepared = other.stepper.prepare(DT, 0).unwrap();
        other.stepper.restore(&through_bytes(&snapshot)).unwrap();
        assert_eq!(hash_of(&other.snapshot()), hashes[7], "{name}: there before any frame");
        // A step of the world before does nothing.
        let (stepper, queue, alone) = (&mut other.stepper, &mut other.queue, device.lock_queue());
        // SAFETY: as above.
        let value =
            unsafe { queue.submit(&[], &[], |commands| assert_eq!(stepper.record(commands, prepared, None, None), 2)) };
        other.submitted.push(value.unwrap());
        drop(alone);
        let mut reports = Vec::new();
        for frame in 9..=FRAMES {
            play(frame, other.stepper.world_mut(), &mut bodies);
            let completed = other.recorded() - 1;
            reports.extend(other.wait(completed));
            other.frame(completed, |_, _| ());
        }
        let recorded = other.recorded();
        reports.extend(other.wait(recorded));
        assert!(reports.iter().all(|r| r.dropped == 0), "{reports:?}");
        assert_eq!(hash_of(&other.snapshot()), hashes[FRAMES as usize - 1], "{name}: restored");
        assert_eq!(other.stepper.steps(), straight.steps());
        host.finish();
        other.finish();
    }
}

#[test]
fn rolling_back_inside_frames_gives_the_straight_run() {
    const FRAMES: u64 = 14;
    const BACK: u64 = 4;
    let settings = Settings::default().with(|s| s.colours = 5);
    for (name, _) in DRIVERS {
        let device = driver(name);
        let (world, mut bodies) = zoo();
        let first = bodies.clone();
        let mut straight = Simulation::new(world.clone(), settings, Device::Vulkan(device.clone())).unwrap();
        for tick in 1..=FRAMES {
            play(tick, straight.world_mut(), &mut bodies);
            straight.step(DT).unwrap();
        }
        let mut host = Host::new(&device, world, settings, 2 * (BACK as u32 + 1));
        host.stepper.keep_frames(BACK as u32);
        let mut known = vec![(0, first)];
        let mut undone = 0;
        for tick in 1..=FRAMES {
            // A guess that is wrong goes out and is not waited for; then all ticks since the last sure one again.
            let sure = tick.saturating_sub(BACK);
            let again = (sure + 1..=tick).map(|t| (t, t));
            let guess = (tick, tick * 5 + 35);
            for (i, (tick, said)) in std::iter::once(guess).chain(again).enumerate() {
                if i == 1 && sure == 0 {
                    // There is nothing before the first frame: begin anew.
                    break;
                }
                if i == 1 {
                    host.stepper.roll_back(known[sure as usize].0).unwrap();
                }
                let said = if sure == 0 { tick } else { said };
                known.truncate(tick as usize);
                let mut bodies = known[tick as usize - 1].1.clone();
                play(said, host.stepper.world_mut(), &mut bodies);
                // The frame before the last is done, and no other: those that are rolled back are pending.
                let completed = host.recorded().saturating_sub(2);
                let reports = host.wait(completed);
                undone += reports.iter().filter(|r| r.undone).count();
                assert!(reports.iter().all(|r| r.dropped == 0 && (!r.undone || r.events.is_empty())));
                host.frame(completed, |_, _| ());
                known.push((host.recorded(), bodies));
            }
        }
        assert!(undone > 10, "{name}: {undone} frames were told to be undone");
        let refused = host.stepper.roll_back(1);
        assert!(matches!(refused, Err(Error::Snapshot(SnapshotError::NotKept { frame: 1, .. }))), "{refused:?}");
        assert_eq!(hash_of(&host.snapshot()), hash(&mut straight), "{name}");
        let last = host.recorded();
        host.wait(last);
        assert_eq!(host.stepper.steps(), straight.steps(), "{name}");
        host.finish();
    }
}

#[test]
fn a_snapshot_without_room_is_refused() {
    let device = driver("llvmpipe");
    let mut host = Host::new(&device, zoo().0, Settings::default().with(|s| s.colours = 3), 2);
    let prepared = host.stepper.prepare(DT, 0).unwrap();
    let (stepper, queue, alone) = (&mut host.stepper, &mut host.queue, device.lock_queue());
    // SAFETY: as above.
    let value = unsafe {
        queue.submit(&[], &[], |commands| {
            stepper.record(commands, prepared, None, None);
            let refused = stepper.record_snapshot(commands);
            assert!(matches!(refused, Err(Error::Snapshot(SnapshotError::NoRoom))), "{refused:?}");
        })
    };
    host.submitted.push(value.unwrap());
    drop(alone);
    host.wait(1);
    assert!(host.stepper.poll_snapshots(1).unwrap().is_empty());
    host.finish();
}

#[test]
fn what_is_beside_the_buffers_of_the_step_is_counted_as_memory() {
    let device = driver("llvmpipe");
    let (world, _) = zoo();
    let mut host = Host::new(&device, world, Settings::default(), 2);
    let of =
        |host: &Host, name: &str| host.stepper.memory().iter().filter(|m| m.name == name).map(|m| m.bytes).sum::<u64>();
    assert!(of(&host, "uploads") > 0 && of(&host, "readbacks") > 0 && of(&host, "kept frames") == 0);
    host.stepper.keep_frames(2);
    for frame in 0..4 {
        host.frame(frame, |_, _| {});
        host.wait(frame + 1);
    }
    let persistent = host.stepper.snapshot_size();
    let kept = of(&host, "kept frames");
    assert!(kept >= 3 * persistent && kept < 4 * persistent, "{kept} for three frames of {persistent}");
    assert!(of(&host, "snapshots") >= persistent, "room was made for one");
    drop(host);
    silent(&device);
}
