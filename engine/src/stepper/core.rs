//! The host's side of a step: world, settings and plan, what is written to the device before a step, and how the
//! words that a step leaves behind are interpreted. Everything here is independent of the backend; a [`StepDevice`]
//! does the device's part.

use super::bodies::{Batch, BodyRecord, collider_record, material_record, report_impulse};
use super::history::{History, Kept};
use super::joints;
use super::report::{Contact, Event, EventKind, Overlap, StepReport};
use super::soft;
use super::swept::Swept;
use super::uploads::Uploads;
use crate::backend::RunTimes;
use crate::glam::Vec3;
use crate::log::{info, span, warning};
use crate::plan::BufferId;
use crate::plan::step::{StepOptions, StepPlan};
use crate::settings::MOST_COLD;
use crate::snapshot::{HostState, Moment};
use crate::state::{Capacities, Limits, List, UserBuffer, with_reserve};
use crate::world::{BodyHandle, Edit, Hull, Sent, World, unit_box};
use crate::{Error, Result, Settings};
use drystone_kernels::detect::gate::{bit, counter};
use drystone_kernels::layout::BodyPose;
use drystone_kernels::state::events::{EventRecord, event};
use drystone_kernels::state::rigid::{self, NONE, Params};
use std::sync::Arc;
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

/// What the device lacks after a plan was loaded: everything from these slots on, and all buffers that the host
/// writes as a whole.
#[derive(Clone, Copy)]
pub(super) struct Resend {
    pub bodies: u32,
    pub colliders: u32,
    pub joints: u32,
    /// First slot whose body space (where the user's body space lies in the device's) is missing.
    pub frames: u32,
    /// Whether the device has no state of any soft body.
    pub soft: bool,
}

impl Resend {
    /// The union: everything that either of the two lacks.
    pub fn and_all_of(self, other: Self) -> Self {
        Self {
            bodies: self.bodies.min(other.bodies),
            colliders: self.colliders.min(other.colliders),
            joints: self.joints.min(other.joints),
            frames: self.frames.min(other.frames),
            soft: self.soft || other.soft,
        }
    }
}

/// The settings that the device has.
#[derive(Clone, PartialEq)]
pub(super) struct SentParams {
    /// Of all worlds, with no gravity.
    common: Params,
    gravities: Arc<Vec<Vec3>>,
}

impl SentParams {
    /// Adds them to the uploads.
    fn push(&self, plan: &StepPlan, uploads: &mut Uploads) {
        let of_world = |gravity: &Vec3| Params { gravity: *gravity, ..self.common };
        let all: Vec<_> = self.gravities.iter().map(of_world).collect();
        uploads.push(plan.buffers.params, 0, &all);
    }
}

/// What [`Core::undo_prepared`] needs to undo a step that was prepared, but neither run nor recorded.
pub(super) struct Unrecorded {
    pub sent: Sent,
    params: Option<SentParams>,
    pub resend: Option<Resend>,
    /// The frame to be kept, if frames are kept.
    kept: Option<Kept>,
}

/// The results that are read back after a step.
pub(crate) struct Results<'a> {
    pub frame: u64,
    /// Sub-steps that were run.
    pub runs: u32,
    /// Whether the device chose how many of the recorded sub-steps it made.
    pub adaptive: bool,
    pub counters: &'a [u32],
    pub overflow: u32,
    /// Number of events that the list of events can hold.
    pub event_room: u32,
    pub events: &'a [EventRecord],
    /// Whether the world was rolled back or restored after this step was recorded.
    pub undone: bool,
}

pub(crate) struct Core {
    pub world: World,
    pub(super) settings: Settings,
    options: CoreOptions,
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
    /// Changes when the world is replaced; steps prepared before are void then.
    pub(super) epoch: u64,
    pub(super) history: History,
    swept: Swept,
    /// Pairs and manifolds of the last step.
    pub(super) counted: (u32, u32),
    /// Sub-steps made.
    pub(super) made: u64,
    pub(super) quarantined: Vec<BodyHandle>,
    pub(super) fell_back: bool,
    pub(super) notes: Vec<EventKind>,
    generation: u64,
}

fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Capacities that a world needs. Pairs and manifolds are 1, since only the device knows their number.
fn world_needs(world: &World) -> Capacities {
    Capacities {
        bodies: world.slot_count().max(1),
        colliders: world.collider_slots().max(1),
        pairs: 1,
        manifolds: 1,
        edits: 1,
        hulls: world.hulls().slot_count(),
        hull_edges: world.hulls().end(),
        joints: world.joint_store().slot_count(),
        joint_rows: world.joint_store().row_count(),
        continuous: world.continuous_count(),
        ..soft::needs(world)
    }
}

/// Initial capacities for a world, with estimates for pairs and manifolds.
pub(crate) fn first_capacities(world: &World) -> Capacities {
    let needs = world_needs(world);
    Capacities {
        pairs: with_reserve(needs.colliders.saturating_mul(2)),
        manifolds: with_reserve(needs.bodies),
        edits: needs.bodies,
        soft_pairs: if needs.soft_faces > 0 { with_reserve(needs.soft_faces.saturating_mul(2)) } else { 0 },
        ..needs
    }
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
            epoch: 0,
            history: History::default(),
            swept: Swept::ALL,
            counted: (0, 0),
            made: 0,
            quarantined: Vec::new(),
            fell_back: false,
            notes: Vec::new(),
            generation: next_generation(),
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

    /// Whether the prepared step may fail after it has already changed the state: when it needs longer lists than
    /// memory or limits allow, edits have reached the device by then, and sub-steps may have been made.
    pub(super) fn may_fail_in_the_middle(&self) -> bool {
        let does_something = self.settings.substeps > 1
            || self.prepared.as_ref().is_some_and(|p| !p.sent.is_empty() || p.resend.is_some());
        let Capacities { pairs, manifolds, .. } = self.plan.capacities;
        let full = |count: u32, room: u32| u64::from(count) * 8 > u64::from(room) * 7;
        let may_grow = full(self.counted.0, pairs) || full(self.counted.1, manifolds) || !self.started;
        does_something && (self.options.limits.are_any() || may_grow)
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
        self.generation = next_generation();
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
        self.prepared = Some(Unrecorded { sent, params: before, resend: self.resend.take(), kept });
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

    /// A number that changes when the world is replaced.
    pub fn epoch(&self) -> u64 {
        self.epoch
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

    /// Adds the materials and report impulses of `count` colliders from slot `first` on to the uploads.
    fn push_surfaces(&self, uploads: &mut Uploads, first: u32, count: usize) {
        let (b, features) = (&self.plan.buffers, self.planned.features);
        let slots = || (first..).take(count);
        if features.surfaces {
            let list: Vec<_> = slots().map(|slot| material_record(&self.world, slot)).collect();
            uploads.push(b.materials, first.into(), &list);
        }
        if features.reports {
            let list: Vec<_> = slots().map(|slot| report_impulse(&self.world, slot)).collect();
            uploads.push(b.report_impulses, first.into(), &list);
        }
    }

    /// Adds everything that the device lacks ([`Resend`]) to the uploads, and all hulls.
    fn push_all(&mut self, uploads: &mut Uploads) -> Result<()> {
        let Some(resend) = self.resend else {
            return Ok(());
        };
        let Resend { bodies: first, colliders: first_collider, joints: first_joint, frames, soft } = resend;
        let Capacities { bodies, colliders, joints, .. } = self.plan.capacities;
        let b = &self.plan.buffers;
        if let Some(chosen) = &self.plan.chosen {
            uploads.push(chosen.sizes, 0, &chosen.groups);
        }
        let records: Vec<_> = (first..bodies).map(|i| BodyRecord::new(&self.world, i)).collect();
        let from = u64::from(first);
        uploads.push(b.bodies, from, &records.iter().map(|r| r.body).collect::<Vec<_>>());
        let poses: Vec<_> = records.iter().map(|r| r.pose).collect();
        uploads.push(b.poses, from, &poses);
        uploads.push(b.starts, from, &poses);
        uploads.push(b.velocities, from, &records.iter().map(|r| r.velocity).collect::<Vec<_>>());
        uploads.push(b.previous, from, &records.iter().map(|r| r.velocity.linear).collect::<Vec<_>>());
        uploads.push(b.forces, from, &records.iter().map(|r| r.force).collect::<Vec<_>>());
        uploads.push(b.colours, from, &vec![NONE; records.len()]);
        if self.planned.worlds > 0 {
            uploads.push(b.locals, 0, &(0..bodies).map(|slot| self.world.local(slot)).collect::<Vec<_>>());
        }
        if self.options.body_poses {
            let records = (frames..bodies).map(|i| BodyRecord::new(&self.world, i).frame);
            uploads.push(b.body_frames, frames.into(), &records.collect::<Vec<_>>());
        }
        let list: Vec<_> = (first_collider..colliders).map(|slot| collider_record(&self.world, slot)).collect();
        uploads.push(b.colliders, first_collider.into(), &list);
        self.push_surfaces(uploads, first_collider, list.len());
        // Hull 0 is the unit box: boxes use it when they meet hulls.
        push_hull_at(uploads, &self.plan, 0, 0, &unit_box()?);
        for slot in 0..self.world.hulls().slot_count() {
            push_hull(uploads, &self.plan, &self.world, slot);
        }
        self.world.uploaded(first, first_collider);
        self.world.joint_store_mut().resend(first_joint..joints);
        if soft {
            self.world.soft_store_mut().send_all();
        } else {
            self.world.soft_store_mut().send_again();
        }
        Ok(())
    }

    /// Interprets the results of a step: makes its report with events, and notes the capacities that lists need.
    pub fn digest(&mut self, results: &Results<'_>, times: Vec<RunTimes>) -> StepReport {
        let count = |slot: u32| results.counters.get(slot as usize).copied().unwrap_or(0);
        let since = count(counter::STEPS).wrapping_sub(self.made as u32);
        // In adaptive frames only the sub-steps that the device chose count.
        let runs = if results.adaptive { count(counter::SUBSTEPS).min(results.runs) } else { results.runs };
        let made = since.min(runs);
        let first = self.made;
        // More than the recorded sub-steps when the host submitted the recording several times. A difference of 2^31
        // or more cannot be a number of steps.
        let all = if since < 1 << 31 { since } else { made };
        // A frame that was rolled back does not count, nor do its events.
        let made = if results.undone { runs } else { made };
        if !results.undone {
            self.made += u64::from(all);
            self.started = self.made > 0;
            self.history.was_made(results.frame, self.made);
        }
        let happened = count(counter::EVENTS);
        let mut report = StepReport {
            frame: results.frame,
            pairs: count(counter::PAIRS),
            manifolds: count(counter::MANIFOLDS),
            fallback_bodies: count(counter::FALLBACK),
            dropped: runs - made,
            substeps: made,
            substeps_wanted: if results.adaptive { count(counter::WANTED) } else { runs },
            short_frames: if results.adaptive { count(counter::SHORT) } else { 0 },
            undone: results.undone,
            events_lost: happened.saturating_sub(results.event_room),
            times,
            ..StepReport::default()
        };
        self.counted = (report.pairs, report.manifolds);
        if self.options.expects && results.overflow == 0 && !results.undone {
            self.swept.learn(results.counters);
        }
        let notes = if results.undone { Vec::new() } else { std::mem::take(&mut self.notes) };
        report.events.extend(notes.into_iter().map(|kind| Event { step: first, kind }));
        if self.options.ahead {
            for (list, count) in [(List::Pairs, report.pairs), (List::Manifolds, report.manifolds)] {
                // Grows when seven eighths full, by a quarter: enough for the frames until the growth takes effect,
                // even in a collapse.
                if u64::from(count) * 8 > u64::from(self.plan.capacities.of(list)) * 7 {
                    let more = count.saturating_add(count / 4);
                    // Growing ahead is only a precaution, so it stays within the limit instead of failing.
                    let most =
                        if list == List::Pairs { self.options.limits.pairs.unwrap_or(u32::MAX) } else { u32::MAX };
                    let more = more.min(most.max(count));
                    *self.wanted.of_mut(list) = self.wanted.of(list).max(more);
                }
            }
        }
        if report.events_lost > 0 {
            warning!(frame = results.frame, lost = report.events_lost, "more events than there is room for");
        }
        if results.overflow != 0 {
            warning!(
                frame = results.frame,
                dropped = report.dropped,
                pairs = report.pairs,
                manifolds = report.manifolds,
                "lists are too short for the step"
            );
            let lists = [(bit::PAIRS, List::Pairs, report.pairs), (bit::MANIFOLDS, List::Manifolds, report.manifolds)];
            let mut needed = Capacities::default();
            for (bit, list, count) in lists {
                if results.overflow & (1 << bit) != 0 {
                    *needed.of_mut(list) = count;
                }
            }
            needed.soft_pairs = results.overflow >> bit::SOFT_PAIRS;
            if needed.pairs > 0 {
                // Manifolds were counted only among the pairs that fitted; scale them up in proportion.
                let fitted = f64::from(self.plan.capacities.pairs.max(1));
                let expected = f64::from(report.manifolds) * (f64::from(needed.pairs) / fitted).max(1.0);
                needed.manifolds = needed.manifolds.max(expected.min(f64::from(needed.pairs)) as u32);
            }
            self.wanted = self.wanted.at_least(&needed);
            report.needed = Some(needed);
        }
        if results.undone {
            return report;
        }
        if report.fallback_bodies > 0 && !self.fell_back {
            self.fell_back = true;
            self.history.change(results.frame, |host| host.fell_back = true);
            info!(bodies = report.fallback_bodies, "bodies found no colour and are solved in turn");
            let kind = EventKind::Fallback { bodies: report.fallback_bodies };
            report.events.push(Event { step: self.made.saturating_sub(1), kind });
        }
        let mut told: Vec<_> = results.events.iter().take(happened as usize).collect();
        // Lanes appended the events in no fixed order; sorting makes the order reproducible.
        told.sort_by_key(|e| (e.step, e.kind, e.index, e.other));
        for record in told {
            // The device counts steps with 32 bits.
            let step = first + u64::from(record.step.wrapping_sub(first as u32));
            if let Some(kind) = self.event(results.frame, record) {
                report.events.push(Event { step, kind });
            }
        }
        report
    }

    fn event(&mut self, frame: u64, record: &EventRecord) -> Option<EventKind> {
        let EventRecord { index, other, generations, .. } = *record;
        if record.kind == event::BROKEN {
            let joint = self.world.joint_store().handle(index)?;
            self.world.joint_broke(index);
            self.history.change(frame, |host| host.world.joint_broke(index));
            return Some(EventKind::Broken { joint, force: record.value.x, torque: record.value.y });
        }
        if record.kind == event::DETACHED {
            let attachment = self.world.soft_store_mut().let_go(index)?;
            self.history.change(frame, |host| {
                host.world.soft_store_mut().let_go(index);
            });
            return Some(EventKind::Detached { attachment, force: record.value.x });
        }
        if record.kind == event::PARTICLE_HELD {
            let (soft, particle) = self.world.soft_store().owner(index)?;
            return Some(EventKind::ParticleHeld { soft, particle });
        }
        if record.kind != event::QUARANTINED {
            let (a, collider_a) = self.world.collider_owner(index, generations & 0xffff)?;
            let (b, collider_b) = self.world.collider_owner(other, generations >> 16)?;
            let overlap = Overlap { sensor: a, sensor_collider: collider_a, body: b, collider: collider_b };
            let contact = Contact { a, collider_a, b, collider_b, impulse: record.value, point: record.point };
            return match record.kind {
                event::SENSOR_BEGIN => Some(EventKind::SensorBegin(overlap)),
                event::SENSOR_END => Some(EventKind::SensorEnd(overlap)),
                event::CONTACT_BEGIN => Some(EventKind::ContactBegin(contact)),
                event::CONTACT_PERSIST => Some(EventKind::ContactPersist(contact)),
                event::CONTACT_END => Some(EventKind::ContactEnd(contact)),
                _ => None,
            };
        }
        let body = self.world.handle(index)?;
        if self.quarantined.contains(&body) {
            return None;
        }
        warning!(frame, body = body.index, "a body's state is not finite: it takes no further part");
        self.quarantined.push(body);
        self.history.change(frame, |host| host.quarantined.push(body));
        Some(EventKind::Quarantined { body })
    }
}

fn step_options(settings: &Settings, options: CoreOptions, world: &World, cold: bool) -> StepOptions {
    let CoreOptions { on_cpu, strict, body_poses, limits, .. } = options;
    let usual = settings.step_options(on_cpu);
    let iterations = if cold { usual.iterations.max(cold_iterations(settings, world)) } else { usual.iterations };
    let most_pairs = limits.pairs.unwrap_or(u32::MAX);
    let soft_colours = world.soft_store().colours();
    let features = world.features();
    let worlds = world.several();
    // Lanes of a team add up in another order than one lane, and whether a colour is large depends on all worlds.
    let lanes = if worlds > 0 { 1 } else { usual.lanes };
    StepOptions { iterations, strict, body_poses, most_pairs, features, worlds, lanes, soft_colours, ..usual }
}

/// Whether the solver has everything that is in the world.
fn check_world(settings: &Settings, world: &World) -> Result<()> {
    Ok(settings.check_world(&world.features(), world.soft_store().colours() > 0, world.several() > 0)?)
}

/// An error when a plan's buffers exceed the memory limit.
fn check_memory(plan: &StepPlan, limits: Limits) -> Result<()> {
    let needed = plan.recording.memory();
    match limits.memory.filter(|limit| needed > *limit) {
        Some(limit) => Err(Error::MemoryLimit { needed, limit }),
        None => Ok(()),
    }
}

/// Iterations of each sub-step of a step that starts cold: see [`AvbdSettings`](crate::AvbdSettings).
fn cold_iterations(settings: &Settings, world: &World) -> u32 {
    let Some(avbd) = settings.avbd().filter(|a| a.cold_iterations > 0) else { return 0 };
    // In larger assemblies the full load at once throws nets up, because their long waves act as if bodies were
    // heavier: see `load_share`.
    let largest = (avbd.share_reach * settings.iterations as f32) as usize;
    let reach = if avbd.cold_reach > 0 { avbd.cold_reach.saturating_mul(world.joint_depth(largest)) } else { 0 };
    avbd.cold_iterations.max(reach.min(MOST_COLD)).div_ceil(settings.substeps)
}

fn push_hull(uploads: &mut Uploads, plan: &StepPlan, world: &World, slot: u32) {
    if let Some(entry) = world.hulls().entry(slot) {
        push_hull_at(uploads, plan, slot + 1, entry.first, &entry.hull);
    }
}

fn push_hull_at(uploads: &mut Uploads, plan: &StepPlan, index: u32, first: u32, hull: &Hull) {
    let b = plan.buffers.hulls;
    let counts = [hull.vertices.len(), hull.faces.len(), hull.edges.len()].map(|n| n as u32);
    let inner = hull.faces.iter().map(|f| f.offset).fold(f32::MAX, f32::min);
    let record = rigid::Hull { first, vertices: counts[0], faces: counts[1], edges: counts[2], inner };
    let at = u64::from(first);
    uploads.push(b.hulls, index.into(), &[record]);
    uploads.push(b.vertices, at, &hull.vertices);
    uploads.push(b.faces, at, &hull.faces);
    uploads.push(b.loops, 2 * at, &hull.loops);
    uploads.push(b.edges, at, &hull.edges);
}
