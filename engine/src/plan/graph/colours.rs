//! Colours over the rows, and the bodies sorted by them.

use super::Graph;
use crate::plan::detect::Dispatches;
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::step::{Method, StepOptions};
use crate::plan::{Buffer, PlanError, Recording};
use crate::state::{Capacities, StateBuffers};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::graph::{body_order, colour, colour_ranges, colour_rest, colour_settle};
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
    let worlds = options.worlds;
    let (count, colours, kinds) = (capacities.bodies, options.colours, node::KINDS);
    let coloured = r.scratch("coloured", u64::from(count))?;
    let (mut from, mut to) = (s.colours, coloured);
    // Pairwise solvers colour manifolds and joints instead: bodies keep their order and their colours.
    let pairwise = options.method != Method::Descent;
    let rounds = if pairwise { 0 } else { options.odd_colour_rounds() };
    let first = options.swept_rounds.clamp(1, rounds.max(1)).min(rounds);
    for round in 0..first {
        let bind = colour::Bind {
            bodies: s.bodies,
            rows: s.rows,
            entries: s.entries,
            colours: from,
            coloured: to,
            changes: s.colour_changes,
            locals: s.locals,
        };
        let push = colour::Push { count, colours, round, worlds };
        r.dispatch_indirect(sizes.args, dispatch::BODIES, bind.with(push))?;
        (from, to) = (to, from);
    }
    if !pairwise {
        let bind = colour_rest::Bind {
            bodies: s.bodies,
            rows: s.rows,
            entries: s.entries,
            colours: from,
            coloured: to,
            changes: s.colour_changes,
            counters: s.counters,
            locals: s.locals,
        };
        r.dispatch_indirect(
            sizes.args,
            dispatch::ONCE,
            bind.with(colour_rest::Push { count, colours, first, rounds, worlds }),
        )?;
        // An odd number of rounds ends in `coloured`. If `colour_rest` had nothing left to do, both arrays are equal.
        (from, to) = (coloured, s.colours);
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
        locals: s.locals,
    };
    let push = colour_settle::Push { count, colours, rounds, kinds, worlds };
    r.dispatch_indirect(sizes.args, dispatch::BODIES, bind.with(push))?;
    if pairwise {
        r.fill(s.ranges, 0..u64::from(node::range(colours + 1, kinds, 0)), 0)?;
        return order(r, sizes, keyed.payloads, count);
    }
    let sort = Sort { input: keyed, extent: Extent::host(count), key_bits: 8, counters: s.counters };
    let sorted = sort.record(r, "colours.sort")?;
    let bind = colour_ranges::Bind { keys: sorted.keys, counters: s.counters, ranges: s.ranges, args: sizes.colours };
    let (lanes, large) = (1 << options.lanes.clamp(1, primal::LANES).ilog2(), options.large_colour);
    let push = colour_ranges::Push { count, colours, kinds, lanes, large, swept: options.swept() };
    r.dispatch_indirect(sizes.args, dispatch::ONCE, bind.with(push))?;
    order(r, sizes, sorted.payloads, count)
}

/// Appends the pass that inverts the order: the graph has the order and its inverse.
fn order(r: &mut Recording, sizes: Dispatches, order: Buffer<u32>, count: u32) -> Result<Graph, PlanError> {
    let body_order = r.scratch("body_order", u64::from(count))?;
    let bind = body_order::Bind { order, body_order };
    r.dispatch_indirect(sizes.args, dispatch::BODIES, bind.with(body_order::Push { count }))?;
    Ok(Graph { order, body_order })
}
