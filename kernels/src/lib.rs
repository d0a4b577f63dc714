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

pub mod collide;
pub mod frame;
pub mod gpu;
pub mod island;
pub mod joints;
pub mod layout;
#[cfg(not(target_arch = "spirv"))]
pub mod manifest;
pub mod manifold;
pub mod math;
pub mod picture;
pub mod rays;
pub mod rigid;
pub mod solve;
pub mod system;
pub mod turns;
pub mod walk;

/// Lists the stages: declares their modules, and the table the host works with.
macro_rules! stages {
    ($($name:ident)*) => {
        $(pub mod $name;)*

        /// Every stage, in the order of the list.
        #[cfg(not(target_arch = "spirv"))]
        pub static STAGES: &[&gpu::Stage] = &[$(&$name::STAGE),*];
    };
}

stages! {
    probe
    reduce
    scan_sums
    scan_spine
    scan_apply
    sort_count
    sort_scatter
    capacity
    scene_bounds
    morton
    hierarchy
    leaves
    pyramid
    refit
    pairs_count
    pairs_fill
    edits
    bounds
    touch
    touch_hull
    joints_apart
    gate
    contacts_hull
    contacts
    felt
    shares
    joints_start
    entries
    rows_clear
    rows
    colour
    colour_settle
    colour_ranges
    ranks
    predict
    primal
    primal_joints
    dual
    joints_dual
    islands
    momentum
    velocity
    joints_break
    store
    body_values
    eye_rays
    cast
    sunlight
    occlusion
    shade
    develop
}
