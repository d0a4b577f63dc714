//! Caches what the next step needs of surfaces, after `store`: the torque of every manifold, anchors moved along with
//! their surfaces, and no force for contacts that bounced. So a body that sticks to a belt moves with it, and its error
//! is only how far it slipped on the belt.

use crate::detect::gate::counter;
use crate::detect::manifold::{Head, Manifold, Record, record};
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store, least};
use crate::math::{Pose, words};
use crate::solve::impact::{self, four};
use crate::solve::surface::Surface;
use crate::state::material::Material;
use crate::state::rigid::{CachedPoint, Collider, POINTS, Params};
use crate::{layout, stage};

stage! {
    "surfaces_store" each 64 {
        read 0 params: Params,
        read 1 manifolds: Manifold,
        read 2 points: UVec4,
        read 3 starts: Pose,
        read 4 colliders: Collider,
        read 5 materials: Material,
        read 6 surfaces: UVec4,
        read 7 counters: u32,
        update 8 cached_points: CachedPoint,
        write 9 cached_torques: UVec4,
        read 10 impacts: UVec4,
    }
}

layout! {
    /// Push constants of `surfaces_store`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
        /// Not 0: contacts may have bounced.
        pub bounces: u32,
    }
}

/// How far a point in a body's space moves with the surface of a collider, along the plane with this normal in body
/// space.
#[inline(always)]
fn carried(collider: &Collider, material: &Material, n: Vec3, anchor: Vec3, dt: f32) -> Vec3 {
    let velocity = material.linear + material.angular.cross(anchor - collider.pose.position);
    let velocity = velocity + material.angular.cross(velocity) * (0.5 * dt);
    (velocity - n * n.dot(velocity)) * dt
}

/// Keeps one manifold.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let room = least(push.limit, u32::MAX / POINTS);
    if item >= room || item >= b.counters.at(counter::SOLVED) {
        return;
    }
    let surface = Surface::load(&b.surfaces, item);
    b.cached_torques.put(item, words(surface.torque, 0));
    if (push.bounces != 0) & (b.counters.at(counter::BOUNCES) != 0) {
        // Bodies that bounced are separating: a cached force would push them once more in the next step.
        let bounced = four(b.impacts.at(item.wrapping_mul(impact::word::COUNT).wrapping_add(impact::word::BOUNCED)));
        let mut k = 0;
        while k < POINTS {
            if bounced.at(k) > 0.0 {
                let mut point = b.cached_points.at(item * POINTS + k);
                point.force = Vec3::ZERO;
                b.cached_points.put(item * POINTS + k, point);
            }
            k += 1;
        }
    }
    let memory: Record<'_> = b.points.window(record(item));
    let head = Head::load(&memory, 0);
    if !head.driven {
        return;
    }
    let (manifold, dt) = (b.manifolds.at(item), b.params.at(0).dt);
    let ends = manifold.ends;
    let (a, c) = (b.colliders.at(ends.collider_a), b.colliders.at(ends.collider_b));
    let (of_a, of_c) = (b.materials.at(ends.collider_a), b.materials.at(ends.collider_b));
    let n_a = b.starts.at(ends.body_a).rotation.inverse().apply(head.normal);
    let n_c = b.starts.at(ends.body_b).rotation.inverse().apply(head.normal);
    let mut k = 0;
    while k < least(manifold.count, POINTS) {
        let mut point = b.cached_points.at(item * POINTS + k);
        point.anchor_a += carried(&a, &of_a, n_a, point.anchor_a, dt);
        point.anchor_b += carried(&c, &of_c, n_c, point.anchor_b, dt);
        b.cached_points.put(item * POINTS + k, point);
        k += 1;
    }
}
