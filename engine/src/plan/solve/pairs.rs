//! Solvers that go from one manifold or joint to the next, instead of from body to body: sequential impulses, soft
//! steps, XPBD. `kernels/src/solve/pair.rs` says how. Manifolds and joints are coloured, in one colouring; within a
//! colour the manifolds come first.

use super::Solve;
use crate::plan::primitives::sort::{KeyedItems, Sort};
use crate::plan::step::Method;
use crate::plan::{Buffer, PlanError, Recording};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::gpu::glam::UVec4;
use drystone_kernels::graph::pair_colour::{COLOURS, ROUNDS};
use drystone_kernels::graph::{colour_ranges, pair_colour, pair_settle};
use drystone_kernels::layout::{DispatchArgs, Extent};
use drystone_kernels::math::Twist;
use drystone_kernels::solve::pair::{self, INVERSE, phase};
use drystone_kernels::solve::{pair_contacts, pair_inverses, pair_joints, pair_turns};
use drystone_kernels::state::rigid::{ColourRange, entry, node};

/// What the passes share.
#[derive(Clone, Copy)]
pub(in crate::plan) struct Pairs {
    order: Buffer<u32>,
    ranges: Buffer<ColourRange>,
    args: Buffer<DispatchArgs>,
    inverses: Buffer<UVec4>,
}

/// Colours manifolds and joints, and sorts them by colour and kind.
pub(in crate::plan) fn record_colours(solve: &Solve<'_>, r: &mut Recording) -> Result<Pairs, PlanError> {
    let (s, args) = (solve.state, solve.sizes.args);
    let manifolds = solve.capacities.manifolds;
    let limit = manifolds + solve.capacities.joints;
    let mut from = r.scratch("pair_colours", limit.into())?;
    let mut to = r.scratch("pair_coloured", limit.into())?;
    let changes = r.scratch("pair_changes", ROUNDS.into())?;
    r.fill(changes, 0..ROUNDS.into(), 0)?;
    // The first round ignores the values, but it binds the buffer, which must not be uninitialised.
    r.fill(from, 0..limit.into(), 0)?;
    for round in 0..ROUNDS {
        let bind = pair_colour::Bind {
            manifolds: s.manifolds,
            joints: s.joints.joints,
            counters: s.counters,
            rows: s.rows,
            entries: s.entries,
            colours: from,
            coloured: to,
            changes,
        };
        r.dispatch_indirect(args, dispatch::ENTRIES, bind.with(pair_colour::Push { manifolds, limit, round }))?;
        (from, to) = (to, from);
    }
    let keyed = KeyedItems::new(r, "pairs.unsorted", limit.into())?;
    let bind = pair_settle::Bind {
        manifolds: s.manifolds,
        joints: s.joints.joints,
        counters: s.counters,
        rows: s.rows,
        entries: s.entries,
        coloured: from,
        keys: keyed.keys,
        pairs: keyed.payloads,
    };
    r.dispatch_indirect(args, dispatch::ENTRIES, bind.with(pair_settle::Push { manifolds, limit }))?;
    let extent = Extent::host(limit);
    let sort = Sort { input: keyed, extent, key_bits: 8, counters: s.counters };
    let sorted = sort.record(r, "pairs.sort")?;
    let count = u64::from(node::range(COLOURS + 1, entry::KINDS, 0));
    let pairs = Pairs {
        order: sorted.payloads,
        ranges: r.scratch("pair_ranges", count)?,
        args: r.dispatch_args("pair_args", count)?,
        inverses: r.scratch("inverses", u64::from(solve.capacities.bodies) * u64::from(INVERSE))?,
    };
    // If the step is skipped, `colour_ranges` does not run, and no pair is dispatched.
    r.fill(pairs.args, 0..count, 0)?;
    let bind = colour_ranges::Bind { keys: sorted.keys, counters: s.counters, ranges: pairs.ranges, args: pairs.args };
    let (colours, kinds) = (COLOURS, entry::KINDS);
    let push = colour_ranges::Push { count: limit, colours, kinds, lanes: 1, large: 0, swept: colours };
    r.dispatch_indirect(args, dispatch::ONCE, bind.with(push))?;
    Ok(pairs)
}

/// Appends the whole solve: warm start, iterations, and the poses that follow from them.
pub(in crate::plan) fn record(solve: &Solve<'_>, r: &mut Recording, pairs: &Pairs) -> Result<(), PlanError> {
    let (s, count) = (solve.state, solve.capacities.bodies);
    let bind = pair_inverses::Bind {
        bodies: s.bodies,
        starts: s.starts,
        solver_bodies: solve.solver_bodies,
        body_order: solve.graph.body_order,
        inverses: pairs.inverses,
    };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(pair_inverses::Push { count }))?;
    if solve.options.method != Method::Xpbd {
        record_pass(solve, r, pairs, solve.deltas, phase::WARM)?;
    }
    for _ in 0..solve.options.iterations {
        record_pass(solve, r, pairs, solve.deltas, phase::SOLVE)?;
    }
    let bind = pair_turns::Bind {
        bodies: s.bodies,
        starts: s.starts,
        deltas: solve.deltas,
        body_order: solve.graph.body_order,
        rotations: solve.rotations,
        poses: s.poses,
    };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(pair_turns::Push { count }))
}

/// Appends the passes that correct velocities after `velocity` has derived them.
pub(in crate::plan) fn record_velocities(solve: &Solve<'_>, r: &mut Recording, pairs: &Pairs) -> Result<(), PlanError> {
    match solve.options.method {
        Method::SoftStep => record_pass(solve, r, pairs, solve.state.velocities, phase::RELAX),
        Method::Xpbd => record_pass(solve, r, pairs, solve.state.velocities, phase::BRAKE),
        Method::Impulse | Method::Descent => Ok(()),
    }
}

/// Appends the joints' coordinates at the start of the step, and their warm start.
pub(in crate::plan) fn record_joints_start(solve: &Solve<'_>, r: &mut Recording) -> Result<(), PlanError> {
    let bodies = solve.capacities.bodies;
    // Shares of 0: these solvers have no stiffness that a load could scale.
    let load_shares = r.scratch("load_shares", bodies.into())?;
    r.fill(load_shares, 0..bodies.into(), 0)?;
    super::joints::record_coordinates(solve, r, load_shares)
}

/// Appends one pass over every colour, then over the fallback, one pair after the other.
fn record_pass(
    solve: &Solve<'_>,
    r: &mut Recording,
    pairs: &Pairs,
    motions: Buffer<Twist>,
    phase: u32,
) -> Result<(), PlanError> {
    let s = solve.state;
    let joints = solve.has_joints() && phase != phase::BRAKE;
    for colour in 0..=COLOURS {
        let serial = u32::from(colour == COLOURS);
        let range = node::range(colour, entry::KINDS, entry::CONTACT);
        let bind = pair_contacts::Bind {
            params: s.params,
            ranges: pairs.ranges,
            order: pairs.order,
            manifolds: s.manifolds,
            inverses: pairs.inverses,
            points: s.points,
            features: s.features,
            motions,
        };
        r.dispatch_indirect(pairs.args, range, bind.with(pair::Push { range, serial, phase }))?;
        if joints {
            let range = node::range(colour, entry::KINDS, entry::JOINT);
            let bind = pair_joints::Bind {
                params: s.params,
                ranges: pairs.ranges,
                order: pairs.order,
                joints: s.joints.joints,
                joint_rows: s.joints.rows,
                inverses: pairs.inverses,
                starts: s.starts,
                row_states: s.joints.states,
                motions,
            };
            r.dispatch_indirect(pairs.args, range, bind.with(pair::Push { range, serial, phase }))?;
        }
    }
    Ok(())
}
