//! Behind `gate`, in frames whose sub-steps the device chooses: closes it for a sub-step that is left out. `gate` itself is left
//! out then, and with it everything that a host reads stays what the last sub-step made it.

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
        /// Dispatches of the primal pass, by colour and kind.
        pub ranges: u32,
    }
}

/// What is left of a need a frame later, at least: sub-steps come at once and go slowly, half of them in a fifth of a second at 60
/// frames a second. What is thrown up by a blow has no forces on it, and would come down again in one long step.
const FADE: f32 = 0.9;
/// A need that asks for nothing any more, 1/s^2.
const LEAST: f32 = 1e-3;

/// Closes the gate, or notes that a sub-step is made.
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
            // `substep_need` raises it again to what there is.
            let faded = FADE * f32::from_bits(b.counters.at(counter::NEED));
            b.counters.put(counter::NEED, if faded > LEAST { faded.to_bits() } else { 0 });
        }
    }
}

/// Whether a frame is over after so many steps.
#[inline(always)]
pub fn is_last(steps: u32, counters: &impl Load<u32>) -> bool {
    steps.wrapping_sub(counters.at(counter::FRAME_FIRST)) == counters.at(counter::SUBSTEPS)
}
