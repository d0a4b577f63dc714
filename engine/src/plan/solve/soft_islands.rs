//! Conserves the momentum of soft bodies that push each other, and of rigid bodies that only they act on: after the
//! iterations, every island of them is moved as a whole, so that its centre of mass moves as its inertia says.

use super::Solve;
use super::soft::{Soft, contact_places};
use crate::plan::primitives::bits;
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::{PlanError, Recording};
use crate::state::Capacities;
use drystone_kernels::gpu::Buffer;
use drystone_kernels::graph::soft_islands::{self, phase};
use drystone_kernels::layout::Extent;
use drystone_kernels::solve::soft_gate::soft_dispatch;
use drystone_kernels::solve::{soft_carry, soft_momentum, soft_sums};

/// Buffers of a forest over nodes.
struct Forest {
    parents: Buffer<u32>,
    island_of: Buffer<u32>,
    unsorted: KeyedItems,
    nodes: u32,
}

impl Forest {
    fn new(r: &mut Recording, name: &str, nodes: u32, island_of: Buffer<u32>) -> Result<Self, PlanError> {
        let parents = r.scratch(format!("{name}.parents"), u64::from(nodes.max(1)))?;
        let unsorted = KeyedItems::new(r, &format!("{name}.unsorted"), u64::from(nodes.max(1)))?;
        Ok(Self { parents, island_of, unsorted, nodes })
    }

    /// Appends one phase of [`phase`], over `count` items.
    fn look(
        &self,
        soft: &Soft,
        solve: &Solve<'_>,
        r: &mut Recording,
        phase: u32,
        count: u32,
        size: u32,
    ) -> Result<(), PlanError> {
        let (s, buffers, capacities) = (solve.state, &soft.buffers, solve.capacities);
        let (soft_pair_places, soft_pairs) = soft.near_pairs();
        let bind = soft_islands::Bind {
            particles: buffers.particles,
            bodies: s.bodies,
            rows: s.rows,
            soft_rows: soft.rows,
            soft_contacts: soft.contacts,
            attachments: buffers.attachments,
            attachment_states: buffers.attachment_states,
            soft_pair_places,
            soft_pairs,
            parents: self.parents,
            keys: self.unsorted.keys,
            members: self.unsorted.payloads,
            island_of: self.island_of,
        };
        let Capacities { soft_bodies, soft_faces: faces, .. } = *capacities;
        let push = soft_islands::Push { phase, count, soft_bodies, nodes: self.nodes, faces };
        r.dispatch_indirect(soft.args, size, bind.with(push))
    }
}

/// Finds which soft bodies are near each other. At the end of a step, such soft bodies move by the same fraction of
/// their displacement.
pub(super) fn record_near(
    soft: &Soft,
    solve: &Solve<'_>,
    r: &mut Recording,
    island_of: Buffer<u32>,
) -> Result<(), PlanError> {
    let Capacities { soft_bodies, soft_pairs, .. } = *solve.capacities;
    let forest = Forest::new(r, "soft_near", soft_bodies, island_of)?;
    forest.look(soft, solve, r, phase::APART, soft_bodies, soft_dispatch::NODES)?;
    forest.look(soft, solve, r, phase::NEAR, soft_pairs, soft_dispatch::PAIRS)?;
    forest.look(soft, solve, r, phase::SETTLE, soft_bodies, soft_dispatch::NODES)
}

/// Finds the islands, and moves them.
pub(super) fn record(soft: &Soft, solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let (s, buffers, capacities) = (solve.state, &soft.buffers, solve.capacities);
    let (soft_bodies, nodes) = (capacities.soft_bodies, capacities.soft_bodies.saturating_add(capacities.bodies));
    let island_of = r.scratch("soft_islands.island_of", u64::from(nodes))?;
    let forest = Forest::new(r, "soft_islands", nodes, island_of)?;
    let mut look = |phase: u32, count: u32, size: u32| forest.look(soft, solve, r, phase, count, size);
    look(phase::APART, nodes, soft_dispatch::NODES)?;
    look(phase::CONTACTS, contact_places(capacities), soft_dispatch::CONTACTS)?;
    look(phase::ATTACHMENTS, capacities.attachments, soft_dispatch::ATTACHMENTS)?;
    if soft.meets() {
        look(phase::PAIRS, capacities.soft_pairs, soft_dispatch::PAIRS)?;
    }
    look(phase::SETTLE, nodes, soft_dispatch::NODES)?;
    let (input, extent) = (forest.unsorted, Extent::host(nodes));
    let islands = Sort { input, extent, key_bits: bits(nodes), counters: s.counters }.record(r, "soft_islands.sort")?;

    let soft_lacks = r.scratch("soft_lacks", u64::from(soft_bodies.max(1)))?;
    let bind = soft_sums::Bind {
        particles: buffers.particles,
        soft_bodies: buffers.bodies,
        soft_targets: soft.targets,
        soft_deltas: soft.deltas,
        soft_lacks,
    };
    r.dispatch_indirect(soft.args, soft_dispatch::SOFT_BODIES, bind.with(soft_sums::Push { count: soft_bodies }))?;
    let soft_ways = r.scratch("soft_ways", u64::from(nodes))?;
    let bind = soft_momentum::Bind {
        islands: islands.keys,
        members: islands.payloads,
        soft_lacks,
        solver_bodies: solve.solver_bodies,
        body_order: solve.graph.body_order,
        deltas: solve.deltas,
        island_of,
        soft_ways,
    };
    r.dispatch_indirect(soft.args, soft_dispatch::NODES, bind.with(soft_momentum::Push { nodes, soft_bodies }))?;
    let bind = soft_carry::Bind {
        particles: buffers.particles,
        island_of,
        soft_ways,
        starts: s.starts,
        soft_deltas: soft.deltas,
        deltas: solve.deltas,
        poses: s.poses,
    };
    let push = soft_carry::Push { particles: capacities.particles, soft_bodies, nodes };
    r.dispatch_indirect(soft.args, soft_dispatch::CARRIED, bind.with(push))
}
