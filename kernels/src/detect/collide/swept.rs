//! Finds the contact of two colliders that move towards each other: its normal is that of the first contact during the
//! step, not that of the start.
//!
//! A contact made across a gap keeps the bodies apart along its normal for the whole step. If the nearest features at
//! the start were used, it would stop a body that flies past an edge, or slides from one box of a flush floor to the
//! next:
//!
//! ```text
//!      start        end                    start        end
//!     .-----.     .-----.                    o . . . . . . o      along the axis at the start
//!     |  a  | ->  |     |                  /                      it would have to stop here: /
//!   --'-----'-----'-----'--               .------.
//!     floor 1 | floor 2                   |  b   |
//! ```
//!
//! An axis along which the bodies are apart at the start and at the end blocks nothing. If every axis closes during the
//! step, the bodies meet on the one that closes last. Overlaps up to the skin do not count, because bodies that rest on
//! something are that deep in it.

use super::{Contact, Solid};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, fmax, fmin};
use crate::state::rigid::Approach;

/// Resolution of the time of contact: parts of a step.
const TIMES: f32 = 4096.0;
/// Code of no axis: the bodies pass each other.
pub const PASSES: u32 = (1 << TIME_SHIFT) - 1;
/// First bit of the time in the code of an axis.
const TIME_SHIFT: u32 = 20;

/// Score of an axis along which the bodies are `gap` apart and approach by `closing` in the step: the axis with the
/// highest score is where they meet. Never more than `gap + bonus`; without motion just that.
#[inline(always)]
pub fn score(approach: &Approach, gap: f32, closing: f32, bonus: f32) -> f32 {
    let skin = approach.skin;
    let end = gap - fmax(closing, 0.0);
    if end >= -skin || !approach.moves() {
        end + bonus
    } else if gap > -skin {
        // Closes during the step: the later, the better, between minus two skins and minus one.
        skin * ((gap + skin) / closing - 2.0)
    } else {
        gap - skin
    }
}

/// Bonus for the faces of a shape that is much larger than the other: the faces of a floor continue in its neighbours.
/// The faces of a sliding body are never quite parallel to the floor, and would push it back a little.
#[inline(always)]
pub fn bonus(approach: &Approach, half: Vec3, other: Vec3) -> f32 {
    let larger = half.x + half.y + half.z > 2.0 * (other.x + other.y + other.z);
    if larger && approach.moves() { 0.5 * approach.skin } else { 0.0 }
}

/// A chosen axis, and how it closes.
#[derive(Clone, Copy)]
pub struct Axis {
    /// Identifies the axis; every shape has its own codes.
    pub code: u32,
    /// Its score: see [`score`].
    pub score: f32,
    /// Distance along it at the start, metres; negative for an overlap.
    pub separation: f32,
    /// By how much the distance shrinks in the step, metres.
    pub closing: f32,
}

/// Result of `touch` for two shapes with flat faces.
#[derive(Clone, Copy)]
pub struct Meeting {
    /// Whether they touch now, or may do so in this step.
    pub touch: bool,
    /// Whether they are near each other, even if they pass.
    pub near: bool,
    /// Code of the axis, with the time at which it closes.
    pub code: u32,
}

/// Finds where two shapes with flat faces meet. `find` returns the best axis after a has moved by a given way.
///
/// If all axes close in the step, the shapes meet on the one that closes last, unless another axis has opened by then.
/// That is a near miss, and no single axis keeps them apart all the time. Edge axes, against which faces are preferred
/// in the first round, are tested again just after the time that was found, and may close later.
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
        // Just after the time at which this axis closes.
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
        // A later axis is taken if the shapes would by then be deeper along the earlier one than allowed.
        if goes_on && (first || speed * more > 2.0 * skin) {
            // The time at which the overlap is one skin, when the area that meets is wide enough to be found; never 0.
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

/// Whether the shapes certainly meet in this step, so that a contact must be made.
#[inline(always)]
pub fn hits(code: u32) -> bool {
    code >> TIME_SHIFT != 0
}

/// The way up to the time in the code.
#[inline(always)]
pub fn way_of(approach: &Approach, code: u32) -> Vec3 {
    approach.way * ((code >> TIME_SHIFT) as f32 / TIMES)
}

/// The collider, displaced by `way`.
#[inline(always)]
pub fn moved(solid: &Solid, way: Vec3) -> Solid {
    let mut there = *solid;
    there.centre += way;
    there
}

/// Component of a way tangential to a contact.
#[inline(always)]
pub fn across(contact: &Contact, way: Vec3) -> Vec3 {
    way - contact.normal * contact.normal.dot(way)
}

/// Transforms a contact that was found after a had moved by `way` back to the start: the points on a move back by the
/// whole way, those on b by its tangential part, so that they stay opposite.
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

/// Contact of two shapes of which at least one is round, and the tangential way until impact if a hits b. `find`
/// returns the contact after a has moved by a given way; `rounds` says whether a and b are round.
///
/// The distance is convex along the way, so Newton's method approaches the time at which the overlap is one skin from
/// before, or passes the end of the step. In the second case there is no hit, and the contact is that at the end, where
/// it pushes by the real overlap; if the shapes are separating by then, there is no contact.
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
        // At the start: done if the shapes do not reach each other in the step, or if both are round and touch.
        let settled = k == 0 && (gap >= closing || (both && gap <= approach.skin));
        let there = passes || settled || time >= 1.0 || more <= CLOSE * time || gap <= -approach.skin;
        let there = there || !approach.moves();
        time = fmin(time + more, 1.0);
        k = if there { ROUNDS } else { k + 1 };
    }
    // A rolling shape is touched at its present place, not at that of the impact: only the normal part of its way is
    // taken back.
    let across = across(&contact, way);
    let rolling = !hit && second;
    let start = at_start(&contact, if rolling { way - across } else { way });
    (start, if hit { across } else { Vec3::ZERO })
}

/// How far a moves until it meets b, for shapes whose contact is only made there: see [`round`].
#[derive(Clone, Copy)]
pub struct Sweep {
    /// Way of a until then.
    pub way: Vec3,
    /// Whether they meet within the step.
    pub hit: bool,
    /// Whether they approach and separate again without contact.
    pub parts: bool,
    /// Direction found there, from b to a; zero if they do not move.
    pub normal: Vec3,
}

impl Sweep {
    /// The same rounds as in [`round`]. `find` returns the direction from b to a after a has moved by a given way, and
    /// the distance along it.
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

    /// Transforms the contact that was found there back to the start, as [`round`] does.
    #[inline(always)]
    pub fn finish(&self, mut contact: Contact, second: bool) -> (Contact, Vec3) {
        contact.count = if self.parts { 0 } else { contact.count };
        let across = across(&contact, self.way);
        let hit = self.hit & (self.way.length_squared() > 0.0);
        let start = at_start(&contact, if second & !hit { self.way - across } else { self.way });
        (start, if hit { across } else { Vec3::ZERO })
    }
}

/// Largest number of rounds of [`round`].
const ROUNDS: u32 = 8;
/// Relative precision of the time of impact.
const CLOSE: f32 = 1e-2;
