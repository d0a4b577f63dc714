//! Every scene of the papers with the engine's own settings and with the published ones, at the same iterations, on the
//! CPU. Prints the page `docs/paper_settings.md`:
//!
//! ```text
//! cargo run --release --example paper_table > docs/paper_settings.md
//! ```
//!
//! Nothing is left out and nothing typed in: what does not hold says so.

use drystone::backend::Device;
use drystone::metrics::{Metrics, joint_errors};
use drystone::scenes::{self, Scene, Script};
use drystone::{AvbdSettings, EventKind, Settings, Simulation};

/// A scene, how it is run, and what it has to show.
struct Row {
    scene: &'static str,
    parameters: &'static [(&'static str, f64)],
    /// Of the scene, unless the paper's figure or the engine's tests have others.
    iterations: Option<u32>,
    seconds: f32,
    claim: &'static str,
    holds: fn(&Seen) -> bool,
}

/// What was seen of a run.
#[derive(Default)]
struct Seen {
    top: (f64, f64),
    /// Fastest body in the end, m/s.
    speed: f64,
    /// Deepest overlap of all steps, metres.
    deepest: f64,
    /// Greatest sum of what all joints were off by along lengths, metres, of all steps.
    stretch: f64,
    /// Greatest error of one joint in the end, metres.
    apart: f64,
    /// Greatest gain of energy, as a part of what there was, of all steps.
    gained: f64,
    /// Joints that broke, and all of them.
    broken: (usize, usize),
    quarantined: u32,
    /// Lowest centre of mass in the end, metres.
    lowest: f64,
    /// Way that each body went along x, metres.
    ways: Vec<f64>,
    /// Heights of all bodies after each step, metres.
    heights: Vec<Vec<f64>>,
    /// Greatest difference of heights from the converged ones, in parts of the greatest fall there.
    off: f64,
}

impl Seen {
    fn sank(&self) -> f64 {
        self.top.0 - self.top.1
    }

    fn calm(&self) -> bool {
        self.gained < 0.005 && self.quarantined == 0
    }
}

/// Stopping distances v^2 / (2 mu g) of the blocks of `friction`, and how far they went: the worst difference, as a
/// part.
fn slid(seen: &Seen) -> f64 {
    // Blocks are in the order of their coefficients, 0 to 1; the first slides for ever.
    let blocks = seen.ways.len() - 1;
    let one = |i: usize| {
        let mu = i as f64 / blocks as f64;
        let expected = 100.0 / (2.0 * mu * 9.81);
        (seen.ways[i] / expected - 1.0).abs()
    };
    // Those that have come to rest by then.
    (1..=blocks).filter(|i| *i as f64 / blocks as f64 > 0.15).map(one).fold(0.0, f64::max)
}

static ROWS: &[Row] = &[
    Row {
        scene: "pile",
        parameters: &[("hit", 0.0)],
        iterations: None,
        seconds: 5.0,
        claim: "loses less than 1% of its height (Fig. 1)",
        holds: |s| s.sank() < 0.01 * s.top.0 && s.calm(),
    },
    Row {
        scene: "stack",
        parameters: &[],
        iterations: Some(4),
        seconds: 10.0,
        claim: "3 times heavier box by box: sinks by less than 2% of a box each",
        holds: |s| s.sank() < 0.2 && s.calm(),
    },
    Row {
        scene: "stack",
        parameters: &[],
        iterations: Some(20),
        seconds: 10.0,
        claim: "the same (Fig. 10)",
        holds: |s| s.sank() < 0.2 && s.calm(),
    },
    Row {
        scene: "pyramid",
        parameters: &[],
        iterations: None,
        seconds: 10.0,
        claim: "loses less than 1% of its height",
        holds: |s| s.sank() < 0.01 * s.top.0 && s.calm(),
    },
    Row {
        scene: "arch",
        parameters: &[],
        iterations: None,
        seconds: 10.0,
        claim: "sinks by less than 30 mm",
        holds: |s| s.sank() < 0.03 && s.calm(),
    },
    Row {
        scene: "cards",
        parameters: &[("hit", 0.0)],
        iterations: None,
        seconds: 10.0,
        claim: "sinks by less than 10 mm (Fig. 6)",
        holds: |s| s.sank() < 0.01 && s.calm(),
    },
    Row {
        scene: "friction",
        parameters: &[],
        iterations: None,
        seconds: 8.0,
        claim: "stopping distances within 3% (Fig. 11)",
        holds: |s| slid(s) < 0.03,
    },
    Row {
        scene: "spring_ratio",
        parameters: &[],
        iterations: Some(5),
        seconds: 10.0,
        claim: "heights within 2% of the fall (Fig. 2)",
        holds: |s| s.off < 0.02,
    },
    Row {
        scene: "spring_chain",
        parameters: &[],
        iterations: Some(5),
        seconds: 10.0,
        claim: "heights within 2% of the sag (Fig. 4)",
        holds: |s| s.off < 0.02,
    },
    Row {
        scene: "pendulum",
        parameters: &[],
        iterations: None,
        seconds: 10.0,
        claim: "stretches by less than 1% of 10 m (Fig. 7)",
        holds: |s| s.stretch < 0.1 && s.calm(),
    },
    Row {
        scene: "pendulum",
        parameters: &[("angle", 0.0)],
        iterations: None,
        seconds: 10.0,
        claim: "the same at rest (Fig. 15)",
        holds: |s| s.stretch < 0.1 && s.calm(),
    },
    Row {
        scene: "chain_balls",
        parameters: &[],
        iterations: None,
        seconds: 10.0,
        claim: "stretches by less than 1% of 10 m (Fig. 9)",
        holds: |s| s.stretch < 0.1 && s.calm(),
    },
    Row {
        scene: "chainmail",
        parameters: &[("side", 5.0)],
        iterations: Some(15),
        seconds: 3.0,
        claim: "nothing falls below 2.5 m (Fig. 12)",
        holds: |s| s.lowest > 2.5,
    },
    Row {
        scene: "wall",
        parameters: &[("hit", 0.5)],
        iterations: Some(10),
        seconds: 3.0,
        claim: "some joints break, not half, the others within 5 mm in the end (Fig. 13)",
        holds: |s| s.broken.0 > 10 && 2 * s.broken.0 < s.broken.1 && s.apart < 5e-3,
    },
    Row {
        scene: "wall",
        parameters: &[("hit", 0.0)],
        iterations: Some(10),
        seconds: 3.0,
        claim: "not hit, no joint breaks, and none is off by more than 5 mm in the end",
        holds: |s| s.broken.0 == 0 && s.apart < 5e-3 && s.calm(),
    },
    Row {
        scene: "bridge",
        parameters: &[],
        iterations: Some(4),
        seconds: 10.0,
        claim: "no joint off by more than 50 mm in the end, energy does not grow",
        holds: |s| s.apart < 0.05 && s.calm(),
    },
    Row {
        scene: "swing_box",
        parameters: &[],
        iterations: Some(10),
        seconds: 10.0,
        claim: "no hinge off by more than 50 mm in the end, energy does not grow",
        holds: |s| s.apart < 0.05 && s.calm(),
    },
    Row {
        scene: "ragdolls",
        parameters: &[("count", 20.0)],
        iterations: None,
        seconds: 6.0,
        claim: "no joint off by more than 50 mm in the end, energy does not grow",
        holds: |s| s.apart < 0.05 && s.calm(),
    },
];

fn main() -> drystone::Result<()> {
    println!("# The published scheme beside the engine's own\n");
    println!("Made by `cargo run --release --example paper_table > docs/paper_settings.md`, on the CPU; not edited.\n");
    println!(
        "*Own* is `Settings::default()`, *paper* is `Settings::published()` at the same iterations and sub-steps:"
    );
    println!(
        "`AvbdSettings::paper()`, and contacts found only where bodies are at the start of a step. Beta has units that"
    );
    println!("the paper does not tell (`docs/numbers.md`), so the upper end of its range stands beside its 10.\n");
    println!(
        "Overlap and stretch are the worst of all steps, stretch the sum over all joints; energy is the greatest gain"
    );
    println!(
        "over the first step, in parts of what there was or moves; speed is that of the fastest body in the end.\n"
    );
    println!("| scene | iterations | has to show | settings | holds | measured |");
    println!("|---|---|---|---|---|---|");
    for row in ROWS {
        let converged = if row.scene.starts_with("spring") {
            let mut best = build(row)?;
            best.settings.iterations = 400;
            Some(run(row, best)?)
        } else {
            None
        };
        let own = build(row)?;
        let steps = (own.settings.iterations, own.settings.substeps);
        let mut paper = build(row)?;
        paper.settings = paper.settings.published();
        let mut firm = build(row)?;
        let beta = AvbdSettings::paper().with(|a| (a.beta, a.beta_joint, a.beta_spring) = (1e3, 1e3, 1e3));
        firm.settings = paper.settings.with(|s| s.solver = beta.into());
        for (name, scene) in [("own", own), ("paper", paper), ("paper, beta 1000", firm)] {
            let mut seen = run(row, scene)?;
            if let Some(converged) = &converged {
                seen.off = difference(&seen, converged);
            }
            let holds = if (row.holds)(&seen) { "yes" } else { "**no**" };
            let parameters: Vec<_> = row.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let iterations = if steps.1 > 1 { format!("{} x {}", steps.1, steps.0) } else { steps.0.to_string() };
            let (claim, measured) = (row.claim, measured(row, &seen));
            let scene = format!("{} {}", row.scene, parameters.join(" "));
            println!("| {} | {iterations} | {claim} | {name} | {holds} | {measured} |", scene.trim());
        }
    }
    Ok(())
}

/// Greatest difference of heights, in parts of the greatest fall of the converged run.
fn difference(seen: &Seen, converged: &Seen) -> f64 {
    let pairs = |a: &Seen, b: &[Vec<f64>]| -> f64 {
        let each = a.heights.iter().flatten().zip(b.iter().flatten());
        each.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
    };
    let first = vec![converged.heights[0].clone(); converged.heights.len()];
    pairs(seen, &converged.heights) / pairs(converged, &first)
}

/// What there is to say of a run.
fn measured(row: &Row, seen: &Seen) -> String {
    let mut parts = Vec::new();
    let millimetres = |v: f64| if v < 10.0 { format!("{:.1} mm", 1e3 * v) } else { format!("{v:.3e} m") };
    match row.scene {
        "friction" => parts.push(format!("distances off by {:.1}%", 1e2 * slid(seen))),
        "spring_ratio" | "spring_chain" => parts.push(format!("heights off by {:.2}%", 1e2 * seen.off)),
        "chainmail" => parts.push(format!("lowest body at {:.2} m", seen.lowest)),
        "pile" | "stack" | "pyramid" | "arch" | "cards" => parts.push(format!("sank {}", millimetres(seen.sank()))),
        _ => {}
    }
    if seen.deepest > 0.0 {
        parts.push(format!("overlap {}", millimetres(seen.deepest)));
    }
    if seen.stretch > 0.0 {
        parts.push(format!("stretch {}", millimetres(seen.stretch)));
        parts.push(format!("worst joint in the end {}", millimetres(seen.apart)));
    }
    if row.scene == "wall" {
        parts.push(format!("{} of {} joints broke", seen.broken.0, seen.broken.1));
    }
    parts.push(format!("energy {:+.2}%", 1e2 * seen.gained));
    parts.push(format!("{:.3} m/s", seen.speed));
    if seen.quarantined > 0 {
        parts.push(format!("{} bodies not finite", seen.quarantined));
    }
    parts.join(", ")
}

fn build(row: &Row) -> drystone::Result<Scene> {
    let parameters = row.parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let mut scene = scenes::build(row.scene, &parameters).expect("a scene of the list, with parameters it knows");
    let iterations = row.iterations.unwrap_or(scene.settings.iterations);
    scene.settings = Settings::with(scene.settings, |s| s.iterations = iterations);
    Ok(scene)
}

fn run(row: &Row, scene: Scene) -> drystone::Result<Seen> {
    let dt = scene.dt;
    let mut script = Script::new(&scene);
    let mut simulation = Simulation::new(scene.world, scene.settings, Device::Cpu { threads: None })?;
    let begin = Metrics::of(&mut simulation)?;
    let places = simulation.bodies()?;
    let mut seen =
        Seen { top: (begin.top, begin.top), broken: (0, simulation.world().joints().count()), ..Seen::default() };
    // Velocities are differences of poses: what a body starts with is first seen after a step; and what is thrown in
    // later brings its own.
    let mut start: Option<f64> = None;
    for step in 0..(row.seconds / dt).round() as u32 {
        let added =
            script.before_step(&mut simulation, f64::from(step) * f64::from(dt), dt).expect("a script that fits");
        for event in simulation.step(dt)?.events {
            seen.broken.0 += usize::from(matches!(event.kind, EventKind::Broken { .. }));
        }
        let now = Metrics::of(&mut simulation)?;
        if !added.is_empty() {
            start = None;
        }
        let first = *start.get_or_insert(now.energy());
        let scale = first.abs().max(now.kinetic_energy).max(1e-9);
        seen.gained = seen.gained.max((now.energy() - first) / scale);
        seen.deepest = seen.deepest.max(now.max_penetration);
        if seen.broken.1 > 0 {
            let errors = joint_errors(&mut simulation)?;
            seen.stretch = seen.stretch.max(errors.iter().map(|e| e.1).sum());
            seen.apart = errors.iter().map(|e| e.1).fold(0.0, f64::max);
        }
        (seen.top.1, seen.speed, seen.quarantined) = (now.top, now.max_speed, now.quarantined);
        if row.scene.starts_with("spring") {
            seen.heights.push(simulation.bodies()?.iter().map(|(_, s)| f64::from(s.position.y)).collect());
        }
    }
    let moves = |h| simulation.world().desc(h).is_ok_and(|d| d.kind == drystone::world::BodyKind::Dynamic);
    let moving: Vec<_> = places.iter().filter(|(h, _)| moves(*h)).copied().collect();
    seen.lowest = f64::INFINITY;
    for (handle, before) in moving {
        let after = simulation.body(handle)?.position;
        seen.ways.push(f64::from(after.x - before.position.x));
        seen.lowest = seen.lowest.min(after.y.into());
    }
    Ok(seen)
}
