//! One colour's bodies, each moved to where its forces balance (Algorithm 1, lines 9 to 21). One lane a body.
//!
//! The fallback, bodies without a colour of their own, is solved by one lane, one body after the other: slow, and right.

use crate::gpu::{Load, Store, glam::Vec3};
use crate::math::{Pose, Rotation, Twist, tangents};
use crate::rigid::{Body, Manifold, POINTS, Params, Point, row};
use crate::solve::{Moved, Sum, System, is_finite, respond, turned};
use crate::{layout, stage};

stage! {
    "primal" each 64 {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 starts: Pose,
        read 3 targets: Pose,
        read 4 manifolds: Manifold,
        read 5 points: Point,
        read 6 rows: u32,
        read 7 entries: u32,
        read 8 ranges: u32,
        read 9 order: u32,
        update 10 poses: Pose,
        update 11 deltas: Twist,
    }
}

layout! {
    /// Push constants of `primal`.
    pub struct Push {
        /// The colour.
        pub colour: u32,
        /// Not 0: the first lane solves all bodies in turn.
        pub serial: u32,
    }
}

/// Solves one body of the colour, or all of them.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let mut at = b.ranges.at(push.colour * 2) + item;
    let last = b.ranges.at(push.colour * 2 + 1);
    let end = if push.serial == 0 {
        if at < last { at + 1 } else { at }
    } else if item == 0 {
        last
    } else {
        at
    };
    while at < end {
        let body = b.order.at(at);
        solve(body, b);
        at += 1;
    }
}

#[inline(always)]
fn solve(index: u32, b: &mut Bindings<'_>) {
    let params = b.params.at(0);
    let body = b.bodies.at(index);
    let pose = b.poses.at(index);
    let mine = b.deltas.at(index);
    let target = b.targets.at(index);
    let displaced = Twist {
        linear: mine.linear - target.position,
        angular: turned(&target.rotation, &pose.rotation),
    };
    let mut system = System::inertial(body.mass, body.inertia, &pose.rotation, &displaced, params.dt);

    let row = row(&b.rows, index);
    let mut e = row.start;
    while e < row.end {
        let manifold = b.entries.at(e) >> 1;
        b.manifolds.prefetch(manifold, 1);
        b.points.prefetch(manifold * POINTS, POINTS);
        e += 1;
    }
    e = row.start;
    while e < row.end {
        let entry = b.entries.at(e);
        let manifold = b.manifolds.at(entry >> 1);
        let is_a = entry & 1 == 0;
        let theirs = b.deltas.at(if is_a { manifold.body_b } else { manifold.body_a });
        let basis = tangents(manifold.normal);
        let a = if is_a { mine } else { theirs };
        let c = if is_a { theirs } else { mine };
        let moved = Moved::new(&manifold, &a, &c);
        let (offset, side) = if is_a { (Vec3::ZERO, 1.0) } else { (manifold.offset, -1.0) };
        let mut sum = Sum::none();
        let mut k = 0;
        while k < manifold.count {
            let point = b.points.at((entry >> 1) * POINTS + k);
            let response = respond(&params, &manifold, &point, basis, &moved);
            sum.add(&response, manifold.normal, basis, point.lever + offset);
            k += 1;
        }
        system.add(&sum, manifold.normal, basis, side);
        e += 1;
    }

    let step = system.solve();
    if is_finite(&step) {
        // The way since the start is kept by itself: next to a large position its small changes would be rounded away.
        let start = b.starts.at(index);
        let linear = mine.linear + step.linear;
        let rotation = Rotation::exp(step.angular).then_after(&pose.rotation).normalized();
        b.poses.put(index, Pose { position: start.position + linear, rotation });
        b.deltas.put(index, Twist { linear, angular: turned(&start.rotation, &rotation) });
    }
}
