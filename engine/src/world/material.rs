//! Rules for combining materials, contact reports, and the features of colliders that decide which passes a step
//! needs.

use super::Collider;
use drystone_kernels::state::material::{rule, traits};

/// How the coefficients of two touching colliders are combined. When the two have different rules, the later one in
/// this list counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
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
    /// The larger one: the default of restitution, so that a bouncing ball bounces on everything.
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

/// Which contact events a collider reports: see [`EventKind::ContactBegin`](crate::EventKind::ContactBegin).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContactReports {
    /// Report a contact when it begins to push.
    pub begin: bool,
    /// Report impulse and point in every step in which a contact keeps pushing. This can be many events.
    pub persist: bool,
    /// Report a contact when it no longer pushes.
    pub end: bool,
}

impl ContactReports {
    /// Reports nothing.
    pub const NONE: Self = Self { begin: false, persist: false, end: false };
    /// Reports beginnings and ends.
    pub const CHANGES: Self = Self { begin: true, persist: false, end: true };
    /// Reports everything.
    pub const ALL: Self = Self { begin: true, persist: true, end: true };

    fn bits(self) -> u32 {
        let bit = |asked: bool, bit: u32| if asked { bit } else { 0 };
        bit(self.begin, traits::TELL_BEGIN) | bit(self.persist, traits::TELL_PERSIST) | bit(self.end, traits::TELL_END)
    }
}

/// Features that any collider of a world uses. A step has passes only for those.
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
    /// Contacts that are reported as events.
    pub reports: bool,
}

impl Features {
    /// Nothing but shapes and friction.
    pub const NONE: Self =
        Self { surfaces: false, rolling: false, bounces: false, sensors: false, curved: false, reports: false };

    /// Adds the features of one more collider.
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
    /// Combination rules, sensor flag and reports, packed into a word as the kernels read it.
    pub(crate) fn traits(&self) -> u32 {
        self.friction_combine.code() << traits::FRICTION
            | self.restitution_combine.code() << traits::RESTITUTION
            | self.friction_combine.code() << traits::ROLLING
            | if self.sensor { traits::SENSOR } else { 0 }
            | self.reports.bits()
    }
}
