//! Soft bodies in the step, beside the passes of rigid ones. Worlds without particles have none of these.
//!
//! Who is connected to whom among particles is known to the host, with colours; so the device finds, once a step, only
//! which bodies particles are held to. Bodies and particles are nodes of different kinds: no pass moves both, so neither
//! needs a colour that the other does not have.

use super::Solve;
use crate::plan::detect::Dispatches;
use crate::plan::primitives::bits;
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::step::{StepOptions, event_room};
use crate::plan::{PlanError, Recording};
use crate::state::{Capacities, SoftBuffers, StateBuffers};
use drystone_kernels::detect::gate::{counter, dispatch};
use drystone_kernels::finish::{soft_break, soft_velocity};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::gpu::glam::Vec3;
use drystone_kernels::graph::{soft_ground, soft_keys, soft_rows};
use drystone_kernels::layout::{DispatchArgs, Extent};
use drystone_kernels::solve::soft_gate::{self, soft_dispatch};
use drystone_kernels::solve::{soft_dual, soft_predict, soft_primal, soft_pull, soft_start, soft_whole};
use drystone_kernels::state::soft::{SOFT_ROW_WORDS, SoftPull};

/// What the passes over particles share.
pub(in crate::plan) struct Soft {
    buffers: SoftBuffers,
    args: Buffer<DispatchArgs>,
    /// Where each body's row of what is held to it begins and ends.
    pub rows: Buffer<u32>,
    held: Buffer<u32>,
    /// What particles ask of bodies.
    pub pulls: Buffer<SoftPull>,
    targets: Buffer<Vec3>,
    deltas: Buffer<Vec3>,
}

impl Soft {
    /// Declares what they share, and appends the rows of bodies.
    pub fn record(
        r: &mut Recording,
        s: &StateBuffers,
        soft: &SoftBuffers,
        capacities: &Capacities,
        options: &StepOptions,
        sizes: Dispatches,
    ) -> Result<Self, PlanError> {
        let Capacities { bodies, particles, springs, attachments, soft_bodies, .. } = *capacities;
        let colours = options.soft_colours;
        let args = r.dispatch_args("soft_args", u64::from(soft_dispatch::COLOURS + colours))?;
        let rows = attachments;
        let bind = soft_gate::Bind { args: sizes.args, soft_ranges: soft.ranges, soft_args: args };
        let held = springs + attachments;
        let push = soft_gate::Push { particles, held, attachments, rows, bodies, soft_bodies, colours };
        r.dispatch_each(u64::from(soft_dispatch::COLOURS + colours), bind.with(push))?;
        let unsorted = KeyedItems::new(r, "soft_rows.unsorted", u64::from(rows.max(1)))?;
        let bind = soft_keys::Bind {
            bodies: s.bodies,
            attachments: soft.attachments,
            attachment_states: soft.attachment_states,
            keys: unsorted.keys,
            payloads: unsorted.payloads,
        };
        let (limit, nobody) = (rows, bodies);
        r.dispatch_indirect(args, soft_dispatch::ROWS, bind.with(soft_keys::Push { limit, nobody }))?;
        let sort = Sort {
            input: unsorted,
            extent: Extent::host(limit),
            key_bits: bits(nobody),
            counters: s.counters,
            spare: counter::SPARE,
        };
        let sorted = sort.record(r, "soft_rows.sort")?;
        let words = u64::from(SOFT_ROW_WORDS) * u64::from(bodies);
        let this = Self {
            buffers: *soft,
            args,
            rows: r.scratch("soft_rows", words)?,
            held: sorted.payloads,
            pulls: r.scratch("soft_pulls", u64::from(bodies))?,
            targets: r.scratch("soft_targets", u64::from(particles))?,
            deltas: r.scratch("soft_deltas", u64::from(particles))?,
        };
        r.fill(this.rows, 0..words, 0)?;
        let bind = soft_rows::Bind { keys: sorted.keys, soft_rows: this.rows };
        r.dispatch_indirect(args, soft_dispatch::ROWS, bind.with(soft_rows::Push { limit, nobody }))?;
        Ok(this)
    }

    /// Bodies that particles are held to are in no island.
    pub fn record_ground(&self, solve: &Solve<'_>, r: &mut Recording, parents: Buffer<u32>) -> Result<(), PlanError> {
        let bind = soft_ground::Bind { soft_rows: self.rows, parents };
        let push = soft_ground::Push { count: solve.capacities.bodies };
        r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(push))
    }

    /// Warm start, inertial targets, and where the iterations start (lines 3 to 6).
    pub fn record_predict(&self, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
        let (s, soft) = (solve.state, &self.buffers);
        let Capacities { particles, springs, attachments, .. } = *solve.capacities;
        // Whether anything holds a soft body; there are no more bodies than particles.
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
        r.dispatch_indirect(self.args, soft_dispatch::PARTICLES, bind.with(push))
    }

    /// Before the bodies are swept: what particles ask of them.
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
        };
        let push = soft_pull::Push { count: solve.capacities.bodies };
        r.dispatch_indirect(self.args, soft_dispatch::BODIES, bind.with(push))
    }

    /// Behind the bodies: soft bodies as a whole, then every colour's particles (lines 8 to 25).
    pub fn record_sweep(&self, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
        let (s, soft) = (solve.state, &self.buffers);
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
        };
        let push = soft_whole::Push { count: solve.capacities.soft_bodies };
        r.dispatch_indirect(self.args, soft_dispatch::SOFT_BODIES, bind.with(push))?;
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
        r.dispatch_indirect(self.args, soft_dispatch::HELD, bind.with(push))
    }

    /// What attachments pulled with and which let go; velocities, and where particles came to (line 37).
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
        let bind = soft_velocity::Bind {
            params: s.params,
            particles: soft.particles,
            soft_deltas: self.deltas,
            soft_positions: soft.positions,
            soft_velocities: soft.velocities,
            soft_previous: soft.previous,
            counters: s.counters,
            events: s.events,
        };
        let push = soft_velocity::Push { count: solve.capacities.particles, events };
        r.dispatch_indirect(self.args, soft_dispatch::PARTICLES, bind.with(push))
    }
}
