//! [`Program`]: a recording prepared for a device, with its buffers, pipelines, descriptor sets and timers. It
//! records into command buffers of the caller's; it does not submit or wait.

use super::commands::{Commands, Dispatch, ReadyGroups};
use super::error::{During, Error};
use super::handover::sharing_families;
use super::host::Shared;
use super::kernels::Kernels;
use super::memory::{Allocation, Location, Memory, SharedMemory};
use super::once::Once;
use super::record::{Flags, HostAccess};
use super::timers::{Timers, Timing};
use crate::backend::{MemoryUse, Part, PartBlocks, RunTimes, no_part};
use crate::plan::barriers::{Schedule, Step, schedule};
use crate::plan::{BufferId, BufferInfo, Command, Groups, Invocation, Recording};
use crate::state::Role;
use ash::vk;
use drystone_kernels::layout::DispatchArgs;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::{Arc, MutexGuard, PoisonError};

/// Largest number of frames in flight: each has memory and timers of its own.
pub(crate) const MOST_IN_FLIGHT: u32 = 64;

/// Options of a program.
#[derive(Clone, Debug)]
pub struct ProgramOptions {
    /// Number of runs that may be pending at the same time, 1 to 64; the ring of timers is one longer.
    pub frames_in_flight: u32,
    /// What to take the time of.
    pub timing: Timing,
    /// Whether commands are recorded once, and called by each run: see [`FramesOptions`](super::FramesOptions).
    pub recorded_once: bool,
    /// Usage flags of the buffers besides storage, transfer and indirect arguments, which are always set.
    pub extra_usage: vk::BufferUsageFlags,
    /// Queue families that use the buffers beside the host's own: see [`FramesOptions`](super::FramesOptions).
    pub shared_with: Vec<u32>,
}

impl Default for ProgramOptions {
    fn default() -> Self {
        Self {
            frames_in_flight: 3,
            timing: Timing::default(),
            recorded_once: false,
            extra_usage: vk::BufferUsageFlags::empty(),
            shared_with: Vec::new(),
        }
    }
}

/// Recordings of a program that were replaced. Dropping them destroys what they need on the device.
pub(super) struct OldParts(Vec<ReadyPart>);

impl OldParts {
    /// Times of the oldest finished run of the first part that was not reported yet. Never waits.
    pub fn times(&mut self) -> crate::Result<Option<RunTimes>> {
        Ok(self.0.first_mut().map_or(Ok(None), |part| part.timers.take())?)
    }
}

/// A recording on a device.
///
/// Dropping it destroys everything it made. The caller must make sure that the device has finished with all of it by
/// then.
pub struct Program<M: Memory> {
    shared: Arc<Shared>,
    memory: SharedMemory<M>,
    recording: Recording,
    options: ProgramOptions,
    /// Queue families that share the buffers; fewer than two when the buffers are `EXCLUSIVE`.
    families: Vec<u32>,
    parts: Vec<ReadyPart>,
    /// The part that was recorded last.
    last: Option<Part>,
    buffers: Vec<(vk::Buffer, Option<Allocation>)>,
    kernels: Arc<Kernels>,
}

/// A recording that shares the program's buffers.
struct ReadyPart {
    label: CString,
    commands: Commands,
    once: Option<Once>,
    descriptors: vk::DescriptorPool,
    timers: Timers,
    runs: u64,
    shared: Arc<Shared>,
    blocks: PartBlocks,
}

impl Drop for ReadyPart {
    fn drop(&mut self) {
        // SAFETY: made from this device, which has finished with it (the contract of `Program`).
        unsafe { self.shared.host.device.destroy_descriptor_pool(self.descriptors, self.shared.host.callbacks()) };
    }
}

impl<M: Memory> Program<M> {
    /// Makes everything that `recording` needs on the kernels' device: allocates buffers and compiles missing
    /// pipelines. Nothing is submitted, so the buffers' initial contents are undefined.
    ///
    /// # Safety
    /// The kernels' device outlives the program, and `memory` allocates from it.
    pub unsafe fn new(
        kernels: &Arc<Kernels>,
        memory: &SharedMemory<M>,
        recording: Recording,
        options: ProgramOptions,
    ) -> crate::Result<Self> {
        let schedule = schedule(&recording);
        // SAFETY: this function's contract.
        unsafe { Self::with_schedule(kernels, memory, recording, &schedule, options) }
    }

    /// As [`Program::new`], with a schedule from the caller. For tests that leave barriers out on purpose.
    ///
    /// # Safety
    /// As for [`Program::new`]; a schedule with barriers missing has races on the device.
    pub unsafe fn with_schedule(
        kernels: &Arc<Kernels>,
        memory: &SharedMemory<M>,
        recording: Recording,
        schedule: &Schedule,
        options: ProgramOptions,
    ) -> crate::Result<Self> {
        let frames = options.frames_in_flight;
        if !(1..=MOST_IN_FLIGHT).contains(&frames) {
            return Err(Error::FramesInFlight { frames, most: MOST_IN_FLIGHT }.into());
        }
        let mut program = Self {
            families: sharing_families(kernels.shared(), &options.shared_with)?,
            options,
            parts: Vec::new(),
            last: None,
            buffers: Vec::new(),
            kernels: kernels.clone(),
            shared: kernels.shared().clone(),
            memory: memory.clone(),
            recording: Recording::new(recording.name()),
        };
        program.attach_scheduled(&recording, schedule)?;
        program.recording = recording;
        Ok(program)
    }

    /// Replaces the recording with one over the same buffers, for example with another number of iterations. Attached
    /// parts are replaced by `attached`, in order; together they must have the program's buffers. Returns the old
    /// parts, which the device may still use, or `None` when the buffers differ. In that case, and on failure,
    /// nothing has changed.
    pub(super) fn replace_commands(
        &mut self,
        recording: &Recording,
        attached: &[&Recording],
    ) -> crate::Result<Option<OldParts>> {
        let all = || std::iter::once(recording).chain(attached.iter().copied());
        let same = all().all(|r| self.recording.buffers().starts_with(r.buffers()))
            && all().any(|r| r.buffers().len() == self.recording.buffers().len());
        if !same {
            return Ok(None);
        }
        // None of these parts owns blocks, so none can be detached.
        let parts = all().map(|r| self.ready(r, &schedule(r), usize::MAX)).collect::<crate::Result<_>>()?;
        self.last = None;
        let before = std::mem::replace(&mut self.recording, recording.clone());
        self.recording.adopt_buffers(&before);
        Ok(Some(OldParts(std::mem::replace(&mut self.parts, parts))))
    }

    /// Prepares another recording over the same buffers, begun with [`Recording::sharing`] from
    /// [`Program::recording`], such as a debug view of the step's state. Allocates the buffers that only the new
    /// recording has. On failure the program is unchanged. [`Program::record_part`] puts a barrier between runs of
    /// different parts.
    pub fn attach(&mut self, recording: &Recording) -> crate::Result<Part> {
        recording.check_shares(&self.recording)?;
        self.attach_scheduled(recording, &schedule(recording))
    }

    /// Frees an attached recording and its buffers: see [`Runner::detach`](crate::backend::Runner::detach).
    ///
    /// # Safety
    /// The device has finished with everything that this part was recorded into.
    pub unsafe fn detach(&mut self, part: Part) -> crate::Result<()> {
        let own = PartBlocks::check_detach(&self.recording, self.parts.iter().map(|p| &p.blocks), part)?;
        // Timers without names create no query pool, so this cannot fail.
        let nothing = Timers::new(self.shared.clone(), std::iter::empty(), Timing::Off, 0)?;
        let slot = &mut self.parts[part.0 as usize];
        (slot.commands, slot.once, slot.timers) = (Commands::default(), None, nothing);
        let descriptors = std::mem::replace(&mut slot.descriptors, vk::DescriptorPool::null());
        slot.blocks = PartBlocks::gone();
        // SAFETY: made from this device, which has finished with it (this function's contract).
        unsafe { self.shared.host.device.destroy_descriptor_pool(descriptors, self.shared.host.callbacks()) };
        for index in own.clone() {
            let (buffer, allocation) = std::mem::take(&mut self.buffers[index as usize]);
            // SAFETY: as above.
            unsafe { self.shared.host.device.destroy_buffer(buffer, self.shared.host.callbacks()) };
            if let Some(allocation) = allocation {
                lock(&self.memory).free(allocation);
            }
        }
        self.recording.forget(own);
        self.buffers.truncate(self.recording.blocks().len());
        self.last = self.last.filter(|last| *last != part);
        Ok(())
    }

    fn attach_scheduled(&mut self, recording: &Recording, schedule: &Schedule) -> crate::Result<Part> {
        check_sizes(&self.shared, recording)?;
        let before = self.buffers.len();
        let made = self.create_buffers(recording).map_err(Into::into);
        let made = made.and_then(|()| self.ready(recording, schedule, before));
        match made {
            Ok(part) => {
                self.parts.push(part);
                self.recording.adopt_buffers(recording);
                Ok(Part(self.parts.len() as u32 - 1))
            }
            Err(error) => {
                self.destroy_buffers(before);
                Err(error)
            }
        }
    }

    /// Prepares a part whose own blocks begin with number `first`.
    fn ready(&mut self, recording: &Recording, schedule: &Schedule, first: usize) -> crate::Result<ReadyPart> {
        let names = recording.commands().iter().map(Command::name);
        // One more than frames in flight, because a frame's times are read while the next one is recorded.
        let frames = self.options.frames_in_flight + 1;
        let mut part = ReadyPart {
            label: CString::new(recording.name()).unwrap_or_default(),
            commands: Commands::default(),
            once: None,
            descriptors: vk::DescriptorPool::null(),
            timers: Timers::new(self.shared.clone(), names, self.options.timing, frames)?,
            runs: 0,
            shared: self.shared.clone(),
            blocks: PartBlocks::new(recording, first),
        };
        part.descriptors = self.create_descriptor_pool(recording, &part.label)?;
        let mut sets = HashMap::new();
        for step in &schedule.steps {
            match step {
                Step::Barrier(barrier) => part.commands.barrier(Flags::from(barrier)),
                Step::Command(index) => {
                    let command = &recording.commands()[*index];
                    self.prepare(recording, command, part.descriptors, &mut sets, &mut part.commands)?;
                    if let Some(query) = part.timers.query_behind(*index) {
                        part.commands.stamp(query);
                    }
                }
            }
        }
        part.commands.end_label();
        if self.options.recorded_once {
            part.once = Some(Once::new(&self.shared, &part.label, &part.commands, &part.timers)?);
        }
        Ok(part)
    }

    /// Creates the buffers of `recording` that do not exist yet.
    fn create_buffers(&mut self, recording: &Recording) -> Result<(), Error> {
        let device = &self.shared.host.device;
        for info in recording.blocks().iter().skip(self.buffers.len()) {
            let mut usage = self.options.extra_usage
                | vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::TRANSFER_DST;
            if info.indirect {
                usage |= vk::BufferUsageFlags::INDIRECT_BUFFER;
            }
            let buffer = self.shared.create_buffer(info.size, usage, &self.families)?;
            self.buffers.push((buffer, None));
            self.shared.name(buffer, &CString::new(info.name.as_str()).unwrap_or_default());
            // SAFETY: the buffer was just made; it is bound once, to memory of the size and kind it asks for.
            unsafe {
                let requirements = device.get_buffer_memory_requirements(buffer);
                let allocation = lock(&self.memory).allocate(&info.name, requirements, Location::Device)?;
                let bound = device.bind_buffer_memory(buffer, allocation.memory, allocation.offset);
                self.buffers.last_mut().expect("pushed above").1 = Some(allocation);
                bound.during("vkBindBufferMemory")?;
            }
        }
        Ok(())
    }

    /// Destroys all buffers but the first ones.
    fn destroy_buffers(&mut self, keep: usize) {
        for (buffer, allocation) in self.buffers.drain(keep..) {
            // SAFETY: made from this device, which is alive and has finished with it (the type's contract).
            unsafe { self.shared.host.device.destroy_buffer(buffer, self.shared.host.callbacks()) };
            if let Some(allocation) = allocation {
                lock(&self.memory).free(allocation);
            }
        }
    }

    fn create_descriptor_pool(&self, recording: &Recording, label: &CStr) -> Result<vk::DescriptorPool, Error> {
        let dispatches = recording.commands().iter().filter_map(|c| match c {
            Command::Dispatch { invocation, .. } => Some((invocation.stage, &invocation.buffers)),
            _ => None,
        });
        // Dispatches of the same stage over the same buffers share a descriptor set.
        let different: HashMap<_, _> = dispatches.map(|(stage, buffers)| ((stage.name, buffers), stage)).collect();
        let buffers = different.values().map(|stage| stage.bindings.len() as u32).sum();
        if different.is_empty() {
            return Ok(vk::DescriptorPool::null());
        }
        let sizes =
            [vk::DescriptorPoolSize::default().ty(vk::DescriptorType::STORAGE_BUFFER).descriptor_count(buffers)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(different.len() as u32).pool_sizes(&sizes);
        // SAFETY: the device is alive; the description borrows locals that live through the call.
        let pool = unsafe { self.shared.host.device.create_descriptor_pool(&info, self.shared.host.callbacks()) }
            .during("vkCreateDescriptorPool")?;
        self.shared.name(pool, label);
        Ok(pool)
    }

    /// Adds a command with its handles looked up.
    fn prepare(
        &self,
        recording: &Recording,
        command: &Command,
        descriptors: vk::DescriptorPool,
        sets: &mut HashMap<(&'static str, Vec<BufferId>), vk::DescriptorSet>,
        commands: &mut Commands,
    ) -> crate::Result<()> {
        let handle = |id: BufferId| self.buffers[recording.buffers()[id.0 as usize].block.0 as usize].0;
        match command {
            Command::Dispatch { invocation, groups } => {
                let kernel = self.kernels.get(invocation.stage)?;
                let label = CString::new(invocation.stage.name).unwrap_or_default();
                let set = match sets.get(&(invocation.stage.name, invocation.buffers.clone())) {
                    Some(set) => *set,
                    None => {
                        let set = self.create_set(recording, invocation, descriptors, kernel.set_layout, &label)?;
                        sets.insert((invocation.stage.name, invocation.buffers.clone()), set);
                        set
                    }
                };
                commands.dispatch(&Dispatch {
                    label: &label,
                    pipeline: kernel.pipeline,
                    layout: kernel.layout,
                    set,
                    push: &invocation.push,
                    groups: match *groups {
                        Groups::Direct(count) => ReadyGroups::Direct(Groups::grid(count)),
                        Groups::Indirect { args, index } => {
                            ReadyGroups::Indirect(handle(args), u64::from(index) * size_of::<DispatchArgs>() as u64)
                        }
                    },
                });
            }
            Command::Fill { buffer, range, value } => {
                commands.fill(handle(*buffer), range.start, range.end - range.start, *value);
            }
            Command::Copy { source, source_offset, target, target_offset, size } => {
                let region = vk::BufferCopy { src_offset: *source_offset, dst_offset: *target_offset, size: *size };
                commands.copy(handle(*source), handle(*target), region);
            }
        }
        Ok(())
    }

    /// A descriptor set with the buffers of an invocation. It is written once, here.
    fn create_set(
        &self,
        recording: &Recording,
        invocation: &Invocation,
        descriptors: vk::DescriptorPool,
        layout: vk::DescriptorSetLayout,
        label: &CStr,
    ) -> Result<vk::DescriptorSet, Error> {
        let (device, layouts) = (&self.shared.host.device, [layout]);
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(descriptors).set_layouts(&layouts);
        // SAFETY: the pool was made large enough for every different set of the recording.
        let set = unsafe { device.allocate_descriptor_sets(&info) }.during("vkAllocateDescriptorSets")?[0];
        self.shared.name(set, label);
        let infos: Vec<_> = invocation
            .buffers
            .iter()
            .map(|id| {
                let info = &recording.buffers()[id.0 as usize];
                let buffer = self.buffers[info.block.0 as usize].0;
                [vk::DescriptorBufferInfo::default().buffer(buffer).range(info.size())]
            })
            .collect();
        let writes: Vec<_> = invocation
            .stage
            .bindings
            .iter()
            .zip(&infos)
            .map(|(binding, info)| {
                vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding.number)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(info)
            })
            .collect();
        // SAFETY: the set is new and in use by nothing; the buffers live as long as the program.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
        Ok(set)
    }

    /// Records one run into `commands`. It does not submit, wait or allocate. Returns the number of the run, which
    /// [`Program::times`] reports under.
    ///
    /// **On entry** the program waits for what `entry` names: the host's reads of its buffers, such as a vertex
    /// shader's in the last frame, are over before they are written again, and the host's writes to them are seen.
    /// Without `entry`, the host's barriers have seen to both. Earlier runs on the same queue need nothing.
    ///
    /// **On exit** the compute pipeline, descriptor set 0 of the compute bind point and the push constants are
    /// overwritten; the program's writes are visible to what `exit` names, or, without it, are unsynchronised writes of
    /// COMPUTE_SHADER / SHADER_WRITE and TRANSFER / TRANSFER_WRITE.
    ///
    /// A program makes no ownership transfers: where `entry` or `exit` names another queue family, nothing is
    /// recorded for it, and the host transfers the buffers it uses itself, or names the family in
    /// [`ProgramOptions::shared_with`].
    ///
    /// # Safety
    /// `commands` is in the recording state, outside a render pass, belongs to the host's queue family, which supports
    /// the stages of `entry` and `exit`, and is submitted to one queue in the order of recording, once.
    pub unsafe fn record(
        &mut self,
        commands: vk::CommandBuffer,
        entry: Option<HostAccess>,
        exit: Option<HostAccess>,
    ) -> u64 {
        // SAFETY: this function's contract. The first part is always there.
        unsafe { self.record_part(Part::FIRST, commands, entry, exit) }.unwrap_or_default()
    }

    /// Records one run of an attached recording, as [`Program::record`]; `None` when there is no such part. Parts may
    /// be recorded in any order; each sees the writes of those before it.
    ///
    /// # Safety
    /// As for [`Program::record`].
    pub unsafe fn record_part(
        &mut self,
        part: Part,
        commands: vk::CommandBuffer,
        entry: Option<HostAccess>,
        exit: Option<HostAccess>,
    ) -> Option<u64> {
        let opening = self.shared.on_same_family(entry).map(Flags::opening);
        // SAFETY: this function's contract.
        unsafe { self.record_behind(part, commands, opening.unwrap_or_default(), exit) }
    }

    /// The same behind a barrier, which becomes one with those that the part begins with.
    ///
    /// # Safety
    /// As for [`Program::record`].
    pub(super) unsafe fn record_behind(
        &mut self,
        part: Part,
        commands: vk::CommandBuffer,
        mut before: Flags,
        exit: Option<HostAccess>,
    ) -> Option<u64> {
        let shared = self.shared.clone();
        if self.last.replace(part).is_some_and(|last| last != part) {
            // A schedule orders a part only after its own previous run; this barrier orders it after other parts.
            before = before.and(Flags::between_parts());
        }
        let part = self.parts.get_mut(part.0 as usize).filter(|p| p.blocks.is_there())?;
        let run = part.runs;
        part.runs += 1;
        // SAFETY: this function's contract, for every call below; handles were made from this device and are alive.
        unsafe {
            shared.cmd_begin_label(commands, &part.label);
            let slot = part.timers.take_slot(run);
            match &part.once {
                Some(once) => {
                    shared.cmd_barrier(commands, before);
                    once.call(commands, slot);
                }
                None => {
                    let timer = slot.map(|slot| part.timers.start(commands, slot));
                    part.commands.play(&shared, commands, before, timer);
                }
            }
            if let Some(exit) = shared.on_same_family(exit) {
                shared.cmd_barrier(commands, Flags::closing(exit));
            }
            shared.cmd_end_label(commands);
        }
        Some(run)
    }

    /// Makes enough timers for `runs` timed runs of the first part to be pending at once.
    pub(super) fn reserve_timers(&mut self, runs: u32) -> Result<(), Error> {
        let Some(part) = self.parts.first_mut() else { return Ok(()) };
        part.timers.reserve(runs)?;
        part.once.as_mut().map_or(Ok(()), |once| once.reserve(&part.commands, &part.timers))
    }

    /// Times of the oldest finished run that was not reported yet. Never waits.
    pub fn times(&mut self) -> crate::Result<Option<RunTimes>> {
        self.part_times(Part::FIRST)
    }

    /// As [`Program::times`], for an attached recording.
    pub fn part_times(&mut self, part: Part) -> crate::Result<Option<RunTimes>> {
        let part = self.parts.get_mut(part.0 as usize).ok_or_else(|| no_part(&self.recording, part))?;
        Ok(part.timers.take()?)
    }

    /// Queue families that share the buffers; empty or one when the buffers are `EXCLUSIVE`.
    pub(super) fn families(&self) -> &[u32] {
        &self.families
    }

    /// The recording it was made with, and the buffers of all that were attached.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The `VkBuffer` of a buffer of the recording, for the host's own shaders.
    pub fn vk_buffer(&self, buffer: BufferId) -> Option<vk::Buffer> {
        let found = self.buffers.get(self.recording.info(buffer)?.block.0 as usize).map(|b| b.0);
        found.filter(|buffer| *buffer != vk::Buffer::null())
    }

    /// The `VkBuffer`s of all blocks from `first` on.
    pub(super) fn vk_blocks(&self, first: usize) -> Vec<vk::Buffer> {
        self.buffers.iter().skip(first).map(|b| b.0).collect()
    }

    /// Copies of the persistent buffers into those of the same name in `to`: source, target, region.
    pub(super) fn persistent_copies(&self, to: &Self) -> Vec<(vk::Buffer, vk::Buffer, vk::BufferCopy)> {
        let kept = self.recording.buffers().iter().filter(|b| b.role == Role::Persistent);
        let copy = |from: &BufferInfo| {
            let target = to.recording.find(&from.name)?;
            let size = (u64::from(from.stride) * from.count).min(to.recording.info(target)?.size());
            let source = self.buffers.get(from.block.0 as usize)?.0;
            let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size };
            (size > 0).then_some((source, to.vk_buffer(target)?, region))
        };
        kept.filter_map(copy).collect()
    }

    /// Memory by block, as allocated.
    pub fn memory(&self) -> Vec<MemoryUse> {
        let sizes = self.buffers.iter().map(|(_, a)| a.as_ref().map_or(0, |a| a.size));
        self.recording.blocks().into_iter().zip(sizes).map(|(b, bytes)| MemoryUse { name: b.name, bytes }).collect()
    }
}

/// Locks the allocator. Ignores poisoning: a panic in another user of the lock does not damage it.
pub(super) fn lock<M>(memory: &SharedMemory<M>) -> MutexGuard<'_, M> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check_sizes(shared: &Shared, recording: &Recording) -> Result<(), Error> {
    let support = &shared.support;
    let limit = support.max_storage_buffer_range.min(support.max_allocation);
    let device = support.device_name.clone();
    if let Some(info) = recording.buffers().iter().find(|b| b.size() > limit) {
        return Err(Error::BindingTooLarge { buffer: info.name.clone(), size: info.size(), limit, device });
    }
    let needed = recording.memory();
    if needed > support.device_memory {
        let (recording, available) = (recording.name().to_owned(), support.device_memory);
        return Err(Error::WorldTooLarge { recording, needed, available, device });
    }
    Ok(())
}

impl<M: Memory> Drop for Program<M> {
    fn drop(&mut self) {
        self.destroy_buffers(0);
    }
}
