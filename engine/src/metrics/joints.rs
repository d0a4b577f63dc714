//! What joints pull with, and how far they are off.

use crate::world::JointHandle;
use crate::{JointState, Result, Simulation};

/// One quantity over all joints of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct OfJoints {
    /// The greatest.
    pub max: f64,
    /// The joint that has it, the first of several; `None` when it is 0 everywhere.
    pub joint: Option<JointHandle>,
    /// The mean over joints that hold.
    pub mean: f64,
}

impl OfJoints {
    /// Of values, the sum of which is over `holding` joints.
    fn of(values: impl Iterator<Item = (JointHandle, f64)>, holding: u32) -> Self {
        let mut found = Self::default();
        for (joint, value) in values {
            found.mean += value / f64::from(holding.max(1));
            if value > found.max {
                (found.max, found.joint) = (value, Some(joint));
            }
        }
        found
    }
}

/// What the joints of a state amount to. Those that are broken hold nothing and are not off; what one broke at counts
/// in the step in which it did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JointMetrics {
    /// Joints that are not broken.
    pub holding: u32,
    /// Joints that are broken.
    pub broken: u32,
    /// Forces in the last step, newtons.
    pub force: OfJoints,
    /// Torques in the last step, newton metres.
    pub torque: OfJoints,
    /// Errors along lengths, metres.
    pub linear_error: OfJoints,
    /// Errors about angles, radians.
    pub angular_error: OfJoints,
}

impl JointMetrics {
    /// Of the simulation as it is.
    pub fn of(simulation: &mut Simulation) -> Result<Self> {
        Ok(Self::of_states(&simulation.joints()?))
    }

    /// Of states that were read: see [`Simulation::joints`].
    pub fn of_states(states: &[(JointHandle, JointState)]) -> Self {
        let broken = states.iter().filter(|(_, s)| s.broken).count() as u32;
        let holding = states.len() as u32 - broken;
        let of = |value: fn(&JointState) -> f64| OfJoints::of(states.iter().map(|(j, s)| (*j, value(s))), holding);
        Self {
            holding,
            broken,
            force: of(|s| s.force.as_dvec3().length()),
            torque: of(|s| s.torque.as_dvec3().length()),
            linear_error: of(|s| s.error.linear),
            angular_error: of(|s| s.error.angular),
        }
    }

    /// Every quantity by the name of its field.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, OfJoints)> + use<> {
        [
            ("force", self.force),
            ("torque", self.torque),
            ("linear_error", self.linear_error),
            ("angular_error", self.angular_error),
        ]
        .into_iter()
    }
}

/// The greatest of a quantity over joints and time, and its mean over both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JointPeak {
    /// The value.
    pub value: f64,
    /// Steps made before it was seen.
    pub step: u64,
    /// The joint that had it; `None` when it was 0 all the time.
    pub joint: Option<JointHandle>,
    /// The mean over all states that were seen of the mean over joints that hold.
    pub mean: f64,
}

/// The worst of every quantity of joints over time. Feed it the metrics of as many steps as you can afford to read
/// back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WorstJoints {
    seen: u64,
    /// Greatest force, newtons.
    pub force: JointPeak,
    /// Greatest torque, newton metres.
    pub torque: JointPeak,
    /// Greatest error along lengths, metres.
    pub linear_error: JointPeak,
    /// Greatest error about angles, radians.
    pub angular_error: JointPeak,
}

impl WorstJoints {
    /// Takes the joints after `step` steps into account.
    pub fn see(&mut self, step: u64, m: &JointMetrics) {
        self.seen += 1;
        let part = 1.0 / self.seen as f64;
        let see = |peak: &mut JointPeak, now: OfJoints| {
            peak.mean += (now.mean - peak.mean) * part;
            if now.max > peak.value {
                (peak.value, peak.step, peak.joint) = (now.max, step, now.joint);
            }
        };
        see(&mut self.force, m.force);
        see(&mut self.torque, m.torque);
        see(&mut self.linear_error, m.linear_error);
        see(&mut self.angular_error, m.angular_error);
    }

    /// Every quantity by the name of its field.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, JointPeak)> + use<> {
        [
            ("force", self.force),
            ("torque", self.torque),
            ("linear_error", self.linear_error),
            ("angular_error", self.angular_error),
        ]
        .into_iter()
    }
}

/// How far every joint is from where it holds its bodies: metres over the coordinates along lengths, radians over
/// angles. Limits count beyond them. Joints that are broken are left out.
pub fn joint_errors(simulation: &mut Simulation) -> Result<Vec<(JointHandle, f64, f64)>> {
    let states = simulation.joints()?.into_iter().filter(|(_, s)| !s.broken);
    Ok(states.map(|(joint, s)| (joint, s.error.linear, s.error.angular)).collect())
}
