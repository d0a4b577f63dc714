//! Which bodies hang together: the bodies sorted by island.

use super::bits;
use crate::plan::detect::Dispatches;
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::{PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use drystone_kernels::detect::gate::{bit, counter, dispatch};
use drystone_kernels::graph::island;
use drystone_kernels::graph::islands::{self, phase};
use drystone_kernels::layout::Extent;
use drystone_kernels::primitives::capacity;

/// Finds the islands: what joints tie together, and the contacts that `ties` names (one of
/// [`islands::ties`]). Buffers it makes are named after `name`.
pub(in crate::plan) fn record(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    sizes: Dispatches,
    name: &str,
    ties: u32,
) -> Result<KeyedItems, PlanError> {
    let Capacities { bodies: count, joints, .. } = *capacities;
    let parents = r.scratch(format!("{name}.parents"), u64::from(count))?;
    let unsorted = KeyedItems::new(r, &format!("{name}.unsorted"), u64::from(count))?;
    for phase in [phase::APART, phase::JOIN, phase::SETTLE] {
        let bind = islands::Bind {
            bodies: s.bodies,
            rows: s.rows,
            entries: s.entries,
            points: s.points,
            joints: s.joints.joints,
            joint_links: s.joints.links,
            parents,
            keys: unsorted.keys,
            members: unsorted.payloads,
            counters: s.counters,
            params: s.params,
        };
        let push = islands::Push { count, joints, phase, ties };
        r.dispatch_indirect(sizes.args, dispatch::BODIES, bind.with(push))?;
    }
    let push = capacity::Push {
        slot: counter::ISLANDS,
        capacity: count,
        tile: island::TILE,
        bit: bit::MANIFOLDS, // There is always room.
        index: dispatch::ISLANDS,
    };
    r.dispatch(1, capacity::Bind { counters: s.counters, overflow: s.overflow, args: sizes.args }.with(push))?;
    let sort = Sort {
        input: unsorted,
        extent: Extent::counter(counter::ISLANDS, count),
        key_bits: bits(count),
        counters: s.counters,
        spare: counter::SPARE,
    };
    sort.record(r, &format!("{name}.sort"))
}
