//! Finds when a moving convex shape hits another, how far two are apart, and whether they overlap.
//!
//! The differences of points of a and points of b form a convex set. A plane with the set on one side and the origin on
//! the other gives a direction along which the shapes are apart, and a lower bound of their distance. A simplex of
//! corners of the set gives an upper bound, and the direction of the next plane (Gilbert, Johnson and Keerthi, 1988;
//! the simplex is that of the narrow phase). A moving shape advances until the plane no longer separates it, which is
//! safe with any such plane, and the corners move with it (van den Bergen, "Ray Casting against General Convex Objects
//! with Application to Continuous Collision Detection", 2004). It never advances too far.
//!
//! Close to the other shape, the difference of two nearly equal points has no direction any more. So a cast first
//! advances to within a skin of the other shape, takes the normal there, and then advances the rest of the way.

use crate::detect::collide::{Convex, gjk::Simplex};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Local, Read, Store, fmax, fmin, sqrt};
use crate::state::rigid::shape;

/// Kinds of queries.
pub mod aim {
    /// How far a shape goes until it meets another.
    pub const CAST: u32 = 0;
    /// Whether two overlap.
    pub const OVERLAP: u32 = 1;
    /// How far two are apart.
    pub const CLOSEST: u32 = 2;
}

/// Most corners that are looked at. What grazes takes the most: its gap is halved each time.
const ROUNDS: u32 = 96;
/// Corners in vain after which no more are looked at.
const STALLS: u32 = 8;
/// Rounding of differences of points, as a part of the size of both shapes.
const ROUNDING: f32 = 1e-6;
/// Distance at which a normal is taken, as a part of the thinner shape's half width, and of the size of both.
const SKIN: f32 = 1e-3;
const SKIN_SIZE: f32 = 1e-5;
/// Part of the distance of the cores by which it may still be wrong.
const PRECISION: f32 = 1e-6;
/// Part of the distance by which it may be wrong where a cast takes its normal: an angle of a fortieth at most.
const FAIR: f32 = 3e-4;

/// Two shapes on their way to each other, between rounds.
#[derive(Clone, Copy)]
pub struct Meeting {
    simplex: Simplex,
    weight: Local<f32, 4>,
    /// The point of the simplex nearest to the origin; before there is one, a direction.
    v: Vec3,
    square: f32,
    /// How far a has gone.
    way: f32,
    /// Whether it went on since it began.
    went: bool,
    /// Whether no corner brings the point nearer.
    settled: bool,
    /// Corners that did not, since a last went on.
    stalls: u32,
    normal: Vec3,
    tolerance: f32,
    skin: f32,
    round: u32,
}

/// What is known after a round.
#[derive(Clone, Copy)]
pub struct Outcome {
    /// Whether it is known.
    pub over: bool,
    /// Whether they meet, overlap, or are near enough.
    pub met: bool,
    /// The way of a cast, or how far they are apart; 0 when they overlap.
    pub distance: f32,
    /// Out of b.
    pub normal: Vec3,
    /// On b.
    pub point: Vec3,
}

/// How far a shape reaches from its middle, or a little more.
#[inline(always)]
fn extent(s: &Convex) -> f32 {
    // The middle of a hull is its centre of mass.
    let off_middle = if s.code == shape::HULL { 2.0 } else { 1.0 };
    off_middle * sqrt(s.p.solid.half.length_squared()) + s.round
}

impl Meeting {
    /// Of a, which has gone `way` along `direction`, and b.
    #[inline(always)]
    pub fn new(a: &Convex, b: &Convex, direction: Vec3, way: f32) -> Self {
        let size = extent(a) + extent(b);
        let plane = b.code == shape::HALF_SPACE;
        let skin = SKIN * fmin(a.thickness, b.thickness) + SKIN_SIZE * size;
        // Where the boxes meet the shapes do not yet, but for rounding.
        let way = fmax(way * (1.0 - 1e-5) - 4.0 * skin, 0.0);
        let between = a.p.solid.centre + direction * way - b.p.solid.centre;
        let apart = if between.length_squared() > 0.0 { between } else { Vec3::Y };
        Self {
            simplex: Simplex::empty(),
            weight: Local::splat(0.0),
            v: if plane { b.p.solid.y } else { apart },
            square: f32::MAX,
            way,
            went: false,
            settled: false,
            stalls: 0,
            normal: -direction,
            tolerance: ROUNDING * size,
            skin,
            round: 0,
        }
    }

    /// One more corner. Nothing farther than `limit` is of interest.
    #[inline(always)]
    pub fn step<const AIM: u32>(
        &mut self,
        hull_vertices: Read<'_, Vec3>,
        a: &Convex,
        b: &Convex,
        direction: Vec3,
        limit: f32,
    ) -> Outcome {
        let casts = AIM == aim::CAST;
        let plane = b.code == shape::HALF_SPACE;
        let around = a.round + b.round;
        let offset = a.p.solid.centre - b.p.solid.centre + direction * self.way;
        let on_a = a.farthest(hull_vertices, -self.v, 0.0);
        let on_b = b.farthest(hull_vertices, self.v, 0.0);
        let corner = on_a - on_b + offset;
        let length = sqrt(self.v.length_squared());
        let n = self.v * (1.0 / fmax(length, 1e-30));
        // They are apart by this at least, and by `most` at most.
        let reached = n.dot(corner) - around;
        let first = self.simplex.count == 0;
        let most = if first { f32::MAX } else { length - around };
        let exact = !first & (most - reached <= PRECISION * length + 0.3 * self.tolerance);
        let converged = exact | self.settled;
        // Good enough for a normal, and to go on.
        let fair = !first & (most - reached <= FAIR * most);

        // Of a plane one corner tells everything.
        let near = (most <= 2.0 * self.skin) | plane;
        let target = if near | (reached <= self.skin) { 0.0 } else { self.skin };
        let closing = -n.dot(direction);
        let parts = casts & (reached > self.tolerance) & (closing <= 0.0);
        let ready = converged | fair | plane | (!near & (reached > 2.0 * self.skin));
        let goes = casts & (reached > self.tolerance) & ready & !parts;
        let on = if goes { (reached - target) / closing } else { 0.0 };
        let normal_holds = !near | plane | (most >= 0.25 * self.skin) | !self.went;
        // Cores of round shapes stay apart, and have a direction to the end.
        let round = self.went & near & (around > 8.0 * self.skin);
        self.normal = if (goes & normal_holds) | round { n } else { self.normal };
        self.way += on;
        self.went |= goes;

        // The corners go on with a. A triangle that was moved gets no fourth corner: which side the origin is on is not
        // known until its nearest point is.
        let shift = direction * on;
        let mut larger = self.simplex;
        let mut k = 0;
        while k < 3 {
            larger.corner.put(k, larger.corner.at(k) + shift);
            k += 1;
        }
        if !(goes & (larger.count == 3)) {
            larger.add(corner + shift, on_a);
        }
        let next = larger.closest();
        let better = next.point.length_squared();
        // What a plane keeps outside, or a simplex without a height holds, is not inside.
        let holds = next.inside & (reached + around <= self.tolerance) & !larger.is_flat(2.0 * self.tolerance);
        let inside = (holds | (better <= self.tolerance * self.tolerance)) & !plane;
        // Close to each other, corners bring the point nearer by less than rounding does to it: some of that is gone
        // along with. What becomes worse begins anew from the last corner.
        let close = most <= 4.0 * self.skin;
        let touches = (reached <= self.tolerance) & ((most <= self.tolerance) | plane | (converged & close));
        let stalled = !first & !goes & (better >= self.square);
        let worse = sqrt(better) > length + self.tolerance;
        let fails = stalled & ((self.stalls >= STALLS) | (worse & (most <= 20.0 * self.tolerance)));
        // The nearest points are those of the simplex before the corner that ends the search.
        let ends = exact & (AIM == aim::CLOSEST);
        let anew = stalled & worse & !fails & !touches & !holds & !ends;
        let held = self.settled;
        self.settled = fails;
        self.stalls = if goes { 0 } else { self.stalls + stalled as u32 };
        if !(holds | fails | anew | plane | ends) {
            self.v = next.point;
            self.square = better;
            let mut weight = self.weight;
            self.simplex = larger.kept(&next, &mut weight);
            self.weight = weight;
        }
        if anew {
            self.v = corner;
            self.square = corner.length_squared();
            self.simplex = Simplex::empty();
            self.simplex.add(corner, on_a);
            self.weight = Local::of([1.0, 0.0, 0.0, 0.0]);
        }
        self.round += 1;
        let last = self.round >= ROUNDS;

        let (over, met, distance);
        if AIM == aim::CAST {
            let far = parts | (self.way > limit);
            let gives_up = (held & fails & !goes) | last;
            let meets = inside | touches | (plane & goes);
            over = far | meets | gives_up;
            met = !far & (meets | (gives_up & close));
            distance = self.way;
        } else if AIM == aim::OVERLAP {
            let apart = reached > 0.0;
            over = apart | inside | (most <= 0.0) | converged | fails | plane | last;
            met = !apart;
            distance = 0.0;
        } else {
            let apart = reached > limit;
            let overlaps = inside | (most <= 0.0) | (plane & (reached <= 0.0));
            over = apart | overlaps | exact | fails | plane | last;
            met = !apart;
            let gap = if plane { reached } else { most };
            distance = if overlaps { 0.0 } else { fmax(gap, 0.0) };
            self.normal = if overlaps { Vec3::ZERO } else { n };
        }

        // What begins inside of another has no point of its surface there.
        let middle = a.p.solid.centre + direction * self.way;
        let core = middle + if plane { on_a } else { self.simplex.point_on_a(&self.weight) };
        let surface = core - self.normal * if casts { a.round } else { a.round + distance };
        let within = if casts { !self.went & (self.way <= 0.0) } else { distance <= 0.0 };
        let point = if within { middle } else { surface };
        Outcome { over, met, distance, normal: self.normal, point }
    }
}
