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
    assert_eq!(primal["dispatches"], 5 * 17, "four iterations and the last pass, of sixteen colours and the fallback");
    for field in ["name", "driver", "subgroup_size"] {
        assert!(!report["device"][field].is_null(), "device.{field}");
    }
    for field in ["mean", "median", "p95"] {
        assert!(report["step_ms"][field].as_f64().unwrap() > 0.0, "step_ms.{field}");
    }
    for pass in report["passes"].as_array().unwrap() {
        for field in ["name", "ms_mean", "ms_median", "dispatches"] {
            assert!(!pass[field].is_null(), "{field} of {pass}");
        }
    }
    for field in ["pairs", "manifolds", "contacts", "colours", "fallback_bodies", "overflow"] {
        assert!(report["counts"][field].is_u64(), "counts.{field}");
    }
    let by_buffer = report["memory"]["by_buffer"].as_object().unwrap();
    assert_eq!(report["memory"]["total"], by_buffer.values().map(|b| b.as_u64().unwrap()).sum::<u64>());
    let metrics = &report["metrics"];
    for field in [
        "kinetic_energy",
        "potential_energy",
        "energy",
        "momentum",
        "angular_momentum",
        "max_penetration",
        "mean_penetration",
        "max_speed",
        "top",
        "quarantined",
    ] {
        let (end, worst) = (&metrics["end"][field], &metrics["worst"][field]);
        let size = |v: &Value| match v.as_array() {
            Some(v) => v.iter().map(|c| c.as_f64().unwrap().powi(2)).sum::<f64>().sqrt(),
            None => v.as_f64().unwrap_or_else(|| panic!("{field}: {v}")),
        };
        let (end, worst) = (size(end), size(worst));
        let as_bad = if field == "top" { worst <= end } else { worst >= end };
        assert!(as_bad, "{field}: {worst} at worst, {end} at the end");
        assert!(metrics["worst_step"][field].as_u64().unwrap() <= 30, "{field}");
    }
    assert_eq!(metrics["end"]["pose_hash"], report["pose_hash"]);
    assert!(report["events"].is_array());
    let ball = &report["state"][3];
    for field in ["position", "rotation", "linear_velocity", "angular_velocity"] {
        assert!(ball[field].is_array(), "{field} of {ball}");
    }
    assert_eq!(ball["enabled"], true);
}

/// Events of a kind.
fn events<'a>(report: &'a Value, kind: &str) -> Vec<&'a Value> {
    report["events"].as_array().unwrap().iter().filter(|e| e["event"] == kind).collect()
}

#[test]
fn overflow_fallback_and_bodies_that_are_taken_out_are_told() {
    let run = ["run", "drop", "--backend", "cpu", "--steps", "90", "--set", "bodies=300", "--json", "-"];
    let heap = report(&run);
    let overflow = heap["counts"]["overflow"].as_u64().unwrap();
    let grown = events(&heap, "grown");
    assert!(overflow > 0 && grown.len() as u64 >= overflow, "{overflow} overflows, {grown:?}");
    assert!(grown.iter().all(|e| e["to"].as_u64() > e["from"].as_u64() && e["step"].as_u64().unwrap() < 90));

    let run = ["run", "pyramid", "--backend", "cpu", "--steps", "30", "--json", "-", "--set", "base=12"];
    let crowded = report(&[&run[..], &["--set", "colours=2"]].concat());
    assert!(crowded["counts"]["fallback_bodies"].as_u64().unwrap() > 0);
    assert_eq!(events(&crowded, "fallback").len(), 1, "the first time only");
    assert!(events(&report(&run), "fallback").is_empty());

    let path = std::env::temp_dir().join(format!("drystone-bad-{}.json", std::process::id()));
    let bad = r#"{"seconds": 12, "dt": 1, "bodies": [
        {"colliders": [{"shape": "sphere", "radius": 1}]},
        {"position": [5, 0, 0], "linear_velocity": [3e38, 3e38, 3e38], "colliders": [{"shape": "sphere", "radius": 1}]}
    ]}"#;
    std::fs::write(&path, bad).unwrap();
    let bad = report(&["run", path.to_str().unwrap(), "--backend", "cpu", "--json", "-"]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!((&bad["steps"], &bad["metrics"]["end"]["quarantined"]), (&12.into(), &1.into()));
    let out = events(&bad, "quarantined");
    assert_eq!((out.len(), &out[0]["step"], &out[0]["body"]), (1, &1.into(), &1.into()), "{out:?}");
}

#[test]
fn the_table_is_for_people_and_never_in_the_way_of_the_report() {
    let run = ["run", "stack", "--backend", "cpu", "--steps", "5"];
    let table = |text: &[u8]| String::from_utf8_lossy(text).contains("median [ms]");
    let plain = drystone(&run);
    assert!(table(&plain.stdout) && !table(&plain.stderr));
    let both = drystone(&[&run[..], &["--json", "-"]].concat());
    assert!(table(&both.stderr) && !table(&both.stdout));
    let path = std::env::temp_dir().join(format!("drystone-report-{}.json", std::process::id()));
    let file = drystone(&[&run[..], &["--json", path.to_str().unwrap()]].concat());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(table(&file.stdout) && serde_json::from_str::<Value>(&text).unwrap()["scene"] == "stack");
}

#[test]
fn scene_files_run_with_their_settings_and_those_of_the_command() {
    let tour = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/scenes/tour.json");
    let run = ["run", tour, "--backend", "cpu", "--json", "-"];
    let whole = report(&run);
    assert_eq!((&whole["scene"], &whole["steps"], &whole["dt"]), (&"tour".into(), &400.into(), &0.01.into()));
    assert_eq!((&whole["bodies"], &whole["settings"]["iterations"]), (&33.into(), &6.into()));
    assert_eq!(events(&whole, "added").len(), 1);
    let more = ["--steps", "3", "--iterations", "2", "--set", "alpha=0.5", "--dt", "0.02"];
    let part = report(&[&run[..], &more].concat());
    assert_eq!((&part["steps"], &part["dt"]), (&3.into(), &0.02.into()));
    assert_eq!((&part["settings"]["iterations"], &part["settings"]["alpha"]), (&2.into(), &0.5.into()));
}

#[test]
fn runs_repeat_and_settings_reach_the_solver() {
    let run = ["run", "drop", "--backend", "cpu", "--steps", "60", "--set", "bodies=50", "--json", "-"];
    let hash = |more: &[&str]| report(&[&run[..], more].concat())["pose_hash"].as_str().unwrap().to_owned();
    let first = hash(&[]);
    assert_eq!(hash(&[]), first);
    assert_ne!(hash(&["--set", "k_load=30"]), first);
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
        (&["run", "stack", "--backend", "cpu", "--dt=0"], &["time step", "greater than 0"]),
        (&["run", "stack", "--backend", "cpu", "--dt=nan"], &["time step"]),
        (&["run", "stack", "--backend", "cpu", "--dt=1e-30"], &["--steps"]),
        (&["run", "stack", "--set", "iterations=nan"], &["iterations", "1 to 1000"]),
        (&["run", "/nonexistent/x.json"], &["/nonexistent/x.json", "No such file"]),
        (&["run", "examples/scenes/wall.json", "--set", "bodies=3"], &["no setting `bodies`"]),
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

#[test]
fn a_scene_that_is_exported_runs_with_the_same_bits() {
    let path = std::env::temp_dir().join(format!("drystone-export-{}.json", std::process::id()));
    let file = path.to_str().unwrap();
    let set = ["--set", "links=8", "--set", "ratio=100"];
    let written = drystone(&[&["export", "pendulum", file, "--set", "iterations=9"][..], &set].concat());
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let run = |scene: &str, more: &[&str]| {
        report(&[&["run", scene, "--backend", "cpu", "--steps", "20", "--json", "-"][..], more].concat())
    };
    let (there, here) = (run(file, &[]), run("pendulum", &[&["--iterations", "9"][..], &set].concat()));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!((&there["scene"], &there["pose_hash"]), (&here["scene"], &here["pose_hash"]));
    assert_eq!(there["settings"], here["settings"]);
    // To standard output, too, and a file as well as a scene's name.
    let same = drystone(&[&["export", "pendulum", "--set", "iterations=9"][..], &set].concat());
    assert_eq!(String::from_utf8_lossy(&same.stdout), text);
    let unwritten = drystone(&["export", "pendulum", "/nonexistent/x.json"]);
    assert!(String::from_utf8_lossy(&unwritten.stderr).contains("/nonexistent/x.json"), "{unwritten:?}");
}
