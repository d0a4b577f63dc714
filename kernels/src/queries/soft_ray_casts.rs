//! Finds triangles of soft bodies that rays of a batch meet before what they have hit, for rays whose filter asks for
//! them, and puts those into their hits: the number of the triangle with [`SOFT`] set, and the slot of the soft body.

use crate::gpu::{Load, Store, least};
use crate::layout::{Extent, Node, SoftVertex, Volume};
use crate::queries::rays::Ray;
use crate::queries::rays::soft::{SOFT, SoftTargets};
use crate::queries::records::{HitRecord, RayQuery, filter};
use crate::state::rigid::NONE;
use crate::state::soft::Particle;
use crate::{layout, stage};

stage! {
    "soft_ray_casts" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 order: u32,
        read 3 soft_triangles: u32,
        read 4 soft_vertices: SoftVertex,
        read 5 particles: Particle,
        read 6 counts: u32,
        read 7 queries: RayQuery,
        update 8 hits: HitRecord,
    }
}

layout! {
    /// Push constants of `soft_ray_casts`.
    pub struct Push {
        /// Number of rays.
        pub queries: Extent,
        /// Leaves of the hierarchy over the triangles.
        pub leaves: u32,
    }
}

/// Follows one ray.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.queries.count(&b.counts, least(b.queries.len(), b.hits.len())) {
        return;
    }
    let query = b.queries.at(item);
    if query.filter.flags & filter::SOFT == 0 {
        return;
    }
    let targets = SoftTargets {
        nodes: b.nodes,
        volumes: b.volumes,
        order: b.order,
        triangles: b.soft_triangles,
        vertices: b.soft_vertices,
        particles: b.particles,
    };
    let hit = b.hits.at(item);
    let ray = Ray { origin: query.origin, reach: hit.distance, direction: query.direction };
    let found = targets.trace(&ray, &query.filter, push.leaves, false);
    if found.triangle != NONE {
        b.hits.put(
            item,
            HitRecord {
                distance: found.distance,
                collider: SOFT | found.triangle,
                body: targets.owner(found.triangle),
                generation: 0,
                point: ray.origin + ray.direction * found.distance,
                normal: targets.flat_normal(found.triangle, ray.direction),
            },
        );
    }
}
