//! Figure 6: a tower of cards.

use super::super::case::{Outcome, Watch};
use super::super::figure::{Claim, Figure, Results, Said, Setting, Test};
use super::super::method::Method;
use super::{Size, plot, row, text};

fn ball() -> Watch {
    Watch::At("ball".to_owned(), 0)
}

pub fn cards(size: &Size) -> Figure {
    let hit = size.of(3.0, 1.5);
    let setting = Setting {
        scene: "cards",
        parameters: vec![("levels", size.of(4.0, 3.0)), ("hit", hit)],
        seconds: hit + size.of(3.0, 2.0),
        watch: vec![Watch::Sunk, ball()],
        stop: None,
        view: None,
        change: |settings| settings.with(|s| s.substeps = 5),
    };
    let published = "A card tower, with 5 sub-steps of 5 iterations. VBD needs a carefully tuned stiffness and can \
        still fail; its cards bounce the balls back. With AVBD the tower stands, and a single ball passes through \
        its bottom and makes it collapse.";
    let mut figure = Figure::new("figure_6", "Figure 6: a card tower, hit by a ball", published, setting);
    let before = move |of: &Outcome| {
        let early = of.all(&Watch::Sunk).filter(|v| v.0 <= hit).map(|v| v.1);
        100.0 * early.fold(f64::NEG_INFINITY, f64::max)
    };
    figure.tests = vec![
        Test::below("until it is hit, the tower loses less than 1% of its height", "%", 1.0, before),
        Test::above("in the end it has lost more than 30% of it", "%", 30.0, |of| 100.0 * of.ends(&Watch::Sunk).1),
    ];
    figure.rows = vec![
        row(Method::Avbd, 5, Said::Holds, size.of(32, 8)),
        row(Method::Published, 5, Said::Holds, 0),
        row(Method::Vbd, 5, Said::Fails, 0),
    ];
    figure.plots = vec![plot("Height lost", "%", Watch::Sunk, 100.0), plot("Way of the ball", "m", ball(), 1.0)];
    figure.judge = Box::new(through);
    figure
}

fn through(results: &Results) -> Vec<Claim> {
    let Some((_, avbd, _)) = results.rows.first().and_then(|r| r.best()) else { return Vec::new() };
    let (from, to) = avbd.ends(&ball());
    vec![Claim {
        published: "a single ball passes through the bottom".to_owned(),
        criterion: "in the end the ball is beyond the middle of the tower".to_owned(),
        found: format!("from {} m to {} m", text(from), text(to)),
        holds: to > 0.0,
    }]
}
