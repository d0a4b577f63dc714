//! Finds where the nodes of each colour and kind begin in the list sorted by both, chooses how many lanes work on a
//! node, and writes the dispatches over them (`ranges`, `args`).

use crate::detect::gate::{counter, groups};
use crate::gpu::{Store, least};
use crate::layout::DispatchArgs;
use crate::primitives::search::lower_bound;
use crate::solve::primal::LANES;
use crate::state::rigid::{ColourRange, EntryRange};
use crate::{layout, stage};

stage! {
    "colour_ranges" each 64 {
        read 0 keys: u32,
        update 1 counters: u32,
        write 2 ranges: ColourRange,
        write 3 args: DispatchArgs,
    }
}

layout! {
    /// Push constants of `colour_ranges`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Number of colours; the fallback comes after them.
        pub colours: u32,
        /// Number of kinds of nodes, see [`node`](crate::state::rigid::node).
        pub kinds: u32,
        /// Lanes for a body of a small colour; a power of two.
        pub lanes: u32,
        /// Number of bodies above which a colour counts as large, and its bodies get one lane each.
        pub large: u32,
        /// Colours that have a dispatch of their own. The others are solved with the fallback.
        pub swept: u32,
    }
}

/// Finds one range.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let fallback = item >= push.colours.wrapping_mul(push.kinds);
    if item >= push.colours.wrapping_add(1).wrapping_mul(push.kinds) {
        return;
    }
    let bodies = least(push.count, b.keys.len());
    let start = lower_bound(&b.keys, bodies, item);
    let end = lower_bound(&b.keys, bodies, item + 1);
    // Not below 0 where keys are not sorted.
    let count = EntryRange { start, end }.within(bodies).count();
    let lanes = if fallback || count >= push.large { 1 } else { push.lanes };
    b.ranges.put(item, ColourRange { start, end, lanes });
    let mut size = groups(count, LANES >> least(lanes.trailing_zeros(), LANES.trailing_zeros()));
    if fallback {
        // One workgroup for it and for all colours that have no dispatch, of this kind or another.
        let rest = lower_bound(&b.keys, bodies, least(push.swept, push.colours).wrapping_mul(push.kinds));
        size = groups((rest < end) as u32, 1);
        // `gate` has set it to 0.
        b.counters.add(counter::FALLBACK, count);
    } else if count > 0 {
        b.counters.raise(counter::COLOURS, item / if push.kinds > 0 { push.kinds } else { 1 } + 1);
    }
    b.args.put(item, size);
}

#[cfg(all(test, not(target_arch = "spirv")))]
mod tests {
    use super::*;
    use crate::gpu::{Load, Read, Write};
    use crate::state::rigid::node;

    #[test]
    fn nodes_of_two_kinds_have_ranges_of_their_own_in_every_colour() {
        // Two colours of two kinds, the fallback, and bodies that are not solved. Of the second kind only the second
        // colour and the fallback have any.
        let (colours, kinds) = (2, 2);
        let nodes = [(0, 0, 5), (1, 0, 2), (1, 1, 70), (2, 0, 1), (2, 1, 3)];
        let key = |(colour, kind, count): (u32, u32, usize)| vec![node::range(colour, kinds, kind); count];
        let keys: Vec<u32> = nodes.into_iter().flat_map(key).chain([255, 255]).collect();
        let mut counters = vec![0u32; counter::COUNT as usize];
        let mut ranges = vec![ColourRange { start: 0, end: 0, lanes: 0 }; 6];
        let mut args = vec![DispatchArgs { x: 9, y: 9, z: 9 }; 6];
        let push = Push { count: keys.len() as u32, colours, kinds, lanes: 4, large: 50, swept: colours };
        // SAFETY: as many elements as there are, which live until the end of the test and are touched by nothing else
        // meanwhile.
        let mut b = unsafe {
            Bindings {
                keys: Read::new(keys.as_ptr(), keys.len()),
                counters: Write::new(counters.as_mut_ptr(), counters.len()),
                ranges: Write::new(ranges.as_mut_ptr(), ranges.len()),
                args: Write::new(args.as_mut_ptr(), args.len()),
            }
        };
        (0..64).for_each(|item| run(item, &push, &mut b));
        assert_eq!(counters.at(counter::FALLBACK), 4);
        assert_eq!(counters.at(counter::COLOURS), 2);
        let mut place = 0;
        for (colour, kind) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
            let count = nodes.iter().find(|n| (n.0, n.1) == (colour, kind)).map_or(0, |n| n.2 as u32);
            let index = node::range(colour, kinds, kind) as usize;
            let lanes = if colour == colours || count >= push.large { 1 } else { push.lanes };
            assert_eq!(ranges[index], ColourRange { start: place, end: place + count, lanes }, "{colour}, {kind}");
            let teams = LANES / lanes;
            let expected = if colour == colours { u32::from(count > 0) } else { count.div_ceil(teams) };
            assert_eq!(args[index].x, expected, "{colour}, {kind}");
            place += count;
        }
    }
}
