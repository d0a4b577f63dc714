//! Figures 2 and 4: springs of very different stiffness.

use super::super::case::{Outcome, Watch};
use super::super::figure::{Figure, Said, Setting, Test};
use super::super::method::Method;
use super::{Size, plot, row, same};

fn height(block: u32) -> Watch {
    Watch::At(format!("block {block}"), 1)
}

/// Figure 2.
pub fn ratio(size: &Size) -> Figure {
    let seconds = size.of(10.0, 5.0);
    let setting = Setting {
        scene: "spring_ratio",
        parameters: vec![],
        seconds,
        watch: vec![height(1), height(2)],
        stop: None,
        view: Some([[-1.0, 1.0, -0.5], [1.0, 5.5, 0.5], [0.3, 0.1, 1.0]]),
        change: same,
    };
    let published = "Three blocks and two springs of 1:10,000. VBD sags excessively with 5 iterations and with 100; 5 \
        sub-steps are too few, 30 come visually close. AVBD has a low error with 5 iterations.";
    let mut figure = Figure::new("figure_2", "Figure 2: two springs of 1:10,000", published, setting);
    // Two blocks of 1 kg hang on the weak spring, 100 N/m, and swing about there.
    let sag = 2.0 * 9.81 / 100.0;
    // Whole swings, of 2 pi sqrt(2 m / k): the mean over a part of one is none.
    let period = std::f64::consts::TAU * (2.0f64 / 100.0).sqrt();
    let from = seconds - 4.0 * period;
    let mean = move |of: &Outcome| {
        let late: Vec<f64> = of.all(&height(1)).filter(|v| v.0 > from).map(|v| 4.0 - v.1).collect();
        100.0 * (late.iter().sum::<f64>() / late.len().max(1) as f64 / sag - 1.0).abs()
    };
    let criterion =
        "in the mean over its last four swings the weak spring is longer than at rest by 2 m g / k within 5%";
    figure.tests = vec![Test::below(criterion, "%", 5.0, mean)];
    figure.rows = vec![
        row(Method::Vbd, 5, Said::Fails, 0),
        row(Method::Vbd, 100, Said::Fails, 0),
        row(Method::VbdSteps, 5, Said::Fails, 0),
        row(Method::VbdSteps, 30, Said::Holds, 0),
        row(Method::Avbd, 5, Said::Holds, size.most()),
        row(Method::Published, 5, Said::Holds, size.most()),
    ];
    figure.plots = vec![plot("Height of the block on the weak spring", "m", height(1), 1.0)];
    figure.note = "Springs have their own stiffness: that of VBD's contacts, which is named beside it, is of no \
        account here."
        .to_owned();
    figure
}

/// Figure 4.
pub fn chain(size: &Size) -> Figure {
    const BLOCKS: u32 = 10;
    let setting = Setting {
        scene: "spring_chain",
        parameters: vec![("bodies", BLOCKS.into())],
        seconds: size.of(10.0, 5.0),
        watch: (1..=BLOCKS).map(height).collect(),
        stop: None,
        view: Some([[-0.5, 3.5, -0.5], [11.5, 5.5, 0.5], [0.1, 0.1, 1.0]]),
        change: same,
    };
    let published = "Ten blocks on springs of alternating stiffness, 1:10,000. AVBD is visually indistinguishable from \
        the reference with 5 iterations, and close to it with one; VBD overstretches even with 100.";
    let mut figure = Figure::new("figure_4", "Figure 4: a chain of springs of 1:10,000", published, setting);
    let mut best = Method::Avbd.settings(400);
    let (_, settings) = best.remove(0);
    figure.others = vec![figure.case("reference: AVBD, 400 iterations", settings, true)];
    figure.reference = Some(0);
    let off = |of: &Outcome, reference: Option<&Outcome>| {
        let Some(reference) = reference else { return f64::NAN };
        let blocks = || (1..=BLOCKS).map(height);
        let each = blocks().flat_map(|b| of.all(&b).zip(reference.all(&b)).collect::<Vec<_>>());
        let sag = blocks().map(|b| 5.0 - reference.least_from(&b, 0.0)).fold(0.0, f64::max);
        100.0 * each.map(|(a, b)| (a.1 - b.1).abs()).fold(0.0, f64::max) / sag
    };
    let criterion = "no block is ever off the reference by more than 5% of the greatest sag";
    figure.tests =
        vec![Test { criterion: criterion.to_owned(), unit: "%", value: Box::new(off), limit: 5.0, above: false }];
    figure.rows = vec![
        row(Method::Avbd, 5, Said::Holds, size.most()),
        row(Method::Avbd, 1, Said::Holds, 0),
        row(Method::Published, 5, Said::Holds, size.most()),
        row(Method::Vbd, 100, Said::Fails, 0),
        row(Method::Vbd, 5, Said::Fails, 0),
    ];
    figure.plots = vec![plot("Height of the block in the middle", "m", height(BLOCKS / 2), 1.0)];
    figure.note = "The reference is compared with one in double precision in `tests/joints`.".to_owned();
    figure
}
