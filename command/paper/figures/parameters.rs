//! Figure 15, over the ranges of Table 2: what the parameters of AVBD do to a pendulum at rest.

use super::super::case::{Outcome, Watch};
use super::super::figure::{Claim, Figure, Plot, Results, Setting};
use super::{Size, same, text};
use drystone::{AvbdSettings, Settings};

const LENGTH: f64 = 10.0;

fn height() -> Watch {
    Watch::At("ball".to_owned(), 1)
}

/// A curve: its name, and settings. The names begin with that of the parameter.
fn curves() -> Vec<(String, Settings)> {
    let published = |change: &dyn Fn(&mut AvbdSettings)| {
        let avbd = AvbdSettings::paper().with(change);
        Settings::paper().with(|s| (s.solver, s.iterations) = (avbd.into(), 20))
    };
    let mut curves = Vec::new();
    for beta in [1.0, 10.0, 100.0, 1000.0] {
        curves.push((format!("beta {beta}"), published(&|a| a.beta_joint = beta)));
    }
    for alpha in [0.0, 0.5, 0.95, 1.0] {
        curves.push((format!("alpha {alpha}"), published(&|a| a.alpha = alpha)));
    }
    for gamma in [0.0, 0.9, 0.99] {
        curves.push((format!("gamma {gamma}"), published(&|a| a.gamma = gamma)));
    }
    for count in [5, 10, 20, 40] {
        curves.push((format!("iterations {count}"), published(&|_| ()).with(|s| s.iterations = count)));
    }
    curves
}

pub fn sweep(size: &Size) -> Figure {
    let setting = Setting {
        scene: "pendulum",
        parameters: vec![("angle", 0.0)],
        seconds: size.of(10.0, 4.0),
        watch: vec![Watch::Stretch, Watch::Kinetic, height()],
        stop: None,
        view: Some([[-3.0, 0.0, -2.0], [3.0, 13.5, 2.0], [0.0, 0.1, 1.0]]),
        change: same,
    };
    let published = "The pendulum of Figure 7, hanging at rest, 20 iterations; height of the ball over time. Table \
        2: beta 10 (above 0), alpha 0.95 (0 to 1), gamma 0.99 (0 to 1). A small beta takes a number of frames; alpha \
        0 is explosive, with alpha 1 errors accumulate; with gamma 0 the ball hits the ground.";
    let mut figure = Figure::new("figure_15", "Figure 15 and Table 2: parameters", published, setting);
    figure.others = curves().into_iter().map(|(name, settings)| figure.case(name, settings, true)).collect();
    let plot = |title, prefix| Plot { title, unit: "m", watch: height(), scale: 1.0, prefix };
    figure.plots = vec![
        plot("Height of the ball by beta", "beta"),
        plot("Height of the ball by alpha", "alpha"),
        plot("Height of the ball by gamma", "gamma"),
        plot("Height of the ball by iterations", "iterations"),
    ];
    figure.note =
        "The published scheme. Beta has units that the paper does not tell, see `docs/numbers.md`.".to_owned();
    let names: Vec<String> = curves().into_iter().map(|c| c.0).collect();
    figure.judge = Box::new(move |results| judge(results, &names));
    figure
}

fn judge(results: &Results, names: &[String]) -> Vec<Claim> {
    let run = |name: &str| names.iter().position(|n| n == name).and_then(|i| results.others.get(i)?.as_ref());
    let most = |name: &str| run(name).map(|of| 100.0 * of.most(&Watch::Stretch) / LENGTH);
    let last = |name: &str| run(name).map(|of| 100.0 * of.ends(&Watch::Stretch).1 / LENGTH);
    let energy = |name: &str| run(name).map(|of| of.most(&Watch::Kinetic));
    let middle = |of: &Outcome| {
        let all: Vec<f64> = of.all(&Watch::Stretch).map(|v| v.1).collect();
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let mut claims = Vec::new();
    let mut claim = |published: &str, criterion: &str, found: String, holds: bool| {
        let (published, criterion) = (published.to_owned(), criterion.to_owned());
        claims.push(Claim { published, criterion, found, holds });
    };
    if let (Some(one), Some(ten), Some(many)) = (most("beta 1"), most("beta 10"), most("beta 1000")) {
        let found = format!("{}%, {}%, {}%", text(one), text(ten), text(many));
        let criterion = "the greatest stretch with beta 1 exceeds that with 10, and that with 1000";
        claim("a small beta takes a number of frames", criterion, found, one > ten && ten > many);
    }
    if let (Some(none), Some(usual)) = (energy("alpha 0"), energy("alpha 0.95")) {
        let found = format!("{} J and {} J", text(none), text(usual));
        let criterion = "the highest energy of motion is more than twice that with alpha 0.95";
        claim("alpha 0 results in explosive error correction", criterion, found, none.is_nan() || none > 2.0 * usual);
    }
    if let (Some(all), Some(one)) = (run("alpha 1"), run("alpha 0.95")) {
        let (half, end) = (middle(all), all.ends(&Watch::Stretch).1);
        let found =
            format!("{} m, {} m; with alpha 0.95 {} m", text(half), text(end), text(one.ends(&Watch::Stretch).1));
        let criterion = "the stretch is greater in the end than in the middle";
        claim("with alpha 1 errors gradually accumulate", criterion, found, end > half);
    }
    if let (Some(none), Some(usual)) = (run("gamma 0"), last("gamma 0.99")) {
        // Its lowest point is 3 m less its size above the ground.
        let low = none.least_from(&height(), 0.0);
        let radius = (25_000.0 / (7800.0 * 4.0 / 3.0 * std::f64::consts::PI)).cbrt();
        let found =
            format!("its middle comes down to {} m; with gamma 0.99 the stretch ends at {}%", text(low), text(usual));
        let criterion = "the middle of the ball comes lower than its radius, 0.91 m";
        claim("with gamma 0 the ball hits the ground", criterion, found, low < radius);
    }
    if let (Some(few), Some(many)) = (last("iterations 5"), last("iterations 40")) {
        let found = format!("{}% with 5 iterations, {}% with 40", text(few), text(many));
        let criterion = "in the end the stretch is below 1%, with 5 iterations and with 40";
        claim("even few iterations converge after a number of frames", criterion, found, few < 1.0 && many < 1.0);
    }
    claims
}
