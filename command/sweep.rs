//! `drystone sweep`: a scene once for every value of a parameter, as curves (AVBD, Figures 8 and 15).

use super::budget::{self, BudgetOptions};
use super::interrupt;
use super::plot::{COLOURS, escaped, number};
use super::run::prepare_within;
use anyhow::{Context, bail};
use clap::Parser;
use drystone::Simulation;
use drystone::backend::Device;
use drystone::metrics::joint_errors;
use std::fmt::Write as _;

/// Options of `drystone sweep`.
#[derive(Parser)]
pub struct Options {
    /// The scene by its name (an unknown one lists them all), or a file that ends with .json.
    #[arg(default_value = "pendulum", value_name = "SCENE|FILE.json")]
    scene: String,
    /// The parameter of the scene or the setting, and its values: `beta_joint=0,10,1e3,1e5`, `method=0,1`.
    #[arg(long, value_name = "KEY=V,V,...")]
    param: String,
    /// A parameter of the scene or a setting that stays the same. May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Steps of every run.
    #[arg(long, value_name = "N", default_value_t = 300)]
    steps: u32,
    /// Iterations a step; by default as many as the scene is meant for.
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// Write the curves as CSV.
    #[arg(long, value_name = "FILE")]
    csv: Option<String>,
    /// Draw the curves as SVG: the error of all joints together, and the height of the last body.
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,
    #[command(flatten)]
    budget: BudgetOptions,
}

/// A run: after every step the time, the sum of the joints' errors, and the height of the last body.
struct Curve {
    value: String,
    points: Vec<(f64, f64, f64)>,
}

fn pair(text: &str) -> anyhow::Result<(&str, &str)> {
    text.split_once('=').with_context(|| format!("`{text}`: expected KEY=VALUE"))
}

fn curve(options: &Options, key: &str, value: &str) -> anyhow::Result<Curve> {
    let set: Vec<String> = options.set.iter().cloned().chain([format!("{key}={value}")]).collect();
    let mut scene = prepare_within(&options.scene, &set, &options.budget.file())?;
    if let Some(iterations) = options.iterations.filter(|_| key != "iterations") {
        scene.settings.iterations = iterations;
    }
    scene.settings.check()?;
    let Some(last) = scene.world.handles().last() else { bail!("{}: there are no bodies", options.scene) };
    let (cpu, limits) = (Device::Cpu { threads: None }, options.budget.limits());
    let mut simulation = budget::explained(Simulation::within(scene.world, scene.settings, cpu, limits))?;
    let mut points = Vec::new();
    for step in 1..=options.steps {
        if let Some(why) = interrupt::why() {
            bail!("{why} in step {step} of {} with {key}={value}; no curve was written", options.steps);
        }
        budget::step(&mut simulation, scene.dt)?;
        let error = joint_errors(&mut simulation)?.iter().map(|e| e.1).sum();
        let height = f64::from(simulation.body(last)?.position.y);
        points.push((f64::from(step) * f64::from(scene.dt), error, height));
    }
    Ok(Curve { value: value.to_owned(), points })
}

fn csv(key: &str, curves: &[Curve]) -> String {
    let mut text = "time".to_owned();
    for curve in curves {
        // Writing to a string does not fail.
        let _ = write!(text, ",error {key}={0},height {key}={0}", curve.value);
    }
    for (row, (time, _, _)) in curves.iter().take(1).flat_map(|c| c.points.iter().enumerate()) {
        let _ = write!(text, "\n{time:.6}");
        for curve in curves {
            let (_, error, height) = curve.points[row];
            let _ = write!(text, ",{error:.6e},{height:.6}");
        }
    }
    text + "\n"
}

/// One chart, `top` below the upper edge of the drawing.
fn chart(text: &mut String, title: &str, top: f64, curves: &[Curve], get: fn(&(f64, f64, f64)) -> f64) {
    let all = || curves.iter().flat_map(|c| c.points.iter()).map(|p| (p.0, get(p))).filter(|p| p.1.is_finite());
    let end = all().map(|p| p.0).fold(1e-9, f64::max);
    let (low, high) = all().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p.1), h.max(p.1)));
    let span = (high - low).max(1e-12);
    let _ = write!(text, "<text x=\"60\" y=\"{}\">{}</text>", top - 6.0, escaped(title));
    let _ = write!(text, "<rect x=\"60\" y=\"{top}\" width=\"560\" height=\"200\" fill=\"none\" stroke=\"#bbb\"/>");
    for (value, y) in [(high, top + 10.0), (low, top + 200.0)] {
        let _ = write!(text, "<text x=\"54\" y=\"{y}\" text-anchor=\"end\">{}</text>", number(value));
    }
    let _ = write!(text, "<text x=\"620\" y=\"{}\" text-anchor=\"end\">{} s</text>", top + 214.0, number(end));
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let at = |p: &(f64, f64, f64)| (60.0 + 560.0 * p.0 / end, top + 200.0 - 200.0 * (get(p) - low) / span);
        let finite = curve.points.iter().filter(|p| get(p).is_finite()).map(at);
        let points: Vec<String> = finite.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        let _ = write!(text, "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" points=\"{points}\"/>");
    }
}

fn svg(key: &str, curves: &[Curve]) -> String {
    let mut text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"780\" height=\"520\" \
        font-family=\"sans-serif\" font-size=\"11\"><rect width=\"780\" height=\"520\" fill=\"#fff\"/>"
        .to_owned();
    chart(&mut text, "error of all joints together, m", 30.0, curves, |p| p.1);
    chart(&mut text, "height of the last body, m", 280.0, curves, |p| p.2);
    for (i, (curve, colour)) in curves.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let (y, name) = (40 + 16 * i, escaped(&format!("{key}={}", curve.value)));
        let _ = write!(text, "<text x=\"632\" y=\"{y}\" fill=\"{colour}\">{name}</text>");
    }
    text + "</svg>\n"
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let (key, values) = pair(&options.param)?;
    interrupt::watch(options.budget.time()?)?;
    let curves = values.split(',').map(|value| curve(options, key, value)).collect::<anyhow::Result<Vec<Curve>>>()?;
    say!("{:>16} {:>16} {:>16} {:>16}", key, "worst error [m]", "last error [m]", "last height [m]");
    for curve in &curves {
        let worst = curve.points.iter().map(|p| p.1).fold(0.0, f64::max);
        let (_, error, height) = curve.points.last().copied().unwrap_or_default();
        say!("{:>16} {worst:>16.5} {error:>16.5} {height:>16.4}", curve.value);
    }
    for (path, text) in [(&options.csv, csv(key, &curves)), (&options.svg, svg(key, &curves))] {
        if let Some(path) = path {
            super::files::write(path.as_ref(), text.as_bytes())?;
        }
    }
    Ok(())
}
