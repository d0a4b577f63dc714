//! Files are written whole or not at all, and nobody is told otherwise.

use crate::{drystone, folder, run, said};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// A short run with something to write.
const RUN: [&str; 12] =
    ["run", "stack", "--backend", "cpu", "--steps", "2", "--size", "32x18", "--samples", "1", "--every", "1"];

/// What is left in a folder.
fn names(folder: &PathBuf) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Waits until something is being written.
fn wait_for_part(folder: &PathBuf) {
    let start = Instant::now();
    while !names(folder).iter().any(|name| name.ends_with(".part")) {
        assert!(start.elapsed() < Duration::from_secs(30), "nothing is being written");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn kill(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_for_every_output() {
    let folder = folder("full");
    for (option, name) in [
        ("--png", "picture.png"),
        ("--video", "film.gif"),
        ("--video", "film.apng"),
        ("--report", "page.html"),
        ("--trace", "trace.json"),
        ("--json", "report.json"),
        ("--trace-csv", "trace.csv"),
    ] {
        std::os::unix::fs::symlink("/dev/full", folder.join(name)).unwrap();
        let more: &[&str] = if option == "--trace-csv" { &["--trace-body", "#1"] } else { &[] };
        let output = run(&folder, &[&RUN[..], &[option, name], more].concat());
        let text = said(&output);
        assert!(!output.status.success(), "{option} {name}: {text}");
        assert!(text.contains("No space left on device") && !text.contains("panicked"), "{option} {name}: {text}");
    }
    std::os::unix::fs::symlink("/dev/full", folder.join("sweep.csv")).unwrap();
    let sweep = ["sweep", "rope", "--set", "segments=2", "--param", "gamma=0.9", "--steps", "2", "--csv", "sweep.csv"];
    assert!(!run(&folder, &sweep).status.success());
    std::os::unix::fs::symlink("/dev/full", folder.join("scene.json")).unwrap();
    assert!(!run(&folder, &["export", "stack", "scene.json"]).status.success());
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = drystone(&folder, &["export", "stack"]).stdout(full).output().unwrap();
    assert!(!output.status.success() && said(&output).contains("No space left"), "{}", said(&output));
}

#[test]
fn an_old_report_stays_until_the_new_one_is_there() {
    let folder = folder("old");
    std::fs::write(folder.join("report.json"), "old").unwrap();
    std::fs::write(
        folder.join("scene.json"),
        r#"{"bodies": [{"position": [0, 1, 0], "colliders":
        [{"shape": "sphere", "radius": 0.5}]}], "later": [{"at": 0.02, "add": {"colliders": []}}]}"#,
    )
    .unwrap();
    let output = run(&folder, &["run", "scene.json", "--backend", "cpu", "--json", "report.json"]);
    assert!(!output.status.success(), "a body without mass: {}", said(&output));
    assert_eq!(std::fs::read_to_string(folder.join("report.json")).unwrap(), "old");
    assert_eq!(names(&folder), ["report.json", "scene.json"], "nothing is left lying about");
    let output = run(&folder, &[&RUN[..], &["--json", "report.json", "--png", "new.png"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    assert!(std::fs::read_to_string(folder.join("report.json")).unwrap().starts_with('{'));
    assert_eq!(names(&folder), ["new.png", "report.json", "scene.json"]);
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_a_run_with_what_was_finished() {
    let folder = folder("interrupt");
    let arguments = [
        "run",
        "stack",
        "--backend",
        "cpu",
        "--steps",
        "9999999",
        "--json",
        "report.json",
        "--trace-body",
        "#1",
        "--trace-csv",
        "trace.csv",
    ];
    let child = drystone(&folder, &arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for_part(&folder);
    std::thread::sleep(Duration::from_millis(500));
    kill(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let text = std::fs::read_to_string(folder.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(report["ended_early"].as_str().unwrap().starts_with("interrupted after"), "{}", report["ended_early"]);
    let rows = std::fs::read_to_string(folder.join("trace.csv")).unwrap().lines().count() as u64;
    assert_eq!(rows, report["steps"].as_u64().unwrap() + 2, "a row a step, the start, and the header");
    assert_eq!(names(&folder), ["report.json", "trace.csv"]);
}

#[test]
#[cfg(unix)]
fn a_run_that_is_killed_leaves_the_old_report_whole() {
    let folder = folder("killed");
    std::fs::write(folder.join("report.json"), "old").unwrap();
    std::fs::write(folder.join("trace.json"), "old").unwrap();
    let arguments =
        ["run", "stack", "--backend", "cpu", "--steps", "9999999", "--json", "report.json", "--trace", "trace.json"];
    let mut child = drystone(&folder, &arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for_part(&folder);
    std::thread::sleep(Duration::from_millis(300));
    kill(&child, "-KILL");
    child.wait().unwrap();
    for name in ["report.json", "trace.json"] {
        assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), "old", "{name}");
    }
}
