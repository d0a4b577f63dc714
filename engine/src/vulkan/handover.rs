//! Queue family ownership transfers: the engine's half of the release and acquire barriers. The host's half is
//! described at [`HostAccess::on_family`](super::HostAccess::on_family).

use super::error::Error;
use super::host::Shared;
use super::record::{Flags, HostAccess};
use ash::vk;

/// A byte range of a buffer that is transferred as one: buffer, first byte, size.
pub(super) type Piece = (vk::Buffer, u64, u64);

/// The barrier of an ownership transfer; release and acquire use the same one.
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

/// Queue families that share a program's buffers: the host's own and those named, each once. Empty when there is only
/// the host's own.
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

/// How the engine's commands are synchronised with the host's.
enum Way {
    /// Both are on the same queue family: a pipeline barrier.
    Barrier,
    /// Both families share the buffers: the host's semaphores are enough.
    Semaphores,
    /// An ownership transfer from or to this family.
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

    /// Makes everything recorded so far visible to `exit`, and releases the pieces when `exit` is on another family;
    /// returns that family. They come back through [`Handed`], or are written anew. `before` is a barrier that is due.
    ///
    /// # Safety
    /// As for [`Shared::cmd_barrier`]; the buffers are alive, and this family's.
    pub unsafe fn cmd_leave(
        &self,
        commands: vk::CommandBuffer,
        before: Flags,
        exit: HostAccess,
        sharing: &[u32],
        pieces: impl IntoIterator<Item = Piece>,
    ) -> Option<u32> {
        let way = self.way(exit, sharing);
        let closing = if matches!(way, Way::Barrier) { Flags::closing(exit) } else { Flags::default() };
        // SAFETY: this function's contract.
        unsafe { self.cmd_barrier(commands, before.and(closing)) };
        match way {
            Way::Barrier | Way::Semaphores => {}
            Way::HandOver(family) => {
                let written = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
                let (ways, access) = ((self.host.queue_family, family), (written, vk::AccessFlags::empty()));
                let barriers: Vec<_> = pieces.into_iter().map(|piece| barrier(piece, ways, access)).collect();
                let before = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
                // What follows runs on another queue, so nothing waits here.
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

/// Pieces that were released to other families and have not been acquired back.
#[derive(Default)]
pub(super) struct Handed(Vec<(u32, Piece)>);

impl Handed {
    /// The barrier that makes the host's accesses of `entry` visible; what was released to another family is acquired
    /// back here.
    ///
    /// # Safety
    /// As for [`Shared::cmd_barrier`]; the host released what it got.
    pub unsafe fn enter(
        &mut self,
        shared: &Shared,
        commands: vk::CommandBuffer,
        entry: HostAccess,
        sharing: &[u32],
    ) -> Flags {
        match shared.way(entry, sharing) {
            Way::Barrier => return Flags::opening(entry),
            Way::Semaphores => {}
            Way::HandOver(family) => {
                let Flags { after, seen, .. } = Flags::between_parts();
                let (ways, access) = ((family, shared.host.queue_family), (vk::AccessFlags::empty(), seen));
                let back = self.0.iter().filter(|(to, _)| *to == family);
                let barriers: Vec<_> = back.map(|(_, piece)| barrier(*piece, ways, access)).collect();
                self.0.retain(|(to, _)| *to != family);
                if !barriers.is_empty() {
                    // The host's semaphore wait may be in any stage.
                    let before = vk::PipelineStageFlags::ALL_COMMANDS;
                    // SAFETY: this function's contract.
                    unsafe { shared.cmd_hand_over(commands, before, after, &barriers) };
                }
            }
        }
        Flags::default()
    }

    /// Makes everything recorded visible to `exit`, and remembers the pieces that were released to another family.
    /// `before` is a barrier that is due.
    ///
    /// # Safety
    /// As for [`Shared::cmd_leave`].
    pub unsafe fn leave(
        &mut self,
        shared: &Shared,
        commands: vk::CommandBuffer,
        before: Flags,
        exit: HostAccess,
        sharing: &[u32],
        pieces: impl IntoIterator<Item = Piece> + Clone,
    ) {
        // SAFETY: this function's contract.
        if let Some(family) = unsafe { shared.cmd_leave(commands, before, exit, sharing, pieces.clone()) } {
            for piece in pieces {
                self.0.retain(|(_, there)| *there != piece);
                self.0.push((family, piece));
            }
        }
    }

    /// Forgets all pieces but these, because their buffers no longer exist.
    pub fn keep(&mut self, pieces: &[Piece]) {
        self.0.retain(|(_, piece)| pieces.contains(piece));
    }
}
