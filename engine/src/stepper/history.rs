//! Worlds that can be gone back to: snapshots from outside, and the last frames, kept as they were.
//!
//! What is kept of a frame is the world on the host as it was when the frame was prepared, with everything of the frame
//! said and nothing of the next, and the persistent buffers as the frame left them. Going back brings back both: bodies
//! and joints that came later are gone, those that were removed are there again under their old handles, and forces,
//! settings and gravity are what they were. Whoever goes back says again what belongs to the frames that follow.

use super::core::{Core, Resend, StepDevice};
use super::{Prepared, Stepper};
use crate::Result;
use crate::backend::{Part, ReadInto, Runner};
use crate::plan::BufferId;
use crate::plan::step::StepOptions;
use crate::snapshot::{HostState, SavedBuffer, Snapshot, SnapshotError, contents};
use crate::state::{Capacities, Role};
use std::collections::VecDeque;

/// What is kept of a frame.
#[derive(Clone)]
pub(super) struct Kept {
    pub frame: u64,
    pub host: HostState,
    /// Whether it is known how many steps were made up to it.
    made: bool,
    /// Of the plan it was made with.
    capacities: Capacities,
    planned: StepOptions,
    /// Where the device has its buffers.
    pub place: usize,
    /// Or what was read from it.
    buffers: Option<Vec<SavedBuffer>>,
}

/// The last frames.
#[derive(Default)]
pub(super) struct History {
    /// How many frames can be gone back.
    frames: usize,
    kept: VecDeque<Kept>,
}

impl History {
    /// Bytes of buffers that were read from the device, which has the others.
    pub fn bytes(&self) -> u64 {
        let saved = self.kept.iter().flat_map(|kept| kept.buffers.iter().flatten());
        saved.map(|buffer| buffer.bytes.len() as u64).sum()
    }

    /// To go back by some frames, the last one is kept as well.
    fn places(&self) -> usize {
        if self.frames == 0 { 0 } else { self.frames + 1 }
    }

    /// Where the next frame is kept: in a place that is free, or instead of the oldest.
    pub fn next_place(&self) -> Option<usize> {
        let free = (0..self.places()).find(|place| !self.kept.iter().any(|k| k.place == *place));
        free.or_else(|| self.kept.front().map(|k| k.place).filter(|_| self.frames > 0))
    }

    pub fn push(&mut self, frame: u64, kept: Kept) {
        self.kept.retain(|k| k.place != kept.place);
        self.kept.push_back(Kept { frame, ..kept });
    }

    /// So many steps were made up to a frame, it is known now.
    pub fn was_made(&mut self, frame: u64, made: u64) {
        if let Some(kept) = self.kept.iter_mut().find(|k| k.frame == frame) {
            (kept.host.made, kept.made) = (made, true);
        }
    }

    /// A frame was not made after all.
    pub fn forget(&mut self, frame: u64) {
        self.kept.retain(|k| k.frame != frame);
    }

    /// Something happened in a frame: worlds from there on know.
    pub fn change(&mut self, frame: u64, mut change: impl FnMut(&mut HostState)) {
        self.kept.iter_mut().filter(|k| k.frame >= frame).for_each(|k| change(&mut k.host));
    }
}

impl Core {
    /// The world as it is when a step has just been prepared.
    pub(super) fn kept(&self, place: usize) -> Kept {
        Kept {
            frame: 0,
            // The step that is prepared starts cold, if that was asked for, and those behind it do not.
            host: HostState { started: true, start_cold: false, ..self.host_state() },
            made: false,
            capacities: self.plan.capacities,
            planned: self.planned,
            place,
            buffers: None,
        }
    }

    pub(super) fn keep_frames(&mut self, frames: u32) {
        self.history.frames = frames as usize;
        let places = self.history.places();
        // Places behind those there are now are given up.
        self.history.kept.retain(|k| k.place < places);
    }

    pub(super) fn exchange(&mut self, host: HostState) -> HostState {
        HostState {
            world: std::mem::replace(&mut self.world, host.world),
            settings: std::mem::replace(&mut self.settings, host.settings),
            made: std::mem::replace(&mut self.made, host.made),
            started: std::mem::replace(&mut self.started, host.started),
            quarantined: std::mem::replace(&mut self.quarantined, host.quarantined),
            fell_back: std::mem::replace(&mut self.fell_back, host.fell_back),
            start_cold: std::mem::replace(&mut self.start_cold, host.start_cold),
        }
    }

    /// Exchanges the world for `host`, with what `restore` does to the device then. On failure it is what it was.
    fn replace_world(
        &mut self,
        host: HostState,
        room: Capacities,
        device: &mut dyn StepDevice,
        restore: impl FnOnce(&Self, &mut dyn StepDevice) -> Result<()>,
    ) -> Result<()> {
        self.undo_prepared();
        self.epoch += 1;
        let old = self.exchange(host);
        self.wanted = self.wanted.at_least(&room);
        let told = self.notes.len();
        let done = self.replan(0, device).and_then(|_| restore(self, device));
        // That lists are longer has nothing to do with any step.
        self.notes.truncate(told);
        if done.is_err() {
            self.exchange(old);
            return done;
        }
        self.params = None;
        Ok(())
    }

    /// The world becomes that of a snapshot. What was kept is of another world, and goes.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot, device: &mut dyn StepDevice) -> Result<()> {
        snapshot.check_user_buffers(&self.user)?;
        self.replace_world(snapshot.host.clone(), snapshot.room(), device, |core, device| {
            device.restore(&snapshot.contents(&core.plan))
        })?;
        self.history.kept.clear();
        let (bodies, joints) = (snapshot.used.bodies, snapshot.used.joints);
        // What the host knows best it sends again: that is quicker than to compare it.
        self.resend = Some(Resend { bodies, colliders: 0, joints, frames: 0, soft: false });
        self.world.joint_store_mut().send_again(0..joints);
        Ok(())
    }

    /// The world becomes what it was after a frame that is kept. Frames behind it are forgotten.
    pub(crate) fn roll_back(&mut self, frame: u64, device: &mut dyn StepDevice) -> Result<()> {
        let kept = &self.history.kept;
        let Some(at) = kept.iter().position(|k| k.frame == frame) else {
            let (oldest, newest) = (kept.front().map_or(1, |k| k.frame), kept.back().map_or(0, |k| k.frame));
            return Err(SnapshotError::NotKept { frame, oldest, newest }.into());
        };
        let Kept { mut host, made, capacities, planned, place, buffers, .. } = kept[at].clone();
        if !made {
            // Results up to that frame are still to come, and count on from here.
            host.made = self.made;
        }
        let hulls_differ = !self.world.has_hulls_of(&host.world);
        let soft_differs = !self.world.soft_store().is_same(host.world.soft_store());
        self.replace_world(host, Capacities::default(), device, |core, device| match &buffers {
            Some(saved) => device.restore(&contents(saved, &core.plan)),
            None => device.restore_kept(&core.plan, place),
        })?;
        self.history.kept.truncate(at + 1);
        // Lists that were shorter then have nothing behind it, and hulls are the host's.
        let Capacities { bodies, colliders, joints, .. } = capacities;
        let surfaces = planned.features.surfaces || !self.planned.features.surfaces;
        let grown = capacities != self.plan.capacities || planned != self.planned || self.resend.is_some();
        self.resend = (grown || hulls_differ || soft_differs).then_some(Resend {
            bodies,
            colliders: if surfaces { colliders } else { 0 },
            joints,
            frames: bodies,
            soft: false,
        });
        Ok(())
    }

    /// Frames that can be gone back to, the oldest first.
    pub(super) fn kept_frames(&self) -> impl Iterator<Item = u64> {
        self.history.kept.iter().map(|k| k.frame)
    }
}

impl<D: StepDevice> Stepper<D> {
    /// Keeps the state behind every frame from the next one on, so that [`Stepper::roll_back`] can go back by up to so
    /// many. 0, the default, keeps nothing.
    ///
    /// A frame costs a copy of the persistent buffers, and their memory as many times as frames are kept and once
    /// more: in a host's frames on the device, recorded as copies behind the step; elsewhere on the host.
    pub fn keep_frames(&mut self, frames: u32) {
        self.core.keep_frames(frames);
    }

    /// Numbers of the frames that can be gone back to, the oldest first. A frame is one call of `prepare` and `run` or
    /// `record`; [`StepReport::frame`](crate::StepReport::frame) tells the number, and going back does not set it back.
    pub fn kept_frames(&self) -> impl Iterator<Item = u64> {
        self.core.kept_frames()
    }
}

impl Stepper<Box<dyn Runner>> {
    /// The world at this moment, with what was said to it since the last step. Waits for the device.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        let device = &mut self.device;
        self.core.moment().finish(&mut |reads| device.run_and_read(Part::FIRST, 0, reads).map(drop))
    }

    /// The world becomes that of a snapshot, whatever it was before: bodies, joints and names, settings, contacts.
    /// Handles are those of the world that the snapshot is of. Lists grow if need be. On failure the world stays what
    /// it was.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.core.restore(snapshot, &mut self.device)?;
        self.upload()
    }

    /// Goes back to the state behind a frame that is kept: see [`Stepper::keep_frames`]. Everything that was said to
    /// the world since that frame was prepared is undone, whatever it was: bodies added or removed, forces, settings.
    /// Say again what belongs to the next frame, then step: with the same said, the same bits. Handles that were given
    /// out since are void; the same bodies added again in the same order have the same ones.
    pub fn roll_back(&mut self, frame: u64) -> Result<()> {
        self.core.roll_back(frame, &mut self.device)?;
        if self.core.resend.is_some() { self.upload() } else { Ok(()) }
    }

    /// Reads what the last frame left behind, if it is to be kept.
    pub(super) fn keep(&mut self) -> Result<()> {
        let frame = self.frame;
        if self.core.history.kept.back().is_none_or(|k| k.frame != frame) {
            return Ok(());
        }
        let buffers = self.read_persistent()?;
        let Some(kept) = self.core.history.kept.back_mut() else { return Ok(()) };
        // Lists may have grown while the frame was made.
        (kept.capacities, kept.planned, kept.buffers) = (self.core.plan.capacities, self.core.planned, Some(buffers));
        Ok(())
    }

    /// Reads all persistent buffers.
    pub(super) fn read_persistent(&mut self) -> Result<Vec<SavedBuffer>> {
        let infos = (0..).map(BufferId).zip(self.core.plan.recording.buffers());
        let mut buffers = Vec::new();
        let mut ids = Vec::new();
        for (id, info) in infos.filter(|(_, b)| b.role == Role::Persistent) {
            ids.push(id);
            buffers.push(SavedBuffer { name: info.name.clone(), bytes: vec![0; info.capacity() as usize] });
        }
        let reads = ids.into_iter().zip(&mut buffers);
        let mut reads: Vec<_> =
            reads.map(|(buffer, saved)| ReadInto { buffer, offset: 0, into: &mut saved.bytes }).collect();
        self.device.run_and_read(Part::FIRST, 0, &mut reads)?;
        drop(reads);
        Ok(buffers)
    }
}

impl Prepared {
    /// Whether it is a step of the world as it is now.
    #[cfg(feature = "vulkan")]
    pub(crate) fn is_of(&self, core: &Core) -> bool {
        self.epoch == core.epoch()
    }
}
