//! A world that moves: the convenient way to run it, with buffers that grow by themselves. It waits for every step.

use crate::backend::{Device, DeviceInfo, MemoryUse, RunTimes, Runner, RunnerExt, Write};
use crate::glam::{Quat, Vec3};
use crate::joints;
use crate::plan::Buffer;
use crate::plan::step::{Capacities, StepBuffers, StepPlan};
use crate::upload::{Batch, BodyRecord, collider_record, from_device};
use crate::world::{BodyHandle, Hull, JointHandle, World, unit_box};
use crate::{Error, Result, Settings};
use bytemuck::Pod;
use drystone_kernels::detect::gate::counter;
use drystone_kernels::state::rigid::{self, NONE, Params, kind};
use std::sync::atomic::{AtomicU64, Ordering};

/// Position, rotation and velocities of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Of its origin.
    pub position: Vec3,
    /// From body space to world space.
    pub rotation: Quat,
    /// Of its centre of mass.
    pub linear_velocity: Vec3,
    /// In world space.
    pub angular_velocity: Vec3,
    /// False when its state was not finite and it was taken out.
    pub enabled: bool,
}

/// What a joint does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointState {
    /// Force on body a at its point in the last step, in world space. Body b gets the opposite.
    pub force: Vec3,
    /// Torque on body a of rows about angles, in world space.
    pub torque: Vec3,
    /// Whether it is broken.
    pub broken: bool,
}

/// Something that happened in a step and that a user may want to know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The step, counted from 0, sub-steps included.
    pub step: u64,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// A body's state was not finite: it was put back to where it was before, and takes no further part.
    Quarantined {
        /// The body.
        body: BodyHandle,
    },
    /// A list was too short and was made longer.
    Grown {
        /// Which: a field of [`Capacities`].
        list: &'static str,
        /// Its length before.
        from: u32,
        /// Its length now.
        to: u32,
    },
    /// For the first time, bodies found no colour and were solved in turn.
    Fallback {
        /// How many.
        bodies: u32,
    },
    /// A joint broke: it does nothing from the next step on.
    Broken {
        /// The joint.
        joint: JointHandle,
        /// The force it had to bear, newtons.
        force: f32,
        /// The torque, newton metres.
        torque: f32,
    },
}

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Pairs of overlapping boxes.
    pub pairs: u32,
    /// Pairs that touch.
    pub manifolds: u32,
    /// Bodies that found no colour and were solved in turn.
    pub fallback_bodies: u32,
    /// How often a list of pairs or manifolds overflowed, was made longer, and the step repeated.
    pub grown: u32,
    /// What else happened.
    pub events: Vec<Event>,
    /// Time of every pass, over all sub-steps.
    pub times: Vec<RunTimes>,
}

/// A world on a device.
pub struct Simulation {
    world: World,
    settings: Settings,
    device: Device,
    plan: StepPlan,
    runner: Box<dyn Runner>,
    params: Option<Params>,
    steps: u64,
    quarantined: Vec<BodyHandle>,
    fell_back: bool,
    memory_limit: Option<u64>,
    generation: u64,
}

/// Room beyond what is needed, so that a list does not grow every step.
fn with_reserve(needed: u32) -> u32 {
    needed.saturating_add(needed / 32).saturating_add(64)
}

fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Simulation {
    /// Brings a world onto a device.
    pub fn new(world: World, settings: Settings, device: Device) -> Result<Self> {
        let (bodies, colliders) = (world.slot_count().max(1), world.collider_slots().max(1));
        let capacities = Capacities {
            bodies,
            colliders,
            pairs: with_reserve(colliders.saturating_mul(2)),
            manifolds: with_reserve(bodies),
            edits: bodies,
            hulls: world.hulls().slot_count(),
            hull_edges: world.hulls().end(),
            joints: world.joint_store().slot_count(),
            joint_rows: world.joint_store().row_count(),
        };
        Self::with_capacities(world, settings, device, capacities)
    }

    /// The same with room for so much at first. It grows when it is not enough, with the same results.
    pub fn with_capacities(
        world: World,
        settings: Settings,
        device: Device,
        mut capacities: Capacities,
    ) -> Result<Self> {
        settings.check()?;
        capacities.bodies = capacities.bodies.max(world.slot_count()).max(1);
        capacities.colliders = capacities.colliders.max(world.collider_slots()).max(1);
        capacities.pairs = capacities.pairs.max(1);
        capacities.manifolds = capacities.manifolds.max(1);
        capacities.edits = capacities.edits.max(1);
        capacities.hulls = capacities.hulls.max(world.hulls().slot_count());
        capacities.hull_edges = capacities.hull_edges.max(world.hulls().end());
        capacities.joints = capacities.joints.max(world.joint_store().slot_count());
        capacities.joint_rows = capacities.joint_rows.max(world.joint_store().row_count());
        let plan = StepPlan::new(capacities, settings.step_options(device.is_cpu()))?;
        let runner = device.runner(plan.recording.clone())?;
        let mut simulation = Self {
            world,
            settings,
            device,
            plan,
            runner,
            params: None,
            steps: 0,
            quarantined: Vec::new(),
            fell_back: false,
            memory_limit: None,
            generation: next_generation(),
        };
        simulation.upload(0, 0)?;
        joints::send(&mut simulation.world, &simulation.plan, &mut *simulation.runner, true)?;
        Ok(simulation)
    }

    /// The world, to be read or changed between steps.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to be changed between steps.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What runs the kernels.
    pub fn device(&self) -> &DeviceInfo {
        self.runner.device()
    }

    /// Memory by buffer of the step. What was attached to the runner is not counted.
    pub fn memory(&self) -> Vec<MemoryUse> {
        let mut memory = self.runner.memory();
        memory.truncate(self.plan.recording.buffers().len());
        memory
    }

    /// Lets buffers grow to so many bytes together and no further. A step that needs more gives [`Error::MemoryLimit`] and is not
    /// made; the world can be changed and stepped on.
    pub fn limit_memory(&mut self, bytes: Option<u64>) {
        self.memory_limit = bytes;
    }

    /// The plan of a step, to be printed or looked at.
    pub fn plan(&self) -> &StepPlan {
        &self.plan
    }

    /// Steps made, sub-steps included.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Changes when buffers have grown: what was attached to [`Simulation::runner`] before is gone then. No two
    /// simulations of a process have the same.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Moves the world on by `dt` seconds. 0 does nothing.
    pub fn step(&mut self, dt: f32) -> Result<StepReport> {
        if !(0.0..=1.0).contains(&dt) {
            return Err(Error::TimeStep(dt));
        }
        let mut report = StepReport::default();
        if dt == 0.0 {
            return Ok(report);
        }
        self.send_edits(dt, &mut report)?;
        for _ in 0..self.settings.substeps {
            self.substep(&mut report)?;
        }
        Ok(report)
    }

    fn substep(&mut self, report: &mut StepReport) -> Result<()> {
        loop {
            let times = self.runner.run()?;
            let counters = self.runner.read(self.plan.buffers.counters)?;
            let overflow = self.runner.read(self.plan.buffers.overflow)?[0];
            let (pairs, manifolds) = (counters[counter::PAIRS as usize], counters[counter::MANIFOLDS as usize]);
            if overflow == 0 {
                report.pairs = pairs;
                report.manifolds = manifolds;
                report.fallback_bodies = counters[counter::FALLBACK as usize];
                report.times.push(times);
                if report.fallback_bodies > 0 && !self.fell_back {
                    self.fell_back = true;
                    self.note(report, EventKind::Fallback { bodies: report.fallback_bodies });
                }
                if counters[counter::QUARANTINED as usize] != 0 {
                    self.find_quarantined(report)?;
                }
                if counters[counter::BROKEN as usize] != 0 {
                    self.find_broken(report)?;
                }
                self.steps += 1;
                return Ok(());
            }
            // The step was not made. Manifolds are only counted among the pairs that fitted, so this may happen twice.
            let now = self.plan.capacities;
            report.grown += 1;
            let grown = Capacities {
                pairs: if pairs > now.pairs { with_reserve(pairs) } else { now.pairs },
                manifolds: if manifolds > now.manifolds { with_reserve(manifolds) } else { now.manifolds },
                ..now
            };
            self.rebuild(grown, report)?;
        }
    }

    fn note(&self, report: &mut StepReport, kind: EventKind) {
        report.events.push(Event { step: self.steps, kind });
    }

    /// Which bodies were taken out in the last step.
    fn find_quarantined(&mut self, report: &mut StepReport) -> Result<()> {
        let bodies = self.runner.read(self.plan.buffers.bodies)?;
        let out = |h: &BodyHandle| bodies.get(h.index() as usize).is_some_and(|b| b.kind == kind::DISABLED);
        let new: Vec<_> = self.world.handles().filter(|h| out(h) && !self.quarantined.contains(h)).collect();
        for &body in &new {
            self.note(report, EventKind::Quarantined { body });
        }
        self.quarantined.extend(new);
        Ok(())
    }

    /// Which joints broke in the last step.
    fn find_broken(&mut self, report: &mut StepReport) -> Result<()> {
        for (slot, pull) in joints::broken(&self.world, &self.plan, &mut *self.runner)? {
            self.world.joint_broke(slot);
            if let Some(joint) = self.world.joint_store().handle(slot) {
                let (force, torque) = (pull.force.length(), pull.torque.length());
                self.note(report, EventKind::Broken { joint, force, torque });
            }
        }
        Ok(())
    }

    /// A new plan with other capacities, and the state of the old one in it. On failure the old one stays.
    fn rebuild(&mut self, capacities: Capacities, report: &mut StepReport) -> Result<()> {
        let plan = StepPlan::new(capacities, self.settings.step_options(self.device.is_cpu()))?;
        let needed = plan.recording.buffers().iter().map(|b| b.size()).sum();
        if let Some(limit) = self.memory_limit.filter(|limit| needed > *limit) {
            return Err(Error::MemoryLimit { needed, limit });
        }
        let mut runner = self.device.runner(plan.recording.clone())?;
        let (from, to) = (self.plan.buffers, plan.buffers);
        let old = &mut *self.runner;
        carry(old, from.params, &mut *runner, to.params)?;
        carry(old, from.bodies, &mut *runner, to.bodies)?;
        carry(old, from.poses, &mut *runner, to.poses)?;
        carry(old, from.starts, &mut *runner, to.starts)?;
        carry(old, from.velocities, &mut *runner, to.velocities)?;
        carry(old, from.previous, &mut *runner, to.previous)?;
        carry(old, from.forces, &mut *runner, to.forces)?;
        carry(old, from.colliders, &mut *runner, to.colliders)?;
        carry(old, from.counters, &mut *runner, to.counters)?;
        carry(old, from.colours, &mut *runner, to.colours)?;
        carry(old, from.rows, &mut *runner, to.rows)?;
        carry(old, from.entries, &mut *runner, to.entries)?;
        carry(old, from.cached_pairs, &mut *runner, to.cached_pairs)?;
        carry(old, from.cached_points, &mut *runner, to.cached_points)?;
        carry(old, from.cached_stiffness, &mut *runner, to.cached_stiffness)?;
        carry(old, from.joints.joints, &mut *runner, to.joints.joints)?;
        carry(old, from.joints.rows, &mut *runner, to.joints.rows)?;
        carry(old, from.joints.states, &mut *runner, to.joints.states)?;
        carry(old, from.joints.forces, &mut *runner, to.joints.forces)?;
        let before = std::mem::replace(&mut self.plan, plan).capacities;
        self.runner = runner;
        self.generation = next_generation();
        for (list, from, to) in [
            ("bodies", before.bodies, capacities.bodies),
            ("colliders", before.colliders, capacities.colliders),
            ("pairs", before.pairs, capacities.pairs),
            ("manifolds", before.manifolds, capacities.manifolds),
            ("edits", before.edits, capacities.edits),
            ("hulls", before.hulls, capacities.hulls),
            ("joints", before.joints, capacities.joints),
        ] {
            if to > from {
                self.note(report, EventKind::Grown { list, from, to });
            }
        }
        // The list of every body's joints begins with as many places as there is room for bodies.
        self.world.joint_store_mut().relink(before.joints..capacities.joints);
        self.upload(before.bodies, before.colliders)?;
        joints::send(&mut self.world, &self.plan, &mut *self.runner, false)
    }

    /// Writes everything from body slot `first` and collider slot `first_collider` on.
    fn upload(&mut self, first: u32, first_collider: u32) -> Result<()> {
        let Capacities { bodies, colliders, .. } = self.plan.capacities;
        let b = self.plan.buffers;
        let records: Vec<_> = (first..bodies).map(|i| BodyRecord::new(&self.world, i)).collect();
        let body: Vec<_> = records.iter().map(|r| r.body).collect();
        let poses: Vec<_> = records.iter().map(|r| r.pose).collect();
        let velocities: Vec<_> = records.iter().map(|r| r.velocity).collect();
        let linear: Vec<_> = records.iter().map(|r| r.velocity.linear).collect();
        let forces: Vec<_> = records.iter().map(|r| r.force).collect();
        let colours = vec![NONE; records.len()];
        let list: Vec<_> = (first_collider..colliders).map(|slot| collider_record(&self.world, slot)).collect();
        let from = u64::from(first);
        self.runner.write_batch(&[
            Write::new(b.bodies, from, &body),
            Write::new(b.poses, from, &poses),
            Write::new(b.starts, from, &poses),
            Write::new(b.velocities, from, &velocities),
            Write::new(b.previous, from, &linear),
            Write::new(b.forces, from, &forces),
            Write::new(b.colours, from, &colours),
            Write::new(b.colliders, first_collider.into(), &list),
        ])?;
        // The first hull is the box as which boxes meet hulls.
        self.write_hull(0, 0, &unit_box()?)?;
        for slot in 0..self.world.hulls().slot_count() {
            self.upload_hull(slot)?;
        }
        self.world.uploaded(first, first_collider);
        Ok(())
    }

    fn upload_hull(&mut self, slot: u32) -> Result<()> {
        let Some(entry) = self.world.hulls().entry(slot) else { return Ok(()) };
        let (first, hull) = (entry.first, entry.hull.clone());
        self.write_hull(slot + 1, first, &hull)
    }

    fn write_hull(&mut self, index: u32, first: u32, hull: &Hull) -> Result<()> {
        let b = self.plan.buffers.hulls;
        let counts = [hull.vertices.len(), hull.faces.len(), hull.edges.len()].map(|n| n as u32);
        let inner = hull.faces.iter().map(|f| f.offset).fold(f32::MAX, f32::min);
        let record = [rigid::Hull { first, vertices: counts[0], faces: counts[1], edges: counts[2], inner }];
        let at = u64::from(first);
        self.runner.write_batch(&[
            Write::new(b.hulls, index.into(), &record),
            Write::new(b.vertices, at, &hull.vertices),
            Write::new(b.faces, at, &hull.faces),
            Write::new(b.loops, 2 * at, &hull.loops),
            Write::new(b.edges, at, &hull.edges),
        ])?;
        Ok(())
    }

    /// Brings what was said since the last step to the device, in one upload. Until it is there, nothing of it is forgotten.
    fn send_edits(&mut self, dt: f32, report: &mut StepReport) -> Result<()> {
        let now = self.plan.capacities;
        let grown = |needed: u32, now: u32| if needed > now { with_reserve(needed) } else { now };
        let bodies = grown(self.world.slot_count(), now.bodies);
        let room = Capacities {
            bodies,
            colliders: grown(self.world.collider_slots(), now.colliders),
            hulls: grown(self.world.hulls().slot_count(), now.hulls),
            hull_edges: grown(self.world.hulls().end(), now.hull_edges),
            joints: grown(self.world.joint_store().slot_count(), now.joints),
            joint_rows: grown(self.world.joint_store().row_count(), now.joint_rows),
            ..now
        };
        if room != now {
            self.rebuild(Capacities { edits: now.edits.max(bodies), ..room }, report)?;
        }
        let batch = Batch::new(&self.world, &self.plan.capacities, dt);
        let count = u32::try_from(batch.records.len()).unwrap_or(u32::MAX);
        if count > self.plan.capacities.edits {
            self.rebuild(Capacities { edits: with_reserve(count), ..self.plan.capacities }, report)?;
        }
        for slot in self.world.changed_hulls() {
            self.upload_hull(slot)?;
        }
        joints::send(&mut self.world, &self.plan, &mut *self.runner, false)?;
        let b = self.plan.buffers;
        let params = [self.settings.params(self.world.gravity(), dt / self.settings.substeps as f32)];
        let mut writes = Vec::new();
        if self.params != Some(params[0]) {
            writes.push(Write::new(b.params, 0, &params));
        }
        let counts = [count];
        if count > 0 {
            writes.push(Write::new(b.edits, 0, &batch.records));
            writes.push(Write::new(b.counters, counter::EDITS.into(), &counts));
        }
        let runs = batch.colliders.iter();
        writes.extend(runs.map(|(slot, run)| Write::new(b.colliders, u64::from(*slot), run)));
        if !writes.is_empty() {
            self.runner.write_batch(&writes)?;
        }
        self.params = Some(params[0]);
        self.world.sent(batch.after);
        Ok(())
    }

    /// The state of a body after the last step; as it was described if it was added since.
    pub fn body(&mut self, body: BodyHandle) -> Result<BodyState> {
        self.world.entry(body)?;
        let b = self.plan.buffers;
        let i = u64::from(body.index());
        if !self.world.is_sent(body.index()) {
            return Ok(BodyRecord::new(&self.world, body.index()).state(&self.world, body.index()));
        }
        let record = self.runner.read_at(b.bodies, i)?;
        let (pose, velocity) = (self.runner.read_at(b.poses, i)?, self.runner.read_at(b.velocities, i)?);
        Ok(from_device(&self.world, body.index(), &record, &pose, &velocity))
    }

    /// The states of all bodies, as [`Simulation::body`] gives them, in the order of [`World::handles`].
    pub fn bodies(&mut self) -> Result<Vec<(BodyHandle, BodyState)>> {
        let b = self.plan.buffers;
        let bodies = self.runner.read(b.bodies)?;
        let poses = self.runner.read(b.poses)?;
        let velocities = self.runner.read(b.velocities)?;
        let state = |h: BodyHandle| {
            let i = h.index() as usize;
            if self.world.is_sent(h.index()) {
                from_device(&self.world, h.index(), &bodies[i], &poses[i], &velocities[i])
            } else {
                BodyRecord::new(&self.world, h.index()).state(&self.world, h.index())
            }
        };
        Ok(self.world.handles().map(|h| (h, state(h))).collect())
    }

    /// What a joint did in the last step.
    pub fn joint(&mut self, joint: JointHandle) -> Result<JointState> {
        let broken = self.world.joint_entry(joint)?.broken;
        let zero = JointState { force: Vec3::ZERO, torque: Vec3::ZERO, broken };
        if joint.index() >= self.plan.capacities.joints {
            return Ok(zero);
        }
        let pull = self.runner.read_at(self.plan.buffers.joints.forces, u64::from(joint.index()))?;
        Ok(JointState { force: pull.force, torque: pull.torque, broken })
    }

    /// How many colours the last step used, the fallback not counted.
    pub fn colours(&mut self) -> Result<u32> {
        let ranges = self.runner.read(self.plan.buffers.ranges)?;
        let used = ranges.iter().take(self.settings.colours as usize).filter(|r| r.end > r.start);
        Ok(used.count() as u32)
    }

    /// The step's runner, to read or write any buffer of [`Simulation::plan`].
    pub fn runner(&mut self) -> &mut dyn Runner {
        &mut *self.runner
    }

    /// Buffers and the runner they are in.
    pub(crate) fn inside(&mut self) -> (&StepBuffers, &mut dyn Runner, &World) {
        (&self.plan.buffers, &mut *self.runner, &self.world)
    }
}

/// Copies a buffer into a larger one.
fn carry<T: Pod>(from: &mut dyn Runner, source: Buffer<T>, to: &mut dyn Runner, target: Buffer<T>) -> Result<()> {
    let mut values = from.read(source)?;
    let room = to.recording().info(target.id()).map_or(0, |b| b.count);
    values.truncate(room as usize);
    to.write(target, &values)
}
