//! [`Simulation`], the convenient way to run a world: every step waits for the device, and buffers grow when they are
//! too small. Everything is done by the [`Stepper`] inside; this file only forwards.

use crate::backend::{Device, DeviceInfo, MemoryUse, Part, Runner, RunnerExt};
use crate::glam::Vec3;
use crate::plan::Recording;
use crate::plan::step::StepPlan;
use crate::queries::{QueryBatch, QueryResults};
use crate::state::{Capacities, Limits, StateBuffers, UserBuffer};
use crate::stepper::{
    BodyState, JointState, SoftState, SoftTouches, StepReport, Stepper, Token, WorldReport, first_capacities,
};
use crate::world::{AttachmentHandle, BodyHandle, JointHandle, Placed, SoftHandle, World};
use crate::{Result, Settings, Snapshot};

/// A world on a device that the engine owns: a [`Stepper`] that waits for every step, and whose buffers can be read
/// between steps.
pub struct Simulation {
    stepper: Stepper<Box<dyn Runner>>,
}

impl Simulation {
    /// Uploads a world to a device. Lists get capacities estimated from the world. An error when settings are out of
    /// range or memory cannot be allocated.
    pub fn new(world: World, settings: Settings, device: Device) -> Result<Self> {
        let capacities = first_capacities(&world);
        Self::with_capacities(world, settings, device, capacities)
    }

    /// As [`Simulation::new`], with given initial capacities. Lists that are too short grow, which does not change
    /// results.
    pub fn with_capacities(world: World, settings: Settings, device: Device, capacities: Capacities) -> Result<Self> {
        Self::with_user_buffers(world, settings, device, capacities, Vec::new())
    }

    /// As [`Simulation::new`], with limits. A world that does not fit is refused before anything is allocated, and
    /// steps that would need more than the limits fail.
    pub fn within(world: World, settings: Settings, device: Device, limits: Limits) -> Result<Self> {
        Ok(Self { stepper: Stepper::within(&device, world, settings, limits)? })
    }

    /// As [`Simulation::with_capacities`], with persistent buffers of the user's own, which grow with the world.
    pub fn with_user_buffers(
        world: World,
        settings: Settings,
        device: Device,
        capacities: Capacities,
        user: Vec<UserBuffer>,
    ) -> Result<Self> {
        Ok(Self { stepper: Stepper::with_user_buffers(&device, world, settings, capacities, user)? })
    }

    /// The world, for reading.
    pub fn world(&self) -> &World {
        self.stepper.world()
    }

    /// The world, to be changed between steps.
    pub fn world_mut(&mut self) -> &mut World {
        self.stepper.world_mut()
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        self.stepper.settings()
    }

    /// Changes the settings from the next step on. An error, and no change, when a value is out of its range.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        self.stepper.set_settings(settings)
    }

    /// What runs the kernels.
    pub fn device(&self) -> &DeviceInfo {
        self.stepper.device.device()
    }

    /// Memory of the step, by block (one buffer, or several that are not in use at the same time), and of kept
    /// frames. What is attached to the runner is not included: see [`Simulation::attached_memory`].
    pub fn memory(&self) -> Vec<MemoryUse> {
        let mut memory = self.stepper.device.memory();
        memory.truncate(self.plan().recording.blocks().len());
        memory.extend(self.stepper.kept_memory());
        memory
    }

    /// Bytes of what is attached to the runner by renderers, ray casters and queries.
    pub fn attached_memory(&self) -> u64 {
        self.stepper.device.memory().iter().skip(self.plan().recording.blocks().len()).map(|m| m.bytes).sum()
    }

    /// Frees the memory of renderers and ray casters that were dropped. The next step does so too, and so does the
    /// next attachment.
    pub fn free_attached(&mut self) -> Result<()> {
        self.stepper.detach_unheld()
    }

    /// Attaches a recording. When its token has been dropped, the next step or attachment detaches it.
    pub(crate) fn attach_held(&mut self, recording: Recording) -> Result<(Part, Token)> {
        self.stepper.attach_held(recording)
    }

    /// Limits the total size of the buffers, in bytes; `None` removes the limit. A step that needs more fails with
    /// [`Error::MemoryLimit`](crate::Error::MemoryLimit) and is not made; the world can be changed and stepped again.
    pub fn limit_memory(&mut self, bytes: Option<u64>) {
        self.stepper.limit_memory(bytes);
    }

    /// Limits the number of overlapping pairs of colliders, see [`Limits::pairs`]; `None` removes the limit. A step
    /// that has more fails with [`Error::PairLimit`](crate::Error::PairLimit) and is not made.
    pub fn limit_pairs(&mut self, pairs: Option<u32>) {
        self.stepper.limit_pairs(pairs);
    }

    /// Gives the next step the iterations of a world's first step: see [`Stepper::start_cold`].
    pub fn start_cold(&mut self) {
        self.stepper.start_cold();
    }

    /// The plan of a step, for printing or inspection.
    pub fn plan(&self) -> &StepPlan {
        self.stepper.plan()
    }

    /// Number of steps made, each sub-step counted.
    pub fn steps(&self) -> u64 {
        self.stepper.steps()
    }

    /// A number that changes whenever the plan does: when buffers grow, and on Vulkan also when the world needs another
    /// number of colours for some time. Whatever was attached to [`Simulation::runner`] before is gone then. No two simulations of a process ever have the same number.
    pub fn generation(&self) -> u64 {
        self.stepper.generation()
    }

    /// Moves the world on by `dt` seconds and waits for the device. 0 does nothing. A step whose lists are too short
    /// is repeated with longer ones. On an error see [`Stepper::run`].
    pub fn step(&mut self, dt: f32) -> Result<StepReport> {
        if dt == 0.0 {
            return Ok(StepReport::default());
        }
        let prepared = self.stepper.prepare(dt)?;
        self.stepper.run(prepared)
    }

    /// Makes a simulation from a snapshot, on any device. It continues from the state in the snapshot.
    pub fn from_snapshot(snapshot: &Snapshot, device: Device) -> Result<Self> {
        let (world, settings) = (snapshot.world().clone(), *snapshot.settings());
        let room = first_capacities(&world).at_least(&snapshot.room());
        let user = snapshot.user_buffers().to_vec();
        let mut simulation = Self::with_user_buffers(world, settings, device, room, user)?;
        simulation.restore(snapshot)?;
        Ok(simulation)
    }

    /// Takes a snapshot of the current state, including edits made since the last step: see [`Snapshot`]. Waits for
    /// the device.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        self.stepper.snapshot()
    }

    /// Replaces the world, the settings and the handles with those of a snapshot. On failure the world is unchanged.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.stepper.restore(snapshot)
    }

    /// Keeps the state after every step from the next one on, so that [`Simulation::roll_back`] can go back by up to
    /// `frames` steps. 0, the default, keeps nothing. Each kept frame is a copy of the persistent buffers in host
    /// memory.
    pub fn keep_frames(&mut self, frames: u32) {
        self.stepper.keep_frames(frames);
    }

    /// Numbers of the frames that [`Simulation::roll_back`] accepts, the oldest first, as in [`StepReport::frame`].
    pub fn kept_frames(&self) -> impl Iterator<Item = u64> {
        self.stepper.kept_frames()
    }

    /// Goes back to the state after a kept frame. Edits made to the world since that frame began are undone: see
    /// [`Stepper::roll_back`].
    pub fn roll_back(&mut self, frame: u64) -> Result<()> {
        self.stepper.roll_back(frame)
    }

    /// The state of a body after the last step, or as described if the body was added since. Waits for the device
    /// once.
    pub fn body(&mut self, body: BodyHandle) -> Result<BodyState> {
        self.stepper.body(body)
    }

    /// The states of all bodies, as [`Simulation::body`] gives them, in the order of [`World::handles`]. Waits for
    /// the device once.
    pub fn bodies(&mut self) -> Result<Vec<(BodyHandle, BodyState)>> {
        self.stepper.bodies()
    }

    /// The force of a joint in the last step, and its error now. Waits for the device once.
    pub fn joint(&mut self, joint: JointHandle) -> Result<JointState> {
        self.stepper.joint(joint)
    }

    /// The states of all joints, as [`Simulation::joint`] gives them, in the order of [`World::joints`]. Waits for
    /// the device once.
    pub fn joints(&mut self) -> Result<Vec<(JointHandle, JointState)>> {
        self.stepper.joints()
    }

    /// Positions and velocities of a soft body's particles after the last step, or as described if it was added
    /// since. Waits for the device once.
    pub fn soft(&mut self, soft: SoftHandle) -> Result<SoftState> {
        self.stepper.soft(soft)
    }

    /// What the particles of a soft body touched in the last step. Waits for the device once.
    pub fn soft_touches(&mut self, soft: SoftHandle) -> Result<SoftTouches> {
        self.stepper.soft_touches(soft)
    }

    /// The force of an attachment on its particle in the last step, newtons in world space. Waits for the device once.
    pub fn attachment_force(&mut self, attachment: AttachmentHandle) -> Result<Vec3> {
        self.stepper.attachment_force(attachment)
    }

    /// Answers a batch of queries about the state after the last step. Waits for the device once. Buffers for queries
    /// are allocated when they are too small, and kept: see [`queries`](crate::queries).
    pub fn query(&mut self, batch: &QueryBatch) -> Result<QueryResults> {
        self.stepper.query(batch)
    }

    /// What became of one of the worlds: see [`World::copies`]. Waits for the device once.
    pub fn world_report(&mut self, world: u32) -> Result<WorldReport> {
        self.stepper.world_report(world)
    }

    /// The same of every world, in their order. Waits for the device once.
    pub fn world_reports(&mut self) -> Result<Vec<WorldReport>> {
        self.stepper.world_reports()
    }

    /// Hash of the poses of a world's bodies: to the bit that of the world alone after the same steps and edits. Waits
    /// for the device once.
    pub fn world_hash(&mut self, world: u32) -> Result<u64> {
        self.stepper.world_hash(world)
    }

    /// The same of every world, in their order. Waits for the device once.
    pub fn world_hashes(&mut self) -> Result<Vec<u64>> {
        self.stepper.world_hashes()
    }

    /// Puts all bodies of a world back to where they were described at the start of the next step, without touching
    /// any other world: see [`World::reset_world`].
    pub fn reset_world(&mut self, world: u32) -> Result<()> {
        Ok(self.world_mut().reset_world(world)?)
    }

    /// As [`Simulation::reset_world`], to given places and velocities: see [`World::reset_world_to`].
    pub fn reset_world_to(&mut self, world: u32, placed: &[Placed]) -> Result<()> {
        Ok(self.world_mut().reset_world_to(world, placed)?)
    }

    /// Number of colours that the last step used, without the fallback. Waits for the device once.
    pub fn colours(&mut self) -> Result<u32> {
        let ranges = self.stepper.device.read(self.plan().buffers.ranges)?;
        let used = ranges.iter().take(self.settings().colours as usize).filter(|r| r.end > r.start);
        Ok(used.count() as u32)
    }

    /// The step's runner, for reading or writing any buffer of [`Simulation::plan`] between steps.
    pub fn runner(&mut self) -> &mut dyn Runner {
        self.stepper.runner()
    }

    /// The step's buffers, the runner that holds them, and the world.
    pub(crate) fn inside(&mut self) -> (&StateBuffers, &mut dyn Runner, &World) {
        let Stepper { core, device, .. } = &mut self.stepper;
        (&core.plan().buffers, &mut **device, &core.world)
    }
}
