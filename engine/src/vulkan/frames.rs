//! [`Frames`]: the device of a stepper inside a host's frames. It records into the host's command buffers, and the
//! host tells it which frames the device has finished. Nothing here submits or waits.
//!
//! Every frame in flight has its own upload and readback memory, so that the host never touches memory that the
//! device may be using. When lists grow, the next recording copies the persistent buffers from the old allocation to
//! the new one; the old one is freed when that frame is finished.

use super::drawn::{DrawnSet, Lent};
use super::error::Error;
use super::handover::Handed;
use super::host::Shared;
use super::kept::Copied;
use super::kernels::Kernels;
use super::memory::{Location, Memory, SharedMemory};
use super::options::{FramesOptions, Overflow};
use super::program::{MOST_IN_FLIGHT, OldParts, Program, ProgramOptions};
use super::queries::{Queries, plan_for};
use super::record::{Flags, HostAccess, record_carry};
use super::snapshots::Snapshots;
use super::staging::HostBuffer;
use crate::Result;
use crate::Settings;
use crate::backend::{MemoryUse, Part, RunTimes};
use crate::log::span;
use crate::plan::step::{MOST_EVENTS, StepPlan, event_room};
use crate::plan::{BufferId, Recording};
use crate::state::Capacities;
use crate::stepper::{
    Core, CoreOptions, Prepared, Results, StepDevice, StepReport, Stepper, Uploads, first_capacities,
};
use crate::world::World;
use ash::vk;
use drystone_kernels::detect::gate::counter;
use drystone_kernels::state::events::EventRecord;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// A recorded frame whose results have not been read yet.
struct InFlight {
    frame: u64,
    runs: u32,
    adaptive: bool,
    /// Number of the first run of the step's program in this frame.
    first_run: u64,
    /// Number of the program that the frame ran.
    program: u64,
    event_room: u32,
    /// Whether the world was restored or rolled back after this frame was recorded.
    undone: bool,
}

/// Results that were read back from a finished frame.
struct Finished {
    frame: u64,
    runs: u32,
    adaptive: bool,
    counters: [u32; counter::COUNT as usize],
    overflow: u32,
    event_room: u32,
    events: Vec<EventRecord>,
    times: Vec<RunTimes>,
    undone: bool,
}

/// New blocks to be zeroed, and copies into them from the old blocks.
pub(super) struct Carry {
    pub blocks: Vec<vk::Buffer>,
    pub copies: Vec<(vk::Buffer, vk::Buffer, vk::BufferCopy)>,
}

/// Memory of one frame in flight.
struct Slot<M: Memory> {
    upload: HostBuffer<M>,
    readback: HostBuffer<M>,
}

/// An object that the device may still use until a frame is finished.
pub(super) enum Retired<M: Memory> {
    Program(u64, Program<M>),
    Parts(u64, OldParts),
    Drawn(#[allow(dead_code, reason = "kept alive until the frame is done")] DrawnSet),
    Staging(#[allow(dead_code, reason = "kept alive until the frame is done")] HostBuffer<M>),
}

/// A step's copies out of an upload buffer. No two of them overlap.
type Copies = Option<(vk::Buffer, Vec<(vk::Buffer, vk::BufferCopy)>)>;

/// The device of a stepper that only records. Made by [`Stepper::in_frames`].
///
/// Dropping it destroys everything it made. The host must make sure that the device has finished with all of it by
/// then.
pub struct Frames<M: Memory> {
    pub(super) shared: Arc<Shared>,
    pub(super) kernels: Arc<Kernels>,
    pub(super) memory: SharedMemory<M>,
    program_options: ProgramOptions,
    pub(super) program: Program<M>,
    /// Number of the current program; counts up with every new one.
    number: u64,
    frame_end: Option<Part>,
    slots: Vec<Slot<M>>,
    copies: Copies,
    pub(super) carries: Vec<Carry>,
    /// Pose buffers that another queue family owns at the moment.
    handed: Handed,
    /// Persistent buffers of frames that are kept, by place.
    pub(super) kept: Vec<Option<Copied<M>>>,
    /// Buffers of the host's that poses are written into; places of those that were given back are used again.
    pub(super) lent: Vec<Option<Lent>>,
    /// Snapshots that were recorded, and memory for one that will be.
    pub(super) snapshots: Snapshots<M>,
    /// Queries, if there is room for any.
    pub(super) queries: Queries<M>,
    retired: Vec<(u64, Retired<M>)>,
    pending: VecDeque<InFlight>,
    finished: VecDeque<Finished>,
    /// Reports that nobody has asked for yet.
    reports: Vec<StepReport>,
    /// Frames that were recorded.
    pub(super) recorded: u64,
    /// Number of the last frame that the host reported as finished.
    pub(super) completed: u64,
    runs: u64,
    /// Whether the device was lost; then every call fails at once.
    lost: bool,
}

/// Bytes of the words that come back before the events.
const HEAD: u64 = (counter::COUNT as u64 + 1) * 4;
/// Room for what goes to the device, at least.
const UPLOAD: u64 = 64 << 10;

/// Bytes of readback memory: enough for any plan of this world, so that it never has to grow while a frame is
/// pending.
fn readback_size(capacities: &Capacities) -> u64 {
    HEAD + u64::from(event_room(capacities).max(MOST_EVENTS)) * size_of::<EventRecord>() as u64
}

impl<M: Memory> Frames<M> {
    /// # Safety
    /// As for [`Stepper::in_frames`].
    unsafe fn new(kernels: &Arc<Kernels>, memory: M, plan: &StepPlan, options: &FramesOptions) -> Result<Self> {
        let shared = kernels.shared().clone();
        let memory = Arc::new(Mutex::new(memory));
        let frames = options.frames_in_flight;
        if !(1..=MOST_IN_FLIGHT).contains(&frames) {
            return Err(Error::FramesInFlight { frames, most: MOST_IN_FLIGHT }.into());
        }
        let program_options = ProgramOptions {
            frames_in_flight: frames,
            timing: options.timing,
            recorded_once: options.recorded_once,
            extra_usage: vk::BufferUsageFlags::VERTEX_BUFFER,
            shared_with: options.shared_with.clone(),
        };
        // SAFETY: this function's contract.
        let program = unsafe { Program::new(kernels, &memory, plan.recording.clone(), program_options.clone()) }?;
        let back = readback_size(&plan.capacities);
        let slots = (0..frames)
            .map(|_| {
                Ok(Slot {
                    upload: HostBuffer::new(&shared, &memory, c"upload", UPLOAD, Location::Upload)?,
                    readback: HostBuffer::new(&shared, &memory, c"readback", back, Location::Readback)?,
                })
            })
            .collect::<Result<_, Error>>()?;
        let carries = vec![Carry { blocks: program.vk_blocks(0), copies: Vec::new() }];
        let mut device = Self {
            shared,
            kernels: kernels.clone(),
            memory,
            program_options,
            program,
            number: 0,
            frame_end: None,
            slots,
            copies: None,
            carries,
            handed: Handed::default(),
            kept: Vec::new(),
            lent: Vec::new(),
            snapshots: Snapshots::default(),
            queries: Queries::default(),
            retired: Vec::new(),
            pending: VecDeque::with_capacity(frames as usize + 1),
            finished: VecDeque::new(),
            reports: Vec::new(),
            recorded: 0,
            completed: 0,
            runs: 0,
            lost: false,
        };
        device.frame_end = attach(&mut device.program, plan)?;
        Ok(device)
    }

    /// Frames that may be pending.
    pub(super) fn frames_in_flight(&self) -> usize {
        self.slots.len()
    }

    /// The slot of the next frame to be recorded.
    fn slot(&self) -> usize {
        (self.recorded % self.slots.len() as u64) as usize
    }

    /// Reads the results of finished frames, and frees what only they still used.
    pub(super) fn complete(&mut self, completed: u64) -> Result<()> {
        self.completed = self.completed.max(completed.min(self.recorded));
        while let Some(frame) = self.pending.front().filter(|f| f.frame <= self.completed) {
            let slot = &self.slots[((frame.frame - 1) % self.slots.len() as u64) as usize];
            let mut head = [0u32; counter::COUNT as usize + 1];
            slot.readback.read(0, bytemuck::cast_slice_mut(&mut head));
            let mut counters = [0; counter::COUNT as usize];
            counters.copy_from_slice(&head[..counter::COUNT as usize]);
            let happened = counters[counter::EVENTS as usize].min(frame.event_room);
            let mut events = vec![EventRecord::default(); happened as usize];
            slot.readback.read(HEAD, bytemuck::cast_slice_mut(&mut events));
            let mut times = Vec::new();
            let (first, behind) = (frame.first_run, frame.first_run + u64::from(frame.runs));
            let mut take = || {
                if frame.program == self.number {
                    return self.program.times();
                }
                // The commands, or the whole program, were replaced since.
                let gone = self.retired.iter_mut().find_map(|(_, retired)| match retired {
                    Retired::Program(number, program) if *number == frame.program => Some(program.times()),
                    Retired::Parts(number, parts) if *number == frame.program => Some(parts.times()),
                    _ => None,
                });
                gone.unwrap_or(Ok(None))
            };
            // Runs are reported in their order.
            while times.len() < frame.runs as usize {
                match take()? {
                    Some(found) if (first..behind).contains(&found.run) => times.push(found),
                    Some(_) => {}
                    None => break,
                }
            }
            self.finished.push_back(Finished {
                frame: frame.frame,
                runs: frame.runs,
                adaptive: frame.adaptive,
                counters,
                overflow: head[counter::COUNT as usize],
                event_room: frame.event_room,
                events,
                times,
                undone: frame.undone,
            });
            self.pending.pop_front();
        }
        let done = self.completed;
        self.retired.retain(|(frame, _)| *frame > done);
        Ok(())
    }

    pub(super) fn handle(&self, buffer: BufferId) -> Option<vk::Buffer> {
        self.program.vk_buffer(buffer)
    }

    /// Keeps an object alive until all frames that may use it are finished, the next recorded one included.
    pub(super) fn retire(&mut self, what: Retired<M>) {
        self.retired.push((self.recorded + 1, what));
    }

    /// # Safety
    /// As for [`Stepper::record`].
    unsafe fn record(
        &mut self,
        plan: &StepPlan,
        commands: vk::CommandBuffer,
        substeps: u32,
        place: Option<usize>,
        access: [Option<HostAccess>; 2],
    ) -> u64 {
        span!("record", frame = self.recorded + 1, substeps);
        let [entry, exit] = access;
        let shared = self.shared.clone();
        let device = &shared.host.device;
        let slot = self.slot();
        let first_run = self.runs;
        let copies = self.copies.take();
        let (pieces, shared_count) = self.shared_pieces(plan);
        let pieces = &pieces[..shared_count];
        // SAFETY: this function's contract, for every call below; handles were made from this device and are alive, and
        // the regions lie inside their buffers.
        unsafe {
            shared.cmd_begin_label(commands, c"drystone frame");
            let mut before = Flags::between_parts();
            if let Some(entry) = entry {
                before = before.and(self.handed.enter(&shared, commands, entry, self.program.families()));
            }
            // Buffers that were replaced when lists grew are never acquired back.
            self.handed.keep(pieces);
            // The previous frame's accesses are finished, and its writes visible, before anything is done.
            if !self.carries.is_empty() {
                shared.cmd_barrier(commands, std::mem::take(&mut before));
                self.record_carries(commands);
            }
            if let Some((source, regions)) = &copies {
                shared.cmd_barrier(commands, std::mem::take(&mut before));
                for (target, region) in regions {
                    device.cmd_copy_buffer(commands, *source, *target, &[*region]);
                }
                before = Flags::between_parts();
            }
            for part in std::iter::repeat_n(Part::FIRST, substeps as usize).chain(self.frame_end) {
                self.program.record_behind(part, commands, std::mem::take(&mut before), None);
            }
            shared.cmd_barrier(commands, before.and(Flags::between_parts()));
            self.record_kept(commands, place);
            let readback = self.slots[slot].readback.handle();
            let (b, mut at) = (&plan.buffers, 0);
            let events = u64::from(event_room(&plan.capacities)) * size_of::<EventRecord>() as u64;
            let parts =
                [(b.counters.id(), u64::from(counter::COUNT) * 4), (b.overflow.id(), 4), (b.events.id(), events)];
            for (buffer, size) in parts {
                if let Some(source) = self.handle(buffer) {
                    let region = vk::BufferCopy { src_offset: 0, dst_offset: at, size };
                    device.cmd_copy_buffer(commands, source, readback, &[region]);
                }
                at += size;
            }
            match exit {
                Some(exit) => {
                    self.handed.leave(
                        &shared,
                        commands,
                        Flags::to_host(),
                        exit,
                        self.program.families(),
                        pieces.iter().copied(),
                    );
                }
                None => shared.cmd_barrier(commands, Flags::to_host()),
            }
            shared.cmd_end_label(commands);
        }
        self.runs += u64::from(substeps);
        self.recorded += 1;
        self.pending.push_back(InFlight {
            frame: self.recorded,
            runs: substeps,
            adaptive: plan.chosen.is_some(),
            first_run,
            program: self.number,
            event_room: event_room(&plan.capacities),
            undone: false,
        });
        self.recorded
    }

    /// Zeroes new blocks, then copies carried-over or restored contents into them, in the order in which this was
    /// requested.
    ///
    /// # Safety
    /// As for [`Stepper::record`].
    pub(super) unsafe fn record_carries(&mut self, commands: vk::CommandBuffer) {
        for carry in std::mem::take(&mut self.carries) {
            // SAFETY: this function's contract; the buffers are alive until the frame is done, and hold the regions.
            unsafe { record_carry(&self.shared.host.device, commands, &carry.blocks, &carry.copies) };
        }
    }

    /// Marks pending frames after `frame` as undone.
    pub(super) fn undo(&mut self, frame: u64) {
        self.copies = None;
        self.pending.iter_mut().filter(|f| f.frame > frame).for_each(|f| f.undone = true);
    }
}

fn attach<M: Memory>(program: &mut Program<M>, plan: &StepPlan) -> Result<Option<Part>> {
    plan.frame_end.as_ref().map(|recording| program.attach(recording)).transpose()
}

impl<M: Memory> StepDevice for Frames<M> {
    /// Makes new buffers, unless the plan's are the same as before; old ones are freed when the device has finished
    /// with them.
    fn load(&mut self, plan: &StepPlan) -> Result<()> {
        let room = self.queries.ready.as_ref().map(|(plan, _)| plan.room);
        let queries = room.map(|room| plan_for(plan, room)).transpose()?;
        let behind = plan.frame_end.iter().chain(queries.as_ref().map(|q| &q.recording)).collect::<Vec<_>>();
        let last = Part(behind.len() as u32);
        if let Some(old) = self.program.replace_commands(&plan.recording, &behind)? {
            self.retire(Retired::Parts(self.number, old));
            self.number += 1;
            self.runs = 0;
            self.frame_end = plan.frame_end.as_ref().map(|_| Part(1));
            self.queries.ready = queries.map(|q| (q, last));
            return Ok(());
        }
        // SAFETY: the device outlives the stepper (contract of `Stepper::in_frames`).
        let mut program =
            unsafe { Program::new(&self.kernels, &self.memory, plan.recording.clone(), self.program_options.clone()) }?;
        let frame_end = attach(&mut program, plan)?;
        let queries = queries.map(|q| program.attach(&q.recording).map(|part| (q, part))).transpose()?;
        let drawn = self.drawn_sets(&program, &plan.buffers)?;
        self.exchange_drawn(drawn);
        self.carries.push(Carry { blocks: program.vk_blocks(0), copies: self.program.persistent_copies(&program) });
        let old = std::mem::replace(&mut self.program, program);
        self.retire(Retired::Program(self.number, old));
        self.number += 1;
        self.runs = 0;
        self.frame_end = frame_end;
        self.queries.ready = queries;
        Ok(())
    }

    fn keeps_parts(&self) -> bool {
        true
    }

    fn stage(&mut self, uploads: &Uploads) -> Result<()> {
        let slot = self.slot();
        self.copies = None;
        if uploads.is_empty() {
            return Ok(());
        }
        let (size, room) = (uploads.bytes().len() as u64, self.slots[slot].upload.size());
        // Grows for a large upload (a world added at once) and shrinks again after it.
        let too_long = room > UPLOAD && size < room / 8;
        if size > room || too_long {
            let size = size.next_power_of_two().max(UPLOAD);
            let new = HostBuffer::new(&self.shared, &self.memory, c"upload", size, Location::Upload)?;
            let old = std::mem::replace(&mut self.slots[slot].upload, new);
            self.retire(Retired::Staging(old));
        }
        self.slots[slot].upload.write(0, uploads.bytes());
        let regions = uploads.parts().filter_map(|(buffer, dst_offset, range)| {
            let (src_offset, size) = (range.start as u64, range.len() as u64);
            Some((self.handle(buffer)?, vk::BufferCopy { src_offset, dst_offset, size }))
        });
        self.copies = Some((self.slots[slot].upload.handle(), regions.collect()));
        Ok(())
    }

    fn restore(&mut self, contents: &[(BufferId, &[u8])]) -> Result<()> {
        self.stage_restored(contents)
    }

    fn reserve_kept(&mut self, plan: &StepPlan, place: usize) -> Result<()> {
        self.reserve_place(plan, place)
    }

    fn restore_kept(&mut self, plan: &StepPlan, place: usize) -> Result<()> {
        self.stage_kept(plan, place);
        Ok(())
    }
}

impl<M: Memory> Stepper<Frames<M>> {
    /// Makes a stepper that records into the host's frames. Allocates all buffers and compiles missing pipelines;
    /// submits nothing. The world reaches the device with the first recorded frame.
    ///
    /// # Safety
    /// The kernels' device outlives the stepper, and `memory` allocates from it.
    pub unsafe fn in_frames(
        kernels: &Arc<Kernels>,
        memory: M,
        world: World,
        settings: Settings,
        options: FramesOptions,
    ) -> Result<Self> {
        let core_options = CoreOptions {
            on_cpu: kernels.shared().support.is_cpu(),
            strict: options.overflow == Overflow::Skip,
            body_poses: true,
            ahead: true,
            expects: true,
            limits: crate::state::Limits::none(),
        };
        let capacities = first_capacities(&world).at_least(&options.capacities);
        let core = Core::new(world, settings, core_options, capacities, options.user_buffers.clone())?;
        // SAFETY: this function's contract.
        let device = unsafe { Frames::new(kernels, memory, core.plan(), &options) }?;
        Ok(Self::from_parts(core, device))
    }

    /// Prepares a step of `dt` seconds, from [`LEAST_TIME_STEP`](crate::LEAST_TIME_STEP) (per sub-step) up to 1.
    /// `completed` is the number of the last frame that the device has finished, 0 at first: [`Stepper::record`]
    /// returns the numbers, and the host's fences or semaphores tell when a frame is finished. Allocates when lists
    /// grow; never waits.
    ///
    /// Fails with [`Error::FrameInFlight`] when the maximum number of frames is pending. The call that meets a lost
    /// device fails with [`Error::DeviceLost`], and so does every later call, immediately.
    pub fn prepare(&mut self, dt: f32, completed: u64) -> Result<Prepared> {
        self.unless_lost(|stepper| stepper.prepare_frame(dt, completed))
    }

    fn prepare_frame(&mut self, dt: f32, completed: u64) -> Result<Prepared> {
        self.take_results(completed)?;
        let device = &self.device;
        let pending = device.recorded - device.completed;
        if pending >= device.slots.len() as u64 {
            let in_flight = device.slots.len() as u64;
            return Err(Error::FrameInFlight { pending, in_flight, completed: device.completed }.into());
        }
        let prepared = self.prepare_on_device(dt)?;
        let runs = (self.device.slots.len() as u32 + 1).saturating_mul(prepared.substeps);
        self.device.program.reserve_timers(runs)?;
        Ok(prepared)
    }

    /// Records the prepared step into `commands`: copies from the host, the sub-steps, poses for drawing, copies to
    /// the host. Does not submit, wait or allocate device memory. Returns the number of the frame, from 1 on.
    ///
    /// **On entry** it waits for what `entry` names: the host's reads of its buffers, such as a vertex shader's in the
    /// last frame, are over before they are written again, and the host's writes to them are seen. Without `entry`, the
    /// host's own barriers or semaphores have seen to both. Its own earlier frames on the same queue need nothing.
    /// Where it names another queue family, the buffers of [`PoseView`](super::PoseView) that were released to it are
    /// acquired.
    ///
    /// **On exit** the compute pipeline, descriptor set 0 of the compute bind point and the push constants are
    /// overwritten. What it wrote is visible to what `exit` names, or, without it, is unsynchronised writes of
    /// COMPUTE_SHADER / SHADER_WRITE and TRANSFER / TRANSFER_WRITE. Where it names another queue family, the buffers of
    /// [`PoseView`](super::PoseView) are released to it: [`HostAccess::on_family`] has both halves.
    ///
    /// **A void step** is not made. If the world was replaced since it was prepared ([`Stepper::restore`],
    /// [`Stepper::roll_back`]), the frame is empty, and has a number and a report. If `prepare` was called again since,
    /// nothing is recorded, and the number of the last recorded frame is returned.
    ///
    /// # Safety
    /// `commands` is in the recording state, outside a render pass, belongs to the host's queue family, which supports
    /// the stages of `entry` and `exit` unless they are of another family (then the host records its halves), and is
    /// submitted once, to one queue, in the order of recording; or several times in a row, each when the one before is
    /// done, before anything else of the stepper's is prepared. Each time makes the steps again with all that was said
    /// for the frame, impulses included; the report tells of the last, [`Stepper::steps`] counts all.
    ///
    /// Until the device has finished the frame, no `completed` that this stepper is given is its number or a later one,
    /// and the stepper is not dropped: either would free buffers that the device still uses.
    pub unsafe fn record(
        &mut self,
        commands: vk::CommandBuffer,
        prepared: Prepared,
        entry: Option<HostAccess>,
        exit: Option<HostAccess>,
    ) -> u64 {
        let Self { core, device, .. } = self;
        let valid = prepared.is_of(core);
        if !valid && (core.prepared_number().is_some() || device.pending.len() >= device.slots.len()) {
            // The memory of the next frame belongs to another step that is prepared, or to a frame that is pending.
            return device.recorded;
        }
        let (substeps, place) = if valid { (prepared.substeps, core.place()) } else { (0, None) };
        // SAFETY: this function's contract.
        let frame = unsafe { device.record(core.plan(), commands, substeps, place, [entry, exit]) };
        if valid {
            self.recorded(frame);
        } else {
            self.skipped(frame);
        }
        frame
    }

    /// Returns the reports of frames up to number `completed`, each once, in order. Never waits.
    pub fn poll(&mut self, completed: u64) -> Result<Vec<StepReport>> {
        self.unless_lost(|stepper| stepper.take_results(completed))?;
        Ok(std::mem::take(&mut self.device.reports))
    }

    /// Makes a call that uses the device. Once the device is lost, every call fails at once without touching it.
    pub(super) fn unless_lost<T>(&mut self, call: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.device.lost {
            return Err(Error::DeviceLost("an earlier call").into());
        }
        let result = call(self);
        self.device.lost |= matches!(result, Err(crate::Error::Vulkan(Error::DeviceLost(_))));
        result
    }

    pub(super) fn take_results(&mut self, completed: u64) -> Result<()> {
        self.device.complete(completed)?;
        while let Some(done) = self.device.finished.pop_front() {
            let Finished { frame, runs, adaptive, counters, overflow, event_room, events, times, undone } = done;
            let (counters, events) = (&counters, &events);
            let results = Results { frame, runs, adaptive, counters, overflow, event_room, events, undone };
            let report = self.core.digest(&results, times);
            self.device.reports.push(report);
        }
        Ok(())
    }

    /// The `VkBuffer` of a buffer of the plan, for the host's own shaders.
    pub fn vk_buffer(&self, buffer: BufferId) -> Option<vk::Buffer> {
        self.device.handle(buffer)
    }

    /// The step's recording.
    pub fn recording(&self) -> &Recording {
        self.device.program.recording()
    }

    /// Memory as allocated, by block (one buffer, or several that are not in use at the same time), and besides the
    /// step's buffers: `kept frames` ([`Stepper::keep_frames`]), `uploads`, `readbacks`, `queries` and `snapshots` in
    /// progress. Buffers that were replaced when lists grew, and that frames in flight still use, are not counted.
    pub fn memory(&self) -> Vec<MemoryUse> {
        let device = &self.device;
        let mut memory = device.program.memory();
        let beside = [
            ("kept frames", device.kept.iter().flatten().map(Copied::bytes).sum()),
            ("uploads", device.slots.iter().map(|slot| slot.upload.allocated()).sum()),
            ("readbacks", device.slots.iter().map(|slot| slot.readback.allocated()).sum()),
            ("queries", device.queries.bytes()),
            ("snapshots", device.snapshots.bytes()),
        ];
        let there = beside.into_iter().filter(|(_, bytes)| *bytes > 0);
        memory.extend(there.map(|(name, bytes)| MemoryUse { name: name.to_owned(), bytes }));
        memory
    }
}
