//! Figures 5 and 14: cloth beside rigid bodies.

use super::super::case::{Outcome, Watch};
use super::super::figure::{Figure, Said, Setting, Test};
use super::super::method::Method;
use super::{Size, plot, row, same};

fn tip() -> Watch {
    Watch::At("segment 20".to_owned(), 0)
}

/// Figure 5.
pub fn flag(size: &Size) -> Figure {
    let setting = Setting {
        scene: "flag",
        parameters: vec![("columns", size.of(50.0, 16.0)), ("rows", size.of(30.0, 10.0)), ("segments", 20.0)],
        seconds: size.of(10.0, 3.0),
        watch: vec![Watch::Stretch, tip()],
        stop: Some((Watch::Stretch, 0.04)),
        view: Some([[-1.0, 0.0, -1.0], [3.0, 4.2, 1.0], [0.2, 0.1, 1.0]]),
        change: same,
    };
    let published = "A flag of 1,500 vertices and 6,000 springs on a pole of 20 segments, held by hard attachments. \
        VBD stretches the pole excessively; AVBD does not, with four times fewer iterations, and keeps all hard \
        constraints with low error.";
    let mut figure = Figure::new("figure_5", "Figure 5: a flag on a pole", published, setting);
    let stretch = |of: &Outcome| 100.0 * of.most(&Watch::Stretch) / 4.0;
    let mut best = Method::Avbd.settings(100);
    figure.others = vec![figure.case("reference: AVBD, 100 iterations", best.remove(0).1, true)];
    figure.reference = Some(0);
    let bends = |of: &Outcome| {
        let all: Vec<f64> = of.all(&tip()).map(|v| v.1).collect();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    };
    let off = move |of: &Outcome, best: Option<&Outcome>| {
        best.map_or(f64::NAN, |best| 100.0 * (bends(of) / bends(best) - 1.0).abs())
    };
    let criterion =
        "the tip of the pole bends, in the mean over time, as far as that of the reference within 20%".to_owned();
    figure.tests = vec![
        Test::below("the pole stretches by less than 1% of its 4 m", "%", 1.0, stretch),
        Test { criterion, unit: "%", value: Box::new(off), limit: 20.0, above: false },
    ];
    figure.rows = vec![
        row(Method::Avbd, 5, Said::Holds, 0),
        row(Method::Avbd, 20, Said::Holds, 0),
        row(Method::Vbd, 20, Said::Fails, 0),
    ];
    figure.plots = vec![
        plot("Stretch of the pole", "mm", Watch::Stretch, 1e3),
        plot("Tip of the pole, along the wind", "m", tip(), 1.0),
    ];
    figure.note = "Pictures show what the ray tracer draws of the scene.".to_owned();
    figure
}

/// Figure 14.
pub fn ragdolls(size: &Size) -> Figure {
    let setting = Setting {
        scene: "ragdoll_cloth",
        parameters: vec![("part", size.of(1.0, 0.01))],
        seconds: size.of(10.0, 2.0),
        watch: vec![Watch::Through, Watch::Worst],
        stop: None,
        view: None,
        change: same,
    };
    let published = "35,000 rigid bodies on 72,000 joints fall onto a cloth of 10,000 vertices, with 10 iterations, in \
        16 ms a frame.";
    let mut figure = Figure::new("figure_14", "Figure 14: articulated bodies on a cloth", published, setting);
    let worst = |of: &Outcome| 1e3 * of.most(&Watch::Worst);
    let through = |of: &Outcome| of.most(&Watch::Through);
    figure.tests = vec![
        Test::below("no body ever has its middle on the other side of the cloth", "bodies", 0.5, through),
        // A fifth of a body.
        Test::below("no joint is ever off by more than 50 mm", "mm", 50.0, worst),
    ];
    figure.rows = vec![row(Method::Avbd, 10, Said::Holds, 0)];
    figure.plots = vec![
        plot("Bodies that went through the cloth", "", Watch::Through, 1.0),
        plot("Worst joint", "mm", Watch::Worst, 1e3),
    ];
    figure.note =
        "The paper does not say what its bodies are. Here blocks of 36 cubes on 75 ball joints and chains of 10 \
        cubes fall; cubes are a quarter larger than the squares of the cloth, since only its particles touch."
            .to_owned();
    figure
}
