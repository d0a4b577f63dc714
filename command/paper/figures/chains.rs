//! Figures 7, 8 and 9: long chains of light links under heavy loads.

use super::super::case::{Outcome, Watch};
use super::super::figure::{Claim, Figure, Results, Said, Setting, Test};
use super::super::method::Method;
use super::{Size, plot, row, same, text};

/// Links of 0.2 m.
const LINKS: f64 = 50.0;
const LENGTH: f64 = 0.2 * LINKS;
/// Stretch that is not excessive, percent.
const MOST: f64 = 1.0;

fn stretch(of: &Outcome) -> f64 {
    100.0 * of.most(&Watch::Stretch) / LENGTH
}

fn height() -> Watch {
    Watch::At("ball".to_owned(), 1)
}

fn test() -> Test {
    Test::below(format!("the chain never stretches by more than {MOST}% of its {LENGTH} m"), "%", MOST, stretch)
}

fn swinging(size: &Size) -> Setting {
    Setting {
        scene: "pendulum",
        parameters: vec![("links", LINKS)],
        seconds: size.of(10.0, 4.0),
        watch: vec![Watch::Stretch, height()],
        stop: Some((Watch::Stretch, MOST * LENGTH / 100.0)),
        view: Some([[-12.0, -3.0, -2.0], [12.0, 14.0, 2.0], [0.0, 0.1, 1.0]]),
        change: same,
    }
}

/// Figure 7.
pub fn pendulum(size: &Size) -> Figure {
    let published = "A pendulum of 50 bodies with a load of 50,000:1. AVBD is the only method that prevents excessive \
        stretching. VBD stretches; XPBD with sub-steps does too, and is not steady; with iterations XPBD and \
        sequential impulse fail entirely.";
    let title = "Figure 7: a pendulum of 50,000:1";
    let mut figure = Figure::new("figure_7", title, published, swinging(size));
    figure.tests = vec![test()];
    figure.rows = vec![
        row(Method::Avbd, 20, Said::Holds, size.most()),
        row(Method::Published, 20, Said::Holds, size.most()),
        row(Method::Vbd, 20, Said::Fails, size.most()),
        row(Method::XpbdSteps, 20, Said::Fails, size.most()),
        row(Method::XpbdIterations, 20, Said::Fails, size.most()),
        row(Method::Impulse, 20, Said::Fails, size.most()),
        row(Method::SoftStep, 20, Said::Nothing, size.most()),
    ];
    figure.plots =
        vec![plot("Stretch of the chain", "m", Watch::Stretch, 1.0), plot("Height of the ball", "m", height(), 1.0)];
    figure
}

/// Figure 8.
pub fn errors(size: &Size) -> Figure {
    let published = "The error of all constraints over time with 20 iterations or sub-steps: AVBD's is consistently \
        lower than VBD's and XPBD's, and does not oscillate as XPBD's does.";
    let title = "Figure 8: errors of the swinging pendulum";
    let mut figure = Figure::new("figure_8", title, published, swinging(size));
    figure.rows = [Method::Avbd, Method::Vbd, Method::XpbdSteps].map(|method| row(method, 20, Said::Nothing, 0)).into();
    figure.plots = vec![plot("Errors of all joints together", "mm", Watch::Stretch, 1e3)];
    figure.judge = Box::new(lower);
    figure
}

fn lower(results: &Results) -> Vec<Claim> {
    let runs: Option<Vec<_>> = results
        .rows
        .iter()
        .map(|r| {
            // Of several stiffnesses the one with the least error.
            let mean = |of: &Outcome| {
                let all: Vec<f64> = of.all(&Watch::Stretch).map(|v| v.1).collect();
                all.iter().sum::<f64>() / all.len().max(1) as f64
            };
            r.cases.iter().map(|(_, of, _)| (mean(of), of)).min_by(|a, b| a.0.total_cmp(&b.0))
        })
        .collect();
    let Some([(avbd_mean, avbd), (vbd_mean, vbd), (xpbd_mean, xpbd)]) = runs.as_deref() else { return Vec::new() };
    let mut claims = Vec::new();
    for (name, mean, other) in [("VBD", vbd_mean, vbd), ("XPBD", xpbd_mean, xpbd)] {
        let pairs: Vec<_> = avbd.all(&Watch::Stretch).zip(other.all(&Watch::Stretch)).collect();
        let below = pairs.iter().filter(|(a, b)| a.1 < b.1).count() as f64 / pairs.len().max(1) as f64;
        claims.push(Claim {
            published: format!("AVBD's error is consistently lower than {name}'s"),
            criterion: "it is lower in 95% of all frames".to_owned(),
            found: format!(
                "in {}%; mean {} mm and {} mm",
                text(100.0 * below),
                text(1e3 * avbd_mean),
                text(1e3 * mean)
            ),
            holds: below > 0.95,
        });
    }
    // Its changes from frame to frame: those of the swing are slow.
    let rough = |of: &Outcome| {
        let all: Vec<f64> = of.all(&Watch::Stretch).map(|v| v.1).collect();
        all.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs()).sum::<f64>() / all.len().max(1) as f64
    };
    let (own, other) = (rough(avbd), rough(xpbd));
    claims.push(Claim {
        published: "AVBD's error does not oscillate as XPBD's".to_owned(),
        criterion: "the mean second difference of the error from frame to frame is smaller".to_owned(),
        found: format!("{} mm and {} mm", text(1e3 * own), text(1e3 * other)),
        holds: own < other,
    });
    claims
}

/// Figure 9.
pub fn balls(size: &Size) -> Figure {
    let setting = Setting {
        scene: "chain_balls",
        parameters: vec![("links", LINKS)],
        seconds: size.of(10.0, 4.0),
        watch: vec![Watch::Stretch],
        stop: Some((Watch::Stretch, MOST * LENGTH / 100.0)),
        view: Some([[-7.0, 6.0, -7.0], [7.0, 10.0, 7.0], [0.3, 1.0, 1.0]]),
        change: same,
    };
    let published = "Two heavy balls on a chain of 50 bodies. The dual methods, XPBD and sequential impulse, quickly \
        fail; VBD stretches excessively; AVBD keeps the length.";
    let title = "Figure 9: two heavy balls on a chain";
    let mut figure = Figure::new("figure_9", title, published, setting);
    figure.tests = vec![test()];
    figure.rows = vec![
        row(Method::Avbd, 20, Said::Holds, size.most()),
        row(Method::Vbd, 20, Said::Fails, size.most()),
        row(Method::XpbdSteps, 20, Said::Fails, size.most()),
        row(Method::XpbdIterations, 20, Said::Fails, size.most()),
        row(Method::Impulse, 20, Said::Fails, size.most()),
        row(Method::SoftStep, 20, Said::Nothing, size.most()),
    ];
    figure.plots = vec![plot("Stretch of the chain", "m", Watch::Stretch, 1.0)];
    figure.note = "The caption has no counts; 20 are those of Figure 8.".to_owned();
    figure
}
