//! Connected bodies (islands): one union-find forest of bodies a step, into which joints and contacts are joined one
//! kind after the other, and the bodies sorted by island.

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

/// The union-find forest of a step. Each user joins the kinds of ties that it needs on top of those already joined.
#[derive(Clone, Copy)]
pub(in crate::plan) struct Forest {
    /// For every body, a member of its set with a lower number.
    pub parents: Buffer<u32>,
    /// The island of every body, once islands have been found.
    pub island_of: Buffer<u32>,
    unsorted: KeyedItems,
    /// Which worlds have islands of joints: a word for each, and the number of worlds, 0 for one.
    jointed_worlds: Buffer<u32>,
    worlds: u32,
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
        worlds: u32,
    ) -> Result<Self, PlanError> {
        let count = u64::from(capacities.bodies);
        let parents = r.scratch(format!("{name}.parents"), count)?;
        let island_of = r.scratch(format!("{name}.island_of"), count)?;
        let unsorted = KeyedItems::new(r, &format!("{name}.unsorted"), count)?;
        let jointed_worlds = r.scratch(format!("{name}.jointed_worlds"), u64::from(worlds.max(1)))?;
        if worlds > 0 {
            r.fill(jointed_worlds, 0..worlds.into(), 0)?;
        }
        let forest = Self { parents, island_of, unsorted, jointed_worlds, worlds, ties: 0 };
        forest.record(r, s, capacities, sizes, phase::APART, 0)?;
        Ok(forest)
    }

    /// Joins the bodies that `ties` (of [`islands::ties`]) connect, in addition to those already joined.
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
            jointed_worlds: self.jointed_worlds,
        };
        let push = islands::Push { count: capacities.bodies, phase, ties, worlds: self.worlds };
        r.dispatch_indirect(sizes.args, dispatch::BODIES, bind.with(push))
    }
}
