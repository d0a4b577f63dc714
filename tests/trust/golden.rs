//! Every scene has the hash of its poses checked in: a change of any bit is seen, and has to be meant.
//!
//! `tools/golden` writes `tests/golden.txt` anew. Hashes are those of x86-64 under Linux; elsewhere only that they do not depend
//! on threads or on the run is checked.

use drystone::Simulation;
use drystone::backend::Device;
use drystone::metrics::Metrics;
use drystone::scenes::{self, Script};
use std::collections::BTreeMap;

/// Parameters of scenes that are large by default, to keep this short.
const SMALLER: [(&str, &str, f64); 5] = [
    ("pile", "bodies", 200.0),
    ("pyramid", "base", 12.0),
    ("drop", "bodies", 200.0),
    ("ragdolls", "count", 8.0),
    ("joint_grid", "side", 20.0),
];

const STEPS: u32 = 20;

fn file() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.txt")
}

/// Hash of the poses after some steps.
fn hash(scene: &str, threads: usize) -> u64 {
    let smaller = SMALLER.iter().filter(|s| s.0 == scene).map(|s| (s.1.to_owned(), s.2));
    let scene = scenes::build(scene, &smaller.collect::<BTreeMap<_, _>>()).unwrap();
    let mut script = Script::new(&scene);
    let mut simulation = Simulation::new(scene.world, scene.settings, Device::Cpu { threads: Some(threads) }).unwrap();
    for step in 0..STEPS {
        let time = f64::from(step) * f64::from(scene.dt);
        script.before_step(&mut simulation, time, scene.dt).unwrap();
        simulation.step(scene.dt).unwrap();
    }
    Metrics::of(&mut simulation).unwrap().pose_hash
}

#[test]
fn every_scene_has_the_poses_that_are_checked_in() {
    let found: Vec<_> = scenes::NAMES.iter().map(|scene| (*scene, hash(scene, 1))).collect();
    let text: String = found.iter().map(|(scene, hash)| format!("{scene} {hash:016x}\n")).collect();
    let text = format!(
        "# Hashes of poses after {STEPS} steps on the CPU backend, x86-64 under Linux. tools/golden writes them.\n{text}"
    );
    if std::env::var_os("DRYSTONE_GOLDEN").is_some_and(|v| v == "renew") {
        std::fs::write(file(), text).unwrap();
        return;
    }
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        let expected = std::fs::read_to_string(file()).unwrap();
        let others: Vec<_> = text.lines().filter(|line| !expected.lines().any(|l| l == *line)).collect();
        assert!(
            expected == text,
            "poses are others than those checked in: {others:?}; if that is meant, run tools/golden and commit the file"
        );
    }
}

#[test]
fn every_scene_has_the_same_poses_whatever_the_threads() {
    for scene in scenes::NAMES {
        let one = hash(scene, 1);
        for threads in [2, 3, 8, 2] {
            assert_eq!(hash(scene, threads), one, "{scene} on {threads} threads");
        }
    }
}
