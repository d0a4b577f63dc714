//! Where each colour starts in the list of bodies sorted by colour, how many lanes a body of it gets, and the dispatches
//! over it.

use crate::detect::gate::groups;
use crate::gpu::{Load, Store, least};
use crate::layout::DispatchArgs;
use crate::solve::primal::LANES;
use crate::state::rigid::{ColourRange, EntryRange};
use crate::{layout, stage};

stage! {
    "colour_ranges" each 64 {
        read 0 keys: u32,
        write 1 counters: u32,
        write 2 ranges: ColourRange,
        write 3 args: DispatchArgs,
    }
}

layout! {
    /// Push constants of `colour_ranges`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Colours there are; one more range is the fallback's.
        pub colours: u32,
        /// Lanes for a body of a small colour; a power of two.
        pub lanes: u32,
        /// Bodies from which on a colour is not small, and its bodies get one lane each.
        pub large: u32,
    }
}

#[inline(always)]
fn lower_bound(keys: &impl Load<u32>, count: u32, key: u32) -> u32 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if keys.at(middle) < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Finds one colour.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item > push.colours {
        return;
    }
    let bodies = least(push.count, b.keys.len());
    let start = lower_bound(&b.keys, bodies, item);
    let end = lower_bound(&b.keys, bodies, item + 1);
    let fallback = item == push.colours;
    // Not below 0 where keys are not sorted.
    let count = EntryRange { start, end }.within(bodies).count();
    let lanes = if fallback || count >= push.large { 1 } else { push.lanes };
    b.ranges.put(item, ColourRange { start, end, lanes });
    b.args.put(
        item,
        groups(
            if fallback { (count > 0) as u32 } else { count },
            LANES >> least(lanes.trailing_zeros(), LANES.trailing_zeros()),
        ),
    );
    if fallback {
        b.counters.put(crate::detect::gate::counter::FALLBACK, count);
    }
}
