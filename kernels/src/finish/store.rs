//! Caches what the next step needs of every contact: anchors in body space, force, stiffness, and whether it stuck.
//! Writes `cached_pairs` and `cached_points`.

use crate::detect::manifold::{FourPoints, Head, Manifold, Record, features, record};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, least};
use crate::math::{Pose, tangents};
use crate::state::rigid::{CachedPair, CachedPoint, NO_FEATURE, POINTS};
use crate::{layout, stage};

stage! {
    "store" each 64 {
        read 0 manifolds: Manifold,
        read 1 points: UVec4,
        read 2 starts: Pose,
        read 3 counters: u32,
        write 4 cached_pairs: CachedPair,
        write 5 cached_points: CachedPoint,
        read 6 features: UVec4,
        read 7 means: UVec4,
    }
}

layout! {
    /// Push constants of `store`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
    }
}

/// Keeps one manifold.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let room = least(least(push.limit, b.manifolds.len()), u32::MAX / POINTS);
    if item >= room || item >= b.counters.at(crate::detect::gate::counter::SOLVED) {
        return;
    }
    let manifold = b.manifolds.at(item);
    let ends = manifold.ends;
    // SAFETY: `item` is the number of the invocation, and nothing else stores pairs.
    unsafe { b.cached_pairs.put_own(item, CachedPair { collider_a: ends.collider_a, collider_b: ends.collider_b }) };
    let (a, c) = (b.starts.at(ends.body_a), b.starts.at(ends.body_b));
    let record: Record<'_> = b.points.window(record(item));
    let head = Head::load(&record, 0);
    let (t, u) = tangents(head.normal);
    let (points, means) = (FourPoints::load(&record, 0), features(b.means.at(item)));
    let features = features(b.features.at(item));
    let mut k = 0;
    while k < POINTS {
        let (anchor_a, anchor_b, force) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        let mut cached = CachedPoint { anchor_a, anchor_b, force, mean: 0.0, feature: NO_FEATURE };
        if k < manifold.count {
            let point = points.at(k);
            cached.anchor_a = a.rotation.inverse().apply(point.lever);
            let gap = t * point.gap.x + u * point.gap.y + head.normal * point.gap.z;
            cached.anchor_b = c.rotation.inverse().apply(point.lever + head.offset - gap);
            cached.force = t * point.lambda.x + u * point.lambda.y + head.normal * point.lambda.z;
            cached.mean = f32::from_bits(means.at(k));
            cached.feature = features.at(k);
        }
        // SAFETY: `item` is the number of the invocation, below the number of manifolds there is memory for, so that
        // four times as much is not more than 32 bits; and nothing else stores points.
        unsafe { b.cached_points.put_own(item * POINTS + k, cached) };
        k += 1;
    }
}
