//! Figures 2, 3 and 4 of "Adaptive Sub-stepping for Constrained Rigid Body Simulations".

use super::super::case::{Outcome, Watch};
use super::super::figure::{Claim, Figure, Results, Said, Setting, Test};
use super::super::method::{MOST_SUBSTEPS, Method};
use super::{Size, plot, row, same, text};
use drystone::Settings;

/// As published for the first two scenes.
const ITERATIONS: u32 = 25;

fn adaptive() -> Settings {
    Settings::default().with(|s| (s.iterations, s.substeps_most) = (ITERATIONS, MOST_SUBSTEPS))
}

fn fixed(substeps: u32) -> Settings {
    Settings::default().with(|s| (s.iterations, s.substeps) = (ITERATIONS, substeps))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
    sum / count
}

/// Its curve, if it has been run.
fn first(results: &Results) -> Option<&Outcome> {
    results.others.first().and_then(Option::as_ref)
}

fn along(name: &str) -> Watch {
    Watch::At("box".to_owned(), if name == "z" { 2 } else { 1 })
}

/// Figure 2, above.
pub fn swinging_box(size: &Size) -> Figure {
    let setting = Setting {
        scene: "swinging_box",
        parameters: vec![("links", size.of(25.0, 12.0))],
        seconds: size.of(20.0, 10.0),
        watch: vec![Watch::Substeps, Watch::Worst, along("z")],
        stop: None,
        view: None,
        change: same,
    };
    let published = "The number of sub-steps of the swinging box is greatest at the bottom of the swing, where forces \
        are, and falls as it swings upward.";
    let title = "Adaptive Sub-stepping, Figure 2 above: sub-steps of the swinging box";
    let mut figure = Figure::new("substeps_figure_2_box", title, published, setting);
    figure.others = vec![figure.case("adaptive", adaptive(), true), figure.case("one step", fixed(1), true)];
    figure.plots = vec![
        plot("Sub-steps", "a frame", Watch::Substeps, 1.0),
        plot("Box, along the swing", "m", along("z"), 1.0),
        plot("Worst joint", "mm", Watch::Worst, 1e3),
    ];
    figure.judge = Box::new(|results| {
        let Some(of) = first(results) else { return Vec::new() };
        // The links begin at rest, and wave for a while.
        let late: Vec<_> = of.all(&Watch::Substeps).zip(of.all(&along("z"))).filter(|(n, _)| n.0 > 4.0).collect();
        let highest = late.iter().map(|(_, z)| z.1.abs()).fold(0.0, f64::max);
        let near = |low: f64, high: f64| {
            mean(late.iter().filter(|(_, z)| (low..=high).contains(&(z.1.abs() / highest))).map(|(n, _)| n.1))
        };
        let (bottom, ends) = (near(0.0, 0.2), near(0.9, 1.0));
        vec![Claim {
            published: "most sub-steps are at the bottom of the swing".to_owned(),
            criterion: "the mean over the lowest fifth of the swing exceeds that over its ends by half of one"
                .to_owned(),
            found: format!("{} at the bottom, {} at the ends", text(bottom), text(ends)),
            holds: bottom > ends + 0.5,
        }]
    });
    figure.note = "The paper's box needs 8 to 9 by Eq. 8 to 11.".to_owned();
    figure
}

/// Figure 2, below.
pub fn bridge(size: &Size) -> Figure {
    let ball = || Watch::At("ball".to_owned(), 1);
    let setting = Setting {
        scene: "swinging_bridge",
        parameters: vec![("planks", size.of(20.0, 10.0))],
        seconds: size.of(20.0, 12.0),
        watch: vec![Watch::Substeps, Watch::Worst, ball()],
        stop: None,
        view: Some([[-1.0, 0.0, -2.0], [size.of(13.0, 7.0), 4.5, 2.0], [0.3, 0.25, 1.0]]),
        change: same,
    };
    let published = "The number of sub-steps of the bridge falls once the ball has left it.";
    let title = "Adaptive Sub-stepping, Figure 2 below: sub-steps of the bridge";
    let mut figure = Figure::new("substeps_figure_2_bridge", title, published, setting);
    figure.others = vec![figure.case("adaptive", adaptive(), true), figure.case("one step", fixed(1), true)];
    figure.plots = vec![
        plot("Sub-steps", "a frame", Watch::Substeps, 1.0),
        plot("Height of the ball", "m", ball(), 1.0),
        plot("Worst joint", "mm", Watch::Worst, 1e3),
    ];
    figure.judge = Box::new(move |results| {
        let Some(of) = first(results) else { return Vec::new() };
        let both = || of.all(&Watch::Substeps).zip(of.all(&ball()));
        // The bridge is 3 m high. Half a second behind the fall the last of it has come to the joints.
        let left = both().find(|(_, y)| y.1 <= 1.5).map(|(n, _)| n.0);
        let Some(left) = left else {
            return vec![Claim {
                published: "the ball leaves the bridge, and fewer are made".to_owned(),
                criterion: "the ball comes below 1.5 m".to_owned(),
                found: "it stays above".to_owned(),
                holds: false,
            }];
        };
        let on = mean(of.all(&Watch::Substeps).filter(|n| n.0 < left).map(|n| n.1));
        let off = mean(of.all(&Watch::Substeps).filter(|n| n.0 > left + 0.5).map(|n| n.1));
        vec![Claim {
            published: "fewer sub-steps once the ball has left".to_owned(),
            criterion: "their mean from half a second later on is less than half of that before".to_owned(),
            found: format!("{} before, {} later; it falls after {} s", text(on), text(off), text(left)),
            holds: off < 0.5 * on,
        }]
    });
    figure
}

/// Figure 3.
pub fn energy(size: &Size) -> Figure {
    let setting = Setting {
        scene: "swinging_box",
        parameters: vec![("links", size.of(25.0, 8.0))],
        seconds: size.of(200.0, 10.0),
        watch: vec![Watch::Energy, Watch::Kinetic],
        stop: None,
        view: None,
        change: same,
    };
    let published = "Over 200 s the swinging box keeps its energy with adaptive sub-steps, and loses it gradually with \
        adaptive damping.";
    let title = "Adaptive Sub-stepping, Figure 3: energy of the swinging box";
    let mut figure = Figure::new("substeps_figure_3", title, published, setting);
    let second = |s: Settings| s.with(|s| s.integration = drystone::Integration::Bdf2);
    figure.others = vec![
        figure.case("adaptive", adaptive(), false),
        figure.case("1/960 s", fixed(16), false),
        figure.case("one step", fixed(1), false),
        figure.case("adaptive, BDF2", second(adaptive()), false),
        figure.case("adaptive, alpha 0.025", adaptive().with(|s| s.stability = 0.025), false),
    ];
    figure.plots = vec![plot("Energy", "J", Watch::Energy, 1.0), plot("Energy of motion", "J", Watch::Kinetic, 1.0)];
    figure.judge = Box::new(|results| {
        let Some(runs) = results.others() else { return Vec::new() };
        let kept = |of: &Outcome| {
            let (begin, end) = of.ends(&Watch::Energy);
            end / begin
        };
        let [adaptive, short, one, second, fine] = runs[..] else { return Vec::new() };
        let [adaptive, short, one, second, fine] = [adaptive, short, one, second, fine].map(kept);
        let parts = |v: f64| format!("{:.1}%", 100.0 * v);
        let told = |v: f64| format!("{} is left; {} with 1/960 s", parts(v), parts(short));
        vec![
            Claim {
                published: "adaptive sub-steps keep the energy".to_owned(),
                criterion: "what is left differs by less than 2% of the first energy from what 1/960 s keeps"
                    .to_owned(),
                found: told(adaptive),
                holds: (adaptive - short).abs() < 0.02,
            },
            Claim {
                published: "they keep it better than one step".to_owned(),
                criterion: "more of it is left".to_owned(),
                found: format!("{}, and {} with one step", parts(adaptive), parts(one)),
                holds: adaptive > one,
            },
            Claim {
                published: "not in the paper: so they do with integration of second order".to_owned(),
                criterion: "what is left is at least what 1/960 s keeps, less 2%, and not more than there was"
                    .to_owned(),
                found: told(second),
                holds: second > short - 0.02 && second < 1.005,
            },
            Claim {
                published: "not in the paper: a fourth of alpha makes sub-steps half as long".to_owned(),
                criterion: "what is left differs by less than 2% of the first energy from what 1/960 s keeps"
                    .to_owned(),
                found: told(fine),
                holds: (fine - short).abs() < 0.02,
            },
        ]
    });
    figure.note =
        "Implicit Euler damps with every step of the reference, too. Adaptive damping is not in the engine: AVBD \
        has geometric stiffness in its Hessian and is stable with one step, which is shown in its place. BDF2 leaves \
        chains under loads much heavier than they are to implicit Euler."
            .to_owned();
    figure
}

/// Figure 4.
pub fn stack(size: &Size) -> Figure {
    let setting = Setting {
        scene: "heavy_stack",
        parameters: vec![("levels", size.of(4.0, 3.0)), ("mass", size.of(1e4, 5e3))],
        seconds: size.of(10.0, 4.0),
        watch: vec![Watch::Sunk, along("y")],
        stop: Some((Watch::Sunk, 0.01)),
        view: None,
        change: same,
    };
    let published = "A box of 10,000 kg on balls and plates of 1 kg without friction stands with adaptive sub-steps \
        and a direct solver only. Sequential impulses (projected Gauss-Seidel, without a warm start there) fail even \
        with hundreds of iterations.";
    let title = "Adaptive Sub-stepping, Figure 4: the heavy stack";
    let mut figure = Figure::new("substeps_figure_4", title, published, setting);
    let lost = |of: &Outcome| 100.0 * of.most(&Watch::Sunk);
    figure.tests = vec![Test::below("the box never sinks by more than 1% of its height", "%", 1.0, lost)];
    figure.rows = vec![
        row(Method::Adaptive, ITERATIONS, Said::Holds, 0),
        row(Method::Avbd, ITERATIONS, Said::Nothing, 0),
        row(Method::Impulse, ITERATIONS, Said::Fails, 0),
        row(Method::Impulse, 200, Said::Fails, 0),
        row(Method::ImpulseAdaptive, ITERATIONS, Said::Fails, 0),
        row(Method::XpbdSteps, 20, Said::Nothing, 0),
        row(Method::SoftStep, 20, Said::Nothing, 0),
    ];
    figure.plots = vec![plot("Height lost", "%", Watch::Sunk, 100.0)];
    figure
}
