//! A recording as a flat list of Vulkan calls: built once for a program, replayed into every frame's command buffer.
//! Redundant binds and pushes are removed when the list is built, so replaying makes no decisions: the colours of a
//! sweep share a pipeline and its buffers, and what is pushed often begins as what was pushed for another stage.

use super::host::Shared;
use super::record::Flags;
use ash::vk;
use std::ffi::{CStr, CString};
use std::ops::Range;

/// A dispatch with its handles looked up.
pub(super) struct Dispatch<'a> {
    pub label: &'a CStr,
    pub pipeline: vk::Pipeline,
    pub layout: vk::PipelineLayout,
    pub set: vk::DescriptorSet,
    pub push: &'a [u8],
    pub groups: ReadyGroups,
}

/// How many workgroups.
#[derive(Clone, Copy)]
pub(super) enum ReadyGroups {
    Direct([u32; 2]),
    Indirect(vk::Buffer, u64),
}

/// One Vulkan call.
enum Call {
    BeginLabel(CString),
    EndLabel,
    Barrier(Flags),
    Pipeline(vk::Pipeline),
    Set(vk::DescriptorSet),
    Push(Range<usize>),
    Dispatch([u32; 2]),
    DispatchIndirect(vk::Buffer, u64),
    Fill { buffer: vk::Buffer, offset: u64, size: u64, value: u32 },
    Copy { source: vk::Buffer, target: vk::Buffer, region: vk::BufferCopy },
    Stamp(u32),
}

/// The state that the calls so far have bound, to find redundant binds.
#[derive(Default)]
struct Bound {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    /// Push constants as far as they are known. All pipeline layouts have the same range of them, so binding another
    /// pipeline leaves them as they are ("compatible for push constants", Vulkan 14.2.2).
    pushed: Vec<u8>,
    label: Option<CString>,
}

/// The list of calls.
#[derive(Default)]
pub(super) struct Commands {
    /// Every call with the pipeline layout that descriptor sets and push constants use.
    calls: Vec<(vk::PipelineLayout, Call)>,
    /// Bytes of all push constants.
    pushes: Vec<u8>,
    bound: Bound,
}

impl Commands {
    fn add(&mut self, call: Call) {
        self.calls.push((self.bound.layout, call));
    }

    pub fn barrier(&mut self, flags: Flags) {
        self.add(Call::Barrier(flags));
    }

    /// Adds a dispatch. Those of a stage in a row have one label together.
    pub fn dispatch(&mut self, dispatch: &Dispatch<'_>) {
        if self.bound.label.as_deref() != Some(dispatch.label) {
            self.end_label();
            self.add(Call::BeginLabel(dispatch.label.to_owned()));
            self.bound.label = Some(dispatch.label.to_owned());
        }
        // Another pipeline may have an incompatible set layout, which disturbs the bound set.
        let same = self.bound.pipeline == dispatch.pipeline;
        if !same {
            (self.bound.pipeline, self.bound.layout) = (dispatch.pipeline, dispatch.layout);
            self.add(Call::Pipeline(dispatch.pipeline));
        }
        if !same || self.bound.set != dispatch.set {
            self.bound.set = dispatch.set;
            self.add(Call::Set(dispatch.set));
        }
        if !self.bound.pushed.starts_with(dispatch.push) {
            let start = self.pushes.len();
            self.pushes.extend_from_slice(dispatch.push);
            let (known, size) = (&mut self.bound.pushed, dispatch.push.len());
            known.resize(known.len().max(size), 0);
            known[..size].copy_from_slice(dispatch.push);
            self.add(Call::Push(start..self.pushes.len()));
        }
        self.add(match dispatch.groups {
            ReadyGroups::Direct(groups) => Call::Dispatch(groups),
            ReadyGroups::Indirect(args, offset) => Call::DispatchIndirect(args, offset),
        });
    }

    pub fn fill(&mut self, buffer: vk::Buffer, offset: u64, size: u64, value: u32) {
        self.end_label();
        self.add(Call::Fill { buffer, offset, size, value });
    }

    pub fn copy(&mut self, source: vk::Buffer, target: vk::Buffer, region: vk::BufferCopy) {
        self.end_label();
        self.add(Call::Copy { source, target, region });
    }

    /// Writes a time stamp behind the commands so far, in runs that are timed.
    pub fn stamp(&mut self, query: u32) {
        self.add(Call::Stamp(query));
    }

    /// Closes the list.
    pub fn end_label(&mut self) {
        if self.bound.label.take().is_some() {
            self.add(Call::EndLabel);
        }
    }

    /// Makes the calls, behind a barrier `before` that the first of them may take up; time stamps go to `timer`.
    ///
    /// # Safety
    /// `commands` is in the recording state, outside a render pass, on the host's queue family; handles of the list are
    /// alive; queries of `timer` were reset before.
    pub unsafe fn play(
        &self,
        shared: &Shared,
        commands: vk::CommandBuffer,
        before: Flags,
        timer: Option<vk::QueryPool>,
    ) {
        let (device, point) = (&shared.host.device, vk::PipelineBindPoint::COMPUTE);
        let (before, calls) = match self.calls.split_first() {
            Some(((_, Call::Barrier(first)), rest)) => (before.and(*first), rest),
            _ => (before, &self.calls[..]),
        };
        // SAFETY: this function's contract.
        unsafe { shared.cmd_barrier(commands, before) };
        for (layout, call) in calls {
            // SAFETY: this function's contract; the list binds what every dispatch needs, and labels are ended.
            unsafe {
                match call {
                    Call::BeginLabel(label) => shared.cmd_begin_label(commands, label),
                    Call::EndLabel => shared.cmd_end_label(commands),
                    Call::Barrier(flags) => shared.cmd_barrier(commands, *flags),
                    Call::Pipeline(pipeline) => device.cmd_bind_pipeline(commands, point, *pipeline),
                    Call::Set(set) => device.cmd_bind_descriptor_sets(commands, point, *layout, 0, &[*set], &[]),
                    Call::Push(range) => {
                        let bytes = &self.pushes[range.clone()];
                        device.cmd_push_constants(commands, *layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
                    }
                    Call::Dispatch([x, y]) => device.cmd_dispatch(commands, *x, *y, 1),
                    Call::DispatchIndirect(args, offset) => device.cmd_dispatch_indirect(commands, *args, *offset),
                    Call::Fill { buffer, offset, size, value } => {
                        device.cmd_fill_buffer(commands, *buffer, *offset, *size, *value);
                    }
                    Call::Copy { source, target, region } => {
                        device.cmd_copy_buffer(commands, *source, *target, &[*region]);
                    }
                    Call::Stamp(query) => {
                        if let Some(pool) = timer {
                            let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
                            device.cmd_write_timestamp(commands, stage, pool, *query);
                        }
                    }
                }
            }
        }
    }
}
