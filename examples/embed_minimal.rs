//! The lines of the README that put the physics into a frame, as a program: `cargo run --release --example
//! embed_minimal [DEVICE]`. What is the renderer's own is in `examples/renderer`; a test keeps the lines and the README
//! the same.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "one contract for all: the renderer outlives the engine's objects"
)]

mod renderer;

use anyhow::{Result, ensure};
use drystone::glam::Vec3;
use drystone::vulkan::ash::vk;
use drystone::vulkan::{FramesOptions, GpuAllocator, HostAccess, Kernels};
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Settings, Stepper};
use renderer::Renderer;

fn main() -> Result<()> {
    let renderer = Renderer::new(&std::env::args().nth(1).unwrap_or_default())?;
    let (host, lane) = (&renderer.host, renderer.physics());
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space()))?;
    let ball = world.add(BodyDesc::dynamic().at(Vec3::Y * 2.0).with(Collider::sphere(0.5)))?;

    // --- the README's lines
    // Once a device: pipelines, shared by all worlds on it. `compile_all` may run on another thread.
    let kernels = unsafe { Kernels::new(host)? };
    // Once a world. The allocator is gpu-allocator's, or your own behind the trait `Memory`.
    let memory = unsafe { GpuAllocator::new(host)? };
    let options = FramesOptions { frames_in_flight: 2, ..Default::default() };
    let mut stepper = unsafe { Stepper::in_frames(&kernels, memory, world, Settings::default(), options)? };
    // What your commands do with the poses before and after the step. Barriers on entry and exit cover what you name.
    let drawing = HostAccess::new(vk::PipelineStageFlags::ALL_COMMANDS, vk::AccessFlags::MEMORY_READ);

    for frame in 1..=120 {
        let commands = renderer.begin(lane, frame)?; // your command buffer
        let completed = renderer.completed(lane)?; // the last frame that your fence or semaphore says is done
        let prepared = stepper.prepare(1.0 / 60.0, completed)?;
        // Nothing is submitted, waited for or allocated in here.
        unsafe { stepper.record(commands, prepared, Some(drawing), Some(drawing)) };
        let poses = stepper.poses(); // VkBuffer, stride, layout version: instance data by body slot
        let _draw = poses.map(|view| (view.current, view.offset, view.stride));
        renderer.submit(lane, frame, commands, None)?;
        // Whenever you like: what earlier frames did, each once. Never waits.
        for report in stepper.poll(completed)? {
            for event in &report.events {
                println!("step {}: {:?}", event.step, event.kind);
            }
        }
    }
    // --- up to here

    renderer.wait(lane, 120)?;
    let made = stepper.poll(120)?;
    ensure!(made.iter().all(|report| report.dropped == 0) && stepper.steps() == 120, "every step was made");
    println!("{}: the ball is body {}, 120 steps were made", renderer.name, ball.index());
    Ok(())
}
