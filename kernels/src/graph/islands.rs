//! Finds islands: bodies that contacts and joints connect, unless one of the contacts is with something that does not
//! move. `momentum` moves each island as a whole; it takes joints to things that do not move into account, so these do
//! not exclude an island. Writes `parents`, `island_of` and the keys by which members are sorted.
//!
//! Sets are joined by a lock-free union-find ([`forest`](crate::graph::forest)), of which only what is final is the same
//! in every run. Hence the stage has three phases, the last of which only uses that. After it more sets may be joined
//! and islands written again: islands of joints alone are found on the way to those of joints and contacts.

use crate::detect::gate::counter;
use crate::detect::manifold::{FourPoints, Manifold, Record, record};
use crate::gpu::{Load, Store, abs, glam::UVec4};
use crate::graph::forest::{GROUND, first, join};
use crate::solve::joints::{Joint, JointRow, RowState, flag, role};
use crate::state::rigid::{Body, Entry, POINTS, Params, contact_row, joint_row, row};
use crate::{layout, stage};

stage! {
    "islands" each 256 {
        read 0 bodies: Body,
        read 1 rows: u32,
        read 2 entries: Entry,
        read 3 points: UVec4,
        read 4 joints: Joint,
        update 5 parents: u32,
        write 6 keys: u32,
        write 7 members: u32,
        update 8 counters: u32,
        read 9 params: Params,
        read 10 manifolds: Manifold,
        read 11 joint_rows: JointRow,
        read 12 row_states: RowState,
        write 13 island_of: u32,
        update 14 jointed_worlds: u32,
    }
}

layout! {
    /// Push constants of `islands`.
    pub struct Push {
        /// Number of bodies; the key of those that are in no island.
        pub count: u32,
        /// One of [`phase`].
        pub phase: u32,
        /// Bits of [`ties`]: what joins sets in this phase, or in the last phase what has joined them.
        pub ties: u32,
        /// Not 0 where there are several worlds: each has its own word of `jointed_worlds`.
        pub worlds: u32,
    }
}

/// Phases of the stage.
pub mod phase {
    /// Makes every dynamic body that something touches a set of its own.
    pub const APART: u32 = 0;
    /// Joins sets that are connected.
    pub const JOIN: u32 = 1;
    /// Writes the island of every body.
    pub const SETTLE: u32 = 2;
}

/// What connects bodies.
pub mod ties {
    /// Joints that are not broken.
    pub const JOINTS: u32 = 1;
    /// All contacts.
    pub const TOUCHING: u32 = 2;
    /// Contacts and joints that are stiff: not with what does not move.
    pub const STIFF: u32 = 4;
}

/// Looks at one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    if push.phase == phase::APART {
        // A body that nothing touches already moves correctly on its own.
        let alone = (row(&b.rows, item, u32::MAX).count() == 0) | !b.bodies.at(item).is_dynamic();
        let set = if alone { GROUND } else { item + 1 };
        b.parents.put(item, set);
    } else if push.phase == phase::JOIN {
        if push.ties & (ties::TOUCHING | ties::STIFF) != 0 {
            join_contacts(item, push, b);
        }
        if push.ties & (ties::JOINTS | ties::STIFF) != 0 {
            join_joints(item, push, b);
        }
    } else {
        let first = first(&mut b.parents, item + 1);
        // A body that contacts alone touch is no island as long as only joints have joined any.
        let jointed = push.ties != ties::JOINTS || joint_row(&b.rows, item, u32::MAX).count() > 0;
        let key = if first == GROUND || !jointed { push.count } else { first - 1 };
        b.keys.put(item, key);
        b.members.put(item, item);
        b.island_of.put(item, key);
        // Where room was made for joints and there are none, contacts make no islands: a world does not know of room,
        // nor of joints in other worlds.
        let world = b.bodies.at(item).world();
        let mut with_joints = true;
        if push.ties == (ties::JOINTS | ties::TOUCHING) {
            let several = push.worlds != 0;
            with_joints =
                if several { b.jointed_worlds.now(world) != 0 } else { b.counters.now(counter::ISLANDS) != 0 };
        }
        if push.worlds != 0 && key < push.count {
            if push.ties == ties::JOINTS {
                b.jointed_worlds.or(world, 1);
            } else if !with_joints {
                b.keys.put(item, push.count);
                b.island_of.put(item, push.count);
            }
        }
        // Mostly there is none, and nothing need be sorted.
        if key < push.count && with_joints {
            b.counters.or(counter::ISLANDS, push.count);
        }
    }
}

/// Joins a body with those it touches.
#[inline(always)]
fn join_contacts(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let row = contact_row(&b.rows, item, b.entries.len());
    let mut e = row.start;
    while e < row.end {
        // SAFETY: `contact_row` has held the end against the number of entries.
        let entry = unsafe { b.entries.known(e) };
        let other = entry.other;
        // Each pair is joined once; a body that does not move has no row of its own.
        let fixed = !b.bodies.at(other).is_dynamic();
        let touching = push.ties & ties::TOUCHING != 0;
        let ours = if touching { entry.is_a() || fixed } else { entry.is_a() && !fixed };
        // Tested before the points are read, because these lie far away and most bodies of a heap are in one set
        // already.
        if ours
            && first(&mut b.parents, item + 1) != first(&mut b.parents, other.wrapping_add(1))
            && (touching || stiff_contact(entry.manifold(), b))
        {
            join(&mut b.parents, item + 1, other.wrapping_add(1));
        }
        e += 1;
    }
}

/// Joins a body with those that joints tie it to.
#[inline(always)]
fn join_joints(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let row = joint_row(&b.rows, item, b.entries.len());
    let mut e = row.start;
    while e < row.end {
        let entry = b.entries.at(e);
        // Once for each two; one to the world names the body itself.
        let ties = entry.is_a() && entry.other != item && b.joints.at(entry.joint()).flags & flag::BROKEN == 0;
        // Joints to the ground do not join, because `momentum` handles them itself.
        if ties && b.bodies.at(item).is_dynamic() && b.bodies.at(entry.other).is_dynamic() {
            let all = push.ties & ties::JOINTS != 0;
            if all || stiff_joint(entry.joint(), b) {
                join(&mut b.parents, item + 1, entry.other.wrapping_add(1));
            }
        }
        e += 1;
    }
}

/// Whether a manifold's points that push are stiff, all together.
#[inline(always)]
fn stiff_contact(index: u32, b: &Bindings<'_>) -> bool {
    let record: Record<'_> = b.points.window(record(index));
    let points = FourPoints::load(&record, 0);
    let mut sum = 0.0;
    let mut k = 0;
    while k < POINTS {
        let point = points.at(k);
        sum += if point.lambda.z < 0.0 { abs(point.k) } else { 0.0 };
        k += 1;
    }
    sum > b.params.at(0).tie * b.manifolds.at(index).unit
}

/// Whether a joint has a row that is stiff.
#[inline(always)]
fn stiff_joint(index: u32, b: &Bindings<'_>) -> bool {
    let (joint, tie) = (b.joints.at(index), b.params.at(0).tie);
    let rows = joint.rows_within(b.joint_rows.len());
    let mut stiff = false;
    let mut r = 0;
    while r < rows {
        let (row, state) = (b.joint_rows.at(joint.first_row + r), b.row_states.at(joint.first_row + r));
        stiff |= (state.k > tie * state.unit) & ((row.role == role::LOCK) | (state.lambda != 0.0));
        r += 1;
    }
    stiff
}
