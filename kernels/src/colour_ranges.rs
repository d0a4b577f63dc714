//! Where each colour starts in the list of bodies sorted by colour, and the dispatches over it.

use crate::gpu::{Load, Store};
use crate::layout::DispatchArgs;
use crate::{layout, stage};

stage! {
    "colour_ranges" each 64 {
        read 0 keys: u32,
        write 1 counters: u32,
        write 2 ranges: u32,
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
    }
}

/// Bodies a workgroup of the primal pass takes.
pub const TILE: u32 = 64;

#[inline(always)]
fn lower_bound(keys: &impl Load<u32>, count: u32, key: u32) -> u32 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        if keys.at(middle) < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Finds one colour.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item > push.colours {
        return;
    }
    let start = lower_bound(&b.keys, push.count, item);
    let end = lower_bound(&b.keys, push.count, item + 1);
    b.ranges.put(item * 2, start);
    b.ranges.put(item * 2 + 1, end);
    let fallback = item == push.colours;
    let groups = if fallback { (end > start) as u32 } else { (end - start).div_ceil(TILE) };
    b.args.put(item, DispatchArgs { x: groups, y: 1, z: 1 });
    if fallback {
        b.counters.put(crate::gate::counter::FALLBACK, end - start);
    }
}
