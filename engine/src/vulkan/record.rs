//! Translates barriers of a schedule, and the host's accesses on entry and exit, into Vulkan barriers and debug
//! labels.

use super::host::Shared;
use crate::plan::{Barrier, UseKind};
use ash::vk;
use std::collections::BTreeSet;
use std::ffi::CStr;

/// How the host's own commands use the engine's buffers before or after a recording, and on which queue family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostAccess {
    /// Stages that read or write.
    pub stages: vk::PipelineStageFlags,
    /// Their kinds of access.
    pub access: vk::AccessFlags,
    /// The queue family of these commands, if it is not the recording's: ownership of buffers is then transferred,
    /// see [`HostAccess::on_family`]. `None`: the commands run on the recording's queue, and a barrier is enough.
    pub family: Option<u32>,
}

impl HostAccess {
    /// Commands on the queue that the recording is submitted to, which has these stages.
    pub const fn new(stages: vk::PipelineStageFlags, access: vk::AccessFlags) -> Self {
        Self { stages, access, family: None }
    }

    /// The same accesses on a queue of another family. The buffers that are transferred are those of [`PoseView`] for
    /// [`Stepper::record`], and the [`PoseTarget`] for [`Stepper::record_poses`]; all others stay with
    /// [`Host::queue_family`].
    ///
    /// **On exit** they are *released* to that family. The host's queue waits with a semaphore, *acquires* them with
    /// the same ranges ([`PoseView::transfer`], [`PoseTarget::transfer`]) before its first use, and *releases* them
    /// behind its last.
    ///
    /// **On entry**, after a semaphore of the host's, whatever an earlier exit released to that family is *acquired*.
    /// Buffers that were never released (before the first release, or made by growth since) already belong to the
    /// engine's family and are left out.
    ///
    /// The engine's halves of the transfers name only stages of its own queue; `stages` and `access` are for the
    /// host's halves. Nothing is transferred to the recording's own family, where a plain barrier is recorded, nor to
    /// a family of [`FramesOptions::shared_with`], where semaphores are enough.
    ///
    /// [`PoseView`]: super::PoseView
    /// [`PoseView::transfer`]: super::PoseView::transfer
    /// [`PoseTarget`]: super::PoseTarget
    /// [`PoseTarget::transfer`]: super::PoseTarget::transfer
    /// [`Host::queue_family`]: super::Host::queue_family
    /// [`FramesOptions::shared_with`]: super::FramesOptions::shared_with
    /// [`Stepper::record`]: crate::stepper::Stepper::record
    /// [`Stepper::record_poses`]: crate::stepper::Stepper::record_poses
    pub const fn on_family(self, family: u32) -> Self {
        Self { family: Some(family), ..self }
    }
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
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    pub before: vk::PipelineStageFlags,
    pub after: vk::PipelineStageFlags,
    written: vk::AccessFlags,
    pub seen: vk::AccessFlags,
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
    /// One barrier in the place of two with nothing between them. It orders all that either does, and what was written
    /// before the one for what is behind the other, too.
    pub fn and(self, other: Self) -> Self {
        Self {
            before: self.before | other.before,
            after: self.after | other.after,
            written: self.written | other.written,
            seen: self.seen | other.seen,
        }
    }

    /// From everything one part may do to everything the next one may.
    pub fn between_parts() -> Self {
        let kinds = BTreeSet::from([UseKind::Shader, UseKind::Transfer, UseKind::Indirect]);
        Self { before: stages(&kinds), after: stages(&kinds), written: writes(&kinds), seen: any(&kinds) }
    }

    /// From what the host did to everything a recording may do.
    pub fn opening(entry: HostAccess) -> Self {
        let all = Self::between_parts();
        let reads = vk::AccessFlags::INDIRECT_COMMAND_READ
            | vk::AccessFlags::INDEX_READ
            | vk::AccessFlags::VERTEX_ATTRIBUTE_READ
            | vk::AccessFlags::UNIFORM_READ
            | vk::AccessFlags::SHADER_READ
            | vk::AccessFlags::TRANSFER_READ
            | vk::AccessFlags::HOST_READ
            | vk::AccessFlags::MEMORY_READ;
        let written = entry.access & !reads;
        // After reads an execution dependency is enough; no memory has to become visible.
        let seen = if written.is_empty() { vk::AccessFlags::empty() } else { all.seen };
        Self { before: entry.stages, after: all.after, written, seen }
    }

    /// From copies to the host's reads of them.
    pub fn to_host() -> Self {
        Self {
            before: vk::PipelineStageFlags::TRANSFER,
            after: vk::PipelineStageFlags::HOST,
            written: vk::AccessFlags::TRANSFER_WRITE,
            seen: vk::AccessFlags::HOST_READ,
        }
    }

    /// From everything a recording may do to what `exit` names.
    pub fn closing(exit: HostAccess) -> Self {
        Self {
            before: vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER,
            after: exit.stages,
            written: vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE,
            seen: exit.access,
        }
    }
}

/// Zeroes new blocks, and copies into them what is carried over from old ones.
///
/// # Safety
/// `commands` is in the recording state, outside a render pass; the blocks are alive and used by nothing that is not
/// ordered before; the copies lie inside their buffers.
pub(super) unsafe fn record_carry(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    blocks: &[vk::Buffer],
    carried: &[(vk::Buffer, vk::Buffer, vk::BufferCopy)],
) {
    let written = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
    let (transfer, all) = (vk::PipelineStageFlags::TRANSFER, Flags::between_parts().after);
    let none = vk::DependencyFlags::empty();
    // SAFETY: this function's contract.
    unsafe {
        for &block in blocks {
            device.cmd_fill_buffer(commands, block, 0, vk::WHOLE_SIZE, 0);
        }
        device.cmd_pipeline_barrier(commands, transfer, all, none, &written, &[], &[]);
        for (source, target, region) in carried {
            device.cmd_copy_buffer(commands, *source, *target, &[*region]);
        }
        device.cmd_pipeline_barrier(commands, transfer, all, none, &written, &[], &[]);
    }
}

impl Shared {
    /// Records a barrier, unless it waits for nothing.
    ///
    /// # Safety
    /// `commands` is in the recording state, outside a render pass.
    pub unsafe fn cmd_barrier(&self, commands: vk::CommandBuffer, flags: Flags) {
        if flags.before.is_empty() {
            return;
        }
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
