//! Every scene has the hash of its poses checked in: a change of any bit is seen, and has to be meant.
//!
//! `tools/golden` writes `tests/golden.txt` anew. Hashes are those of x86-64 under Linux; elsewhere only that they do not depend
//! on threads or on the run is checked.

use crate::common::{run_scene, small_scene};
use drystone::backend::Device;
use drystone::metrics::Metrics;
use drystone::scenes;

const STEPS: u32 = 20;

fn file() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.txt")
}

/// Hash of the poses after some steps.
fn hash(scene: &str, device: Device) -> u64 {
    Metrics::of(&mut run_scene(small_scene(scene), device, STEPS)).unwrap().pose_hash
}

fn on(threads: usize) -> Device {
    Device::Cpu { threads: Some(threads) }
}

#[test]
fn every_scene_has_the_poses_that_are_checked_in() {
    let found: Vec<_> = scenes::NAMES.iter().map(|scene| (*scene, hash(scene, on(1)))).collect();
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
        let one = hash(scene, on(1));
        for threads in [2, 3, 8, 2] {
            assert_eq!(hash(scene, on(threads)), one, "{scene} on {threads} threads");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn every_scene_has_the_same_poses_on_baseline_instructions_and_on_those_of_x86_64_v3() {
    assert!(
        drystone_kernels::gpu::has_v3(),
        "this test wants a processor with AVX2: without it both are the same code"
    );
    for scene in scenes::NAMES {
        let baseline = hash(scene, Device::CpuBaseline { threads: Some(2) });
        assert_eq!(baseline, hash(scene, on(2)), "{scene}");
    }
}
