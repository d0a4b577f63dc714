//! The scene of the programs in `examples/c`, in Rust: all three print the same hash of the poses, on the CPU and in a
//! host's own frames. Run with `cargo run --release --example c_twin DEVICE...`, where a device is `cpu` or a part of
//! the name of a Vulkan device; `tools/c-library --check` compares. All numbers are exact in binary.

use anyhow::{Context, Result, ensure};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3, vec3};
use drystone::layout::BodyPose;
use drystone::metrics::pose_hash;
use drystone::state::Capacities;
use drystone::vulkan::ash::vk;
use drystone::vulkan::{
    FramesOptions, GpuAllocator, Host, HostAccess, Kernels, Loader, Location, Memory, OwnDevice, OwnDeviceOptions,
    Queue, Timing,
};
use drystone::world::joint::{Drive, JointAxis};
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, World};
use drystone::{Settings, Stepper};
use std::time::Duration;

const FRAMES: u64 = 120;
const IN_FLIGHT: u64 = 2;
const DT: f32 = 1.0 / 64.0;

struct Scene {
    world: World,
    boxes: Vec<BodyHandle>,
    lift: BodyHandle,
}

fn block(x: f32, y: f32, z: f32) -> Collider {
    Collider::cuboid(vec3(x, y, z) * 2.0)
}

fn drop_at(world: &mut World, x: f32, y: f32, z: f32, collider: Collider) -> Result<BodyHandle> {
    Ok(world.add(BodyDesc::dynamic().at(vec3(x, y, z)).with(collider))?)
}

fn add_shapes(world: &mut World) -> Result<()> {
    drop_at(world, -4.0, 3.0, 0.0, Collider::sphere(0.5).restitution(0.5).rolling(0.0078125, 0.0))?;
    drop_at(world, -4.0, 4.5, 1.0, Collider::capsule(0.5, 0.25))?;
    drop_at(world, -4.0, 2.0, 2.0, Collider::cylinder(0.25, 0.5))?;
    drop_at(world, -4.0, 3.0, 3.0, Collider::cone(0.5, 0.5))?;
    let points = [Vec3::X * 0.5, Vec3::X * -0.5, Vec3::Y * 0.5, Vec3::Y * -0.5, Vec3::Z * 0.75, Vec3::Z * -0.75];
    drop_at(world, -4.0, 3.0, -2.0, Collider::hull(&points)?)?;
    let two = BodyDesc::dynamic().with(block(0.5, 0.25, 0.25)).with(Collider::sphere(0.375).at(Vec3::X * 0.5));
    world.add(two.at(vec3(-6.0, 2.0, 0.0)))?;
    Ok(())
}

fn add_jointed(world: &mut World) -> Result<()> {
    let mut last = None;
    for i in 0..6 {
        let link = drop_at(world, 4.5 + i as f32, 6.0, 0.0, Collider::sphere(0.25))?;
        let there = if last.is_some() { Vec3::X * 0.5 } else { vec3(4.0, 6.0, 0.0) };
        world.add_joint(JointDesc::ball(link, last).anchors(Vec3::X * -0.5, there))?;
        last = Some(link);
    }
    let door = drop_at(world, 8.0, 1.5, 5.0, block(0.5, 1.0, 0.125))?;
    let hinge = JointDesc::hinge(door, None).anchors(Vec3::ZERO, vec3(8.0, 1.5, 5.0));
    world.add_joint(hinge.driven(JointAxis::Twist, Drive::Speed { speed: 1.0, max: 4096.0 }))?;
    let weight = drop_at(world, 10.0, 4.0, 3.0, Collider::sphere(0.25))?;
    let spring = JointDesc::spring(weight, None, 1.5, 4096.0, 16.0);
    world.add_joint(spring.anchors(Vec3::ZERO, vec3(10.0, 6.0, 3.0)))?;
    Ok(())
}

fn scene() -> Result<Scene> {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space().friction(0.75)))?;
    let place = |i: u32| ((i % 4) as f32 * 1.125 - 2.0, 0.25 + (i / 16) as f32 * 0.5, (i / 4 % 4) as f32 * 1.125 - 2.0);
    let boxes = (0..48).map(place).map(|(x, y, z)| drop_at(&mut world, x, y, z, block(0.5, 0.25, 0.5)));
    let boxes = boxes.collect::<Result<_>>()?;
    add_shapes(&mut world)?;
    add_jointed(&mut world)?;
    let lift = world.add(BodyDesc::kinematic().at(vec3(-9.0, 0.25, 0.0)).with(block(1.0, 0.25, 1.0)))?;
    drop_at(&mut world, -9.0, 1.0, 0.0, block(0.25, 0.25, 0.25))?;
    Ok(Scene { world, boxes, lift })
}

/// What the game does before a frame, counted from 1.
fn play(frame: u64, world: &mut World, boxes: &[BodyHandle], lift: BodyHandle) -> Result<()> {
    world.set_target(lift, vec3(-9.0, 0.25 + frame as f32 / 64.0, 0.0), Quat::IDENTITY)?;
    if frame == 30 {
        world.apply_impulse(boxes[47], vec3(2048.0, 4096.0, 0.0), Vec3::ZERO)?;
        world.remove(boxes[10])?;
    }
    if frame == 60 {
        drop_at(world, 0.0, 6.0, 0.0, Collider::sphere(0.5))?;
    }
    Ok(())
}

fn settings() -> Settings {
    Settings::default().with(|s| s.iterations = 6)
}

fn on_cpu() -> Result<u64> {
    let Scene { world, boxes, lift } = scene()?;
    let mut stepper = Stepper::on(&Device::Cpu { threads: None }, world, settings())?;
    for frame in 1..=FRAMES {
        play(frame, stepper.world_mut(), &boxes, lift)?;
        let prepared = stepper.prepare(DT)?;
        stepper.run(prepared)?;
    }
    let bodies = stepper.bodies()?;
    let mut poses = vec![BodyPose::default(); bodies.iter().map(|(b, _)| b.index() + 1).max().unwrap_or(0) as usize];
    for (body, state) in bodies {
        let pose = &mut poses[body.index() as usize];
        (pose.position, pose.present) = (state.position, state.enabled.into());
        let [x, y, z, s] = state.rotation.to_array();
        (pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.s) = (x, y, z, s);
    }
    Ok(pose_hash(&poses))
}

/// A buffer that the poses are copied to, in place of drawing them.
fn landing(host: &Host, size: u64) -> Result<(vk::Buffer, *const BodyPose, impl FnOnce())> {
    // SAFETY: ordinary Vulkan; the buffer is bound once, to memory that fits.
    unsafe {
        let mut memory = GpuAllocator::new(host)?;
        let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST);
        let buffer = host.device.create_buffer(&info, None)?;
        let requirements = host.device.get_buffer_memory_requirements(buffer);
        let allocation = memory.allocate("landing", requirements, Location::Readback)?;
        host.device.bind_buffer_memory(buffer, allocation.memory, allocation.offset)?;
        let mapped = allocation.mapped.context("memory that the host sees")?.as_ptr().cast::<BodyPose>();
        let device = host.device.clone();
        // SAFETY: the caller sees to it that the device is done with it.
        let destroy = move || {
            device.destroy_buffer(buffer, None);
            memory.free(allocation);
        };
        Ok((buffer, mapped, destroy))
    }
}

fn in_frames(name: &str) -> Result<u64> {
    let options = OwnDeviceOptions { name: Some(name.to_owned()), ..Default::default() };
    let own = OwnDevice::new(&Loader::system()?, &options)?;
    let host = own.host();
    let Scene { world, boxes, lift } = scene()?;
    const BODIES: u32 = 128;
    let (target, copied, destroy) = landing(host, u64::from(BODIES) * 32)?;
    // SAFETY: the device outlives all of it; recordings are submitted once, in order, to one queue.
    let hash = unsafe {
        let kernels = Kernels::new(host)?;
        let capacities = Capacities { bodies: BODIES, pairs: 4096, manifolds: 2048, ..Default::default() };
        let options =
            FramesOptions { frames_in_flight: IN_FLIGHT as u32, timing: Timing::Off, capacities, ..Default::default() };
        let mut stepper = Stepper::in_frames(&kernels, GpuAllocator::new(host)?, world, settings(), options)?;
        let mut queue = Queue::new(host, own.queue())?;
        let copies = HostAccess::new(vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_READ);
        let mut dropped = 0;
        for frame in 1..=FRAMES {
            let completed = frame.saturating_sub(IN_FLIGHT);
            queue.wait(completed, Duration::from_secs(60))?;
            play(frame, stepper.world_mut(), &boxes, lift)?;
            let prepared = stepper.prepare(DT, completed)?;
            queue.submit(&[], &[], |commands| {
                stepper.record(commands, prepared, Some(copies), Some(copies));
                if let Some(view) = stepper.poses() {
                    let size = u64::from(view.stride) * u64::from(view.count.min(BODIES));
                    let region = vk::BufferCopy { src_offset: view.offset, dst_offset: 0, size };
                    host.device.cmd_copy_buffer(commands, view.current, target, &[region]);
                }
                let written = [vk::MemoryBarrier::default()
                    .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                    .dst_access_mask(vk::AccessFlags::HOST_READ | vk::AccessFlags::TRANSFER_WRITE)];
                let (from, to) =
                    (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST | vk::PipelineStageFlags::TRANSFER);
                host.device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &written, &[], &[]);
            })?;
            dropped += stepper.poll(completed)?.iter().map(|r| r.dropped).sum::<u32>();
        }
        queue.wait(FRAMES, Duration::from_secs(60))?;
        dropped += stepper.poll(FRAMES)?.iter().map(|r| r.dropped).sum::<u32>();
        ensure!(dropped == 0, "{dropped} steps were left out");
        let count = stepper.capacities().bodies.min(BODIES);
        pose_hash(std::slice::from_raw_parts(copied, count as usize))
    };
    destroy();
    Ok(hash)
}

fn main() -> Result<()> {
    let devices: Vec<_> = std::env::args().skip(1).collect();
    ensure!(
        !devices.is_empty(),
        "usage: c_twin DEVICE..., where a device is `cpu` or a part of the name of a Vulkan device"
    );
    for device in devices {
        let hash = if device == "cpu" { on_cpu()? } else { in_frames(&device)? };
        println!("{device} {hash:016x}");
    }
    Ok(())
}
