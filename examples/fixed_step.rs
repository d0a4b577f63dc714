//! Physics at 60 steps a second under a renderer at 144 frames a second: an accumulator, and poses between the last two
//! steps. `cargo run --release --example fixed_step [DEVICE]`.
//!
//! Each of the renderer's frames takes its own time; as much physics is stepped as fits into it, often none, and what
//! is drawn lies as far between the last two steps as the clock does. The engine writes it into the renderer's instance
//! data, with the renderer's stride. What is drawn moves without a jerk, up to a step late.

mod renderer;

use anyhow::{Result, ensure};
use drystone::glam::Vec3;
use drystone::layout::BodyPose;
use drystone::vulkan::ash::vk;
use drystone::vulkan::{FramesOptions, GpuAllocator, HostAccess, Kernels, PoseTarget};
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Settings, Stepper};
use renderer::Renderer;

const STEP: f64 = 1.0 / 60.0;
const FRAME: f64 = 1.0 / 144.0;
const FRAMES: u64 = 100;
const G: f32 = 9.81;

/// What the renderer has for an instance: its own colour and material, and the pose in between.
#[repr(C)]
struct Instance {
    colour: [f32; 4],
    pose: BodyPose,
    material: [u32; 4],
}

/// Where a box is after so many steps of free fall: velocities first, then places.
fn height(steps: u64) -> f32 {
    let n = steps as f64;
    (5.0 - 0.5 * f64::from(G) * STEP * STEP * n * (n + 1.0)) as f32
}

fn main() -> Result<()> {
    let renderer = Renderer::new(&std::env::args().nth(1).unwrap_or_default())?;
    let lane = renderer.physics();
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space()))?;
    let place = |i: u32| Vec3::new((i % 10) as f32 * 2.0, 5.0, (i / 10) as f32 * 2.0);
    for i in 0..50 {
        world.add(BodyDesc::dynamic().at(place(i)).with(Collider::cuboid(Vec3::ONE)))?;
    }
    let stride = size_of::<Instance>();
    let instances = renderer.host_buffer(51 * stride as u64, vk::BufferUsageFlags::STORAGE_BUFFER)?;
    // SAFETY: the renderer and its buffer outlive the engine's objects.
    let (_kernels, mut stepper, target) = unsafe {
        let kernels = Kernels::new(&renderer.host)?;
        let memory = GpuAllocator::new(&renderer.host)?;
        // Two steps may fall into a frame, and the frame before may be pending.
        let options = FramesOptions { frames_in_flight: 4, ..Default::default() };
        let mut stepper = Stepper::in_frames(&kernels, memory, world, Settings::default(), options)?;
        let offset = std::mem::offset_of!(Instance, pose) as u64;
        let target = PoseTarget::new(instances.buffer, offset, stride as u32, 51);
        let target = stepper.lend_pose_buffer(target)?;
        (kernels, stepper, target)
    };
    let drawing = HostAccess::new(vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);

    let (mut time, mut accumulator, mut steps, mut done) = (0.0, 0.0, 0u64, 0u64);
    let (mut stepped_in, mut worst) = ([0u32; 3], 0f32);
    for frame in 1..=FRAMES {
        // A renderer's frames are never quite the same length; one in twenty takes twice as long.
        let took = if frame % 20 == 0 { 3.0 * FRAME } else { FRAME * (1.0 + 0.2 * (frame as f64).sin()) };
        time += took;
        accumulator += took;
        let commands = renderer.begin(lane, frame)?;
        let mut now = 0;
        while accumulator >= STEP {
            let prepared = stepper.prepare(STEP as f32, done)?;
            // SAFETY: one queue, in order, once.
            steps = unsafe { stepper.record(commands, prepared, None, None) };
            accumulator -= STEP;
            now += 1;
        }
        stepped_in[now.min(2)] += 1;
        if steps > 0 {
            let part = (accumulator / STEP) as f32;
            // SAFETY: as above.
            unsafe { stepper.record_poses(commands, target, part, Some(drawing), Some(drawing)) };
        }
        renderer.submit(lane, frame, commands, None)?;
        // The host looks at what a vertex shader would read, so it waits; a renderer does not.
        renderer.wait(lane, frame)?;
        done = steps;
        stepper.poll(done)?;
        if steps < 2 {
            continue;
        }
        // Where it is between the last two steps: on the line from one to the other.
        let part = (accumulator / STEP) as f32;
        let expected = height(steps - 1) * (1.0 - part) + height(steps) * part;
        if expected > 0.6 {
            for body in 0..50u32 {
                let pose: BodyPose =
                    instances.read((body as usize + 1) * stride + std::mem::offset_of!(Instance, pose));
                let off = pose.position - Vec3 { y: expected, ..place(body) };
                worst = worst.max(off.length());
            }
        }
    }
    println!("{}: {FRAMES} frames, {steps} steps; frames with 0, 1 and 2 steps: {stepped_in:?}", renderer.name);
    println!("{time:.2} s; what was drawn is at most {:.3} mm from the line between two steps", worst * 1e3);
    ensure!(stepped_in.iter().all(|n| *n > 0) && worst < 1e-3, "what is drawn is not where it should be");
    Ok(())
}
