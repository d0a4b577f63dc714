//! The nearest points of two convex shapes that are apart (Gilbert, Johnson and Keerthi, "A fast procedure for
//! computing the distance between complex objects in three-dimensional space", 1988).
//!
//! The differences of points of a and points of b form a convex set; its point nearest to the origin is searched. A
//! simplex of up to four of its corners is kept. The point of the simplex nearest to the origin gives the direction in
//! which the next corner is searched, and corners that do not contribute to that point are dropped.

use super::Convex;
use crate::detect::collide::hull::Outlines;
use crate::detect::collide::numbers::{APART, CLOSE_ENOUGH, INSET};
use crate::detect::collide::round::{clamp, direction};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Local, Store, fmax, fmin};

/// Where two shapes are nearest to each other.
#[derive(Clone, Copy)]
pub struct Nearest {
    /// From b to a.
    pub normal: Vec3,
    /// Distance along the normal of the shapes as they are, metres; negative for an overlap.
    pub separation: f32,
    /// Nearest point on a, or on the axis if a is a capsule.
    pub on_a: Vec3,
}

/// Largest number of corners in a round.
const CORNERS: u32 = 24;
/// Largest number of rounds: one with the shapes as they are, one with thinner ones, the rest with a moved.
const ROUNDS: u32 = 7;
/// Relative error of the squared distance at which a round ends. The direction is then off by less than a thousandth,
/// if the difference that was moved apart is curved as the shapes are.
const PRECISION: f32 = 1e-5;

/// The same for the round with thinner shapes, which only gives a starting direction.
const ROUGH: f32 = 1e-3;

/// Direction along which two shapes are farthest apart, or overlap least, and their nearest points along it. Starts
/// from the direction `out` of the best face, along which they are `separation` apart. Once they are `near` apart, any
/// direction will do.
///
/// Rounds and corners are one loop, because drivers that compile every path take very long over nested loops.
#[inline(always)]
pub fn nearest(
    t: &Outlines<'_>,
    a: &Convex,
    b: &Convex,
    out: Vec3,
    separation: f32,
    near: f32,
    known: bool,
) -> Nearest {
    let thin = fmin(a.thickness, b.thickness);
    let apart = APART * thin;
    let around = a.round + b.round;
    let between = a.p.solid.centre - b.p.solid.centre;
    let mut found = Nearest { normal: out, separation, on_a: Vec3::ZERO };
    let mut simplex = Simplex::empty();
    let mut weight = Local::<f32, 4>::splat(0.0);
    let (mut round, mut k) = (if known { 2 } else { 0 }, 0);
    // Direction in which the next corner is searched, and by how much a is moved in this round.
    let (mut v, mut square, mut moved) = (out, f32::MAX, 0.0);
    while round < ROUNDS {
        let (first, plain, thinner) = (k == 0, round == 0, round == 1);
        let inset = if thinner { INSET * thin } else { 0.0 };
        let on_a = a.farthest(t.vertices, -v, inset) + a.p.solid.centre;
        let on_b = b.farthest(t.vertices, v, inset) + b.p.solid.centre;
        let n = direction(v, found.normal).0;
        let reached = n.dot(on_a - on_b);
        // Only the cores of round shapes have to be apart. Shapes that are far enough apart to have a direction are not
        // moved: between corners a shift would keep the direction where it was.
        let short = apart - reached;
        let move_by = if plain | thinner | (reached > 0.1 * apart) { 0.0 } else { short };
        moved = if first { move_by } else { moved };
        let corner = on_a - on_b + found.normal * moved;
        let precision = if thinner { ROUGH } else { PRECISION };
        let done = !first & (square - v.dot(corner) <= precision * square);
        let far = !thinner & (reached - around >= near);
        // Adds one more corner, unless that brings no progress.
        let mut larger = simplex;
        larger.add(corner, on_a);
        let next = larger.closest();
        let better = next.point.length_squared();
        let overlap = next.inside | (better < 1e-12 * between.length_squared());
        // No nearer than before: only rounding is left.
        let stuck = !first & (better >= square);
        let over = done | far;
        let ends = over | overlap | stuck | (k + 1 >= CORNERS);
        if !(over | overlap | stuck) {
            v = next.point;
            square = better;
            simplex = larger.kept(&next, &mut weight);
        }
        k += 1;
        if ends {
            // Deeply overlapping: thinner shapes give no direction, and the best face is as good a start as any.
            let deep = thinner & overlap & !over;
            let clear = !overlap & (reached > 0.1 * apart);
            let settled = (moved == 0.0) | (1.0 - n.dot(found.normal) < CLOSE_ENOUGH);
            let enough = far | if plain { clear } else { !thinner & settled };
            // With the shapes as they are, an overlap gives no separation.
            let told = !thinner & (!plain | enough);
            found.separation = if told { reached - around } else { found.separation };
            found.normal = if deep | (plain & !enough) { found.normal } else { n };
            found.on_a = simplex.point_on_a(&weight);
            round = if enough { ROUNDS } else { round + 1 };
            k = 0;
            (v, square) = (found.normal, f32::MAX);
            simplex.count = 0;
        }
    }
    found
}

/// Up to four corners of the difference of two shapes, with the points of a that they come from.
#[derive(Clone, Copy)]
pub struct Simplex {
    /// Number of corners.
    pub count: u32,
    /// The corners.
    pub corner: Local<Vec3, 4>,
    /// The points of a.
    pub on_a: Local<Vec3, 4>,
}

/// The point of a simplex nearest to the origin.
#[derive(Clone, Copy)]
pub struct Closest {
    /// The point.
    pub point: Vec3,
    /// Weights of the corners in it.
    pub weight: Local<f32, 4>,
    /// Whether the origin is inside.
    pub inside: bool,
}

impl Simplex {
    /// A simplex without corners.
    #[inline(always)]
    pub fn empty() -> Self {
        Self { count: 0, corner: Local::splat(Vec3::ZERO), on_a: Local::splat(Vec3::ZERO) }
    }

    /// Adds a corner.
    #[inline(always)]
    pub fn add(&mut self, corner: Vec3, on_a: Vec3) {
        self.corner.put(self.count, corner);
        self.on_a.put(self.count, on_a);
        self.count += 1;
    }

    /// Keeps the corners that contribute to the nearest point, and their weights.
    #[inline(always)]
    pub fn kept(&self, closest: &Closest, weight: &mut Local<f32, 4>) -> Self {
        let mut rest = Self { count: 0, ..*self };
        *weight = Local::splat(0.0);
        rest.take(self, closest, weight, 0);
        rest.take(self, closest, weight, 1);
        rest.take(self, closest, weight, 2);
        rest.take(self, closest, weight, 3);
        rest
    }

    /// Takes over corner `i` of another simplex if its weight is not 0.
    #[inline(always)]
    fn take(&mut self, other: &Self, closest: &Closest, weight: &mut Local<f32, 4>, i: u32) {
        let part = closest.weight.at(i);
        let wanted = (i < other.count) & (part > 0.0);
        let place = if wanted { self.count } else { 4 };
        weight.put(place, part);
        self.corner.put(place, other.corner.at(i));
        self.on_a.put(place, other.on_a.at(i));
        self.count += wanted as u32;
    }

    /// The point on a that belongs to the weights.
    #[inline(always)]
    pub fn point_on_a(&self, weight: &Local<f32, 4>) -> Vec3 {
        let part = |i: u32| self.on_a.at(i) * weight.at(i);
        part(0) + part(1) + part(2) + part(3)
    }

    /// Whether its fourth corner is within `height` of the plane of the others: rounding then decides whether the
    /// origin is inside.
    #[inline(always)]
    pub fn is_flat(&self, height: f32) -> bool {
        let a = self.corner.at(0);
        let n = (self.corner.at(1) - a).cross(self.corner.at(2) - a);
        let volume = n.dot(self.corner.at(3) - a);
        volume * volume <= height * height * n.length_squared()
    }

    /// Its point nearest to the origin. Of four corners only the three sides with the last corner are tested, because
    /// the origin lies on its side of the remaining one. With fewer than three corners some are used twice.
    #[inline(always)]
    pub fn closest(&self) -> Closest {
        let four = self.count == 4;
        let last = self.count - 1;
        let mut best = Closest { point: Vec3::ZERO, weight: Local::splat(0.0), inside: four };
        let mut least = f32::MAX;
        self.try_side(0, if self.count >= 3 { 1 } else { 0 }, last, 2, four, &mut best, &mut least);
        if four {
            self.try_side(1, 2, last, 0, four, &mut best, &mut least);
            self.try_side(2, 0, last, 1, four, &mut best, &mut least);
        }
        best
    }

    /// Tests the side with corners `i`, `j` and `last`; corner `opposite` is not on it.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a piece of the function above, which is written out three times")]
    fn try_side(&self, i: u32, j: u32, last: u32, opposite: u32, four: bool, best: &mut Closest, least: &mut f32) {
        let (a, b, c) = (self.corner.at(i), self.corner.at(j), self.corner.at(last));
        let (point, part) = triangle(a, b, c);
        let square = point.length_squared();
        let mut weight = Local::<f32, 4>::splat(0.0);
        weight.put(i, part.x);
        weight.put(j, weight.at(j) + part.y);
        weight.put(last, weight.at(last) + part.z);
        let nearer = square < *least;
        *least = if nearer { square } else { *least };
        best.point = if nearer { point } else { best.point };
        best.weight = if nearer { weight } else { best.weight };
        // Whether the origin is on the inner side, that of the corner which is not on this side.
        let out = (b - a).cross(c - a);
        let inward = out.dot(self.corner.at(opposite) - a) * out.dot(-a) > 0.0;
        best.inside &= inward | !four;
    }
}

/// Point of a triangle nearest to the origin, and the weights of its corners. The triangle may be thin or have equal
/// corners.
#[inline(always)]
fn triangle(a: Vec3, b: Vec3, c: Vec3) -> (Vec3, Vec3) {
    let n = (b - a).cross(c - a);
    let area = n.length_squared();
    let part = Vec3::new(n.dot(b.cross(c)), n.dot(c.cross(a)), n.dot(a.cross(b)));
    let thin = area <= 1e-10 * (b - a).length_squared() * (c - a).length_squared();
    let within = !thin & (part.x > 0.0) & (part.y > 0.0) & (part.z > 0.0);
    // Computed from the plane, which has more digits than the weighted sum of corners.
    let inside = n * (n.dot(a) / fmax(area, 1e-30));
    let inner = part * (1.0 / fmax(part.x + part.y + part.z, 1e-30));
    let (ab, by_ab) = segment(a, b);
    let (bc, by_bc) = segment(b, c);
    let (ca, by_ca) = segment(c, a);
    let (sab, sbc, sca) = (ab.length_squared(), bc.length_squared(), ca.length_squared());
    let (on_ab, on_bc, on_ca) =
        (Vec3::new(1.0 - by_ab, by_ab, 0.0), Vec3::new(0.0, 1.0 - by_bc, by_bc), Vec3::new(by_ca, 0.0, 1.0 - by_ca));
    let second = sbc < sab;
    let (mut point, mut parts) = (if second { bc } else { ab }, if second { on_bc } else { on_ab });
    let third = sca < fmin(sab, sbc);
    point = if third { ca } else { point };
    parts = if third { on_ca } else { parts };
    (if within { inside } else { point }, if within { inner } else { parts })
}

/// Point of a segment nearest to the origin, and its position along it, 0 to 1.
#[inline(always)]
fn segment(p: Vec3, q: Vec3) -> (Vec3, f32) {
    let d = q - p;
    let along = clamp(-p.dot(d) / fmax(d.length_squared(), 1e-30), 0.0, 1.0);
    (p + d * along, along)
}
