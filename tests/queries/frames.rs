//! Queries inside a host's frames: recorded behind every step, with two frames in flight, while lists grow, under the
//! validation layers; the answers are those of a simulation.

use crate::common::Random;
use crate::{DEVICES, any_shape, direction, place, silent, turn};
use drystone::glam::{Quat, Vec3};
use drystone::queries::{HitRecord, QueryBatch, QueryError, QueryFilter, QueryHit, QueryResults, QueryRoom};
use drystone::state::Capacities;
use drystone::vulkan::ash::vk;
use drystone::vulkan::{
    Allocation, Frames, FramesOptions, GpuAllocator, HostAccess, Location, Memory, OwnDevice, Queue,
};
use drystone::world::{BodyDesc, Collider, Shape, World};
use drystone::{Error, Settings, Simulation, Stepper};
use std::sync::Arc;
use std::time::Duration;

const DT: f32 = 1.0 / 60.0;
const FRAMES: u64 = 12;
const ROOM: QueryRoom = QueryRoom { rays: 300, casts: 300, overlaps: 100, overlap_hits: 400, closest: 100 };

/// A host that submits by itself.
struct Host {
    stepper: Stepper<Frames<GpuAllocator>>,
    queue: Queue,
    device: Arc<OwnDevice>,
}

impl Host {
    fn new(device: &Arc<OwnDevice>, world: World) -> Self {
        // Pairs enough for all frames: a step that is skipped could not be compared.
        let capacities = Capacities { pairs: 20_000, manifolds: 5_000, ..Default::default() };
        let options = FramesOptions { frames_in_flight: 2, capacities, ..Default::default() };
        // SAFETY: the device is alive, has the features, and outlives the stepper and the queue.
        let (stepper, queue) = unsafe {
            let memory = GpuAllocator::new(device.host()).unwrap();
            let kernels = device.kernels().unwrap();
            let stepper = Stepper::in_frames(kernels, memory, world, Settings::default(), options).unwrap();
            (stepper, Queue::new(device.host(), device.queue()).unwrap())
        };
        Self { stepper, queue, device: device.clone() }
    }

    /// One step, and what `behind` records. Returns the value that the queue signals.
    fn frame(
        &mut self,
        completed: u64,
        behind: impl FnOnce(&mut Stepper<Frames<GpuAllocator>>, vk::CommandBuffer),
    ) -> u64 {
        let prepared = self.stepper.prepare(DT, completed).unwrap();
        let (stepper, queue, _alone) = (&mut self.stepper, &mut self.queue, self.device.lock_queue());
        // SAFETY: recorded into the queue's commands, which are submitted once and in order.
        let value = unsafe {
            queue.submit(&[], &[], |commands| {
                stepper.record(commands, prepared, None, None);
                behind(stepper, commands);
            })
        };
        value.unwrap()
    }

    fn wait(&mut self, value: u64) {
        self.queue.wait(value, Duration::from_secs(60)).unwrap();
    }
}

/// Bodies of every shape that fall onto a floor.
fn falling(random: &mut Random) -> World {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    for _ in 0..40 {
        world.add(body(random)).unwrap();
    }
    world
}

fn body(random: &mut Random) -> BodyDesc {
    BodyDesc::dynamic().at(place(random)).turned(turn(random)).with(Collider::from(any_shape(random)))
}

fn batch(random: &mut Random) -> QueryBatch {
    let (all, mut batch) = (QueryFilter::default(), QueryBatch::new());
    for _ in 0..200 + random.below(100) {
        batch.ray(place(random), direction(random), random.range(1.0, 20.0), all).unwrap();
        batch.sphere_cast(place(random), 0.2, direction(random) * 5.0, all).unwrap();
    }
    for _ in 0..100 {
        let half = Vec3::splat(random.range(0.1, 1.5));
        batch.overlap(&Shape::Box { half }, place(random), turn(random), 4, all).unwrap();
        batch.closest_point(place(random), 3.0, all).unwrap();
    }
    batch
}

#[test]
fn queries_recorded_behind_frames_are_answered_as_in_a_simulation() {
    for device in DEVICES.iter() {
        let name = &device.support().device_name;
        let mut random = Random::new(21);
        let world = falling(&mut random);
        let mut host = Host::new(device, world.clone());
        let own = drystone::backend::Device::Vulkan(device.clone());
        let mut simulation = Simulation::new(world, Settings::default(), own).unwrap();
        host.stepper.reserve_queries(ROOM).unwrap();
        let (mut signals, mut told, mut expected) = (vec![0], Vec::new(), Vec::new());
        let (mut grown, mut generation) = (0, host.stepper.generation());
        for frame in 1..=FRAMES {
            if frame == 6 {
                // More bodies than there is room for: queries are pending while buffers become others.
                let bodies: Vec<_> = (0..120).map(|_| body(&mut random)).collect();
                for world in [host.stepper.world_mut(), simulation.world_mut()] {
                    bodies.iter().for_each(|b| _ = world.add(b.clone()).unwrap());
                }
            }
            let completed = frame.saturating_sub(2);
            if completed > 0 {
                host.wait(signals[completed as usize]);
                told.extend(host.stepper.poll_queries(completed).unwrap());
            }
            let asked = batch(&mut random);
            signals.push(host.frame(completed, |stepper, commands| {
                // SAFETY: behind the frame, in the same commands.
                let recorded = unsafe { stepper.record_queries(commands, &asked, None) };
                assert_eq!(recorded.unwrap(), frame);
            }));
            grown += u32::from(std::mem::replace(&mut generation, host.stepper.generation()) != generation);
            simulation.step(DT).unwrap();
            expected.push((frame, simulation.query(&asked).unwrap()));
        }
        host.wait(signals[FRAMES as usize]);
        told.extend(host.stepper.poll_queries(FRAMES).unwrap());
        assert!(host.stepper.poll_queries(FRAMES).unwrap().is_empty(), "each is told once");
        assert!(grown > 1, "other settings behind the first step, and longer lists");
        let dropped: u32 = host.stepper.poll(FRAMES).unwrap().iter().map(|r| r.dropped).sum();
        assert_eq!(dropped, 0, "a step was skipped");
        for (told, expected) in told.iter().zip(&expected) {
            let met = |hits: &[Option<QueryHit>]| hits.iter().flatten().count();
            let QueryResults { rays, casts, overlaps, closest, .. } = &expected.1;
            assert!(met(rays) > 50 && met(casts) > 50 && met(closest) > 20, "{name}");
            assert!(overlaps.iter().any(|o| o.count > 0), "{name}");
            assert_eq!(told, expected, "{name}");
        }
        assert_eq!(told.len(), expected.len());
        drop(host);
        silent(device);
    }
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

    fn record(&self) -> HitRecord {
        // SAFETY: the device is done with it, and a record is inside.
        unsafe { self.memory.mapped.unwrap().as_ptr().cast::<HitRecord>().read_unaligned() }
    }

    fn destroy(mut self, device: &OwnDevice) {
        // SAFETY: the device is idle.
        unsafe { device.host().device.destroy_buffer(self.buffer, None) };
        self.allocator.free(self.memory);
    }
}

#[test]
fn answers_lie_on_the_device_for_the_hosts_own_commands_and_too_many_are_refused() {
    let device = &DEVICES[0];
    let mut world = World::new();
    let ball = world.add(BodyDesc::fixed().at(Vec3::X * 4.0).with(Collider::sphere(1.0))).unwrap();
    let mut host = Host::new(device, world);
    let landing = Landing::new(device, 64);
    let (all, mut asked) = (QueryFilter::default(), QueryBatch::new());
    asked.ray(Vec3::ZERO, Vec3::X, 9.0, all).unwrap();
    let refused = |stepper: &mut Stepper<Frames<GpuAllocator>>, commands, batch: &QueryBatch| {
        // SAFETY: behind the frame, in the same commands.
        let recorded = unsafe { stepper.record_queries(commands, batch, None) };
        let Err(Error::Query(error)) = recorded else { panic!("{recorded:?}") };
        error
    };
    assert_eq!(host.stepper.query_views(), None);
    host.frame(0, |stepper, commands| assert_eq!(refused(stepper, commands, &asked), QueryError::NotReserved));
    let room = QueryRoom { rays: 1, overlaps: 2, overlap_hits: 4, ..QueryRoom::default() };
    host.stepper.reserve_queries(room).unwrap();
    let mut many = [asked.clone(), QueryBatch::new(), QueryBatch::new()];
    many[0].ray(Vec3::ZERO, Vec3::X, 9.0, all).unwrap();
    many[1].overlap(&Shape::Sphere { radius: 1.0 }, Vec3::ZERO, Quat::IDENTITY, 5, all).unwrap();
    many[2].closest_point(Vec3::ZERO, 1.0, all).unwrap();
    let value = host.frame(0, |stepper, commands| {
        let errors = many.each_ref().map(|batch| refused(stepper, commands, batch));
        let too_many = |what, asked, room| QueryError::TooMany { what, asked, room };
        assert_eq!(errors[0], too_many("rays", 2, 1));
        assert_eq!(errors[1], too_many("overlaps to list", 5, 4));
        assert_eq!(errors[2], too_many("searches for the closest", 1, 0));
        let exit = HostAccess::new(vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_READ);
        // SAFETY: as above.
        assert_eq!(unsafe { stepper.record_queries(commands, &asked, Some(exit)) }.unwrap(), 2);
        let views = stepper.query_views().unwrap();
        let (rays, size) = (views.rays, size_of::<HitRecord>() as u64);
        assert_eq!((u64::from(rays.stride), rays.count, views.generation), (size, 1, stepper.generation()));
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size }];
        // SAFETY: both buffers hold the region, and the exit names the copy.
        unsafe { device.host().device.cmd_copy_buffer(commands, rays.buffer, landing.buffer, &region) };
        // SAFETY: as above.
        assert_eq!(unsafe { stepper.record_queries(commands, &asked, None) }.unwrap(), 2, "two may be pending");
        assert_eq!(refused(stepper, commands, &asked), QueryError::Pending { pending: 2 });
    });
    host.wait(value);
    let told = host.stepper.poll_queries(2).unwrap();
    assert_eq!(told.len(), 2);
    let hit = told[0].1.rays[0].unwrap();
    let record = landing.record();
    assert_eq!((record.body, record.distance, record.point), (ball.index(), hit.distance, hit.point));
    assert_eq!((hit.body, hit.collider, hit.fraction), (ball, 0, 3.0 / 9.0));
    drop(host);
    landing.destroy(device);
    silent(device);
}
