//! Snapshots inside a host's frames: recorded as copies and completed when the frame is finished; and restoring and
//! rolling back there. Nothing here submits or waits.

use super::frames::Frames;
use super::memory::{Location, Memory};
use super::record::Flags;
use super::staging::HostBuffer;
use crate::Result;
use crate::snapshot::{Moment, Snapshot, SnapshotError};
use crate::stepper::Stepper;
use ash::vk;

/// Snapshots that were recorded and are not complete yet.
pub(super) struct Snapshots<M: Memory> {
    /// Memory reserved for the next snapshot.
    room: Option<HostBuffer<M>>,
    /// Frame number, the host's side, and the memory that the device's side is copied to.
    pending: Vec<(u64, Moment, HostBuffer<M>)>,
}

impl<M: Memory> Default for Snapshots<M> {
    fn default() -> Self {
        Self { room: None, pending: Vec::new() }
    }
}

impl<M: Memory> Snapshots<M> {
    /// Bytes of their memory.
    pub fn bytes(&self) -> u64 {
        let all = self.room.iter().chain(self.pending.iter().map(|(.., memory)| memory));
        all.map(HostBuffer::allocated).sum()
    }
}

/// A snapshot that was recorded into a buffer of the host's; [`RecordedSnapshot::finish`] completes it once the
/// device has finished the frame.
#[derive(Debug)]
#[must_use = "without it, nobody knows what the bytes on the device mean"]
pub struct RecordedSnapshot {
    frame: u64,
    moment: Moment,
}

impl RecordedSnapshot {
    /// The frame whose state it is.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Bytes that were written to the host's buffer.
    pub fn size(&self) -> u64 {
        self.moment.layout().1
    }

    /// Completes the snapshot from the bytes that the device wrote. An error when they are too few.
    pub fn finish(self, bytes: &[u8]) -> Result<Snapshot> {
        finish(self.moment, bytes)
    }
}

fn finish(moment: Moment, bytes: &[u8]) -> Result<Snapshot> {
    let (parts, needed) = moment.layout();
    let given = bytes.len() as u64;
    if given < needed {
        return Err(SnapshotError::Device { needed, given }.into());
    }
    moment.finish(&mut |reads| {
        for read in reads.iter_mut() {
            // Those that are read are among the parts, and no longer than they.
            if let Some((_, at, size)) = parts.iter().find(|(id, ..)| *id == read.buffer) {
                let length = read.into.len().min(size.saturating_sub(read.offset) as usize);
                let start = (at + read.offset) as usize;
                read.into[..length].copy_from_slice(&bytes[start..start + length]);
            }
        }
        Ok(())
    })
}

impl<M: Memory> Frames<M> {
    /// # Safety
    /// As for [`Stepper::record_snapshot_into`].
    unsafe fn record_snapshot(&mut self, commands: vk::CommandBuffer, target: vk::Buffer, offset: u64) {
        let shared = self.shared.clone();
        // SAFETY: this function's contract.
        unsafe {
            shared.cmd_begin_label(commands, c"drystone snapshot");
            shared.cmd_barrier(commands, Flags::between_parts());
            self.record_carries(commands);
            self.record_copy(commands, target, offset);
            shared.cmd_barrier(commands, Flags::to_host());
            shared.cmd_end_label(commands);
        }
    }
}

impl<M: Memory> Stepper<Frames<M>> {
    /// Bytes that [`Stepper::record_snapshot_into`] would write now. Growth of lists changes the number: ask after
    /// [`Stepper::prepare`].
    pub fn snapshot_size(&self) -> u64 {
        self.device.persistent_bytes()
    }

    /// Reserves memory for [`Stepper::record_snapshot`]. Call it after [`Stepper::prepare`], which may let lists
    /// grow. Allocates [`Stepper::snapshot_size`] bytes of host-visible memory.
    pub fn reserve_snapshot(&mut self) -> Result<()> {
        self.unless_lost(|stepper| {
            let (size, device) = (stepper.snapshot_size().max(16), &mut stepper.device);
            if device.snapshots.room.as_ref().is_none_or(|room| room.size() < size) {
                let room = HostBuffer::new(&device.shared, &device.memory, c"snapshot", size, Location::Readback)?;
                device.snapshots.room = Some(room);
            }
            Ok(())
        })
    }

    /// Records copies of the state after the last recorded frame into reserved memory
    /// ([`Stepper::reserve_snapshot`]); [`Stepper::poll_snapshots`] returns the snapshot when the frame is finished.
    /// The snapshot contains the world as it is now, including edits made since that frame was prepared. Does not
    /// submit, wait or allocate device memory. Returns the number of the frame.
    ///
    /// # Safety
    /// As for [`Stepper::record`]; the commands come behind those of the last recorded frame, and that frame does not
    /// count as completed before they are done.
    pub unsafe fn record_snapshot(&mut self, commands: vk::CommandBuffer) -> Result<u64> {
        self.unless_lost(|_| Ok(()))?;
        let needed = self.snapshot_size();
        let room = self.device.snapshots.room.take().filter(|room| room.size() >= needed);
        let room = room.ok_or(SnapshotError::NoRoom)?;
        let frame = self.device.recorded;
        // SAFETY: this function's contract; the room lives until the frame is done.
        unsafe { self.device.record_snapshot(commands, room.handle(), 0) };
        self.device.snapshots.pending.push((frame, self.core.moment(), room));
        Ok(frame)
    }

    /// As [`Stepper::record_snapshot`], into a buffer of the host's from byte `offset` on, a multiple of 4. When the
    /// frame is finished, the host reads [`Stepper::snapshot_size`] bytes from there and completes the snapshot with
    /// them.
    ///
    /// # Safety
    /// As for [`Stepper::record_snapshot`]; `buffer` was made for copies into it, is alive until the commands are done,
    /// is used by nothing else meanwhile, and has [`Stepper::snapshot_size`] bytes behind `offset`.
    pub unsafe fn record_snapshot_into(
        &mut self,
        commands: vk::CommandBuffer,
        buffer: vk::Buffer,
        offset: u64,
    ) -> RecordedSnapshot {
        // SAFETY: this function's contract.
        unsafe { self.device.record_snapshot(commands, buffer, offset) };
        RecordedSnapshot { frame: self.device.recorded, moment: self.core.moment() }
    }

    /// Snapshots that were recorded with frames up to number `completed`, each once, with the number of its frame.
    /// Never waits.
    pub fn poll_snapshots(&mut self, completed: u64) -> Result<Vec<(u64, Snapshot)>> {
        self.unless_lost(|stepper| stepper.take_results(completed))?;
        let done = self.device.completed;
        let pending = std::mem::take(&mut self.device.snapshots.pending);
        let (ready, later) = pending.into_iter().partition(|(frame, ..)| *frame <= done);
        self.device.snapshots.pending = later;
        let mut snapshots = Vec::new();
        for (frame, moment, room) in ready {
            let mut bytes = vec![0; moment.layout().1 as usize];
            room.read(0, &mut bytes);
            snapshots.push((frame, finish(moment, &bytes)?));
            // Keep the memory: the next snapshot needs about as much.
            if self.device.snapshots.room.is_none() {
                self.device.snapshots.room = Some(room);
            }
        }
        Ok(snapshots)
    }

    /// Replaces the world with that of a snapshot, with effect from the next recorded frame: bodies, joints and
    /// names, settings, contacts. Nothing is submitted or waited for; the bytes stay in host-visible memory until
    /// that frame is finished. Steps prepared before are void, and pending frames count for nothing
    /// ([`StepReport::undone`](crate::StepReport::undone)). On failure the world is unchanged.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.unless_lost(|stepper| stepper.core.restore(snapshot, &mut stepper.device))?;
        self.device.undo(0);
        Ok(())
    }

    /// Rolls back to the state after a kept frame ([`Stepper::keep_frames`]), with effect from the next recorded
    /// frame. The kept frame may itself still be pending. Nothing is submitted or waited for. An error when the frame
    /// is not kept.
    ///
    /// All edits made since that frame was prepared are undone: bodies added or removed, forces, settings. Repeat the
    /// edits that belong to the next frame, then prepare and record it: the same edits give the same bits. Handles
    /// given out since are void; the same bodies added again in the same order get the same handles. Pending frames
    /// after that one count for nothing ([`StepReport::undone`](crate::StepReport::undone)). Frame numbers continue
    /// and are never reset.
    ///
    /// Several frames may be recorded into one command buffer, as many as
    /// [`frames_in_flight`](super::FramesOptions::frames_in_flight) allows.
    pub fn roll_back(&mut self, frame: u64) -> Result<()> {
        self.unless_lost(|stepper| stepper.core.roll_back(frame, &mut stepper.device))?;
        self.device.undo(frame);
        Ok(())
    }

    /// Frees the memory that is reserved for the next snapshot.
    pub fn release_snapshot(&mut self) {
        self.device.snapshots.room = None;
    }
}
