//! Multipliers and stiffness of every contact after the bodies have moved (Algorithm 1, lines 26 to 35; Eq. 11 and 12).

use crate::detect::manifold::{Head, Manifold, record, word};
use crate::gpu::glam::UVec4;
use crate::gpu::{Group, Load, OfPoints, least};
use crate::math::Twist;
use crate::solve::contact::{ContactRules, Moved, Points, Shared, respond};
use crate::solve::surface::{Surface, Surfaces, any_driven};
use crate::state::rigid::Params;
use crate::{layout, stage};

stage! {
    "dual" group 64, wide {
        read 0 params: Params,
        read 1 manifolds: Manifold,
        read 2 deltas: Twist,
        read 3 counters: u32,
        update 4 points: UVec4,
        update 5 features: UVec4,
        read 6 surfaces: UVec4,
    }
}

layout! {
    /// Push constants of `dual`.
    pub struct Push {
        /// Room for manifolds.
        pub limit: u32,
    }
}

/// Manifolds of a workgroup.
pub const TILE: u32 = 64;

/// Updates a workgroup's manifolds.
#[inline(always)]
pub fn run<F: OfPoints>(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    let solved = b.counters.at(crate::detect::gate::counter::SOLVED);
    let room = least(b.points.len() / word::COUNT, least(b.features.len(), b.manifolds.len()));
    let end = least(least(solved, push.limit), room);
    let params = b.params.at(0);
    let rules = ContactRules::new(&params, false);
    let mut place = group.lane * F::PARTS;
    while place < TILE {
        let item = group.index * TILE + place;
        if item < end {
            update::<F>(item, end, &params, &rules, b);
        }
        place += group.lanes * F::PARTS;
    }
}

/// Updates the manifold, or as many as are worked on at once.
#[inline(always)]
fn update<F: OfPoints>(item: u32, end: u32, params: &Params, rules: &ContactRules, b: &mut Bindings<'_>) {
    // Beyond the last one, the same once more.
    let items = F::each(|part| if item + part < end { item + part } else { item });
    let manifolds = F::map(&items, |i| b.manifolds.at(*i));
    let on_a = Moved::new(&F::map(&manifolds, |m| b.deltas.at(m.ends.body_a)));
    let on_b = Moved::new(&F::map(&manifolds, |m| b.deltas.at(m.ends.body_b)));
    let (zero, one) = (F::splat(0.0), F::splat(1.0));
    let first = F::map(&items, |i| record(*i));
    // SAFETY: records and features of the items, which are below `end`: `run` has held that against what there is room for. Items
    // come from the number of the workgroup and of the lane, so no other lane has them.
    let (mut own_points, mut own_features) = unsafe { (b.points.own(), b.features.own()) };
    let heads = F::map(&first, |f| Head::load(&own_points, *f));
    let mut shared = Shared::new(&heads, zero.below(one), &on_a, &on_b);
    if any_driven::<F>(&heads) {
        let surface = |part: u32| {
            let driven = F::part(&heads, part).driven;
            if driven { Surface::load(&b.surfaces, F::part(&items, part)) } else { Surface::none() }
        };
        shared = shared.with_surfaces(&Surfaces::<F>::new(surface));
    }
    let unit = F::spread(&manifolds, |m| m.unit);
    let highest = F::splat(params.k_max) * unit;
    let mut points = Points::<F>::load(&own_points, &first);
    let response = respond(rules, &shared, &points);
    let sticks = response.active & !response.slides;
    // Eq. 12 in the contact's own units: an error as large as the collider adds beta units. Only inside the bounds.
    let error = response.error;
    let way = F::select(sticks, (error.x * error.x + error.y * error.y).root(), zero);
    let growth = F::splat(params.beta) * unit / shared.length * (error.z.size() + way);
    points.k = F::select(response.active, (points.k + growth).least(highest), points.k);
    points.lambda = response.lambda;
    points.lambda.z = points.lambda.z.most(-highest * shared.length);
    points.store_duals(&mut own_points, &first);
    // The sign bit is `STICKS`.
    let held = !(response.active & response.slides);
    F::load(&own_features, &items).signed(held).store(&mut own_features, &items);
}
