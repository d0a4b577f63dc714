//! Scenes from files: the examples do what they say, and every kind of mistake is named with its place.

use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::metrics::Metrics;
use drystone::scenes::{self, Scene, SceneError, Script, file};
use drystone::world::{BodyDesc, BodyKind, Collider, JointDesc, Shape};
use drystone::{BodyState, Settings, Simulation};
use std::collections::BTreeMap;

fn example(name: &str) -> Scene {
    let path = format!("{}/examples/scenes/{name}.json", env!("CARGO_MANIFEST_DIR"));
    file::read(&path).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs a scene up to `seconds`, with what is told about the body `name` at the end.
fn run(scene: &Scene, seconds: f64) -> (Simulation, impl Fn(&mut Simulation, &str) -> BodyState) {
    let mut script = Script::new(scene);
    let device = Device::Cpu { threads: Some(2) };
    let mut simulation = Simulation::new(scene.world.clone(), scene.settings, device).unwrap();
    for step in 0..(seconds / f64::from(scene.dt)).round() as u32 {
        script.before_step(&mut simulation, f64::from(step) * f64::from(scene.dt), scene.dt).unwrap();
        simulation.step(scene.dt).unwrap();
    }
    let body = |s: &mut Simulation, name: &str| s.body(s.world().find(name).unwrap()).unwrap();
    (simulation, body)
}

#[test]
fn the_wall_stands_until_it_is_hit() {
    let scene = example("wall");
    assert_eq!((scene.name.as_str(), scene.world.len(), scene.later.len()), ("wall", 81, 1));
    let (mut before, _) = run(&scene, 1.0);
    let fell = |s: &mut Simulation| s.bodies().unwrap().iter().filter(|b| b.1.position.z.abs() > 0.5).count();
    assert_eq!(fell(&mut before), 0);
    let (mut after, _) = run(&scene, 4.0);
    assert_eq!(after.world().len(), 82, "the ball came");
    assert!(fell(&mut after) > 10, "bricks were knocked out");
}

#[test]
fn the_tour_does_what_it_says() {
    let scene = example("tour");
    assert_eq!((scene.settings.iterations, scene.dt, scene.seconds), (6, 0.01, 4.0));
    assert_eq!(scene.world.len(), 9 + 24);
    let dumbbell = scene.world.desc(scene.world.find("dumbbell").unwrap()).unwrap();
    assert!(matches!(dumbbell.colliders[2].shape, Shape::Capsule { half_height: 0.5, radius: 0.1 }));
    assert_eq!(scene.world.desc(scene.world.find("lift").unwrap()).unwrap().kind, BodyKind::Kinematic);
    let floor = &scene.world.desc(scene.world.find("floor").unwrap()).unwrap().colliders[0];
    assert_eq!((floor.friction_static, floor.friction_dynamic), (0.7, 0.5));

    let (mut early, body) = run(&scene, 1.0);
    // 120 N on 10 kg: 12 - 9.81 m/s^2 upwards; torque 2 about an inertia of 1.
    let rocket = body(&mut early, "rocket");
    assert!((rocket.linear_velocity.y - 2.19).abs() < 0.01, "{}", rocket.linear_velocity);
    assert!((rocket.angular_velocity.y - 2.0).abs() < 0.01, "{}", rocket.angular_velocity);
    let balloon = body(&mut early, "balloon");
    assert!((balloon.linear_velocity.y - 0.981).abs() < 0.01, "{}", balloon.linear_velocity);
    let lift = body(&mut early, "lift");
    assert!((lift.position.y - 0.6).abs() < 0.02 && (lift.linear_velocity.y - 1.0).abs() < 0.01, "{}", lift.position);

    let (mut middle, body) = run(&scene, 2.51);
    assert!((body(&mut middle, "lift").position - Vec3::new(0.0, 2.1, 0.0)).length() < 1e-4, "it arrived");
    assert!((body(&mut middle, "turntable").angular_velocity.y + 1.0).abs() < 1e-5, "it turns the other way");
    let ghost = body(&mut middle, "ghost");
    assert!((ghost.position.y - 5.0).abs() < 0.3, "put back, not {}", ghost.position);
    let rocket = body(&mut middle, "rocket");
    assert!((rocket.linear_velocity.x - 0.4).abs() < 1e-3, "4 Ns on 10 kg: {}", rocket.linear_velocity);
    assert_eq!(middle.world().len(), 34, "the ball is there");

    let (mut end, body) = run(&scene, 4.0);
    assert_eq!(end.world().len(), 33, "the ball is gone");
    assert_eq!(end.world().gravity(), Vec3::Y * -4.0);
    let rider = body(&mut end, "rider");
    assert!(rider.position.y > 2.5, "on top of the lift: {}", rider.position);
    for (handle, state) in end.bodies().unwrap() {
        assert!(state.enabled && state.position.is_finite(), "{handle:?}");
    }
}

/// A file with one body that has one collider.
fn with_collider(collider: &str) -> String {
    format!(r#"{{"bodies": [{{"colliders": [{collider}]}}]}}"#)
}

fn with_body(body: &str) -> String {
    format!(r#"{{"bodies": [{{"colliders": [{{"shape": "sphere", "radius": 1}}]}}, {{{body}}}]}}"#)
}

fn with_later(later: &str) -> String {
    let bodies = r#"[{"name": "a", "colliders": [{"shape": "sphere", "radius": 1}]}]"#;
    format!(r#"{{"bodies": {bodies}, "later": [{later}]}}"#)
}

#[test]
fn mistakes_are_named_with_their_place() {
    let ball = r#""colliders": [{"shape": "sphere", "radius": 1}]"#;
    let cases: Vec<(String, &str)> = vec![
        // Syntax: line and column.
        ("{\n  \"bodies\": [,]\n}".into(), "line 2 column 14"),
        ("".into(), "line 1 column 0"),
        ("{\"bodies\": []} x".into(), "line 1 column 16"),
        ("{\"bodies\": [], \"seconds\": NaN}".into(), "line 1 column"),
        ("{\"bodies\": [], \"seconds\": 1e999}".into(), "number out of range at line 1"),
        (format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), "recursion limit"),
        // The scene.
        ("[]".into(), "the scene is a list; it must be an object"),
        ("{}".into(), "bodies is missing"),
        (r#"{"bodies": {}}"#.into(), "bodies is an object; it must be a list"),
        (r#"{"bodies": [], "body": []}"#.into(), "body is not known here; known are: name, gravity,"),
        (r#"{"bodies": [], "gravity": [0, 1]}"#.into(), "gravity has 2 values; it must have 3"),
        (r#"{"bodies": [], "gravity": [0, "x", 0]}"#.into(), "gravity[1] is a string; it must be a number"),
        (r#"{"bodies": [], "gravity": [0, 0, 1e39]}"#.into(), "gravity[2] is not finite in single precision: 1e39"),
        (r#"{"bodies": [], "seconds": 0}"#.into(), "seconds is out of range: 0; it must be greater than 0"),
        (r#"{"bodies": [], "seconds": 1e30}"#.into(), "seconds is out of range"),
        (r#"{"bodies": [], "dt": -1}"#.into(), "dt is out of range: -1; it must be 0.000001 or more, and at most 1"),
        (r#"{"bodies": [], "settings": {"speed": 1}}"#.into(), "settings.speed: there is no such setting"),
        (r#"{"bodies": [], "settings": {"alpha": 2}}"#.into(), "settings.alpha is 2; it must be 0 to 1"),
        (r#"{"bodies": [], "settings": {"alpha": "x"}}"#.into(), "settings.alpha is a string; it must be a number"),
        (
            r#"{"bodies": [], "settings": {"iterations": 1e18}}"#.into(),
            "settings.iterations is 1000000000000000000; it must be a whole number from 1 to 1000",
        ),
        // Bodies.
        (
            with_body(&format!("\"kind\": \"liquid\", {ball}")),
            "bodies[1].kind is `liquid`; it must be one of: dynamic, kin",
        ),
        (with_body(""), "bodies[1]: a dynamic body has no mass"),
        (with_body(&format!("\"mass\": -1, {ball}")), "bodies[1].mass is out of range: -1; it must be greater than 0"),
        (with_body(&format!("\"mass\": 1e30, {ball}")), "bodies[1].mass is out of range: 1000"),
        (with_body(&format!("\"inertia\": [1, 0, 1], {ball}")), "bodies[1].inertia.y is out of range: 0; it must be"),
        (with_body(&format!("\"rotation\": [0, 0, 0, 2], {ball}")), "bodies[1].rotation is not a unit quaternion"),
        (with_body(&format!("\"rotation\": 3, {ball}")), "bodies[1].rotation is a number; it must be [x, y, z, w] or"),
        (
            with_body(&format!("\"rotation\": {{\"axis\": [0, 0, 0], \"degrees\": 1}}, {ball}")),
            "bodies[1].rotation.axis has no direction",
        ),
        (with_body(&format!("\"velocity\": [0, 0, 0], {ball}")), "bodies[1].velocity is not known here"),
        (
            with_body(&format!(
                "\"copies\": {{\"count\": [4000000000, 4000000000, 4000000000], \"step\": [1, 1, 1]}}, {ball}"
            )),
            "bodies[1].copies.count is [4000000000, 4000000000, 4000000000]; there must be 1 to 1000000 copies",
        ),
        (
            with_body(&format!("\"copies\": {{\"count\": [1000000, 1, 1], \"step\": [1, 1, 1]}}, {ball}")),
            "bodies[1]: a scene has at most 1000000 bodies",
        ),
        (
            with_body(&format!("\"copies\": {{\"count\": [2.5, 1, 1], \"step\": [1, 1, 1]}}, {ball}")),
            "bodies[1].copies.count[0] is 2.5; it must be a whole number",
        ),
        (
            format!(r#"{{"bodies": [{{"name": "a", {ball}}}, {{"name": "a", {ball}}}]}}"#),
            "bodies[1].name is `a`, which another body is called",
        ),
        // Colliders.
        (
            with_collider(r#"{"shape": "sphere", "radius": -1}"#),
            "bodies[0].colliders[0].radius is out of range: -1; it must be between 1e-5 and 1e5 m",
        ),
        (with_collider(r#"{"shape": "sphere", "position": [0, 0, 0]}"#), "bodies[0].colliders[0].radius is missing"),
        (
            with_collider(r#"{"shape": "teapot"}"#),
            "bodies[0].colliders[0].shape is `teapot`; it must be one of: sphere, box",
        ),
        (
            with_collider(r#"{"shape": "sphere", "radius": 1, "half": 1}"#),
            "bodies[0].colliders[0].half is not known here",
        ),
        (with_collider(r#"{"shape": "box", "half": [1, 0, 1]}"#), "bodies[0].colliders[0].half.y is out of range: 0"),
        (
            with_collider(r#"{"shape": "half_space"}"#),
            "bodies[0].colliders[0]: a half-space can only belong to a static body",
        ),
        (
            with_collider(r#"{"shape": "sphere", "radius": 1, "friction": -0.1}"#),
            "bodies[0].colliders[0].friction_static is out of range: -0.1",
        ),
        (
            with_collider(r#"{"shape": "sphere", "radius": 1, "groups": -1}"#),
            "bodies[0].colliders[0].groups is -1; it must be a whole number from 0 to 4294967295",
        ),
        // Later.
        (with_later(r#"{"at": 1}"#), "later[0] needs one of: add, remove"),
        (with_later(r#"{"at": -1, "remove": "a"}"#), "later[0].at is out of range: -1; it must be 0 or more"),
        (with_later(r#"{"at": 1, "remove": "b"}"#), "later[0].remove is `b`; there is no body of that name then"),
        (with_later(r#"{"at": 1, "remove": "a", "gravity": [0, 0, 0]}"#), "later[0] needs one of"),
        (with_later(r#"{"at": 1, "explode": "a"}"#), "later[0].explode is not known here"),
        (
            with_later(r#"{"at": 2, "impulse": {"body": "a", "linear": [0, 0, 1]}}, {"at": 1, "remove": "a"}"#),
            "later[0].impulse.body is `a`; there is no body of that name then",
        ),
        (
            with_later(r#"{"at": 1, "target": {"body": "a", "position": [0, 0, 0]}}"#),
            "later[0].target.body is `a`; a target is for kinematic bodies",
        ),
        (
            with_later(r#"{"at": 1, "add": {"colliders": [{"shape": "sphere", "radius": 0}]}}"#),
            "later[0].add.colliders[0].radius is out of range: 0",
        ),
    ];
    for (text, expected) in cases {
        let error = file::parse(&text, "x").err().unwrap_or_else(|| panic!("`{expected}` of {text}"));
        assert!(
            error.starts_with(expected)
                || (expected.contains("line") || expected.contains("limit")) && error.contains(expected),
            "`{expected}`, not: {error}"
        );
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    for (path, word) in [("/nonexistent/scene.json", "No such file"), ("/", "directory")] {
        let error = file::read(path).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, SceneError::File { .. }) && text.starts_with(path) && text.contains(word), "{text}");
    }
    let path = std::env::temp_dir().join(format!("drystone-{}.json", std::process::id()));
    std::fs::write(&path, [b'"', 0xff, b'"']).unwrap();
    let error = file::read(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(error.contains("UTF-8"), "{error}");
}

#[test]
fn every_cut_of_an_example_is_an_error_and_no_panic() {
    let text = std::fs::read_to_string(format!("{}/examples/scenes/tour.json", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let text = text.trim_end();
    for end in 0..text.len() {
        assert!(file::parse(&text[..end], "cut").is_err(), "cut at {end}");
    }
    // A number, word or bracket that is something else: an error or a scene, but no panic.
    let mut scenes = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        for other in ["-1", "1e300", "null", "\"x\"", "4294967296", "[]"] {
            let changed = format!("{}{other}{}", &text[..at], &text[at + c.len_utf8()..]);
            scenes += u32::from(file::parse(&changed, "changed").is_ok());
        }
    }
    assert!(scenes > 0, "some changes are harmless");
}

fn hash(simulation: &mut Simulation) -> u64 {
    Metrics::of(simulation).unwrap().pose_hash
}

/// Writes a scene, reads it back, and expects the same bits after some seconds of both.
fn survives(scene: &Scene, seconds: f64) {
    let text = file::to_text(scene).unwrap_or_else(|e| panic!("{e}"));
    let back = file::parse(&text, "x").unwrap_or_else(|e| panic!("{}: {e}", scene.name));
    assert_eq!((&back.name, back.settings, back.dt), (&scene.name, scene.settings, scene.dt));
    assert_eq!((back.seconds, back.later.len()), (scene.seconds, scene.later.len()), "{}", scene.name);
    let count = |s: &Scene| (s.world.len(), s.world.joints().count());
    assert_eq!(count(&back), count(scene), "{}", scene.name);
    // Slots are given in the order of the file, so that names are compared by them.
    let slots =
        |s: &Scene| s.world.names().map(|(name, body)| (name.to_owned(), body.index())).collect::<BTreeMap<_, _>>();
    let read = slots(&back);
    assert!(slots(scene).iter().all(|(name, slot)| read.get(name) == Some(slot)), "{}: {read:?}", scene.name);
    let joints =
        |s: &Scene| s.world.joint_names().map(|(name, joint)| (name.to_owned(), joint.index())).collect::<Vec<_>>();
    assert_eq!(joints(&back), joints(scene), "{}", scene.name);
    // What is written again differs in nothing: bodies with joints have the names now that they were given.
    let again = file::to_text(&back).unwrap();
    let other = text.lines().zip(again.lines()).find(|(a, b)| a != b);
    assert!(again == text, "{}: written again it is another: {other:?}", scene.name);
    let ((mut here, _), (mut there, _)) = (run(scene, seconds), run(&back, seconds));
    assert_eq!(hash(&mut here), hash(&mut there), "{}", scene.name);
    let moves = |s: &BodyState| s.linear_velocity != Vec3::ZERO || s.angular_velocity != Vec3::ZERO;
    let particles = |s: &mut Simulation| {
        let soft: Vec<_> = s.world().soft_bodies().collect();
        soft.into_iter().map(|b| s.soft(b).unwrap()).collect::<Vec<_>>()
    };
    let (these, those) = (particles(&mut here), particles(&mut there));
    assert!(these == those, "particles of {}", scene.name);
    let particle_moves = these.iter().any(|s| s.velocities.iter().any(|v| *v != Vec3::ZERO));
    let body_moves = here.bodies().unwrap().iter().any(|(_, s)| moves(s));
    assert!(body_moves || particle_moves, "{} moves", scene.name);
}

#[test]
fn every_scene_survives_being_written_and_read() {
    // Smaller than they are, with what happens later in the time that is looked at.
    let set = [
        ("pile", "bodies", 80.0),
        ("pile", "levels", 8.0),
        ("pile", "hit", 0.1),
        ("cards", "hit", 0.1),
        ("wall", "hit", 0.1),
        ("pyramid", "base", 6.0),
        ("drop", "bodies", 100.0),
        ("ragdolls", "count", 5.0),
        ("chainmail", "side", 4.0),
        ("joint_grid", "side", 12.0),
    ];
    for name in scenes::NAMES.iter().copied() {
        let given = set.iter().filter(|s| s.0 == name).map(|s| (s.1.to_owned(), s.2));
        let scene = scenes::build(name, &given.collect::<BTreeMap<_, _>>()).unwrap();
        survives(&scene, 20.0 / 60.0);
    }
}

#[test]
fn every_example_survives_being_written_and_read() {
    let folder = format!("{}/examples/scenes", env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for folder in [folder.clone(), folder + "/joints"] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "json") {
                let scene = file::read(&path).unwrap();
                survives(&scene, scene.seconds.into());
                seen += 1;
            }
        }
    }
    assert!(seen >= 13, "{seen} files");
}

#[test]
fn every_setting_is_written() {
    let usual = Settings::default();
    let names: Vec<_> = usual.named().map(|(name, _)| name).collect();
    for solver in [0.0, 1.0, 2.0] {
        let mut other = usual;
        other.set("solver", solver).unwrap();
        // Every value another one, and still allowed.
        for (name, value) in other.named().collect::<Vec<_>>() {
            let tried = [0.87 * value, 1.0 - value, value + 1.0, 8.0, 0.2];
            if name != "solver" && !tried.into_iter().any(|v| v != value && other.set(name, v).is_ok()) {
                panic!("{name} cannot be changed");
            }
        }
        other.set_all([("primal", 8.0), ("substeps_most", 9.0)]).unwrap();
        if other.avbd().is_some() {
            other.set_all([("k_max", 12345.0), ("free", 1.5), ("held", 0.7), ("loaded_range", 3.3)]).unwrap();
            let same = |name: &str| other.named().find(|o| o.0 == name) == usual.named().find(|u| u.0 == name);
            assert!(solver != 0.0 || names.iter().all(|name| *name == "solver" || !same(name)));
            assert!(names.iter().copied().eq(other.named().map(|(name, _)| name)));
        }
        // Rotations to first order have no integration of second order.
        other.set("integration", 0.0).unwrap();
        other.check().unwrap();
        let mut scene = example("wall");
        scene.settings = other;
        let text = file::to_text(&scene).unwrap();
        assert_eq!(file::parse(&text, "x").unwrap().settings, other, "{text}");
    }
}

#[test]
fn names_that_are_taken_and_numbers_that_are_odd_are_written_too() {
    let mut scene = scenes::build("rope", &BTreeMap::from([("segments".to_owned(), 3.0)])).unwrap();
    let (third, odd) = (1.0f32 / 3.0, "a \"name\"\n\\ of its own");
    let ball = BodyDesc::dynamic().at(Vec3::new(-0.0, 1e-30, third)).with(Collider::sphere(0.1).frictions(0.4, third));
    let handle = scene.world.add(ball.pushed(Vec3::X, Vec3::Y)).unwrap();
    scene.world.set_name(handle, "body 4").unwrap();
    // Bodies with a joint need a name in a file: those of slots 4 and 5 get one that is not taken, now or later.
    for at in [Vec3::Y * 20.0, Vec3::Y * 22.0] {
        let body = scene.world.add(BodyDesc { position: at, ..ball_again() }).unwrap();
        scene.world.add_joint(JointDesc::ball(body, None).anchors(Vec3::ZERO, at)).unwrap();
    }
    scene.name = odd.to_owned();
    scene.later.push((0.1, scenes::Action::Add { name: Some("body 5".to_owned()), body: ball_again() }));
    survives(&scene, 0.5);
    let back = file::parse(&file::to_text(&scene).unwrap(), "x").unwrap();
    let name = |slot: u32| back.world.name(back.world.handle(slot).unwrap()).unwrap();
    assert_eq!([0, 3, 4, 5].map(name), ["segment 1", "body 4", "body 4+", "body 5+"]);
    let position = back.world.desc(back.world.find("body 4").unwrap()).unwrap().position;
    assert_eq!(position.to_array().map(f32::to_bits), [-0.0, 1e-30, third].map(f32::to_bits));
    // What was said to a body since is not in its description.
    scene.world.apply_impulse(handle, Vec3::X, Vec3::ZERO).unwrap();
    let error = file::to_text(&scene).unwrap_err().to_string();
    assert!(error.contains("cannot be written: body 3 was told something"), "{error}");
}

fn ball_again() -> BodyDesc {
    BodyDesc::dynamic().at(Vec3::Y * 30.0).with(Collider::sphere(0.1))
}

#[test]
fn hulls_survive_but_for_the_last_digit() {
    let scene =
        scenes::build("drop", &BTreeMap::from([("bodies".to_owned(), 30.0), ("hulls".to_owned(), 1.0)])).unwrap();
    let back = file::parse(&file::to_text(&scene).unwrap(), "x").unwrap();
    let mut hulls = 0;
    for (a, b) in scene.world.handles().zip(back.world.handles()) {
        let (a, b) = (scene.world.desc(a).unwrap(), back.world.desc(b).unwrap());
        for (a, b) in a.colliders.iter().zip(&b.colliders) {
            if let (Shape::ConvexHull(a), Shape::ConvexHull(b)) = (&a.shape, &b.shape) {
                hulls += 1;
                let corners: Vec<_> = b.vertices().collect();
                assert_eq!(a.vertices().count(), corners.len());
                for corner in a.vertices() {
                    assert!(corners.iter().any(|c| c.distance(corner) < 1e-6), "{corner}");
                }
            }
        }
    }
    assert!(hulls > 0);
}

#[test]
fn soft_bodies_are_said_by_shape_or_particle_by_particle_and_written_with_the_same_bits() {
    let text = r#"{
        "bodies": [{ "name": "post", "kind": "static", "colliders": [{ "shape": "sphere", "radius": 0.1 }] }],
        "soft": [
            { "type": "rope", "from": [0, 2, 0], "to": [1, 2, 0], "particles": 5, "mass": 0.5,
              "attachments": [{ "particle": 0, "body": "post", "max_force": 50 }, { "particle": 4, "stiffness": 900 }] },
            { "type": "cloth", "corner": [0, 1, 0], "along": [1, 0, 0], "across": [0, 0, 1], "particles": [4, 3],
              "stretch": 500, "surface": { "friction": 0.9 }, "velocity": [0, 0, 1], "forces": [[3, 1, 0, 0.5]] },
            { "type": "block", "centre": [3, 1, 0], "size": [1, 1, 1], "cells": [1, 2, 1], "young": 20000, "surface": null },
            { "type": "ball", "radius": 0.3, "cells": 2, "gravity_scale": 0.5 },
            { "type": "mesh", "rest": [[0, 5, 0], [1, 5, 0]], "masses": [1, 2], "springs": [[0, 1, 1.5, null, 0]] }
        ]
    }"#;
    let scene = file::parse(text, "soft").unwrap();
    let soft: Vec<_> = scene.world.soft_bodies().collect();
    let sizes: Vec<_> = soft.iter().map(|s| scene.world.soft_desc(*s).unwrap().len()).collect();
    assert_eq!(sizes, [5, 12, 12, 27, 2]);
    assert_eq!(scene.world.soft_desc(soft[1]).unwrap().surface.unwrap().friction, 0.9);
    assert!(scene.world.soft_desc(soft[2]).unwrap().surface.is_none());
    let written = file::to_text(&scene).unwrap();
    let again = file::parse(&written, "soft").unwrap();
    for (a, b) in soft.iter().zip(again.world.soft_bodies()) {
        assert_eq!(scene.world.soft_desc(*a).unwrap(), again.world.soft_desc(b).unwrap());
    }
    assert_eq!(file::to_text(&again).unwrap(), written);
    let wrong = [
        (r#"{ "type": "rod" }"#, "soft[0].type"),
        (r#"{ "type": "ball", "radius": 1 }"#, "soft[0].cells is missing"),
        (r#"{ "type": "ball", "radius": 1, "cells": 4000000000 }"#, "particles"),
        (r#"{ "type": "mesh", "rest": [[0, 0, 0]], "masses": [1], "springs": [[0, 7, 1, 1, 0]] }"#, "springs[0]"),
        (r#"{ "type": "mesh", "rest": [[0, 0, 0]], "masses": [0] }"#, "masses"),
        (
            r#"{ "type": "mesh", "rest": [[0, 0, 0]], "masses": [1], "attachments": [{ "particle": 1 }] }"#,
            "attachments[0]",
        ),
    ];
    for (soft, word) in wrong {
        let error = file::parse(&format!(r#"{{ "bodies": [], "soft": [{soft}] }}"#), "wrong").unwrap_err();
        assert!(error.contains(word), "`{error}` does not say `{word}`");
    }
}
