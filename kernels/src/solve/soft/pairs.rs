//! Contacts between soft surfaces: what they push with, and how far their nodes may go. Nodes that would cross the plane
//! between both sides stop before it: heights along the normal are linear in the way of a node, so whoever is above at
//! the start and at the end of a step was above all the time, and nothing crosses.

use super::contact::{Press, press_of};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, abs, fmax, fmin};
use crate::layout::Aabb;
use crate::state::soft_pairs::{SoftPair, pair_flag};

/// Part of the gap that a node may close in one go.
pub const WITHIN: f32 = 0.85;
/// Part of the thickness that nodes keep in any case.
pub const CLOSEST: f32 = 0.02;
/// The same as a part of the distance from the origin, which positions are rounded by: 64 times that.
pub const ROUNDED: f32 = 4e-6;
/// Lowest stiffness, in units.
pub const K_PAIR: f32 = 10.0;
/// Highest stiffness, in units.
pub const K_PAIR_MOST: f32 = 100.0;

/// How far the upper point has gone along the lower one.
#[inline(always)]
pub fn gone_along(pair: &SoftPair, deltas: &impl Load<Vec3>) -> Vec3 {
    deltas.at(pair.a) * pair.wa
        + deltas.at(pair.b) * pair.wb
        + deltas.at(pair.c) * pair.wc
        + deltas.at(pair.d) * pair.wd
}

/// What it does to the upper side when that has gone `way` along the lower one. Nothing for pairs without a thickness.
#[inline(always)]
pub fn push_apart(pair: &SoftPair, way: Vec3) -> Press {
    let whole = pair.lambda - (pair.error + way) * pair.k;
    press_of(pair.normal, whole, pair.k, pair.friction, 0.0)
}

/// The same for bodies that are moved as a whole: see [`press_held`](super::contact::press_held).
#[inline(always)]
pub fn push_apart_held(pair: &SoftPair, way: Vec3) -> Press {
    let whole = pair.lambda - (pair.error + way) * pair.k;
    press_of(pair.normal, whole, pair.k, pair.friction, fmax(0.0, pair.lambda.dot(pair.normal)))
}

/// Height of node `i` at a displacement.
#[inline(always)]
pub fn height(pair: &SoftPair, i: u32, delta: Vec3) -> f32 {
    pair.height(i) + pair.normal.dot(delta)
}

/// The gap between both sides when its nodes have gone so far: of the lowest node above and the highest one below.
#[inline(always)]
pub fn gap(pair: &SoftPair, a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f32 {
    let (a, b) = (height(pair, 0, a), height(pair, 1, b));
    let (c, d) = (height(pair, 2, c), height(pair, 3, d));
    let edges = pair.flags & pair_flag::EDGES != 0;
    let low = if edges { fmin(a, b) } else { a };
    let high = fmax(c, d);
    low - if edges { high } else { fmax(high, b) }
}

/// Height of the other side that is nearest to node `i`.
#[inline(always)]
pub fn opposite(pair: &SoftPair, i: u32, deltas: &impl Load<Vec3>) -> f32 {
    let (a, b) = (height(pair, 0, deltas.at(pair.a)), height(pair, 1, deltas.at(pair.b)));
    let (c, d) = (height(pair, 2, deltas.at(pair.c)), height(pair, 3, deltas.at(pair.d)));
    let edges = pair.flags & pair_flag::EDGES != 0;
    let low = if edges { fmin(a, b) } else { a };
    let high = if edges { fmax(c, d) } else { fmax(b, fmax(c, d)) };
    if pair.is_above(i) { high } else { low }
}

/// How much of a gap may be closed. `place` is where the pair is.
#[inline(always)]
pub fn closable(pair: &SoftPair, gap: f32, place: Vec3) -> f32 {
    fmax(0.0, fmin(WITHIN * gap, gap - kept(pair, place)))
}

/// How much of a gap may be closed if both sides go at the same time, by the same part of their ways.
#[inline(always)]
pub fn closable_together(pair: &SoftPair, gap: f32, place: Vec3) -> f32 {
    fmax(0.0, gap - kept(pair, place))
}

/// As [`closable`], with some slack for what was drawn back to planes and is rounded.
#[inline(always)]
pub fn closable_at_most(pair: &SoftPair, gap: f32, place: Vec3) -> f32 {
    fmax(0.0, fmin(0.5 * (1.0 + WITHIN) * gap, gap - 0.25 * kept(pair, place)))
}

/// The gap that is kept.
#[inline(always)]
fn kept(pair: &SoftPair, place: Vec3) -> f32 {
    CLOSEST * pair.thickness + ROUNDED * (abs(place.x) + abs(place.y) + abs(place.z))
}

/// A displacement drawn back to where a particle may go. `limit` is in metres, to all sides.
#[inline(always)]
pub fn confined(region: &Aabb, limit: f32, delta: Vec3) -> Vec3 {
    // The cube inside of the sphere.
    let side = limit * 0.577;
    let one = |low: f32, high: f32, v: f32| fmax(fmax(low, -side), fmin(v, fmin(high, side)));
    Vec3::new(
        one(region.min.x, region.max.x, delta.x),
        one(region.min.y, region.max.y, delta.y),
        one(region.min.z, region.max.z, delta.z),
    )
}
