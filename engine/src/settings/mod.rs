//! Settings of a step as plain values: the solver with its numbers ([`Solver`]), and what every solver needs
//! ([`Settings`]). Nothing here touches a device. `names.rs` sets the same values by name.

mod avbd;
mod names;
mod pairs;

pub(crate) use avbd::MOST_COLD;
pub use avbd::{AvbdSettings, RotationForm, VbdSettings};
pub use pairs::{ImpulseSettings, SoftStepSettings, XpbdSettings};

use crate::glam::Vec3;
use crate::plan::step::{Method, StepOptions};
use crate::world::Features;
use drystone_kernels::state::rigid::{Params, option};

/// How many lanes of the device work on a body in the primal pass. The result is the same to rounding; what is fastest
/// depends on the device. The CPU backend has one lane whatever is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrimalForm {
    /// Chosen by the size of each colour: four lanes a body in a colour too small to fill a GPU, else one. Always one
    /// on drivers that run on the CPU, where four lanes were measured to take three times as long.
    Auto,
    /// The same number of lanes for every body, a power of two up to 64. A subgroup with fewer lanes uses all it has.
    Lanes(u32),
}

impl PrimalForm {
    /// Returns the lanes a body in small colours, and the number of bodies from which on a colour is large and gets
    /// one lane a body.
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
#[non_exhaustive]
pub enum SolveForm {
    /// LDL^T factorisation of the whole 6 x 6 system (AVBD, section 3.5).
    Ldl,
    /// Rotation first, through the Schur complement of the linear block: two systems of three.
    Schur,
}

/// How motion is integrated. Multipliers, stiffness and everything else are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Integration {
    /// Implicit Euler, as published. Always stable, but it damps motion: a pendulum of 1 m keeps a fifth of its
    /// energy over 10 s at 60 steps a second.
    Bdf1,
    /// The backward differentiation formula of second order, for bodies in flight and on joints: the same pendulum
    /// keeps more than 95% of its energy. Bodies near others, steps after a blow (extrapolating it would make bodies
    /// bounce back) and chains under a load much heavier than they are still use implicit Euler. Costs 108 bytes and
    /// two short passes a body. Needs [`RotationForm::Exact`].
    Bdf2,
}

/// Which method solves the step, and its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Solver {
    /// Augmented vertex block descent.
    Avbd(AvbdSettings),
    /// Plain vertex block descent, to compare with.
    Vbd(VbdSettings),
    /// Sequential impulses, to compare with.
    Impulse(ImpulseSettings),
    /// Soft contacts in sub-steps, as Box2D has them, to compare with.
    SoftStep(SoftStepSettings),
    /// Extended position-based dynamics, to compare with.
    Xpbd(XpbdSettings),
}

impl Default for Solver {
    fn default() -> Self {
        Self::Avbd(AvbdSettings::default())
    }
}

impl Solver {
    /// Its name: `avbd`, `vbd`, `impulse`, `soft_step` or `xpbd`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Avbd(_) => "avbd",
            Self::Vbd(_) => "vbd",
            Self::Impulse(_) => "impulse",
            Self::SoftStep(_) => "soft_step",
            Self::Xpbd(_) => "xpbd",
        }
    }

    /// How a step is planned with it.
    fn method(&self) -> Method {
        match self {
            Self::Avbd(_) | Self::Vbd(_) => Method::Descent,
            Self::Impulse(_) => Method::Impulse,
            Self::SoftStep(_) => Method::SoftStep,
            Self::Xpbd(_) => Method::Xpbd,
        }
    }

    /// Whether it goes from one contact or joint to the next, and not from body to body.
    pub(crate) fn is_pairwise(&self) -> bool {
        self.method() != Method::Descent
    }
}

impl From<AvbdSettings> for Solver {
    fn from(settings: AvbdSettings) -> Self {
        Self::Avbd(settings)
    }
}

impl From<VbdSettings> for Solver {
    fn from(settings: VbdSettings) -> Self {
        Self::Vbd(settings)
    }
}

/// Parameters of the step. The struct may grow: start from [`Settings::default`] or [`Settings::paper`] and change
/// fields, in place or with [`Settings::with`].
///
/// ```
/// use drystone::{Settings, VbdSettings};
///
/// let fine = Settings::default().with(|s| s.iterations = 10);
/// let plain = fine.with(|s| s.solver = VbdSettings::default().into());
/// assert_eq!((plain.iterations, plain.solver.name()), (10, "vbd"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The method and its numbers. By name and number: `solver` 0 is [`AvbdSettings::default`], 1
    /// [`VbdSettings::default`], 2 [`AvbdSettings::paper`], 3 [`ImpulseSettings::default`], 4
    /// [`SoftStepSettings::default`], 5 [`XpbdSettings::default`].
    pub solver: Solver,
    /// Primal and dual passes a step. The paper's piles use 4. Information travels by about a body an iteration.
    pub iterations: u32,
    /// Sub-steps of every call of [`crate::Simulation::step`]. When the device chooses their number, this is the
    /// minimum.
    pub substeps: u32,
    /// Most sub-steps of a call when the device chooses their number. It chooses from the forces of contacts and
    /// joints in the last sub-step, so that no body is turned by its forces faster than a sub-step can follow
    /// ("Adaptive Sub-stepping", Eq. 4 to 11). 0, the default, always makes [`substeps`](Self::substeps). All of them
    /// are recorded, and those beyond the chosen number do nothing. Frames that wanted more are counted, see
    /// [`StepReport::short_frames`](crate::StepReport::short_frames).
    pub substeps_most: u32,
    /// How close a sub-step may come to the longest stable one, 0 to 1: alpha of the sub-step criterion, as a ratio
    /// of squared step lengths. The paper's 0.1 gives sub-steps a third as long as the stability limit. Smaller
    /// values take more sub-steps.
    pub stability: f32,
    /// Distance at which contacts are created, as a fraction of the thinner collider's half side, so that resting
    /// contact is not lost between steps. 0.04 was chosen on stacks of plates and boxes; a larger value finds
    /// contacts that are never needed.
    pub margin: f32,
    /// Longest distance by which a collider's box is extended along its motion in a step, in sizes of the collider:
    /// approaching pairs get contacts early, which push only what would overlap at the end of the step. 16, because
    /// the box of a faster body would otherwise overlap the whole scene. 0 finds contacts only where bodies are, as
    /// the paper does.
    pub sweep: f32,
    /// Lowest impact speed that bounces, in units of the speed that gravity adds in a step (g dt, 0.16 m/s at 60 Hz).
    /// 3: slower bodies would fly for fewer than six steps, too few to resolve, and without a threshold a bouncing
    /// body would never come to rest. Without gravity everything bounces.
    pub bounce_threshold: f32,
    /// Number of colours, 1 to 32. Bodies for which no colour is left are solved one after the other, and are
    /// counted.
    pub colours: u32,
    /// Rounds of colouring a step. Colours are kept from step to step, so few are needed.
    pub colour_rounds: u32,
    /// Lanes that work on a body in the primal pass. By name and number: 0 is [`PrimalForm::Auto`].
    pub primal: PrimalForm,
    /// How a body's system is solved. By name and number: 0 is [`SolveForm::Ldl`], 1 [`SolveForm::Schur`].
    pub solve: SolveForm,
    /// How motion is integrated. By name and number: 0 is [`Integration::Bdf1`], 1 [`Integration::Bdf2`].
    pub integration: Integration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            solver: Solver::default(),
            iterations: 4,
            substeps: 1,
            substeps_most: 0,
            stability: 0.1,
            margin: 0.04,
            sweep: 16.0,
            bounce_threshold: 3.0,
            colours: 16,
            colour_rounds: 8,
            primal: PrimalForm::Auto,
            solve: SolveForm::Ldl,
            integration: Integration::Bdf1,
        }
    }
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A value is outside its allowed range.
    #[error("setting {name} is {value}; it must be {must}")]
    Value {
        /// Which.
        name: &'static str,
        /// What it was.
        value: f64,
        /// The allowed values, in words.
        must: &'static str,
    },
    /// The world has something that the solver knows nothing of.
    #[error("solver {solver} has no {what}: take them out of the world, or choose solver avbd (0)")]
    Unsupported {
        /// The solver.
        solver: &'static str,
        /// What the world has.
        what: &'static str,
    },
    /// Sub-steps that the device chooses are common to all worlds.
    #[error(
        "sub-steps are chosen for a whole step, so one world would change the bits of the others: \
         set substeps_most to 0, or step the worlds one by one"
    )]
    CommonSubsteps,
    /// The chosen solver has no setting of that name.
    #[error("there is no setting `{name}` with solver {solver}; there are: {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The solver that is chosen.
        solver: &'static str,
        /// All settings that the chosen solver has.
        known: Vec<&'static str>,
    },
}

impl Settings {
    /// The published scheme: [`AvbdSettings::paper`], and contacts found only where bodies are at the start of a step.
    pub fn paper() -> Self {
        Self::default().published()
    }

    /// These settings with the published scheme: changes what [`Settings::paper`] changes, and keeps iterations and
    /// everything else.
    pub fn published(self) -> Self {
        self.with(|s| (s.solver, s.sweep) = (AvbdSettings::paper().into(), 0.0))
    }

    /// Returns the settings with `change` applied to them.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The numbers of augmented vertex block descent, if that is the solver.
    pub fn avbd(&self) -> Option<&AvbdSettings> {
        match &self.solver {
            Solver::Avbd(a) => Some(a),
            _ => None,
        }
    }

    /// Mutable access to the numbers of augmented vertex block descent, if that is the solver.
    pub fn avbd_mut(&mut self) -> Option<&mut AvbdSettings> {
        match &mut self.solver {
            Solver::Avbd(a) => Some(a),
            _ => None,
        }
    }

    /// Whether the device chooses the sub-steps of every frame.
    pub(crate) fn adapts(&self) -> bool {
        self.substeps_most > 0
    }

    /// Sub-steps that are recorded for a frame.
    pub(crate) fn recorded_substeps(&self) -> u32 {
        self.substeps.max(self.substeps_most)
    }

    /// The parameters that the kernels read in a frame of `frame` seconds; `cold` when the frame starts cold.
    pub(crate) fn params(&self, gravity: Vec3, frame: f32, cold: bool) -> Params {
        let dt = frame / self.substeps as f32;
        let (substeps_least, substeps_most, stability) = (self.substeps, self.recorded_substeps(), self.stability);
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        let common = bit(self.solve == SolveForm::Schur, option::SCHUR);
        let params = match &self.solver {
            Solver::Avbd(a) => a.params(),
            Solver::Vbd(v) => v.params(),
            Solver::Impulse(s) => s.params(),
            Solver::SoftStep(s) => s.params(),
            Solver::Xpbd(s) => s.params(),
        };
        let options = params.options | common;
        let (margin, sweep, bounce) = (self.margin, self.sweep, self.bounce_threshold);
        // Only what is held by stiffness gives way.
        let give = if self.solver.is_pairwise() { 0.0 } else { 1.0 / self.iterations as f32 };
        let ramp_joint = self.avbd().filter(|_| cold).map_or(0.0, |a| a.ramp_cold);
        Params {
            gravity,
            dt,
            margin,
            sweep,
            bounce,
            give,
            ramp_joint,
            options,
            frame,
            stability,
            substeps_least,
            substeps_most,
            ..params
        }
    }

    /// Whether the solver has everything that is in a world, which has these features and perhaps particles.
    pub(crate) fn check_world(&self, features: &Features, soft: bool, several: bool) -> Result<(), SettingsError> {
        if several && self.adapts() {
            return Err(SettingsError::CommonSubsteps);
        }
        let what = match (several, soft, features.surfaces) {
            (true, ..) => "several worlds in one",
            (_, true, _) => "soft bodies",
            (_, _, true) => "surfaces that move, bounce or resist turning",
            _ => return Ok(()),
        };
        let solver = self.solver.name();
        if self.solver.is_pairwise() { Err(SettingsError::Unsupported { solver, what }) } else { Ok(()) }
    }

    /// The options that are built into a plan with these settings; `on_cpu` is set for devices that run on the CPU.
    pub(crate) fn step_options(&self, on_cpu: bool) -> StepOptions {
        let (lanes, large_colour) = self.primal.lanes(on_cpu);
        let avbd = self.avbd();
        StepOptions {
            method: self.solver.method(),
            iterations: self.iterations,
            colours: self.colours,
            colour_rounds: self.colour_rounds,
            swept_colours: u32::MAX,
            swept_rounds: u32::MAX,
            lanes,
            large_colour,
            strict: true,
            stabilise: avbd.is_some_and(|a| a.stabilise),
            dual: !matches!(self.solver, Solver::Vbd(_)),
            momentum: avbd.is_some_and(|a| a.momentum),
            row_stiffness: avbd.is_some_and(|a| a.row_stiffness),
            adaptive: self.adapts(),
            second_order: self.integration == Integration::Bdf2,
            body_poses: false,
            most_pairs: u32::MAX,
            features: Features::default(),
            worlds: 0,
            soft_colours: 0,
        }
    }
}

impl AvbdSettings {
    /// The kernel parameters of this solver; the parameters common to all solvers are left at 0.
    fn params(&self) -> Params {
        let s = self;
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        // Section 6: a separate pass corrects the existing error, so the iterations leave all of it alone, and
        // multipliers contain no correction that would have to fade. Without that pass Eq. 19 applies.
        let (alpha, warm) = if s.stabilise { (1.0, 1.0) } else { (s.alpha, s.alpha * s.gamma) };
        Params {
            gravity: Vec3::ZERO,
            dt: 0.0,
            alpha,
            alpha_tangent: if s.stabilise { s.sticking } else { s.alpha },
            slop: s.slop,
            give: 0.0,
            beta: s.beta,
            warm,
            warm_stiffness: s.gamma,
            k_start: s.k_start,
            k_load: s.k_load,
            k_carried: s.k_carried,
            k_carried_heavy: s.k_carried_heavy,
            k_heavy: s.k_heavy,
            mean_rate: s.mean_rate,
            mean_pull: s.mean_pull,
            mean_range: s.mean_range,
            k_max: s.k_max,
            margin: 0.0,
            sweep: 0.0,
            bounce: 0.0,
            correction: s.correction,
            correction_stabilised: s.correction_stabilised,
            stabilised_overlap: s.stabilised_overlap,
            deep: s.deep,
            rematch: s.rematch,
            anchor_drift: s.anchor_drift,
            quiet: s.quiet,
            free: s.free,
            falling: s.falling,
            held: s.held,
            alpha_joint: s.alpha,
            alpha_light: alpha,
            alpha_stabilised: s.stabilised,
            warm_joint: warm,
            k_joint: s.k_joint,
            k_load_joint: s.k_load_joint,
            k_carried_joint: s.k_carried_joint,
            ramp_joint: 0.0,
            ramp_most: s.ramp_most,
            beta_joint: s.beta_joint,
            correction_joint: s.correction_joint,
            correction_joint_moving: s.correction_joint_moving,
            loaded: s.loaded,
            loaded_range: s.loaded_range,
            taut: s.taut,
            k_spring: s.k_spring,
            k_load_spring: s.k_load_spring,
            beta_spring: s.beta_spring,
            least_share: s.least_share,
            share_reach: s.share_reach,
            near: s.near,
            tie: s.tie,
            largest_turn: s.largest_turn,
            many: s.many,
            options: bit(s.rescale_friction, option::RESCALE)
                | bit(s.row_stiffness, option::ROWS)
                | bit(s.clamped_curvature, option::CURVED)
                | bit(s.rotation == RotationForm::FirstOrder, option::FIRST_ORDER)
                | bit(s.penalty_springs, option::PENALTY_SPRINGS)
                | bit(s.falling_only, option::FALLING_ONLY)
                | bit(s.circling, option::CIRCLING),
            frame: 0.0,
            stability: 0.0,
            substeps_least: 0,
            substeps_most: 0,
            pair_part: 0.0,
            pair_slop: 0.0,
            pair_speed: 0.0,
            pair_hertz: 0.0,
            pair_rate: 0.0,
            pair_damping: 0.0,
            pair_damping_joint: 0.0,
            pair_compliance: 0.0,
        }
    }
}

impl VbdSettings {
    /// What the kernels are told.
    fn params(&self) -> Params {
        let usual = AvbdSettings::default().params();
        Params {
            k_start: self.stiffness,
            k_joint: self.stiffness,
            alpha: self.alpha,
            alpha_tangent: self.alpha * usual.alpha_tangent,
            correction: avbd::UNBOUNDED,
            alpha_joint: 0.0,
            alpha_light: 0.0,
            warm: 0.0,
            warm_joint: 0.0,
            options: usual.options | option::VBD,
            ..usual
        }
    }
}
