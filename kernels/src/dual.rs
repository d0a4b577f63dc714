//! Multipliers and stiffness of every contact after the bodies have moved (Algorithm 1, lines 26 to 35; Eq. 11 and 12).

use crate::gpu::{Load, Real, Store, Wide};
use crate::math::{Twist, tangents};
use crate::rigid::{Manifold, POINTS, Params, Point, STICKS};
use crate::solve::{Moved, Points, respond};
use crate::{layout, stage};

stage! {
    "dual" each 64 {
        read 0 params: Params,
        read 1 manifolds: Manifold,
        read 2 deltas: Twist,
        read 3 counters: u32,
        update 4 points: Point,
    }
}

layout! {
    /// Push constants of `dual`.
    pub struct Push {
        /// Room for manifolds.
        pub limit: u32,
        /// Most that an iteration adds, as a part of the stiffness there is.
        pub growth: f32,
    }
}

/// Updates one manifold.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit || item >= b.counters.at(crate::gate::counter::SOLVED) {
        return;
    }
    let params = b.params.at(0);
    let manifold = b.manifolds.at(item);
    let (a, c) = (b.deltas.at(manifold.body_a), b.deltas.at(manifold.body_b));
    let basis = tangents(manifold.normal);
    let moved = Moved::new(&manifold, &a, &c);
    let highest = params.k_max * manifold.unit;
    // Eq. 12 in the contact's own units: beta |C| over the length, of a unit of stiffness or of what there already is.
    // Growing in proportion lets a contact under ten thousand times its own mass stiffen within a few steps. Errors
    // within the tolerance add nothing: stiffness beyond need makes tall stacks tremble at few iterations. Nor does a
    // step more than double it: what an impact asks for is gone in the next step, and would throw bodies apart.
    let splat = Wide::splat;
    let ramped = |k: Wide, error: Wide| {
        let excess = (error / splat(manifold.length) - splat(params.tolerance)).most(splat(0.0));
        let growth = (splat(params.beta) * excess).least(splat(push.growth));
        (k + growth * k.most(splat(manifold.unit))).least(splat(highest))
    };
    let mut k = 0;
    while k < manifold.count {
        let first = item * POINTS + k;
        let points = Points::<Wide>::load(&b.points, first, manifold.count - k);
        let response = respond(&params, &manifold, &points, basis, &moved);
        // Stiffness grows only inside the bounds.
        let sticks = response.active & !response.slides;
        let error = response.error;
        let way = (error.x * error.x + error.y * error.y).root();
        let k_normal = Wide::select(response.active, ramped(points.k_normal, error.z.size()), points.k_normal);
        let k_tangent = Wide::select(sticks, ramped(points.k_tangent, way), points.k_tangent);
        let mut i = 0;
        while i < Wide::WIDTH && k + i < manifold.count {
            let mut point = b.points.at(first + i);
            point.lambda = response.lambda.at(i);
            point.k_normal = k_normal.at(i);
            point.k_tangent = k_tangent.at(i);
            point.feature = if Wide::is(sticks, i) { point.feature | STICKS } else { point.feature & !STICKS };
            b.points.put(first + i, point);
            i += 1;
        }
        k += Wide::WIDTH;
    }
}
