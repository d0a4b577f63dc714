//! Decides whether the step is made. Compares the lengths of lists with their capacities, sets overflow bits, and
//! writes the indirect dispatches of everything that follows. If something does not fit and the step is strict, all
//! dispatches are empty: the state stays as it was, and the step can be repeated with longer lists as if nothing had
//! happened.

use crate::gpu::{Load, Store, least};
use crate::layout::{DispatchArgs, MAX_GROUPS_X};
use crate::{layout, stage};

stage! {
    "gate" each 1 {
        update 0 counters: u32,
        write 1 overflow: u32,
        write 2 args: DispatchArgs,
        write 3 colour_args: DispatchArgs,
    }
}

layout! {
    /// Push constants of `gate`.
    pub struct Push {
        /// Number of bodies.
        pub bodies: u32,
        /// Capacity of the list of pairs.
        pub pairs: u32,
        /// Capacity of the list of manifolds.
        pub manifolds: u32,
        /// Number of joints.
        pub joints: u32,
        /// Number of dispatches of the primal pass, by colour and kind, which `colour_ranges` fills in.
        pub ranges: u32,
        /// Capacity of the list of overlaps with sensors.
        pub sensed: u32,
        /// Not 0: a step that does not fit is not made.
        pub strict: u32,
        /// Not 0: soft surfaces meet each other, and [`counter::SPARE`] holds how many contacts they need.
        pub soft_faces: u32,
        /// Capacity of the list of those.
        pub soft_pairs: u32,
    }
}

/// Entries of `counters`.
pub mod counter {
    /// Target of scans whose total is not needed.
    pub const SPARE: u32 = 0;
    /// Overlapping pairs found, even if there is no room for them.
    pub const PAIRS: u32 = 1;
    /// Manifolds needed, even if there is no room for them.
    pub const MANIFOLDS: u32 = 2;
    /// Manifolds that this step solves: limited to the capacity, and 0 if the step is not made.
    pub const SOLVED: u32 = 3;
    /// Bodies that could not get a colour.
    pub const FALLBACK: u32 = 4;
    /// Steps made so far.
    pub const STEPS: u32 = 5;
    /// Records that `edits` has to apply; `gate` sets it back to 0.
    pub const EDITS: u32 = 6;
    /// Events since the host last set it back to 0, whether there was room for them or not.
    pub const EVENTS: u32 = 7;
    /// Number of bodies among which islands are searched: all, or 0 if there is no island.
    pub const ISLANDS: u32 = 8;
    /// Not 0 when a contact bounced in this step.
    pub const BOUNCES: u32 = 9;
    /// Overlaps with sensors in this step.
    pub const SENSED: u32 = 10;
    /// Overlaps with sensors kept from the last step.
    pub const SENSED_LAST: u32 = 11;
    /// Manifolds of the last step that was made.
    pub const MADE: u32 = 12;
    /// Manifolds of the step before that.
    pub const MADE_BEFORE: u32 = 13;
    /// Pairs that leaves with many partners have found in this step; 0 between steps.
    pub const CROWDED: u32 = 14;
    /// Not 0 once the sub-steps of a frame are chosen; the host clears it with every frame. This counter and all below
    /// are only used if the device chooses sub-steps, and 0 otherwise.
    pub const CHOSEN: u32 = 15;
    /// Sub-steps of the frame.
    pub const SUBSTEPS: u32 = 16;
    /// Sub-steps that the criterion asked for, before they were limited.
    pub const WANTED: u32 = 17;
    /// Number of frames that wanted more sub-steps than allowed.
    pub const SHORT: u32 = 18;
    /// [`STEPS`] when the frame began.
    pub const FRAME_FIRST: u32 = 19;
    /// Not 0 if the present sub-step is one of those chosen.
    pub const OPEN: u32 = 20;
    /// Largest ratio of geometric stiffness to inertia that the last sub-step of a frame left behind, 1/s^2: a float.
    pub const NEED: u32 = 21;
    /// Length of the last sub-step that was made, seconds: a float.
    pub const LAST_DT: u32 = 22;
    /// Ratio of the length of this sub-step to that of the one before: a float.
    pub const PACE: u32 = 23;
    /// Colours that had bodies, up to the last one: the host plans as many dispatches.
    pub const COLOURS: u32 = 24;
    /// Rounds of colouring that changed something: the same.
    pub const ROUNDS: u32 = 25;
    /// Number of counters.
    pub const COUNT: u32 = 26;
}

/// Entries of `args`.
pub mod dispatch {
    /// Every body, 256 a workgroup.
    pub const BODIES: u32 = 0;
    /// Every manifold, 64 a workgroup.
    pub const MANIFOLDS: u32 = 1;
    /// Every pair, 64 a workgroup.
    pub const PAIRS: u32 = 2;
    /// Every entry of the rows, 256 a workgroup.
    pub const ENTRIES: u32 = 3;
    /// One workgroup.
    pub const ONCE: u32 = 4;
    /// Every joint, 64 a workgroup.
    pub const JOINTS: u32 = 5;
    /// Every body, 64 a workgroup, when there are islands.
    pub const ISLANDS: u32 = 6;
    /// Capacity of the list of overlaps with sensors, 64 a workgroup.
    pub const SENSED: u32 = 7;
    /// Every manifold of the step before, 64 a workgroup.
    pub const BEFORE: u32 = 8;
    /// Number of dispatches.
    pub const COUNT: u32 = 9;
}

/// Bits of the overflow word.
pub mod bit {
    /// The list of pairs was too short.
    pub const PAIRS: u32 = 0;
    /// The list of manifolds was too short.
    pub const MANIFOLDS: u32 = 1;
    /// The bits from here on: how many contacts of soft surfaces there are, if their list was too short.
    pub const SOFT_PAIRS: u32 = 2;
}

/// Most contacts of soft surfaces that the overflow word can tell.
pub const MOST_TOLD: u32 = (1 << 30) - 1;

/// Workgroups of `tile` items over `count` of them.
#[inline(always)]
pub fn groups(count: u32, tile: u32) -> DispatchArgs {
    let groups = count.div_ceil(if tile > 0 { tile } else { 1 });
    let x = if groups < MAX_GROUPS_X { groups } else { MAX_GROUPS_X };
    DispatchArgs { x, y: groups.div_ceil(MAX_GROUPS_X), z: 1 }
}

/// Opens or closes the gate for this step.
#[inline(always)]
pub fn run(_item: u32, push: &Push, b: &mut Bindings<'_>) {
    let pairs = b.counters.at(counter::PAIRS);
    let manifolds = b.counters.at(counter::MANIFOLDS);
    let overflow =
        ((pairs > push.pairs) as u32) << bit::PAIRS | ((manifolds > push.manifolds) as u32) << bit::MANIFOLDS;
    let soft = if push.soft_faces > 0 { b.counters.at(counter::SPARE) } else { 0 };
    let overflow = if soft > push.soft_pairs { overflow | least(soft, MOST_TOLD) << bit::SOFT_PAIRS } else { overflow };
    b.overflow.put(0, overflow);
    let open = overflow == 0 || push.strict == 0;
    let within = |count: u32, limit: u32| {
        if !open {
            0
        } else if count < limit {
            count
        } else {
            limit
        }
    };
    let solved = within(manifolds, push.manifolds);
    b.counters.put(counter::SOLVED, solved);
    b.counters.put(counter::FALLBACK, 0);
    b.counters.put(counter::EDITS, 0);
    b.counters.put(counter::ISLANDS, 0);
    b.counters.put(counter::CROWDED, 0);
    if open {
        b.counters.put(counter::MADE_BEFORE, b.counters.at(counter::MADE));
        b.counters.put(counter::MADE, solved);
        b.counters.put(counter::STEPS, b.counters.at(counter::STEPS).wrapping_add(1));
    }
    let entries = push.manifolds.wrapping_add(push.joints).wrapping_mul(2);
    // `entries` also empties the row of every body.
    let entries = if entries > push.bodies { entries } else { push.bodies };
    b.args.put(dispatch::BODIES, groups(within(push.bodies, push.bodies), 256));
    b.args.put(dispatch::MANIFOLDS, groups(solved, 64));
    b.args.put(dispatch::PAIRS, groups(within(pairs, push.pairs), 64));
    b.args.put(dispatch::ENTRIES, groups(within(entries, entries), 256));
    b.args.put(dispatch::JOINTS, groups(within(push.joints, push.joints), 64));
    b.args.put(dispatch::SENSED, groups(within(push.sensed, push.sensed), 64));
    b.args.put(dispatch::BEFORE, groups(within(b.counters.at(counter::MADE_BEFORE), push.manifolds), 64));
    b.args.put(dispatch::ONCE, groups(within(1, 1), 1));
    // Clears the dispatches of the last step: they must not move anything if this step is not made.
    let mut colour = 0;
    while colour < least(push.ranges, b.colour_args.len()) {
        b.colour_args.put(colour, groups(0, 1));
        colour += 1;
    }
}
