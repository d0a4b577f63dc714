//! Runs the same recording on the CPU, on llvmpipe and on SwiftShader, under the validation layers.
//!
//! A driver that is missing fails the test, and so does anything the validation layers say. `tools/test` installs the
//! drivers and sets the environment.

#![allow(dead_code, reason = "every test file uses its own part of this module")]

pub mod forged;
pub mod mesh_files;

use drystone::backend::{Device, Runner};
use drystone::cpu::Cpu;
use drystone::glam::Vec3;
use drystone::plan::Recording;
use drystone::scenes::{self, Scene, Script};
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions, VulkanRunner};
use drystone::{Settings, Simulation};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Part of the name of each Vulkan device that tests run on, and its subgroup size.
pub const DRIVERS: [(&str, u32); 2] = [("llvmpipe", 8), ("SwiftShader", 4)];

/// Settings with so many iterations. To try others on all scenes: `CASES_SET=name=value,name=value`.
pub fn iterating(iterations: u32) -> Settings {
    let mut settings = Settings::default().with(|s| s.iterations = iterations);
    for pair in std::env::var("CASES_SET").unwrap_or_default().split(',').filter(|p| !p.is_empty()) {
        let (name, value) = pair.split_once('=').expect("name=value");
        settings.set(name, value.parse().expect("a number")).unwrap();
    }
    settings
}

/// Where a recording is run.
pub enum Backend {
    Cpu,
    Vulkan(Arc<OwnDevice>),
}

impl Backend {
    pub fn name(&self) -> String {
        match self {
            Self::Cpu => "cpu".to_owned(),
            Self::Vulkan(device) => device.support().device_name.clone(),
        }
    }

    /// Where a simulation runs.
    pub fn device(&self) -> Device {
        match self {
            Self::Cpu => Device::Cpu { threads: None },
            Self::Vulkan(device) => Device::Vulkan(device.clone()),
        }
    }

    pub fn runner(&self, recording: &Recording) -> drystone::Result<Box<dyn Runner>> {
        Ok(match self {
            Self::Cpu => Box::new(Cpu::new(recording.clone(), None)?),
            Self::Vulkan(device) => Box::new(VulkanRunner::new(device.clone(), recording.clone())?),
        })
    }
}

/// Opens a driver under validation.
pub fn open(name: &str) -> Arc<OwnDevice> {
    let options = OwnDeviceOptions { name: Some(name.to_owned()), validation: true, ..Default::default() };
    let device = Loader::system().and_then(|loader| OwnDevice::new(&loader, &options));
    Arc::new(device.unwrap_or_else(|e| panic!("{name}: {e}\nrun tests with tools/test, which installs the drivers")))
}

/// Calls `test` for every backend, and fails if the validation layers said anything meanwhile.
pub fn on_every_backend(test: impl Fn(&Backend)) {
    test(&Backend::Cpu);
    for (name, _) in DRIVERS {
        on_device(name, &test);
    }
}

/// Calls `test` for every backend, on devices that all tests of the program have together: their pipelines are made once.
/// SwiftShader takes a quarter of a minute for those of a step. For programs of many such tests; that nothing is left
/// behind on a device, the layers say only where it is closed, in other programs. What they say fails the test that ends
/// next.
pub fn on_shared_backends(test: impl Fn(&Backend)) {
    static OPEN: Mutex<BTreeMap<&str, Arc<OwnDevice>>> = Mutex::new(BTreeMap::new());
    test(&Backend::Cpu);
    for (name, _) in DRIVERS {
        let open = || OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let device = open().entry(name).or_insert_with(|| self::open(name)).clone();
        test(&Backend::Vulkan(device.clone()));
        let messages = device.validation().take();
        assert!(messages.is_empty(), "validation on {name}:\n{}", messages.join("\n"));
    }
}

/// Calls `test` for one driver, and fails if the validation layers said anything meanwhile.
pub fn on_device(name: &str, test: impl Fn(&Backend)) {
    let device = open(name);
    let log = device.validation().clone();
    test(&Backend::Vulkan(device));
    let messages = log.take();
    assert!(messages.is_empty(), "validation on {name}:\n{}", messages.join("\n"));
}

/// Parameters of scenes that are large by default, to keep tests of all scenes short.
const SMALLER: [(&str, &str, f64); 6] = [
    ("pile", "bodies", 200.0),
    ("pyramid", "base", 12.0),
    ("drop", "bodies", 200.0),
    ("ragdolls", "count", 8.0),
    ("joint_grid", "side", 20.0),
    ("ragdoll_cloth", "part", 0.003),
];

/// A built-in scene of a size for tests.
pub fn small_scene(name: &str) -> Scene {
    let smaller = SMALLER.iter().filter(|s| s.0 == name).map(|s| (s.1.to_owned(), s.2));
    scenes::build(name, &smaller.collect::<BTreeMap<_, _>>()).unwrap()
}

/// A scene after some steps, with what happens in it meanwhile.
pub fn run_scene(scene: Scene, device: Device, steps: u32) -> Simulation {
    let mut script = Script::new(&scene);
    let mut simulation = Simulation::new(scene.world, scene.settings, device).unwrap();
    for step in 0..steps {
        let time = f64::from(step) * f64::from(scene.dt);
        script.before_step(&mut simulation, time, scene.dt).unwrap();
        simulation.step(scene.dt).unwrap();
    }
    simulation
}

/// Reproducible pseudo-random numbers (PCG32).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.bits();
        random
    }

    pub fn bits(&mut self) -> u32 {
        let old = self.0;
        self.0 = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let shifted = (((old >> 18) ^ old) >> 27) as u32;
        shifted.rotate_right((old >> 59) as u32)
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(limit)) >> 32) as u32
    }

    /// In 0..1.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 8) as f32 / 16_777_216.0
    }

    /// In `from..to`.
    pub fn range(&mut self, from: f32, to: f32) -> f32 {
        from + (to - from) * self.unit()
    }
}

/// Corners of a box.
pub fn box_points(half: Vec3) -> Vec<Vec3> {
    let sign = |i: u32, bit: u32| if i & bit == 0 { -1.0 } else { 1.0 };
    (0..8).map(|i| half * Vec3::new(sign(i, 1), sign(i, 2), sign(i, 4))).collect()
}

/// A point in the unit ball, not too near its middle.
pub fn ball(random: &mut Random) -> Vec3 {
    loop {
        let v = Vec3::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0), random.range(-1.0, 1.0));
        if (0.01..1.0).contains(&v.length_squared()) {
            return v;
        }
    }
}
