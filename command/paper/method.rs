//! The methods that are compared, each with settings for a count of iterations or sub-steps.

use drystone::{ImpulseSettings, Settings, SoftStepSettings, VbdSettings, XpbdSettings};

/// A method of the paper, or of today's engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The engine's own settings.
    Avbd,
    /// [`Settings::paper`].
    Published,
    /// With each of [`UNITS`] as stiffness: what is best counts.
    Vbd,
    /// The same, with sub-steps instead of iterations.
    VbdSteps,
    Impulse,
    /// The engine's own, with sub-steps that the device chooses.
    Adaptive,
    /// Sequential impulse with sub-steps that the device chooses.
    ImpulseAdaptive,
    XpbdSteps,
    XpbdIterations,
    SoftStep,
}

/// Stiffness of plain VBD, in units of mass over dt squared. The paper does not tell its own.
pub const UNITS: [f32; 3] = [1e2, 1e3, 1e4];

/// Sub-steps that the device may choose: twice as many as the scenes of "Adaptive Sub-stepping" come to ask for.
pub const MOST_SUBSTEPS: u32 = 30;

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Self::Avbd => "AVBD",
            Self::Published => "AVBD as published",
            Self::Vbd => "VBD",
            Self::VbdSteps => "VBD with sub-steps",
            Self::Impulse => "sequential impulse",
            Self::Adaptive => "AVBD with adaptive sub-steps",
            Self::ImpulseAdaptive => "sequential impulse with adaptive sub-steps",
            Self::XpbdSteps => "XPBD with sub-steps",
            Self::XpbdIterations => "XPBD with iterations",
            Self::SoftStep => "soft step",
        }
    }

    /// What is counted.
    pub fn counts(self) -> &'static str {
        match self {
            Self::VbdSteps | Self::XpbdSteps | Self::SoftStep => "sub-steps",
            _ => "iterations",
        }
    }

    /// Settings with a count; several where a stiffness is to be found.
    pub fn settings(self, count: u32) -> Vec<(String, Settings)> {
        let label = |more: &str| format!("{}{more}, {count} {}", self.name(), self.counts());
        let usual = Settings::default();
        let one = |settings: Settings| vec![(label(""), settings)];
        let vbd = |settings: Settings| {
            let with = |units: f32| {
                // Eq. 7: a penalty on the whole overlap.
                let vbd = VbdSettings::default().with(|v| (v.stiffness, v.alpha) = (units, 0.0));
                (label(&format!(" of {units:e} units")), settings.with(|s| s.solver = vbd.into()))
            };
            UNITS.map(with).to_vec()
        };
        let (iterations, steps) =
            (usual.with(|s| s.iterations = count), usual.with(|s| (s.iterations, s.substeps) = (1, count)));
        match self {
            Self::Avbd => one(iterations),
            Self::Published => one(iterations.published()),
            Self::Vbd => vbd(iterations),
            Self::VbdSteps => vbd(steps),
            Self::Impulse => one(iterations.with(|s| s.solver = ImpulseSettings::default().into())),
            Self::Adaptive => one(iterations.with(|s| s.substeps_most = MOST_SUBSTEPS)),
            Self::ImpulseAdaptive => {
                let impulse = ImpulseSettings::default().into();
                one(iterations.with(|s| (s.solver, s.substeps_most) = (impulse, MOST_SUBSTEPS)))
            }
            Self::XpbdSteps => one(steps.with(|s| s.solver = XpbdSettings::default().into())),
            Self::XpbdIterations => one(iterations.with(|s| s.solver = XpbdSettings::default().into())),
            Self::SoftStep => one(steps.with(|s| s.solver = SoftStepSettings::default().into())),
        }
    }
}
