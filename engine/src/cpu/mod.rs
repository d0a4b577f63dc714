//! Runs a recording natively: the same kernel functions, workgroups spread over threads.
//!
//! A dispatch is a parallel loop over ranges of workgroups. Commands run one after the other, so every barrier of the
//! schedule holds implicitly. The contents of buffers and push constants are not trusted: the views that stages get
//! check every index (see the head of `kernels/src/gpu/buffers.rs`). Running allocates nothing but the report.
//! Results depend neither on the number of threads nor on which thread runs which range: kernels write each element
//! once, or atomically with commutative operations.

mod memory;

use crate::backend::{DeviceInfo, MemoryUse, Part, PartBlocks, PassTime, RunTimes, Runner, check_bounds, no_part};
use crate::plan::{BlockInfo, BufferId, Command, Groups, Recording, Stage};
use crate::state::Role;
use crate::{Error, Result};
use drystone_kernels::gpu::{Call, RawBuffer};
use drystone_kernels::layout::DispatchArgs;
use memory::Block;
use rayon::prelude::*;
use std::ops::Range;
use std::time::Instant;

/// Ranges of workgroups a thread gets of one dispatch: enough to even out ranges of different cost.
const RANGES_A_THREAD: u32 = 8;

/// Which instructions stages run on. Results are the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Instructions {
    /// The best that stages are compiled for and the processor has: those of x86-64-v3, or the baseline.
    #[default]
    Best,
    /// Those that every processor of the kind has.
    Baseline,
}

/// A recording on the CPU.
pub struct Cpu {
    device: DeviceInfo,
    recording: Recording,
    parts: Vec<ReadyPart>,
    memory: Vec<Block>,
    /// `None` for one thread: that is the caller's.
    pool: Option<rayon::ThreadPool>,
    /// Which of its two forms of a stage runs.
    instructions: Instructions,
}

/// A recording that shares the memory.
struct ReadyPart {
    commands: Vec<(&'static str, Ready)>,
    runs: u64,
    blocks: PartBlocks,
}

/// A command with its addresses looked up.
enum Ready {
    Dispatch { stage: &'static Stage, push: Vec<u8>, buffers: Vec<RawBuffer>, groups: ReadyGroups },
    Fill { target: RawBuffer, value: u32 },
    Copy { source: RawBuffer, target: RawBuffer },
}

enum ReadyGroups {
    Direct(u32),
    Indirect(*const DispatchArgs),
}

// SAFETY: the addresses point into `Cpu::memory`, which is owned by the same value and never moved or resized, and they
// are used only by methods that borrow it exclusively.
unsafe impl Send for Ready {}
// SAFETY: as above; sharing a command gives no access to the memory behind it except through `run`.
unsafe impl Sync for Ready {}

/// Lets worker threads share the addresses of a dispatch.
struct Shared<'a>(Call<'a>);

// SAFETY: the stage's contract (`Stage::run`) says that workgroups of a dispatch may run on several threads at once.
unsafe impl Sync for Shared<'_> {}

impl Cpu {
    /// Allocates the recording's buffers, zeroed, and starts `threads` workers (`None`: one a core). With one thread
    /// no worker is started and recordings run on the caller's thread, so that a server can spread thousands of small
    /// worlds over its own threads. An error when memory or threads are not available.
    pub fn new(recording: Recording, threads: Option<usize>) -> Result<Self> {
        Self::with_instructions(recording, threads, Instructions::Best)
    }

    /// The same on instructions of one's choice: to compare their results, or to look for a fault of one of them.
    pub fn with_instructions(recording: Recording, threads: Option<usize>, instructions: Instructions) -> Result<Self> {
        let builder = || {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads.unwrap_or(0))
                .thread_name(|i| format!("drystone-{i}"))
                .build()
                .map_err(|e| Error::Threads(e.to_string()))
        };
        let pool = if threads == Some(1) { None } else { Some(builder()?) };
        let device = DeviceInfo {
            backend: "cpu",
            name: format!("{} threads", pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)),
            driver: match instructions {
                Instructions::Best => "native".to_owned(),
                Instructions::Baseline => "native, baseline instructions".to_owned(),
            },
            subgroup_size: 1,
        };
        let empty = Recording::new(recording.name());
        let mut cpu = Self { device, recording: empty, parts: Vec::new(), memory: Vec::new(), pool, instructions };
        cpu.attach(recording.clone())?;
        cpu.recording = recording;
        Ok(cpu)
    }

    /// The memory that a buffer lies in. The caller has checked that there is such a buffer.
    fn block(&mut self, buffer: BufferId) -> &mut [u8] {
        self.memory[self.recording.buffers()[buffer.0 as usize].block.0 as usize].bytes_mut()
    }
}

impl Ready {
    fn new(command: &Command, recording: &Recording, memory: &mut [Block]) -> Self {
        let mut whole = |id: BufferId| {
            let info = &recording.buffers()[id.0 as usize];
            part(memory[info.block.0 as usize].raw(), 0, info.size())
        };
        match command {
            Command::Dispatch { invocation, groups } => Self::Dispatch {
                stage: invocation.stage,
                push: invocation.push.clone(),
                buffers: invocation.buffers.iter().map(|&id| whole(id)).collect(),
                groups: match *groups {
                    Groups::Direct(count) => ReadyGroups::Direct(count),
                    Groups::Indirect { args, index } => {
                        let start = whole(args).start.cast::<DispatchArgs>();
                        ReadyGroups::Indirect(start.wrapping_add(index as usize))
                    }
                },
            },
            Command::Fill { buffer, range, value } => {
                Self::Fill { target: part(whole(*buffer), range.start, range.end - range.start), value: *value }
            }
            Command::Copy { source, source_offset, target, target_offset, size } => Self::Copy {
                source: part(whole(*source), *source_offset, *size),
                target: part(whole(*target), *target_offset, *size),
            },
        }
    }

    fn run(&self, threads: u32, instructions: Instructions) {
        match self {
            Self::Dispatch { stage, push, buffers, groups } => {
                let count = match *groups {
                    ReadyGroups::Direct(count) => count,
                    ReadyGroups::Indirect(args) => {
                        // SAFETY: the recording checked that the entry lies in its buffer; nothing writes it now.
                        let DispatchArgs { x, y, z } = unsafe { args.read() };
                        x.saturating_mul(y).saturating_mul(z).min(useful_groups(stage, buffers))
                    }
                };
                let form = match instructions {
                    Instructions::Best => stage.run,
                    Instructions::Baseline => stage.baseline,
                };
                dispatch(form, Call { push, buffers }, count, threads);
            }
            Self::Fill { target, value } => {
                // SAFETY: the recording checked the range, which is in whole words; this thread is the only one here.
                let words = unsafe { std::slice::from_raw_parts_mut(target.start.cast::<u32>(), target.size / 4) };
                words.fill(*value);
            }
            // SAFETY: the recording checked both ranges and that they do not overlap.
            Self::Copy { source, target } => unsafe {
                std::ptr::copy_nonoverlapping(source.start, target.start, target.size);
            },
        }
    }
}

/// Memory for the blocks of a recording from number `first` on.
fn blocks(recording: &Recording, first: usize) -> Result<Vec<Block>> {
    let missing = |info: &BlockInfo| Error::OutOfHostMemory { buffer: info.name.clone(), size: info.size };
    let blocks = recording.blocks();
    blocks.iter().skip(first).map(|info| Block::zeroed(info.size).ok_or_else(|| missing(info))).collect()
}

fn part(buffer: RawBuffer, offset: u64, size: u64) -> RawBuffer {
    RawBuffer { start: buffer.start.wrapping_add(offset as usize), size: size as usize }
}

/// Upper bound of the useful workgroups of an indirect dispatch: enough lanes for every bit of its largest buffer. A
/// wrong number in the argument buffer must not keep the CPU busy for hours; a GPU does not take more than some
/// billions either.
fn useful_groups(stage: &Stage, buffers: &[RawBuffer]) -> u32 {
    let bytes = buffers.iter().map(|b| b.size as u64).max().unwrap_or(0);
    let groups = bytes.saturating_mul(8).div_ceil(u64::from(stage.threads.max(1)));
    u32::try_from(groups).unwrap_or(u32::MAX).min(Groups::most(stage))
}

fn dispatch(form: unsafe fn(Call<'_>, Range<u32>), call: Call<'_>, groups: u32, threads: u32) {
    let ranges = groups.min(if threads > 1 { threads * RANGES_A_THREAD } else { 1 });
    let call = Shared(call);
    let run = |range: u32| {
        let call: &Shared<'_> = &call;
        let edge = |i: u32| (u64::from(groups) * u64::from(i) / u64::from(ranges)) as u32;
        // SAFETY: `Ready` holds a live buffer for every binding of the stage, and ranges do not overlap.
        unsafe { form(call.0, edge(range)..edge(range + 1)) };
    };
    if ranges <= 1 {
        (0..ranges).for_each(run);
    } else {
        (0..ranges).into_par_iter().with_max_len(1).for_each(run);
    }
}

impl Runner for Cpu {
    fn device(&self) -> &DeviceInfo {
        &self.device
    }

    fn recording(&self) -> &Recording {
        &self.recording
    }

    fn write_bytes(&mut self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        check_bounds(&self.recording, buffer, offset, bytes.len() as u64)?;
        let start = offset as usize;
        self.block(buffer)[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read_bytes(&mut self, buffer: BufferId, offset: u64, into: &mut [u8]) -> Result<()> {
        check_bounds(&self.recording, buffer, offset, into.len() as u64)?;
        let start = offset as usize;
        into.copy_from_slice(&self.block(buffer)[start..start + into.len()]);
        Ok(())
    }

    fn copies_at_once(&self) -> bool {
        true
    }

    fn attach(&mut self, recording: Recording) -> Result<Part> {
        recording.check_shares(&self.recording)?;
        let mut new = blocks(&recording, self.memory.len())?;
        let blocks = PartBlocks::new(&recording, self.memory.len());
        self.memory.append(&mut new);
        self.recording.adopt_buffers(&recording);
        let ready = recording.commands().iter().map(|c| (c.name(), Ready::new(c, &recording, &mut self.memory)));
        self.parts.push(ReadyPart { commands: ready.collect(), runs: 0, blocks });
        Ok(Part(self.parts.len() as u32 - 1))
    }

    fn detach(&mut self, part: Part) -> Result<()> {
        let own = PartBlocks::check_detach(&self.recording, self.parts.iter().map(|p| &p.blocks), part)?;
        // Drop the commands first: they hold addresses of the memory that is freed.
        let slot = &mut self.parts[part.0 as usize];
        (slot.commands, slot.blocks) = (Vec::new(), PartBlocks::gone());
        self.recording.forget(own.clone());
        let small = self.recording.blocks();
        self.memory.truncate(small.len());
        for index in own.filter(|index| (*index as usize) < small.len()) {
            // An empty buffer still needs an address. If even that cannot be allocated, it keeps its old memory.
            if let Some(block) = Block::zeroed(small[index as usize].size) {
                self.memory[index as usize] = block;
            }
        }
        Ok(())
    }

    fn replace(&mut self, recording: Recording) -> Result<()> {
        if recording.buffers() != self.recording.buffers() {
            let mut memory = blocks(&recording, 0)?;
            for from in self.recording.buffers().iter().filter(|b| b.role == Role::Persistent) {
                let Some(to) = recording.find(&from.name).and_then(|id| recording.info(id)) else { continue };
                let size = (u64::from(from.stride) * from.count.min(to.count)) as usize;
                let source = &self.memory[from.block.0 as usize].bytes_mut()[..size];
                memory[to.block.0 as usize].bytes_mut()[..size].copy_from_slice(source);
            }
            self.memory = memory;
        }
        let commands = recording.commands().iter().map(|c| (c.name(), Ready::new(c, &recording, &mut self.memory)));
        let blocks = PartBlocks::new(&recording, 0);
        self.parts = vec![ReadyPart { commands: commands.collect(), runs: 0, blocks }];
        self.recording = recording;
        Ok(())
    }

    fn run_part(&mut self, part: Part) -> Result<RunTimes> {
        let wanted = part;
        let Self { parts, pool, recording, instructions, .. } = self;
        let part = parts.get_mut(part.0 as usize).filter(|p| p.blocks.is_there());
        let part = part.ok_or_else(|| no_part(recording, wanted))?;
        let mut times = RunTimes { run: part.runs, passes: Vec::with_capacity(part.commands.len()) };
        let threads = pool.as_ref().map_or(1, |pool| pool.current_num_threads() as u32);
        let mut run = || {
            for (command, (name, ready)) in part.commands.iter().enumerate() {
                let start = Instant::now();
                ready.run(threads, *instructions);
                times.passes.push(PassTime { name, command, commands: 1, time: start.elapsed() });
            }
        };
        match pool {
            Some(pool) => pool.install(run),
            None => run(),
        }
        part.runs += 1;
        Ok(times)
    }

    fn memory(&self) -> Vec<MemoryUse> {
        let sizes = self.memory.iter().map(Block::size);
        self.recording.blocks().into_iter().zip(sizes).map(|(b, bytes)| MemoryUse { name: b.name, bytes }).collect()
    }
}
