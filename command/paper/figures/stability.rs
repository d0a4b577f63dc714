//! What the second paper promises of all numbers: nothing blows up, whatever alpha, the most sub-steps, iterations and
//! the time step are.

use super::super::case::{Case, Outcome, Watch};
use super::super::figure::{Claim, Figure, Results, Setting};
use super::{Size, same, text};
use drystone::Settings;

/// More energy than at the start by this part of all that could turn into motion, or a body faster than this, is a blow
/// up.
const MOST_GAIN: f64 = 0.2;
const MOST_SPEED: f64 = 40.0;

/// The scenes, small, so that there may be many runs of them.
fn scenes() -> [(&'static str, Vec<(&'static str, f64)>); 3] {
    [
        ("swinging_box", vec![("links", 8.0), ("mass", 300.0)]),
        ("swinging_bridge", vec![("planks", 8.0)]),
        ("heavy_stack", vec![("levels", 2.0), ("mass", 2000.0)]),
    ]
}

fn cases(figure: &Figure, size: &Size) -> Vec<Case> {
    let (alphas, most, iterations, steps) = if size.quick {
        (vec![0.02, 0.3], vec![1, 20], vec![1, 10], vec![1.0 / 30.0, 1.0 / 120.0])
    } else {
        let steps = vec![1.0 / 30.0, 1.0 / 60.0, 1.0 / 120.0];
        (vec![0.02, 0.05, 0.1, 0.3], vec![1, 3, 10, 60], vec![1, 2, 4, 10, 50], steps)
    };
    let mut all = Vec::new();
    for (scene, parameters) in scenes() {
        for (alpha, most) in alphas.iter().flat_map(|a| most.iter().map(move |n| (*a, *n))) {
            for (iterations, dt) in iterations.iter().flat_map(|n| steps.iter().map(move |dt| (*n, *dt))) {
                let label = format!("{scene}, alpha {alpha}, at most {most}, {iterations} iterations, {dt:.4} s");
                let numbers =
                    |s: &mut Settings| (s.stability, s.substeps_most, s.iterations) = (alpha, most, iterations);
                let case = figure.case(label, Settings::default().with(numbers), false);
                all.push(Case { scene, parameters: parameters.clone(), dt, ..case });
            }
        }
    }
    all
}

/// All numbers against each other.
pub fn sweep(size: &Size) -> Figure {
    let [(scene, parameters), ..] = scenes();
    let setting = Setting {
        scene,
        parameters,
        seconds: size.of(2.0, 1.0),
        watch: vec![Watch::Gain, Watch::Speed],
        stop: None,
        view: None,
        change: same,
    };
    let published = "Adaptive sub-stepping is stable for challenging scenes; a smaller alpha asks for more sub-steps.";
    let title = "Adaptive Sub-stepping: stability over all numbers";
    let mut figure = Figure::new("substeps_stability", title, published, setting);
    figure.others = cases(&figure, size);
    let (runs, most, iterations) = (figure.others.len(), size.of(60, 20), size.of(50, 10));
    figure.note = format!(
        "{runs} runs of the swinging box, the bridge and the heavy stack, smaller than published: alpha 0.02 to 0.3, at \
         most 1 to {most} sub-steps, 1 to {iterations} iterations, 1/30 to 1/120 s."
    );
    let labels: Vec<String> = figure.others.iter().map(|case| case.label.clone()).collect();
    figure.judge = Box::new(move |results| judge(results, &labels));
    figure
}

fn judge(results: &Results, labels: &[String]) -> Vec<Claim> {
    let Some(runs) = results.others() else { return Vec::new() };
    let gain = |of: &Outcome| of.most(&Watch::Gain);
    let sound = |of: &Outcome| gain(of) < MOST_GAIN && of.most(&Watch::Speed) < MOST_SPEED;
    let wrong: Vec<&str> =
        runs.iter().zip(labels).filter(|(of, _)| !sound(of)).map(|(_, label)| label.as_str()).collect();
    let worst = runs.iter().map(|of| gain(of)).fold(f64::NEG_INFINITY, f64::max);
    let told = if wrong.is_empty() { String::new() } else { format!(": {}", wrong.join("; ")) };
    vec![Claim {
        published: "no scene blows up".to_owned(),
        criterion: format!(
            "no body is lost, none is faster than {MOST_SPEED} m/s, and energy never grows by {}% of what there was",
            100.0 * MOST_GAIN
        ),
        found: format!(
            "{} of {} blow up; energy grows by {}% at most{told}",
            wrong.len(),
            runs.len(),
            text(100.0 * worst)
        ),
        holds: wrong.is_empty(),
    }]
}
