//! How many dispatches and barriers a step of some worlds has, once it is known how many colours they need. Each costs
//! a GPU about a microsecond whatever it does, and the host some hundred nanoseconds to record.

mod common;

use common::on_device;
use drystone::plan::Command;
use drystone::plan::barriers::schedule;
use drystone::world::World;
use drystone::{Settings, Simulation, scenes};

/// Frames after which as much is planned as was needed, and not more: the first one colours all bodies anew, and is
/// forgotten after the second thirty.
const FRAMES: u32 = 61;

/// Dispatches and barriers of the step that a world has after a second.
fn counted(world: World, settings: Settings) -> (usize, usize) {
    let counts = std::cell::Cell::new((0, 0));
    on_device("llvmpipe", |backend| {
        let mut simulation = Simulation::new(world.clone(), settings, backend.device()).unwrap();
        for _ in 0..=FRAMES {
            simulation.step(1.0 / 60.0).unwrap();
        }
        let recording = &simulation.plan().recording;
        let dispatches = recording.commands().iter().filter(|c| matches!(c, Command::Dispatch { .. })).count();
        counts.set((dispatches, schedule(recording).barriers().count()));
    });
    counts.get()
}

fn at_most(name: &str, world: World, bounds: (usize, usize)) {
    let settings = Settings::default().with(|s| s.iterations = 4);
    let (dispatches, barriers) = counted(world, settings);
    println!("{name}: {dispatches} dispatches, {barriers} barriers");
    let within = dispatches <= bounds.0 && barriers <= bounds.1;
    assert!(
        within,
        "{name}: {dispatches} dispatches and {barriers} barriers; bounds are {} and {}",
        bounds.0, bounds.1
    );
}

#[test]
fn a_pile_of_ten_thousand_has_few() {
    at_most("pile", scenes::pile(10_000, 40).unwrap(), (94, 91));
}

#[test]
fn ragdolls_have_few() {
    // 126 and 115 until contact forces went back to their mean. Nine more of each would be one colour more, which
    // depends on how the limbs fell; the colours were not counted.
    at_most("ragdolls", scenes::ragdolls(20).unwrap(), (135, 124));
}

#[test]
fn a_wall_of_joints_has_few() {
    at_most("wall", scenes::wall(12, 8, 1e5).unwrap(), (115, 104));
}
