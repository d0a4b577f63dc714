//! Gives every island of `islands` the momentum it must have.
//!
//! Bodies are solved one colour after the other, so after a few iterations the forces that two bodies felt of each other are not
//! equal and opposite: the one solved earlier felt where the other one was before. In sum an impact is off by some percent, and a
//! ragdoll falls too slowly. But whatever the bodies of an island do to each other adds up to nothing, so with y the targets of its
//! bodies and x where the iterations brought them, it lacks
//!
//! ```text
//! p = sum m (y - x)        l = sum r x m (y - x) + I log(y / x)        times 1/dt, the momentum
//! ```
//!
//! with r from the island's centre of mass c to where each body is when forces act on it, and I its inertia. That is 0 when the iterations have
//! converged: what backward Euler itself takes from a rotation is not given back, energy would come from it. All bodies of the island get
//! p and l as one rigid motion, p / sum m and J^-1 l about c, J the inertia of the whole: of all motions that restore the momentum
//! it takes the least energy, and none of the contacts and joints in between notices.
//!
//! The bodies of an island lie side by side in `members`. Islands up to 64 bodies are a lane's work, a longer one is that of the
//! workgroup in whose tile it begins, where no other one so long can begin. Sums are made in a fixed order.

use crate::gpu::{Group, Load, Store, glam::Vec3, sqrt};
use crate::math::{Pose, Rotation, Twist, inertia};
use crate::rigid::{Body, row};
use crate::solve::is_finite;
use crate::{layout, stage};

stage! {
    "momentum" group 64, shared f32 64 {
        read 0 bodies: Body,
        read 1 starts: Pose,
        read 2 targets: Pose,
        read 3 islands: u32,
        read 4 members: u32,
        update 5 poses: Pose,
        update 6 deltas: Twist,
        read 7 joint_links: u32,
    }
}

layout! {
    /// Push constants of `momentum`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Not 0: there are joints.
        pub joints: u32,
    }
}

/// Places in the list of members that a workgroup looks at.
pub const TILE: u32 = 64;

/// Members that are added up by themselves before they are added to others: less is lost to rounding.
const BLOCK: u32 = 64;

/// Largest turn, radians: the motion is rigid to first order only.
const MOST: f32 = 0.2;

/// Corrects the islands that begin in a workgroup's tile.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    let first = group.index * TILE;
    let mut place = first + group.lane;
    while place < first + TILE {
        let end = end_of_short(place, push.count, b);
        if end > place {
            correct(group, shared, &Part { first: place, end, step: 1, together: false }, push, b);
        }
        place += group.lanes;
    }
    // The last that begins in the tile is the only one that may be longer than it. All lanes find the same.
    let mut start = least(first + TILE, push.count);
    while start > first && !begins(start - 1, push.count, b) {
        start -= 1;
    }
    if start > first && end_of_short(start - 1, push.count, b) == 0 {
        let end = end_of(start - 1, push.count, b);
        correct(group, shared, &Part { first: start - 1 + group.lane, end, step: group.lanes, together: true }, push, b);
    }
}

/// What a lane works on: every `step`-th member from `first` to `end`, with or without the others of its workgroup.
struct Part {
    first: u32,
    end: u32,
    step: u32,
    together: bool,
}

#[inline(always)]
fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// Whether an island begins at a place.
#[inline(always)]
fn begins(place: u32, count: u32, b: &Bindings<'_>) -> bool {
    let mut begins = false;
    if place < count {
        let key = b.islands.at(place);
        begins = key < count && (place == 0 || b.islands.at(place - 1) != key);
    }
    begins
}

/// Where the island that begins at a place ends; 0 if none does, or a long one.
#[inline(always)]
fn end_of_short(place: u32, count: u32, b: &Bindings<'_>) -> u32 {
    let mut end = 0;
    if begins(place, count, b) {
        let key = b.islands.at(place);
        let last = least(place + TILE, count);
        end = place + 1;
        while end < last && b.islands.at(end) == key {
            end += 1;
        }
        if end < count && b.islands.at(end) == key {
            end = 0;
        }
    }
    end
}

/// Where the island that begins at a place ends: keys are sorted.
#[inline(always)]
fn end_of(place: u32, count: u32, b: &Bindings<'_>) -> u32 {
    let key = b.islands.at(place);
    let (mut low, mut high) = (place, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if b.islands.at(middle) <= key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// What is added up over the members: a number and two vectors.
#[derive(Clone, Copy)]
struct Sum {
    one: f32,
    two: Vec3,
    three: Vec3,
}

impl Sum {
    #[inline(always)]
    fn none() -> Self {
        Self { one: 0.0, two: Vec3::ZERO, three: Vec3::ZERO }
    }

    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        Self { one: self.one + other.one, two: self.two + other.two, three: self.three + other.three }
    }

    /// Over all lanes that work on it.
    #[inline(always)]
    fn total(&self, group: &Group, shared: &mut Shared, together: bool) -> Self {
        let mut total = *self;
        if together {
            total.one = sum(group, shared, self.one);
            total.two = sums(group, shared, self.two);
            total.three = sums(group, shared, self.three);
        }
        total
    }
}

#[inline(always)]
fn sums(group: &Group, shared: &mut Shared, v: Vec3) -> Vec3 {
    Vec3::new(sum(group, shared, v.x), sum(group, shared, v.y), sum(group, shared, v.z))
}

/// The sum over a workgroup, by a fixed tree.
#[inline(always)]
fn sum(group: &Group, shared: &mut Shared, value: f32) -> f32 {
    shared.put(group.lane, value);
    group.barrier();
    let mut half = group.lanes / 2;
    while half > 0 {
        if group.lane < half {
            let folded = shared.at(group.lane) + shared.at(group.lane + half);
            shared.put(group.lane, folded);
        }
        group.barrier();
        half /= 2;
    }
    let total = shared.at(0);
    group.barrier();
    total
}

/// Moves an island so that it has its momentum.
#[inline(always)]
fn correct(group: &Group, shared: &mut Shared, part: &Part, push: &Push, b: &mut Bindings<'_>) {
    // Mass, centre and what is lacking of linear momentum. Places count from the first member, next to which they are small.
    let origin = b.starts.at(b.members.at(part.first)).position;
    let origin = if part.together { sums(group, shared, if group.lane == 0 { origin } else { Vec3::ZERO }) } else { origin };
    let (mut all, mut block) = (Sum::none(), Sum::none());
    let (mut place, mut n) = (part.first, 0);
    while place < part.end {
        let index = b.members.at(place);
        let mass = b.bodies.at(index).mass;
        let lack = b.targets.at(index).position - b.deltas.at(index).linear;
        block = block.plus(&Sum { one: mass, two: (b.starts.at(index).position - origin) * mass, three: lack * mass });
        n += 1;
        if n == BLOCK {
            (all, block, n) = (all.plus(&block), Sum::none(), 0);
        }
        place += part.step;
    }
    let all = all.plus(&block).total(group, shared, part.together);
    let ease = 1.0 / all.one;
    let (centre, shift) = (origin + all.two * ease, all.three * ease);

    // Inertia about the centre, and what is lacking of angular momentum.
    let (mut inertias, mut block) = (Sum::none(), Sum::none());
    let (mut lacks, mut lack) = (Vec3::ZERO, Vec3::ZERO);
    let (mut place, mut n) = (part.first, 0);
    while place < part.end {
        let index = b.members.at(place);
        let (body, start, delta) = (b.bodies.at(index), b.starts.at(index), b.deltas.at(index));
        let (target, pose) = (b.targets.at(index), b.poses.at(index));
        let r = start.position - centre;
        // Forces of contacts act at the places of the start, those of joints where they are now.
        let mut lever = r;
        if push.joints != 0 {
            let links = row(&b.joint_links, index);
            lever += if links.start < links.end { delta.linear } else { Vec3::ZERO };
        }
        let back = target.rotation.then_after(&pose.rotation.inverse()).log();
        lack += lever.cross(target.position - delta.linear) * body.mass + inertia(&pose.rotation, body.inertia, back);
        let (diagonal, off) = inertia_about(&body, &start.rotation, r);
        block = block.plus(&Sum { one: 0.0, two: diagonal, three: off });
        n += 1;
        if n == BLOCK {
            (inertias, block, n) = (inertias.plus(&block), Sum::none(), 0);
            (lacks, lack) = (lacks + lack, Vec3::ZERO);
        }
        place += part.step;
    }
    let inertias = inertias.plus(&block).total(group, shared, part.together);
    lacks += lack;
    if part.together {
        lacks = sums(group, shared, lacks);
    }
    let turn = solve(inertias.two, inertias.three, lacks);
    let square = turn.length_squared();
    let turn = if square > MOST * MOST { turn * (MOST / sqrt(square)) } else { turn };

    if is_finite(&Twist { linear: shift, angular: turn }) {
        let more = Rotation::exp(turn);
        let mut place = part.first;
        while place < part.end {
            let index = b.members.at(place);
            let start = b.starts.at(index);
            let linear = b.deltas.at(index).linear + shift + turn.cross(start.position - centre);
            let rotation = more.then_after(&b.poses.at(index).rotation).normalized();
            let angular = rotation.then_after(&start.rotation.inverse()).log();
            b.deltas.put(index, Twist { linear, angular });
            b.poses.put(index, Pose { position: start.position + linear, rotation });
            place += part.step;
        }
    }
}

/// Inertia of a body about a point at `r` from it: the diagonal, and xy, xz, yz off it.
#[inline(always)]
fn inertia_about(body: &Body, rotation: &Rotation, r: Vec3) -> (Vec3, Vec3) {
    let i = body.inertia;
    let (x, y, z) = (rotation.apply(Vec3::X), rotation.apply(Vec3::Y), rotation.apply(Vec3::Z));
    let mixed = |v: Vec3| Vec3::new(v.x * v.y, v.x * v.z, v.y * v.z);
    let diagonal = x * x * i.x + y * y * i.y + z * z * i.z + (Vec3::splat(r.length_squared()) - r * r) * body.mass;
    (diagonal, mixed(x) * i.x + mixed(y) * i.y + mixed(z) * i.z - mixed(r) * body.mass)
}

/// What the symmetric matrix with this diagonal, and xy, xz, yz off it, maps to `v`: by L D L^T.
#[inline(always)]
fn solve(diagonal: Vec3, off: Vec3, v: Vec3) -> Vec3 {
    let (yx, zx) = (off.x / diagonal.x, off.y / diagonal.x);
    let second = diagonal.y - yx * off.x;
    let rest = off.z - zx * off.x;
    let zy = rest / second;
    let third = diagonal.z - zx * off.y - zy * rest;
    let y = v.y - yx * v.x;
    let z = (v.z - zx * v.x - zy * y) / third;
    let y = y / second - zy * z;
    Vec3::new(v.x / diagonal.x - yx * y - zx * z, y, z)
}
