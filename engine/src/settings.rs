//! The solver's parameters: the paper's, with its defaults, in units that fit any scene.

use crate::glam::Vec3;
use crate::plan::step::StepOptions;
use drystone_kernels::state::rigid::{Params, option};

/// How many lanes of the device work on a body in the primal pass. The result is the same to rounding; what is fastest depends
/// on the device. The CPU backend has one lane whatever is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimalForm {
    /// By the size of each colour: four for a body of a colour too small to fill a GPU, else one. On drivers that run on
    /// the CPU always one: measured there, four lanes take three times as long.
    Auto,
    /// So many for all, a power of two up to 64. Subgroups that are narrower take as many as they have.
    Lanes(u32),
}

impl PrimalForm {
    /// Lanes in small colours, and the bodies from which on a colour is large and gets one lane a body.
    pub(crate) fn lanes(self, on_cpu: bool) -> (u32, u32) {
        match self {
            Self::Auto if on_cpu => (1, 0),
            Self::Auto => (4, LARGE_COLOUR),
            Self::Lanes(lanes) => (lanes, u32::MAX),
        }
    }
}

/// Bodies of a colour that keep a GPU busy with one lane each. An estimate: no GPU has been measured.
const LARGE_COLOUR: u32 = 4096;

/// How a body's system of six equations is solved. The result is the same to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolveForm {
    /// LDL^T of the whole (AVBD, section 3.5).
    Ldl,
    /// Rotation first, through the Schur complement of the linear block: two systems of three.
    Schur,
}

/// Which method solves the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Augmented vertex block descent.
    Avbd,
    /// Plain vertex block descent, to compare with: stiffness stays at [`Settings::k_vbd`], or what a spring has, and there
    /// are no multipliers.
    Vbd,
}

/// Parameters of the step.
///
/// Stiffness is counted in *units*: the reduced mass of the two bodies over dt squared. So the same settings serve a scene in
/// millimetres and one with bodies of a million kilograms.
///
/// Those of joints were chosen on chains, pendulums, bridges, ropes and ragdolls. Harder joints stretch less and falsify motion: with
/// few iterations, bodies between them hardly follow gravity.
///
/// `k_start`, `k_load` and `slop` were chosen on columns, stacks, pyramids, piles and card houses at 4 iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Primal and dual passes a step. The paper's piles use 4.
    pub iterations: u32,
    /// Part of last step's error that is left alone, 0 to 1 (Eq. 18; the paper's 0.95).
    pub alpha: f32,
    /// How fast stiffness grows with error within a step (Eq. 12): an error as large as the collider adds this many units
    /// in an iteration. The paper's 10 is in units of its own.
    pub beta: f32,
    /// What is kept of multipliers from step to step, 0 to 1 (Eq. 19; the paper's 0.99), times alpha.
    pub gamma: f32,
    /// Stiffness of a new contact, in units.
    pub k_start: f32,
    /// Highest stiffness, in units (section 4, "Bounding the Dual Variables").
    pub k_max: f32,
    /// Stiffness for the load a contact carries: what a multiplier pushes with, over the collider's size, times this. A load
    /// is held with an error of about a hundredth of the size at 100. Above 200, tall stacks tremble at 4 iterations.
    pub k_load: f32,
    /// Post-stabilisation (section 6): the iterations leave the overlap there is alone, and a pass behind them corrects it
    /// without giving velocity. Multipliers are then kept whole from step to step, so a pile at rest needs no error
    /// to carry its load. `gamma` only matters without it, and `alpha` besides for limits of angles and for joints that carry
    /// thousands of times what their bodies weigh.
    pub stabilise: bool,
    /// Bodies that hang together, and touch nothing that does not move, are also moved as one: few iterations lose momentum otherwise. Not with
    /// [`Method::Vbd`].
    pub momentum: bool,
    /// Overlap that post-stabilisation leaves alone, as a part of the collider's size.
    pub slop: f32,
    /// Distance at which contacts are made, as a part of the thinner collider's half side.
    pub margin: f32,
    /// Colours, 1 to 32. Bodies that need more are solved one after the other, and counted.
    pub colours: u32,
    /// Rounds of colouring a step.
    pub colour_rounds: u32,
    /// Rescales the stiffness of sliding friction (Eq. 14). Without it sliding bodies go a fifth too far at 4 iterations.
    pub rescale_friction: bool,
    /// Steps that a call of [`crate::Simulation::step`] is divided into.
    pub substeps: u32,
    /// Lanes a body in the primal pass. By name and number: 0 is [`PrimalForm::Auto`].
    pub primal: PrimalForm,
    /// How a body's system is solved. By name and number: 0 is [`SolveForm::Ldl`], 1 [`SolveForm::Schur`].
    pub solve: SolveForm,
    /// The method. By name and number: 0 is [`Method::Avbd`], 1 [`Method::Vbd`].
    pub method: Method,
    /// Stiffness of a joint that carries nothing, in units. Springs begin with 2.5.
    pub k_joint: f32,
    /// Stiffness for the load a joint carries: what its multiplier pulls with, as far as that is felt, over its lever or a radian, times this.
    pub k_load_joint: f32,
    /// How fast the stiffness of joints grows with error within a step (Eq. 12): an error as large as the joint's lever, or a
    /// radian, adds this many units in an iteration. Springs (Eq. 16) have a gentler one that is not for setting.
    pub beta_joint: f32,
    /// Stiffness of contacts and joints with [`Method::Vbd`], in units.
    pub k_vbd: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            iterations: 4,
            alpha: 0.95,
            beta: 10.0,
            gamma: 0.99,
            k_start: 1.0,
            k_max: 1e5,
            k_load: 100.0,
            stabilise: true,
            momentum: true,
            slop: 5e-4,
            margin: 0.04,
            colours: 16,
            colour_rounds: 8,
            rescale_friction: true,
            substeps: 1,
            primal: PrimalForm::Auto,
            solve: SolveForm::Ldl,
            method: Method::Avbd,
            k_joint: 1.0,
            k_load_joint: 50.0,
            beta_joint: 1000.0,
            k_vbd: 1e4,
        }
    }
}

/// A setting out of its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("setting {name} is {value}; it must be {must}")]
pub struct SettingsError {
    /// Which.
    pub name: &'static str,
    /// What it was.
    pub value: f64,
    /// What it must be.
    pub must: &'static str,
}

/// Part of a sticking point's drift that is left alone in a step with post-stabilisation.
const STICKING: f32 = 0.99;

/// Part of a joint's error that the pass behind the iterations leaves alone. Ropes that are corrected at once whip.
const STABILISED: f32 = 0.5;

impl Settings {
    /// Sets a value by its name: numbers, and 0 or 1 for switches. `false` when there is no such setting.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        let count = value.clamp(0.0, f64::from(u32::MAX)) as u32;
        match name {
            "iterations" => self.iterations = count,
            "alpha" => self.alpha = value as f32,
            "beta" => self.beta = value as f32,
            "gamma" => self.gamma = value as f32,
            "k_start" => self.k_start = value as f32,
            "k_max" => self.k_max = value as f32,
            "k_load" => self.k_load = value as f32,
            "slop" => self.slop = value as f32,
            "stabilise" => self.stabilise = value != 0.0,
            "momentum" => self.momentum = value != 0.0,
            "margin" => self.margin = value as f32,
            "colours" => self.colours = count,
            "colour_rounds" => self.colour_rounds = count,
            "rescale_friction" => self.rescale_friction = value != 0.0,
            "substeps" => self.substeps = count,
            "primal" => self.primal = if value == 0.0 { PrimalForm::Auto } else { PrimalForm::Lanes(count) },
            "solve" => self.solve = if value == 0.0 { SolveForm::Ldl } else { SolveForm::Schur },
            "method" => self.method = if value == 0.0 { Method::Avbd } else { Method::Vbd },
            "k_joint" => self.k_joint = value as f32,
            "k_load_joint" => self.k_load_joint = value as f32,
            "beta_joint" => self.beta_joint = value as f32,
            "k_vbd" => self.k_vbd = value as f32,
            _ => return false,
        }
        true
    }

    /// Every value by its name, as [`Settings::set`] takes it.
    pub fn named(&self) -> [(&'static str, f64); 22] {
        // Every field, so that a new one cannot be forgotten.
        let Self {
            iterations,
            alpha,
            beta,
            gamma,
            k_start,
            k_max,
            k_load,
            stabilise,
            momentum,
            slop,
            margin,
            colours,
            colour_rounds,
            rescale_friction,
            substeps,
            primal,
            solve,
            method,
            k_joint,
            k_load_joint,
            beta_joint,
            k_vbd,
        } = *self;
        let switch = |on: bool| f64::from(u8::from(on));
        let lanes = match primal {
            PrimalForm::Auto => 0,
            PrimalForm::Lanes(lanes) => lanes,
        };
        [
            ("iterations", iterations.into()),
            ("alpha", alpha.into()),
            ("beta", beta.into()),
            ("gamma", gamma.into()),
            ("k_start", k_start.into()),
            ("k_max", k_max.into()),
            ("k_load", k_load.into()),
            ("stabilise", switch(stabilise)),
            ("momentum", switch(momentum)),
            ("slop", slop.into()),
            ("margin", margin.into()),
            ("colours", colours.into()),
            ("colour_rounds", colour_rounds.into()),
            ("rescale_friction", switch(rescale_friction)),
            ("substeps", substeps.into()),
            ("primal", lanes.into()),
            ("solve", switch(solve == SolveForm::Schur)),
            ("method", switch(method == Method::Vbd)),
            ("k_joint", k_joint.into()),
            ("k_load_joint", k_load_joint.into()),
            ("beta_joint", beta_joint.into()),
            ("k_vbd", k_vbd.into()),
        ]
    }

    /// Checks every value.
    pub fn check(&self) -> Result<(), SettingsError> {
        let lanes = self.primal.lanes(false).0;
        let checks: [(&'static str, f64, bool, &'static str); 17] = [
            ("iterations", f64::from(self.iterations), (1..=1000).contains(&self.iterations), "1 to 1000"),
            ("alpha", f64::from(self.alpha), (0.0..=1.0).contains(&self.alpha), "0 to 1"),
            ("beta", f64::from(self.beta), self.beta >= 0.0 && self.beta.is_finite(), "0 or more"),
            ("gamma", f64::from(self.gamma), (0.0..=1.0).contains(&self.gamma), "0 to 1"),
            ("k_start", f64::from(self.k_start), self.k_start > 0.0 && self.k_start.is_finite(), "above 0"),
            ("k_max", f64::from(self.k_max), self.k_max >= self.k_start && self.k_max.is_finite(), "k_start or more"),
            ("k_load", f64::from(self.k_load), self.k_load >= 0.0 && self.k_load.is_finite(), "0 or more"),
            ("k_joint", f64::from(self.k_joint), self.k_joint > 0.0 && self.k_joint.is_finite(), "above 0"),
            (
                "beta_joint",
                f64::from(self.beta_joint),
                self.beta_joint >= 0.0 && self.beta_joint.is_finite(),
                "0 or more",
            ),
            (
                "k_load_joint",
                f64::from(self.k_load_joint),
                self.k_load_joint >= 0.0 && self.k_load_joint.is_finite(),
                "0 or more",
            ),
            ("k_vbd", f64::from(self.k_vbd), self.k_vbd > 0.0 && self.k_vbd.is_finite(), "above 0"),
            ("slop", f64::from(self.slop), (0.0..=0.1).contains(&self.slop), "0 to 0.1"),
            ("margin", f64::from(self.margin), (0.0..=1.0).contains(&self.margin), "0 to 1"),
            ("colours", f64::from(self.colours), (1..=32).contains(&self.colours), "1 to 32"),
            ("colour_rounds", f64::from(self.colour_rounds), (1..=100).contains(&self.colour_rounds), "1 to 100"),
            ("substeps", f64::from(self.substeps), (1..=1000).contains(&self.substeps), "1 to 1000"),
            ("primal", f64::from(lanes), lanes.is_power_of_two() && lanes <= 64, "a power of two up to 64, or 0"),
        ];
        match checks.into_iter().find(|c| !c.2) {
            Some((name, value, _, must)) => Err(SettingsError { name, value, must }),
            None => Ok(()),
        }
    }

    /// What the kernels are told in a step of `dt` seconds.
    pub(crate) fn params(&self, gravity: Vec3, dt: f32) -> Params {
        let s = self;
        let plain = s.method == Method::Vbd;
        Params {
            gravity,
            dt,
            // Section 6: with a pass of its own for the overlap there is, the iterations leave all of it alone, and multipliers
            // hold no part of its correction that would have to fade.
            alpha: if s.stabilise { 1.0 } else { s.alpha },
            alpha_tangent: if s.stabilise { STICKING } else { s.alpha },
            slop: s.slop,
            beta: s.beta,
            warm: if plain {
                0.0
            } else if s.stabilise {
                1.0
            } else {
                s.alpha * s.gamma
            },
            k_start: if plain { s.k_vbd } else { s.k_start },
            k_load: s.k_load,
            k_max: s.k_max,
            margin: s.margin,
            alpha_joint: if plain { 0.0 } else { s.alpha },
            alpha_light: match (plain, s.stabilise) {
                (true, _) => 0.0,
                (false, true) => 1.0,
                (false, false) => s.alpha,
            },
            alpha_stabilised: STABILISED,
            warm_joint: match (plain, s.stabilise) {
                (true, _) => 0.0,
                (false, true) => 1.0,
                (false, false) => s.alpha * s.gamma,
            },
            beta_joint: s.beta_joint,
            k_load_joint: s.k_load_joint,
            k_joint: if plain { s.k_vbd } else { s.k_joint },
            options: if s.rescale_friction { option::RESCALE } else { 0 }
                | if s.solve == SolveForm::Schur { option::SCHUR } else { 0 }
                | if plain { option::VBD } else { 0 },
        }
    }

    /// What is built into a plan with these settings; `on_cpu` for drivers that run on the CPU.
    pub(crate) fn step_options(&self, on_cpu: bool) -> StepOptions {
        let (lanes, large_colour) = self.primal.lanes(on_cpu);
        StepOptions {
            iterations: self.iterations,
            colours: self.colours,
            colour_rounds: self.colour_rounds,
            lanes,
            large_colour,
            strict: true,
            stabilise: self.stabilise && self.method == Method::Avbd,
            dual: self.method == Method::Avbd,
            momentum: self.momentum,
            body_poses: false,
        }
    }
}
