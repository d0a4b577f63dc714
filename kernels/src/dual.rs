//! Multipliers and stiffness of every contact after the bodies have moved (Algorithm 1, lines 26 to 35; Eq. 11 and 12).

use crate::gpu::{Load, Store, abs, fmax, fmin, sqrt};
use crate::math::{Twist, tangents};
use crate::rigid::{Manifold, POINTS, Params, Point, STICKS};
use crate::solve::{Moved, respond};
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
    let ramped = |k: f32, error: f32| {
        let excess = fmax(0.0, error / manifold.length - params.tolerance);
        let k = k + fmin(params.beta * excess, push.growth) * fmax(manifold.unit, k);
        if k < highest { k } else { highest }
    };
    let mut k = 0;
    while k < manifold.count {
        let mut point = b.points.at(item * POINTS + k);
        let response = respond(&params, &manifold, &point, basis, &moved);
        point.lambda = response.lambda;
        // Stiffness grows only inside the bounds.
        if response.active {
            point.k_normal = ramped(point.k_normal, abs(response.error.z));
            if !response.slides {
                let way = sqrt(response.error.x * response.error.x + response.error.y * response.error.y);
                point.k_tangent = ramped(point.k_tangent, way);
            }
        }
        let sticks = response.active && !response.slides;
        point.feature = if sticks { point.feature | STICKS } else { point.feature & !STICKS };
        b.points.put(item * POINTS + k, point);
        k += 1;
    }
}
