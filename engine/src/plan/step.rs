//! The step, top to bottom as in Algorithm 1: a list of phases, each of which is a folder beside this file.

use super::detect::bvh::Tree;
use super::error::PlanError;
use super::recording::{BufferInfo, Recording};
use super::solve::pairs;
use super::solve::soft::Soft;
use super::solve::{self, Solve};
use super::substeps::{self, ChosenSubsteps};
use super::{detect, finish, graph};
use crate::state::{Capacities, Role, Room, StateBuffers, UserBuffer};
use crate::world::{BOX_EDGES, Features};
use drystone_kernels::state::edits;
use std::ops::Range;

/// Which solver a step has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// From body to body: AVBD, and VBD.
    Descent,
    /// Sequential impulses.
    Impulse,
    /// Soft contacts, and a pass that relaxes velocities.
    SoftStep,
    /// Positions, and velocities that follow from them.
    Xpbd,
}

/// Options that are built into a plan. Changing one needs another plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOptions {
    /// The solver. Those that go from pair to pair leave out what is only for the descent.
    pub method: Method,
    /// Primal and dual passes.
    pub iterations: u32,
    /// Colours, 1 to 32. Bodies that need more are solved in turn.
    pub colours: u32,
    /// Rounds of colouring a step.
    pub colour_rounds: u32,
    /// Colours that have a dispatch of their own in every sweep. Bodies of others are solved in turn, with the same
    /// result: too few cost time on the device, too many cost empty dispatches.
    pub swept_colours: u32,
    /// Rounds of colouring that have a dispatch of their own. One workgroup makes those that are left, if they are
    /// needed.
    pub swept_rounds: u32,
    /// Lanes that work together on a body of a small colour: a power of two up to 64. Subgroups that are narrower take
    /// as many as they have; the CPU has one.
    pub lanes: u32,
    /// Bodies from which on a colour is not small, and its bodies get one lane each.
    pub large_colour: u32,
    /// Whether a step whose lists are too short is skipped as a whole, rather than made without what did not fit.
    pub strict: bool,
    /// Whether a pass behind the velocities corrects the error that is left (section 6).
    pub stabilise: bool,
    /// Whether there are dual passes; plain VBD has none.
    pub dual: bool,
    /// Whether connected bodies are also moved as one. Only with dual passes, whose multipliers show what touches.
    pub momentum: bool,
    /// Whether every row of a contact has a stiffness of its own that is kept from step to step (Eq. 19).
    pub row_stiffness: bool,
    /// Whether the device chooses how many sub-steps a frame has: see `plan/substeps.rs`.
    pub adaptive: bool,
    /// Whether motion is integrated to second order: see `plan/solve/second.rs`.
    pub second_order: bool,
    /// Whether poses of the user's body space are also written, for drawing.
    pub body_poses: bool,
    /// Number of pairs at which the search stops and the step is refused; `u32::MAX` for no limit.
    pub most_pairs: u32,
    /// Features that any collider of the world uses.
    pub features: Features,
    /// Number of worlds, 0 where there is only one and nothing belongs to all: see [`World`](crate::world::World).
    pub worlds: u32,
    /// Colours of particles; 0 without soft bodies.
    pub soft_colours: u32,
}

/// Largest default number of events of a frame that are reported one by one; further ones are only counted.
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

    /// Colours that have a dispatch of their own: one at least, and none that there is not.
    pub(super) fn swept(&self) -> u32 {
        self.swept_colours.min(self.colours).max(1)
    }

    /// Overlaps with sensors that there is room for: as many as pairs, or none when there are no sensors.
    pub(super) fn sensed_room(&self, capacities: &Capacities) -> u32 {
        if self.features.sensors { capacities.pairs } else { 0 }
    }

    fn room(&self, capacities: &Capacities) -> Room {
        Room {
            worlds: self.worlds.into(),
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
            soft_triangles: capacities.soft_triangles.into(),
            soft_shown: if self.body_poses { capacities.particles.into() } else { 1 },
            soft_faces: capacities.soft_faces.into(),
            soft_pairs: capacities.soft_pairs.into(),
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
#[non_exhaustive]
pub struct StepPlan {
    /// The commands.
    pub recording: Recording,
    /// The buffers.
    pub buffers: StateBuffers,
    /// The room it has.
    pub capacities: Capacities,
    /// The hierarchy over the colliders. It is in scratch memory, so its contents are lost after the step: another
    /// recording rebuilds it with [`StepPlan::repeat_tree`].
    pub tree: Tree,
    /// The commands that build it from poses and colliders. [`StepPlan::repeat_tree`] repeats them.
    pub tree_commands: Range<usize>,
    /// Buffers for sub-steps that the device chooses; `None` unless the options ask for it.
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

        // Up to the gate nothing but the host's edits changes the state.
        record_edits(r, s, capacities.edits)?;
        let (tree, mut tree_commands) = detect::record_tree(r, s, capacities.colliders, options.worlds)?;
        let touching = detect::record_touching(r, s, &capacities, &options, &tree)?;
        let near = match (&s.soft, &s.soft_pairs) {
            (Some(soft), Some(meeting)) => Some(detect::soft_pairs::record(r, s, soft, meeting, &capacities)?),
            _ => None,
        };
        let sizes = detect::record_gate(r, s, &capacities, &options)?;

        if options.adaptive {
            substeps::record_gate(r, s, &capacities, sizes, &options)?;
        }
        detect::record_contacts(r, s, &capacities, &options, &touching, sizes)?;
        // Must run before the rows of the last step are overwritten.
        let told = options.features.reports.then(|| detect::record_touching_before(r, s, &capacities, sizes));
        let told = told.transpose()?;
        if options.row_stiffness {
            solve::row_stiffness::record_start(r, s, &capacities, sizes)?;
        }
        if options.features.surfaces {
            solve::surfaces::record_start(r, s, &capacities, sizes)?;
        }
        let graph = graph::record(r, s, &capacities, &options, sizes)?;

        let soft = match &s.soft {
            Some(soft) => Some(Soft::record(r, s, soft, &capacities, &options, sizes, (&tree, near))?),
            None => None,
        };

        let solve = Solve::new(r, s, &capacities, &options, sizes, graph, soft.as_ref())?;
        let jointed = solve.record_warm_start(r)?;
        let pairs = if options.method == Method::Descent { None } else { Some(pairs::record_colours(&solve, r)?) };
        solve.record_predict(r)?;
        if options.second_order {
            solve::second::record_predict(&solve, r)?;
        }
        match &pairs {
            Some(pairs) => pairs::record(&solve, r, pairs)?,
            None => solve.record_iterations(r, jointed)?,
        }

        finish::record_joint_forces(&solve, r)?;
        if let Some(soft) = &soft {
            soft.record_finish(&solve, r)?;
        }
        let impacts = if options.features.bounces { Some(solve::bounce::record_impacts(&solve, r)?) } else { None };
        finish::record_velocity(&solve, r)?;
        if let Some(pairs) = &pairs {
            pairs::record_velocities(&solve, r, pairs)?;
        }
        if options.stabilise {
            solve.record_sweep(r, true)?;
        }
        // After `stabilise`, which reads velocities as displacements.
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
        if let Some(soft) = &soft {
            soft.record_follow(&solve, r)?;
        }
        finish::record_store(&solve, r)?;
        if options.features.sensors {
            finish::record_sensors(&solve, r)?;
        }

        let buffers = *s;
        let chosen = if options.adaptive { Some(substeps::choose(r, s)?) } else { None };
        if chosen.is_some() {
            // The command that chooses was inserted before them.
            tree_commands = tree_commands.start + 1..tree_commands.end + 1;
        }
        r.share_scratch();
        let recording = r.clone();
        let frame_end = if options.body_poses { Some(finish::frame_end(&recording, s, &capacities)?) } else { None };
        Ok(Self { recording, buffers, capacities, tree, tree_commands, chosen, frame_end })
    }

    /// Appends the commands that build the hierarchy to a recording that shares the step's buffers. They always run
    /// there, whatever sub-steps the device chooses.
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
        if buffer.stride == 0 || !buffer.stride.is_multiple_of(4) {
            return Err(PlanError::UserStride { name: buffer.name.clone(), stride: buffer.stride });
        }
        r.untyped(&buffer.name, Role::Persistent, buffer.stride, capacities.of(buffer.each).into())?;
    }
    Ok(s)
}

/// The persistent buffers of a world with `used` elements in its lists, each with as many elements as are in use.
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
