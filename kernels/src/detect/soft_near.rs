//! Nearest points of a vertex and a triangle, and of two edges; where particles may go in a step; and the pair that two
//! features are if they may meet there. Plain functions, shared by the stages that count pairs and that list them.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Read, abs, fmax, fmin, sqrt};
use crate::layout::Aabb;
use crate::state::soft::Particle;
use crate::state::soft_pairs::{SoftFace, SoftPair, SoftRest, pair_flag};

/// How far a particle may go beyond the way it would go on its own, as a part of the distance to its neighbours. Pairs
/// are listed when this brings them together, so it is less than half of what triangles of a flat cloth are apart.
pub const REACH_LENGTH: f32 = 0.15;
/// The same as a part of that way.
pub const REACH_WAY: f32 = 0.25;
/// Part of the thickness at which a contact is made before it is needed.
pub const NEARLY: f32 = 0.25;
/// Least thickness, as a part of the distance from the origin: some times the gap that planes keep
/// ([`ROUNDED`](crate::solve::soft::pairs::ROUNDED)).
pub const LEAST: f32 = 3e-5;
/// Most of the distance at rest that two particles of one body keep from each other.
pub const OF_REST: f32 = 0.5;

/// Weights of the corners of a triangle at its point that is nearest to `p`. All are relative to the first corner:
/// `p - a`, `b - a`, `c - a`.
#[inline(always)]
pub fn on_triangle(p: Vec3, b: Vec3, c: Vec3) -> Vec3 {
    let (d1, d2) = (b.dot(p), c.dot(p));
    let (bb, bc, cc) = (b.dot(b), b.dot(c), c.dot(c));
    let area = bb * cc - bc * bc;
    let (v, w) = (d1 * cc - d2 * bc, d2 * bb - d1 * bc);
    let inside = (v >= 0.0) & (w >= 0.0) & (v + w <= area) & (area > 0.0);
    let part = 1.0 / fmax(area, 1e-37);
    let mut best = Vec3::new(1.0 - (v + w) * part, v * part, w * part);
    if !inside {
        // The nearest point of the three sides.
        let ab = along(p, b);
        let ac = along(p, c);
        let bc_way = c - b;
        let t = along(p - b, bc_way);
        let (qa, qb) = (b * ab - p, c * ac - p);
        let qc = b + bc_way * t - p;
        let (la, lb, lc) = (qa.length_squared(), qb.length_squared(), qc.length_squared());
        best = Vec3::new(1.0 - ab, ab, 0.0);
        if lb < la {
            best = Vec3::new(1.0 - ac, 0.0, ac);
        }
        if lc < fmin(la, lb) {
            best = Vec3::new(0.0, 1.0 - t, t);
        }
    }
    best
}

/// Where along a line from the origin its point nearest to `p` is, 0 to 1.
#[inline(always)]
fn along(p: Vec3, line: Vec3) -> f32 {
    fmax(0.0, fmin(p.dot(line) / fmax(line.length_squared(), 1e-37), 1.0))
}

/// Where the nearest points of two lines are, 0 to 1 along each: the first from the origin along `u`, the second from
/// `q` along `v`.
#[inline(always)]
pub fn on_edges(u: Vec3, q: Vec3, v: Vec3) -> (f32, f32) {
    let (uu, vv, uv) = (u.dot(u), v.dot(v), u.dot(v));
    let area = uu * vv - uv * uv;
    let mut s = along(q, u);
    if area > 1e-7 * uu * vv {
        s = fmax(0.0, fmin((q.dot(u) * vv - q.dot(v) * uv) / area, 1.0));
    }
    // The best point of the second for it, and once more of the first, in case that one is an end.
    let t = along(u * s - q, v);
    let s = along(q + v * t, u);
    (s, t)
}

/// The displacements that a particle may have at the end of the step: the way it would go on its own, or less, and some
/// more to all sides. All particles stay within, so what is not near with them cannot meet.
#[inline(always)]
pub fn region(particle: &Particle, way: Vec3) -> Aabb {
    let more = Vec3::splat(REACH_LENGTH * particle.length + REACH_WAY * sqrt(way.length_squared()));
    let zero = Vec3::ZERO;
    Aabb {
        min: Vec3::new(fmin(way.x, zero.x), fmin(way.y, zero.y), fmin(way.z, zero.z)) - more,
        max: Vec3::new(fmax(way.x, zero.x), fmax(way.y, zero.y), fmax(way.z, zero.z)) + more,
    }
}

/// The largest component along `n` of what is in a box.
#[inline(always)]
fn farthest(region: &Aabb, n: Vec3) -> f32 {
    let one = |n: f32, low: f32, high: f32| if n > 0.0 { n * high } else { n * low };
    one(n.x, region.min.x, region.max.x) + one(n.y, region.min.y, region.max.y) + one(n.z, region.min.z, region.max.z)
}

/// Corner `i` of a piece, 0 to 3: the first one comes again.
#[inline(always)]
pub fn corner(face: &SoftFace, i: u32) -> u32 {
    let first = if i == 1 { face.b } else { face.a };
    if i == 2 { face.c } else { first }
}

/// Shares of four nodes in the vector between nearest points: of the first, and of the others.
#[derive(Clone, Copy)]
struct Shares {
    a: f32,
    others: Vec3,
}

/// The shares of a vertex and a triangle or of two edges, with the last three nodes relative to the first.
#[inline(always)]
fn shares(edges: bool, b: Vec3, c: Vec3, d: Vec3) -> Shares {
    if edges {
        let (s, t) = on_edges(b, c, d - c);
        Shares { a: 1.0 - s, others: Vec3::new(s, t - 1.0, -t) }
    } else {
        Shares { a: 1.0, others: on_triangle(b * -1.0, c - b, d - b) * -1.0 }
    }
}

/// What pairs are made from.
#[derive(Clone, Copy)]
pub struct Near<'a> {
    /// Particles.
    pub particles: Read<'a, Particle>,
    /// Where they are.
    pub positions: Read<'a, Vec3>,
    /// Where they may go.
    pub regions: Read<'a, Aabb>,
    /// Where they are at rest.
    pub rests: Read<'a, SoftRest>,
}

impl Near<'_> {
    /// The pair of four nodes; [`SoftPair::flags`] tells apart what they are. Its normal is zero if they cannot meet.
    #[inline(always)]
    pub fn pair(&self, edges: bool, (a, b): (u32, u32), (c, d): (u32, u32)) -> SoftPair {
        let mut pair = SoftPair {
            a,
            b,
            c,
            d,
            flags: if edges { pair_flag::EDGES } else { 0 },
            other: 0,
            features: 0,
            wa: 0.0,
            wb: 0.0,
            wc: 0.0,
            wd: 0.0,
            normal: Vec3::ZERO,
            ha: 0.0,
            hb: 0.0,
            hc: 0.0,
            hd: 0.0,
            thickness: 0.0,
            error: Vec3::ZERO,
            lambda: Vec3::ZERO,
            way: Vec3::ZERO,
            slid: Vec3::ZERO,
            k: 0.0,
            unit: 0.0,
            most: 0.0,
            friction: 0.0,
            cached: 0,
        };
        let apart = (a != c) & (a != d) & (b != c) & (b != d) & (edges | (a != b));
        if apart {
            let (upper, lower) = (self.particles.at(a), self.particles.at(d));
            let sees = (upper.groups & lower.mask != 0) & (lower.groups & upper.mask != 0);
            let there = (upper.mass > 0.0) & (lower.mass > 0.0) & (upper.radius >= 0.0) & (lower.radius >= 0.0);
            if sees & there {
                self.meet(&mut pair, edges, &upper, &lower);
            }
        }
        pair
    }

    #[inline(always)]
    fn meet(&self, pair: &mut SoftPair, edges: bool, upper: &Particle, lower: &Particle) {
        let from = self.positions.at(pair.a);
        let (b, c) = (self.positions.at(pair.b) - from, self.positions.at(pair.c) - from);
        let d = self.positions.at(pair.d) - from;
        let share = shares(edges, b, c, d);
        // The weights add up to nothing, so the first node, from which all are measured, drops out.
        let between = b * share.others.x + c * share.others.y + d * share.others.z;
        let distance = sqrt(between.length_squared());
        let n = between * (1.0 / fmax(distance, 1e-30));
        let mut thickness = upper.radius + lower.radius;
        if upper.owner == lower.owner {
            pair.flags |= pair_flag::INNER;
            let rest = self.rests.at(pair.a).position;
            let (b, c) = (self.rests.at(pair.b).position - rest, self.rests.at(pair.c).position - rest);
            let d = self.rests.at(pair.d).position - rest;
            let w = shares(edges, b, c, d).others;
            let at_rest = sqrt((b * w.x + c * w.y + d * w.z).length_squared());
            thickness = fmin(thickness, OF_REST * at_rest);
        }
        // Without any thickness nothing would push them, and they would press on planes with ever more speed.
        thickness = fmax(thickness, LEAST * (abs(from.x) + abs(from.y) + abs(from.z)));
        // How far regions let both sides come towards each other.
        let down = n * -1.0;
        let (ra, rb) = (self.regions.at(pair.a), self.regions.at(pair.b));
        let (rc, rd) = (self.regions.at(pair.c), self.regions.at(pair.d));
        let of_b = farthest(&rb, if edges { down } else { n });
        let of_a = farthest(&ra, down);
        let comes_down = if edges { fmax(of_a, of_b) } else { of_a };
        let mut comes_up = fmax(farthest(&rc, n), farthest(&rd, n));
        comes_up = if edges { comes_up } else { fmax(comes_up, of_b) };
        let may_meet = distance <= comes_down + comes_up + thickness * (1.0 + NEARLY);
        if may_meet & (distance > 1e-12) {
            (pair.wa, pair.wb) = (share.a, share.others.x);
            (pair.wc, pair.wd) = (share.others.y, share.others.z);
            pair.normal = n;
            pair.thickness = thickness;
            // Above the lower nearest point, which lies `distance` below the upper one.
            let upper_point = if edges { b * share.others.x } else { Vec3::ZERO };
            let height = |x: Vec3| (x - upper_point).dot(n) + distance;
            pair.ha = height(Vec3::ZERO);
            pair.hb = height(b);
            pair.hc = height(c);
            pair.hd = height(d);
            let mut colours = 0;
            let (ka, kb) = (self.rests.at(pair.a).colour, self.rests.at(pair.b).colour);
            let (kc, kd) = (self.rests.at(pair.c).colour, self.rests.at(pair.d).colour);
            colours |= ((ka == kc) | (ka == kd)) as u32;
            colours |= if edges { ((kb == kc) | (kb == kd)) as u32 } else { (ka == kb) as u32 };
            pair.flags |= if colours != 0 { pair_flag::AT_ONCE } else { 0 };
        }
    }
}
