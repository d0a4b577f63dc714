//! Shows how the device runs workgroups: the number of subgroups and their width, measured rather than reported.
//! `drystone info` prints it, and the tests use it to prove which subgroup sizes they ran on.

use crate::gpu::{Group, Store};
use crate::{layout, stage};

stage! {
    "probe" group 64, shared u32 64 {
        write 0 out: u32,
    }
}

layout! {
    /// Push constants of `probe`.
    pub struct Push {
        /// Added to every lane's vote, to prove that push constants arrive.
        pub offset: u32,
    }
}

/// What `out` holds after the run.
pub mod word {
    /// Subgroups in a workgroup of 64 lanes.
    pub const SUBGROUPS: u32 = 0;
    /// Lanes of the first subgroup, counted by ballot.
    pub const BALLOT: u32 = 1;
    /// Sum over the first subgroup of `1 + offset`.
    pub const SUM: u32 = 2;
    /// Sum over the workgroup of the lanes' `1 + offset`, through workgroup memory.
    pub const TOTAL: u32 = 3;
    /// Words written.
    pub const COUNT: u32 = 4;
}

/// Votes, sums, and writes what the first lane saw.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    let vote = push.offset.wrapping_add(1);
    let ballot = group.active();
    let sum = group.sum(vote);
    let (_, total) = group.exclusive(shared, vote);
    if group.lane == 0 {
        b.out.put(word::SUBGROUPS, group.subgroups);
        b.out.put(word::BALLOT, ballot);
        b.out.put(word::SUM, sum);
        b.out.put(word::TOTAL, total);
    }
}
