//! Scene files: those of the examples, of the corpus, and small built-in scenes, with bytes and values changed.

use super::{Outcome, Reached, steps};
use crate::common::Random;
use drystone::Simulation;
use drystone::backend::Device;
use drystone::scenes::file::{self, Budget};
use drystone::scenes::{self, Script};
use drystone::state::Limits;
use std::collections::BTreeMap;

/// Texts to begin with.
pub fn corpus() -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for folder in ["examples/scenes", "examples/scenes/joints", "tests/corpus/scenes"] {
        let mut paths: Vec<_> = std::fs::read_dir(root.join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        let files = paths.into_iter().filter(|p| p.extension().is_some_and(|e| e == "json"));
        texts.extend(files.map(|path| std::fs::read_to_string(path).unwrap()));
    }
    // Every solver over what all of them have, and what is chosen otherwise only by who knows of it.
    let (solvers, soft) = (steps::text("solvers.json"), steps::text("soft.json"));
    let other = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    texts.extend((1..=5).map(|solver| other(&solvers, "\"solver\": 0", &format!("\"solver\": {solver}"))));
    texts.push(other(&soft, "\"substeps\": 1", "\"substeps\": 1, \"substeps_most\": 3, \"row_stiffness\": true"));
    texts.push(other(&soft, "\"substeps\": 1", "\"substeps\": 2, \"integration\": 1, \"primal\": 8"));
    texts.push(other(&soft, "\"cold_iterations\": 8", "\"solver\": 1"));
    texts.push(other(&steps::text("everything.json"), "\"substeps\": 1", "\"row_stiffness\": true, \"primal\": 4"));
    for (name, parameter, value) in [("stack", "bodies", 3.0), ("limbs", "count", 1.0), ("spring_chain", "bodies", 2.0)]
    {
        let scene = scenes::build(name, &BTreeMap::from([(parameter.to_owned(), value)])).unwrap();
        texts.push(file::to_text(&scene).unwrap());
    }
    texts
}

/// What is put in the place of a value.
const ODD: [&str; 24] = [
    "0",
    "-0",
    "1",
    "-1",
    "0.5",
    "1e-45",
    "1e-30",
    "1e38",
    "-1e38",
    "1e39",
    "1e308",
    "1e999",
    "4294967296",
    "true",
    "null",
    "[]",
    "{}",
    "\"\"",
    "[0, 0, 0]",
    "[1e38, -1e38, 1e30]",
    "[0, 0, 0, 1]",
    "\"floor\"",
    "16777217",
    "3.4028235e38",
];

/// Where values begin and end: behind a colon, a bracket or a comma, up to the next of them.
fn value(text: &str, random: &mut Random) -> Option<(usize, usize)> {
    let marks: Vec<_> = text.match_indices([':', '[', ',']).map(|(at, _)| at + 1).collect();
    let from = *marks.get(random.below(marks.len() as u32) as usize)?;
    let to = from + text[from..].find([',', ']', '}', '\n']).unwrap_or(0);
    (from < to).then_some((from, to))
}

fn mutate(text: &mut String, others: &[String], random: &mut Random) {
    match random.below(8) {
        0..=3 => {
            if let Some((from, to)) = value(text, random) {
                text.replace_range(from..to, ODD[random.below(ODD.len() as u32) as usize]);
            }
        }
        4 => {
            // A value of another place, or of another file.
            let other = &others[random.below(others.len() as u32) as usize];
            if let (Some((from, to)), Some((a, b))) = (value(text, random), value(other, random)) {
                text.replace_range(from..to, &other[a..b]);
            }
        }
        5 => {
            // A line again, or one less.
            let lines: Vec<_> = text.lines().map(str::to_owned).collect();
            let at = random.below(lines.len() as u32) as usize;
            let again = random.below(2) as usize * 2;
            let new = lines.iter().enumerate().flat_map(|(i, l)| vec![l.as_str(); if i == at { again } else { 1 }]);
            *text = new.collect::<Vec<_>>().join("\n");
        }
        6 => {
            let mut bytes = std::mem::take(text).into_bytes();
            let at = random.below(bytes.len() as u32) as usize;
            bytes[at] ^= 1 << random.below(8);
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        _ => {
            let mut at = random.below(text.len() as u32) as usize;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            text.truncate(at);
        }
    }
}

pub fn case(texts: &[String], seed: u64, random: &mut Random, reached: &mut Reached) -> Outcome {
    let mut text = texts[random.below(texts.len() as u32) as usize].clone();
    for _ in 0..random.below(4) {
        if !text.is_empty() {
            mutate(&mut text, texts, random);
        }
    }
    let budget = Budget::default().with_bodies(500).with_colliders(2000).with_particles(500);
    let Ok(scene) = file::parse_within(&text, "fuzz", &budget) else { return Outcome::Refused };
    // What a file may ask for is bounded by what a run may take; time is bounded by steps.
    let mut settings = scene.settings;
    settings.iterations = settings.iterations.min(10);
    settings.substeps = settings.substeps.min(3);
    settings.substeps_most = settings.substeps_most.min(3);
    if let Some(avbd) = settings.avbd_mut().filter(|_| !seed.is_multiple_of(32)) {
        (avbd.cold_iterations, avbd.cold_reach) = (avbd.cold_iterations.min(12), avbd.cold_reach.min(1));
    }
    let mut script = Script::new(&scene);
    let limits = Limits::none().with_memory(64 << 20).with_pairs(20_000);
    let device = Device::Cpu { threads: Some(1) };
    let Ok(mut simulation) = Simulation::within(scene.world, settings, device, limits) else { return Outcome::Refused };
    for step in 0..3 {
        let told = script.before_step(&mut simulation, f64::from(step) * f64::from(scene.dt), scene.dt);
        if told.is_err() || simulation.step(scene.dt).is_err() {
            return Outcome::Refused;
        }
        reached.note(&simulation.plan().recording);
    }
    for soft in simulation.world().soft_bodies().collect::<Vec<_>>() {
        let state = simulation.soft(soft).unwrap();
        let finite = state.positions.iter().chain(&state.velocities).all(|v| v.is_finite());
        assert!(finite, "{soft:?} {state:?} in\n{text}");
    }
    for (body, state) in simulation.bodies().unwrap() {
        assert!(state.position.is_finite() && state.rotation.is_finite(), "{body:?} {state:?} in\n{text}");
    }
    Outcome::Accepted
}
