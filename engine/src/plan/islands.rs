//! Which bodies hang together, their motion as one, and what they feel of the joints between them.

use super::recording::{PlanError, Recording};
use super::rows::bits;
use super::sort::{KeyedItems, Sort, SortScratch};
use super::step::StepBuffers;
use drystone_kernels::detect::gate::{bit, counter, dispatch};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::gpu::glam::UVec4;
use drystone_kernels::graph::island;
use drystone_kernels::graph::islands::{self, phase, ties};
use drystone_kernels::layout::{DispatchArgs, Extent};
use drystone_kernels::math::{Rotation, Twist};
use drystone_kernels::primitives::capacity;
use drystone_kernels::solve::carried_load::CarriedLoad;
use drystone_kernels::solve::{carried_load, load_share, momentum};

/// The passes over islands.
pub(super) struct IslandPasses {
    pub buffers: StepBuffers,
    pub solver_bodies: Buffer<UVec4>,
    pub body_order: Buffer<u32>,
    pub rotations: Buffer<Rotation>,
    pub deltas: Buffer<Twist>,
    pub args: Buffer<DispatchArgs>,
    /// A word a body each, free to be written.
    pub unsorted: KeyedItems,
    /// The same, for a sort of as many keys as there are bodies.
    pub room: SortScratch,
    pub bodies: u32,
    pub joints: u32,
    pub iterations: u32,
}

impl IslandPasses {
    /// Finds the islands: what joints tie together, and the contacts that `ties` names. Returns bodies sorted by island.
    pub fn find(&self, r: &mut Recording, ties: u32) -> Result<KeyedItems, PlanError> {
        let (count, joints) = (self.bodies, self.joints);
        let s = &self.buffers;
        for phase in [phase::APART, phase::JOIN, phase::SETTLE] {
            let bind = islands::Bind {
                bodies: s.bodies,
                rows: s.rows,
                entries: s.entries,
                points: s.points,
                joints: s.joints.joints,
                joint_links: s.joints.links,
                parents: self.room.other.payloads,
                keys: self.unsorted.keys,
                members: self.unsorted.payloads,
                counters: s.counters,
                params: s.params,
            };
            let push = islands::Push { count, joints, phase, ties };
            r.dispatch_indirect(self.args, dispatch::BODIES, bind.with(push))?;
        }
        let push = capacity::Push {
            slot: counter::ISLANDS,
            capacity: count,
            tile: island::TILE,
            bit: bit::MANIFOLDS, // There is always room.
            index: dispatch::ISLANDS,
        };
        r.dispatch(1, capacity::Bind { counters: s.counters, overflow: s.overflow, args: self.args }.with(push))?;
        let sort = Sort {
            input: self.unsorted,
            extent: Extent::counter(counter::ISLANDS, count),
            key_bits: bits(count),
            counters: s.counters,
            spare: counter::SPARE,
        };
        sort.record_in(r, self.room)
    }

    /// How much of what joints pull with is a load.
    pub fn record_load_shares(
        &self,
        r: &mut Recording,
        carried_loads: Buffer<CarriedLoad>,
        load_shares: Buffer<f32>,
    ) -> Result<(), PlanError> {
        let (s, count) = (&self.buffers, self.bodies);
        let bind = carried_load::Bind {
            params: s.params,
            bodies: s.bodies,
            velocities: s.velocities,
            previous: s.previous,
            forces: s.forces,
            rows: s.rows,
            joint_links: s.joints.links,
            joint_forces: s.joints.forces,
            carried_loads,
            load_shares,
        };
        r.dispatch_indirect(self.args, dispatch::BODIES, bind.with(carried_load::Push { count }))?;
        let sorted = self.find(r, ties::JOINTS)?;
        let (islands, members) = (sorted.keys, sorted.payloads);
        let bind = load_share::Bind { islands, members, carried_loads, load_shares, params: s.params };
        r.dispatch_indirect(
            self.args,
            dispatch::ISLANDS,
            bind.with(load_share::Push { count, iterations: self.iterations }),
        )
    }

    /// Moves them. `last`: those too that are too large for every iteration.
    pub fn correct(&self, r: &mut Recording, sorted: KeyedItems, last: bool) -> Result<(), PlanError> {
        let s = &self.buffers;
        let bind = momentum::Bind {
            bodies: s.bodies,
            starts: s.starts,
            solver_bodies: self.solver_bodies,
            islands: sorted.keys,
            members: sorted.payloads,
            poses: s.poses,
            deltas: self.deltas,
            joint_links: s.joints.links,
            params: s.params,
            joints: s.joints.joints,
            joint_rows: s.joints.rows,
            row_states: s.joints.states,
            body_order: self.body_order,
            rotations: self.rotations,
        };
        let push = momentum::Push { count: self.bodies, joints: self.joints, last: u32::from(last) };
        r.dispatch_indirect(self.args, dispatch::ISLANDS, bind.with(push))
    }
}
