//! Every scene under everything the validation layers look at: the core of the specification, synchronisation, best
//! practices, and GPU-assisted validation, which instruments the kernels and sees what they reach. On both drivers, and
//! silent.
//!
//! `tools/validate STEPS` gives each scene longer.

mod common;

use common::{run_scene, small_scene};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::scenes;
use drystone::vulkan::ash::vk::ValidationFeatureEnableEXT as Feature;
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions};
use drystone::world::{AttachmentDesc, Cloth, SoftDesc, World};
use drystone::{QueryBatch, QueryFilter, Settings, Simulation};
use std::sync::Arc;
use std::time::Instant;

fn steps() -> u32 {
    std::env::var("DRYSTONE_VALIDATE_STEPS").map_or(2, |text| text.parse().expect("a number of steps"))
}

/// What layers say that is not about the engine, by a part of it, and why.
const NOT_OURS: [(&str, &str); 2] = [
    (
        "BestPractices-vkCreateInstance-specialuse-extension-debugging",
        "the extensions with which this test listens; without `validation` neither is needed",
    ),
    (
        "shaderInt64 feature is not available.  No buffer device address checking",
        "what SwiftShader lacks is for addresses, which no kernel has",
    ),
];

fn open(name: &str, more: &[Feature]) -> Arc<OwnDevice> {
    let options = OwnDeviceOptions {
        name: Some(name.to_owned()),
        validation: true,
        more_validation: more.to_vec(),
        ..Default::default()
    };
    Arc::new(Loader::system().and_then(|loader| OwnDevice::new(&loader, &options)).unwrap())
}

/// Adds every different thing that was said, and where first.
fn listen(device: &OwnDevice, place: &str, all: &mut Vec<String>) {
    let mut said = device.validation().take();
    said.retain(|message| !NOT_OURS.iter().any(|(part, _)| message.contains(part)));
    // Handles differ from one time to the next.
    let kind = |message: &str| message.split(" ] ").next().unwrap_or_default().to_owned();
    for message in said {
        if !all.iter().any(|known| known.contains(&kind(&message))) {
            println!("{place}: {message}");
            all.push(format!("{place}: {message}"));
        }
    }
}

/// Rays into a world behind a step.
fn ask(simulation: &mut Simulation) {
    let mut batch = QueryBatch::new();
    for x in 0..4 {
        batch.ray(Vec3::new(x as f32, 20.0, 0.0), Vec3::NEG_Y, 40.0, QueryFilter::default()).unwrap();
    }
    batch.sphere_cast(Vec3::Y * 20.0, 0.5, Vec3::NEG_Y * 40.0, QueryFilter::default()).unwrap();
    batch.closest_point(Vec3::Y, 100.0, QueryFilter::default()).unwrap();
    simulation.query(&batch).map(drop).unwrap();
}

fn every_scene(driver: &str, more: &[Feature]) {
    let start = Instant::now();
    let device = open(driver, more);
    let mut said = Vec::new();
    listen(&device, "opening it", &mut said);
    for name in scenes::NAMES {
        let before = Instant::now();
        let mut simulation = run_scene(small_scene(name), Device::Vulkan(device.clone()), steps());
        ask(&mut simulation);
        drop(simulation);
        listen(&device, name, &mut said);
        println!("{driver} {more:?}: {name} in {:.1} s", before.elapsed().as_secs_f32());
    }
    let mut world = World::new();
    let cloth = SoftDesc::cloth(Vec3::Y, Vec3::X, Vec3::Z, (5, 5), &Cloth::default());
    let cloth = world.add_soft(cloth).unwrap();
    world.attach(AttachmentDesc::to_world(cloth, 0)).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), Device::Vulkan(device.clone())).unwrap();
    (0..steps()).for_each(|_| simulation.step(1.0 / 60.0).map(drop).unwrap());
    let snapshot = simulation.snapshot().unwrap();
    simulation.restore(&snapshot).unwrap();
    drop(simulation);
    listen(&device, "a cloth", &mut said);
    assert!(said.is_empty(), "{driver}: {}", said.join("\n"));
    println!(
        "{driver} {more:?}: {} scenes, {} steps, {:.0} s",
        scenes::NAMES.len() + 1,
        steps(),
        start.elapsed().as_secs_f32()
    );
}

#[test]
fn every_scene_is_silent_on_llvmpipe() {
    every_scene("llvmpipe", &[Feature::BEST_PRACTICES, Feature::GPU_ASSISTED]);
}

#[test]
fn every_scene_is_silent_on_swiftshader() {
    every_scene("SwiftShader", &[Feature::BEST_PRACTICES, Feature::GPU_ASSISTED]);
}
