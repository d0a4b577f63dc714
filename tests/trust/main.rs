//! What was found by trying the engine as an adversary would, each as a test that is named after its symptom; and the
//! hashes of all scenes. `docs/trust.md` lists them.

#[path = "../common/mod.rs"]
mod common;

mod attached;
mod budgets;
mod devices;
mod files;
mod golden;
mod outside;
mod quarantine;
mod reread;
mod same_bits;
mod supply;
mod unsafe_code;
mod whole_steps;
mod words;

use drystone::glam::Vec3;
use drystone::world::{BodyDesc, Collider, World};
use std::path::PathBuf;
use std::process::{Command, Output};

const DT: f32 = 1.0 / 60.0;

/// In one go for each driver: it compiles its pipelines once.
#[test]
fn what_holds_on_the_cpu_holds_on_the_drivers() {
    for (name, _) in common::DRIVERS {
        common::on_device(name, |backend| {
            quarantine::on_driver(backend);
            attached::on_driver(backend);
            whole_steps::on_driver(backend);
        });
    }
}

fn cube() -> Collider {
    Collider::cuboid(Vec3::ONE)
}

fn dynamic(at: Vec3) -> BodyDesc {
    BodyDesc::dynamic().at(at).with(cube())
}

/// A world without gravity.
fn weightless() -> World {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    world
}

/// The command, ready to run in a folder.
fn drystone(folder: &PathBuf, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drystone"));
    command.current_dir(folder).args(arguments);
    command
}

fn run(folder: &PathBuf, arguments: &[&str]) -> Output {
    drystone(folder, arguments).output().expect("the command starts")
}

/// An empty folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("trust").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
