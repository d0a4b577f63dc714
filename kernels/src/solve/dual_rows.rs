//! `dual` when every row of a contact has a stiffness of its own, as published (Algorithm 1, lines 26 to 35; Eq. 11 and
//! 12).

pub use crate::solve::dual::{Push, TILE};

use crate::detect::manifold::{Head, Manifold, record};
use crate::gpu::glam::UVec4;
use crate::gpu::{Group, Load, OfPoints};
use crate::math::Twist;
use crate::solve::contact::{ContactRules, Moved, Points, Shared, TANGENTS, respond, tangent_stiffness};
use crate::solve::surface::{Surface, Surfaces, any_driven};
use crate::stage;
use crate::state::rigid::Params;

stage! {
    "dual_rows" group 64, wide {
        read 0 params: Params,
        read 1 manifolds: Manifold,
        read 2 deltas: Twist,
        read 3 counters: u32,
        update 4 points: UVec4,
        update 5 features: UVec4,
        update 6 tangent_stiffness: UVec4,
        read 7 surfaces: UVec4,
    }
}

/// Updates a workgroup's manifolds.
#[inline(always)]
pub fn run<F: OfPoints>(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    let solved = b.counters.at(crate::detect::gate::counter::SOLVED);
    let end = if solved < push.limit { solved } else { push.limit };
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
    let heads = F::map(&first, |f| Head::load(&b.points, *f));
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
    let mut points = Points::<F>::load(&b.points, &first);
    points.k_tangents = tangent_stiffness(&b.tangent_stiffness, &items);
    let response = respond(rules, &shared, &points);
    let sticks = response.active & !response.slides;
    // Eq. 12, every row by itself and in the contact's own units: an error as large as the collider adds beta units.
    // Only inside the bounds (section 3.2): a normal that pushes, tangents inside the cone.
    let (error, growth) = (response.error, F::splat(params.beta) * unit / shared.length);
    let grown = |k: F, error: F| (k + growth * error.size()).least(highest);
    let (kt, ku) = points.k_tangents;
    points.k = F::select(response.active, grown(points.k, error.z), points.k);
    let (kt, ku) = (F::select(sticks, grown(kt, error.x), kt), F::select(sticks, grown(ku, error.y), ku));
    let rows = F::map(&items, |i| i.wrapping_mul(TANGENTS));
    kt.store(&mut b.tangent_stiffness, &rows);
    ku.store(&mut b.tangent_stiffness, &F::shift(&rows, 1));
    points.lambda = response.lambda;
    points.lambda.z = points.lambda.z.most(-highest * shared.length);
    points.store_duals(&mut b.points, &first);
    // The sign bit is `STICKS`.
    let held = !(response.active & response.slides);
    F::load(&b.features, &items).signed(held).store(&mut b.features, &items);
}
