//! Soft bodies in the step, beside the passes of rigid ones. Worlds without particles have none of these.
//!
//! The host knows the connections and the colours of particles, so once a step the device only finds which particles
//! are attached to which bodies. Bodies and particles are nodes of different kinds, and no pass moves both, so their
//! colours are independent.

use super::Solve;
use super::soft_pairs::Meeting;
use crate::plan::detect::Dispatches;
use crate::plan::detect::bvh::Tree;
use crate::plan::detect::soft_pairs::SoftNear;
use crate::plan::primitives::bits;
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::step::{StepOptions, event_room};
use crate::plan::{PlanError, Recording};
use crate::state::{Capacities, SoftBuffers, StateBuffers};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::detect::soft_touch;
use drystone_kernels::finish::{soft_break, soft_follow, soft_keep, soft_velocity};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::gpu::glam::Vec3;
use drystone_kernels::graph::{soft_ground, soft_keys, soft_rows};
use drystone_kernels::layout::{DispatchArgs, Extent};
use drystone_kernels::solve::soft_gate::{self, soft_dispatch};
use drystone_kernels::solve::{
    soft_dual, soft_meet, soft_predict, soft_press, soft_primal, soft_pull, soft_start, soft_whole,
};
use drystone_kernels::state::soft::{SOFT_CONTACTS, SOFT_ROW_WORDS, SoftContact, SoftPull};
use drystone_kernels::state::soft_pairs::SoftPair;

/// Places for contacts of particles: a fixed number for each particle, so the list cannot overflow.
pub(super) fn contact_places(capacities: &Capacities) -> u32 {
    capacities.particles.saturating_mul(SOFT_CONTACTS)
}

/// What the passes over particles share.
pub(in crate::plan) struct Soft {
    pub(super) buffers: SoftBuffers,
    pub(super) args: Buffer<DispatchArgs>,
    /// Range of each body in the list of attachments and contacts that act on it.
    pub rows: Buffer<u32>,
    held: Buffer<u32>,
    /// Per body: sums of the forces and stiffness with which particles act on it.
    pub pulls: Buffer<SoftPull>,
    pub(super) targets: Buffer<Vec3>,
    pub(super) deltas: Buffer<Vec3>,
    /// Contacts of particles with rigid bodies.
    pub(super) contacts: Buffer<SoftContact>,
    /// Contacts of soft surfaces, in worlds that have any.
    meeting: Option<Meeting>,
    /// Buffers that are bound in their place in worlds without such contacts, and not read.
    no_pairs: (Buffer<u32>, Buffer<SoftPair>),
}

impl Soft {
    /// Declares the shared buffers, and appends the passes that list what acts on each body.
    pub fn record(
        r: &mut Recording,
        s: &StateBuffers,
        soft: &SoftBuffers,
        capacities: &Capacities,
        options: &StepOptions,
        sizes: Dispatches,
        (tree, near): (&Tree, Option<SoftNear>),
    ) -> Result<Self, PlanError> {
        let Capacities { bodies, particles, springs, attachments, soft_bodies, soft_faces, soft_pairs, .. } =
            *capacities;
        let colours = options.soft_colours;
        let args = r.dispatch_args("soft_args", u64::from(soft_dispatch::COLOURS + colours))?;
        let places = contact_places(capacities);
        let rows = attachments + places;
        // Bound in place of contacts of soft surfaces; without such surfaces no stage reads them.
        let mut no_pairs = (soft.ranges, Buffer::new(soft.particles.id()));
        if near.is_none() {
            no_pairs.1 = r.scratch("soft_no_pairs", 1)?;
            r.fill(no_pairs.1, 0..1, 0)?;
        }
        let soft_pair_places = near.map_or(no_pairs.0, |near| near.places);
        let bind = soft_gate::Bind { args: sizes.args, soft_ranges: soft.ranges, soft_args: args, soft_pair_places };
        let held = springs + attachments;
        let push = soft_gate::Push {
            particles,
            held,
            attachments,
            rows,
            bodies,
            soft_bodies,
            contacts: places,
            colours,
            faces: soft_faces,
            pairs: soft_pairs,
        };
        r.dispatch_each(u64::from(soft_dispatch::COLOURS + colours), bind.with(push))?;
        let contacts = r.scratch("soft_contacts", u64::from(places))?;
        let bind = soft_touch::Bind {
            params: s.params,
            particles: soft.particles,
            soft_positions: soft.positions,
            soft_velocities: soft.velocities,
            soft_entries: soft.entries,
            attachments: soft.attachments,
            attachment_states: soft.attachment_states,
            nodes: tree.nodes,
            volumes: tree.volumes,
            ropes: tree.ropes,
            order: tree.order,
            colliders: s.colliders,
            poses: s.poses,
            velocities: s.velocities,
            hulls: s.hulls.hulls,
            hull_faces: s.hulls.faces,
            hull_edges: s.hulls.edges,
            soft_contacts: contacts,
        };
        let push = soft_touch::Push { count: particles, leaves: capacities.colliders };
        r.dispatch_indirect(args, soft_dispatch::PARTICLES, bind.with(push))?;
        let unsorted = KeyedItems::new(r, "soft_rows.unsorted", u64::from(rows.max(1)))?;
        let bind = soft_keys::Bind {
            bodies: s.bodies,
            attachments: soft.attachments,
            attachment_states: soft.attachment_states,
            keys: unsorted.keys,
            payloads: unsorted.payloads,
            soft_contacts: contacts,
        };
        let (limit, nobody) = (rows, bodies);
        r.dispatch_indirect(args, soft_dispatch::ROWS, bind.with(soft_keys::Push { limit, attachments, nobody }))?;
        let sort = Sort { input: unsorted, extent: Extent::host(limit), key_bits: bits(nobody), counters: s.counters };
        let sorted = sort.record(r, "soft_rows.sort")?;
        let meeting = match (near, s.soft_pairs) {
            (Some(near), Some(meeting)) => Some(Meeting::record(r, soft, meeting, capacities, args, near, s)?),
            _ => None,
        };
        let words = u64::from(SOFT_ROW_WORDS) * u64::from(bodies);
        let this = Self {
            buffers: *soft,
            args,
            rows: r.scratch("soft_rows", words)?,
            held: sorted.payloads,
            pulls: r.scratch("soft_pulls", u64::from(bodies))?,
            targets: r.scratch("soft_targets", u64::from(particles))?,
            deltas: r.scratch("soft_deltas", u64::from(particles))?,
            contacts,
            meeting,
            no_pairs,
        };
        r.fill(this.rows, 0..words, 0)?;
        let bind = soft_rows::Bind { keys: sorted.keys, soft_rows: this.rows };
        r.dispatch_indirect(args, soft_dispatch::ROWS, bind.with(soft_rows::Push { limit, nobody }))?;
        Ok(this)
    }

    /// Removes bodies with attached particles from all islands.
    pub fn record_ground(&self, solve: &Solve<'_>, r: &mut Recording, parents: Buffer<u32>) -> Result<(), PlanError> {
        let bind = soft_ground::Bind { soft_rows: self.rows, parents };
        let push = soft_ground::Push { count: solve.capacities.bodies };
        r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(push))
    }

    /// Warm start, inertial targets, and where the iterations start (lines 3 to 6).
    pub fn record_predict(&self, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
        let (s, soft) = (solve.state, &self.buffers);
        let Capacities { particles, springs, attachments, .. } = *solve.capacities;
        // By soft body, whether anything holds it. There are at most as many soft bodies as particles.
        let soft_held = r.scratch("soft_held", u64::from(particles))?;
        r.fill(soft_held, 0..u64::from(particles), 0)?;
        let bind = soft_start::Bind {
            params: s.params,
            particles: soft.particles,
            bodies: s.bodies,
            springs: soft.springs,
            attachments: soft.attachments,
            soft_positions: soft.positions,
            starts: s.starts,
            spring_states: soft.spring_states,
            attachment_states: soft.attachment_states,
            soft_held,
        };
        let push = soft_start::Push { springs, attachments };
        r.dispatch_indirect(self.args, soft_dispatch::HELD, bind.with(push))?;
        let bind = soft_meet::Bind {
            params: s.params,
            particles: soft.particles,
            bodies: s.bodies,
            colliders: s.colliders,
            soft_positions: soft.positions,
            starts: s.starts,
            soft_cached: soft.cached,
            soft_contacts: self.contacts,
            soft_held,
        };
        let push = soft_meet::Push { count: contact_places(solve.capacities) };
        r.dispatch_indirect(self.args, soft_dispatch::CONTACTS, bind.with(push))?;
        if let Some(meeting) = &self.meeting {
            meeting.record_start(self, solve, r, soft_held)?;
        }
        let bind = soft_predict::Bind {
            params: s.params,
            particles: soft.particles,
            soft_velocities: soft.velocities,
            soft_previous: soft.previous,
            soft_held,
            soft_targets: self.targets,
            soft_deltas: self.deltas,
        };
        let push = soft_predict::Push { count: particles };
        r.dispatch_indirect(self.args, soft_dispatch::PARTICLES, bind.with(push))?;
        self.meeting.map_or(Ok(()), |meeting| meeting.record_dual(self, r, 1))
    }

    /// Appends the sums of what particles do to bodies, before the sweep over the bodies.
    pub fn record_pull(&self, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
        let (s, soft) = (solve.state, &self.buffers);
        let bind = soft_pull::Bind {
            soft_rows: self.rows,
            soft_list: self.held,
            attachments: soft.attachments,
            attachment_states: soft.attachment_states,
            soft_positions: soft.positions,
            soft_deltas: self.deltas,
            starts: s.starts,
            poses: s.poses,
            deltas: solve.deltas,
            soft_pulls: self.pulls,
            soft_contacts: self.contacts,
        };
        let Capacities { bodies: count, attachments, .. } = *solve.capacities;
        let push = soft_pull::Push { count, attachments };
        r.dispatch_indirect(self.args, soft_dispatch::BODIES, bind.with(push))
    }

    /// Appends the sweep over particles, after that over bodies: soft bodies as a whole, then particles colour by
    /// colour (lines 8 to 25).
    pub fn record_sweep(&self, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
        let (s, soft) = (solve.state, &self.buffers);
        let (rows, pairs) = self.no_pairs;
        let listed = self.meeting.map(|meeting| (meeting.rows, meeting.list, meeting.pairs));
        let (soft_pair_rows, soft_pair_list, soft_pairs) = listed.unwrap_or((rows, rows, pairs));
        let bind = soft_whole::Bind {
            params: s.params,
            particles: soft.particles,
            soft_bodies: soft.bodies,
            soft_entries: soft.entries,
            soft_positions: soft.positions,
            soft_targets: self.targets,
            soft_deltas: self.deltas,
            attachments: soft.attachments,
            attachment_states: soft.attachment_states,
            starts: s.starts,
            poses: s.poses,
            deltas: solve.deltas,
            soft_contacts: self.contacts,
            soft_pair_rows,
            soft_pair_list,
            soft_pairs,
        };
        let push = soft_whole::Push { count: solve.capacities.soft_bodies, pairs: u32::from(self.meeting.is_some()) };
        r.dispatch_indirect(self.args, soft_dispatch::SOFT_BODIES, bind.with(push))?;
        if let Some(meeting) = &self.meeting {
            return (0..solve.options.soft_colours)
                .try_for_each(|colour| meeting.record_colour(self, solve, r, colour));
        }
        let bind = soft_primal::Bind {
            params: s.params,
            particles: soft.particles,
            soft_order: soft.order,
            soft_ranges: soft.ranges,
            soft_entries: soft.entries,
            soft_positions: soft.positions,
            soft_targets: self.targets,
            soft_deltas: self.deltas,
            springs: soft.springs,
            spring_states: soft.spring_states,
            membranes: soft.membranes,
            hinges: soft.hinges,
            tetrahedra: soft.tetrahedra,
            attachments: soft.attachments,
            attachment_states: soft.attachment_states,
            starts: s.starts,
            poses: s.poses,
            deltas: solve.deltas,
            soft_contacts: self.contacts,
        };
        for colour in 0..solve.options.soft_colours {
            let pass = bind.with(soft_primal::Push { colour });
            r.dispatch_indirect(self.args, soft_dispatch::COLOURS + colour, pass)?;
        }
        Ok(())
    }

    /// Multipliers and stiffness (lines 26 to 35).
    pub fn record_dual(&self, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
        let (s, soft) = (solve.state, &self.buffers);
        let bind = soft_dual::Bind {
            particles: soft.particles,
            soft_positions: soft.positions,
            soft_deltas: self.deltas,
            springs: soft.springs,
            attachments: soft.attachments,
            starts: s.starts,
            poses: s.poses,
            deltas: solve.deltas,
            spring_states: soft.spring_states,
            attachment_states: soft.attachment_states,
        };
        let Capacities { springs, attachments, .. } = *solve.capacities;
        let push = soft_dual::Push { springs, attachments };
        r.dispatch_indirect(self.args, soft_dispatch::HELD, bind.with(push))?;
        let bind = soft_press::Bind {
            particles: soft.particles,
            soft_deltas: self.deltas,
            starts: s.starts,
            poses: s.poses,
            deltas: solve.deltas,
            soft_contacts: self.contacts,
        };
        let push = soft_press::Push { count: contact_places(solve.capacities) };
        r.dispatch_indirect(self.args, soft_dispatch::CONTACTS, bind.with(push))?;
        self.meeting.map_or(Ok(()), |meeting| meeting.record_dual(self, r, 0))
    }

    /// Contacts of soft surfaces: their places, whose last entry is the number of contacts, and the list.
    pub(super) fn near_pairs(&self) -> (Buffer<u32>, Buffer<SoftPair>) {
        self.meeting.map_or(self.no_pairs, |meeting| (meeting.places(), meeting.pairs))
    }

    /// Whether soft surfaces meet each other.
    pub(super) fn meets(&self) -> bool {
        self.meeting.is_some()
    }

    /// Forces of attachments, and which of them break; velocities and positions of particles (line 37).
    pub fn record_finish(&self, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
        let (s, soft, events) = (solve.state, &self.buffers, event_room(solve.capacities));
        let bind = soft_break::Bind {
            soft_positions: soft.positions,
            soft_deltas: self.deltas,
            attachments: soft.attachments,
            starts: s.starts,
            poses: s.poses,
            deltas: solve.deltas,
            attachment_states: soft.attachment_states,
            counters: s.counters,
            events: s.events,
        };
        let (count, penalty) = (solve.capacities.attachments, u32::from(!solve.options.dual));
        let push = soft_break::Push { count, penalty, events };
        r.dispatch_indirect(self.args, soft_dispatch::ATTACHMENTS, bind.with(push))?;
        let bind = soft_keep::Bind {
            soft_contacts: self.contacts,
            colliders: s.colliders,
            soft_positions: soft.positions,
            soft_deltas: self.deltas,
            starts: s.starts,
            poses: s.poses,
            deltas: solve.deltas,
            soft_cached: soft.cached,
        };
        let push = soft_keep::Push { count: contact_places(solve.capacities) };
        r.dispatch_indirect(self.args, soft_dispatch::CONTACTS, bind.with(push))?;
        if let Some(meeting) = &self.meeting {
            meeting.record_keep(self, r)?;
            meeting.record_ends(self, solve, r)?;
        }
        let bind = soft_velocity::Bind {
            params: s.params,
            particles: soft.particles,
            soft_deltas: self.deltas,
            soft_positions: soft.positions,
            soft_velocities: soft.velocities,
            soft_previous: soft.previous,
            counters: s.counters,
            events: s.events,
            soft_ends: self.meeting.map_or(self.deltas, |meeting| meeting.ends),
            soft_limits: self.meeting.map_or(soft.ranges, |meeting| meeting.limits),
        };
        let push = soft_velocity::Push { count: solve.capacities.particles, events, meets: u32::from(self.meets()) };
        r.dispatch_indirect(self.args, soft_dispatch::PARTICLES, bind.with(push))
    }

    /// Behind all that moves bodies: particles go where hard attachments hold them.
    pub fn record_follow(&self, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
        let (s, soft, count) = (solve.state, &self.buffers, solve.capacities.attachments);
        // Without multipliers attachments give way by their force over their stiffness, and that is to be seen.
        if count == 0 || !solve.options.dual {
            return Ok(());
        }
        let bind = soft_follow::Bind {
            particles: soft.particles,
            soft_entries: soft.entries,
            attachments: soft.attachments,
            attachment_states: soft.attachment_states,
            poses: s.poses,
            soft_pair_rows: self.meeting.map_or(self.no_pairs.0, |meeting| meeting.rows),
            soft_positions: soft.positions,
        };
        let push = soft_follow::Push { count, pairs: u32::from(self.meets()) };
        r.dispatch_indirect(self.args, soft_dispatch::ATTACHMENTS, bind.with(push))
    }
}
