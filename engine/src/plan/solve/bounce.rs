//! Passes for restitution, recorded only in worlds with bouncing surfaces. `kernels/src/solve/impact.rs` has the
//! derivation.

use super::Solve;
use crate::plan::{PlanError, Recording};
use drystone_kernels::detect::gate::dispatch;
use drystone_kernels::gpu::Buffer;
use drystone_kernels::math::Twist;
use drystone_kernels::solve::impact::{self, ROUNDS, phase};
use drystone_kernels::solve::{bounce, bounce_apply, bounce_start};

/// What the passes before and behind `velocity` share.
#[derive(Clone, Copy)]
pub(in crate::plan) struct Impacts {
    velocities: Buffer<Twist>,
    starts: Buffer<Twist>,
    counts: Buffer<u32>,
    /// Whether anything bounced, by world.
    worlds: Buffer<u32>,
}

/// Appends the rounds of impacts before `velocity`, on the velocities at the start of the step.
pub(in crate::plan) fn record_impacts(solve: &Solve<'_>, r: &mut Recording) -> Result<Impacts, PlanError> {
    let (s, count) = (solve.state, solve.capacities.bodies);
    let impacts = Impacts {
        velocities: r.scratch("impact_velocities", count.into())?,
        starts: r.scratch("start_velocities", count.into())?,
        counts: r.scratch("impact_counts", u64::from(impact::count::WORDS) * u64::from(count))?,
        worlds: r.scratch("world_bounces", solve.options.worlds.max(1).into())?,
    };
    let bind = bounce_start::Bind {
        params: s.params,
        bodies: s.bodies,
        velocities: s.velocities,
        forces: s.forces,
        counters: s.counters,
        impact_velocities: impacts.velocities,
        impact_counts: impacts.counts,
        start_velocities: impacts.starts,
        rows: s.rows,
        world_bounces: impacts.worlds,
    };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(bounce_start::Push { count }))?;
    for round in 0..ROUNDS {
        let phase = if round == 0 { phase::FIRST } else { phase::IMPACTS };
        record_round(solve, r, impacts, phase, round & 1)?;
    }
    for round in 0..ROUNDS {
        record_impulses(solve, r, impacts, phase::MARK, round)?;
    }
    Ok(impacts)
}

/// Appends the rounds after `velocity` that bring the velocities of impacts into those that the step has found.
pub(in crate::plan) fn record_settling(
    solve: &Solve<'_>,
    r: &mut Recording,
    impacts: Impacts,
) -> Result<(), PlanError> {
    record_round(solve, r, impacts, phase::TAKE, ROUNDS & 1)?;
    for round in 1..=ROUNDS {
        record_round(solve, r, impacts, phase::SETTLE, (ROUNDS + round) & 1)?;
    }
    Ok(())
}

fn record_round(
    solve: &Solve<'_>,
    r: &mut Recording,
    impacts: Impacts,
    phase: u32,
    parity: u32,
) -> Result<(), PlanError> {
    record_impulses(solve, r, impacts, phase, parity)?;
    let s = solve.state;
    let bind = bounce_apply::Bind {
        bodies: s.bodies,
        starts: s.starts,
        rows: s.rows,
        entries: s.entries,
        points: s.points,
        impacts: s.impacts,
        counters: s.counters,
        impact_counts: impacts.counts,
        impact_velocities: impacts.velocities,
        velocities: s.velocities,
        params: s.params,
        forces: s.forces,
        start_velocities: impacts.starts,
        world_bounces: impacts.worlds,
    };
    let push = bounce_apply::Push { count: solve.capacities.bodies, phase, parity };
    r.dispatch_indirect(solve.sizes.args, dispatch::BODIES, bind.with(push))
}

fn record_impulses(
    solve: &Solve<'_>,
    r: &mut Recording,
    impacts: Impacts,
    phase: u32,
    round: u32,
) -> Result<(), PlanError> {
    let s = solve.state;
    let bind = bounce::Bind {
        params: s.params,
        manifolds: s.manifolds,
        points: s.points,
        surfaces: s.surfaces,
        bodies: s.bodies,
        starts: s.starts,
        forces: s.forces,
        impact_velocities: impacts.velocities,
        velocities: s.velocities,
        impacts: s.impacts,
        impact_counts: impacts.counts,
        counters: s.counters,
        deltas: solve.deltas,
        world_bounces: impacts.worlds,
    };
    let push = bounce::Push { limit: solve.capacities.manifolds, phase, parity: round & 1, round };
    r.dispatch_indirect(solve.sizes.args, dispatch::MANIFOLDS, bind.with(push))
}
