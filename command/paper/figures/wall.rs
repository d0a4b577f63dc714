//! Figure 13: a wall of bricks on breakable attachments, hit by three balls.

use super::super::case::{Outcome, Watch};
use super::super::figure::{Figure, Said, Setting, Test};
use super::super::method::Method;
use super::{Size, plot, row, same};

/// Seconds at which the balls are thrown, and after which the blow is over: they fly for 0.2 s.
const HIT: f64 = 0.5;
const OVER: f64 = HIT + 0.2 + 0.5;

/// The mean from then on: what breaks loose later falls on other pieces, which is over soon.
fn late(of: &Outcome, watch: &Watch) -> f64 {
    let all: Vec<f64> = of.all(watch).filter(|v| v.0 >= OVER).map(|v| v.1).collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

pub fn wall(size: &Size) -> Figure {
    let setting = Setting {
        scene: "wall",
        parameters: vec![("columns", 12.0), ("rows", 8.0), ("hit", HIT)],
        seconds: size.of(3.0, 1.75),
        watch: vec![Watch::Broken, Watch::Worst, Watch::Bent],
        stop: None,
        view: None,
        change: same,
    };
    let published = "Three balls smash into a wall of bricks on breakable attachments. With sequential impulse it \
        breaks, then slowly bends and collapses; XPBD tears it where it should not, like rubber; VBD bends it and \
        breaks nothing. AVBD forms clean breaks and keeps what remains rigid.";
    let mut figure = Figure::new("figure_13", "Figure 13: a wall that breaks", published, setting);
    let remains = "from half a second after the blow on, the worst that remains is off by less than 5 mm in the mean";
    figure.tests = vec![
        Test::above("more than 4% of the attachments break", "%", 4.0, |of| 100.0 * of.most(&Watch::Broken)),
        Test::below("and fewer than 60%", "%", 60.0, |of| 100.0 * of.most(&Watch::Broken)),
        Test::below(remains, "mm", 5.0, |of| 1e3 * late(of, &Watch::Worst)),
        Test::below("and by less than 0.02 rad", "rad", 0.02, |of| late(of, &Watch::Bent)),
    ];
    figure.rows = vec![
        row(Method::Avbd, 10, Said::Holds, size.of(64, 0)),
        row(Method::Published, 10, Said::Holds, 0),
        row(Method::Impulse, 10, Said::Fails, size.of(64, 0)),
        row(Method::XpbdSteps, 10, Said::Fails, size.of(64, 0)),
        row(Method::Vbd, 10, Said::Fails, size.of(64, 0)),
        row(Method::SoftStep, 10, Said::Nothing, size.of(64, 0)),
    ];
    figure.plots = vec![
        plot("Attachments that broke", "%", Watch::Broken, 100.0),
        plot("Worst of those that remain, along lengths", "mm", Watch::Worst, 1e3),
        plot("Worst of those that remain, about angles", "rad", Watch::Bent, 1.0),
    ];
    figure.note = "The paper does not say how many iterations; 10 here.".to_owned();
    figure
}
