//! Restoring earlier states: from snapshots, and from the last frames, which a stepper keeps for rollback.
//!
//! A kept frame is the host's world as it was when the frame was prepared (with all edits of the frame and none of
//! the next) and the persistent buffers as the frame left them. Rolling back restores both: bodies and joints added
//! later are gone, removed ones exist again under their old handles, and forces, settings and gravity have their old
//! values. The caller then repeats the edits that belong to the frames that follow.

use super::core::{Core, StepDevice};
use super::sending::Resend;
use super::{Prepared, Stepper};
use crate::Result;
use crate::backend::{Part, ReadInto, Runner};
use crate::plan::BufferId;
use crate::plan::step::StepOptions;
use crate::snapshot::{HostState, SavedBuffer, Snapshot, SnapshotError, contents};
use crate::state::{Capacities, Role};
use std::collections::VecDeque;

/// A kept frame.
#[derive(Clone)]
pub(super) struct Kept {
    pub frame: u64,
    pub host: HostState,
    /// Whether the number of steps made up to this frame is known yet.
    made: bool,
    /// Capacities of the plan that the frame was made with.
    capacities: Capacities,
    planned: StepOptions,
    /// Number under which the device keeps the buffers, on devices that keep them.
    pub place: usize,
    /// The buffers as read from the device, on devices that wait.
    buffers: Option<Vec<SavedBuffer>>,
}

/// The last frames, the oldest first.
#[derive(Default)]
pub(super) struct History {
    /// How many frames a rollback can go back.
    frames: usize,
    kept: VecDeque<Kept>,
}

impl History {
    /// Bytes of kept buffers in host memory; those that the device keeps are not counted.
    pub fn bytes(&self) -> u64 {
        let saved = self.kept.iter().flat_map(|kept| kept.buffers.iter().flatten());
        saved.map(|buffer| buffer.bytes.len() as u64).sum()
    }

    /// Number of frames to keep: to go back by n frames, the newest is kept as well, n + 1 in all.
    fn places(&self) -> usize {
        if self.frames == 0 { 0 } else { self.frames + 1 }
    }

    /// The place for the next frame: a free one, else that of the oldest frame.
    pub fn next_place(&self) -> Option<usize> {
        let free = (0..self.places()).find(|place| !self.kept.iter().any(|k| k.place == *place));
        free.or_else(|| self.kept.front().map(|k| k.place).filter(|_| self.frames > 0))
    }

    pub fn push(&mut self, frame: u64, kept: Kept) {
        self.kept.retain(|k| k.place != kept.place);
        self.kept.push_back(Kept { frame, ..kept });
    }

    /// Notes that `made` steps were made up to a frame.
    pub fn was_made(&mut self, frame: u64, made: u64) {
        if let Some(kept) = self.kept.iter_mut().find(|k| k.frame == frame) {
            (kept.host.made, kept.made) = (made, true);
        }
    }

    /// Removes a frame that turned out not to have been made.
    pub fn forget(&mut self, frame: u64) {
        self.kept.retain(|k| k.frame != frame);
    }

    /// Applies a change that happened in a frame to the kept worlds of that frame and of later ones.
    pub fn change(&mut self, frame: u64, mut change: impl FnMut(&mut HostState)) {
        self.kept.iter_mut().filter(|k| k.frame >= frame).for_each(|k| change(&mut k.host));
    }
}

impl Core {
    /// A frame to be kept, with the world as it is right after `prepare`.
    pub(super) fn kept(&self, place: usize) -> Kept {
        Kept {
            frame: 0,
            // Only the prepared step starts cold, if requested; the steps after it do not.
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
        // Frames in places that no longer exist are dropped.
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

    /// Replaces the world with `host` and calls `restore` for the device's side. On failure the old world is put
    /// back.
    fn replace_world(
        &mut self,
        host: HostState,
        room: Capacities,
        device: &mut dyn StepDevice,
        restore: impl FnOnce(&Self, &mut dyn StepDevice) -> Result<()>,
    ) -> Result<()> {
        self.undo_prepared();
        let old = self.exchange(host);
        self.wanted = self.wanted.at_least(&room);
        let told = self.notes.len();
        let done = self.replan(0, device).and_then(|_| restore(self, device));
        // Growth during a restore belongs to no step, so it is not reported.
        self.notes.truncate(told);
        if done.is_err() {
            self.exchange(old);
            return done;
        }
        self.params = None;
        Ok(())
    }

    /// Replaces the world with that of a snapshot. Kept frames belong to the old world and are dropped.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot, device: &mut dyn StepDevice) -> Result<()> {
        snapshot.check_user_buffers(&self.user)?;
        self.replace_world(snapshot.host.clone(), snapshot.room(), device, |core, device| {
            device.restore(&snapshot.contents(&core.plan))
        })?;
        self.history.kept.clear();
        let (bodies, joints) = (snapshot.used.bodies, snapshot.used.joints);
        // The host sends again what it has itself: that is quicker than comparing.
        self.resend = Some(Resend { bodies, colliders: 0, joints, frames: 0, soft: false });
        self.world.joint_store_mut().send_again(0..joints);
        Ok(())
    }

    /// Rolls back to the state after a kept frame. Later frames are dropped.
    pub(crate) fn roll_back(&mut self, frame: u64, device: &mut dyn StepDevice) -> Result<()> {
        let kept = &self.history.kept;
        let Some(at) = kept.iter().position(|k| k.frame == frame) else {
            let (oldest, newest) = (kept.front().map_or(1, |k| k.frame), kept.back().map_or(0, |k| k.frame));
            return Err(SnapshotError::NotKept { frame, oldest, newest }.into());
        };
        let Kept { mut host, made, capacities, planned, place, buffers, .. } = kept[at].clone();
        if !made {
            // The results up to that frame have not arrived yet; they continue counting from here.
            host.made = self.made;
        }
        let hulls_differ = !self.world.has_hulls_of(&host.world);
        let soft_differs = !self.world.soft_store().is_same(host.world.soft_store());
        self.replace_world(host, Capacities::default(), device, |core, device| match &buffers {
            Some(saved) => device.restore(&contents(saved, &core.plan)),
            None => device.restore_kept(&core.plan, place),
        })?;
        self.history.kept.truncate(at + 1);
        // The part by which lists have grown since has no kept contents, and hulls are not kept at all: the host
        // sends both again.
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

    /// Numbers of the kept frames, the oldest first.
    pub(super) fn kept_frames(&self) -> impl Iterator<Item = u64> {
        self.history.kept.iter().map(|k| k.frame)
    }
}

impl<D: StepDevice> Stepper<D> {
    /// Keeps the state after every frame from the next one on, so that [`Stepper::roll_back`] can go back by up to
    /// `frames` frames. 0, the default, keeps nothing.
    ///
    /// Every frame then costs a copy of the persistent buffers, and `frames` + 1 copies are in memory: inside a
    /// host's frames in device memory, recorded as copies after the step; otherwise in host memory.
    pub fn keep_frames(&mut self, frames: u32) {
        self.core.keep_frames(frames);
    }

    /// Numbers of the frames that [`Stepper::roll_back`] accepts, the oldest first. A frame is one call of `prepare`
    /// and `run` or `record`; [`StepReport::frame`](crate::StepReport::frame) has its number. Rolling back does not
    /// reset the numbering.
    pub fn kept_frames(&self) -> impl Iterator<Item = u64> {
        self.core.kept_frames()
    }
}

impl Stepper<Box<dyn Runner>> {
    /// Takes a snapshot of the current state, including edits made since the last step. Waits for the device.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        let device = &mut self.device;
        self.core.moment().finish(&mut |reads| device.run_and_read(Part::FIRST, 0, reads).map(drop))
    }

    /// Replaces the world with that of a snapshot: bodies, joints and names, settings, contacts. Valid handles are
    /// then those of the snapshot's world. Lists grow if need be. On failure the world is unchanged.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.core.restore(snapshot, &mut self.device)?;
        self.upload()
    }

    /// Rolls back to the state after a kept frame: see [`Stepper::keep_frames`]. All edits made since that frame was
    /// prepared are undone: bodies added or removed, forces, settings. Repeat the edits that belong to the next
    /// frame, then step: the same edits give the same bits. Handles given out since are void; the same bodies added
    /// again in the same order get the same handles. An error when the frame is not kept.
    pub fn roll_back(&mut self, frame: u64) -> Result<()> {
        self.core.roll_back(frame, &mut self.device)?;
        if self.core.resend.is_some() { self.upload() } else { Ok(()) }
    }

    /// Reads the persistent buffers after the last frame, if that frame is to be kept.
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
    /// Whether this is what the stepper has prepared. Otherwise `prepare` was called again since, the world was
    /// replaced, or another stepper prepared it.
    pub(crate) fn is_of(&self, core: &Core) -> bool {
        core.prepared_number() == Some(self.number)
    }
}
