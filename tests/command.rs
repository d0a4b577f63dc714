//! The `drystone` command as a user meets it.

use serde_json::Value;
use std::process::{Command, Output};

fn drystone(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drystone")).args(arguments).output().expect("the command starts")
}

fn report(arguments: &[&str]) -> Value {
    let output = drystone(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("standard output is the report and nothing else")
}

#[test]
fn the_report_has_what_it_promises() {
    let run = ["run", "stack", "--backend", "cpu", "--steps", "30", "--set", "bodies=3", "--json", "-", "--state"];
    let report = report(&run);
    assert_eq!(report["scene"], "stack");
    assert_eq!(report["backend"], "cpu");
    assert_eq!(report["bodies"], 4);
    assert_eq!(report["steps"], 30);
    assert_eq!(report["settings"]["iterations"], 4);
    assert_eq!(report["counts"]["manifolds"], 3);
    assert_eq!(report["counts"]["contacts"], 12);
    assert_eq!(report["counts"]["colours"], 2);
    assert_eq!(report["state"].as_array().unwrap().len(), 4);
    assert!(report["step_ms"]["median"].as_f64().unwrap() > 0.0);
    assert!(report["memory"]["by_buffer"]["poses"].as_u64().unwrap() >= 4 * 28);
    assert!((report["metrics"]["end"]["top"].as_f64().unwrap() - 2.5).abs() < 0.05);
    assert_eq!(report["pose_hash"].as_str().unwrap().len(), 16);
    let primal = report["passes"].as_array().unwrap().iter().find(|p| p["name"] == "primal").expect("every pass");
    assert_eq!(primal["dispatches"], 4 * 17, "four iterations of sixteen colours and the fallback");
}

#[test]
fn runs_repeat_and_settings_reach_the_solver() {
    let run = ["run", "drop", "--backend", "cpu", "--steps", "60", "--set", "bodies=50", "--json", "-"];
    let hash = |more: &[&str]| report(&[&run[..], more].concat())["pose_hash"].as_str().unwrap().to_owned();
    let first = hash(&[]);
    assert_eq!(hash(&[]), first);
    assert_ne!(hash(&["--set", "alpha=0.5"]), first);
    assert_ne!(hash(&["--iterations", "5"]), first);
}

#[test]
fn the_same_scene_runs_on_vulkan() {
    let report = report(&["run", "stack", "--device", "llvmpipe", "--steps", "20", "--json", "-"]);
    assert_eq!(report["backend"], "vulkan");
    assert_eq!(report["device"]["subgroup_size"], 8);
    assert_eq!(report["counts"]["manifolds"], 10);
}

#[test]
fn mistakes_are_named_and_give_an_exit_status() {
    for (arguments, words) in [
        (&["run", "nonsense"][..], &["nonsense", "pile"][..]),
        (&["run", "pile", "--set", "colour=3"], &["colour", "bodies, levels, hit"]),
        (&["run", "pile", "--set", "bodies=0"], &["bodies", "between 1"]),
        (&["run", "pile", "--set", "alpha=2"], &["alpha", "0 to 1"]),
        (&["run", "pile", "--set", "alpha"], &["KEY=VALUE"]),
        (&["run", "pile", "--set", "alpha=x"], &["not a number"]),
        (&["run", "stack", "--backend", "cpu", "--dt=-1"], &["time step"]),
        (&["run", "stack", "--device", "Voodoo"], &["Voodoo"]),
        (&["run", "stack", "--backend", "cpu", "--device", "llvmpipe"], &["--backend is cpu"]),
        (
            &["run", "stack", "--backend", "cpu", "--steps", "1", "--json", "/nonexistent/x.json"],
            &["/nonexistent/x.json"],
        ),
    ] {
        let output = drystone(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("panicked"), "{text}");
        for word in words {
            assert!(text.contains(word), "`{word}` in what {arguments:?} says: {text}");
        }
    }
}

#[test]
fn info_lists_devices() {
    let output = drystone(&["info"]);
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    for word in ["cpu backend", "llvmpipe", "8 reported, 8 measured", "maxStorageBufferRange", "usable           yes"] {
        assert!(text.contains(word), "`{word}` in: {text}");
    }
}

#[test]
fn everything_works_without_a_vulkan_driver() {
    for arguments in
        [&["info"][..], &["run", "stack", "--steps", "5"], &["passes", "--elements", "1000", "--runs", "1"]]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_drystone"))
            .args(arguments)
            .env("VK_ICD_FILENAMES", "/nonexistent")
            .env("VK_DRIVER_FILES", "/nonexistent")
            .output()
            .expect("the command starts");
        let said = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&said);
        assert!(output.status.success(), "{arguments:?}: {text}");
        assert!(text.contains("apt install mesa-vulkan-drivers"), "how to get a driver, in: {text}");
    }
}
