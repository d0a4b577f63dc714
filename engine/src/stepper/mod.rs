//! [`Stepper`]: a world on a device, stepped at the host's own pace with `prepare`, `record` and `poll`.
//!
//! - [`Stepper::prepare`] does the host's work of a step: it takes over edits of the world and of the settings, and
//!   makes lists longer that were too short. It may allocate.
//! - `record` appends the step to the caller's commands and does nothing else: it does not submit, wait or allocate.
//!   On the CPU backend, and on a device that the engine owns, [`Stepper::run`] takes its place: it runs the step and
//!   waits.
//! - `poll` returns the reports of earlier steps, each with its frame number, once the device is known to have
//!   finished them. It never waits.
//!
//! A [`Simulation`](crate::Simulation) is a stepper that waits for every step, and repeats one that did not fit.
//! [`vulkan::Frames`](crate::vulkan::Frames) is the device for steppers inside somebody else's frame.

mod attached;
pub(crate) mod bodies;
mod core;
mod digest;
mod history;
mod joints;
mod needs;
mod queries;
mod read;
mod report;
mod sending;
mod soft;
mod swept;
mod undo;
mod uploads;
mod worlds;

pub(crate) use self::attached::Token;
pub use self::core::StepDevice;
#[cfg(feature = "vulkan")]
pub(crate) use self::core::unique;
pub(crate) use self::core::{Core, CoreOptions};
pub(crate) use digest::Results;
pub(crate) use needs::first_capacities;
pub use read::{BodyState, JointState};
pub use report::{Contact, Event, EventKind, Overlap, StepReport};
pub use soft::{SoftState, SoftTouch, SoftTouches};
pub use uploads::Uploads;
pub use worlds::WorldReport;

use crate::backend::{Device, MemoryUse, Part, ReadInto, Runner, Write, unknown};
use crate::plan::BufferId;
use crate::plan::step::{StepPlan, event_room};
use crate::state::{Capacities, Limits, UserBuffer};
use crate::world::World;
use crate::{Error, Result, Settings};
use drystone_kernels::detect::gate::counter;
pub use drystone_kernels::solve::joints::JointForce;
use drystone_kernels::state::events::EventRecord;

/// The shortest step and sub-step, seconds. Kernels divide masses by its square; with a shorter one the result would
/// not be finite, and every body would be quarantined.
pub const LEAST_TIME_STEP: f32 = 1e-6;

/// A step that is ready to be run or recorded. When it is dropped instead, the next `prepare` contains all of its
/// edits again; it is void from then on.
#[must_use = "a step that is prepared and not recorded does nothing"]
#[derive(Debug)]
pub struct Prepared {
    pub(crate) frame: u64,
    pub(crate) substeps: u32,
    /// See [`Core::prepared_number`].
    pub(crate) number: u64,
}

impl Prepared {
    /// Number of the frame, from 1 on; its report has the same number.
    pub fn frame(&self) -> u64 {
        self.frame
    }
}

/// A world on a device, stepped by its owner. It can be moved to another thread, but has no internal locking.
pub struct Stepper<D: StepDevice> {
    pub(crate) core: Core,
    pub(crate) device: D,
    uploads: Uploads,
    /// The part of the runner that answers queries, on devices that wait.
    queries: Option<queries::Attached>,
    /// Parts that renderers and ray casters have attached, on devices that wait.
    held: Vec<attached::Held>,
    /// Number of frames that were run or recorded.
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

    /// Changes the settings from the next step on. An error, and no change, when a value is out of its range. The
    /// plan may have to be made again, but no pipeline is compiled again.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        self.core.set_settings(settings)
    }

    /// The plan of a step, for printing or inspection.
    pub fn plan(&self) -> &StepPlan {
        self.core.plan()
    }

    /// The lengths of the step's lists.
    pub fn capacities(&self) -> &Capacities {
        &self.core.plan().capacities
    }

    /// A number that changes with the plan, when lists grow or settings require another one; buffers may be new then.
    /// No two steppers of a process ever have the same number.
    pub fn generation(&self) -> u64 {
        self.core.generation()
    }

    /// Persistent buffers of the host's own, as they were described.
    pub fn user_buffers(&self) -> &[UserBuffer] {
        &self.core.user
    }

    /// Number of sub-steps that are known to have been made.
    pub fn steps(&self) -> u64 {
        self.core.steps()
    }

    /// Limits the total size of the buffers, in bytes; `None` removes the limit. Preparing a step that needs more
    /// fails with [`Error::MemoryLimit`]; the world can be changed and stepped again.
    pub fn limit_memory(&mut self, bytes: Option<u64>) {
        self.core.limit_memory(bytes);
    }

    /// Limits the number of overlapping pairs of colliders, see [`Limits::pairs`]; `None` removes the limit. A step
    /// that has more fails with [`Error::PairLimit`] and is not made: when it is run, or inside a host's frames when
    /// the next step is prepared.
    pub fn limit_pairs(&mut self, pairs: Option<u32>) {
        self.core.limit_pairs(pairs);
    }

    /// Gives the next step as many iterations as a world's first step has ([`AvbdSettings::cold_iterations`]). For
    /// structures that were added under load, such as a bridge that is joined while something stands on it. Otherwise
    /// only the first step gets them, since such a step takes many times as long as others.
    ///
    /// [`AvbdSettings::cold_iterations`]: crate::AvbdSettings::cold_iterations
    pub fn start_cold(&mut self) {
        self.core.start_cold();
    }

    /// The device that runs the steps.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Prepares a step of `dt` seconds, from [`LEAST_TIME_STEP`] up to 1: edits since the last step, settings, longer
    /// lists. On failure no edit is lost, and the next call tries again.
    pub(crate) fn prepare_on_device(&mut self, dt: f32) -> Result<Prepared> {
        if !(dt / self.core.settings().substeps as f32 >= LEAST_TIME_STEP && dt <= 1.0) {
            return Err(Error::TimeStep(dt));
        }
        self.core.prepare(dt, &mut self.device, &mut self.uploads)?;
        let substeps = self.core.settings().recorded_substeps();
        let number = self.core.prepared_number().unwrap_or_default();
        Ok(Prepared { frame: self.frame + 1, substeps, number })
    }

    pub(crate) fn recorded(&mut self, frame: u64) {
        self.core.recorded(frame);
        self.frame = frame;
    }

    /// Notes that an empty frame was recorded.
    #[cfg(feature = "vulkan")]
    pub(crate) fn skipped(&mut self, frame: u64) {
        self.frame = frame;
    }

    /// Uploads the world before the first step, so that it can be read and drawn.
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
    /// Memory by block (one buffer, or several that are not in use at the same time), including what is attached to
    /// the runner, and of kept frames ([`Stepper::keep_frames`]), which are in host memory.
    pub fn memory(&self) -> Vec<MemoryUse> {
        let mut memory = self.device.memory();
        memory.extend(self.kept_memory());
        memory
    }

    /// Host memory of kept frames, if there are any.
    pub(crate) fn kept_memory(&self) -> Option<MemoryUse> {
        let bytes = self.core.history.bytes();
        (bytes > 0).then(|| MemoryUse { name: "kept frames".to_owned(), bytes })
    }

    /// A stepper on the CPU, or on a Vulkan device that the engine owns, to be used with [`Stepper::run`]. Allocates
    /// all buffers. An error when settings are out of range or memory cannot be allocated.
    pub fn on(device: &Device, world: World, settings: Settings) -> Result<Self> {
        let capacities = first_capacities(&world);
        Self::with_user_buffers(device, world, settings, capacities, Vec::new())
    }

    /// As [`Stepper::on`], with limits. A world that does not fit is refused before anything is allocated.
    pub fn within(device: &Device, world: World, settings: Settings, limits: Limits) -> Result<Self> {
        let capacities = first_capacities(&world);
        Self::new(device, world, settings, capacities, Vec::new(), limits)
    }

    /// As [`Stepper::on`], with given initial capacities and with persistent buffers of the user's own, which grow
    /// with the world.
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
        // Without a driver an empty dispatch costs nothing.
        let expects = !matches!(device, Device::Cpu { .. });
        let options =
            CoreOptions { on_cpu: device.is_cpu(), strict: true, body_poses: false, ahead: false, expects, limits };
        let core = Core::new(world, settings, options, capacities, user)?;
        let runner = device.runner(core.plan().recording.clone())?;
        let mut stepper = Self::from_parts(core, runner);
        stepper.upload()?;
        Ok(stepper)
    }

    /// Prepares a step of `dt` seconds, from [`LEAST_TIME_STEP`] (per sub-step) up to 1. Allocates when lists grow.
    /// On failure no edit is lost, and the next call tries again.
    pub fn prepare(&mut self, dt: f32) -> Result<Prepared> {
        self.detach_unheld()?;
        self.prepare_on_device(dt)
    }

    /// Runs the prepared step and waits for it once. A step whose lists were too short is repeated with longer ones,
    /// with the same result as if they had been long enough. A step that fails because lists may not grow, or because
    /// there is no memory for them, is not made at all: the world is unchanged, and its edits are pending for the
    /// next try. What such a step would lose is kept meanwhile: what edited bodies had before, and with several
    /// sub-steps a copy of the persistent buffers. (Exception: while no limits are set and lists are far from full,
    /// nothing is copied that a device would have to be waited for, nor with several sub-steps. A step that then
    /// suddenly needs more memory than there is leaves its edits and the sub-steps made until then.)
    ///
    /// A step that is void is not made, and its report is empty: `prepare` was called again since, the world was
    /// replaced by a snapshot or an earlier frame, or another stepper prepared it.
    pub fn run(&mut self, prepared: Prepared) -> Result<StepReport> {
        let Prepared { frame, substeps, .. } = prepared;
        if !prepared.is_of(&self.core) {
            return Ok(StepReport { frame, ..StepReport::default() });
        }
        let before = self.before()?;
        self.recorded(frame);
        let done = self.run_until_it_fits(frame, substeps).and_then(|report| self.keep().map(|()| report));
        if done.is_err() {
            self.core.history.forget(frame);
            if let Some(before) = before {
                // Keep the first error: it has the cause.
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

    /// The runner, for reading or writing any buffer of [`Stepper::plan`] between steps.
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
