//! Figure 12: a heavy ball on chain mail.

use super::super::case::{Outcome, Watch};
use super::super::figure::{Figure, Said, Setting, Test};
use super::super::method::Method;
use super::{Size, plot, row, same};

fn ball() -> Watch {
    Watch::At("ball".to_owned(), 1)
}

pub fn mail(size: &Size) -> Figure {
    let side: f64 = size.of(7.0, 5.0);
    // Rings are 1.4 m apart, and the mail is held at its corners, 5 m high. A link reaches 1.41 times as far as it
    // begins, so the middle hangs at most as deep as it is far from a corner.
    let deepest = 1.4 * (side - 1.0) / 2f64.sqrt();
    let (wide, low) = (0.8 * side as f32, 5.0 - deepest as f32);
    let setting = Setting {
        scene: "chainmail",
        parameters: vec![("side", side), ("ball", size.of(4e4, 5e4)), ("corners", 1.0)],
        seconds: size.of(4.0, 2.0),
        watch: vec![Watch::Lost, Watch::Deepest, ball()],
        stop: Some((Watch::Lost, 0.0)),
        view: Some([[-wide, low, -wide], [wide, 8.5, wide], [0.5, 0.3, 1.0]]),
        change: same,
    };
    let published = "A heavy ball drops on a chain mail, 15 iterations or sub-steps. With sequential impulse it goes \
        through; with XPBD and with VBD contacts at the corners fail, with VBD before the ball touches; AVBD keeps all \
        contacts.";
    let mut figure = Figure::new("figure_12", "Figure 12: a ball on chain mail", published, setting);
    figure.tests = vec![
        Test::below("no ring leaves a neighbour", "rings", 0.5, |of: &Outcome| of.most(&Watch::Lost)),
        Test::below("the ball stays on it", "m below the corners", deepest, |of: &Outcome| {
            5.0 - of.least_from(&ball(), 0.0)
        }),
    ];
    let most = size.of(64, 16);
    figure.rows = vec![
        row(Method::Avbd, 15, Said::Holds, most),
        row(Method::Published, 15, Said::Holds, 0),
        row(Method::Impulse, 15, Said::Fails, size.of(64, 0)),
        row(Method::XpbdSteps, 15, Said::Fails, size.of(64, 0)),
        row(Method::Vbd, 15, Said::Fails, size.of(64, 0)),
        row(Method::SoftStep, 15, Said::Nothing, size.of(64, 0)),
    ];
    figure.note =
        "The paper does not say how heavy the ball is. Here it is hundreds of rings, so much that sequential \
        impulse loses it: with half as much it does not, and with a quarter more AVBD loses a ring of 7 a side, too."
            .to_owned();
    figure.plots = vec![
        plot("Rings that left a neighbour", "", Watch::Lost, 1.0),
        plot("Height of the ball", "m", ball(), 1.0),
        plot("Deepest overlap; rings are 140 mm thick", "mm", Watch::Deepest, 1e3),
    ];
    figure
}
