//! Runs after `gate` in frames whose sub-steps the device chooses: empties all dispatches of a sub-step that is not
//! made. `gate` then has no effect either, so everything that the host reads stays as the last sub-step left it.

use crate::detect::gate::{counter, dispatch, groups};
use crate::gpu::{Load, Store, least};
use crate::layout::DispatchArgs;
use crate::state::rigid::Params;
use crate::{layout, stage};

stage! {
    "substep_gate" each 1 {
        read 0 params: Params,
        update 1 counters: u32,
        update 2 args: DispatchArgs,
        write 3 colour_args: DispatchArgs,
    }
}

layout! {
    /// Push constants of `substep_gate`.
    pub struct Push {
        /// Number of dispatches of the primal pass, by colour and kind.
        pub ranges: u32,
    }
}

/// Fraction of a need that is left one frame later, at least. Sub-steps are added at once and removed slowly, half of
/// them in a fifth of a second at 60 frames a second: a body that a blow threw into the air has no forces on it, and
/// would come down in one long step.
const FADE: f32 = 0.9;
/// Need below which no sub-steps are asked for, 1/s^2.
const LEAST: f32 = 1e-3;

/// Empties the dispatches, or records that a sub-step is made.
#[inline(always)]
pub fn run(_item: u32, push: &Push, b: &mut Bindings<'_>) {
    if b.counters.at(counter::OPEN) == 0 {
        let mut i = 0;
        while i < least(dispatch::COUNT, b.args.len()) {
            b.args.put(i, groups(0, 1));
            i += 1;
        }
        i = 0;
        while i < least(push.ranges, b.colour_args.len()) {
            b.colour_args.put(i, groups(0, 1));
            i += 1;
        }
    } else if b.args.at(dispatch::ONCE).x > 0 {
        b.counters.put(counter::LAST_DT, b.params.at(0).dt.to_bits());
        if is_last(b.counters.at(counter::STEPS), &b.counters) {
            // `substep_need` raises it again to the present need.
            let faded = FADE * f32::from_bits(b.counters.at(counter::NEED));
            b.counters.put(counter::NEED, if faded > LEAST { faded.to_bits() } else { 0 });
        }
    }
}

/// Whether the frame is complete after this number of steps.
#[inline(always)]
pub fn is_last(steps: u32, counters: &impl Load<u32>) -> bool {
    steps.wrapping_sub(counters.at(counter::FRAME_FIRST)) == counters.at(counter::SUBSTEPS)
}
