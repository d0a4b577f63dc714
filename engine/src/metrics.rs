//! Energy, momentum, penetration and a hash of all poses, computed from the state in double precision.

use crate::backend::RunnerExt;
use crate::glam::{DQuat, DVec3, Quat, Vec3};
use crate::world::joint::{Hold, JointAxis};
use crate::world::{BodyHandle, JointHandle};
use crate::{Result, Simulation};
use drystone_kernels::detect::gate::counter;
use drystone_kernels::detect::manifold::{FourPoints, record, word};
use drystone_kernels::manifest::fnv1a;
use drystone_kernels::state::rigid::kind;
use std::collections::BTreeMap;

/// What a state amounts to.
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
    /// Highest speed of a body.
    pub max_speed: f64,
    /// Height of the top level: the highest centre of mass of a body that forces move; minus infinity when there is none.
    pub top: f64,
    /// Hash of every pose's bytes.
    pub pose_hash: u64,
    /// Bodies that were taken out because their state was not finite.
    pub quarantined: u32,
}

impl Metrics {
    /// Of the simulation as it is.
    pub fn of(simulation: &mut Simulation) -> Result<Self> {
        let gravity = simulation.world().gravity().as_dvec3();
        let (b, runner, world) = simulation.inside();
        let bodies = runner.read(b.bodies)?;
        let poses = runner.read(b.poses)?;
        let velocities = runner.read(b.velocities)?;
        let dt = f64::from(runner.read(b.params)?[0].dt);
        let mut m = Self { top: f64::NEG_INFINITY, ..Self::default() };
        for (index, ((body, pose), velocity)) in bodies.iter().zip(&poses).zip(&velocities).enumerate() {
            if body.kind == kind::DISABLED && world.slot(index as u32).is_some() && world.is_sent(index as u32) {
                m.quarantined += 1;
            }
            if body.kind != kind::DYNAMIC {
                continue;
            }
            let (mass, inertia) = (f64::from(body.mass), body.inertia.as_dvec3());
            let (v, w) = (velocity.linear.as_dvec3(), velocity.angular.as_dvec3());
            let r = pose.rotation;
            // Velocities are differences over the last step: they belong to its middle, and so does the inertia.
            let end = DQuat::from_xyzw(r.x.into(), r.y.into(), r.z.into(), r.s.into()).normalize();
            let rotation = DQuat::from_scaled_axis(w * (-0.5 * dt)) * end;
            let position = pose.position.as_dvec3();
            let spin = rotation * (inertia * (rotation.inverse() * w));
            m.kinetic_energy += 0.5 * (mass * v.length_squared() + w.dot(spin));
            m.potential_energy -= mass * f64::from(body.gravity_scale) * gravity.dot(position);
            m.momentum += mass * v;
            m.angular_momentum += position.cross(mass * v) + spin;
            m.max_speed = m.max_speed.max(v.length());
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

/// How far every joint is from where it holds its bodies: metres over the coordinates along lengths, radians over angles.
/// Limits count beyond them. Joints that are broken are left out.
pub fn joint_errors(simulation: &mut Simulation) -> Result<Vec<(JointHandle, f64, f64)>> {
    let states: BTreeMap<_, _> = simulation.bodies()?.into_iter().collect();
    let world = simulation.world();
    let mut errors = Vec::new();
    for handle in world.joints() {
        let desc = world.joint(handle)?;
        if world.is_broken(handle)? {
            continue;
        }
        let end = |body: Option<BodyHandle>, anchor: Vec3, frame: Quat| {
            let (anchor, frame) = (anchor.as_dvec3(), frame.as_dquat());
            let Some(state) = body.and_then(|b| states.get(&b)) else { return (anchor, frame) };
            let turn = state.rotation.as_dquat();
            (state.position.as_dvec3() + turn * anchor, turn * frame)
        };
        let (point_a, frame_a) = end(Some(desc.body_a), desc.anchor_a, desc.frame_a);
        let (point_b, frame_b) = end(desc.body_b, desc.anchor_b, desc.frame_b);
        let apart = frame_b.inverse() * (point_a - point_b);
        let between = frame_b.inverse() * frame_a;
        let x = between * DVec3::X;
        let twist = 2.0 * (between.x / between.w).atan();
        let (sine, cosine) = (x.y.hypot(x.z), x.x);
        let swing = if sine > 1e-9 { sine.atan2(cosine) / sine } else { 1.0 };
        let values = [apart.x, apart.y, apart.z, twist, -swing * x.z, swing * x.y, apart.length()];
        let off = |axis: JointAxis| {
            let value = values[axis as usize];
            match desc.axes[axis as usize].hold {
                Hold::Free => 0.0,
                Hold::At(at) => value - f64::from(at),
                Hold::Between(low, high) => (value - f64::from(high)).max(0.0) + (f64::from(low) - value).max(0.0),
            }
        };
        let (mut linear, mut angular) = (0.0, 0.0);
        for axis in JointAxis::ALL {
            let square = off(axis) * off(axis);
            match axis {
                JointAxis::Twist | JointAxis::SwingY | JointAxis::SwingZ => angular += square,
                _ => linear += square,
            }
        }
        errors.push((handle, linear.sqrt(), angular.sqrt()));
    }
    Ok(errors)
}

/// A value, and the step after which it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
