//! Copies of the step's persistent buffers on the device: for kept frames, and for contents that are restored into
//! them.

use super::frames::{Carry, Frames, Retired};
use super::memory::{Location, Memory};
use super::staging::HostBuffer;
use crate::Result;
use crate::plan::step::StepPlan;
use crate::plan::{BufferId, Recording};
use crate::state::Role;
use ash::vk;

/// A copy of the persistent buffers of a plan, one behind the other.
pub(super) struct Copied<M: Memory> {
    memory: HostBuffer<M>,
    /// Name, first byte, bytes.
    parts: Vec<(String, u64, u64)>,
}

impl<M: Memory> Copied<M> {
    /// Bytes of its memory.
    pub fn bytes(&self) -> u64 {
        self.memory.allocated()
    }
}

/// Persistent buffers of a recording, and where a copy of them has each: the buffer, its name, first byte, bytes.
pub(super) fn layout(recording: &Recording) -> impl Iterator<Item = (BufferId, &str, u64, u64)> {
    let kept = (0..).map(BufferId).zip(recording.buffers()).filter(|(_, b)| b.role == Role::Persistent);
    kept.scan(0, |end, (id, info)| {
        let at = *end;
        *end += info.capacity();
        Some((id, info.name.as_str(), at, info.capacity()))
    })
}

impl<M: Memory> Frames<M> {
    /// Stages bytes that the next frame writes into its persistent buffers before it steps. Allocates.
    pub(super) fn stage_restored(&mut self, contents: &[(BufferId, &[u8])]) -> Result<()> {
        let size = contents.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>().max(16);
        let mut upload = HostBuffer::new(&self.shared, &self.memory, c"restored", size, Location::Upload)?;
        let (mut blocks, mut copies, mut at) = (Vec::new(), Vec::new(), 0);
        for (buffer, bytes) in contents {
            let Some(target) = self.handle(*buffer) else { continue };
            blocks.push(target);
            upload.write(at, bytes);
            let region = vk::BufferCopy { src_offset: at, dst_offset: 0, size: bytes.len() as u64 };
            if region.size > 0 {
                copies.push((upload.handle(), target, region));
            }
            at += region.size;
        }
        self.carries.push(Carry { blocks, copies });
        self.retire(Retired::Staging(upload));
        Ok(())
    }

    /// Allocates memory for a copy of a plan's persistent buffers, unless place `place` has it already.
    pub(super) fn reserve_place(&mut self, plan: &StepPlan, place: usize) -> Result<()> {
        let parts: Vec<_> = layout(&plan.recording).map(|(_, name, at, size)| (name.to_owned(), at, size)).collect();
        if self.kept.len() <= place {
            self.kept.resize_with(place + 1, || None);
        }
        if self.kept[place].as_ref().is_some_and(|kept| kept.parts == parts) {
            return Ok(());
        }
        let size = parts.last().map_or(0, |(_, at, size)| at + size).max(16);
        let memory = HostBuffer::new(&self.shared, &self.memory, c"kept", size, Location::Device)?;
        if let Some(old) = self.kept[place].replace(Copied { memory, parts }) {
            self.retire(Retired::Staging(old.memory));
        }
        Ok(())
    }

    /// Records copies of the persistent buffers into the memory of a kept frame.
    ///
    /// # Safety
    /// `commands` is in the recording state, outside a render pass; what was written to the buffers is visible to
    /// copies.
    pub(super) unsafe fn record_kept(&self, commands: vk::CommandBuffer, place: Option<usize>) {
        let Some(kept) = place.and_then(|place| self.kept.get(place)?.as_ref()) else { return };
        for (id, name, at, size) in layout(self.program.recording()) {
            // The memory was made for this program's layout; a buffer that does not match is not copied.
            let fits = kept.parts.iter().any(|(n, a, s)| (n.as_str(), *a, *s) == (name, at, size));
            if let Some(source) = self.handle(id).filter(|_| fits && size > 0) {
                let region = [vk::BufferCopy { src_offset: 0, dst_offset: at, size }];
                // SAFETY: this function's contract; both buffers are alive and hold the region.
                unsafe { self.shared.host.device.cmd_copy_buffer(commands, source, kept.memory.handle(), &region) };
            }
        }
    }

    /// Lets the next frame start from the copy kept under number `place`.
    pub(super) fn stage_kept(&mut self, plan: &StepPlan, place: usize) {
        let Some(kept) = self.kept.get(place).and_then(Option::as_ref) else { return };
        let source = kept.memory.handle();
        let mut carry = Carry { blocks: Vec::new(), copies: Vec::new() };
        for (id, name, _, capacity) in layout(&plan.recording) {
            let Some(target) = self.handle(id) else { continue };
            let part = kept.parts.iter().find(|(n, ..)| n == name);
            let (src_offset, size) = part.map_or((0, 0), |(_, at, size)| (*at, (*size).min(capacity)));
            if size < capacity {
                // The list has grown since: zero the whole block before the copy.
                carry.blocks.push(target);
            }
            if size > 0 {
                carry.copies.push((source, target, vk::BufferCopy { src_offset, dst_offset: 0, size }));
            }
        }
        self.carries.push(carry);
    }

    /// Bytes of a copy of the persistent buffers.
    pub(super) fn persistent_bytes(&self) -> u64 {
        layout(self.program.recording()).map(|(.., size)| size).sum()
    }

    /// Copies the persistent buffers to `target`, from byte `offset` on, for the host to read.
    ///
    /// # Safety
    /// As for [`Frames::record_kept`]; `target` is alive until the commands are done, and has room.
    pub(super) unsafe fn record_copy(&self, commands: vk::CommandBuffer, target: vk::Buffer, offset: u64) {
        for (id, _, at, size) in layout(self.program.recording()) {
            if let Some(source) = self.handle(id).filter(|_| size > 0) {
                let region = [vk::BufferCopy { src_offset: 0, dst_offset: offset + at, size }];
                // SAFETY: this function's contract.
                unsafe { self.shared.host.device.cmd_copy_buffer(commands, source, target, &region) };
            }
        }
    }
}
