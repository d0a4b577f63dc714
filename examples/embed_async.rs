//! Physics on a compute queue, beside the drawing of the frame before: `cargo run --release --example embed_async
//! [DEVICE]`.
//!
//! The renderer has a buffer of instance data for each frame in flight. On the compute queue the engine steps, and
//! writes poses into one of them; the graphics queue waits for that with a semaphore and draws from it, while the
//! compute queue goes on with the other. A buffer belongs to one queue family at a time: it is handed over and back by
//! barriers, where the two are of different families. On devices with a single queue the same program runs on that.

mod renderer;

use anyhow::{Context, Result, ensure};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::layout::BodyPose;
use drystone::vulkan::ash::vk;
use drystone::vulkan::{FramesOptions, GpuAllocator, HostAccess, Kernels, PoseTarget};
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Settings, Simulation, Stepper};
use renderer::{IN_FLIGHT, Lane, Renderer};

const FRAMES: u64 = 60;
const DT: f32 = 1.0 / 60.0;
const BODIES: u32 = 201;
const BYTES: u64 = BODIES as u64 * size_of::<BodyPose>() as u64;

type Side = (vk::PipelineStageFlags, vk::AccessFlags);

/// What the drawing does: here a copy stands for it.
const DRAWN: Side = (vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_READ);
/// What the other queue does is not named on this one: a semaphore is between the two.
const BEFORE: Side = (vk::PipelineStageFlags::ALL_COMMANDS, vk::AccessFlags::empty());
const BEHIND: Side = (vk::PipelineStageFlags::BOTTOM_OF_PIPE, vk::AccessFlags::empty());

/// The renderer's half of handing a buffer to another queue family or taking it from there; the engine records the
/// other one. The semaphore between them orders the two; within a family it is all that is needed.
fn hand_over(
    renderer: &Renderer,
    commands: vk::CommandBuffer,
    target: &PoseTarget,
    ways: (&Lane, &Lane),
    sides: [Side; 2],
) {
    let (from, to) = ways;
    if from.family == to.family {
        return;
    }
    let barrier = [target.transfer((from.family, to.family), (sides[0].1, sides[1].1))];
    let none = vk::DependencyFlags::empty();
    // SAFETY: the command buffer is being recorded, outside a render pass, on a queue with these stages.
    unsafe {
        renderer.host.device.cmd_pipeline_barrier(commands, sides[0].0, sides[1].0, none, &[], &barrier, &[]);
    }
}

fn world() -> Result<World> {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space()))?;
    for i in 1..BODIES {
        let place = Vec3::new((i % 6) as f32 * 1.05, 0.6 + (i / 36) as f32 * 1.1, (i / 6 % 6) as f32 * 1.05);
        world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::ONE)))?;
    }
    Ok(world)
}

fn main() -> Result<()> {
    let renderer = Renderer::with_lanes(&std::env::args().nth(1).unwrap_or_default(), true)?;
    let (graphics, compute) = (&renderer.graphics, renderer.compute.as_ref().context("two lanes")?);
    let beside = compute.queue != graphics.queue;
    println!("{}: physics {} the drawing", renderer.name, if beside { "beside" } else { "on the same queue as" });

    // SAFETY: the renderer outlives the engine's objects; its buffers are large enough and made for this.
    let (kernels, mut stepper, instances) = unsafe {
        let kernels = Kernels::new(&renderer.host)?;
        let memory = GpuAllocator::new(&renderer.host)?;
        let capacities = drystone::state::Capacities { pairs: 4000, manifolds: 2000, ..Default::default() };
        let options = FramesOptions { frames_in_flight: IN_FLIGHT as u32, capacities, ..Default::default() };
        let mut stepper = Stepper::in_frames(&kernels, memory, world()?, Settings::default(), options)?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC;
        let instances = (0..IN_FLIGHT).map(|_| {
            let buffer = renderer.host_buffer(BYTES, usage)?.buffer;
            let target = PoseTarget::new(buffer, 0, size_of::<BodyPose>() as u32, BODIES);
            Ok((target, stepper.lend_pose_buffer(target)?))
        });
        let instances: Vec<_> = instances.collect::<Result<_>>()?;
        (kernels, stepper, instances)
    };
    let screen = renderer.host_buffer(BYTES, vk::BufferUsageFlags::TRANSFER_DST)?;

    for frame in 1..=FRAMES {
        let (target, lent) = instances[(frame % IN_FLIGHT) as usize];
        // The compute queue: a step, then poses into this frame's buffer once the frame that drew from it is done.
        let commands = renderer.begin(compute, frame)?;
        let prepared = stepper.prepare(DT, renderer.completed(compute)?)?;
        let before = frame.checked_sub(IN_FLIGHT).filter(|before| *before > 0);
        // SAFETY: one queue, in order, once. What reads the poses is on another queue, behind the semaphore.
        unsafe {
            stepper.record(commands, prepared, None, None);
            // Of another family, the buffer is taken back from it and handed to it.
            let drawing = Some(HostAccess::new(DRAWN.0, DRAWN.1).on_family(graphics.family));
            stepper.record_poses(commands, lent, 1.0, drawing, drawing);
        }
        renderer.submit(compute, frame, commands, before.map(|before| (graphics, before)))?;

        // The graphics queue: draws from it while the compute queue goes on with the next frame.
        let commands = renderer.begin(graphics, frame)?;
        hand_over(&renderer, commands, &target, (compute, graphics), [BEFORE, DRAWN]);
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: BYTES }];
        // SAFETY: both buffers hold that many bytes.
        unsafe { renderer.host.device.cmd_copy_buffer(commands, target.buffer, screen.buffer, &region) };
        let copied = (vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_WRITE);
        let seen = vk::PipelineStageFlags::HOST | vk::PipelineStageFlags::TRANSFER;
        renderer.barrier(commands, copied, (seen, vk::AccessFlags::HOST_READ | vk::AccessFlags::TRANSFER_WRITE));
        hand_over(&renderer, commands, &target, (graphics, compute), [DRAWN, BEHIND]);
        renderer.submit(graphics, frame, commands, Some((compute, frame)))?;
        stepper.poll(renderer.completed(compute)?)?;
    }
    renderer.wait(graphics, FRAMES)?;
    stepper.poll(FRAMES)?;

    // The same on the CPU: devices round differently, so boxes of a heap are not in the same place for ever.
    let mut simulation = Simulation::new(world()?, Settings::default(), Device::Cpu { threads: None })?;
    for _ in 0..FRAMES {
        simulation.step(DT)?;
    }
    let mut farthest = 0f32;
    for (body, state) in simulation.bodies()? {
        let pose: BodyPose = screen.read(body.index() as usize * size_of::<BodyPose>());
        ensure!(pose.present == 1, "body {} is not drawn", body.index());
        farthest = farthest.max(pose.position.distance(state.position));
    }
    println!("{} steps; what was drawn last is within {:.2} mm of the CPU backend's", stepper.steps(), farthest * 1e3);
    ensure!(stepper.steps() == FRAMES && farthest < 0.01, "what was drawn is not what was stepped");
    drop(stepper);
    drop(kernels);
    Ok(())
}
