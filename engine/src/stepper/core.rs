//! The host's side of a step: world, settings and plan. It decides when lists grow, gathers what is written to the
//! device before a step, and keeps what a failed or unrecorded step needs to be undone. What is written is in
//! `sending`, what comes back in `digest`, what a world asks for in `needs`. Everything here is independent of the
//! backend; a [`StepDevice`] does the device's part.

use super::bodies::Batch;
use super::history::{History, Kept};
use super::joints;
use super::needs::{check_memory, check_world, step_options, world_needs};
use super::report::EventKind;
use super::sending::{Resend, SentParams, push_hull};
use super::soft;
use super::swept::Swept;
use super::uploads::Uploads;
use crate::glam::Vec3;
use crate::log::{info, span};
use crate::plan::BufferId;
use crate::plan::step::{StepOptions, StepPlan};
use crate::snapshot::{HostState, Moment};
use crate::state::{Capacities, Limits, List, UserBuffer, with_reserve};
use crate::world::{BodyHandle, Edit, Sent, World};
use crate::{Error, Result, Settings};
use drystone_kernels::detect::gate::counter;
use drystone_kernels::layout::BodyPose;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a stepper needs of a device. None of these calls runs a step.
pub trait StepDevice: Send {
    /// Prepares a plan's buffers and commands; may allocate. Persistent buffers keep their contents as far as they
    /// fit; all others become zero, unless the plan's buffers are the same as before. On failure the previous plan
    /// stays loaded.
    fn load(&mut self, plan: &StepPlan) -> Result<()>;
    /// Whether what was attached to the commands of a plan stays when [`StepDevice::load`] changes nothing but those.
    fn keeps_parts(&self) -> bool {
        false
    }
    /// Stages writes that take effect before the next step that is run or recorded. What was staged earlier and has
    /// not been recorded is contained in `uploads` again, so the device may forget it.
    fn stage(&mut self, uploads: &Uploads) -> Result<()>;
    /// Overwrites persistent buffers of the loaded plan with these bytes, and what lies behind them with zeros. Takes
    /// effect before the next step that is run or recorded, and before the writes staged for it.
    fn restore(&mut self, contents: &[(BufferId, &[u8])]) -> Result<()>;
    /// Allocates memory for a copy of a plan's persistent buffers, under number `_place`. Devices whose state the
    /// host reads after every step need none.
    fn reserve_kept(&mut self, _plan: &StepPlan, _place: usize) -> Result<()> {
        Ok(())
    }
    /// As [`StepDevice::restore`], with the copy that was kept under number `_place`.
    fn restore_kept(&mut self, _plan: &StepPlan, _place: usize) -> Result<()> {
        Ok(())
    }
}

/// Options that are fixed when a stepper is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreOptions {
    /// Whether the kernels run on the CPU: on the CPU backend, or on a Vulkan driver without a GPU.
    pub on_cpu: bool,
    /// Whether a step whose lists are too short is skipped as a whole.
    pub strict: bool,
    /// Whether poses for drawing are written.
    pub body_poses: bool,
    /// Whether lists grow before they are full. Set for devices on which a step cannot be repeated.
    pub ahead: bool,
    /// Whether commands are planned by what the last steps needed: see `stepper/swept.rs`.
    pub expects: bool,
    /// Limits of memory and of pairs.
    pub limits: Limits,
}

/// What [`Core::undo_prepared`] needs to undo a step that was prepared, but neither run nor recorded.
pub(super) struct Unrecorded {
    /// The number of its [`Prepared`](super::Prepared).
    pub number: u64,
    pub sent: Sent,
    params: Option<SentParams>,
    pub resend: Option<Resend>,
    /// The frame to be kept, if frames are kept.
    kept: Option<Kept>,
}

pub(crate) struct Core {
    pub world: World,
    pub(super) settings: Settings,
    pub(super) options: CoreOptions,
    pub(super) user: Vec<UserBuffer>,
    pub(super) plan: StepPlan,
    pub(super) planned: StepOptions,
    /// Capacities that the device reported as needed.
    pub(super) wanted: Capacities,
    pub(super) params: Option<SentParams>,
    pub(super) resend: Option<Resend>,
    /// Whether the prepared step starts cold: its constraints may carry loads that their multipliers do not know yet.
    cold: bool,
    /// Whether the next step is to start cold.
    pub(super) start_cold: bool,
    /// Whether any step was made. A recorded step counts until its results show that it did not fit.
    pub(super) started: bool,
    /// The step that was prepared and has been neither run nor recorded.
    pub(super) prepared: Option<Unrecorded>,
    pub(super) history: History,
    pub(super) swept: Swept,
    /// Pairs and manifolds of the last step.
    pub(super) counted: (u32, u32),
    /// Sub-steps made.
    pub(super) made: u64,
    pub(super) quarantined: Vec<BodyHandle>,
    pub(super) fell_back: bool,
    pub(super) notes: Vec<EventKind>,
    generation: u64,
}

/// A number from 1 on that nothing else in this process has.
pub(crate) fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Core {
    /// Plans the step of a world, with at least `capacities`. An error when settings are out of range or limits are
    /// exceeded.
    pub fn new(
        world: World,
        settings: Settings,
        options: CoreOptions,
        capacities: Capacities,
        user: Vec<UserBuffer>,
    ) -> Result<Self> {
        settings.check()?;
        check_world(&settings, &world)?;
        let capacities = capacities.at_least(&world_needs(&world));
        let planned = Swept::ALL.of(step_options(&settings, options, &world, true));
        let plan = StepPlan::with_user_buffers(capacities, planned, &user)?;
        check_memory(&plan, options.limits)?;
        Ok(Self {
            world,
            settings,
            options,
            user,
            plan,
            planned,
            wanted: Capacities::default(),
            params: None,
            cold: true,
            start_cold: false,
            started: false,
            prepared: None,
            resend: Some(Resend { bodies: 0, colliders: 0, joints: 0, frames: 0, soft: true }),
            history: History::default(),
            swept: Swept::ALL,
            counted: (0, 0),
            made: 0,
            quarantined: Vec::new(),
            fell_back: false,
            notes: Vec::new(),
            generation: unique(),
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Changes the settings from the next step on. An error, and no change, when a value is out of its range.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        settings.check()?;
        self.settings = settings;
        Ok(())
    }

    pub fn plan(&self) -> &StepPlan {
        &self.plan
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn steps(&self) -> u64 {
        self.made
    }

    pub fn limit_memory(&mut self, bytes: Option<u64>) {
        self.options.limits.memory = bytes;
    }

    pub fn limit_pairs(&mut self, pairs: Option<u32>) {
        self.options.limits.pairs = pairs;
    }

    /// Whether a step is likely to need longer lists, which limits or memory may refuse: limits are set, lists are
    /// nearly full, or nobody knows yet how full they will be.
    pub(super) fn may_grow(&self) -> bool {
        let Capacities { pairs, manifolds, .. } = self.plan.capacities;
        let full = |count: u32, room: u32| u64::from(count) * 8 > u64::from(room) * 7;
        let full = full(self.counted.0, pairs) || full(self.counted.1, manifolds);
        full || !self.started || self.options.limits.are_any()
    }

    /// Makes a new plan when lists are too short for the world or for what the device reported, or when settings
    /// require one, and loads it. Returns whether the plan has changed.
    pub(super) fn replan(&mut self, edits: u32, device: &mut dyn StepDevice) -> Result<bool> {
        let before = self.plan.capacities;
        // Forgotten even if this call fails: a step that still needs more reports it again, and one that does not can
        // go on.
        let wanted = std::mem::take(&mut self.wanted);
        if let Some(limit) = self.options.limits.pairs.filter(|limit| wanted.pairs > *limit) {
            return Err(Error::PairLimit { needed: wanted.pairs, limit });
        }
        let mut needed = world_needs(&self.world).at_least(&wanted);
        if needed.bodies > before.bodies {
            // A world that grows by many bodies at once usually also edits many at once.
            needed.edits = needed.edits.max(with_reserve(needed.bodies));
        }
        needed.edits = needed.edits.max(edits);
        let capacities = before.grown_to(&needed);
        check_world(&self.settings, &self.world)?;
        let planned = self.swept.of(step_options(&self.settings, self.options, &self.world, self.cold));
        if capacities == before && planned == self.planned {
            return Ok(false);
        }
        let plan = StepPlan::with_user_buffers(capacities, planned, &self.user)?;
        if capacities != before {
            check_memory(&plan, self.options.limits)?;
        }
        {
            span!("load", bytes = plan.recording.memory(), commands = plan.recording.commands().len());
            device.load(&plan)?;
        }
        let StepOptions { swept_colours, swept_rounds, .. } = planned;
        let only_swept = planned == StepOptions { swept_colours, swept_rounds, ..self.planned };
        let same_buffers = plan.recording.buffers() == self.plan.recording.buffers();
        if only_swept && capacities == before && same_buffers && device.keeps_parts() {
            (self.plan, self.planned) = (plan, planned);
            return Ok(true);
        }
        // Materials and report impulses have full lists only from the first collider on that uses them: what the
        // device has of them from before is incomplete.
        let (now, then) = (planned.features, self.planned.features);
        let first_of_list = now.surfaces && !then.surfaces || now.reports && !then.reports;
        self.plan = plan;
        self.planned = planned;
        self.params = None;
        self.generation = unique();
        for &list in List::ALL {
            let (from, to) = (before.of(list), capacities.of(list));
            if to > from {
                info!(list = list.name(), from, to, "a list has grown");
                self.notes.push(EventKind::Grown { list: list.name(), from, to });
            }
        }
        let Capacities { bodies, colliders, joints, .. } = before;
        // What was missing in the earlier plan is missing in this one too.
        let had = self.resend.unwrap_or(Resend { bodies, colliders, joints, frames: bodies, soft: false });
        self.resend = Some(Resend {
            bodies: had.bodies.min(bodies),
            colliders: if first_of_list { 0 } else { had.colliders.min(colliders) },
            joints: had.joints.min(joints),
            frames: had.frames.min(bodies),
            soft: had.soft,
        });
        Ok(true)
    }

    /// Prepares a step of `dt` seconds: makes lists longer if need be, and stages the edits since the last step.
    /// Edits are kept until the step is recorded, so a failed call loses none.
    pub fn prepare(&mut self, dt: f32, device: &mut dyn StepDevice, uploads: &mut Uploads) -> Result<()> {
        span!("prepare", dt);
        self.undo_prepared();
        self.cold = self.start_cold || !self.started;
        self.replan(0, device)?;
        if let Some(Resend { bodies, colliders, .. }) = self.resend {
            // These are sent whole below, in place of edits that would need a longer list of edits.
            self.world.uploaded(bodies, colliders);
        }
        let mut batch = Batch::new(&self.world, &self.plan.capacities, dt);
        let count = u32::try_from(batch.records.len()).unwrap_or(u32::MAX);
        if count > self.plan.capacities.edits {
            self.replan(with_reserve(count), device)?;
        }
        uploads.clear();
        if self.resend.is_some() {
            self.push_all(uploads)?;
            // Whole bodies were sent just now, so the batch is made again without their creation.
            batch = Batch::new(&self.world, &self.plan.capacities, dt);
        } else {
            for slot in self.world.changed_hulls() {
                push_hull(uploads, &self.plan, &self.world, slot);
            }
        }
        joints::push(&self.world, &self.plan, uploads);
        soft::push(&self.world, &self.plan, uploads);
        let b = &self.plan.buffers;
        let common = self.settings.params(Vec3::ZERO, dt, self.cold);
        let params = SentParams { common, gravities: self.world.gravities().clone() };
        if self.params.as_ref() != Some(&params) {
            params.push(&self.plan, uploads);
        }
        if self.planned.worlds > 0 {
            for (slot, run) in &batch.locals {
                uploads.push(b.locals, u64::from(*slot), run);
            }
        }
        uploads.push(b.edits, 0, &batch.records);
        // One write for both words: the number of edits, and 0 events, since events are those of this step.
        const { assert!(counter::EVENTS == counter::EDITS + 1) };
        uploads.push(b.counters, counter::EDITS.into(), &[batch.records.len() as u32, 0]);
        if self.planned.adaptive {
            // The first sub-step of the frame chooses how many there are.
            uploads.push(b.counters, counter::CHOSEN.into(), &[0]);
        }
        for (slot, run) in &batch.colliders {
            uploads.push(b.colliders, u64::from(*slot), run);
            self.push_surfaces(uploads, *slot, run.len());
        }
        if self.options.body_poses {
            for (slot, run) in &batch.frames {
                uploads.push(b.body_frames, u64::from(*slot), run);
                // A new body in a reused slot must not be drawn where its predecessor was.
                uploads.push(b.body_poses, u64::from(*slot), &vec![BodyPose::default(); run.len()]);
            }
        }
        if !self.quarantined.is_empty() {
            // They take part again, and may be told of again.
            let renewed = |body: &BodyHandle| self.world.edits().contains(&(body.index(), Edit::Renew));
            self.quarantined.retain(|body| !renewed(body));
        }
        let place = self.history.next_place();
        if let Some(place) = place {
            device.reserve_kept(&self.plan, place)?;
        }
        device.stage(uploads)?;
        let before = self.params.replace(params);
        let sent = self.world.sent(batch.after);
        let kept = place.map(|place| self.kept(place));
        self.prepared = Some(Unrecorded { number: unique(), sent, params: before, resend: self.resend.take(), kept });
        Ok(())
    }

    /// Undoes a step that was prepared and neither run nor recorded; its edits are pending again.
    pub(super) fn undo_prepared(&mut self) {
        if let Some(Unrecorded { sent, params, resend, .. }) = self.prepared.take() {
            self.world.unsend(sent);
            (self.params, self.resend) = (params, resend);
        }
    }

    /// Marks the prepared step as run or recorded, under frame number `frame`.
    pub fn recorded(&mut self, frame: u64) {
        if let Some(kept) = self.prepared.take().and_then(|p| p.kept) {
            self.history.push(frame, kept);
        }
        (self.started, self.start_cold) = (true, false);
    }

    /// Gives the next step the iterations of a world's first: see
    /// [`cold_iterations`](crate::AvbdSettings::cold_iterations).
    pub fn start_cold(&mut self) {
        self.start_cold = true;
    }

    /// Number of the place in which the device keeps the state after the prepared step, if frames are kept.
    #[cfg(feature = "vulkan")]
    pub fn place(&self) -> Option<usize> {
        self.prepared.as_ref()?.kept.as_ref().map(|kept| kept.place)
    }

    /// Number of the step that is prepared and neither run nor recorded. No other step of a process has it.
    pub fn prepared_number(&self) -> Option<u64> {
        self.prepared.as_ref().map(|prepared| prepared.number)
    }

    /// A copy of the host's side of the state.
    pub(super) fn host_state(&self) -> HostState {
        HostState {
            world: self.world.clone(),
            settings: self.settings,
            made: self.made,
            started: self.started,
            quarantined: self.quarantined.clone(),
            fell_back: self.fell_back,
            start_cold: self.start_cold,
        }
    }

    /// The host's side of a snapshot taken now. A step that is prepared and not recorded counts as not prepared.
    pub fn moment(&self) -> Moment {
        let mut host = self.host_state();
        let mut resend = self.resend;
        if let Some(prepared) = &self.prepared {
            host.world.unsend(prepared.sent.clone());
            resend = prepared.resend;
        }
        let room = self.plan.capacities;
        let there = resend.unwrap_or(Resend {
            bodies: room.bodies,
            colliders: room.colliders,
            joints: room.joints,
            frames: room.bodies,
            soft: false,
        });
        let joints = host.world.joint_store();
        let needs = world_needs(&host.world);
        let used = Capacities {
            bodies: host.world.body_slots().min(room.bodies).min(there.bodies),
            colliders: host.world.collider_room().min(room.colliders),
            joints: joints.slot_count().min(room.joints).min(there.joints),
            joint_rows: joints.row_count().min(room.joint_rows),
            hulls: needs.hulls.min(room.hulls),
            hull_edges: needs.hull_edges.min(room.hull_edges),
            continuous: needs.continuous.min(room.continuous),
            ..soft::used(&host.world, there.soft)
        };
        let buffers = self.plan.recording.buffers().to_vec();
        Moment { host, used, capacities: room, options: self.planned, user: self.user.clone(), buffers }
    }

    /// Uploads the world as described, before the first step.
    pub fn upload(&mut self, device: &mut dyn StepDevice, uploads: &mut Uploads) -> Result<()> {
        uploads.clear();
        self.push_all(uploads)?;
        joints::push(&self.world, &self.plan, uploads);
        soft::push(&self.world, &self.plan, uploads);
        device.stage(uploads)?;
        self.resend = None;
        self.world.joint_store_mut().sent();
        self.world.soft_store_mut().sent();
        Ok(())
    }

    /// Makes lists longer after a step that did not fit, and uploads everything that the step started with.
    pub fn grow(&mut self, device: &mut dyn StepDevice, uploads: &mut Uploads) -> Result<()> {
        let params = self.params.clone();
        self.replan(0, device)?;
        uploads.clear();
        self.push_all(uploads)?;
        joints::push(&self.world, &self.plan, uploads);
        soft::push(&self.world, &self.plan, uploads);
        if let Some(params) = &params {
            params.push(&self.plan, uploads);
        }
        device.stage(uploads)?;
        (self.params, self.resend) = (params, None);
        self.world.joint_store_mut().sent();
        self.world.soft_store_mut().sent();
        Ok(())
    }
}
