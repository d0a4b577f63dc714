//! Figures 10 and 11: heavy boxes on light ones, and sliding blocks.

use super::super::case::{Outcome, Watch};
use super::super::figure::{Claim, Figure, Results, Said, Setting, Test};
use super::super::method::Method;
use super::{Size, plot, row, same, text};

/// Figure 10.
pub fn stack(size: &Size) -> Figure {
    let setting = Setting {
        scene: "stack",
        parameters: vec![],
        seconds: size.of(10.0, 5.0),
        watch: vec![Watch::Sunk],
        stop: Some((Watch::Sunk, 0.02)),
        view: None,
        change: same,
    };
    let published = "A stack of boxes, each heavier than the one below. With sequential impulse, 20 iterations, the \
        bottom collapses; AVBD, 20 iterations, keeps the stack.";
    let mut figure = Figure::new("figure_10", "Figure 10: a stack of growing mass", published, setting);
    let lost = |of: &Outcome| 100.0 * of.most(&Watch::Sunk);
    figure.tests = vec![Test::below("the stack never loses more than 2% of its height", "%", 2.0, lost)];
    figure.rows = vec![
        row(Method::Avbd, 20, Said::Holds, size.most()),
        row(Method::Published, 20, Said::Holds, size.most()),
        row(Method::Impulse, 20, Said::Fails, size.most()),
        row(Method::Vbd, 20, Said::Nothing, size.most()),
        row(Method::XpbdSteps, 20, Said::Nothing, size.most()),
        row(Method::SoftStep, 20, Said::Nothing, size.most()),
    ];
    figure.plots = vec![plot("Height lost", "%", Watch::Sunk, 100.0)];
    figure
}

/// Blocks that come to rest while they are watched, in tenths of a coefficient.
const BLOCKS: std::ops::RangeInclusive<u8> = 2..=10;

fn block(tenths: u8) -> Watch {
    Watch::At(format!("mu {}.{}", tenths / 10, tenths % 10), 0)
}

fn way(of: &Outcome, tenths: u8) -> f64 {
    // They begin at 0.
    of.ends(&block(tenths)).1
}

/// Figure 11.
pub fn friction(size: &Size) -> Figure {
    let speed = 10.0;
    let setting = Setting {
        scene: "friction",
        parameters: vec![("speed", speed)],
        // At 10 m/s the block of mu 0.2 slides for 5.1 s; slower ones stop within too few steps to be compared.
        seconds: size.of(7.0, 6.0),
        watch: BLOCKS.map(block).collect(),
        stop: None,
        view: None,
        change: same,
    };
    let published = "Blocks of different friction slide until they stop: sequential impulse and AVBD, 4 iterations, \
        are visually identical. With its stiffness rescaled (Eq. 14), AVBD needs one iteration.";
    let mut figure = Figure::new("figure_11", "Figure 11: sliding blocks", published, setting);
    let off = move |of: &Outcome| {
        let expected = |tenths: u8| speed * speed / (2.0 * 0.1 * f64::from(tenths) * 9.81);
        100.0 * BLOCKS.map(|b| (way(of, b) / expected(b) - 1.0).abs()).fold(0.0, f64::max)
    };
    figure.tests = vec![Test::below("every block stops within 3% of v^2 / (2 mu g)", "%", 3.0, off)];
    figure.rows = vec![
        row(Method::Impulse, 4, Said::Holds, 0),
        row(Method::Avbd, 4, Said::Holds, 0),
        row(Method::Avbd, 1, Said::Holds, 0),
        row(Method::Published, 4, Said::Holds, size.most()),
        row(Method::XpbdSteps, 4, Said::Nothing, 0),
        row(Method::SoftStep, 4, Said::Nothing, 0),
    ];
    figure.plots = vec![plot("Way of the block of mu 0.5", "m", block(5), 1.0)];
    figure.note = "The engine's own settings rescale; those that are published do not.".to_owned();
    figure.judge = Box::new(alike);
    figure
}

fn alike(results: &Results) -> Vec<Claim> {
    let run = |i: usize| results.rows.get(i).and_then(|r| r.best()).map(|b| &b.1);
    let (Some(impulse), Some(avbd)) = (run(0), run(1)) else { return Vec::new() };
    let off = BLOCKS.map(|b| (way(avbd, b) / way(impulse, b) - 1.0).abs()).fold(0.0, f64::max);
    vec![Claim {
        published: "sequential impulse and AVBD are visually identical".to_owned(),
        criterion: "distances differ by less than 3%".to_owned(),
        found: format!("by {}% at most", text(100.0 * off)),
        holds: off < 0.03,
    }]
}
