//! What a world asks of a plan: lengths of lists, options of the step, iterations of a step that starts cold; and whether
//! the solver and the memory limit allow it.

use super::core::CoreOptions;
use super::soft;
use crate::plan::step::{StepOptions, StepPlan};
use crate::settings::MOST_COLD;
use crate::state::{Capacities, Limits, with_reserve};
use crate::world::World;
use crate::{Error, Result, Settings};

/// Capacities that a world needs. Pairs and manifolds are 1, since only the device knows their number.
pub(super) fn world_needs(world: &World) -> Capacities {
    Capacities {
        bodies: world.slot_count().max(1),
        colliders: world.collider_slots().max(1),
        pairs: 1,
        manifolds: 1,
        edits: 1,
        hulls: world.hulls().slot_count(),
        hull_edges: world.hulls().end(),
        joints: world.joint_store().slot_count(),
        joint_rows: world.joint_store().row_count(),
        continuous: world.continuous_count(),
        ..soft::needs(world)
    }
}

/// Initial capacities for a world, with estimates for pairs and manifolds.
pub(crate) fn first_capacities(world: &World) -> Capacities {
    let needs = world_needs(world);
    Capacities {
        pairs: with_reserve(needs.colliders.saturating_mul(2)),
        manifolds: with_reserve(needs.bodies),
        edits: needs.bodies,
        soft_pairs: if needs.soft_faces > 0 { with_reserve(needs.soft_faces.saturating_mul(2)) } else { 0 },
        ..needs
    }
}

pub(super) fn step_options(settings: &Settings, options: CoreOptions, world: &World, cold: bool) -> StepOptions {
    let CoreOptions { on_cpu, strict, body_poses, limits, .. } = options;
    let usual = settings.step_options(on_cpu);
    let iterations = if cold { usual.iterations.max(cold_iterations(settings, world)) } else { usual.iterations };
    let most_pairs = limits.pairs.unwrap_or(u32::MAX);
    let soft_colours = world.soft_store().colours();
    let features = world.features();
    let worlds = world.several();
    // Lanes of a team add up in another order than one lane, and whether a colour is large depends on all worlds.
    let lanes = if worlds > 0 { 1 } else { usual.lanes };
    StepOptions { iterations, strict, body_poses, most_pairs, features, worlds, lanes, soft_colours, ..usual }
}

/// Whether the solver has everything that is in the world.
pub(super) fn check_world(settings: &Settings, world: &World) -> Result<()> {
    Ok(settings.check_world(&world.features(), world.soft_store().colours() > 0, world.several() > 0)?)
}

/// An error when a plan's buffers exceed the memory limit.
pub(super) fn check_memory(plan: &StepPlan, limits: Limits) -> Result<()> {
    let needed = plan.recording.memory();
    match limits.memory.filter(|limit| needed > *limit) {
        Some(limit) => Err(Error::MemoryLimit { needed, limit }),
        None => Ok(()),
    }
}

/// Iterations of each sub-step of a step that starts cold: see [`AvbdSettings`](crate::AvbdSettings).
fn cold_iterations(settings: &Settings, world: &World) -> u32 {
    let Some(avbd) = settings.avbd().filter(|a| a.cold_iterations > 0) else { return 0 };
    // In larger assemblies the full load at once throws nets up, because their long waves act as if bodies were
    // heavier: see `load_share`.
    let largest = (avbd.share_reach * settings.iterations as f32) as usize;
    let reach = if avbd.cold_reach > 0 { avbd.cold_reach.saturating_mul(world.joint_depth(largest)) } else { 0 };
    avbd.cold_iterations.max(reach.min(MOST_COLD)).div_ceil(settings.substeps)
}
