//! A world that moves: the convenient way to run it, with buffers that grow by themselves. It waits for every step.

use crate::backend::{Device, DeviceInfo, MemoryUse, Part, Runner, RunnerExt};
use crate::glam::Vec3;
use crate::plan::Recording;
use crate::plan::step::StepPlan;
use crate::queries::{QueryBatch, QueryResults};
use crate::state::{Capacities, Limits, StateBuffers, UserBuffer};
use crate::stepper::{BodyState, JointState, SoftState, StepReport, Stepper, Token, first_capacities};
use crate::world::{AttachmentHandle, BodyHandle, JointHandle, SoftHandle, World};
use crate::{Result, Settings, Snapshot};

/// A world on a device of its own: a [`Stepper`] that waits for every step, and whose buffers can be read at any time.
pub struct Simulation {
    stepper: Stepper<Box<dyn Runner>>,
}

impl Simulation {
    /// Brings a world onto a device.
    pub fn new(world: World, settings: Settings, device: Device) -> Result<Self> {
        let capacities = first_capacities(&world);
        Self::with_capacities(world, settings, device, capacities)
    }

    /// The same with room for so much at first. It grows when it is not enough, with the same results.
    pub fn with_capacities(world: World, settings: Settings, device: Device, capacities: Capacities) -> Result<Self> {
        Self::with_user_buffers(world, settings, device, capacities, Vec::new())
    }

    /// The same within limits: a world that does not fit is refused before anything is allocated, and so are steps that would
    /// need more.
    pub fn within(world: World, settings: Settings, device: Device, limits: Limits) -> Result<Self> {
        Ok(Self { stepper: Stepper::within(&device, world, settings, limits)? })
    }

    /// The same with persistent buffers of the user's, which grow with the world.
    pub fn with_user_buffers(
        world: World,
        settings: Settings,
        device: Device,
        capacities: Capacities,
        user: Vec<UserBuffer>,
    ) -> Result<Self> {
        Ok(Self { stepper: Stepper::with_user_buffers(&device, world, settings, capacities, user)? })
    }

    /// The world, to be read or changed between steps.
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

    /// Changes the settings from the next step on.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        self.stepper.set_settings(settings)
    }

    /// What runs the kernels.
    pub fn device(&self) -> &DeviceInfo {
        self.stepper.device.device()
    }

    /// Memory of the step by buffer, or by several that are not in use at the same time, and of frames that are kept. What was
    /// attached to the runner is not among it: see [`Simulation::attached_memory`].
    pub fn memory(&self) -> Vec<MemoryUse> {
        let mut memory = self.stepper.device.memory();
        memory.truncate(self.plan().recording.blocks().len());
        memory.extend(self.stepper.kept_memory());
        memory
    }

    /// Bytes of what was attached to the runner: by renderers, ray casters, queries.
    pub fn attached_memory(&self) -> u64 {
        self.stepper.device.memory().iter().skip(self.plan().recording.blocks().len()).map(|m| m.bytes).sum()
    }

    /// Gives back the memory of renderers and ray casters that were dropped. The next step and whoever attaches something
    /// next do so too.
    pub fn free_attached(&mut self) -> Result<()> {
        self.stepper.detach_unheld()
    }

    /// Attaches a recording for as long as its token lives.
    pub(crate) fn attach_held(&mut self, recording: Recording) -> Result<(Part, Token)> {
        self.stepper.attach_held(recording)
    }

    /// Lets buffers grow to so many bytes together and no further. A step that needs more gives
    /// [`Error::MemoryLimit`](crate::Error::MemoryLimit) and is not made; the world can be changed and stepped on.
    pub fn limit_memory(&mut self, bytes: Option<u64>) {
        self.stepper.limit_memory(bytes);
    }

    /// Lets so many pairs of colliders overlap and no more: see [`Limits::pairs`]. A step that has more gives
    /// [`Error::PairLimit`](crate::Error::PairLimit) and is not made.
    pub fn limit_pairs(&mut self, pairs: Option<u32>) {
        self.stepper.limit_pairs(pairs);
    }

    /// Gives the next step as many iterations as the first of a world has: see [`Stepper::start_cold`].
    pub fn start_cold(&mut self) {
        self.stepper.start_cold();
    }

    /// The plan of a step, to be printed or looked at.
    pub fn plan(&self) -> &StepPlan {
        self.stepper.plan()
    }

    /// Steps made, sub-steps included.
    pub fn steps(&self) -> u64 {
        self.stepper.steps()
    }

    /// Changes when buffers have grown: what was attached to [`Simulation::runner`] before is gone then. No two
    /// simulations of a process have the same.
    pub fn generation(&self) -> u64 {
        self.stepper.generation()
    }

    /// Moves the world on by `dt` seconds. 0 does nothing.
    pub fn step(&mut self, dt: f32) -> Result<StepReport> {
        if dt == 0.0 {
            return Ok(StepReport::default());
        }
        let prepared = self.stepper.prepare(dt)?;
        self.stepper.run(prepared)
    }

    /// A world on a device as it was when a snapshot was taken, there or elsewhere.
    pub fn from_snapshot(snapshot: &Snapshot, device: Device) -> Result<Self> {
        let (world, settings) = (snapshot.world().clone(), *snapshot.settings());
        let room = first_capacities(&world).at_least(&snapshot.room());
        let user = snapshot.user_buffers().to_vec();
        let mut simulation = Self::with_user_buffers(world, settings, device, room, user)?;
        simulation.restore(snapshot)?;
        Ok(simulation)
    }

    /// The world at this moment, with what was said to it since the last step: see [`Snapshot`].
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        self.stepper.snapshot()
    }

    /// The world becomes that of a snapshot, whatever it was before; settings and handles are those of the snapshot,
    /// too. On failure it stays what it was.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.stepper.restore(snapshot)
    }

    /// Keeps the state behind every step from the next one on, so that [`Simulation::roll_back`] can go back by up to
    /// so many. 0, the default, keeps nothing. They are kept in the host's memory: a copy of the persistent buffers
    /// each.
    pub fn keep_frames(&mut self, frames: u32) {
        self.stepper.keep_frames(frames);
    }

    /// Numbers of the steps that can be gone back to, the oldest first: those that [`StepReport::frame`] tells.
    pub fn kept_frames(&self) -> impl Iterator<Item = u64> {
        self.stepper.kept_frames()
    }

    /// Goes back to the state behind a step that is kept. What was said to the world since that step began is undone:
    /// see [`Stepper::roll_back`].
    pub fn roll_back(&mut self, frame: u64) -> Result<()> {
        self.stepper.roll_back(frame)
    }

    /// The state of a body after the last step; as it was described if it was added since. Waits for the device once.
    pub fn body(&mut self, body: BodyHandle) -> Result<BodyState> {
        self.stepper.body(body)
    }

    /// The states of all bodies, as [`Simulation::body`] gives them, in the order of [`World::handles`].
    pub fn bodies(&mut self) -> Result<Vec<(BodyHandle, BodyState)>> {
        self.stepper.bodies()
    }

    /// What a joint did in the last step, and how far it is off now. Waits for the device once.
    pub fn joint(&mut self, joint: JointHandle) -> Result<JointState> {
        self.stepper.joint(joint)
    }

    /// What all joints did, as [`Simulation::joint`] tells it, in the order of [`World::joints`].
    pub fn joints(&mut self) -> Result<Vec<(JointHandle, JointState)>> {
        self.stepper.joints()
    }

    /// Where the particles of a soft body are after the last step; as they were described if it was added since. Waits
    /// for the device once.
    pub fn soft(&mut self, soft: SoftHandle) -> Result<SoftState> {
        self.stepper.soft(soft)
    }

    /// The force of an attachment on its particle in the last step, newtons in world space. Waits for the device once.
    pub fn attachment_force(&mut self, attachment: AttachmentHandle) -> Result<Vec3> {
        self.stepper.attachment_force(attachment)
    }

    /// Answers a batch of queries about the world as the last step left it, and waits for the device once. Room for them
    /// is made as it is needed, and kept: see [`queries`](crate::queries).
    pub fn query(&mut self, batch: &QueryBatch) -> Result<QueryResults> {
        self.stepper.query(batch)
    }

    /// How many colours the last step used, the fallback not counted.
    pub fn colours(&mut self) -> Result<u32> {
        let ranges = self.stepper.device.read(self.plan().buffers.ranges)?;
        let used = ranges.iter().take(self.settings().colours as usize).filter(|r| r.end > r.start);
        Ok(used.count() as u32)
    }

    /// The step's runner, to read or write any buffer of [`Simulation::plan`].
    pub fn runner(&mut self) -> &mut dyn Runner {
        self.stepper.runner()
    }

    /// Buffers and the runner they are in.
    pub(crate) fn inside(&mut self) -> (&StateBuffers, &mut dyn Runner, &World) {
        let Stepper { core, device, .. } = &mut self.stepper;
        (&core.plan().buffers, &mut **device, &core.world)
    }
}
