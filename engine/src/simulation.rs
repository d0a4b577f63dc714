//! A world that moves: the convenient way to run it, with buffers that grow by themselves. It waits for every step.

use crate::backend::{Device, DeviceInfo, MemoryUse, RunTimes, Runner, RunnerExt};
use crate::glam::{Quat, Vec3};
use crate::plan::Buffer;
use crate::plan::step::{Capacities, StepBuffers, StepOptions, StepPlan};
use crate::world::{BodyHandle, Edit, Hull, World, unit_box};
use crate::{Error, Result, Settings};
use bytemuck::Pod;
use drystone_kernels::gate::counter;
use drystone_kernels::math::{Pose, Rotation, Twist};
use drystone_kernels::rigid::{self, Body, Collider, NONE, Params, kind, option, shape};

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

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepReport {
    /// Pairs of overlapping boxes.
    pub pairs: u32,
    /// Pairs that touch.
    pub manifolds: u32,
    /// Bodies that found no colour and were solved in turn.
    pub fallback_bodies: u32,
    /// How often buffers had to grow.
    pub grown: u32,
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
}

/// Room beyond what is needed, so that a list does not grow every step.
fn with_reserve(needed: u32) -> u32 {
    needed.saturating_add(needed / 32).saturating_add(64)
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
            hulls: world.hulls().slot_count(),
            hull_edges: world.hulls().end(),
        };
        Self::with_capacities(world, settings, device, capacities)
    }

    /// The same with room for so much at first. It grows when it is not enough, with the same results.
    pub fn with_capacities(
        mut world: World,
        settings: Settings,
        device: Device,
        mut capacities: Capacities,
    ) -> Result<Self> {
        settings.check()?;
        capacities.bodies = capacities.bodies.max(world.slot_count()).max(1);
        capacities.colliders = capacities.colliders.max(world.collider_slots()).max(1);
        capacities.pairs = capacities.pairs.max(1);
        capacities.manifolds = capacities.manifolds.max(1);
        capacities.hulls = capacities.hulls.max(world.hulls().slot_count());
        capacities.hull_edges = capacities.hull_edges.max(world.hulls().end());
        let plan = StepPlan::new(capacities, options(&settings))?;
        let runner = device.runner(plan.recording.clone())?;
        world.take_edits();
        let mut simulation = Self { world, settings, device, plan, runner, params: None, steps: 0 };
        simulation.upload_all()?;
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

    /// Memory by buffer.
    pub fn memory(&self) -> Vec<MemoryUse> {
        self.runner.memory()
    }

    /// The plan of a step, to be printed or looked at.
    pub fn plan(&self) -> &StepPlan {
        &self.plan
    }

    /// Steps made, sub-steps included.
    pub fn steps(&self) -> u64 {
        self.steps
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
        self.send_edits()?;
        let params = self.params_for(dt / self.settings.substeps as f32);
        if self.params != Some(params) {
            self.runner.write(self.plan.buffers.params, &[params])?;
            self.params = Some(params);
        }
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
                self.steps += 1;
                return Ok(());
            }
            // The step was not made. Manifolds are only counted among the pairs that fitted, so this may happen twice.
            let now = self.plan.capacities;
            report.grown += 1;
            self.rebuild(Capacities {
                pairs: if pairs > now.pairs { with_reserve(pairs) } else { now.pairs },
                manifolds: if manifolds > now.manifolds { with_reserve(manifolds) } else { now.manifolds },
                ..now
            })?;
        }
    }

    fn params_for(&self, dt: f32) -> Params {
        let s = &self.settings;
        Params {
            gravity: self.world.gravity(),
            dt,
            alpha: s.alpha,
            beta: s.beta,
            gamma: s.gamma,
            k_start: s.k_start,
            k_max: s.k_max,
            tolerance: s.tolerance,
            margin: s.margin,
            options: if s.rescale_friction { option::RESCALE } else { 0 },
        }
    }

    /// A new plan with other capacities, and the state of the old one in it. On failure the old one stays.
    fn rebuild(&mut self, capacities: Capacities) -> Result<()> {
        let plan = StepPlan::new(capacities, options(&self.settings))?;
        let mut runner = self.device.runner(plan.recording.clone())?;
        let (from, to) = (self.plan.buffers, plan.buffers);
        let old = &mut *self.runner;
        carry(old, from.params, &mut *runner, to.params)?;
        carry(old, from.bodies, &mut *runner, to.bodies)?;
        carry(old, from.poses, &mut *runner, to.poses)?;
        carry(old, from.starts, &mut *runner, to.starts)?;
        carry(old, from.velocities, &mut *runner, to.velocities)?;
        carry(old, from.previous, &mut *runner, to.previous)?;
        carry(old, from.colliders, &mut *runner, to.colliders)?;
        carry(old, from.counters, &mut *runner, to.counters)?;
        carry(old, from.colours, &mut *runner, to.colours)?;
        carry(old, from.rows, &mut *runner, to.rows)?;
        carry(old, from.entries, &mut *runner, to.entries)?;
        carry(old, from.cached_pairs, &mut *runner, to.cached_pairs)?;
        carry(old, from.cached_points, &mut *runner, to.cached_points)?;
        let grown = self.plan.capacities.bodies..capacities.bodies;
        let new_colliders = self.plan.capacities.colliders..capacities.colliders;
        (self.plan, self.runner) = (plan, runner);
        for index in grown {
            self.upload_body(index)?;
        }
        for index in new_colliders {
            self.runner.write_at(to.colliders, u64::from(index), &no_collider())?;
        }
        self.upload_hulls()
    }

    fn upload_all(&mut self) -> Result<()> {
        let Capacities { bodies, colliders, .. } = self.plan.capacities;
        let b = self.plan.buffers;
        let records: Vec<_> = (0..bodies).map(|i| body_record(&self.world, i)).collect();
        self.runner.write(b.bodies, &records.iter().map(|r| r.0).collect::<Vec<_>>())?;
        self.runner.write(b.poses, &records.iter().map(|r| r.1).collect::<Vec<_>>())?;
        self.runner.write(b.starts, &records.iter().map(|r| r.1).collect::<Vec<_>>())?;
        self.runner.write(b.velocities, &records.iter().map(|r| r.2).collect::<Vec<_>>())?;
        self.runner.write(b.previous, &records.iter().map(|r| r.2.linear).collect::<Vec<_>>())?;
        self.runner.write(b.colours, &vec![NONE; bodies as usize])?;
        let mut list = vec![no_collider(); colliders as usize];
        for index in 0..bodies {
            for (slot, collider) in collider_records(&self.world, index) {
                list[slot as usize] = collider;
            }
        }
        self.runner.write(b.colliders, &list)?;
        self.upload_hulls()
    }

    /// All of the tables of hulls. The first entry is the box as which boxes meet hulls.
    fn upload_hulls(&mut self) -> Result<()> {
        self.write_hull(0, 0, &unit_box()?)?;
        for slot in 0..self.world.hulls().slot_count() {
            self.upload_hull(slot)?;
        }
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
        let record = rigid::Hull { first, vertices: counts[0], faces: counts[1], edges: counts[2], inner };
        let at = u64::from(first);
        self.runner.write_at(b.hulls, u64::from(index), &record)?;
        self.runner.write_from(b.vertices, at, &hull.vertices)?;
        self.runner.write_from(b.faces, at, &hull.faces)?;
        self.runner.write_from(b.loops, 2 * at, &hull.loops)?;
        self.runner.write_from(b.edges, at, &hull.edges)
    }

    fn upload_body(&mut self, index: u32) -> Result<()> {
        let b = self.plan.buffers;
        let i = u64::from(index);
        let (body, pose, velocity) = body_record(&self.world, index);
        self.runner.write_at(b.bodies, i, &body)?;
        self.runner.write_at(b.poses, i, &pose)?;
        self.runner.write_at(b.starts, i, &pose)?;
        self.runner.write_at(b.velocities, i, &velocity)?;
        self.runner.write_at(b.previous, i, &velocity.linear)?;
        self.runner.write_at(b.colours, i, &NONE)?;
        // Without a row, nothing that was cached for the slot's last owner is found.
        self.runner.write_bytes(b.rows.id(), i * 8, &[0; 8])?;
        for (slot, collider) in collider_records(&self.world, index) {
            self.runner.write_at(b.colliders, u64::from(slot), &collider)?;
        }
        Ok(())
    }

    fn send_edits(&mut self) -> Result<()> {
        let now = self.plan.capacities;
        let grown = |needed: u32, now: u32| if needed > now { with_reserve(needed) } else { now };
        let needed = Capacities {
            bodies: grown(self.world.slot_count(), now.bodies),
            colliders: grown(self.world.collider_slots(), now.colliders),
            hulls: grown(self.world.hulls().slot_count(), now.hulls),
            hull_edges: grown(self.world.hulls().end(), now.hull_edges),
            ..now
        };
        if needed != now {
            self.rebuild(needed)?;
        }
        let b = self.plan.buffers;
        for edit in self.world.take_edits() {
            match edit {
                Edit::Body(index) => self.upload_body(index)?,
                Edit::Collider(slot) => self.runner.write_at(b.colliders, u64::from(slot), &no_collider())?,
                Edit::Hull(slot) => self.upload_hull(slot)?,
                Edit::Velocity(index, linear, angular) => self.write_velocity(index, Twist { linear, angular })?,
                Edit::Impulse(index, linear, angular) => {
                    let Some(entry) = self.world.slot(index) else { continue };
                    let (mass, inertia) = (entry.mass.mass, entry.mass.inertia);
                    let mut velocity = self.runner.read_at(b.velocities, u64::from(index))?;
                    let rotation = self.runner.read_at(b.poses, u64::from(index))?.rotation;
                    velocity.linear += linear / mass;
                    velocity.angular += rotation.apply(rotation.inverse().apply(angular) / inertia);
                    self.write_velocity(index, velocity)?;
                }
                Edit::Pose(index, position, rotation) => {
                    let Some(entry) = self.world.slot(index) else { continue };
                    let pose = to_device(entry.mass.centre, entry.mass.axes, position, rotation);
                    self.runner.write_at(b.poses, u64::from(index), &pose)?;
                    self.runner.write_at(b.starts, u64::from(index), &pose)?;
                }
            }
        }
        Ok(())
    }

    fn write_velocity(&mut self, index: u32, velocity: Twist) -> Result<()> {
        let b = self.plan.buffers;
        self.runner.write_at(b.velocities, u64::from(index), &velocity)?;
        self.runner.write_at(b.previous, u64::from(index), &velocity.linear)
    }

    /// The state of a body.
    pub fn body(&mut self, body: BodyHandle) -> Result<BodyState> {
        self.world.entry(body)?;
        let b = self.plan.buffers;
        let i = u64::from(body.index());
        if body.index() >= self.plan.capacities.bodies {
            // Added since the last step.
            let (record, pose, velocity) = body_record(&self.world, body.index());
            return Ok(from_device(&self.world, body.index(), &record, &pose, &velocity));
        }
        let record = self.runner.read_at(b.bodies, i)?;
        let (pose, velocity) = (self.runner.read_at(b.poses, i)?, self.runner.read_at(b.velocities, i)?);
        Ok(from_device(&self.world, body.index(), &record, &pose, &velocity))
    }

    /// The states of all bodies, in the order of [`World::handles`].
    pub fn bodies(&mut self) -> Result<Vec<(BodyHandle, BodyState)>> {
        let b = self.plan.buffers;
        let bodies = self.runner.read(b.bodies)?;
        let poses = self.runner.read(b.poses)?;
        let velocities = self.runner.read(b.velocities)?;
        let handles: Vec<_> = self.world.handles().filter(|h| (h.index() as usize) < bodies.len()).collect();
        Ok(handles
            .into_iter()
            .map(|h| {
                let i = h.index() as usize;
                (h, from_device(&self.world, h.index(), &bodies[i], &poses[i], &velocities[i]))
            })
            .collect())
    }

    /// How many colours the last step used, the fallback not counted.
    pub fn colours(&mut self) -> Result<u32> {
        let ranges = self.runner.read(self.plan.buffers.ranges)?;
        let used = ranges.chunks_exact(2).take(self.settings.colours as usize).filter(|r| r[1] > r[0]);
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

fn options(settings: &Settings) -> StepOptions {
    StepOptions {
        iterations: settings.iterations,
        colours: settings.colours,
        colour_rounds: settings.colour_rounds,
        strict: true,
    }
}

/// Copies a buffer into a larger one.
fn carry<T: Pod>(from: &mut dyn Runner, source: Buffer<T>, to: &mut dyn Runner, target: Buffer<T>) -> Result<()> {
    let mut values = from.read(source)?;
    let room = to.recording().info(target.id()).map_or(0, |b| b.count);
    values.truncate(room as usize);
    to.write(target, &values)
}

fn rotation_to_device(q: Quat) -> Rotation {
    let q = q.normalize();
    Rotation { v: Vec3::new(q.x, q.y, q.z), s: q.w }
}

/// From the user's body space to principal axes at the centre of mass.
fn to_device(centre: Vec3, axes: Quat, position: Vec3, rotation: Quat) -> Pose {
    Pose { position: position + rotation * centre, rotation: rotation_to_device(rotation * axes) }
}

fn from_device(world: &World, index: u32, body: &Body, pose: &Pose, velocity: &Twist) -> BodyState {
    let (centre, axes) = world.slot(index).map_or((Vec3::ZERO, Quat::IDENTITY), |e| (e.mass.centre, e.mass.axes));
    let r = pose.rotation;
    let rotation = (Quat::from_xyzw(r.v.x, r.v.y, r.v.z, r.s) * axes.inverse()).normalize();
    BodyState {
        position: pose.position - rotation * centre,
        rotation,
        linear_velocity: velocity.linear,
        angular_velocity: velocity.angular,
        enabled: body.kind != kind::DISABLED,
    }
}

fn body_record(world: &World, index: u32) -> (Body, Pose, Twist) {
    let still = Twist { linear: Vec3::ZERO, angular: Vec3::ZERO };
    let Some(entry) = world.slot(index) else {
        let body = Body { mass: 0.0, inertia: Vec3::ZERO, gravity_scale: 0.0, kind: kind::DISABLED };
        return (body, Pose { position: Vec3::ZERO, rotation: Rotation::IDENTITY }, still);
    };
    let (desc, mass) = (&entry.desc, &entry.mass);
    let body = Body {
        mass: mass.mass,
        inertia: mass.inertia,
        gravity_scale: desc.gravity_scale.unwrap_or(1.0),
        kind: entry.kind_code(),
    };
    let pose = to_device(mass.centre, mass.axes, desc.position, desc.rotation);
    let moves = entry.kind_code() != kind::STATIC;
    let velocity = Twist { linear: desc.linear_velocity, angular: desc.angular_velocity };
    (body, pose, if moves { velocity } else { still })
}

fn no_collider() -> Collider {
    Collider { shape: shape::NONE, ..Default::default() }
}

fn collider_records(world: &World, index: u32) -> Vec<(u32, Collider)> {
    let Some(entry) = world.slot(index) else { return Vec::new() };
    let (centre, axes) = (entry.mass.centre, entry.mass.axes.inverse());
    let slots = entry.colliders.iter().zip(&entry.hulls);
    let records = slots.zip(&entry.desc.colliders).map(|((&slot, &hull), c)| {
        let (shape, half, radius) = c.parameters();
        let collider = Collider {
            body: index,
            shape,
            half,
            radius,
            hull: if hull == NONE { 0 } else { hull + 1 },
            pose: Pose { position: axes * (c.origin() - centre), rotation: rotation_to_device(axes * c.rotation) },
            friction_static: c.friction_static,
            friction_dynamic: c.friction_dynamic,
            groups: c.groups,
            mask: c.mask,
        };
        (slot, collider)
    });
    records.collect()
}
