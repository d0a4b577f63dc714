//! Contacts of soft surfaces, after the gate: their list, the range of each particle in it, and the passes that keep
//! every particle on its side of the planes that separate surfaces near each other.

use super::soft::Soft;
use super::{Solve, soft_islands};
use crate::plan::detect::soft_pairs::SoftNear;
use crate::plan::primitives::bits;
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::{PlanError, Recording};
use crate::state::{Capacities, SoftBuffers, SoftPairBuffers, StateBuffers};
use drystone_kernels::detect::soft_pairs_fill;
use drystone_kernels::finish::soft_pairs_keep;
use drystone_kernels::gpu::Buffer;
use drystone_kernels::gpu::glam::Vec3;
use drystone_kernels::graph::{soft_pair_keys, soft_rows};
use drystone_kernels::layout::{DispatchArgs, Extent};
use drystone_kernels::solve::soft::Block;
use drystone_kernels::solve::soft_gate::soft_dispatch;
use drystone_kernels::solve::soft_move::how;
use drystone_kernels::solve::{soft_ask, soft_bound, soft_move, soft_pairs_dual, soft_pairs_start, soft_settle};
use drystone_kernels::state::rigid::NONE;
use drystone_kernels::state::soft::SOFT_ROW_WORDS;
use drystone_kernels::state::soft_pairs::SoftPair;

/// Rounds in which particles move to where the iterations sent them. If no particle would cross a plane, the first
/// round moves all of them all the way; in each further round a particle moves most of the way left to its plane.
const ROUNDS: u32 = 2;

/// What the passes over contacts of soft surfaces share.
#[derive(Clone, Copy)]
pub(in crate::plan) struct Meeting {
    near: SoftNear,
    meeting: SoftPairBuffers,
    faces: u32,
    /// Room for contacts.
    capacity: u32,
    pub pairs: Buffer<SoftPair>,
    /// Range of each particle in `list`.
    pub rows: Buffer<u32>,
    /// Contacts by particle.
    pub list: Buffer<u32>,
    /// Targets of the next move.
    pub next: Buffer<Vec3>,
    /// Largest displacement of each particle, metres, as bits. Huge unless contacts were left out for lack of room.
    pub limits: Buffer<u32>,
    /// Fraction of its displacement by which each island of soft bodies may move.
    parts: Buffer<u32>,
    blocks: Buffer<Block>,
    /// Island of every soft body: the lowest number of the soft bodies that are near each other.
    islands: Buffer<u32>,
    /// Displacements at the end of the iterations.
    pub ends: Buffer<Vec3>,
}

impl Meeting {
    /// Lists the contacts, and the rows of particles.
    pub fn record(
        r: &mut Recording,
        soft: &SoftBuffers,
        meeting: SoftPairBuffers,
        capacities: &Capacities,
        args: Buffer<DispatchArgs>,
        near: SoftNear,
        s: &StateBuffers,
    ) -> Result<Self, PlanError> {
        let Capacities { particles, soft_faces: faces, soft_pairs: capacity, soft_bodies, .. } = *capacities;
        let pairs = r.scratch("soft_pairs", u64::from(capacity.max(1)))?;
        let limits = r.scratch("soft_limits", u64::from(particles))?;
        r.fill(limits, 0..u64::from(particles), f32::MAX.to_bits())?;
        let bind = soft_pairs_fill::Bind {
            particles: soft.particles,
            soft_positions: soft.positions,
            soft_regions: near.regions,
            soft_rests: meeting.rests,
            soft_faces: meeting.faces,
            soft_boxes: near.boxes,
            nodes: near.tree.nodes,
            volumes: near.tree.volumes,
            ropes: near.tree.ropes,
            order: near.tree.order,
            soft_pair_places: near.places,
            soft_cached_pairs: meeting.cached,
            soft_face_pairs: meeting.ranges,
            soft_pairs: pairs,
            soft_limits: limits,
        };
        let push = soft_pairs_fill::Push { count: faces, capacity };
        r.dispatch_indirect(args, soft_dispatch::FACES, bind.with(push))?;
        let limit = capacity.saturating_mul(4).max(1);
        let unsorted = KeyedItems::new(r, "soft_pair_rows.unsorted", u64::from(limit))?;
        let bind = soft_pair_keys::Bind {
            soft_pair_places: near.places,
            soft_pairs: pairs,
            keys: unsorted.keys,
            payloads: unsorted.payloads,
        };
        let push = soft_pair_keys::Push { limit, faces, nobody: particles };
        r.dispatch_indirect(args, soft_dispatch::PAIR_ROWS, bind.with(push))?;
        let sort =
            Sort { input: unsorted, extent: Extent::host(limit), key_bits: bits(particles), counters: s.counters };
        let sorted = sort.record(r, "soft_pair_rows.sort")?;
        let words = u64::from(SOFT_ROW_WORDS) * u64::from(particles);
        let rows = r.scratch("soft_pair_rows", words)?;
        r.fill(rows, 0..words, 0)?;
        let bind = soft_rows::Bind { keys: sorted.keys, soft_rows: rows };
        let push = soft_rows::Push { limit, nobody: particles };
        r.dispatch_indirect(args, soft_dispatch::PAIR_ROWS, bind.with(push))?;
        Ok(Self {
            near,
            meeting,
            faces,
            capacity,
            pairs,
            rows,
            list: sorted.payloads,
            next: r.scratch("soft_next", u64::from(particles))?,
            limits,
            parts: r.scratch("soft_parts", u64::from(soft_bodies.max(1)))?,
            blocks: r.scratch("soft_blocks", u64::from(particles))?,
            islands: r.scratch("soft_near_islands", u64::from(soft_bodies.max(1)))?,
            ends: r.scratch("soft_ends", u64::from(particles))?,
        })
    }

    /// First contact of each piece; the last entry is the number of contacts.
    pub fn places(&self) -> Buffer<u32> {
        self.near.places
    }

    /// Multipliers and stiffness of the last step.
    pub fn record_start(
        &self,
        soft: &Soft,
        solve: &Solve<'_>,
        r: &mut Recording,
        soft_held: Buffer<u32>,
    ) -> Result<(), PlanError> {
        let bind = soft_pairs_start::Bind {
            params: solve.state.params,
            particles: soft.buffers.particles,
            soft_positions: soft.buffers.positions,
            soft_pair_places: self.near.places,
            soft_cached_pairs: self.meeting.cached,
            soft_pairs: self.pairs,
            soft_held,
        };
        let push = soft_pairs_start::Push { capacity: self.capacity, faces: self.faces };
        r.dispatch_indirect(soft.args, soft_dispatch::PAIRS, bind.with(push))
    }

    /// After the iterations: moves particles to where the iterations sent them, as far as nothing crosses. Soft bodies
    /// that are near each other first move by the same fraction, then each particle moves by itself.
    pub fn record_ends(&self, soft: &Soft, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
        let n = u64::from(solve.capacities.particles);
        r.copy((soft.deltas, 0), (self.ends, 0), n)?;
        r.fill(soft.deltas, 0..n, 0)?;
        soft_islands::record_near(soft, solve, r, self.islands)?;
        for _ in 0..ROUNDS {
            r.copy((self.ends, 0), (self.next, 0), n)?;
            self.record_parts(soft, solve, r)?;
            self.record_settle(soft, solve, r, NONE)?;
            self.record_move(soft, solve, r, how::ALL, 0)?;
        }
        Ok(())
    }

    /// Moves all particles of an island by the fraction of their way to `next` on which nothing crosses.
    fn record_parts(&self, soft: &Soft, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
        r.fill(self.parts, 0..u64::from(solve.capacities.soft_bodies.max(1)), 1.0f32.to_bits())?;
        let bind = soft_bound::Bind {
            particles: soft.buffers.particles,
            soft_positions: soft.buffers.positions,
            soft_deltas: soft.deltas,
            soft_next: self.next,
            soft_regions: self.near.regions,
            soft_limits: self.limits,
            soft_pair_places: self.near.places,
            soft_pairs: self.pairs,
            island_of: self.islands,
            soft_parts: self.parts,
        };
        let push = soft_bound::Push { capacity: self.capacity, faces: self.faces };
        r.dispatch_indirect(soft.args, soft_dispatch::PAIRS, bind.with(push))?;
        self.record_move(soft, solve, r, how::PARTS, 0)
    }

    /// Moves particles: see [`how`].
    fn record_move(
        &self,
        soft: &Soft,
        solve: &Solve<'_>,
        r: &mut Recording,
        how: u32,
        colour: u32,
    ) -> Result<(), PlanError> {
        let bind = soft_move::Bind {
            particles: soft.buffers.particles,
            soft_order: soft.buffers.order,
            soft_ranges: soft.buffers.ranges,
            soft_regions: self.near.regions,
            soft_limits: self.limits,
            island_of: self.islands,
            soft_parts: self.parts,
            soft_next: self.next,
            soft_deltas: soft.deltas,
        };
        let size = if how == how::COLOUR { soft_dispatch::COLOURS + colour } else { soft_dispatch::PARTICLES };
        let push = soft_move::Push { how, count: solve.capacities.particles, colour };
        r.dispatch_indirect(soft.args, size, bind.with(push))
    }

    fn record_settle(&self, soft: &Soft, solve: &Solve<'_>, r: &mut Recording, colour: u32) -> Result<(), PlanError> {
        let (s, b) = (solve.state, &soft.buffers);
        let bind = soft_settle::Bind {
            particles: b.particles,
            soft_order: b.order,
            soft_ranges: b.ranges,
            soft_positions: b.positions,
            soft_deltas: soft.deltas,
            soft_regions: self.near.regions,
            soft_limits: self.limits,
            soft_blocks: self.blocks,
            starts: s.starts,
            poses: s.poses,
            deltas: solve.deltas,
            soft_contacts: soft.contacts,
            soft_pair_rows: self.rows,
            soft_pair_list: self.list,
            soft_pairs: self.pairs,
            soft_next: self.next,
        };
        let size = if colour == NONE { soft_dispatch::PARTICLES } else { soft_dispatch::COLOURS + colour };
        let push = soft_settle::Push { colour, count: solve.capacities.particles };
        r.dispatch_indirect(soft.args, size, bind.with(push))
    }

    /// Appends the passes over one colour: the elements' forces and stiffness, the displacement that contacts and
    /// planes allow, and the move.
    pub fn record_colour(
        &self,
        soft: &Soft,
        solve: &Solve<'_>,
        r: &mut Recording,
        colour: u32,
    ) -> Result<(), PlanError> {
        let (s, b) = (solve.state, &soft.buffers);
        let bind = soft_ask::Bind {
            params: s.params,
            particles: b.particles,
            soft_order: b.order,
            soft_ranges: b.ranges,
            soft_entries: b.entries,
            soft_positions: b.positions,
            soft_targets: soft.targets,
            soft_deltas: soft.deltas,
            springs: b.springs,
            spring_states: b.spring_states,
            membranes: b.membranes,
            hinges: b.hinges,
            tetrahedra: b.tetrahedra,
            attachments: b.attachments,
            attachment_states: b.attachment_states,
            starts: s.starts,
            poses: s.poses,
            deltas: solve.deltas,
            soft_blocks: self.blocks,
        };
        let pass = bind.with(soft_ask::Push { colour });
        r.dispatch_indirect(soft.args, soft_dispatch::COLOURS + colour, pass)?;
        self.record_settle(soft, solve, r, colour)?;
        self.record_move(soft, solve, r, how::COLOUR, colour)
    }

    /// Multipliers and stiffness; `first` is not 0 before the first iteration.
    pub fn record_dual(&self, soft: &Soft, r: &mut Recording, first: u32) -> Result<(), PlanError> {
        let bind = soft_pairs_dual::Bind {
            particles: soft.buffers.particles,
            soft_deltas: soft.deltas,
            soft_pair_places: self.near.places,
            soft_pairs: self.pairs,
        };
        let push = soft_pairs_dual::Push { capacity: self.capacity, faces: self.faces, first };
        r.dispatch_indirect(soft.args, soft_dispatch::PAIRS, bind.with(push))
    }

    /// Contacts for the next step.
    pub fn record_keep(&self, soft: &Soft, r: &mut Recording) -> Result<(), PlanError> {
        let bind = soft_pairs_keep::Bind {
            soft_deltas: soft.deltas,
            soft_pair_places: self.near.places,
            soft_pairs: self.pairs,
            soft_cached_pairs: self.meeting.cached,
        };
        let push = soft_pairs_keep::Push { capacity: self.capacity, faces: self.faces };
        r.dispatch_indirect(soft.args, soft_dispatch::PAIRS, bind.with(push))
    }
}
