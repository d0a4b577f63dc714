//! One row for each body: its manifolds and then its joints, each in the order of their numbers.

use super::bits;
use crate::plan::detect::Dispatches;
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::{PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::graph::{entries, rows};
use drystone_kernels::layout::Extent;

pub(super) fn record(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    sizes: Dispatches,
) -> Result<(), PlanError> {
    let Capacities { bodies, manifolds, joints, .. } = *capacities;
    let (contacts, limit, nobody) = (manifolds * 2, (manifolds + joints) * 2, bodies);
    let unsorted = KeyedItems::new(r, "rows.unsorted", u64::from(limit))?;
    let bind = entries::Bind {
        bodies: s.bodies,
        manifolds: s.manifolds,
        joints: s.joints.joints,
        counters: s.counters,
        keys: unsorted.keys,
        payloads: unsorted.payloads,
        rows: s.rows,
    };
    r.dispatch_indirect(sizes.args, dispatch::ENTRIES, bind.with(entries::Push { contacts, limit, nobody }))?;
    let sort = Sort { input: unsorted, extent: Extent::host(limit), key_bits: bits(nobody), counters: s.counters };
    let sorted = sort.record(r, "rows.sort")?;
    let bind = rows::Bind {
        keys: sorted.keys,
        manifolds: s.manifolds,
        joints: s.joints.joints,
        payloads: sorted.payloads,
        rows: s.rows,
        entries: s.entries,
    };
    r.dispatch_indirect(sizes.args, dispatch::ENTRIES, bind.with(rows::Push { contacts, limit, nobody }))
}
