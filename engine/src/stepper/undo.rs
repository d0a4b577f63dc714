//! Undoing failed steps: a step that fails must not change the world. When longer lists are refused, edits have
//! already reached the device, and sub-steps may have been made. What they overwrite is kept until the step succeeds,
//! and restored when it fails, with its edits pending again.
//!
//! Up to `gate` a step changes nothing but what `edits` writes of the bodies that were edited, and one that does not
//! fit ends there. So one sub-step costs a copy of what those bodies had, and nothing when there are no edits. Of
//! several sub-steps some may have been made when one does not fit: they cost a copy of the persistent buffers.
//!
//! Nobody pays for that without need. A copy for which a device would have to be waited for, and one of everything, is
//! made only where lists are likely to grow (`Core::may_grow`). A step that needs several times the room of the one
//! before, and gets no memory for it, is half made where no copy was.

use super::core::Core;
use super::sending::Resend;
use super::{StepDevice, Stepper};
use crate::Result;
use crate::backend::{Part, ReadInto, Runner, Write};
use crate::plan::{BufferId, Command};
use crate::snapshot::{HostState, SavedBuffer, contents};
use crate::state::Capacities;
use crate::world::Sent;
use drystone_kernels::detect::gate::counter;
use std::ops::Range;

/// The state before the prepared step.
pub(super) struct Before {
    device: OnDevice,
    resend: Option<Resend>,
    capacities: Capacities,
}

/// What of it was copied.
enum OnDevice {
    /// Everything, and the host's side of it.
    All(Box<HostState>, Vec<SavedBuffer>),
    /// What `edits` overwrites. On the host, what was sent, how many steps were made, and how the next is to start.
    Edited { saved: Vec<Piece>, sent: Sent, made: u64, started: bool, start_cold: bool },
}

/// Bytes of a buffer.
struct Piece {
    buffer: String,
    offset: u64,
    bytes: Vec<u8>,
}

/// Slots that are edited, as ranges. Those with little between them are one: a copy of a few bytes more is cheaper than
/// another copy.
fn ranges(mut slots: Vec<u32>) -> Vec<Range<u32>> {
    const NEAR: u32 = 16;
    slots.sort_unstable();
    let mut found: Vec<Range<u32>> = Vec::new();
    for slot in slots {
        match found.last_mut() {
            Some(last) if slot <= last.end.saturating_add(NEAR) => last.end = last.end.max(slot + 1),
            _ => found.push(slot..slot + 1),
        }
    }
    found
}

impl Core {
    /// What the stage `edits` of the plan writes of these bodies: buffer, offset and bytes.
    fn edited(&self, bodies: &[Range<u32>]) -> Vec<(BufferId, u64, usize)> {
        let (recording, room) = (&self.plan.recording, u64::from(self.plan.capacities.bodies.max(1)));
        let edits = recording.commands().iter().find_map(|command| match command {
            Command::Dispatch { invocation, .. } if invocation.stage.name == "edits" => Some(invocation),
            _ => None,
        });
        let bound = edits.into_iter().flat_map(|edits| edits.stage.bindings.iter().zip(&edits.buffers));
        let mut found = Vec::new();
        for (_, &buffer) in bound.filter(|(binding, _)| binding.access.writes()) {
            // Every one has the same number of elements for each body.
            let Some(info) = recording.info(buffer) else { continue };
            let each = info.count / room * u64::from(info.stride);
            let end = |slot: u32| (u64::from(slot) * each).min(info.capacity());
            found.extend(bodies.iter().map(|r| (buffer, end(r.start), (end(r.end) - end(r.start)) as usize)));
        }
        found
    }
}

impl Stepper<Box<dyn Runner>> {
    /// Keeps what the prepared step may have overwritten when it fails, if it can.
    pub(super) fn before(&mut self) -> Result<Option<Before>> {
        let Some(prepared) = self.core.prepared.as_ref() else {
            return Ok(None);
        };
        let (resend, capacities) = (prepared.resend, self.core.plan.capacities);
        let several = self.core.settings.recorded_substeps() > 1 || self.core.planned.adaptive;
        if !self.core.may_grow() && (several || !self.device.copies_at_once()) {
            return Ok(None);
        }
        let device = if several {
            let mut host = self.core.host_state();
            host.world.unsend(prepared.sent.clone());
            OnDevice::All(Box::new(host), self.read_persistent()?)
        } else {
            let core = &self.core;
            let (sent, made, started, start_cold) = (prepared.sent.clone(), core.made, core.started, core.start_cold);
            let pieces = core.edited(&ranges(sent.bodies().collect()));
            OnDevice::Edited { saved: self.read_pieces(&pieces)?, sent, made, started, start_cold }
        };
        Ok(Some(Before { device, resend, capacities }))
    }

    fn read_pieces(&mut self, pieces: &[(BufferId, u64, usize)]) -> Result<Vec<Piece>> {
        if pieces.is_empty() {
            return Ok(Vec::new());
        }
        let mut bytes: Vec<_> = pieces.iter().map(|(_, _, size)| vec![0; *size]).collect();
        let reads = pieces.iter().zip(&mut bytes);
        let mut reads: Vec<_> =
            reads.map(|(&(buffer, offset, _), into)| ReadInto { buffer, offset, into: &mut into[..] }).collect();
        self.device.run_and_read(Part::FIRST, 0, &mut reads)?;
        drop(reads);
        let recording = &self.core.plan.recording;
        let named = |id: BufferId| recording.info(id).map_or_else(String::new, |info| info.name.clone());
        let saved = pieces.iter().zip(bytes);
        Ok(saved.map(|(&(id, offset, _), bytes)| Piece { buffer: named(id), offset, bytes }).collect())
    }

    /// Number of sub-steps that the device has made, as it counts them.
    fn steps_on_device(&mut self) -> Result<u32> {
        let mut steps = [0];
        let (buffer, offset) = (self.core.plan.buffers.counters.id(), u64::from(counter::STEPS) * 4);
        let into = bytemuck::cast_slice_mut(&mut steps);
        self.device.run_and_read(Part::FIRST, 0, &mut [ReadInto { buffer, offset, into }])?;
        Ok(steps[0])
    }

    /// Restores the state before the step.
    pub(super) fn undo(&mut self, before: Before) -> Result<()> {
        let Before { device, resend, capacities } = before;
        if let OnDevice::Edited { made, .. } = &device
            && self.steps_on_device()? != *made as u32
        {
            // It was made, and failed behind that: its edits must not be made twice.
            return Ok(());
        }
        let core = &mut self.core;
        match device {
            OnDevice::All(host, buffers) => {
                self.device.restore(&contents(&buffers, &core.plan))?;
                core.exchange(*host);
            }
            OnDevice::Edited { saved, sent, started, start_cold, .. } => {
                let recording = &core.plan.recording;
                let writes = saved.iter().filter_map(|Piece { buffer, offset, bytes }| {
                    Some(Write { buffer: recording.find(buffer)?, offset: *offset, bytes })
                });
                self.device.write_batch(&writes.collect::<Vec<_>>())?;
                core.world.unsend(sent);
                (core.started, core.start_cold) = (started, start_cold);
            }
        }
        core.params = None;
        let Capacities { bodies, colliders, joints, .. } = capacities;
        // Lists that have grown since lack everything beyond their old length.
        let grown = (core.plan.capacities != capacities || core.resend.is_some()).then_some(Resend {
            bodies,
            colliders,
            joints,
            frames: bodies,
            soft: false,
        });
        core.resend = match (resend, grown) {
            (Some(one), Some(two)) => Some(one.and_all_of(two)),
            (one, two) => one.or(two),
        };
        Ok(())
    }
}
