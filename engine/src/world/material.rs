//! What surfaces do beyond friction.

use super::Collider;
use drystone_kernels::state::material::{rule, traits};

/// How the coefficients of two colliders that touch become one. When the two have different rules, the later one in this list counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Combine {
    /// The root of their product: the default of friction.
    #[default]
    GeometricMean,
    /// Half of their sum.
    Average,
    /// The smaller one.
    Min,
    /// Their product.
    Multiply,
    /// The larger one: the default of restitution, so that a ball that bounces does so on everything.
    Max,
}

impl Combine {
    /// All of them, in the order of precedence.
    pub const ALL: [Self; 5] = [Self::GeometricMean, Self::Average, Self::Min, Self::Multiply, Self::Max];

    fn code(self) -> u32 {
        match self {
            Self::GeometricMean => rule::GEOMETRIC,
            Self::Average => rule::AVERAGE,
            Self::Min => rule::LEAST,
            Self::Multiply => rule::PRODUCT,
            Self::Max => rule::MOST,
        }
    }
}

/// Which events of its contacts a collider is told of: see [`EventKind::ContactBegin`](crate::EventKind::ContactBegin).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContactReports {
    /// When one begins to push.
    pub begin: bool,
    /// In every step in which one goes on pushing: its impulse, and where. Many, if many bodies ask for it.
    pub persist: bool,
    /// When one no longer pushes.
    pub end: bool,
}

impl ContactReports {
    /// Of none.
    pub const NONE: Self = Self { begin: false, persist: false, end: false };
    /// That they begin and end.
    pub const CHANGES: Self = Self { begin: true, persist: false, end: true };
    /// Of everything.
    pub const ALL: Self = Self { begin: true, persist: true, end: true };

    fn bits(self) -> u32 {
        let bit = |asked: bool, bit: u32| if asked { bit } else { 0 };
        bit(self.begin, traits::TELL_BEGIN) | bit(self.persist, traits::TELL_PERSIST) | bit(self.end, traits::TELL_END)
    }
}

/// What some collider of a world is or does: a step has passes only for what there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Features {
    /// Surfaces that move by themselves, bounce or resist turning.
    pub surfaces: bool,
    /// Surfaces that resist turning.
    pub rolling: bool,
    /// Surfaces that bounce.
    pub bounces: bool,
    /// Colliders that only report what overlaps them.
    pub sensors: bool,
    /// Cylinders and cones.
    pub curved: bool,
    /// Contacts that are told by events.
    pub reports: bool,
}

impl Features {
    /// Nothing but shapes and friction.
    pub const NONE: Self =
        Self { surfaces: false, rolling: false, bounces: false, sensors: false, curved: false, reports: false };

    /// These, and those of one more collider.
    pub(crate) fn with(self, c: &Collider) -> Self {
        let moves = c.surface_velocity.length_squared() > 0.0 || c.surface_spin.length_squared() > 0.0;
        let rolling = self.rolling || c.friction_rolling > 0.0 || c.friction_torsional > 0.0;
        let bounces = self.bounces || c.restitution > 0.0;
        Self {
            surfaces: self.surfaces || moves || rolling || bounces,
            rolling,
            bounces,
            sensors: self.sensors || c.sensor,
            curved: self.curved || c.is_curved(),
            reports: self.reports || c.reports != ContactReports::NONE,
        }
    }
}

impl Collider {
    /// As the kernels have them.
    pub(crate) fn traits(&self) -> u32 {
        self.friction_combine.code() << traits::FRICTION
            | self.restitution_combine.code() << traits::RESTITUTION
            | self.friction_combine.code() << traits::ROLLING
            | if self.sensor { traits::SENSOR } else { 0 }
            | self.reports.bits()
    }
}
