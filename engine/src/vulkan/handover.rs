//! Buffers that go from one queue family to another and back: the engine's halves of it. What a host has to record is in
//! [`HostAccess::on_family`](super::HostAccess::on_family).

use super::error::Error;
use super::host::Shared;
use super::record::{Flags, HostAccess};
use ash::vk;

/// Bytes of a buffer that are handed over together: first byte and size.
pub(super) type Piece = (vk::Buffer, u64, u64);

/// A barrier that hands a piece over, for either side.
pub(super) fn barrier(
    (buffer, offset, size): Piece,
    (from, to): (u32, u32),
    (before, after): (vk::AccessFlags, vk::AccessFlags),
) -> vk::BufferMemoryBarrier<'static> {
    vk::BufferMemoryBarrier::default()
        .buffer(buffer)
        .offset(offset)
        .size(size)
        .src_queue_family_index(from)
        .dst_queue_family_index(to)
        .src_access_mask(before)
        .dst_access_mask(after)
}

/// Families that share the buffers of a program: the host's own and those it names, each once; none when its own is alone.
pub(super) fn sharing_families(shared: &Shared, named: &[u32]) -> Result<Vec<u32>, Error> {
    let there = shared.support.queue_families.len() as u32;
    if let Some(&family) = named.iter().find(|family| **family >= there) {
        return Err(Error::QueueFamily { family, there });
    }
    let mut all = vec![shared.host.queue_family];
    named.iter().for_each(|family| {
        if !all.contains(family) {
            all.push(*family);
        }
    });
    all.truncate(if all.len() > 1 { all.len() } else { 0 });
    Ok(all)
}

/// What it takes to be seen by commands of the host's, or to see what they did.
enum Way {
    /// They are on the same queue family: a barrier.
    Barrier,
    /// All of it is the host's semaphores': the buffers belong to both families.
    Semaphores,
    /// Handing over, with this family at the other end.
    HandOver(u32),
}

impl Shared {
    /// `sharing` are the families that the buffers belong to at the same time.
    fn way(&self, access: HostAccess, sharing: &[u32]) -> Way {
        match access.family {
            None => Way::Barrier,
            Some(family) if family == self.host.queue_family => Way::Barrier,
            Some(family) if sharing.contains(&family) => Way::Semaphores,
            Some(family) => Way::HandOver(family),
        }
    }

    /// The access, if it is on the family of the recording's queue.
    pub fn on_same_family(&self, access: Option<HostAccess>) -> Option<HostAccess> {
        access.filter(|access| matches!(self.way(*access, &[]), Way::Barrier))
    }

    /// Gives pieces away, behind everything that was recorded, to those who do `exit`. What comes back does so by
    /// [`Handed`], or is written anew.
    ///
    /// # Safety
    /// As for [`Shared::cmd_barrier`]; the buffers are alive, and this family's.
    pub unsafe fn cmd_leave(
        &self,
        commands: vk::CommandBuffer,
        exit: HostAccess,
        sharing: &[u32],
        pieces: impl IntoIterator<Item = Piece>,
    ) -> Option<u32> {
        match self.way(exit, sharing) {
            // SAFETY: this function's contract.
            Way::Barrier => unsafe { self.cmd_barrier(commands, Flags::closing(exit)) },
            Way::Semaphores => {}
            Way::HandOver(family) => {
                let written = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
                let (ways, access) = ((self.host.queue_family, family), (written, vk::AccessFlags::empty()));
                let barriers: Vec<_> = pieces.into_iter().map(|piece| barrier(piece, ways, access)).collect();
                let before = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
                // What comes behind is on another queue: here nothing waits for it.
                let after = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
                // SAFETY: this function's contract.
                unsafe { self.cmd_hand_over(commands, before, after, &barriers) };
                return Some(family);
            }
        }
        None
    }

    /// # Safety
    /// As for [`Shared::cmd_barrier`]; the buffers are alive.
    unsafe fn cmd_hand_over(
        &self,
        commands: vk::CommandBuffer,
        before: vk::PipelineStageFlags,
        after: vk::PipelineStageFlags,
        barriers: &[vk::BufferMemoryBarrier<'_>],
    ) {
        let none = vk::DependencyFlags::empty();
        // SAFETY: this function's contract.
        unsafe { self.host.device.cmd_pipeline_barrier(commands, before, after, none, &[], barriers, &[]) };
    }
}

/// What was released to other families and has not come back.
#[derive(Default)]
pub(super) struct Handed(Vec<(u32, Piece)>);

impl Handed {
    /// Sees what the host did as `entry` says, and takes back what went to its family.
    ///
    /// # Safety
    /// As for [`Shared::cmd_barrier`]; the host released what it got.
    pub unsafe fn enter(&mut self, shared: &Shared, commands: vk::CommandBuffer, entry: HostAccess, sharing: &[u32]) {
        match shared.way(entry, sharing) {
            // SAFETY: this function's contract.
            Way::Barrier => unsafe { shared.cmd_barrier(commands, Flags::opening(entry)) },
            Way::Semaphores => {}
            Way::HandOver(family) => {
                let Flags { after, seen, .. } = Flags::between_parts();
                let (ways, access) = ((family, shared.host.queue_family), (vk::AccessFlags::empty(), seen));
                let back = self.0.iter().filter(|(to, _)| *to == family);
                let barriers: Vec<_> = back.map(|(_, piece)| barrier(*piece, ways, access)).collect();
                self.0.retain(|(to, _)| *to != family);
                if !barriers.is_empty() {
                    // Whatever stages the host's semaphore is waited for in.
                    let before = vk::PipelineStageFlags::ALL_COMMANDS;
                    // SAFETY: this function's contract.
                    unsafe { shared.cmd_hand_over(commands, before, after, &barriers) };
                }
            }
        }
    }

    /// Shows what was recorded to whoever does `exit`; pieces that go to another family are remembered.
    ///
    /// # Safety
    /// As for [`Shared::cmd_leave`].
    pub unsafe fn leave(
        &mut self,
        shared: &Shared,
        commands: vk::CommandBuffer,
        exit: HostAccess,
        sharing: &[u32],
        pieces: impl IntoIterator<Item = Piece> + Clone,
    ) {
        // SAFETY: this function's contract.
        if let Some(family) = unsafe { shared.cmd_leave(commands, exit, sharing, pieces.clone()) } {
            for piece in pieces {
                self.0.retain(|(_, there)| *there != piece);
                self.0.push((family, piece));
            }
        }
    }

    /// Only these are still there.
    pub fn keep(&mut self, pieces: &[Piece]) {
        self.0.retain(|(_, piece)| pieces.contains(piece));
    }
}
