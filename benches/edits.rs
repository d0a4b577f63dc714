//! What it costs to say something to ten thousand bodies, on the CPU backend and on Vulkan drivers that run there too.
//! Run with `cargo bench --bench edits`. Times are the least of many: whatever else the machine does only adds to them.
//!
//! The same step is timed four times: with nothing said, with an impulse for every body, with every body replaced, and
//! with 1,000 bodies and 200 joints replaced. Bodies are far apart, so that the step itself stays the same.

use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions};
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, JointHandle, World};
use drystone::{Settings, Simulation};
use std::sync::Arc;
use std::time::Instant;

const BODIES: u32 = 10_000;
const RUNS: usize = 40;

fn body(i: u32) -> BodyDesc {
    let place = Vec3::new((i % 100) as f32 * 3.0, 0.0, (i / 100) as f32 * 3.0);
    BodyDesc::dynamic().at(place).gravity_scale(0.0).with(Collider::sphere(0.5))
}

/// Milliseconds of saying something and of the step after it.
fn time(simulation: &mut Simulation, say: impl FnOnce(&mut World)) -> [f64; 2] {
    let start = Instant::now();
    say(simulation.world_mut());
    let said = start.elapsed();
    simulation.step(1.0 / 60.0).expect("a step");
    [said, start.elapsed() - said].map(|t| t.as_secs_f64() * 1e3)
}

fn run(device: Device) {
    let mut world = World::new();
    let mut handles: Vec<BodyHandle> = (0..BODIES).map(|i| world.add(body(i)).expect("a body")).collect();
    let joins = |world: &mut World, handles: &[BodyHandle]| -> Vec<JointHandle> {
        let half = Vec3::X * 1.5;
        let join = |i: usize| JointDesc::ball(handles[2 * i], handles[2 * i + 1]).anchors(half, -half);
        (0..200).map(|i| world.add_joint(join(i)).expect("a joint")).collect()
    };
    let mut joints = joins(&mut world, &handles);
    let mut simulation = Simulation::new(world, Settings::default(), device).expect("a world that fits");
    println!("{}", simulation.device().name);
    // In turns, so that whatever else the machine does meets all of them.
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..RUNS {
        times[0].push(time(&mut simulation, |_| {}));
        times[1].push(time(&mut simulation, |world| {
            for &h in &handles {
                world.apply_impulse(h, Vec3::Y * 1e-3, Vec3::ZERO).expect("an impulse");
            }
        }));
        let mut replace = |world: &mut World, count: usize| {
            for joint in &joints {
                world.remove_joint(*joint).expect("a joint");
            }
            for (h, i) in handles.iter_mut().zip(0..).take(count) {
                world.remove(*h).expect("a body");
                *h = world.add(body(i)).expect("a body");
            }
            joints = joins(world, &handles);
        };
        times[2].push(time(&mut simulation, |world| replace(world, BODIES as usize)));
        times[3].push(time(&mut simulation, |world| replace(world, 1000)));
    }
    let least = |times: &[[f64; 2]], part: usize| times.iter().fold(f64::MAX, |m, t| m.min(t[part]));
    let nothing = least(&times[0], 1);
    for (name, times) in ["nothing", "impulses", "replaced", "a tenth"].into_iter().zip(&times) {
        let (said, stepped) = (least(times, 0), least(times, 1));
        let more = said + stepped - nothing;
        let ratio = (said + stepped) / nothing;
        println!("  {name:<10} {said:6.2} ms to say, {stepped:7.2} ms a step, {more:+.2} ms, {ratio:.2} x");
    }
}

fn main() {
    run(Device::Cpu { threads: None });
    let Ok(loader) = Loader::system() else { return };
    for name in ["llvmpipe", "SwiftShader"] {
        let options = OwnDeviceOptions { name: Some(name.to_owned()), ..Default::default() };
        if let Ok(device) = OwnDevice::new(&loader, &options) {
            run(Device::Vulkan(Arc::new(device)));
        }
    }
}
