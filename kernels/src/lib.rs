//! Every pass of the engine, one file a stage. The same functions are compiled to SPIR-V by rust-gpu and natively by
//! the stock compiler; [`gpu`] is the only module that knows the difference.
//!
//! A stage file says in its head what the pass does and why it is built that way, declares its bindings with
//! [`stage!`], and holds the body in a function `run`. To add one: write the file, add its name to the list below, and
//! use it in a plan.

#![cfg_attr(target_arch = "spirv", no_std)]
// Documentation is written once, at the native form of each word.
#![cfg_attr(target_arch = "spirv", allow(missing_docs))]
// Kernel loops are written with `while` and explicit indices: that is what the GPU compiler handles best.
#![allow(clippy::manual_range_contains)]

pub mod detect;
pub mod finish;
pub mod gpu;
pub mod graph;
pub mod layout;
#[cfg(not(target_arch = "spirv"))]
pub mod manifest;
pub mod math;
pub mod pictures;
pub mod primitives;
pub mod queries;
pub mod solve;
pub mod state;

/// Every stage, in the order of the step.
#[cfg(not(target_arch = "spirv"))]
pub static STAGES: &[&gpu::Stage] = &[
    &primitives::probe::STAGE,
    &primitives::reduce::STAGE,
    &primitives::scan_sums::STAGE,
    &primitives::scan_spine::STAGE,
    &primitives::scan_apply::STAGE,
    &primitives::sort_count::STAGE,
    &primitives::sort_scatter::STAGE,
    &primitives::capacity::STAGE,
    &state::substep_begin::STAGE,
    &state::edits::STAGE,
    &detect::bounds::STAGE,
    &detect::scene_bounds::STAGE,
    &detect::morton::STAGE,
    &detect::hierarchy::STAGE,
    &detect::leaves::STAGE,
    &detect::pyramid::STAGE,
    &detect::refit::STAGE,
    &detect::pairs_count::STAGE,
    &detect::pairs_fill::STAGE,
    &detect::touch::STAGE,
    &detect::touch_hull::STAGE,
    &detect::touch_curved::STAGE,
    &detect::apart_pairs::STAGE,
    &detect::apart_buckets::STAGE,
    &detect::joints_apart::STAGE,
    &detect::sensors::STAGE,
    &detect::gate::STAGE,
    &detect::substep_gate::STAGE,
    &state::substep_pace::STAGE,
    &detect::sensors_list::STAGE,
    &detect::manifold_pairs::STAGE,
    &detect::contacts_hull::STAGE,
    &detect::contacts_curved::STAGE,
    &detect::contacts::STAGE,
    &detect::touching_find::STAGE,
    &detect::touching_ended::STAGE,
    &solve::stiffness_start::STAGE,
    &solve::surfaces_start::STAGE,
    &graph::entries::STAGE,
    &graph::rows_clear::STAGE,
    &graph::rows::STAGE,
    &graph::colour::STAGE,
    &graph::colour_settle::STAGE,
    &graph::colour_ranges::STAGE,
    &graph::body_order::STAGE,
    &graph::islands::STAGE,
    &graph::soft_keys::STAGE,
    &graph::soft_rows::STAGE,
    &graph::soft_ground::STAGE,
    &solve::soft_gate::STAGE,
    &solve::soft_start::STAGE,
    &solve::carried_load::STAGE,
    &solve::load_share::STAGE,
    &solve::joints_start::STAGE,
    &solve::predict::STAGE,
    &solve::second_predict::STAGE,
    &solve::primal::STAGE,
    &solve::primal_joints::STAGE,
    &solve::primal_rows::STAGE,
    &solve::primal_joints_rows::STAGE,
    &solve::primal_soft::STAGE,
    &solve::primal_soft_rows::STAGE,
    &solve::soft_predict::STAGE,
    &solve::soft_pull::STAGE,
    &solve::soft_whole::STAGE,
    &solve::soft_primal::STAGE,
    &solve::dual::STAGE,
    &solve::dual_rows::STAGE,
    &solve::rolling_dual::STAGE,
    &solve::joints_dual::STAGE,
    &solve::soft_dual::STAGE,
    &solve::momentum::STAGE,
    &solve::bounce_start::STAGE,
    &solve::bounce::STAGE,
    &solve::bounce_apply::STAGE,
    &solve::aggregates::STAGE,
    &solve::aggregates_move::STAGE,
    &finish::joints_break::STAGE,
    &finish::velocity::STAGE,
    &finish::soft_break::STAGE,
    &finish::soft_velocity::STAGE,
    &solve::stabilise::STAGE,
    &solve::stabilise_joints::STAGE,
    &finish::second_velocity::STAGE,
    &finish::substep_need::STAGE,
    &finish::continuous::STAGE,
    &finish::store::STAGE,
    &finish::surfaces_store::STAGE,
    &finish::sensors_tell::STAGE,
    &finish::sensors_keep::STAGE,
    &finish::touching_tell::STAGE,
    &finish::body_poses::STAGE,
    &finish::drawn_poses::STAGE,
    &finish::stiffness_store::STAGE,
    &queries::cast::STAGE,
    &queries::ray_casts::STAGE,
    &queries::shape_casts::STAGE,
    &queries::overlaps::STAGE,
    &queries::closest::STAGE,
    &pictures::body_values::STAGE,
    &pictures::eye_rays::STAGE,
    &pictures::sunlight::STAGE,
    &pictures::occlusion::STAGE,
    &pictures::shade::STAGE,
    &pictures::develop::STAGE,
];
