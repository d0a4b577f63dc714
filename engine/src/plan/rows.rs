//! Who touches whom, seen from the bodies: rows of manifolds, and colours over them.

use super::recording::{PlanError, Recording};
use super::sort::{KeyedItems, Sort, SortScratch};
use super::step::{Capacities, StepBuffers, StepOptions, Work};
use drystone_kernels::detect::gate::{counter, dispatch};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::graph::{body_order, colour, colour_ranges, colour_settle, entries, rows, rows_clear};
use drystone_kernels::layout::Extent;
use drystone_kernels::solve::primal;

/// Bits that a key up to `largest` needs.
pub(super) fn bits(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Rows of manifolds for every body, in the order of the manifolds.
pub(super) fn record_rows(
    r: &mut Recording,
    s: &StepBuffers,
    work: &Work,
    capacities: Capacities,
) -> Result<(), PlanError> {
    let Capacities { bodies, manifolds, .. } = capacities;
    let (limit, nobody) = (manifolds * 2, bodies);
    let unsorted = KeyedItems::new(r, "rows.unsorted", u64::from(limit))?;
    let bind = entries::Bind {
        bodies: s.bodies,
        manifolds: s.manifolds,
        counters: s.counters,
        keys: unsorted.keys,
        payloads: unsorted.payloads,
    };
    r.dispatch_indirect(work.args, dispatch::ENTRIES, bind.with(entries::Push { limit, nobody }))?;
    let sort = Sort {
        input: unsorted,
        extent: Extent::host(limit),
        key_bits: bits(nobody),
        counters: s.counters,
        spare: counter::SPARE,
    };
    let sorted = sort.record(r, "rows.sort")?;
    let clear = rows_clear::Bind { rows: s.rows };
    r.dispatch_indirect(work.args, dispatch::BODIES, clear.with(rows_clear::Push { count: bodies }))?;
    let bind = rows::Bind {
        keys: sorted.keys,
        manifolds: s.manifolds,
        payloads: sorted.payloads,
        rows: s.rows,
        entries: s.entries,
    };
    r.dispatch_indirect(work.args, dispatch::ENTRIES, bind.with(rows::Push { limit, nobody }))
}

/// Bodies by colour, and the buffers that sorted them and are free again, but for the payloads of the sort's room: those are the order.
pub(super) struct Coloured {
    pub order: Buffer<u32>,
    pub unsorted: KeyedItems,
    pub room: SortScratch,
}

/// Colours (line 2), and the bodies sorted by them.
pub(super) fn record_colours(
    r: &mut Recording,
    s: &StepBuffers,
    work: &Work,
    capacities: Capacities,
    options: StepOptions,
) -> Result<Coloured, PlanError> {
    let Capacities { bodies: count, joints, .. } = capacities;
    let colours = options.colours;
    let (mut from, mut to) = (s.colours, work.coloured);
    // An odd number of rounds ends in the array that `colour_settle` reads.
    let rounds = options.colour_rounds | 1;
    let changes = r.buffer("colours.changes", u64::from(rounds))?;
    for round in 0..rounds {
        let bind = colour::Bind {
            bodies: s.bodies,
            rows: s.rows,
            entries: s.entries,
            colours: from,
            coloured: to,
            joints: s.joints.joints,
            joint_links: s.joints.links,
            changes,
        };
        r.dispatch_indirect(work.args, dispatch::BODIES, bind.with(colour::Push { count, colours, joints, round }))?;
        (from, to) = (to, from);
    }
    let keyed = KeyedItems::new(r, "colours.unsorted", u64::from(count))?;
    let bind = colour_settle::Bind {
        bodies: s.bodies,
        rows: s.rows,
        entries: s.entries,
        coloured: from,
        colours: to,
        keys: keyed.keys,
        order: keyed.payloads,
        joints: s.joints.joints,
        joint_links: s.joints.links,
        changes,
    };
    let push = colour_settle::Push { count, colours, joints, rounds };
    r.dispatch_indirect(work.args, dispatch::BODIES, bind.with(push))?;
    let sort =
        Sort { input: keyed, extent: Extent::host(count), key_bits: 8, counters: s.counters, spare: counter::SPARE };
    let room = SortScratch::new(r, "colours.sort", count)?;
    let sorted = sort.record_in(r, room)?;
    let bind =
        colour_ranges::Bind { keys: sorted.keys, counters: s.counters, ranges: s.ranges, args: work.colour_args };
    let (lanes, large) = (1 << options.lanes.clamp(1, primal::LANES).ilog2(), options.large_colour);
    r.dispatch_indirect(work.args, dispatch::ONCE, bind.with(colour_ranges::Push { count, colours, lanes, large }))?;
    let bind = body_order::Bind { order: sorted.payloads, body_order: work.body_order };
    r.dispatch_indirect(work.args, dispatch::BODIES, bind.with(body_order::Push { count }))?;
    Ok(Coloured { order: sorted.payloads, unsorted: keyed, room })
}
