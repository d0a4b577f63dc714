//! Finds the first collider that each ray of a batch hits, of those that its filter lets it see.

use crate::gpu::{Load, Store, fmax, sqrt};
use crate::layout::{Extent, Node, Volume};
use crate::math::Pose;
use crate::queries::rays::{Ray, Targets};
use crate::queries::records::{HitRecord, RayQuery, generation_of};
use crate::state::rigid::{Collider, Hull, HullFace, NONE};
use crate::{layout, stage};

stage! {
    "ray_casts" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 order: u32,
        read 3 colliders: Collider,
        read 4 poses: Pose,
        read 5 hulls: Hull,
        read 6 hull_faces: HullFace,
        read 7 counts: u32,
        read 8 queries: RayQuery,
        write 9 hits: HitRecord,
    }
}

layout! {
    /// Push constants of `ray_casts`.
    pub struct Push {
        /// Number of rays.
        pub queries: Extent,
        /// Leaves of the hierarchy.
        pub leaves: u32,
    }
}

/// Follows one ray.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.queries.count(&b.counts, b.queries.len()) {
        return;
    }
    let targets = Targets {
        nodes: b.nodes,
        volumes: b.volumes,
        order: b.order,
        colliders: b.colliders,
        poses: b.poses,
        hulls: b.hulls,
        hull_faces: b.hull_faces,
    };
    let query = b.queries.at(item);
    let ray = Ray { origin: query.origin, reach: query.reach, direction: query.direction };
    let found = targets.trace(&ray, &query.filter, push.leaves, false);
    let mut hit = HitRecord::nothing(query.reach);
    if found.collider != NONE {
        hit.distance = found.distance;
        hit.collider = found.collider;
        hit.body = found.body;
        hit.generation = generation_of(&b.colliders.at(found.collider));
        hit.point = ray.origin + ray.direction * found.distance;
        // Where rays graze small round shapes, the closed forms lose digits.
        hit.normal = found.normal * (1.0 / sqrt(fmax(found.normal.length_squared(), 1e-30)));
    }
    b.hits.put(item, hit);
}
