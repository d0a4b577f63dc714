//! Colours over the rows, and the bodies sorted by them.

use super::Graph;
use crate::plan::detect::Dispatches;
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::step::StepOptions;
use crate::plan::{PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use drystone_kernels::detect::gate::{counter, dispatch};
use drystone_kernels::graph::{body_order, colour, colour_ranges, colour_settle};
use drystone_kernels::layout::Extent;
use drystone_kernels::solve::primal;
use drystone_kernels::state::rigid::node;

pub(super) fn record(
    r: &mut Recording,
    s: &StateBuffers,
    capacities: &Capacities,
    options: &StepOptions,
    sizes: Dispatches,
) -> Result<Graph, PlanError> {
    let (count, colours, kinds) = (capacities.bodies, options.colours, node::KINDS);
    let coloured = r.scratch("coloured", u64::from(count))?;
    let (mut from, mut to) = (s.colours, coloured);
    let rounds = options.odd_colour_rounds();
    for round in 0..rounds {
        let bind = colour::Bind {
            bodies: s.bodies,
            rows: s.rows,
            entries: s.entries,
            colours: from,
            coloured: to,
            changes: s.colour_changes,
        };
        r.dispatch_indirect(sizes.args, dispatch::BODIES, bind.with(colour::Push { count, colours, round }))?;
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
        changes: s.colour_changes,
    };
    let push = colour_settle::Push { count, colours, rounds, kinds };
    r.dispatch_indirect(sizes.args, dispatch::BODIES, bind.with(push))?;
    let sort =
        Sort { input: keyed, extent: Extent::host(count), key_bits: 8, counters: s.counters, spare: counter::SPARE };
    let sorted = sort.record(r, "colours.sort")?;
    let bind = colour_ranges::Bind { keys: sorted.keys, counters: s.counters, ranges: s.ranges, args: sizes.colours };
    let (lanes, large) = (1 << options.lanes.clamp(1, primal::LANES).ilog2(), options.large_colour);
    let push = colour_ranges::Push { count, colours, kinds, lanes, large };
    r.dispatch_indirect(sizes.args, dispatch::ONCE, bind.with(push))?;
    let body_order = r.scratch("body_order", u64::from(count))?;
    let bind = body_order::Bind { order: sorted.payloads, body_order };
    r.dispatch_indirect(sizes.args, dispatch::BODIES, bind.with(body_order::Push { count }))?;
    Ok(Graph { order: sorted.payloads, body_order })
}
