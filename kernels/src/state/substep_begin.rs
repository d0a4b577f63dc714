//! Begins a sub-step of a frame whose sub-steps the device chooses. The first one chooses how many there are; each
//! later one is made, or skipped with all of its dispatches empty.
//!
//! A step h is stable in a degree of freedom of inertia M and geometric stiffness K as long as h^2 K / M <= 4 alpha.
//! With r the largest K / M that the last solve left behind (see `substep_need`), the longest such step is 2 sqrt(alpha
//! / r), and a frame of h seconds needs ceil(h / (2 sqrt(alpha / r))) of them ("Adaptive Sub-stepping", Eq. 5 to 11).
//!
//! Only sub-steps that were made are counted: one that did not fit is repeated, and does not count until then.

use crate::detect::gate::{counter, groups};
use crate::gpu::{Load, Store, fmin, least, sqrt};
use crate::layout::DispatchArgs;
use crate::state::rigid::Params;
use crate::{layout, stage};

stage! {
    "substep_begin" each 1 {
        update 0 params: Params,
        update 1 counters: u32,
        read 2 sizes: u32,
        write 3 args: DispatchArgs,
    }
}

layout! {
    /// Push constants of `substep_begin`.
    pub struct Push {
        /// Sizes of dispatches that the host knows.
        pub count: u32,
    }
}

/// More than anybody will ever make: what a float above it is cut to.
const MOST: f32 = 1e6;

/// Number of sub-steps that a ratio of stiffness to inertia asks for; at least one.
#[inline(always)]
pub fn wanted(params: &Params, ratio: f32) -> u32 {
    let parts = fmin(0.5 * params.frame * sqrt(ratio / params.stability), MOST);
    let whole = parts as u32;
    let wanted = if parts > whole as f32 { whole + 1 } else { whole };
    if wanted > 1 { wanted } else { 1 }
}

/// Begins a sub-step.
#[inline(always)]
pub fn run(_item: u32, push: &Push, b: &mut Bindings<'_>) {
    let mut params = b.params.at(0);
    let made = b.counters.at(counter::STEPS);
    if b.counters.at(counter::CHOSEN) == 0 {
        let wanted = wanted(&params, f32::from_bits(b.counters.at(counter::NEED)));
        let fewest = if params.substeps_least > 1 { params.substeps_least } else { 1 };
        let most = if params.substeps_most > fewest { params.substeps_most } else { fewest };
        let chosen = least(if wanted > fewest { wanted } else { fewest }, most);
        let short = b.counters.at(counter::SHORT).wrapping_add((wanted > most) as u32);
        b.counters.put(counter::WANTED, wanted);
        b.counters.put(counter::SUBSTEPS, chosen);
        b.counters.put(counter::SHORT, short);
        b.counters.put(counter::FRAME_FIRST, made);
        b.counters.put(counter::CHOSEN, 1);
    }
    let substeps = b.counters.at(counter::SUBSTEPS);
    let open = made.wrapping_sub(b.counters.at(counter::FRAME_FIRST)) < substeps;
    b.counters.put(counter::OPEN, open as u32);
    if open {
        params.dt = params.frame / substeps as f32;
        b.params.put(0, params);
        let last = f32::from_bits(b.counters.at(counter::LAST_DT));
        let pace = if last > 0.0 { params.dt / last } else { 1.0 };
        b.counters.put(counter::PACE, pace.to_bits());
    }
    let mut i = 0;
    while i < least(push.count, b.sizes.len()) {
        b.args.put(i, groups(if open { b.sizes.at(i) } else { 0 }, 1));
        i += 1;
    }
}
