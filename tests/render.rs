//! Pictures: the same on every backend and from commit to commit, without a trace in the simulation they are of.
//!
//! The references in `tests/references` are small pictures of five scenes. A change of the light, the palette or a
//! camera changes them on purpose: run with `DRYSTONE_MINT=1`, look at them, and check them in. Backends differ where
//! an edge or a shadow's border falls to the other side of a ray by rounding, so a few pixels may.

mod common;

use common::{Backend, on_device, on_every_backend};
use drystone::backend::{Device, Part, Runner, RunnerExt};
use drystone::cpu::Cpu;
use drystone::glam::Vec3;
use drystone::metrics::Metrics;
use drystone::plan::Recording;
use drystone::queries::{QueryBatch, QueryFilter};
use drystone::render::{Camera, Image, Picture, RayCaster, RenderOptions, RenderPlan, Renderer, Show};
use drystone::scenes::{self, Scene};
use drystone::vulkan::ash::{self, vk};
use drystone::vulkan::{GpuAllocator, Kernels, Program, ProgramOptions, Queue};
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Settings, Simulation};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const DT: f32 = 1.0 / 60.0;
const CPU: Device = Device::Cpu { threads: None };

fn device(backend: &Backend) -> Device {
    match backend {
        Backend::Cpu => CPU,
        Backend::Vulkan(device) => Device::Vulkan(device.clone()),
    }
}

fn small() -> RenderOptions {
    RenderOptions { width: 160, height: 90, samples: 4, occlusion_rays: 4 }
}

/// Scenes with every shape, and with soft bodies, at a time when rounding has not yet grown into different positions.
fn subjects() -> Vec<(Scene, u32, Show)> {
    let scene = |name: &str, parameters: &[(&str, f64)]| {
        let parameters: BTreeMap<_, _> = parameters.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
        scenes::build(name, &parameters).unwrap()
    };
    vec![
        (scene("pile", &[("bodies", 200.0), ("levels", 10.0)]), 3, Show::Force),
        (scene("drop", &[("bodies", 60.0)]), 15, Show::Body),
        (scene("stack", &[("bodies", 4.0)]), 20, Show::Class),
        (scene("drape", &[("side", 20.0)]), 24, Show::Body),
        (scene("jelly", &[]), 8, Show::Body),
    ]
}

fn take(backend: &Backend, scene: &Scene, steps: u32, show: Show) -> Image {
    let mut simulation = Simulation::new(scene.world.clone(), Settings::default(), device(backend)).unwrap();
    for _ in 0..steps {
        simulation.step(DT).unwrap();
    }
    let picture = Picture::from(scene.camera).showing(show);
    Renderer::new(small()).unwrap().render(&mut simulation, &picture).unwrap()
}

fn reference(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "references", &format!("{name}.png")].iter().collect()
}

fn rgb(image: &Image) -> Vec<u8> {
    image.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect()
}

fn load(name: &str) -> Vec<u8> {
    let file = std::fs::File::open(reference(name)).expect("run with DRYSTONE_MINT=1 to make it");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (160, 90, png::ColorType::Rgb));
    pixels
}

fn mint(name: &str, image: &Image) {
    let file = std::fs::File::create(reference(name)).unwrap();
    let mut encoder = png::Encoder::new(file, image.width, image.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    encoder.write_header().unwrap().write_image_data(&rgb(image)).unwrap();
}

/// Mean difference of the channels, and the part of the pixels that differ clearly.
fn difference(a: &[u8], b: &[u8]) -> (f64, f64) {
    assert_eq!(a.len(), b.len());
    let channels = a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b)));
    let clearly = a.chunks_exact(3).zip(b.chunks_exact(3)).filter(|(a, b)| (0..3).any(|k| a[k].abs_diff(b[k]) > 24));
    (channels.sum::<f64>() / a.len() as f64, clearly.count() as f64 / (a.len() / 3) as f64)
}

#[test]
fn pictures_are_those_that_were_looked_at() {
    let subjects = subjects();
    if std::env::var_os("DRYSTONE_MINT").is_some() {
        for (scene, steps, show) in &subjects {
            mint(&scene.name, &take(&Backend::Cpu, scene, *steps, *show));
        }
    }
    on_every_backend(|backend| {
        for (scene, steps, show) in &subjects {
            let image = take(backend, scene, *steps, *show);
            let (mean, clearly) = difference(&rgb(&image), &load(&scene.name));
            let place = format!("{} on {}", scene.name, backend.name());
            assert!(
                mean < 0.5 && clearly < 0.01,
                "{place}: {mean:.3} a channel, {:.2}% of the pixels",
                clearly * 100.0
            );
        }
    });
    // The comparison sees a body that is missing, colours that mean something else, and a camera a step to the side.
    let (scene, steps, show) = &subjects[2];
    let truth = load(&scene.name);
    let seen = |scene: &Scene, show| {
        let (mean, clearly) = difference(&rgb(&take(&Backend::Cpu, scene, *steps, show)), &truth);
        mean >= 0.5 || clearly >= 0.01
    };
    assert!(!seen(scene, *show));
    assert!(seen(scene, Show::Body));
    let mut other = scene.clone();
    let last = other.world.handles().last().unwrap();
    other.world.remove(last).unwrap();
    assert!(seen(&other, *show), "a box less");
    other = scene.clone();
    other.camera.eye += Vec3::X * 0.3;
    assert!(seen(&other, *show), "from elsewhere");
}

#[test]
fn every_scene_is_seen_by_its_camera() {
    for name in scenes::NAMES.iter().copied() {
        let scene = scenes::build(name, &BTreeMap::new()).unwrap();
        let mut simulation = Simulation::new(scene.world.clone(), Settings::default(), CPU).unwrap();
        let size = [320, 180];
        let pixels: Vec<_> = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [x, y])).collect();
        let rays: Vec<_> = pixels.iter().map(|&pixel| scene.camera.ray(pixel, size)).collect();
        let hits = RayCaster::new().cast(&mut simulation, &rays).unwrap();
        // Where nothing rigid moves, the camera looks at what cloth falls on, or else at the cloth.
        let world = simulation.world();
        let any_dynamic = world.handles().any(|body| world.mass(body).unwrap() > 0.0);
        let dynamic = |hit: &drystone::render::RayHit| {
            if any_dynamic { world.mass(hit.body).unwrap() > 0.0 } else { world.find("floor") != Some(hit.body) }
        };
        let mut covered: Vec<_> =
            pixels.iter().zip(&hits).filter(|(_, h)| h.as_ref().is_some_and(dynamic)).map(|p| *p.0).collect();
        if covered.is_empty() {
            let mut batch = QueryBatch::new();
            for ray in &rays {
                batch.ray(ray.origin, ray.direction, ray.reach, QueryFilter::default().with_soft()).unwrap();
            }
            let found = simulation.query(&batch).unwrap().soft_rays;
            covered = pixels.iter().zip(found).filter(|(_, hit)| hit.is_some()).map(|p| *p.0).collect();
        }
        let part = covered.len() as f32 / pixels.len() as f32;
        assert!((0.002..0.6).contains(&part), "{name}: bodies cover {:.2}% of the picture", part * 100.0);
        let at_side = covered.iter().filter(|p| p[0] == 0 || p[0] == size[0] - 1 || p[1] == size[1] - 1).count();
        assert_eq!(at_side, 0, "{name}: bodies reach over the left, right or lower border");
    }
}

#[test]
fn scales_of_force_and_speed_are_those_of_the_bodies() {
    // Three equal boxes at rest: the lowest is pressed by two from above and three from below.
    let mut simulation = Simulation::new(scenes::stack(3, 1.0).unwrap(), Settings::default(), CPU).unwrap();
    for _ in 0..240 {
        simulation.step(DT).unwrap();
    }
    let mut renderer = Renderer::new(small()).unwrap();
    let picture = Picture::from(Camera::of(simulation.world()));
    let mut scale =
        |simulation: &mut Simulation, show| renderer.render(simulation, &picture.showing(show)).unwrap().scale;
    let force = scale(&mut simulation, Show::Force);
    assert!((force / (5.0 * 1000.0 * 9.81) - 1.0).abs() < 0.03, "{force} N");
    let boxes: Vec<_> = simulation.world().handles().collect();
    simulation.world_mut().set_velocity(boxes[3], Vec3::Y * 12.0, Vec3::ZERO).unwrap();
    simulation.step(DT).unwrap();
    let speed = scale(&mut simulation, Show::Speed);
    assert!((speed - (12.0 - 9.81 * DT)).abs() < 0.05, "{speed} m/s");
    assert!(scale(&mut simulation, Show::Class) < 3.0, "two colours are enough for a stack");
}

#[test]
fn pictures_leave_the_simulation_alone_and_survive_its_growth() {
    on_every_backend(|backend| {
        let world = scenes::drop(40).unwrap();
        let camera = Camera::of(&world);
        let run = |watched: bool| {
            let mut simulation = Simulation::new(world.clone(), Settings::default(), device(backend)).unwrap();
            let mut renderer = Renderer::new(RenderOptions { width: 33, height: 17, samples: 1, ..small() }).unwrap();
            let mut images = Vec::new();
            for step in 0..30 {
                if step == 10 {
                    // More than there is room for.
                    for i in 0..40u8 {
                        let ball = BodyDesc::dynamic().at(Vec3::new(f32::from(i), 3.0, -3.0));
                        simulation.world_mut().add(ball.with(Collider::sphere(0.4))).unwrap();
                    }
                }
                simulation.step(DT).unwrap();
                if watched && step % 5 == 4 {
                    images.push(renderer.render(&mut simulation, &camera.into()).unwrap().rgba);
                }
            }
            if watched {
                assert!(simulation.generation() > 0);
                let again = renderer.render(&mut simulation, &camera.into()).unwrap().rgba;
                assert_eq!(Some(&again), images.last(), "the same bits");
                // A renderer that was there before the growth shows what a new one does.
                let mut new = Renderer::new(renderer.options()).unwrap();
                assert_eq!(new.render(&mut simulation, &camera.into()).unwrap().rgba, again);
                assert_ne!(images[0], again);
            }
            Metrics::of(&mut simulation).unwrap().pose_hash
        };
        assert_eq!(run(true), run(false), "on {}", backend.name());
    });
}

#[test]
fn what_cannot_be_drawn_is_refused_by_name() {
    for (options, word) in [
        (RenderOptions { width: 0, ..small() }, "width"),
        (RenderOptions { height: 20_000, ..small() }, "height"),
        (RenderOptions { samples: 0, ..small() }, "samples"),
        (RenderOptions { occlusion_rays: 1000, ..small() }, "occlusion"),
    ] {
        let error = Renderer::new(options).err().expect("refused").to_string();
        assert!(error.contains(word), "{error}");
    }
    let mut simulation = Simulation::new(World::new(), Settings::default(), CPU).unwrap();
    let mut renderer = Renderer::new(small()).unwrap();
    let camera = Camera { eye: Vec3::Z * 5.0, target: Vec3::ZERO, fov_degrees: 40.0 };
    for (bad, word) in [
        (Camera { eye: Vec3::ZERO, ..camera }, "eye is at its target"),
        (Camera { eye: Vec3::NAN, ..camera }, "not finite"),
        (Camera { fov_degrees: 0.0, ..camera }, "field of view"),
        (Camera { fov_degrees: f32::NAN, ..camera }, "field of view"),
    ] {
        let error = renderer.render(&mut simulation, &bad.into()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    // An empty world is all sky, and looking straight down is looking somewhere.
    let image = renderer.render(&mut simulation, &camera.into()).unwrap();
    assert!(image.rgba.chunks_exact(4).all(|p| p[3] == 255 && p[2] >= p[0]), "sky is blue");
    renderer.render(&mut simulation, &Camera { eye: Vec3::Y * 5.0, ..camera }.into()).unwrap();
}

#[test]
fn only_recordings_that_share_buffers_are_attached() {
    let mut base = Recording::new("base");
    base.buffer::<u32>("numbers", 4).unwrap();
    on_every_backend(|backend| {
        let mut runner = backend.runner(&base).unwrap();
        let mut foreign = Recording::new("foreign");
        foreign.buffer::<u32>("other", 4).unwrap();
        let error = runner.attach(foreign).unwrap_err().to_string();
        assert!(error.contains("foreign") && error.contains("base"), "{error}");

        let mut first = Recording::sharing(runner.recording(), "first");
        let extra = first.buffer::<u32>("extra", 2).unwrap();
        first.fill(extra, 0..2, 7).unwrap();
        let first = runner.attach(first).unwrap();
        runner.run_part(first).unwrap();
        assert_eq!(runner.read(extra).unwrap(), [7, 7]);
        // The next one sees the buffers of both.
        let mut second = Recording::sharing(runner.recording(), "second");
        second.fill(extra, 1..2, 9).unwrap();
        let second = runner.attach(second).unwrap();
        runner.run_part(second).unwrap();
        assert_eq!(runner.read(extra).unwrap(), [7, 9]);

        let mut fewer = Cpu::new(base.clone(), Some(1)).unwrap();
        let error = fewer.run_part(second).unwrap_err().to_string();
        assert!(error.contains("part 2"), "{error}");
        fewer.run_part(Part::FIRST).unwrap();
    });
}

/// As a renderer would: step, copy and picture in one command buffer, on its own queue, with nothing in between. The
/// copy is there because its own barriers know only of transfers: without one between the parts, validation sees it
/// race with the step's shaders.
#[test]
fn step_and_picture_in_one_command_buffer() {
    on_device("llvmpipe", |backend| {
        let Backend::Vulkan(device) = backend else { unreachable!("a Vulkan device was asked for") };
        let (scene, ..) = subjects().swap_remove(0);
        let mut simulation = Simulation::new(scene.world.clone(), Settings::default(), CPU).unwrap();
        simulation.step(DT).unwrap();
        let step = simulation.plan().clone();
        let options = small();
        // SAFETY: the device is alive and has the features; commands are valid and submitted once, in order.
        unsafe {
            let host = device.host();
            let memory = GpuAllocator::new(host).unwrap();
            let mut program = Program::new(
                &Kernels::new(host).unwrap(),
                &Arc::new(Mutex::new(memory)),
                step.recording.clone(),
                ProgramOptions::default(),
            )
            .unwrap();
            let plan = RenderPlan::new(program.recording(), &step, "debug view", options).unwrap();
            let part = program.attach(&plan.recording).unwrap();
            let mut copy = Recording::sharing(program.recording(), "copy");
            let room = u64::from(step.capacities.bodies);
            let copied = copy.buffer("copied", room).unwrap();
            copy.copy((step.buffers.poses, 0), (copied, 0), room).unwrap();
            let copy = program.attach(&copy).unwrap();
            let mut queue = Queue::new(host, device.queue()).unwrap();
            for _ in 0..2 {
                let value = queue
                    .submit(&[], &[], |commands| {
                        // Buffers hold anything at first: nothing is in them for the first run to stumble over.
                        let ids = (0..program.recording().buffers().len() as u32).map(drystone::plan::BufferId);
                        // Several may lie in the same memory.
                        let buffers: BTreeSet<_> = ids.map(|id| program.vk_buffer(id).unwrap()).collect();
                        for buffer in buffers {
                            host.device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 0);
                        }
                        everything_before(&host.device, commands);
                        for part in [Part::FIRST, copy, part, Part::FIRST, part, copy] {
                            assert!(program.record_part(part, commands, None, None).is_some());
                        }
                        everything_before(&host.device, commands);
                    })
                    .unwrap();
                queue.wait(value, Duration::from_secs(60)).unwrap();
            }
            let times = program.part_times(part).unwrap().expect("a run of the part is over");
            assert!(times.passes.iter().any(|p| p.name == "cast"));
        }
    });
}

/// # Safety
/// The command buffer is being recorded.
unsafe fn everything_before(device: &ash::Device, commands: vk::CommandBuffer) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let memory = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
    // SAFETY: this function's contract.
    unsafe { device.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &memory, &[], &[]) };
}
