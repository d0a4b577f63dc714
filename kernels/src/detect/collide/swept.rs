//! Which way two colliders meet that move towards each other: the normal is that of the first contact, not of the
//! start.
//!
//! A contact made across a gap keeps the bodies apart along its normal for the whole step. With the nearest features of
//! the start it would stop what flies past an edge, or slides from one box to the next in a flush floor:
//!
//! ```text
//!      start        end                    start        end
//!     .-----.     .-----.                    o . . . . . . o      along the axis at the start
//!     |  a  | ->  |     |                  /                      it would have to stop here: /
//!   --'-----'-----'-----'--               .------.
//!     floor 1 | floor 2                   |  b   |
//! ```
//!
//! An axis along which they are apart at both ends is in nobody's way; of axes that are all closed, the one that is
//! closed last is where they meet. Overlaps up to a skin do not count: that deep is what lies on something.

use super::{Contact, Solid};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, fmax, fmin};
use crate::state::rigid::Approach;

/// Parts of a step in which the time of a contact is told.
const TIMES: f32 = 4096.0;
/// The code of no axis: they pass each other.
pub const PASSES: u32 = (1 << TIME_SHIFT) - 1;
/// Where the time begins in the code of an axis.
const TIME_SHIFT: u32 = 20;

/// How good an axis is on which they are `gap` apart, and come closer by `closing`: the best is where they meet. Never
/// more than gap and `bonus`, and without motion just the gap.
#[inline(always)]
pub fn score(approach: &Approach, gap: f32, closing: f32, bonus: f32) -> f32 {
    let skin = approach.skin;
    let end = gap - fmax(closing, 0.0);
    if end >= -skin || !approach.moves() {
        end + bonus
    } else if gap > -skin {
        // The later, the better: between one skin and two.
        skin * ((gap + skin) / closing - 2.0)
    } else {
        gap - skin
    }
}

/// What the faces of a shape are preferred by to those of the other when it is much larger: the floor's faces are those
/// that go on in its neighbours. What slides is never quite parallel to it, and would be pushed back a little by its
/// own.
#[inline(always)]
pub fn bonus(approach: &Approach, half: Vec3, other: Vec3) -> f32 {
    let larger = half.x + half.y + half.z > 2.0 * (other.x + other.y + other.z);
    if larger && approach.moves() { 0.5 * approach.skin } else { 0.0 }
}

/// An axis that was chosen, and how it is closed.
#[derive(Clone, Copy)]
pub struct Axis {
    /// What it is; the shapes have their own codes.
    pub code: u32,
    /// How good it is: see [`score`].
    pub score: f32,
    /// Negative when they overlap.
    pub separation: f32,
    /// What it gets smaller by in the step.
    pub closing: f32,
}

/// What `touch` finds of two shapes with flat faces.
#[derive(Clone, Copy)]
pub struct Meeting {
    /// Whether they touch, or may in this step.
    pub touch: bool,
    /// Whether they are near each other, even if they pass.
    pub near: bool,
    /// The axis, with the time until it is closed.
    pub code: u32,
}

/// Where two shapes with flat faces meet. `find` looks for the axis after a went a way.
///
/// If all axes are closed in the step, they meet on the one that is closed last; unless another has opened by then.
/// That is a near miss, and no single axis keeps them apart all the time. Axes between edges, which faces are preferred
/// to at first, are looked at again just behind the time that was found, and may be later.
#[inline(always)]
pub fn flat(approach: &Approach, find: impl Fn(Vec3, &Approach) -> Axis) -> Meeting {
    let mut meeting = Meeting { touch: false, near: false, code: 0 };
    let mut now = *approach;
    let skin = approach.skin;
    let (mut time, mut speed) = (0.0, 0.0);
    let mut round = 0;
    while round < MEETING_ROUNDS {
        let axis = find(approach.way * time, &now);
        let (gap, left) = (axis.separation, 1.0 - time);
        let first = round == 0;
        let closes = approach.moves() && gap - axis.closing < -skin;
        // Just behind the time at which it is closed.
        let more = (gap + 1.2 * skin) / fmax(axis.closing, 1e-30) * left;
        let open = gap > if first { -skin } else { -1.1 * skin };
        let goes_on = open && closes;
        if first {
            meeting.near = gap < approach.near;
            meeting.touch = meeting.near;
            meeting.code = axis.code;
        } else if open && !closes {
            meeting.touch = false;
            meeting.code = PASSES;
        }
        // A later axis counts if they would be deeper than they may be along the one before.
        if goes_on && (first || speed * more > 2.0 * skin) {
            // A skin deep in each other, where what meets of them is wide enough to be found; never 0.
            let at = fmin(time + (gap + skin) / axis.closing * left, 1.0);
            meeting.code = axis.code | ((at * (TIMES - 2.0) + 1.0) as u32) << TIME_SHIFT;
            speed = axis.closing / left;
        }
        time = fmin(time + more, 1.0);
        (now.way, now.faces) = (approach.way * (1.0 - time), 0.0);
        round = if goes_on && meeting.touch { round + 1 } else { MEETING_ROUNDS };
    }
    meeting
}

/// Most rounds of [`flat`].
const MEETING_ROUNDS: u32 = 8;

/// The code without the time.
#[inline(always)]
pub fn axis_of(code: u32) -> u32 {
    code & ((1 << TIME_SHIFT) - 1)
}

/// Whether they are sure to meet: a contact must be made of it.
#[inline(always)]
pub fn hits(code: u32) -> bool {
    code >> TIME_SHIFT != 0
}

/// The way up to the time in the code.
#[inline(always)]
pub fn way_of(approach: &Approach, code: u32) -> Vec3 {
    approach.way * ((code >> TIME_SHIFT) as f32 / TIMES)
}

/// A collider moved on.
#[inline(always)]
pub fn moved(solid: &Solid, way: Vec3) -> Solid {
    let mut there = *solid;
    there.centre += way;
    there
}

/// The part of a way along a contact.
#[inline(always)]
pub fn across(contact: &Contact, way: Vec3) -> Vec3 {
    way - contact.normal * contact.normal.dot(way)
}

/// A contact as it was found after a had gone `way`, seen from the start: the points on a where they were, those on b
/// opposite of them.
#[inline(always)]
pub fn at_start(contact: &Contact, way: Vec3) -> Contact {
    let mut start = *contact;
    let across = across(contact, way);
    let mut k = 0;
    while k < contact.count {
        start.on_a.put(k, contact.on_a.at(k) - way);
        start.on_b.put(k, contact.on_b.at(k) - across);
        k += 1;
    }
    start
}

/// What two shapes make of which one is round, and how far a went until then when it hits the other. `find` makes the
/// contact after a went a way; `rounds` says which of both are round, a and b.
///
/// Their distance is convex along the way, so Newton's method comes to the time at which they are a skin deep from
/// before, or beyond the end of the step. The second is no hit, and the contact is the one at the end, where it pushes
/// by what they really overlap; if they are moving apart by then, there is none.
#[inline(always)]
pub fn round(approach: &Approach, rounds: (bool, bool), find: impl Fn(Vec3) -> Contact) -> (Contact, Vec3) {
    let (second, both) = (!rounds.0, rounds.0 && rounds.1);
    let mut contact = Contact::none();
    let mut way = Vec3::ZERO;
    let mut time = 0.0;
    let mut hit = false;
    let mut k = 0;
    while k < ROUNDS {
        way = approach.way * time;
        contact = find(way);
        let mut gap = f32::MAX;
        let mut i = 0;
        while i < contact.count {
            gap = fmin(gap, contact.normal.dot(contact.on_a.at(i) - contact.on_b.at(i)));
            i += 1;
        }
        let closing = -contact.normal.dot(approach.way);
        let more = (gap + approach.skin) / fmax(closing, 1e-30);
        let passes = closing <= 0.0;
        if passes && k > 0 {
            contact.count = 0;
        }
        hit = !passes && time < 1.0;
        // At the start: nothing to do for what does not get in each other's way, and for round shapes that touch.
        let settled = k == 0 && (gap >= closing || (both && gap <= approach.skin));
        let there = passes || settled || time >= 1.0 || more <= CLOSE * time || gap <= -approach.skin;
        let there = there || !approach.moves();
        time = fmin(time + more, 1.0);
        k = if there { ROUNDS } else { k + 1 };
    }
    // What rolls on is touched where it is, not where the other will be: only along the normal has it gone.
    let across = across(&contact, way);
    let rolling = !hit && second;
    let start = at_start(&contact, if rolling { way - across } else { way });
    (start, if hit { across } else { Vec3::ZERO })
}

/// How far two shapes go until they meet, for shapes whose contact is made only once, where they do: see [`round`].
#[derive(Clone, Copy)]
pub struct Sweep {
    /// The way of a until then.
    pub way: Vec3,
    /// Whether they meet within the step.
    pub hit: bool,
    /// Whether they come near each other and part again: they make no contact.
    pub parts: bool,
    /// The direction that was found there; nothing if they do not move.
    pub normal: Vec3,
}

impl Sweep {
    /// The rounds of [`round`]. `find` tells the direction from b to a after a went a way, and how far apart they are
    /// along it.
    #[inline(always)]
    pub fn new(approach: &Approach, both: bool, find: impl Fn(Vec3) -> (Vec3, f32)) -> Self {
        let mut sweep = Self { way: Vec3::ZERO, hit: false, parts: false, normal: Vec3::ZERO };
        let mut time = 0.0;
        let mut k = if approach.moves() { 0 } else { ROUNDS };
        while k < ROUNDS {
            sweep.way = approach.way * time;
            let (normal, gap) = find(sweep.way);
            sweep.normal = normal;
            let closing = -normal.dot(approach.way);
            let more = (gap + approach.skin) / fmax(closing, 1e-30);
            let passes = closing <= 0.0;
            sweep.parts = passes & (k > 0);
            sweep.hit = !passes & (time < 1.0);
            let settled = (k == 0) & ((gap >= closing) | (both & (gap <= approach.skin)));
            let close = (more <= CLOSE * time) | (gap <= -approach.skin);
            let there = passes | settled | (time >= 1.0) | close;
            time = fmin(time + more, 1.0);
            k = if there { ROUNDS } else { k + 1 };
        }
        sweep
    }

    /// The contact that was found there, as [`round`] gives it.
    #[inline(always)]
    pub fn finish(&self, mut contact: Contact, second: bool) -> (Contact, Vec3) {
        contact.count = if self.parts { 0 } else { contact.count };
        let across = across(&contact, self.way);
        let hit = self.hit & (self.way.length_squared() > 0.0);
        let start = at_start(&contact, if second & !hit { self.way - across } else { self.way });
        (start, if hit { across } else { Vec3::ZERO })
    }
}

/// Most rounds of [`round`].
const ROUNDS: u32 = 8;
/// Part of the time within which it is found.
const CLOSE: f32 = 1e-2;
