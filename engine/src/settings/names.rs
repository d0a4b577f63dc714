//! Settings by name and number, with the range of each. The command, scene files and parameter sweeps use these
//! names.

use super::{
    AvbdSettings, ImpulseSettings, Integration, PrimalForm, RotationForm, Settings, SettingsError, SoftStepSettings,
    SolveForm, Solver, VbdSettings, XpbdSettings,
};

/// A setting by its name.
struct Field {
    name: &'static str,
    allowed: Allowed,
    /// Reads the value; `None` when the solver has no such setting.
    get: fn(&Settings) -> Option<f64>,
    /// Stores a value that was checked against `allowed`.
    put: fn(&mut Settings, f64),
}

/// The numbers that a setting may be.
enum Allowed {
    /// Finite, and 0 or more.
    NotNegative,
    /// Finite, and above 0.
    Positive,
    /// Between two values, both included; the text states the range for error messages.
    Between(f64, f64, &'static str),
    /// A whole number between two values, both included; the text states the range for error messages.
    Whole(u32, u32, &'static str),
    /// 0 or a power of two up to 64.
    Lanes,
}

const UNIT: Allowed = Allowed::Between(0.0, 1.0, "0 to 1");
const SWITCH: Allowed = Allowed::Whole(0, 1, "0 or 1");

impl Allowed {
    fn has(&self, value: f64) -> bool {
        let whole = value.fract() == 0.0;
        match *self {
            Self::NotNegative => (0.0..=f64::from(f32::MAX)).contains(&value),
            // Compared in single precision, in which the value is stored.
            Self::Positive => value as f32 > 0.0 && value <= f64::from(f32::MAX),
            Self::Between(low, high, _) => (low..=high).contains(&value),
            Self::Whole(low, high, _) => whole && (f64::from(low)..=f64::from(high)).contains(&value),
            Self::Lanes => whole && (0.0..=64.0).contains(&value) && (value == 0.0 || (value as u32).is_power_of_two()),
        }
    }

    fn must(&self) -> &'static str {
        match self {
            Self::NotNegative => "0 or more",
            Self::Positive => "above 0",
            Self::Between(_, _, must) | Self::Whole(_, _, must) => must,
            Self::Lanes => "a power of two up to 64, or 0",
        }
    }
}

/// A field of [`Settings`].
macro_rules! common {
    ($name:ident : $type:ty, $allowed:expr) => {
        Field {
            name: stringify!($name),
            allowed: $allowed,
            get: |s| Some(s.$name.into()),
            put: |s, value| s.$name = value as $type,
        }
    };
}

/// A field of [`AvbdSettings`]: a number or a switch.
macro_rules! avbd {
    ($name:ident, switch) => {
        Field {
            name: stringify!($name),
            allowed: SWITCH,
            get: |s| s.avbd().map(|a| f64::from(u8::from(a.$name))),
            put: |s, value| {
                if let Some(a) = s.avbd_mut() {
                    a.$name = value != 0.0;
                }
            },
        }
    };
    ($name:ident : $type:ty, $allowed:expr) => {
        Field {
            name: stringify!($name),
            allowed: $allowed,
            get: |s| s.avbd().map(|a| a.$name.into()),
            put: |s, value| {
                if let Some(a) = s.avbd_mut() {
                    a.$name = value as $type;
                }
            },
        }
    };
}

/// A number of another solver, by a name of its own.
macro_rules! of_solver {
    ($name:literal, $solver:ident . $field:ident, $allowed:expr) => {
        Field {
            name: $name,
            allowed: $allowed,
            get: |s| match s.solver {
                Solver::$solver(of) => Some(of.$field.into()),
                _ => None,
            },
            put: |s, value| {
                if let Solver::$solver(of) = &mut s.solver {
                    of.$field = value as f32;
                }
            },
        }
    };
}

/// Every setting. The solver comes first, because it decides which others exist.
static FIELDS: &[Field] = &[
    Field {
        name: "solver",
        allowed: Allowed::Whole(
            0,
            5,
            "0 (avbd), 1 (vbd), 2 (avbd as published), 3 (impulse), 4 (soft step) or 5 (xpbd)",
        ),
        get: |s| {
            Some(match s.solver {
                Solver::Avbd(_) => 0.0,
                Solver::Vbd(_) => 1.0,
                Solver::Impulse(_) => 3.0,
                Solver::SoftStep(_) => 4.0,
                Solver::Xpbd(_) => 5.0,
            })
        },
        put: |s, value| {
            s.solver = match value as u32 {
                0 => AvbdSettings::default().into(),
                1 => VbdSettings::default().into(),
                2 => AvbdSettings::paper().into(),
                3 => ImpulseSettings::default().into(),
                4 => SoftStepSettings::default().into(),
                _ => XpbdSettings::default().into(),
            }
        },
    },
    common!(iterations: u32, Allowed::Whole(1, 1000, "a whole number from 1 to 1000")),
    common!(substeps: u32, Allowed::Whole(1, 1000, "a whole number from 1 to 1000")),
    common!(substeps_most: u32, Allowed::Whole(0, 1000, "a whole number from 0 to 1000")),
    common!(stability: f32, Allowed::Between(1e-6, 1.0, "1e-6 to 1")),
    common!(margin: f32, UNIT),
    common!(sweep: f32, Allowed::NotNegative),
    common!(bounce_threshold: f32, Allowed::NotNegative),
    common!(colours: u32, Allowed::Whole(1, 32, "a whole number from 1 to 32")),
    common!(colour_rounds: u32, Allowed::Whole(1, 100, "a whole number from 1 to 100")),
    Field {
        name: "primal",
        allowed: Allowed::Lanes,
        get: |s| {
            Some(match s.primal {
                PrimalForm::Auto => 0.0,
                PrimalForm::Lanes(lanes) => lanes.into(),
            })
        },
        put: |s, value| s.primal = if value == 0.0 { PrimalForm::Auto } else { PrimalForm::Lanes(value as u32) },
    },
    Field {
        name: "solve",
        allowed: SWITCH,
        get: |s| Some(f64::from(u8::from(s.solve == SolveForm::Schur))),
        put: |s, value| s.solve = if value == 0.0 { SolveForm::Ldl } else { SolveForm::Schur },
    },
    Field {
        name: "integration",
        allowed: Allowed::Whole(0, 1, "0 (bdf1) or 1 (bdf2)"),
        get: |s| Some(f64::from(u8::from(s.integration == Integration::Bdf2))),
        put: |s, value| s.integration = if value == 0.0 { Integration::Bdf1 } else { Integration::Bdf2 },
    },
    avbd!(alpha: f32, UNIT),
    avbd!(beta: f32, Allowed::NotNegative),
    avbd!(gamma: f32, UNIT),
    avbd!(k_start: f32, Allowed::Positive),
    avbd!(k_max: f32, Allowed::Positive),
    avbd!(k_load: f32, Allowed::NotNegative),
    avbd!(k_heavy: f32, Allowed::Positive),
    avbd!(k_carried: f32, Allowed::NotNegative),
    avbd!(k_carried_heavy: f32, Allowed::NotNegative),
    avbd!(mean_rate: f32, Allowed::NotNegative),
    avbd!(mean_pull: f32, UNIT),
    avbd!(mean_range: f32, Allowed::Positive),
    avbd!(row_stiffness, switch),
    avbd!(clamped_curvature, switch),
    avbd!(rescale_friction, switch),
    avbd!(stabilise, switch),
    avbd!(momentum, switch),
    Field {
        name: "rotation",
        allowed: Allowed::Whole(0, 1, "0 (exact) or 1 (first order)"),
        get: |s| s.avbd().map(|a| f64::from(u8::from(a.rotation == RotationForm::FirstOrder))),
        put: |s, value| {
            if let Some(a) = s.avbd_mut() {
                a.rotation = if value == 0.0 { RotationForm::Exact } else { RotationForm::FirstOrder };
            }
        },
    },
    avbd!(slop: f32, Allowed::Between(0.0, 0.1, "0 to 0.1")),
    avbd!(sticking: f32, UNIT),
    avbd!(correction: f32, Allowed::NotNegative),
    avbd!(correction_stabilised: f32, Allowed::NotNegative),
    avbd!(stabilised_overlap: f32, UNIT),
    avbd!(deep: f32, Allowed::NotNegative),
    avbd!(rematch: f32, Allowed::NotNegative),
    avbd!(anchor_drift: f32, Allowed::NotNegative),
    avbd!(quiet: f32, UNIT),
    avbd!(free: f32, Allowed::Positive),
    avbd!(falling_only, switch),
    avbd!(circling, switch),
    avbd!(falling: f32, Allowed::NotNegative),
    avbd!(held: f32, Allowed::Positive),
    avbd!(k_joint: f32, Allowed::Positive),
    avbd!(k_load_joint: f32, Allowed::NotNegative),
    avbd!(k_carried_joint: f32, Allowed::NotNegative),
    avbd!(ramp_cold: f32, Allowed::NotNegative),
    avbd!(ramp_most: f32, Allowed::Positive),
    avbd!(beta_joint: f32, Allowed::NotNegative),
    avbd!(stabilised: f32, UNIT),
    avbd!(correction_joint: f32, Allowed::NotNegative),
    avbd!(correction_joint_moving: f32, Allowed::NotNegative),
    avbd!(loaded: f32, Allowed::Positive),
    avbd!(loaded_range: f32, Allowed::Positive),
    avbd!(taut: f32, UNIT),
    avbd!(k_spring: f32, Allowed::Positive),
    avbd!(k_load_spring: f32, Allowed::NotNegative),
    avbd!(beta_spring: f32, Allowed::NotNegative),
    avbd!(penalty_springs, switch),
    avbd!(least_share: f32, UNIT),
    avbd!(share_reach: f32, Allowed::NotNegative),
    avbd!(near: f32, Allowed::NotNegative),
    avbd!(tie: f32, Allowed::NotNegative),
    avbd!(largest_turn: f32, Allowed::Between(0.0, 3.0, "0 to 3")),
    avbd!(cold_iterations: u32, Allowed::Whole(0, 1000, "a whole number from 0 to 1000")),
    avbd!(cold_reach: u32, Allowed::Whole(0, 1000, "a whole number from 0 to 1000")),
    avbd!(many: u32, Allowed::Whole(0, 1 << 24, "a whole number from 0 to 16777216")),
    of_solver!("k_vbd", Vbd.stiffness, Allowed::Positive),
    of_solver!("alpha_vbd", Vbd.alpha, UNIT),
    of_solver!("baumgarte", Impulse.baumgarte, UNIT),
    of_solver!("slop_impulse", Impulse.slop, Allowed::NotNegative),
    of_solver!("speed_impulse", Impulse.speed, Allowed::NotNegative),
    of_solver!("hertz", SoftStep.hertz, Allowed::Positive),
    of_solver!("hertz_rate", SoftStep.rate, Allowed::Positive),
    of_solver!("damping_contact", SoftStep.damping, Allowed::NotNegative),
    of_solver!("damping_joint", SoftStep.damping_joint, Allowed::NotNegative),
    of_solver!("speed_soft", SoftStep.speed, Allowed::NotNegative),
    of_solver!("compliance", Xpbd.compliance, Allowed::NotNegative),
];

impl Settings {
    /// Sets one value by its name; switches take 0 or 1. Setting `solver` resets the solver's numbers to their
    /// defaults, so it must come before them; [`Settings::set_all`] takes care of that. On an error nothing is
    /// changed.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), SettingsError> {
        let unknown = || SettingsError::Unknown {
            name: name.to_owned(),
            solver: self.solver.name(),
            known: self.named().map(|(name, _)| name).collect(),
        };
        let field = FIELDS.iter().find(|f| f.name == name && (f.get)(self).is_some()).ok_or_else(unknown)?;
        if !field.allowed.has(value) {
            return Err(SettingsError::Value { name: field.name, value, must: field.allowed.must() });
        }
        (field.put)(self, value);
        Ok(())
    }

    /// Sets values by their names; `solver` is applied first, wherever it stands. Stops at the first error; the
    /// values before it stay set.
    pub fn set_all<'a>(&mut self, values: impl IntoIterator<Item = (&'a str, f64)>) -> Result<(), SettingsError> {
        let (solver, others): (Vec<_>, Vec<_>) = values.into_iter().partition(|(name, _)| *name == "solver");
        solver.into_iter().chain(others).try_for_each(|(name, value)| self.set(name, value))
    }

    /// Whether there is a setting of that name, with any solver.
    pub fn knows(name: &str) -> bool {
        FIELDS.iter().any(|f| f.name == name)
    }

    /// Every value by its name, as [`Settings::set_all`] takes it: those that all solvers need, and those of this one.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        FIELDS.iter().filter_map(|f| (f.get)(self).map(|value| (f.name, value)))
    }

    /// The allowed values of a setting, in words; `None` when there is no setting of that name.
    pub fn allowed(name: &str) -> Option<&'static str> {
        FIELDS.iter().find(|f| f.name == name).map(|f| f.allowed.must())
    }

    /// Checks the range of every value, and the values that depend on each other. Returns the first violation.
    pub fn check(&self) -> Result<(), SettingsError> {
        for field in FIELDS {
            if let Some(value) = (field.get)(self).filter(|value| !field.allowed.has(*value)) {
                return Err(SettingsError::Value { name: field.name, value, must: field.allowed.must() });
            }
        }
        // By number, 0 lanes means `Auto`; `Lanes(0)` itself is invalid.
        if self.primal == PrimalForm::Lanes(0) {
            return Err(SettingsError::Value { name: "primal", value: 0.0, must: Allowed::Lanes.must() });
        }
        if self.adapts() && self.substeps_most < self.substeps {
            let value = self.substeps_most.into();
            return Err(SettingsError::Value { name: "substeps_most", value, must: "0, or substeps or more" });
        }
        if self.integration == Integration::Bdf2 && self.solver.is_pairwise() {
            return Err(SettingsError::Value { name: "integration", value: 1.0, must: "0 with solvers 3, 4 and 5" });
        }
        let Some(a) = self.avbd() else { return Ok(()) };
        if self.integration == Integration::Bdf2 && a.rotation == RotationForm::FirstOrder {
            return Err(SettingsError::Value { name: "integration", value: 1.0, must: "0 with rotation 1" });
        }
        let together = [
            ("k_max", a.k_max, a.k_max >= a.k_start, "k_start or more"),
            ("free", a.free, a.free > a.quiet, "more than quiet"),
            ("held", a.held, a.held > a.falling, "more than falling"),
            ("loaded_range", a.loaded_range, a.loaded_range > 1.0, "above 1"),
        ];
        match together.into_iter().find(|t| !t.2) {
            Some((name, value, _, must)) => Err(SettingsError::Value { name, value: value.into(), must }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields of a struct, as `Debug` shows them.
    fn fields(shown: &str) -> usize {
        shown.matches(": ").count()
    }

    #[test]
    fn every_field_has_a_name() {
        let all = Settings::default();
        let avbd = fields(&format!("{:?}", AvbdSettings::default()));
        // The solver is one of the fields around it.
        let others = fields(&format!("{all:?}")) - avbd;
        assert_eq!(all.named().count(), others + avbd);
        let plain = all.with(|s| s.solver = VbdSettings::default().into());
        assert_eq!(plain.named().count(), others + fields(&format!("{:?}", VbdSettings::default())));
        for (number, shown) in [
            (3.0, format!("{:?}", ImpulseSettings::default())),
            (4.0, format!("{:?}", SoftStepSettings::default())),
            (5.0, format!("{:?}", XpbdSettings::default())),
        ] {
            let settings = all.with(|s| s.set("solver", number).unwrap());
            assert_eq!(settings.named().count(), others + fields(&shown), "{shown}");
        }
    }

    #[test]
    fn what_is_named_can_be_set_again() {
        let solver = |number: f64| Settings::default().with(|s| s.set("solver", number).unwrap());
        let others = [1.0, 3.0, 4.0, 5.0].map(solver);
        for settings in [Settings::default(), Settings::paper()].into_iter().chain(others) {
            settings.check().unwrap();
            let mut back = Settings::default();
            // In any order.
            let mut values: Vec<_> = settings.named().collect();
            values.reverse();
            back.set_all(values).unwrap();
            assert_eq!(back, settings);
        }
    }

    #[test]
    fn what_is_not_allowed_changes_nothing() {
        let usual = Settings::default();
        let mut settings = usual;
        for (name, value) in [
            ("iterations", 0.0),
            ("iterations", 2.5),
            ("iterations", f64::NAN),
            ("alpha", 1.1),
            ("stabilise", 2.0),
            ("primal", 3.0),
            ("k_start", 0.0),
            ("k_start", 1e-60),
            ("beta", f64::INFINITY),
            ("solver", 6.0),
        ] {
            let error = settings.set(name, value).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("must be"), "{error}");
        }
        let error = settings.set("k_vbd", 1.0).unwrap_err().to_string();
        assert!(error.contains("`k_vbd` with solver avbd") && error.contains("k_load"), "{error}");
        assert_eq!(settings, usual);
    }
}
