//! From schedule to `vkCmd*`.

use super::host::Shared;
use crate::plan::{Barrier, UseKind};
use ash::vk;
use std::collections::BTreeSet;
use std::ffi::CStr;

/// What must be able to see the results after a recording: the closing barrier makes the engine's writes visible to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Stages that read.
    pub stages: vk::PipelineStageFlags,
    /// How they read.
    pub access: vk::AccessFlags,
}

fn stages(kinds: &BTreeSet<UseKind>) -> vk::PipelineStageFlags {
    kinds.iter().fold(vk::PipelineStageFlags::empty(), |all, kind| {
        all | match kind {
            UseKind::Shader => vk::PipelineStageFlags::COMPUTE_SHADER,
            UseKind::Transfer => vk::PipelineStageFlags::TRANSFER,
            UseKind::Indirect => vk::PipelineStageFlags::DRAW_INDIRECT,
        }
    })
}

fn writes(kinds: &BTreeSet<UseKind>) -> vk::AccessFlags {
    kinds.iter().fold(vk::AccessFlags::empty(), |all, kind| {
        all | match kind {
            UseKind::Shader => vk::AccessFlags::SHADER_WRITE,
            UseKind::Transfer => vk::AccessFlags::TRANSFER_WRITE,
            UseKind::Indirect => vk::AccessFlags::empty(),
        }
    })
}

fn any(kinds: &BTreeSet<UseKind>) -> vk::AccessFlags {
    kinds.iter().fold(vk::AccessFlags::empty(), |all, kind| {
        all | match kind {
            UseKind::Shader => vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE,
            UseKind::Transfer => vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE,
            UseKind::Indirect => vk::AccessFlags::INDIRECT_COMMAND_READ,
        }
    })
}

/// A barrier with its Vulkan flags looked up.
#[derive(Clone, Copy)]
pub(super) struct Flags {
    before: vk::PipelineStageFlags,
    after: vk::PipelineStageFlags,
    written: vk::AccessFlags,
    seen: vk::AccessFlags,
}

impl From<&Barrier> for Flags {
    fn from(barrier: &Barrier) -> Self {
        let none = vk::AccessFlags::empty();
        Self {
            before: stages(&barrier.before),
            after: stages(&barrier.after),
            written: if barrier.memory { writes(&barrier.before) } else { none },
            seen: if barrier.memory { any(&barrier.after) } else { none },
        }
    }
}

impl Flags {
    /// From everything one part may do to everything the next one may.
    pub fn between_parts() -> Self {
        let kinds = BTreeSet::from([UseKind::Shader, UseKind::Transfer, UseKind::Indirect]);
        Self { before: stages(&kinds), after: stages(&kinds), written: writes(&kinds), seen: any(&kinds) }
    }

    /// From everything a recording may do to what `exit` names.
    pub fn closing(exit: Exit) -> Self {
        Self {
            before: vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER,
            after: exit.stages,
            written: vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE,
            seen: exit.access,
        }
    }
}

impl Shared {
    /// # Safety
    /// `commands` is in the recording state, outside a render pass.
    pub unsafe fn cmd_barrier(&self, commands: vk::CommandBuffer, flags: Flags) {
        let memory = [vk::MemoryBarrier::default().src_access_mask(flags.written).dst_access_mask(flags.seen)];
        let barriers = if flags.seen.is_empty() { &memory[..0] } else { &memory[..] };
        let none = vk::DependencyFlags::empty();
        // SAFETY: this function's contract.
        unsafe {
            self.host.device.cmd_pipeline_barrier(commands, flags.before, flags.after, none, barriers, &[], &[]);
        }
    }

    /// # Safety
    /// As for [`Shared::cmd_barrier`]; every label that is begun is ended.
    pub unsafe fn cmd_begin_label(&self, commands: vk::CommandBuffer, name: &CStr) {
        if let Some(debug) = &self.host.debug_utils {
            let label = vk::DebugUtilsLabelEXT::default().label_name(name);
            // SAFETY: this function's contract.
            unsafe { debug.cmd_begin_debug_utils_label(commands, &label) };
        }
    }

    /// # Safety
    /// As for [`Shared::cmd_begin_label`].
    pub unsafe fn cmd_end_label(&self, commands: vk::CommandBuffer) {
        if let Some(debug) = &self.host.debug_utils {
            // SAFETY: this function's contract.
            unsafe { debug.cmd_end_debug_utils_label(commands) };
        }
    }
}
