//! Queries inside a host's frames: recorded behind a frame, read on the device or polled when the frame is done.
//!
//! Every batch that may be pending has its own upload and readback memory. The passes and their buffers are a part of
//! the step's program, and are attached again when lists grow.

use super::frames::{Frames, Retired};
use super::handover::barrier;
use super::memory::{Location, Memory};
use super::record::{Flags, HostAccess};
use super::staging::HostBuffer;
use crate::Result;
use crate::backend::Part;
use crate::plan::step::StepPlan;
use crate::plan::{Buffer, BufferId};
use crate::queries::{
    Answers, Expected, HIT_VERSION, HitRecord, OverlapRecord, QueryBatch, QueryBuffers, QueryError, QueryPlan,
    QueryResults, QueryRoom,
};
use crate::stepper::Stepper;
use ash::vk;
use bytemuck::Pod;
use drystone_kernels::queries::records::{RayQuery, ShapeQuery, count};

/// Upload and readback memory of one batch.
struct Slot<M: Memory> {
    upload: HostBuffer<M>,
    readback: HostBuffer<M>,
    pending: Option<Pending>,
}

/// A recorded batch whose answers have not been read yet.
struct Pending {
    /// Number of the batch, in order of recording.
    number: u64,
    /// The frame it was recorded behind.
    frame: u64,
    expected: Expected,
}

/// Queries of a stepper.
pub(super) struct Queries<M: Memory> {
    /// The plan for the reserved batch size, and its part of the program.
    pub ready: Option<(QueryPlan, Part)>,
    slots: Vec<Slot<M>>,
    /// Batches that were recorded.
    recorded: u64,
}

impl<M: Memory> Default for Queries<M> {
    fn default() -> Self {
        Self { ready: None, slots: Vec::new(), recorded: 0 }
    }
}

impl<M: Memory> Queries<M> {
    /// Bytes of upload and readback memory; the query buffers themselves belong to the program.
    pub fn bytes(&self) -> u64 {
        self.slots.iter().map(|slot| slot.upload.allocated() + slot.readback.allocated()).sum()
    }
}

/// A list of answers in device memory, indexed by the number of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryView {
    /// The buffer.
    pub buffer: vk::Buffer,
    /// Bytes from one answer to the next.
    pub stride: u32,
    /// Number of answers that fit. Answers beyond the queries of the last batch are not written.
    pub count: u32,
}

impl QueryView {
    /// A barrier with which a host's queue of another family acquires the answers that were released to it on exit.
    /// The host may release them back or not: the next batch overwrites them.
    pub fn transfer(
        &self,
        families: (u32, u32),
        access: (vk::AccessFlags, vk::AccessFlags),
    ) -> vk::BufferMemoryBarrier<'static> {
        barrier((self.buffer, 0, vk::WHOLE_SIZE), families, access)
    }
}

/// Where the answers to the last recorded batch are in device memory, for the host's own shaders or copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryViews {
    /// [`HitRecord`] by ray.
    pub rays: QueryView,
    /// [`HitRecord`] by cast.
    pub casts: QueryView,
    /// How many colliders each shape overlaps, a word each.
    pub overlap_counts: QueryView,
    /// [`OverlapRecord`]s. Those of a query begin after the capacity of all queries before it.
    pub overlap_hits: QueryView,
    /// [`HitRecord`] by search for the closest.
    pub closest: QueryView,
    /// [`HIT_VERSION`].
    pub version: u32,
    /// Changes whenever the buffers do: see [`Stepper::generation`].
    pub generation: u64,
}

/// A device buffer, the first byte of its data in the batch's memory, and the number of bytes.
type Piece = (BufferId, u64, u64);

/// Lays the pieces out one after the other; returns them and the total size in bytes.
fn pieces(sizes: impl IntoIterator<Item = (BufferId, u64)>) -> (Vec<Piece>, u64) {
    let mut end = 0;
    let place = |(buffer, size): (BufferId, u64)| {
        let at = end;
        end += size;
        (buffer, at, size)
    };
    (sizes.into_iter().map(place).collect(), end)
}

fn bytes<T: Pod>(buffer: Buffer<T>, count: u32) -> (BufferId, u64) {
    (buffer.id(), u64::from(count) * size_of::<T>() as u64)
}

/// Layout of the upload memory of a batch of this size.
fn upload_pieces(b: &QueryBuffers, room: &QueryRoom) -> (Vec<Piece>, u64) {
    pieces([
        bytes(b.counts, count::KINDS),
        bytes::<RayQuery>(b.rays, room.rays),
        bytes::<ShapeQuery>(b.casts, room.casts),
        bytes::<ShapeQuery>(b.overlaps, room.overlaps),
        bytes::<ShapeQuery>(b.closest, room.closest),
    ])
}

/// Layout of the readback memory of a batch of this size.
fn readback_pieces(b: &QueryBuffers, room: &QueryRoom) -> (Vec<Piece>, u64) {
    pieces([
        bytes::<HitRecord>(b.ray_hits, room.rays),
        bytes::<HitRecord>(b.cast_hits, room.casts),
        bytes(b.overlap_counts, room.overlaps),
        bytes::<OverlapRecord>(b.overlap_hits, room.overlap_hits),
        bytes::<HitRecord>(b.closest_hits, room.closest),
    ])
}

/// The plan for the program of `plan`, as it was reserved.
pub(super) fn plan_for(plan: &StepPlan, room: QueryRoom) -> Result<QueryPlan> {
    Ok(QueryPlan::new(&plan.recording, plan, "queries", room)?)
}

impl<M: Memory> Frames<M> {
    /// Allocates upload and readback memory for `batches` pending batches of this size.
    fn reserve_query_slots(&mut self, plan: &QueryPlan, batches: usize) -> Result<()> {
        let (upload, readback) =
            (upload_pieces(&plan.buffers, &plan.room).1, readback_pieces(&plan.buffers, &plan.room).1);
        let mut slots = Vec::new();
        for _ in 0..batches {
            let upload = HostBuffer::new(&self.shared, &self.memory, c"queries", upload.max(16), Location::Upload)?;
            let back = HostBuffer::new(&self.shared, &self.memory, c"answers", readback.max(16), Location::Readback)?;
            slots.push(Slot { upload, readback: back, pending: None });
        }
        let old = std::mem::replace(&mut self.queries.slots, slots);
        for Slot { upload, readback, .. } in old {
            self.retire(Retired::Staging(upload));
            self.retire(Retired::Staging(readback));
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Stepper::record_queries`]; the batch fits, and its bytes are in the slot's memory.
    unsafe fn record_queries(
        &mut self,
        commands: vk::CommandBuffer,
        slot: usize,
        used: &QueryRoom,
        exit: Option<HostAccess>,
    ) {
        let Some((plan, part)) = &self.queries.ready else { return };
        let (buffers, part) = (plan.buffers, *part);
        let shared = self.shared.clone();
        let device = &shared.host.device;
        let (upload, readback) = (self.queries.slots[slot].upload.handle(), self.queries.slots[slot].readback.handle());
        // SAFETY: this function's contract, for every call below; handles were made from this device and are alive, and
        // the regions lie inside their buffers.
        unsafe {
            shared.cmd_begin_label(commands, c"drystone queries");
            shared.cmd_barrier(commands, Flags::between_parts());
            self.record_carries(commands);
            for (buffer, src_offset, size) in upload_pieces(&buffers, used).0 {
                if let Some(target) = self.handle(buffer).filter(|_| size > 0) {
                    let region = vk::BufferCopy { src_offset, dst_offset: 0, size };
                    device.cmd_copy_buffer(commands, upload, target, &[region]);
                }
            }
            self.program.record_behind(part, commands, Flags::between_parts(), None);
            shared.cmd_barrier(commands, Flags::between_parts());
            for (buffer, dst_offset, size) in readback_pieces(&buffers, used).0 {
                if let Some(source) = self.handle(buffer).filter(|_| size > 0) {
                    let region = vk::BufferCopy { src_offset: 0, dst_offset, size };
                    device.cmd_copy_buffer(commands, source, readback, &[region]);
                }
            }
            if let Some(exit) = exit {
                // The next batch overwrites the answers, so they need not be acquired back.
                let answers = readback_pieces(&buffers, used).0.into_iter();
                let pieces = answers.filter_map(|(buffer, ..)| Some((self.handle(buffer)?, 0, vk::WHOLE_SIZE)));
                shared.cmd_leave(commands, Flags::to_host(), exit, self.program.families(), pieces);
            } else {
                shared.cmd_barrier(commands, Flags::to_host());
            }
            shared.cmd_end_label(commands);
        }
    }
}

impl<M: Memory> Stepper<Frames<M>> {
    /// Reserves memory for batches of up to this size, as many as frames may be in flight. Call it once before
    /// [`Stepper::record_queries`], or again for a larger size; pending batches are then dropped. Does nothing if the
    /// size fits into what is reserved, and otherwise grows to powers of two: the device may still use the buffers from
    /// before, which are freed when lists grow. Allocates; never waits. The reservation stays when lists grow.
    pub fn reserve_queries(&mut self, room: QueryRoom) -> Result<()> {
        self.unless_lost(|stepper| stepper.make_query_room(room))
    }

    fn make_query_room(&mut self, room: QueryRoom) -> Result<()> {
        let room = match self.device.queries.ready.as_ref().map(|(plan, _)| plan.room) {
            Some(reserved) if reserved.holds(&room) => return Ok(()),
            Some(reserved) => reserved.grown_to(&room),
            None => room,
        };
        let frames = self.device.frames_in_flight();
        let name = self.device.program.recording().free_name("queries");
        let plan = QueryPlan::new(self.device.program.recording(), self.core.plan(), &name, room)?;
        let part = self.device.program.attach(&plan.recording)?;
        if let Err(error) = self.device.reserve_query_slots(&plan, frames) {
            // SAFETY: the part was never recorded. It was attached last, so no other part uses its buffers.
            unsafe { self.device.program.detach(part) }?;
            return Err(error);
        }
        self.device.queries.ready = Some((plan, part));
        Ok(())
    }

    /// Records a batch behind the last recorded frame, about the state which that frame leaves: copies from the host,
    /// rebuilding the hierarchy, the queries, copies to the host. Does not submit, wait or allocate device memory.
    /// Returns the number of the frame, under which [`Stepper::poll_queries`] returns the answers.
    /// [`Stepper::query_views`] gives their location on the device, visible to what `exit` names, and released to its
    /// queue family if that is another one.
    ///
    /// A batch that does not fit into the reserved size fails with [`QueryError::TooMany`]. It also fails when as
    /// many batches are pending as frames may be in flight. Nothing is recorded then.
    ///
    /// # Safety
    /// As for [`Stepper::record`]; the commands come behind those of the last recorded frame, and that frame does not
    /// count as completed before they are done.
    pub unsafe fn record_queries(
        &mut self,
        commands: vk::CommandBuffer,
        batch: &QueryBatch,
        exit: Option<HostAccess>,
    ) -> Result<u64> {
        // SAFETY: this function's contract.
        self.unless_lost(|stepper| unsafe { stepper.record_batch(commands, batch, exit) })
    }

    /// # Safety
    /// As for [`Stepper::record_queries`].
    unsafe fn record_batch(
        &mut self,
        commands: vk::CommandBuffer,
        batch: &QueryBatch,
        exit: Option<HostAccess>,
    ) -> Result<u64> {
        let asked = batch.asked(&self.core.world)?;
        let device = &mut self.device;
        let frame = device.recorded;
        let (plan, _) = device.queries.ready.as_ref().ok_or(QueryError::NotReserved)?;
        let used = batch.room();
        for ((what, asked), (_, room)) in used.parts().into_iter().zip(plan.room.parts()) {
            if asked > room {
                return Err(QueryError::TooMany { what, asked, room }.into());
            }
        }
        if frame == 0 {
            return Err(QueryError::NoFrame.into());
        }
        let (buffers, pending) = (plan.buffers, device.queries.slots.len());
        let free = device.queries.slots.iter().position(|slot| slot.pending.is_none());
        let slot = free.ok_or(QueryError::Pending { pending })?;
        let [casts, overlaps, closest] = &asked.shapes;
        let parts: [&[u8]; 5] = [
            bytemuck::cast_slice(&asked.counts),
            bytemuck::cast_slice(asked.rays),
            bytemuck::cast_slice(casts),
            bytemuck::cast_slice(overlaps),
            bytemuck::cast_slice(closest),
        ];
        for ((_, at, _), bytes) in upload_pieces(&buffers, &used).0.into_iter().zip(parts) {
            device.queries.slots[slot].upload.write(at, bytes);
        }
        // SAFETY: this function's contract; the batch fits.
        unsafe { device.record_queries(commands, slot, &used, exit) };
        device.queries.recorded += 1;
        let number = device.queries.recorded;
        device.queries.slots[slot].pending = Some(Pending { number, frame, expected: Expected::of(batch) });
        Ok(frame)
    }

    /// Returns the answers to the batches recorded behind frames up to number `completed`, each once, in order, with
    /// the number of the frame. Bodies that were removed since are left out. Never waits.
    pub fn poll_queries(&mut self, completed: u64) -> Result<Vec<(u64, QueryResults)>> {
        self.unless_lost(|stepper| stepper.take_results(completed))?;
        let Self { device, core, .. } = self;
        let done = device.completed;
        let Some((plan, _)) = &device.queries.ready else { return Ok(Vec::new()) };
        let mut results = Vec::new();
        for slot in &mut device.queries.slots {
            let Some(pending) = slot.pending.take_if(|p| p.frame <= done) else { continue };
            let Pending { number, frame, expected } = pending;
            let mut answers = expected.answers();
            let Answers { rays, casts, overlap_counts, overlap_hits, closest } = &mut answers;
            let into: [&mut [u8]; 5] = [
                bytemuck::cast_slice_mut(rays),
                bytemuck::cast_slice_mut(casts),
                bytemuck::cast_slice_mut(overlap_counts),
                bytemuck::cast_slice_mut(overlap_hits),
                bytemuck::cast_slice_mut(closest),
            ];
            for ((_, at, _), into) in readback_pieces(&plan.buffers, &expected.room()).0.into_iter().zip(into) {
                slot.readback.read(at, into);
            }
            results.push((number, (frame, expected.results(&answers, &core.world))));
        }
        results.sort_by_key(|(number, _)| *number);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    /// Where the answers to the last recorded batch are; `None` when nothing was reserved. Ask again after every
    /// [`Stepper::prepare`], because growth replaces the buffers.
    pub fn query_views(&self) -> Option<QueryViews> {
        let (plan, _) = self.device.queries.ready.as_ref()?;
        let (b, room) = (&plan.buffers, &plan.room);
        let view = |buffer: BufferId, stride: usize, count: u32| {
            Some(QueryView { buffer: self.device.handle(buffer)?, stride: stride as u32, count })
        };
        let hits = |buffer: Buffer<HitRecord>, count| view(buffer.id(), size_of::<HitRecord>(), count);
        Some(QueryViews {
            rays: hits(b.ray_hits, room.rays)?,
            casts: hits(b.cast_hits, room.casts)?,
            overlap_counts: view(b.overlap_counts.id(), 4, room.overlaps)?,
            overlap_hits: view(b.overlap_hits.id(), size_of::<OverlapRecord>(), room.overlap_hits)?,
            closest: hits(b.closest_hits, room.closest)?,
            version: HIT_VERSION,
            generation: self.generation(),
        })
    }
}
