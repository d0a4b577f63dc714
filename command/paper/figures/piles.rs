//! Figures 1 and 3, and Table 1: piles of bricks that stand until they are hit.

use super::super::case::Watch;
use super::super::figure::{Claim, Figure, Results, Said, Setting, Test};
use super::super::method::Method;
use super::{Size, plot, row, same, text};

/// Part of its height that a pile may lose, percent.
const MOST_LOSS: f64 = 1.0;

/// Counts, and milliseconds, at 110,000 and 510,000 bodies, as published; `None` where the paper has no such method.
type Published = Option<[(u32, f64); 2]>;

static TABLE: &[(Method, Published)] = &[
    (Method::Avbd, Some([(4, 3.5), (3, 10.3)])),
    (Method::Published, Some([(4, 3.5), (3, 10.3)])),
    (Method::Impulse, Some([(15, 14.1), (27, 78.4)])),
    (Method::XpbdSteps, Some([(6, 19.5), (26, 524.7)])),
    (Method::Vbd, Some([(15, 10.8), (8, 26.5)])),
    (Method::SoftStep, None),
];

fn hit_pile(size: &Size, id: &'static str, title: &'static str, published: &'static str, balls: f64) -> Figure {
    let bodies = size.bodies.iter().copied().max().unwrap_or(1);
    let hit = size.of(2.0, 1.0);
    let setting = Setting {
        scene: "pile",
        parameters: vec![("bodies", bodies.into()), ("levels", size.levels.into()), ("hit", hit), ("balls", balls)],
        seconds: hit + size.of(3.0, 2.0),
        watch: vec![Watch::Sunk, Watch::Moved],
        stop: None,
        view: None,
        change: same,
    };
    let mut figure = Figure::new(id, title, published, setting);
    let before = move |of: &super::super::case::Outcome| {
        100.0 * of.all(&Watch::Sunk).filter(|v| v.0 <= hit).map(|v| v.1).fold(f64::NEG_INFINITY, f64::max)
    };
    let stands = format!("until it is hit, the pile loses less than {MOST_LOSS}% of its height");
    figure.tests = vec![
        Test::below(stands, "%", MOST_LOSS, before),
        Test::above("then more than an eighth of all bodies move by more than a metre", "%", 12.5, |of| {
            100.0 * of.ends(&Watch::Moved).1
        }),
    ];
    figure.plots = vec![
        plot("Height lost", "%", Watch::Sunk, 100.0),
        plot("Bodies that are more than a metre from where they began", "%", Watch::Moved, 100.0),
    ];
    figure.note = format!("About {bodies} bricks here.");
    figure
}

/// Figure 1.
pub fn one_ball(size: &Size) -> Figure {
    let published = "A pile of 110,000 blocks smashed by a sphere, with 4 iterations of AVBD. Table 1: the others \
        stand with 15 iterations of sequential impulse, 6 sub-steps of XPBD, 15 iterations of VBD.";
    let mut figure = hit_pile(size, "figure_1", "Figure 1: a pile, hit by a sphere", published, 1.0);
    figure.rows = vec![
        row(Method::Avbd, 4, Said::Holds, 0),
        row(Method::Published, 4, Said::Holds, 0),
        row(Method::Impulse, 15, Said::Holds, 0),
        row(Method::XpbdSteps, 6, Said::Holds, 0),
        row(Method::Vbd, 15, Said::Holds, 0),
        row(Method::SoftStep, 6, Said::Nothing, 0),
    ];
    figure
}

/// Figure 3.
pub fn two_balls(size: &Size) -> Figure {
    let published = "Piles of 510,000 blocks smashed by two spheres, with 4 iterations of AVBD (its caption; Table 1 \
        has 3). Sequential impulse stands with 27 iterations, VBD with 8; XPBD collapses after several seconds even \
        with 26 sub-steps.";
    let mut figure = hit_pile(size, "figure_3", "Figure 3: piles, hit by two spheres", published, 2.0);
    figure.rows = vec![
        row(Method::Avbd, 4, Said::Holds, 0),
        row(Method::Impulse, 27, Said::Holds, 0),
        row(Method::XpbdSteps, 26, Said::Fails, 0),
        row(Method::Vbd, 8, Said::Holds, 0),
    ];
    figure
}

/// Table 1, at one size.
pub fn table(size: &Size, bodies: u32) -> Figure {
    let seconds = 10.0;
    let setting = Setting {
        scene: "pile",
        parameters: vec![("bodies", bodies.into()), ("levels", size.levels.into()), ("hit", 0.0)],
        seconds,
        watch: vec![Watch::Sunk],
        stop: Some((Watch::Sunk, MOST_LOSS / 100.0)),
        view: None,
        change: same,
    };
    let published = "Fewest iterations or sub-steps that keep the piles up, and the time of the solve, at 110,000 and \
        510,000 bodies: sequential impulse 15 and 27 (4.0 and 7.6 times AVBD's time), XPBD 6 and 26 (5.6 and 51 \
        times), VBD 15 and 8 (3.1 and 2.6 times), AVBD 4 and 3.";
    let mut figure = Figure::new("table_1", "Table 1: the fewest that stand", published, setting);
    figure.alone = true;
    figure.note = format!(
        "A pile of about {bodies} bricks in {} levels, on the CPU backend. Frames are timed whole, detection included, \
         and detection is done in every sub-step; the paper times the solve alone, on a GPU, with detection once a \
         frame. Small piles need fewer of everything than the paper's.",
        size.levels
    );
    let criterion = format!("loses less than {MOST_LOSS}% of its height in {seconds} s");
    figure.tests = vec![Test::below(criterion, "%", MOST_LOSS, |of| 100.0 * of.most(&Watch::Sunk))];
    figure.rows = TABLE.iter().map(|(method, _)| row(*method, 0, Said::Nothing, size.most())).collect();
    figure.judge = Box::new(ratios);
    figure
}

/// What was published: AVBD takes the least time. And by how much, which is not judged.
fn ratios(results: &Results) -> Vec<Claim> {
    let Some((fewest, frame)) = results.rows.first().and_then(|r| r.fewest()) else { return Vec::new() };
    let others = TABLE.iter().zip(&results.rows).skip(2);
    let claim = |((method, published), found): (&(Method, Published), &super::super::figure::Found)| {
        let [one, two] = (*published)?.map(|of| of.1);
        let [avbd_one, avbd_two] = TABLE[0].1?.map(|of| of.1);
        let (name, counts) = (method.name(), method.counts());
        let (told, holds) = match found.fewest() {
            Some((count, time)) => {
                let told = format!("{count} {counts}, {} times the time of {fewest} of AVBD", text(time / frame));
                (told, time > frame)
            }
            None => ("falls with all that was tried".to_owned(), true),
        };
        let (one, two) = (one / avbd_one, two / avbd_two);
        Some(Claim {
            published: format!("{name} takes {one:.1} and {two:.1} times as long as AVBD"),
            criterion: "a frame of the fewest that stand takes longer than AVBD's".to_owned(),
            found: told,
            holds,
        })
    };
    others.filter(|(_, found)| found.complete).filter_map(claim).collect()
}
