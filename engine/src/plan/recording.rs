//! [`Recording`]: commands over named buffers. Building one checks everything that can be checked without a device,
//! so that a backend only gets valid recordings.

use super::error::PlanError;
use crate::state::Role;
use bytemuck::Pod;
use drystone_kernels::gpu::{Access, Buffer, BufferId, Invocation, Stage};
use drystone_kernels::layout::{DispatchArgs, MAX_GROUPS_X};
use std::collections::BTreeSet;
use std::ops::Range;

/// A buffer as a recording knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferInfo {
    /// Shown in debuggers, reports and memory tables.
    pub name: String,
    /// Bytes an element.
    pub stride: u32,
    /// Elements.
    pub count: u64,
    /// Holds arguments of indirect dispatches.
    pub indirect: bool,
    /// What it is for.
    pub role: Role,
    /// The memory it lies in: see [`Recording::blocks`].
    pub block: BlockId,
}

/// Names a piece of memory of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// Memory that one buffer has to itself, or several that are never in use at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockInfo {
    /// The buffer's name, or that of the largest buffer and the number of others.
    pub name: String,
    /// Bytes: those of the largest buffer in it.
    pub size: u64,
    /// Holds arguments of indirect dispatches.
    pub indirect: bool,
    /// The buffers in it, in the order of their declaration.
    pub buffers: Vec<BufferId>,
}

impl BufferInfo {
    /// Bytes of its elements.
    pub fn capacity(&self) -> u64 {
        u64::from(self.stride).saturating_mul(self.count)
    }

    /// Bytes. Never 0: an empty list still has an address.
    pub fn size(&self) -> u64 {
        self.capacity().max(16)
    }
}

/// How many workgroups a dispatch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Groups {
    /// Known on the host.
    Direct(u32),
    /// Written by an earlier pass: entry `index` of a buffer of [`DispatchArgs`].
    Indirect {
        /// The buffer.
        args: BufferId,
        /// The entry.
        index: u32,
    },
}

impl Groups {
    /// Largest number of workgroups of a dispatch of `stage`: every device supports it, and lanes are numbered with
    /// 32 bits.
    pub fn most(stage: &Stage) -> u32 {
        (u32::MAX / stage.threads.max(1)).min(MAX_GROUPS_X.saturating_mul(MAX_GROUPS_X))
    }

    /// Workgroups along x and y for a direct dispatch: a line while it fits, then rows of the greatest length.
    pub fn grid(count: u32) -> [u32; 2] {
        if count <= MAX_GROUPS_X { [count, 1] } else { [MAX_GROUPS_X, count.div_ceil(MAX_GROUPS_X)] }
    }
}

/// One command of a recording.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Command {
    /// Runs a stage.
    Dispatch {
        /// The stage, its buffers and push constants.
        invocation: Invocation,
        /// Number of workgroups.
        groups: Groups,
    },
    /// Sets every word of a range.
    Fill {
        /// The buffer.
        buffer: BufferId,
        /// Bytes.
        range: Range<u64>,
        /// The word.
        value: u32,
    },
    /// Copies bytes between buffers.
    Copy {
        /// From here.
        source: BufferId,
        /// First byte there.
        source_offset: u64,
        /// To here.
        target: BufferId,
        /// First byte here.
        target_offset: u64,
        /// Bytes.
        size: u64,
    },
}

/// The kind of memory access: it decides the pipeline stage and access flags of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum UseKind {
    /// A stage, through a storage buffer binding.
    Shader,
    /// Fill or copy.
    Transfer,
    /// Arguments of an indirect dispatch.
    Indirect,
}

/// A command's use of a range of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Use {
    /// The buffer.
    pub buffer: BufferId,
    /// The memory that the buffer lies in: two uses conflict when they touch the same bytes of it.
    pub block: BlockId,
    /// Bytes.
    pub range: Range<u64>,
    /// Read or written.
    pub access: Access,
    /// The kind of access.
    pub kind: UseKind,
}

impl Command {
    /// The stage's name, `fill` or `copy`: also the name of the timer.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dispatch { invocation, .. } => invocation.stage.name,
            Self::Fill { .. } => "fill",
            Self::Copy { .. } => "copy",
        }
    }
}

/// A list of commands over named buffers. See the [module's head](super).
#[derive(Clone, Debug)]
pub struct Recording {
    name: String,
    buffers: Vec<BufferInfo>,
    blocks: u32,
    commands: Vec<Command>,
    /// Blocks whose memory was freed.
    gone: Vec<Range<u32>>,
}

impl Recording {
    /// An empty recording. The name labels it in debuggers.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), buffers: Vec::new(), blocks: 0, commands: Vec::new(), gone: Vec::new() }
    }

    /// An empty recording over the buffers of `base`, under the same handles. It may declare more of its own.
    /// [`Runner::attach`](crate::backend::Runner::attach) makes it ready beside `base`.
    pub fn sharing(base: &Self, name: impl Into<String>) -> Self {
        let (buffers, blocks, gone) = (base.buffers.clone(), base.blocks, base.gone.clone());
        Self { name: name.into(), buffers, blocks, commands: Vec::new(), gone }
    }

    /// Appends commands of a recording whose buffers this one shares.
    pub fn repeat(&mut self, base: &Self, commands: Range<usize>) -> Result<(), PlanError> {
        self.check_shares(base)?;
        self.commands.extend(base.commands.iter().take(commands.end).skip(commands.start).cloned());
        Ok(())
    }

    /// Checks that the recording begins with the buffers of `base`.
    pub(crate) fn check_shares(&self, base: &Self) -> Result<(), PlanError> {
        if self.buffers.starts_with(&base.buffers) {
            let used = self.used_blocks();
            match base.gone.iter().flat_map(Clone::clone).find(|block| used.contains(block)) {
                Some(_) => return Err(PlanError::Gone { recording: self.name.clone(), base: base.name.clone() }),
                None => return self.check_shared_memory(),
            }
        }
        Err(PlanError::NotShared { recording: self.name.clone(), base: base.name.clone() })
    }

    /// Takes over the buffers that `other` declared beyond those it shares with this one.
    pub(crate) fn adopt_buffers(&mut self, other: &Self) {
        self.buffers.extend(other.buffers.iter().skip(self.buffers.len()).cloned());
        self.blocks = self.blocks.max(other.blocks);
    }

    /// Blocks that its commands touch.
    pub(crate) fn used_blocks(&self) -> BTreeSet<u32> {
        self.commands.iter().flat_map(|command| self.uses(command)).map(|used| used.block.0).collect()
    }

    /// Frees these blocks: their buffers become empty and keep only their numbers. Blocks at the end of the list are
    /// removed entirely, and their numbers are reused.
    pub(crate) fn forget(&mut self, blocks: Range<u32>) {
        for (id, info) in self.buffers.iter_mut().enumerate().filter(|(_, b)| blocks.contains(&b.block.0)) {
            (info.name, info.count) = (format!("gone {id}"), 0);
        }
        self.gone.push(blocks);
        while let Some(at) = self.gone.iter().position(|gone| gone.end == self.blocks) {
            let gone = self.gone.swap_remove(at);
            // Blocks and buffers of what is attached are numbered in the same order.
            self.buffers.retain(|b| b.block.0 < gone.start);
            self.blocks = gone.start;
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its buffers; a [`BufferId`] is an index into them.
    pub fn buffers(&self) -> &[BufferInfo] {
        &self.buffers
    }

    /// Its commands.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Its commands, for a plan that changes how they are dispatched.
    pub(super) fn commands_mut(&mut self) -> &mut Vec<Command> {
        &mut self.commands
    }

    /// The same buffers with only the first `count` commands, for inspecting what the passes leave behind one by one.
    pub fn first(&self, count: usize) -> Self {
        Self {
            name: format!("{}, first {count}", self.name),
            buffers: self.buffers.clone(),
            blocks: self.blocks,
            commands: self.commands.iter().take(count).cloned().collect(),
            gone: self.gone.clone(),
        }
    }

    /// Facts about a buffer of this recording, if it is one.
    pub fn info(&self, buffer: BufferId) -> Option<&BufferInfo> {
        self.buffers.get(buffer.0 as usize)
    }

    /// The buffer of a name.
    pub fn find(&self, name: &str) -> Option<BufferId> {
        self.buffers.iter().position(|b| b.name == name).map(|i| BufferId(i as u32))
    }

    /// `stem`, or the first of `stem2`, `stem3`, ... that no buffer's name begins with.
    pub(crate) fn free_name(&self, stem: &str) -> String {
        let taken = |name: &str| self.buffers.iter().any(|b| b.name.split('.').next() == Some(name));
        let others = (2..).map(|i: u32| format!("{stem}{i}"));
        std::iter::once(stem.to_owned()).chain(others).find(|name| !taken(name)).unwrap_or_default()
    }

    /// The memory that its buffers lie in; a [`BlockId`] is an index into it.
    pub fn blocks(&self) -> Vec<BlockInfo> {
        let none = BlockInfo { name: String::new(), size: 0, indirect: false, buffers: Vec::new() };
        let mut blocks = vec![none; self.blocks as usize];
        for (id, info) in (0..).map(BufferId).zip(&self.buffers) {
            let block = &mut blocks[info.block.0 as usize];
            if info.size() > block.size {
                (block.name, block.size) = (info.name.clone(), info.size());
            }
            block.indirect |= info.indirect;
            block.buffers.push(id);
        }
        for block in blocks.iter_mut().filter(|b| b.buffers.len() > 1) {
            block.name = format!("{} and {} more", block.name, block.buffers.len() - 1);
        }
        blocks
    }

    /// Bytes of all its memory.
    pub fn memory(&self) -> u64 {
        self.blocks().iter().map(|b| b.size).sum()
    }

    /// Declares a buffer of `count` elements that whoever runs the recording may read.
    pub fn buffer<T: Pod>(&mut self, name: impl Into<String>, count: u64) -> Result<Buffer<T>, PlanError> {
        self.buffer_as(name, Role::Result, count)
    }

    /// Declares a buffer of `count` elements whose contents are lost between runs: see [`Recording::share_scratch`].
    pub fn scratch<T: Pod>(&mut self, name: impl Into<String>, count: u64) -> Result<Buffer<T>, PlanError> {
        self.buffer_as(name, Role::Scratch, count)
    }

    /// Declares a buffer of `count` elements for a role.
    pub fn buffer_as<T: Pod>(
        &mut self,
        name: impl Into<String>,
        role: Role,
        count: u64,
    ) -> Result<Buffer<T>, PlanError> {
        self.declare(name.into(), size_of::<T>() as u32, count, false, role).map(Buffer::new)
    }

    /// Declares a buffer of `count` elements of `stride` bytes whose type only the caller knows.
    pub(crate) fn untyped(&mut self, name: &str, role: Role, stride: u32, count: u64) -> Result<BufferId, PlanError> {
        self.declare(name.to_owned(), stride, count, false, role)
    }

    /// Declares a buffer of arguments for indirect dispatches.
    pub fn dispatch_args(&mut self, name: impl Into<String>, count: u64) -> Result<Buffer<DispatchArgs>, PlanError> {
        self.declare(name.into(), size_of::<DispatchArgs>() as u32, count, true, Role::Scratch).map(Buffer::new)
    }

    fn declare(
        &mut self,
        name: String,
        stride: u32,
        count: u64,
        indirect: bool,
        role: Role,
    ) -> Result<BufferId, PlanError> {
        if self.buffers.iter().any(|b| b.name == name) {
            return Err(PlanError::DuplicateBuffer { recording: self.name.clone(), name });
        }
        let block = BlockId(self.blocks);
        self.blocks += 1;
        self.buffers.push(BufferInfo { name, stride, count, indirect, role, block });
        Ok(BufferId(self.buffers.len() as u32 - 1))
    }

    /// Moves buffers into other blocks: the new block of every buffer, and how many blocks there are.
    pub(super) fn place(&mut self, blocks: &[BlockId], count: u32) {
        for (info, block) in self.buffers.iter_mut().zip(blocks) {
            info.block = *block;
        }
        self.blocks = count;
    }

    /// Appends a dispatch of `groups` workgroups; 0 appends nothing. An error when a buffer, a range or the size is
    /// invalid.
    pub fn dispatch(&mut self, groups: u64, invocation: Invocation) -> Result<(), PlanError> {
        let most = Groups::most(invocation.stage);
        let count = u32::try_from(groups)
            .ok()
            .filter(|count| *count <= most)
            .ok_or_else(|| PlanError::TooManyGroups { command: invocation.stage.name.to_owned(), groups, most })?;
        if count == 0 {
            return Ok(());
        }
        self.push_dispatch(Groups::Direct(count), invocation)
    }

    /// Appends a dispatch over `items` items of a stage that treats each by itself.
    pub fn dispatch_each(&mut self, items: u64, invocation: Invocation) -> Result<(), PlanError> {
        self.dispatch(items.div_ceil(u64::from(invocation.stage.threads.max(1))), invocation)
    }

    /// Appends a dispatch whose size an earlier pass writes into entry `index` of `args`.
    pub fn dispatch_indirect(
        &mut self,
        args: Buffer<DispatchArgs>,
        index: u32,
        invocation: Invocation,
    ) -> Result<(), PlanError> {
        let entry = size_of::<DispatchArgs>() as u64;
        let start = u64::from(index) * entry;
        self.check_range(invocation.stage.name, args.id(), &(start..start + entry))?;
        let info = self.known(invocation.stage.name, args.id())?;
        if !info.indirect {
            let (command, buffer) = (invocation.stage.name.to_owned(), info.name.clone());
            return Err(PlanError::NotArguments { command, buffer });
        }
        self.push_dispatch(Groups::Indirect { args: args.id(), index }, invocation)
    }

    fn push_dispatch(&mut self, groups: Groups, invocation: Invocation) -> Result<(), PlanError> {
        let stage = invocation.stage;
        let (buffers, bindings) = (invocation.buffers.len(), stage.bindings.len());
        if buffers != bindings {
            return Err(PlanError::BufferCount { command: stage.name.to_owned(), buffers, bindings });
        }
        let (size, expected) = (invocation.push.len(), stage.push_size as usize);
        if size != expected {
            return Err(PlanError::PushSize { command: stage.name.to_owned(), size, expected });
        }
        for (i, (binding, &id)) in stage.bindings.iter().zip(&invocation.buffers).enumerate() {
            let info = self.known(stage.name, id)?;
            if info.stride != binding.stride {
                return Err(PlanError::Stride {
                    command: stage.name.to_owned(),
                    buffer: info.name.clone(),
                    stride: info.stride,
                    expected: binding.stride,
                });
            }
            let twice = invocation.buffers.iter().zip(stage.bindings).skip(i + 1).find(|(other, _)| **other == id);
            if twice.is_some_and(|(_, other)| binding.access.writes() || other.access.writes()) {
                let buffer = info.name.clone();
                return Err(PlanError::Aliased { command: stage.name.to_owned(), buffer });
            }
        }
        self.commands.push(Command::Dispatch { invocation, groups });
        Ok(())
    }

    /// Appends a fill of elements `elements` of `buffer` with a 32-bit word.
    pub fn fill<T: Pod>(&mut self, buffer: Buffer<T>, elements: Range<u64>, value: u32) -> Result<(), PlanError> {
        let stride = size_of::<T>() as u64;
        let range = elements.start.saturating_mul(stride)..elements.end.saturating_mul(stride);
        self.check_range("fill", buffer.id(), &range)?;
        if !range.is_empty() {
            self.commands.push(Command::Fill { buffer: buffer.id(), range, value });
        }
        Ok(())
    }

    /// Appends a copy of `count` elements.
    pub fn copy<T: Pod>(
        &mut self,
        source: (Buffer<T>, u64),
        target: (Buffer<T>, u64),
        count: u64,
    ) -> Result<(), PlanError> {
        let stride = size_of::<T>() as u64;
        let bytes = |start: u64| start.saturating_mul(stride)..start.saturating_add(count).saturating_mul(stride);
        let (from, to) = (bytes(source.1), bytes(target.1));
        self.check_range("copy", source.0.id(), &from)?;
        self.check_range("copy", target.0.id(), &to)?;
        let same = source.0.id() == target.0.id();
        if same && from.start < to.end && to.start < from.end && count > 0 {
            let buffer = self.buffers[source.0.id().0 as usize].name.clone();
            return Err(PlanError::Aliased { command: "copy".to_owned(), buffer });
        }
        if count > 0 {
            self.commands.push(Command::Copy {
                source: source.0.id(),
                source_offset: from.start,
                target: target.0.id(),
                target_offset: to.start,
                size: to.end - to.start,
            });
        }
        Ok(())
    }

    /// All buffer ranges that a command of this recording reads or writes.
    pub fn uses(&self, command: &Command) -> Vec<Use> {
        let whole = |buffer: BufferId| 0..self.buffers[buffer.0 as usize].size();
        let block = |buffer: BufferId| self.buffers[buffer.0 as usize].block;
        match command {
            Command::Dispatch { invocation, groups } => {
                let bound = invocation.stage.bindings.iter().zip(&invocation.buffers).map(|(binding, &buffer)| Use {
                    buffer,
                    block: block(buffer),
                    range: whole(buffer),
                    access: binding.access,
                    kind: UseKind::Shader,
                });
                let args = match *groups {
                    Groups::Direct(_) => None,
                    Groups::Indirect { args, index } => {
                        let entry = size_of::<DispatchArgs>() as u64;
                        let start = u64::from(index) * entry;
                        let range = start..start + entry;
                        let block = block(args);
                        Some(Use { buffer: args, block, range, access: Access::Read, kind: UseKind::Indirect })
                    }
                };
                bound.chain(args).collect()
            }
            Command::Fill { buffer, range, .. } => {
                let (buffer, block, range) = (*buffer, block(*buffer), range.clone());
                vec![Use { buffer, block, range, access: Access::Write, kind: UseKind::Transfer }]
            }
            Command::Copy { source, source_offset, target, target_offset, size } => vec![
                Use {
                    buffer: *source,
                    block: block(*source),
                    range: *source_offset..source_offset + size,
                    access: Access::Read,
                    kind: UseKind::Transfer,
                },
                Use {
                    buffer: *target,
                    block: block(*target),
                    range: *target_offset..target_offset + size,
                    access: Access::Write,
                    kind: UseKind::Transfer,
                },
            ],
        }
    }

    fn known(&self, command: &str, buffer: BufferId) -> Result<&BufferInfo, PlanError> {
        self.info(buffer).ok_or_else(|| PlanError::UnknownBuffer {
            recording: self.name.clone(),
            command: command.to_owned(),
            buffer: buffer.0,
            buffers: self.buffers.len(),
        })
    }

    fn check_range(&self, command: &str, buffer: BufferId, range: &Range<u64>) -> Result<(), PlanError> {
        let info = self.known(command, buffer)?;
        let size = info.capacity();
        let aligned = range.start.is_multiple_of(4) && range.end.is_multiple_of(4);
        if range.start > range.end || range.end > size || !aligned {
            let buffer = info.name.clone();
            return Err(PlanError::Range { command: command.to_owned(), buffer, range: range.clone(), size });
        }
        Ok(())
    }
}
