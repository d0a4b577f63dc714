//! Energy, momentum, penetration and a hash of all poses, computed from the state in double precision; and what joints
//! pull with and are off by.

mod joints;
mod soft;

pub use joints::{JointMetrics, JointPeak, OfJoints, WorstJoints, joint_errors};
pub use soft::{SoftMetrics, elastic_energy};

use crate::backend::RunnerExt;
use crate::glam::{DQuat, DVec3};
use crate::layout::BodyPose;
use crate::world::BodyHandle;
use crate::{Result, Simulation};
use drystone_kernels::detect::gate::counter;
use drystone_kernels::detect::manifold::{FourPoints, record, word};
use drystone_kernels::manifest::fnv1a;
use drystone_kernels::state::rigid::kind;

/// Quantities of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// Energy of motion, joules.
    pub kinetic_energy: f64,
    /// Energy of height, joules.
    pub potential_energy: f64,
    /// Linear momentum.
    pub momentum: DVec3,
    /// Angular momentum about the origin.
    pub angular_momentum: DVec3,
    /// Deepest overlap of two colliders when contacts were last looked for, metres.
    pub max_penetration: f64,
    /// Mean overlap over all contact points.
    pub mean_penetration: f64,
    /// Contact points.
    pub contacts: u64,
    /// Highest speed of a body's centre of mass.
    pub max_speed: f64,
    /// The body that has it, the first of several; `None` when nothing moves.
    pub fastest: Option<BodyHandle>,
    /// Height of the top level: the highest centre of mass of a body that forces move; minus infinity when there is
    /// none.
    pub top: f64,
    /// Hash of every pose's bytes.
    pub pose_hash: u64,
    /// Bodies that were taken out because their state was not finite.
    pub quarantined: u32,
}

impl Metrics {
    /// Of the simulation as it is.
    pub fn of(simulation: &mut Simulation) -> Result<Self> {
        let gravities = simulation.world().gravities().clone();
        let (b, runner, world) = simulation.inside();
        let bodies = runner.read(b.bodies)?;
        let poses = runner.read(b.poses)?;
        let velocities = runner.read(b.velocities)?;
        let last_steps = runner.read(b.last_steps)?;
        let dt = f64::from(runner.read(b.params)?[0].dt);
        let mut m = Self { top: f64::NEG_INFINITY, ..Self::default() };
        for (index, ((body, pose), velocity)) in bodies.iter().zip(&poses).zip(&velocities).enumerate() {
            if body.is(kind::DISABLED) && world.slot(index as u32).is_some() && world.is_sent(index as u32) {
                m.quarantined += 1;
            }
            if !body.is_dynamic() {
                continue;
            }
            let (mass, inertia) = (f64::from(body.mass), body.inertia.as_dvec3());
            let (v, w) = (velocity.linear.as_dvec3(), velocity.angular.as_dvec3());
            let r = pose.rotation;
            // Velocities are differences over the last step: they belong to its middle, and so does the inertia. Those
            // of second order belong to its end.
            let end = DQuat::from_xyzw(r.x.into(), r.y.into(), r.z.into(), r.s.into()).normalize();
            let at_end = last_steps.get(index).is_some_and(|last| last.used != 0);
            let rotation = if at_end { end } else { DQuat::from_scaled_axis(w * (-0.5 * dt)) * end };
            let position = pose.position.as_dvec3();
            let spin = rotation * (inertia * (rotation.inverse() * w));
            m.kinetic_energy += 0.5 * (mass * v.length_squared() + w.dot(spin));
            m.potential_energy -= mass
                * f64::from(body.gravity_scale)
                * gravities.get(body.world() as usize).map_or(DVec3::ZERO, |g| g.as_dvec3()).dot(position);
            m.momentum += mass * v;
            m.angular_momentum += position.cross(mass * v) + spin;
            if v.length() > m.max_speed {
                (m.max_speed, m.fastest) = (v.length(), world.handle(index as u32));
            }
            m.top = m.top.max(position.y);
        }
        let solved = runner.read(b.counters)?[counter::SOLVED as usize];
        let manifolds = runner.read_first(b.manifolds, u64::from(solved))?;
        let points = runner.read_first(b.points, u64::from(solved) * u64::from(word::COUNT))?;
        let mut sum = 0.0;
        for (manifold, index) in manifolds.iter().zip(0..) {
            let points = FourPoints::load(&points, record(index));
            for k in 0..manifold.count {
                let depth = f64::from(-points.at(k).gap.z).max(0.0);
                m.max_penetration = m.max_penetration.max(depth);
                sum += depth;
                m.contacts += 1;
            }
        }
        m.mean_penetration = if m.contacts > 0 { sum / m.contacts as f64 } else { 0.0 };
        let used = &poses[..poses.len().min(world.slot_count() as usize)];
        m.pose_hash = fnv1a(bytemuck::cast_slice::<_, u8>(used).iter().copied());
        Ok(m)
    }

    /// All mechanical energy.
    pub fn energy(&self) -> f64 {
        self.kinetic_energy + self.potential_energy
    }
}

/// A hash of the poses that are present, with their slots: the same poses have the same, to the bit. For poses as they
/// are drawn; [`Metrics::pose_hash`] is one of the state behind them.
pub fn pose_hash(poses: &[BodyPose]) -> u64 {
    let present = (0u32..).zip(poses).filter(|(_, pose)| pose.present == 1);
    let bytes =
        present.flat_map(|(slot, pose)| slot.to_le_bytes().into_iter().chain(bytemuck::bytes_of(pose).to_vec()));
    fnv1a(bytes)
}

/// A value, and the step after which it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Peak {
    /// The value.
    pub value: f64,
    /// Steps made before it was seen.
    pub step: u64,
}

/// The worst of every metric over time. Feed it the metrics of as many steps as you can afford to read back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Worst {
    seen: bool,
    /// Highest kinetic energy.
    pub kinetic_energy: Peak,
    /// Highest potential energy.
    pub potential_energy: Peak,
    /// Highest sum of both.
    pub energy: Peak,
    /// Greatest length of the momentum.
    pub momentum: Peak,
    /// Greatest length of the angular momentum.
    pub angular_momentum: Peak,
    /// Deepest overlap.
    pub max_penetration: Peak,
    /// Highest mean overlap.
    pub mean_penetration: Peak,
    /// Highest speed.
    pub max_speed: Peak,
    /// The body that had it.
    pub fastest: Option<BodyHandle>,
    /// Lowest height of the top level.
    pub top: Peak,
    /// Most bodies that were out.
    pub quarantined: Peak,
}

impl Worst {
    /// Takes the metrics after `step` steps into account.
    pub fn see(&mut self, step: u64, m: &Metrics) {
        let first = !self.seen;
        self.seen = true;
        let keep = |peak: &mut Peak, value: f64, worse: bool| {
            if first || worse {
                *peak = Peak { value, step };
            }
        };
        if first || m.max_speed > self.max_speed.value {
            self.fastest = m.fastest;
        }
        let highest = |peak: &mut Peak, value: f64| keep(peak, value, value > peak.value);
        highest(&mut self.kinetic_energy, m.kinetic_energy);
        highest(&mut self.potential_energy, m.potential_energy);
        highest(&mut self.energy, m.energy());
        highest(&mut self.momentum, m.momentum.length());
        highest(&mut self.angular_momentum, m.angular_momentum.length());
        highest(&mut self.max_penetration, m.max_penetration);
        highest(&mut self.mean_penetration, m.mean_penetration);
        highest(&mut self.max_speed, m.max_speed);
        highest(&mut self.quarantined, m.quarantined.into());
        let lower = m.top < self.top.value;
        keep(&mut self.top, m.top, lower);
    }

    /// Every one by the name of its field.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, Peak)> + use<> {
        [
            ("kinetic_energy", self.kinetic_energy),
            ("potential_energy", self.potential_energy),
            ("energy", self.energy),
            ("momentum", self.momentum),
            ("angular_momentum", self.angular_momentum),
            ("max_penetration", self.max_penetration),
            ("mean_penetration", self.mean_penetration),
            ("max_speed", self.max_speed),
            ("top", self.top),
            ("quarantined", self.quarantined),
        ]
        .into_iter()
    }
}

/// The least of every energy over time: beside [`Worst`], what was lost. Feed it what that is fed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Least {
    seen: bool,
    /// Lowest kinetic energy.
    pub kinetic_energy: Peak,
    /// Lowest potential energy.
    pub potential_energy: Peak,
    /// Lowest sum of both.
    pub energy: Peak,
}

impl Least {
    /// Takes the metrics after `step` steps into account.
    pub fn see(&mut self, step: u64, m: &Metrics) {
        let first = !std::mem::replace(&mut self.seen, true);
        let lowest = |peak: &mut Peak, value: f64| {
            if first || value < peak.value {
                *peak = Peak { value, step };
            }
        };
        lowest(&mut self.kinetic_energy, m.kinetic_energy);
        lowest(&mut self.potential_energy, m.potential_energy);
        lowest(&mut self.energy, m.energy());
    }

    /// Every one by the name of its field.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, Peak)> + use<> {
        [("kinetic_energy", self.kinetic_energy), ("potential_energy", self.potential_energy), ("energy", self.energy)]
            .into_iter()
    }
}
