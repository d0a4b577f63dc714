//! What is nearest to each shape of a batch, a point included, of what it sees.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store};
use crate::layout::{END, Extent, Node, Volume};
use crate::math::Pose;
use crate::queries::meeting::aim;
use crate::queries::rays::DEPTH;
use crate::queries::records::{HitRecord, ShapeQuery, generation_of};
use crate::queries::search::{Search, Solids};
use crate::state::rigid::{Collider, Hull};
use crate::{layout, stage};

stage! {
    "closest" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 order: u32,
        read 3 colliders: Collider,
        read 4 poses: Pose,
        read 5 hulls: Hull,
        read 6 hull_vertices: Vec3,
        read 7 counts: u32,
        read 8 queries: ShapeQuery,
        write 9 hits: HitRecord,
    }
}

layout! {
    /// Push constants of `closest`.
    pub struct Push {
        /// Number of searches.
        pub queries: Extent,
        /// Leaves of the hierarchy.
        pub leaves: u32,
    }
}

/// Looks around one shape.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.queries.count(&b.counts, b.queries.len()) {
        return;
    }
    let solids = Solids {
        nodes: b.nodes,
        volumes: b.volumes,
        order: b.order,
        colliders: b.colliders,
        poses: b.poses,
        hulls: b.hulls,
        hull_vertices: b.hull_vertices,
    };
    let query = b.queries.at(item);
    let mut hit = HitRecord::nothing(query.reach);
    let mut stack = [END; DEPTH];
    let mut search = Search::new(&solids, &query, push.leaves, query.reach);
    while search.goes_on() {
        let found = search.step::<{ aim::CLOSEST }>(&solids, &query, &mut stack);
        if found.over & found.met {
            let collider = b.colliders.at(search.slot);
            if hit.is_behind(found.distance, collider.what.body, search.slot) {
                hit.distance = found.distance;
                hit.collider = search.slot;
                hit.body = collider.what.body;
                hit.generation = generation_of(&collider);
                hit.point = found.point;
                hit.normal = found.normal;
                search.limit = found.distance;
            }
        }
    }
    b.hits.put(item, hit);
}
