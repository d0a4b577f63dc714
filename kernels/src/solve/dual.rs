//! Dual pass: updates multipliers and stiffness of every contact after the bodies have moved (Algorithm 1, lines 26 to
//! 35; Eq. 11 and 12).
//!
//! Reads `deltas`; writes multipliers and stiffness in the records of the manifolds, and the sticking flag in
//! `features`. One lane owns each manifold.
//!
//! `dual_rows` is the same stage with one stiffness a row; what one of the two does not need is not compiled into it.

use crate::detect::manifold::{Head, Manifold, record};
#[cfg(not(target_arch = "spirv"))]
use crate::gpu::Buffer;
use crate::gpu::glam::UVec4;
use crate::gpu::{Group, OfPoints, Own, Read, least};
use crate::layout;
use crate::math::Twist;
use crate::solve::contact::{ContactRules, Moved, Points, Shared, respond};
use crate::solve::surface::{Surface, Surfaces, any_driven};
use crate::state::rigid::Params;

layout! {
    /// Push constants of `dual`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
    }
}

/// Manifolds of a workgroup.
pub const TILE: u32 = 64;
/// Points of a manifold.
const POINTS: u32 = 4;

/// What a stage of the dual family reads and writes.
pub trait Bound {
    /// Whether every row of a contact has a stiffness of its own.
    const ROWS: bool;
    /// Settings.
    fn params(&self) -> Params;
    /// Number of manifolds to update: those that are solved, limited to the shortest list.
    fn solved(&self) -> u32;
    /// A manifold.
    fn manifold(&self, index: u32) -> Manifold;
    /// How far a body has moved since the start of the step.
    fn delta(&self, index: u32) -> Twist;
    /// Records of manifolds, features of their points, and the surfaces.
    ///
    /// # Safety
    /// As for [`Write::own`](crate::gpu::Write::own). Manifolds below [`Bound::solved`] are within records and
    /// features.
    unsafe fn own(&mut self) -> (Own<'_, UVec4>, Own<'_, UVec4>, Read<'_, UVec4>);
    /// Stiffness of the tangent rows, when every row has its own.
    #[inline(always)]
    fn tangents<F: OfPoints>(&self, _manifolds: &F::Each<u32>, _point: u32) -> (F, F) {
        (F::splat(0.0), F::splat(0.0))
    }
    /// Writes the stiffness of the tangent rows.
    #[inline(always)]
    fn put_tangents<F: OfPoints>(&mut self, _manifolds: &F::Each<u32>, _point: u32, _k: (F, F)) {}
}

/// Buffers of a recording that stages of the family are bound to; each takes those that it has.
#[cfg(not(target_arch = "spirv"))]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "fields have the names of the bindings")]
pub struct Buffers {
    pub params: Buffer<Params>,
    pub manifolds: Buffer<Manifold>,
    pub deltas: Buffer<Twist>,
    pub counters: Buffer<u32>,
    pub points: Buffer<UVec4>,
    pub features: Buffer<UVec4>,
    pub tangent_stiffness: Buffer<UVec4>,
    pub surfaces: Buffer<UVec4>,
}

/// Declares a stage of the family: `stage!`, `run`, and how they get at the buffers.
macro_rules! dual_stage {
    ($name:literal, rows $rows:tt { $($access:ident $binding:tt $field:ident : $ty:ty,)* }) => {
        $crate::stage! {
            $name group 64, wide {
                read 0 params: $crate::state::rigid::Params,
                read 1 manifolds: $crate::detect::manifold::Manifold,
                read 2 deltas: $crate::math::Twist,
                read 3 counters: u32,
                update 4 points: $crate::gpu::glam::UVec4,
                update 5 features: $crate::gpu::glam::UVec4,
                $($access $binding $field: $ty,)*
            }
        }

        #[cfg(not(target_arch = "spirv"))]
        impl Bind {
            /// Those buffers of the family that the stage has.
            pub fn of(all: &$crate::solve::dual::Buffers) -> Self {
                Self {
                    params: all.params,
                    manifolds: all.manifolds,
                    deltas: all.deltas,
                    counters: all.counters,
                    points: all.points,
                    features: all.features,
                    $($field: all.$field,)*
                }
            }
        }

        impl $crate::solve::dual::Bound for Bindings<'_> {
            const ROWS: bool = $rows;
            #[inline(always)]
            fn params(&self) -> $crate::state::rigid::Params {
                $crate::gpu::Load::at(&self.params, 0)
            }
            #[inline(always)]
            fn solved(&self) -> u32 {
                use $crate::gpu::least;
                let solved = $crate::gpu::Load::at(&self.counters, $crate::detect::gate::counter::SOLVED);
                let records = self.points.len() / $crate::detect::manifold::word::COUNT;
                least(solved, least(records, least(self.features.len(), self.manifolds.len())))
            }
            #[inline(always)]
            fn manifold(&self, index: u32) -> $crate::detect::manifold::Manifold {
                $crate::gpu::Load::at(&self.manifolds, index)
            }
            #[inline(always)]
            fn delta(&self, index: u32) -> $crate::math::Twist {
                $crate::gpu::Load::at(&self.deltas, index)
            }
            #[inline(always)]
            unsafe fn own(
                &mut self,
            ) -> (
                $crate::gpu::Own<'_, $crate::gpu::glam::UVec4>,
                $crate::gpu::Own<'_, $crate::gpu::glam::UVec4>,
                $crate::gpu::Read<'_, $crate::gpu::glam::UVec4>,
            ) {
                // SAFETY: the contract is the caller's.
                unsafe { (self.points.own(), self.features.own(), self.surfaces) }
            }
            $crate::solve::dual::dual_stage! { @rows $rows }
        }

        /// Updates a workgroup's manifolds.
        #[inline(always)]
        pub fn run<F: $crate::gpu::OfPoints>(group: &$crate::gpu::Group, push: &Push, b: &mut Bindings<'_>) {
            $crate::solve::dual::update_all::<F, _>(group, push, b);
        }
    };
    (@rows true) => {
        #[inline(always)]
        fn tangents<F: $crate::gpu::OfPoints>(&self, manifolds: &F::Each<u32>, point: u32) -> (F, F) {
            $crate::solve::contact::tangent_stiffness(&self.tangent_stiffness, manifolds, point)
        }
        #[inline(always)]
        fn put_tangents<F: $crate::gpu::OfPoints>(&mut self, manifolds: &F::Each<u32>, point: u32, k: (F, F)) {
            let rows = F::map(manifolds, |i| i.wrapping_mul($crate::solve::contact::TANGENTS));
            k.0.store(&mut self.tangent_stiffness, &rows, point);
            k.1.store(&mut self.tangent_stiffness, &F::shift(&rows, 1), point);
        }
    };
    (@rows false) => {};
}
pub(crate) use dual_stage;

dual_stage! {
    "dual", rows false {
        read 6 surfaces: UVec4,
    }
}

/// Updates this workgroup's manifolds. Shared by both stages of the family.
#[inline(always)]
pub fn update_all<F: OfPoints, B: Bound>(group: &Group, push: &Push, b: &mut B) {
    let end = least(b.solved(), push.limit);
    let params = b.params();
    let rules = ContactRules::new(&params, false);
    let mut place = group.lane * F::PARTS;
    while place < TILE {
        let item = group.index * TILE + place;
        if item < end {
            update::<F, B>(item, end, &params, &rules, b);
        }
        place += group.lanes * F::PARTS;
    }
}

/// Updates one manifold, or on the CPU as many as are processed at once.
#[inline(always)]
fn update<F: OfPoints, B: Bound>(item: u32, end: u32, params: &Params, rules: &ContactRules, b: &mut B) {
    // Parts beyond the last manifold repeat this one.
    let items = F::each(|part| if item + part < end { item + part } else { item });
    let manifolds = F::map(&items, |i| b.manifold(*i));
    let on_a = Moved::new(&F::map(&manifolds, |m| b.delta(m.ends.body_a)));
    let on_b = Moved::new(&F::map(&manifolds, |m| b.delta(m.ends.body_b)));
    let (zero, one) = (F::splat(0.0), F::splat(1.0));
    let first = F::map(&items, |i| record(*i));
    // SAFETY: records and features of the items, which are below `end`, and so below what there is room for. Items come
    // from the number of the workgroup and of the lane, so no other lane has them.
    let (own_points, _, surfaces) = unsafe { b.own() };
    let heads = F::map(&first, |f| Head::load(&own_points, *f));
    let mut shared = Shared::new(&heads, zero.below(one), &on_a, &on_b);
    if any_driven::<F>(&heads) {
        let surface = |part: u32| {
            let driven = F::part(&heads, part).driven;
            if driven { Surface::load(&surfaces, F::part(&items, part)) } else { Surface::none() }
        };
        shared = shared.with_surfaces(&Surfaces::<F>::new(surface));
    }
    let unit = F::spread(&manifolds, |m| m.unit);
    let mut point = 0;
    while point < POINTS {
        update_points::<F, B>((&items, &first, point), unit, &shared, params, rules, b);
        point += F::POINTS;
    }
}

/// Updates the points of manifolds, on a GPU one of them.
#[inline(always)]
fn update_points<F: OfPoints, B: Bound>(
    (items, first, point): (&F::Each<u32>, &F::Each<u32>, u32),
    unit: F,
    shared: &Shared<F>,
    params: &Params,
    rules: &ContactRules,
    b: &mut B,
) {
    let zero = F::splat(0.0);
    let highest = F::splat(params.k_max) * unit;
    let (mut kt, mut ku) = b.tangents::<F>(items, point);
    // SAFETY: as in `update`.
    let (mut own_points, mut own_features, _) = unsafe { b.own() };
    let mut points = Points::<F>::load(&own_points, first, point);
    if B::ROWS {
        points.k_tangents = (kt, ku);
    }
    let response = respond(rules, shared, &points);
    let sticks = response.active & !response.slides;
    // Eq. 12, with stiffness in units of `unit` and errors in sizes of the collider: an error of one size adds beta
    // units. Only for rows within their bounds (section 3.2): a normal row that pushes, tangent rows inside the
    // friction cone.
    let (error, growth) = (response.error, F::splat(params.beta) * unit / shared.length);
    let mut off = error.z.size();
    if B::ROWS {
        let grown = |k: F, error: F| F::select(sticks, (k + growth * error.size()).least(highest), k);
        (kt, ku) = (grown(kt, error.x), grown(ku, error.y));
    } else {
        // One stiffness serves all rows of a point, so it grows with the error of all of them.
        off = off + F::select(sticks, (error.x * error.x + error.y * error.y).root(), zero);
    }
    let mut grown = points.k + growth * off;
    if !B::ROWS {
        // A fast impact makes errors of many collider sizes; without this limit the stiffness would become far too
        // large.
        grown = grown.least(points.k * F::splat(params.ramp_most));
    }
    let grown = grown.least(highest);
    points.k = F::select(response.active, grown, points.k);
    points.lambda = response.lambda;
    points.lambda.z = points.lambda.z.most(-highest * shared.length);
    points.store_duals(&mut own_points, first, point);
    // The sign bit of a feature is `STICKS`.
    let held = !(response.active & response.slides);
    F::load(&own_features, items, point).signed(held).store(&mut own_features, items, point);
    if B::ROWS {
        b.put_tangents(items, point, (kt, ku));
    }
}
