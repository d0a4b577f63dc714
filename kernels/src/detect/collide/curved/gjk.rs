//! The nearest points of two convex shapes that are apart (Gilbert, Johnson and Keerthi, "A fast procedure for computing
//! the distance between complex objects in three-dimensional space", 1988).
//!
//! Differences of points of a and points of b are a convex set, and what is looked for is its point nearest to the
//! origin. A simplex of up to four of its corners is kept; the point of it nearest to the origin says in which direction the
//! next corner lies, and corners that the point does not need are let go.

use super::Convex;
use crate::detect::collide::hull::Tables;
use crate::detect::collide::round::{clamp, direction};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Local, Store, fmax};

/// Where two shapes are nearest to each other.
#[derive(Clone, Copy)]
pub struct Nearest {
    /// From b to a.
    pub normal: Vec3,
    /// Along the normal, as the shapes lie; negative when they overlap.
    pub separation: f32,
    /// The point on a, or on the axis of a capsule.
    pub on_a: Vec3,
    /// Whether they overlap, and so have no nearest points.
    pub overlap: bool,
    /// How far a was moved for it along the direction it began with.
    pub moved: f32,
}

/// Most corners that are looked at.
const CORNERS: u32 = 24;
/// Part of the square of the distance by which it must still be wrong to go on: single precision tells no more.
const PRECISION: f32 = 1e-6;

/// The nearest points, from a direction `start` from b to a. Along it, a is first moved so that they are `apart` apart. When
/// that is no number to move by, shapes are made thinner by `inset` instead. Ends early when they are `near` apart.
#[inline(always)]
pub fn nearest(t: &Tables<'_>, a: &Convex, b: &Convex, start: Vec3, apart: f32, inset: f32, near: f32) -> Nearest {
    let thinner = apart == f32::NEG_INFINITY;
    let inset = if thinner { inset } else { 0.0 };
    let round = a.round + b.round;
    let between = a.p.solid.centre - b.p.solid.centre;
    let mut found = Nearest { normal: start, separation: 0.0, on_a: Vec3::ZERO, overlap: false, moved: 0.0 };
    let mut simplex = Simplex { count: 0, corner: Local::splat(Vec3::ZERO), on_a: Local::splat(Vec3::ZERO) };
    let mut weight = Local::<f32, 4>::splat(0.0);
    let mut v = start;
    let mut square = f32::MAX;
    let mut k = 0;
    while k < CORNERS {
        let on_a = a.farthest(t, -v, inset) + a.p.solid.centre;
        let on_b = b.farthest(t, v, inset) + b.p.solid.centre;
        let n = direction(v, start).0;
        let first = k == 0;
        let reached = n.dot(on_a - on_b);
        if first {
            // Cores of round shapes need only be apart themselves. What is apart enough to have a direction stays there:
            // between corners a shift would hold the direction where it was.
            found.moved = if thinner || reached > 0.1 * apart { 0.0 } else { apart - reached };
        }
        let shift = start * found.moved;
        let corner = on_a - on_b + shift;
        found.normal = n;
        found.separation = reached - round;
        let progress = square - v.dot(corner);
        let done = !first && progress <= PRECISION * square;
        let far = found.separation >= near && !thinner;
        if done || far {
            k = CORNERS;
        } else {
            simplex.add(corner, on_a);
            let next = simplex.closest();
            let better = next.point.length_squared();
            found.overlap = next.inside || better < 1e-12 * between.length_squared();
            // No nearer than before: rounding.
            let stuck = better >= square && !first;
            let ends = found.overlap || stuck;
            if !ends {
                v = next.point;
                square = better;
                weight = next.weight;
                simplex.keep(&next, &mut weight);
            }
            k = if ends { CORNERS } else { k + 1 };
        }
    }
    // The direction of the point that was reached last.
    let mut on_a = Vec3::ZERO;
    let mut i = 0;
    while i < 4 {
        on_a += simplex.on_a.at(i) * weight.at(i);
        i += 1;
    }
    found.on_a = on_a;
    found
}

/// Up to four corners of the difference of two shapes, and the points of a that they are made of.
#[derive(Clone, Copy)]
struct Simplex {
    count: u32,
    corner: Local<Vec3, 4>,
    on_a: Local<Vec3, 4>,
}

/// The point of a simplex nearest to the origin.
#[derive(Clone, Copy)]
struct Closest {
    point: Vec3,
    /// The parts that the corners have in it.
    weight: Local<f32, 4>,
    /// Whether the origin is inside.
    inside: bool,
}

impl Simplex {
    #[inline(always)]
    fn add(&mut self, corner: Vec3, on_a: Vec3) {
        self.corner.put(self.count, corner);
        self.on_a.put(self.count, on_a);
        self.count += 1;
    }

    /// Lets go what has no part in the point.
    #[inline(always)]
    fn keep(&mut self, closest: &Closest, weight: &mut Local<f32, 4>) {
        let old = *self;
        self.count = 0;
        let mut i = 0;
        while i < old.count {
            let part = closest.weight.at(i);
            if part > 0.0 {
                weight.put(self.count, part);
                self.add(old.corner.at(i), old.on_a.at(i));
            }
            i += 1;
        }
        let mut i = self.count;
        while i < 4 {
            weight.put(i, 0.0);
            i += 1;
        }
    }

    /// The nearest of its sides; of four corners only the three sides that the last one is part of, since the origin lies on
    /// its side of the others.
    #[inline(always)]
    fn closest(&self) -> Closest {
        let mut best = Closest { point: Vec3::ZERO, weight: Local::splat(0.0), inside: self.count == 4 };
        let mut least = f32::MAX;
        let sides = if self.count == 4 { 3 } else { 1 };
        let last = self.count - 1;
        let mut side = 0;
        while side < sides {
            // With fewer than three corners some count twice.
            let four = self.count == 4;
            let second = if side == 2 { 0 } else { side + 1 };
            let (i, j) = if four { (side, second) } else { (0, if self.count == 3 { 1 } else { 0 }) };
            let (a, b, c) = (self.corner.at(i), self.corner.at(j), self.corner.at(last));
            let (point, part) = triangle(a, b, c);
            let square = point.length_squared();
            if square < least {
                least = square;
                best.point = point;
                best.weight = Local::splat(0.0);
                best.weight.put(i, part.x);
                best.weight.put(j, best.weight.at(j) + part.y);
                best.weight.put(last, best.weight.at(last) + part.z);
            }
            if four {
                // Beyond this side, seen from the corner that is not on it.
                let out = (b - a).cross(c - a);
                let opposite = self.corner.at(if side == 0 { 2 } else { side - 1 });
                best.inside = best.inside && out.dot(opposite - a) * out.dot(-a) > 0.0;
            }
            side += 1;
        }
        best
    }
}

/// The point of a triangle nearest to the origin, and the parts of its corners. It may be thin, or have equal corners.
#[inline(always)]
fn triangle(a: Vec3, b: Vec3, c: Vec3) -> (Vec3, Vec3) {
    let n = (b - a).cross(c - a);
    let area = n.length_squared();
    let part = Vec3::new(n.dot(b.cross(c)), n.dot(c.cross(a)), n.dot(a.cross(b)));
    let thin = area <= 1e-10 * (b - a).length_squared() * (c - a).length_squared();
    if !thin && part.x > 0.0 && part.y > 0.0 && part.z > 0.0 {
        let part = part * (1.0 / (part.x + part.y + part.z));
        // From the plane, which has more digits than the sum of corners.
        return (n * (n.dot(a) / area), part);
    }
    let mut least = f32::MAX;
    let mut best = (a, Vec3::X);
    let mut side = 0;
    while side < 3 {
        let (p, q) = if side == 0 {
            (a, b)
        } else if side == 1 {
            (b, c)
        } else {
            (c, a)
        };
        let d = q - p;
        let along = clamp(-p.dot(d) / fmax(d.length_squared(), 1e-30), 0.0, 1.0);
        let point = p + d * along;
        let square = point.length_squared();
        if square < least {
            least = square;
            let (start, end) = (1.0 - along, along);
            let part = if side == 0 {
                Vec3::new(start, end, 0.0)
            } else if side == 1 {
                Vec3::new(0.0, start, end)
            } else {
                Vec3::new(end, 0.0, start)
            };
            best = (point, part);
        }
        side += 1;
    }
    best
}
