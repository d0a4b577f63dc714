//! Which bodies hang together: one forest of bodies a step, which more and more ties join, and the bodies sorted by
//! island.

use super::bits;
use crate::plan::detect::Dispatches;
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::{PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use drystone_kernels::detect::gate::{bit, counter, dispatch};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::graph::island;
use drystone_kernels::graph::islands::{self, phase};
use drystone_kernels::layout::Extent;
use drystone_kernels::primitives::capacity;

/// The forest of a step. Who looks for what hangs together joins what he means by it, and goes on from what is joined.
#[derive(Clone, Copy)]
pub(in crate::plan) struct Forest {
    /// One of the same set with a lower number, for every body.
    pub parents: Buffer<u32>,
    /// The island of every body, once they have been told.
    pub island_of: Buffer<u32>,
    unsorted: KeyedItems,
    /// See [`islands::ties`]: what has been joined.
    ties: u32,
}

impl Forest {
    /// Every body by itself. Buffers are named after `name`.
    pub fn new(
        r: &mut Recording,
        s: &StateBuffers,
        capacities: &Capacities,
        sizes: Dispatches,
        name: &str,
    ) -> Result<Self, PlanError> {
        let count = u64::from(capacities.bodies);
        let parents = r.scratch(format!("{name}.parents"), count)?;
        let island_of = r.scratch(format!("{name}.island_of"), count)?;
        let unsorted = KeyedItems::new(r, &format!("{name}.unsorted"), count)?;
        let forest = Self { parents, island_of, unsorted, ties: 0 };
        forest.record(r, s, capacities, sizes, phase::APART, 0)?;
        Ok(forest)
    }

    /// Joins what `ties` (of [`islands::ties`]) connect, besides what is joined already.
    pub fn join(
        &mut self,
        r: &mut Recording,
        s: &StateBuffers,
        capacities: &Capacities,
        sizes: Dispatches,
        ties: u32,
    ) -> Result<(), PlanError> {
        self.ties |= ties;
        self.record(r, s, capacities, sizes, phase::JOIN, ties)
    }

    /// The bodies sorted by island, as islands are now. Buffers it makes are named after `name`.
    pub fn islands(
        &self,
        r: &mut Recording,
        s: &StateBuffers,
        capacities: &Capacities,
        sizes: Dispatches,
        name: &str,
    ) -> Result<KeyedItems, PlanError> {
        let count = capacities.bodies;
        self.record(r, s, capacities, sizes, phase::SETTLE, self.ties)?;
        let push = capacity::Push {
            slot: counter::ISLANDS,
            capacity: count,
            tile: island::TILE,
            bit: bit::MANIFOLDS, // There is always room.
            index: dispatch::ISLANDS,
        };
        r.dispatch(1, capacity::Bind { counters: s.counters, overflow: s.overflow, args: sizes.args }.with(push))?;
        let sort = Sort {
            input: self.unsorted,
            extent: Extent::counter(counter::ISLANDS, count),
            key_bits: bits(count),
            counters: s.counters,
            spare: counter::SPARE,
        };
        sort.record(r, &format!("{name}.sort"))
    }

    fn record(
        &self,
        r: &mut Recording,
        s: &StateBuffers,
        capacities: &Capacities,
        sizes: Dispatches,
        phase: u32,
        ties: u32,
    ) -> Result<(), PlanError> {
        let bind = islands::Bind {
            bodies: s.bodies,
            rows: s.rows,
            entries: s.entries,
            points: s.points,
            joints: s.joints.joints,
            parents: self.parents,
            keys: self.unsorted.keys,
            members: self.unsorted.payloads,
            counters: s.counters,
            params: s.params,
            manifolds: s.manifolds,
            joint_rows: s.joints.rows,
            row_states: s.joints.states,
            island_of: self.island_of,
        };
        let push = islands::Push { count: capacities.bodies, phase, ties };
        r.dispatch_indirect(sizes.args, dispatch::BODIES, bind.with(push))
    }
}
