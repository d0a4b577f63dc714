//! The figures and tables of the two papers, a file a family.

mod cards;
mod chains;
mod contact;
mod mail;
mod parameters;
mod piles;
mod soft;
mod springs;
mod stability;
mod substeps;
mod wall;

use super::case::Watch;
use super::figure::{Figure, Plot, Row, Said};
use super::method::Method;
use drystone::Settings;

/// How large everything is.
pub struct Size {
    /// Small scenes, short times, few counts.
    pub quick: bool,
    /// Bricks of the piles.
    pub bodies: Vec<u32>,
    pub levels: u32,
}

impl Size {
    /// One of two values.
    fn of<T>(&self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
    }

    /// The most iterations or sub-steps that a search tries.
    fn most(&self) -> u32 {
        self.of(128, 32)
    }
}

fn same(settings: Settings) -> Settings {
    settings
}

fn row(method: Method, at: u32, said: Said, most: u32) -> Row {
    Row { method, at, said, most }
}

fn plot(title: &'static str, unit: &'static str, watch: Watch, scale: f64) -> Plot {
    Plot { title, unit, watch, scale, prefix: "" }
}

/// A number as pages have it.
fn text(value: f64) -> String {
    if value.is_finite() { super::super::plot::number(value) } else { "no number".to_owned() }
}

/// All of them, in the order of the papers.
pub fn all(size: &Size) -> Vec<Figure> {
    let mut all = vec![piles::one_ball(size)];
    all.extend([springs::ratio(size), piles::two_balls(size), springs::chain(size), soft::flag(size)]);
    all.extend([cards::cards(size), chains::pendulum(size), chains::errors(size), chains::balls(size)]);
    all.extend([contact::stack(size), contact::friction(size), mail::mail(size), wall::wall(size)]);
    all.extend([soft::ragdolls(size), parameters::sweep(size)]);
    all.extend(size.bodies.iter().map(|bodies| piles::table(size, *bodies)));
    all.extend([substeps::swinging_box(size), substeps::bridge(size), substeps::energy(size), substeps::stack(size)]);
    all.push(stability::sweep(size));
    all
}
