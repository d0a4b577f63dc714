//! A file of a few thousand bytes can ask for more than a machine has.

use crate::{DT, dynamic, folder, run, said, weightless};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::metrics::Metrics;
use drystone::scenes::file::{self, Budget};
use drystone::state::Limits;
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Error, Settings, Simulation};
use std::time::{Duration, Instant};

const CPU: Device = Device::Cpu { threads: Some(2) };

/// More than any of these takes, on a machine that has other things to do.
const LONG: Duration = Duration::from_secs(30);

/// A body with so many colliders, copied so often along each axis and as far from each other as `step`.
fn bomb(colliders: usize, copies: u32, step: f32) -> String {
    let colliders = vec![r#"{"shape": "sphere", "radius": 0.5}"#; colliders].join(",");
    format!(
        r#"{{"bodies": [{{"copies": {{"count": [{copies}, {copies}, {copies}], "step": [{step}, {step}, {step}]}},
            "colliders": [{colliders}]}}]}}"#
    )
}

#[test]
fn a_small_file_that_asks_for_a_thousand_million_colliders_is_refused() {
    let text = bomb(1000, 100, 2.0);
    assert!(text.len() < 40_000, "{} bytes", text.len());
    let start = Instant::now();
    let error = file::parse(&text, "bomb").expect_err("refused");
    assert!(error.contains("bodies[0] would make 1000000000 colliders") && error.contains("4000000"), "{error}");
    let small = Budget::default().with_bodies(10);
    let error = file::parse_within(&bomb(1, 3, 2.0), "many", &small).expect_err("refused");
    assert!(error.contains("at most 10 bodies"), "{error}");
    assert!(start.elapsed() < LONG);
    let folder = folder("colliders");
    std::fs::write(folder.join("bomb.json"), text).unwrap();
    let output = run(&folder, &["run", "bomb.json", "--backend", "cpu"]);
    assert!(!output.status.success() && said(&output).contains("1000000000 colliders"), "{}", said(&output));
    std::fs::write(folder.join("small.json"), bomb(2, 3, 2.0)).unwrap();
    let output = run(&folder, &["run", "small.json", "--backend", "cpu", "--max-colliders", "50"]);
    assert!(!output.status.success() && said(&output).contains("54 colliders"), "{}", said(&output));
}

#[test]
fn a_hundred_thousand_bodies_at_one_point_are_refused_in_time() {
    let mut world = weightless();
    for _ in 0..100_000 {
        world.add(BodyDesc::dynamic().with(Collider::sphere(0.5))).unwrap();
    }
    let start = Instant::now();
    let limits = Limits::none().with_pairs(1_000_000);
    let mut simulation = Simulation::within(world, Settings::default(), CPU, limits).unwrap();
    let error = simulation.step(DT).map(drop).unwrap_err();
    assert!(matches!(error, Error::PairLimit { limit: 1_000_000, .. }), "{error}");
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn twenty_thousand_bodies_at_one_point_do_not_take_gigabytes() {
    let folder = folder("pairs");
    std::fs::write(folder.join("bomb.json"), bomb(1, 27, 0.0)).unwrap();
    let start = Instant::now();
    let output = run(&folder, &["run", "bomb.json", "--backend", "cpu", "--steps", "1"]);
    assert!(!output.status.success() && said(&output).contains("--max-pairs raises it"), "{}", said(&output));
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn bodies_that_all_reach_each_other_are_refused_like_those_in_one_place() {
    let mut world = weightless();
    for i in 0..2000 {
        let at = Vec3::new((i % 50) as f32, (i / 50) as f32, 0.0) * 3.0;
        world.add(BodyDesc::dynamic().at(at).with(Collider::sphere(500.0))).unwrap();
    }
    let limits = Limits::none().with_pairs(100_000);
    let mut simulation = Simulation::within(world, Settings::default(), CPU, limits).unwrap();
    let error = simulation.step(DT).map(drop).unwrap_err();
    assert!(matches!(error, Error::PairLimit { .. }), "{error}");
    assert_eq!(simulation.steps(), 0);
}

#[test]
fn a_limit_that_is_not_met_changes_no_bit() {
    let poses = |limits: Limits| {
        let mut world = World::new();
        world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
        // One on top of the other, and one that touches two hundred: counted in crowds.
        world.add(BodyDesc::dynamic().at(Vec3::Y * 2.0).with(Collider::cuboid(Vec3::new(60.0, 1.0, 60.0)))).unwrap();
        for i in 0..200 {
            world.add(dynamic(Vec3::new((i % 15) as f32 * 2.0 - 15.0, 4.0, (i / 15) as f32 * 2.0 - 15.0))).unwrap();
        }
        let mut simulation = Simulation::within(world, Settings::default(), CPU, limits).unwrap();
        for _ in 0..30 {
            simulation.step(DT).unwrap();
        }
        Metrics::of(&mut simulation).unwrap().pose_hash
    };
    let free = poses(Limits::none());
    assert_eq!(poses(Limits::none().with_pairs(1000).with_memory(1 << 30)), free);
}

#[test]
fn a_run_beyond_its_budget_of_memory_is_refused_with_the_option_that_raises_it() {
    let folder = folder("memory");
    let output = run(&folder, &["run", "pile", "--backend", "cpu", "--steps", "1", "--max-memory", "1"]);
    let text = said(&output);
    assert!(!output.status.success() && text.contains("--max-memory raises it"), "{text}");
    assert!(text.contains("limited to 1048576"), "{text}");
}

#[test]
fn a_run_beyond_its_time_ends_with_what_was_made() {
    let folder = folder("time");
    let arguments =
        ["run", "pile", "--backend", "cpu", "--steps", "9999999", "--max-minutes", "0.02", "--json", "report.json"];
    let start = Instant::now();
    let output = run(&folder, &arguments);
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    let text = std::fs::read_to_string(folder.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(report["ended_early"].as_str().unwrap().contains("--max-minutes"), "{}", report["ended_early"]);
    let steps = report["steps"].as_u64().unwrap();
    assert!(steps > 0 && steps < 9_999_999, "{steps}");
}

#[test]
fn a_grid_of_soft_particles_with_a_side_of_none_is_counted_as_it_would_be_made() {
    let start = Instant::now();
    for (soft, wanted) in [
        (
            r#""type": "cloth", "corner": [0,0,0], "along": [1,0,0], "across": [0,0,1], "particles": [0, 4294967295]"#,
            8_589_934_590u64,
        ),
        (
            r#""type": "cloth", "corner": [0,0,0], "along": [1,0,0], "across": [0,0,1], "particles": [1, 900000]"#,
            1_800_000,
        ),
        (r#""type": "block", "size": [1,1,1], "cells": [0, 0, 900000]"#, 3_600_004),
        (r#""type": "ball", "radius": 1, "cells": 4294967295"#, u64::MAX),
        (r#""type": "rope", "from": [0,0,0], "to": [1,0,0], "mass": 1, "particles": 4294967295"#, 4_294_967_295),
    ] {
        let text = format!(r#"{{"bodies": [], "soft": [{{{soft}}}]}}"#);
        let error = file::parse(&text, "bomb").expect_err("refused");
        let told = wanted == u64::MAX || error.contains(&format!("would make {wanted} particles"));
        assert!(told && error.contains("at most 1000000"), "{soft}: {error}");
    }
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn a_file_that_removes_all_of_its_bodies_is_read_in_time() {
    use std::fmt::Write;
    let many = 40_000;
    let (mut bodies, mut joints, mut later) = (String::new(), String::new(), String::new());
    for i in 0..many {
        let comma = if i == 0 { "" } else { "," };
        write!(bodies, r#"{comma}{{"name":"{i}","mass":1,"inertia":[1,1,1]}}"#).unwrap();
        write!(joints, r#"{comma}{{"name":"{i}","type":"ball","a":"{i}"}}"#).unwrap();
        write!(later, r#"{comma}{{"at":1,"remove":"{i}"}}"#).unwrap();
    }
    let text = format!(r#"{{"bodies":[{bodies}],"joints":[{joints}],"later":[{later}]}}"#);
    let start = Instant::now();
    let scene = file::parse(&text, "many").unwrap();
    assert_eq!((scene.world.len(), scene.later.len()), (many, many));
    // Every removal asked every joint once.
    assert!(start.elapsed() < LONG / 2, "{:?}", start.elapsed());
    let gone = text.replace(r#"{"at":1,"remove":"7"}"#, r#"{"at":1,"remove":"7"},{"at":1,"break":"7"}"#);
    let error = file::parse(&gone, "many").expect_err("its joint went with the body");
    assert!(error.contains("there is no joint of that name then"), "{error}");
}

#[test]
fn reading_a_scene_is_part_of_its_time_and_every_command_has_a_budget() {
    let folder = folder("reading");
    let block = r#"{"type": "block", "size": [9,9,9], "cells": [30, 30, 30]}"#;
    let large = format!(r#"{{"bodies": [{{"kind": "static"}}], "soft": [{block}]}}"#);
    std::fs::write(folder.join("large.json"), large).unwrap();
    std::fs::write(folder.join("bomb.json"), bomb(1, 27, 0.0)).unwrap();
    // The time is over before the scene is read: no step is made.
    let output = run(&folder, &["run", "large.json", "--backend", "cpu", "--max-minutes", "0.0001", "--steps", "3"]);
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(said(&output).contains("after 0 of 3 steps"), "{}", said(&output));
    for (command, option) in [
        (&["sweep", "bomb.json", "--param", "alpha=0.9", "--steps", "2"][..], "--max-pairs"),
        (&["passes", "bomb.json"][..], "--max-pairs"),
        (&["sweep", "large.json", "--param", "alpha=0.9", "--max-memory", "1"][..], "--max-memory"),
        (&["sweep", "pile", "--param", "alpha=0.9", "--max-minutes", "0.0001"][..], "--max-minutes"),
    ] {
        let output = run(&folder, command);
        assert!(!output.status.success() && said(&output).contains(option), "{command:?}: {}", said(&output));
    }
}
