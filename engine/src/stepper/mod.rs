//! A world, stepped by the host's own rhythm: `prepare`, `record`, `poll`.
//!
//! - [`Stepper::prepare`] does the host's work of a step: it takes over what was said to the world and to the settings,
//!   and makes lists longer that were too short. It may allocate.
//! - `record` appends the step to the caller's commands, and nothing else: it does not submit, wait or allocate. On the
//!   CPU backend, and for a device of the engine's own, recording is running: [`Stepper::run`].
//! - `poll` tells what earlier steps did, each with its number, as soon as the device is known to be through with them.
//!   It never waits.
//!
//! A [`Simulation`](crate::Simulation) is a stepper that waits for every step, and repeats one that did not fit.
//! [`vulkan::Frames`](crate::vulkan::Frames) is the device for steppers inside somebody else's frame.

mod attached;
pub(crate) mod bodies;
mod core;
mod history;
mod joints;
mod queries;
mod read;
mod report;
mod soft;
mod undo;
mod uploads;

pub(crate) use self::attached::Token;
pub use self::core::StepDevice;
pub(crate) use self::core::{Core, CoreOptions, Results, first_capacities};
pub use read::{BodyState, JointState};
pub use report::{Contact, Event, EventKind, Overlap, StepReport};
pub use soft::SoftState;
pub use uploads::Uploads;

use crate::backend::{Device, MemoryUse, Part, ReadInto, Runner, Write, unknown};
use crate::plan::BufferId;
use crate::plan::step::{StepPlan, event_room};
use crate::state::{Capacities, Limits, UserBuffer};
use crate::world::World;
use crate::{Error, Result, Settings};
use drystone_kernels::detect::gate::counter;
pub use drystone_kernels::solve::joints::JointForce;
use drystone_kernels::state::events::EventRecord;

/// The shortest step, and sub-step, in seconds. Kernels divide by its square: with less, masses over it are no longer numbers,
/// and every body would be taken out.
pub const LEAST_TIME_STEP: f32 = 1e-6;

/// A step that the device has everything for. One that is dropped is as if it had not been prepared: the next one has
/// everything that was in it.
#[must_use = "a step that is prepared and not recorded does nothing"]
#[derive(Debug)]
pub struct Prepared {
    pub(crate) frame: u64,
    pub(crate) substeps: u32,
    /// Of the core: see [`Core::epoch`].
    pub(crate) epoch: u64,
}

impl Prepared {
    /// Number of the frame, from 1 on: the one that its report has.
    pub fn frame(&self) -> u64 {
        self.frame
    }
}

/// A world on a device, stepped by its owner.
pub struct Stepper<D: StepDevice> {
    pub(crate) core: Core,
    pub(crate) device: D,
    uploads: Uploads,
    /// What answers queries, on devices that wait.
    queries: Option<queries::Attached>,
    /// What others have attached, on devices that wait.
    held: Vec<attached::Held>,
    /// Frames that were run or recorded.
    frame: u64,
}

impl<D: StepDevice> Stepper<D> {
    pub(crate) fn from_parts(core: Core, device: D) -> Self {
        Self { core, device, uploads: Uploads::default(), queries: None, held: Vec::new(), frame: 0 }
    }

    /// The world, to be read.
    pub fn world(&self) -> &World {
        &self.core.world
    }

    /// The world, to be changed between steps.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.core.world
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        self.core.settings()
    }

    /// Changes the settings from the next step on. No pipeline is compiled again.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        self.core.set_settings(settings)
    }

    /// The plan of a step, to be printed or looked at.
    pub fn plan(&self) -> &StepPlan {
        self.core.plan()
    }

    /// The room its lists have.
    pub fn capacities(&self) -> &Capacities {
        &self.core.plan().capacities
    }

    /// Changes with the plan, when lists have grown or settings are others: buffers may be others then. No two steppers of
    /// a process have the same.
    pub fn generation(&self) -> u64 {
        self.core.generation()
    }

    /// Sub-steps that are known to have been made.
    pub fn steps(&self) -> u64 {
        self.core.steps()
    }

    /// Lets buffers grow to so many bytes together and no further. A step that needs more gives [`Error::MemoryLimit`] when
    /// it is prepared; the world can be changed and stepped on.
    pub fn limit_memory(&mut self, bytes: Option<u64>) {
        self.core.limit_memory(bytes);
    }

    /// Lets so many pairs of colliders overlap and no more, see [`Limits::pairs`]. A step that has more gives
    /// [`Error::PairLimit`] and is not made: when it is run, or in a host's frames when the one behind it is prepared.
    pub fn limit_pairs(&mut self, pairs: Option<u32>) {
        self.core.limit_pairs(pairs);
    }

    /// Gives the next step as many iterations as the first of a world has ([`AvbdSettings::cold_iterations`]), for
    /// structures that were added under load: a bridge that is joined while something stands on it. By itself only the
    /// first step does so, since such a step takes many times as long as others.
    ///
    /// [`AvbdSettings::cold_iterations`]: crate::AvbdSettings::cold_iterations
    pub fn start_cold(&mut self) {
        self.core.start_cold();
    }

    /// What runs it.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Gets everything ready for a step of `dt` seconds, from [`LEAST_TIME_STEP`] up to 1: what was said to the world since the last
    /// one, settings, longer lists. On failure nothing of it is forgotten, and the next call tries again.
    pub(crate) fn prepare_on_device(&mut self, dt: f32) -> Result<Prepared> {
        if !(dt / self.core.settings().substeps as f32 >= LEAST_TIME_STEP && dt <= 1.0) {
            return Err(Error::TimeStep(dt));
        }
        self.core.prepare(dt, &mut self.device, &mut self.uploads)?;
        let (substeps, epoch) = (self.core.settings().recorded_substeps(), self.core.epoch());
        Ok(Prepared { frame: self.frame + 1, substeps, epoch })
    }

    pub(crate) fn recorded(&mut self, frame: u64) {
        self.core.recorded(frame);
        self.frame = frame;
    }

    /// A frame in which nothing happened was recorded.
    #[cfg(feature = "vulkan")]
    pub(crate) fn skipped(&mut self, frame: u64) {
        self.frame = frame;
    }

    /// Brings the world to the device before there is any step, so that it can be looked at.
    pub(crate) fn upload(&mut self) -> Result<()> {
        self.core.upload(&mut self.device, &mut self.uploads)
    }
}

impl StepDevice for Box<dyn Runner> {
    fn load(&mut self, plan: &StepPlan) -> Result<()> {
        self.replace(plan.recording.clone())
    }

    fn stage(&mut self, uploads: &Uploads) -> Result<()> {
        self.write_batch(&uploads.writes())
    }

    fn restore(&mut self, contents: &[(BufferId, &[u8])]) -> Result<()> {
        let sizes = contents.iter().map(|(id, bytes)| {
            let info = self.recording().info(*id).ok_or_else(|| unknown(self.recording(), *id))?;
            Ok(info.capacity() as usize - bytes.len())
        });
        let behind = sizes.collect::<Result<Vec<_>>>()?;
        let zeros = vec![0; behind.iter().copied().max().unwrap_or(0)];
        let mut writes: Vec<_> =
            contents.iter().map(|(buffer, bytes)| Write { buffer: *buffer, offset: 0, bytes }).collect();
        for ((buffer, bytes), behind) in contents.iter().zip(behind) {
            writes.push(Write { buffer: *buffer, offset: bytes.len() as u64, bytes: &zeros[..behind] });
        }
        self.write_batch(&writes)
    }
}

impl Stepper<Box<dyn Runner>> {
    /// Memory by buffer, or by several that are not in use at the same time, what was attached to the runner included; and of
    /// frames that are kept ([`Stepper::keep_frames`]), which are on the host.
    pub fn memory(&self) -> Vec<MemoryUse> {
        let mut memory = self.device.memory();
        memory.extend(self.kept_memory());
        memory
    }

    /// Memory of frames that are kept, if there are any.
    pub(crate) fn kept_memory(&self) -> Option<MemoryUse> {
        let bytes = self.core.history.bytes();
        (bytes > 0).then(|| MemoryUse { name: "kept frames".to_owned(), bytes })
    }

    /// A stepper on the CPU, or on a device of the engine's own. Recording is running: see [`Stepper::run`].
    pub fn on(device: &Device, world: World, settings: Settings) -> Result<Self> {
        let capacities = first_capacities(&world);
        Self::with_user_buffers(device, world, settings, capacities, Vec::new())
    }

    /// The same with limits from the start: a world that does not fit is refused before anything is allocated.
    pub fn within(device: &Device, world: World, settings: Settings, limits: Limits) -> Result<Self> {
        let capacities = first_capacities(&world);
        Self::new(device, world, settings, capacities, Vec::new(), limits)
    }

    /// The same with room for so much at first, and persistent buffers of the user's that grow with the world.
    pub fn with_user_buffers(
        device: &Device,
        world: World,
        settings: Settings,
        capacities: Capacities,
        user: Vec<UserBuffer>,
    ) -> Result<Self> {
        Self::new(device, world, settings, capacities, user, Limits::none())
    }

    fn new(
        device: &Device,
        world: World,
        settings: Settings,
        capacities: Capacities,
        user: Vec<UserBuffer>,
        limits: Limits,
    ) -> Result<Self> {
        let options = CoreOptions { on_cpu: device.is_cpu(), strict: true, body_poses: false, ahead: false, limits };
        let core = Core::new(world, settings, options, capacities, user)?;
        let runner = device.runner(core.plan().recording.clone())?;
        let mut stepper = Self::from_parts(core, runner);
        stepper.upload()?;
        Ok(stepper)
    }

    /// Gets everything ready for a step of `dt` seconds, from [`LEAST_TIME_STEP`] up to 1.
    pub fn prepare(&mut self, dt: f32) -> Result<Prepared> {
        self.detach_unheld()?;
        self.prepare_on_device(dt)
    }

    /// Runs what was prepared, and waits for it once. A step that did not fit is repeated with longer lists, as if they had been
    /// long enough. One that fails because lists may not grow, or because there is no memory for it, is not made at all: the
    /// world is what it was, and what was said to it is there for the next try. (Where nothing is limited and the lists were far from full the
    /// state before is not kept, and then what was said, and sub-steps that were made, stay.)
    pub fn run(&mut self, prepared: Prepared) -> Result<StepReport> {
        let Prepared { frame, substeps, epoch } = prepared;
        if epoch != self.core.epoch() {
            // The world was exchanged: the step belongs to the one before.
            return Ok(StepReport { frame, ..StepReport::default() });
        }
        let before = self.before()?;
        self.recorded(frame);
        let done = self.run_until_it_fits(frame, substeps).and_then(|report| self.keep().map(|()| report));
        if done.is_err() {
            self.core.history.forget(frame);
            if let Some(before) = before {
                // The first error tells why.
                let _ = self.undo(before);
            }
        }
        done
    }

    fn run_until_it_fits(&mut self, frame: u64, substeps: u32) -> Result<StepReport> {
        let mut report = self.run_once(frame, substeps)?;
        while report.dropped > 0 && report.needed.is_some() {
            self.core.grow(&mut self.device, &mut self.uploads)?;
            let again = self.run_once(frame, report.dropped)?;
            (report.dropped, report.needed) = (again.dropped, again.needed);
            report.and_then(again);
            report.grown += 1;
        }
        Ok(report)
    }

    /// What runs it, to read or write any buffer of [`Stepper::plan`] between steps.
    pub fn runner(&mut self) -> &mut dyn Runner {
        &mut *self.device
    }

    fn run_once(&mut self, frame: u64, runs: u32) -> Result<StepReport> {
        let plan = self.core.plan();
        let (b, room) = (plan.buffers, event_room(&plan.capacities));
        let mut counters = [0; counter::COUNT as usize];
        let mut overflow = [0];
        let mut events = vec![EventRecord::default(); room as usize];
        let times = {
            let mut reads = [
                ReadInto::new(b.counters, &mut counters),
                ReadInto::new(b.overflow, &mut overflow),
                ReadInto::new(b.events, &mut events),
            ];
            self.device.run_and_read(Part::FIRST, runs, &mut reads)?
        };
        let results = Results {
            frame,
            runs,
            adaptive: self.core.planned.adaptive,
            counters: &counters,
            overflow: overflow[0],
            event_room: room,
            events: &events,
            undone: false,
        };
        Ok(self.core.digest(&results, times))
    }
}
