//! Multipliers and stiffness of every contact after the bodies have moved (Algorithm 1, lines 26 to 35; Eq. 11 and 12).

use crate::gpu::{Load, Real, Store, Vector, Wide};
use crate::math::{Twist, tangents};
use crate::rigid::{Manifold, POINTS, Params, Point, STICKS};
use crate::solve::{Moved, Points, Rules, respond};
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
    let rules = Rules::new(&params, false);
    let splat = Wide::splat;
    let highest = params.k_max * manifold.unit;
    let strongest = splat(-highest * manifold.length);
    let mut k = 0;
    while k < manifold.count {
        let first = item * POINTS + k;
        let points = Points::<Wide>::load(&b.points, first, manifold.count - k);
        let response = respond(&rules, &manifold, &points, basis, &moved);
        let sticks = response.active & !response.slides;
        // Eq. 12 in the contact's own units: an error as large as the collider adds beta units. Only inside the bounds.
        let error = response.error;
        let way = Wide::select(sticks, (error.x * error.x + error.y * error.y).root(), splat(0.0));
        let growth = splat(params.beta * manifold.unit / manifold.length) * (error.z.size() + way);
        let stiffness = Wide::select(response.active, (points.k + growth).least(splat(highest)), points.k);
        let lambda = Vector::new(response.lambda.x, response.lambda.y, response.lambda.z.most(strongest));
        let mut i = 0;
        while i < Wide::WIDTH && k + i < manifold.count {
            let mut point = b.points.at(first + i);
            point.lambda = lambda.at(i);
            point.k = stiffness.at(i);
            let slides = Wide::is(response.active & response.slides, i);
            point.feature = if slides { point.feature & !STICKS } else { point.feature | STICKS };
            b.points.put(first + i, point);
            i += 1;
        }
        k += Wide::WIDTH;
    }
}
