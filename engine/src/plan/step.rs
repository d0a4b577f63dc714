//! The step, top to bottom as in Algorithm 1: a list of phases, each of which is a folder beside this file.

use super::detect::bvh::Tree;
use super::recording::{BufferInfo, PlanError, Recording};
use super::solve::soft::Soft;
use super::solve::{self, Solve};
use super::substeps::{self, ChosenSubsteps};
use super::{detect, finish, graph};
use crate::state::{Capacities, Role, Room, StateBuffers, UserBuffer};
use crate::world::{BOX_EDGES, Features};
use drystone_kernels::state::edits;
use std::ops::Range;

/// What is built into a step and cannot change from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOptions {
    /// Primal and dual passes.
    pub iterations: u32,
    /// Colours, 1 to 32. Bodies that need more are solved in turn.
    pub colours: u32,
    /// Rounds of colouring a step.
    pub colour_rounds: u32,
    /// Lanes that work together on a body of a small colour: a power of two up to 64. Subgroups that are narrower take
    /// as many as they have; the CPU has one.
    pub lanes: u32,
    /// Bodies from which on a colour is not small, and its bodies get one lane each.
    pub large_colour: u32,
    /// Whether a step that does not fit is left out, rather than made without what did not fit.
    pub strict: bool,
    /// Whether a pass behind the velocities corrects the error that is left (section 6).
    pub stabilise: bool,
    /// Whether there are dual passes; plain VBD has none.
    pub dual: bool,
    /// Whether what hangs together is also moved as one. Only with dual passes, whose multipliers tell what touches.
    pub momentum: bool,
    /// Whether every row of a contact has a stiffness of its own that is kept from step to step (Eq. 19).
    pub row_stiffness: bool,
    /// Whether the device chooses how many sub-steps a frame has: see `plan/substeps.rs`.
    pub adaptive: bool,
    /// Whether motion is integrated to second order: see `plan/solve/second.rs`.
    pub second_order: bool,
    /// Whether poses are also kept as the user means them, for drawing.
    pub body_poses: bool,
    /// Pairs beyond which nobody looks for more, and the step is refused; `u32::MAX` for no limit.
    pub most_pairs: u32,
    /// What some collider of the world is or does.
    pub features: Features,
    /// Colours of particles; 0 without soft bodies.
    pub soft_colours: u32,
}

/// Most events of a frame that are told one by one, unless the host asks for more; the rest is counted.
pub(crate) const MOST_EVENTS: u32 = 4096;

impl Default for StepOptions {
    /// Those of [`Settings::default`](crate::Settings), with one lane a body.
    fn default() -> Self {
        crate::Settings::default().step_options(true)
    }
}

impl StepOptions {
    /// Rounds of colouring: an odd number ends in the array that `colour_settle` reads.
    pub(super) fn odd_colour_rounds(&self) -> u32 {
        self.colour_rounds | 1
    }

    /// Overlaps with sensors that there is room for: as many as pairs, or none when there are no sensors.
    pub(super) fn sensed_room(&self, capacities: &Capacities) -> u32 {
        if self.features.sensors { capacities.pairs } else { 0 }
    }

    fn room(&self, capacities: &Capacities) -> Room {
        Room {
            bodies: capacities.bodies.into(),
            colliders: capacities.colliders.into(),
            manifolds: capacities.manifolds.into(),
            edits: capacities.edits.into(),
            hulls: capacities.hulls.into(),
            hull_edges: capacities.hull_edges.max(BOX_EDGES).into(),
            joints: capacities.joints.into(),
            joint_rows: capacities.joint_rows.into(),
            colours: self.colours.into(),
            colour_rounds: self.odd_colour_rounds().into(),
            last_steps: if self.second_order { capacities.bodies.into() } else { 0 },
            stiff_rows: if self.row_stiffness { capacities.manifolds.into() } else { 0 },
            shown: if self.body_poses { capacities.bodies.into() } else { 1 },
            materials: if self.features.surfaces { capacities.colliders.into() } else { 0 },
            surfaces: if self.features.surfaces { capacities.manifolds.into() } else { 0 },
            bounces: if self.features.bounces { capacities.manifolds.into() } else { 0 },
            sensed: self.sensed_room(capacities).into(),
            told: if self.features.reports { capacities.manifolds.into() } else { 0 },
            reporters: if self.features.reports { capacities.colliders.into() } else { 0 },
            events: event_room(capacities).into(),
            soft_bodies: capacities.soft_bodies.into(),
            particles: capacities.particles.into(),
            soft_colours: self.soft_colours.into(),
            soft_entries: capacities.soft_entries.into(),
            springs: capacities.springs.into(),
            membranes: capacities.membranes.into(),
            hinges: capacities.hinges.into(),
            tetrahedra: capacities.tetrahedra.into(),
            attachments: capacities.attachments.into(),
        }
    }
}

/// Events of a frame that there is room for.
pub(crate) fn event_room(capacities: &Capacities) -> u32 {
    if capacities.events > 0 {
        return capacities.events;
    }
    let some = capacities.bodies.saturating_add(capacities.joints);
    let some = some.saturating_add(capacities.colliders).saturating_add(capacities.attachments);
    some.saturating_add(capacities.particles).clamp(1, MOST_EVENTS)
}

/// A step ready to be run.
#[derive(Clone, Debug)]
pub struct StepPlan {
    /// The commands.
    pub recording: Recording,
    /// The buffers.
    pub buffers: StateBuffers,
    /// The room it has.
    pub capacities: Capacities,
    /// The hierarchy over the colliders. It lies in scratch: whoever wants it calls [`StepPlan::repeat_tree`].
    pub tree: Tree,
    /// The commands that build it from poses and colliders. [`StepPlan::repeat_tree`] repeats them.
    pub tree_commands: Range<usize>,
    /// What sub-steps need that the device chooses; none unless the options ask for it.
    pub chosen: Option<ChosenSubsteps>,
    /// Commands for the end of a frame, behind its sub-steps: poses for drawing. None unless the options ask for them.
    pub frame_end: Option<Recording>,
}

impl StepPlan {
    /// Plans a step.
    pub fn new(capacities: Capacities, options: StepOptions) -> Result<Self, PlanError> {
        Self::with_user_buffers(capacities, options, &[])
    }

    /// The same with persistent buffers of the user's.
    pub fn with_user_buffers(
        capacities: Capacities,
        options: StepOptions,
        user: &[UserBuffer],
    ) -> Result<Self, PlanError> {
        capacities.check()?;
        let r = &mut Recording::new("step");
        let s = &declare(r, &capacities, &options, user)?;

        // Up to the gate nothing of the state is changed but what the host asked for.
        record_edits(r, s, capacities.edits)?;
        let (tree, mut tree_commands) = detect::record_tree(r, s, capacities.colliders)?;
        let touching = detect::record_touching(r, s, &capacities, &options, &tree)?;
        let sizes = detect::record_gate(r, s, &capacities, &options)?;

        if options.adaptive {
            substeps::record_gate(r, s, &capacities, sizes, &options)?;
        }
        detect::record_contacts(r, s, &capacities, &options, &touching, sizes)?;
        // While the rows of the last step are there.
        let told = options.features.reports.then(|| detect::record_touching_before(r, s, &capacities, sizes));
        let told = told.transpose()?;
        if options.row_stiffness {
            solve::row_stiffness::record_start(r, s, &capacities, sizes)?;
        }
        if options.features.surfaces {
            solve::surfaces::record_start(r, s, &capacities, sizes)?;
        }
        let graph = graph::record(r, s, &capacities, &options, sizes)?;

        let soft = s.soft.as_ref().map(|soft| Soft::record(r, s, soft, &capacities, &options, sizes)).transpose()?;

        let solve = Solve::new(r, s, &capacities, &options, sizes, graph, soft.as_ref())?;
        let jointed = solve.record_warm_start(r)?;
        solve.record_predict(r)?;
        if options.second_order {
            solve::second::record_predict(&solve, r)?;
        }
        solve.record_iterations(r, jointed)?;

        finish::record_joint_forces(&solve, r)?;
        if let Some(soft) = &soft {
            soft.record_finish(&solve, r)?;
        }
        let impacts = if options.features.bounces { Some(solve::bounce::record_impacts(&solve, r)?) } else { None };
        finish::record_velocity(&solve, r)?;
        if options.stabilise {
            solve.record_sweep(r, true)?;
        }
        // Behind that pass, which takes velocities for the way that bodies went.
        if let Some(impacts) = impacts {
            solve::bounce::record_settling(&solve, r, impacts)?;
        }
        if options.second_order {
            solve::second::record_velocity(&solve, r)?;
        }
        if let Some(touched) = told {
            finish::record_touching(&solve, r, touched)?;
        }
        if options.adaptive {
            substeps::record_need(&solve, r)?;
        }
        finish::record_continuous(&solve, r)?;
        finish::record_store(&solve, r)?;
        if options.features.sensors {
            finish::record_sensors(&solve, r)?;
        }

        let buffers = *s;
        let chosen = if options.adaptive { Some(substeps::choose(r, s)?) } else { None };
        if chosen.is_some() {
            // Behind the command that chooses.
            tree_commands = tree_commands.start + 1..tree_commands.end + 1;
        }
        r.share_scratch();
        let recording = r.clone();
        let frame_end = if options.body_poses { Some(finish::frame_end(&recording, s, &capacities)?) } else { None };
        Ok(Self { recording, buffers, capacities, tree, tree_commands, chosen, frame_end })
    }

    /// Appends the commands that build the hierarchy to a recording that shares the step's buffers. They always run there,
    /// whatever sub-steps the device chooses.
    pub fn repeat_tree(&self, r: &mut Recording) -> Result<(), PlanError> {
        let first = r.commands().len();
        r.repeat(&self.recording, self.tree_commands.clone())?;
        if let Some(chosen) = &self.chosen {
            chosen.always(&mut r.commands_mut()[first..]);
        }
        Ok(())
    }
}

/// Declares the buffers of a step.
fn declare(
    r: &mut Recording,
    capacities: &Capacities,
    options: &StepOptions,
    user: &[UserBuffer],
) -> Result<StateBuffers, PlanError> {
    let s = StateBuffers::declare(r, &options.room(capacities))?;
    for buffer in user {
        r.untyped(&buffer.name, Role::Persistent, buffer.stride, capacities.of(buffer.each).into())?;
    }
    Ok(s)
}

/// What belongs to a world whose lists are so long: the persistent buffers, with as many elements as are in use.
pub(crate) fn persistent(
    used: &Capacities,
    options: &StepOptions,
    user: &[UserBuffer],
) -> Result<Vec<BufferInfo>, PlanError> {
    let mut r = Recording::new("persistent");
    declare(&mut r, used, options, user)?;
    Ok(r.buffers().iter().filter(|b| b.role == Role::Persistent).cloned().collect())
}

/// What the host changed.
fn record_edits(r: &mut Recording, s: &StateBuffers, limit: u32) -> Result<(), PlanError> {
    let bind = edits::Bind {
        edits: s.edits,
        counters: s.counters,
        bodies: s.bodies,
        poses: s.poses,
        starts: s.starts,
        velocities: s.velocities,
        previous: s.previous,
        forces: s.forces,
        colours: s.colours,
        rows: s.rows,
    };
    r.dispatch_each(u64::from(limit), bind.with(edits::Push { limit }))
}
