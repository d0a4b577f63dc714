//! Finds the first collider that each moving shape of a batch hits, of those that its filter lets it see.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store};
use crate::layout::{Extent, Node, Volume};
use crate::math::Pose;
use crate::queries::meeting::aim;
use crate::queries::records::{HitRecord, ShapeQuery};
use crate::queries::search::{Solids, nearest};
use crate::state::rigid::{Collider, Hull};
use crate::{layout, stage};

stage! {
    "shape_casts" each 64 {
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
    /// Push constants of `shape_casts`.
    pub struct Push {
        /// Number of casts.
        pub queries: Extent,
        /// Leaves of the hierarchy.
        pub leaves: u32,
    }
}

/// Follows one shape.
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
    b.hits.put(item, nearest::<{ aim::CAST }>(&solids, &b.queries.at(item), push.leaves));
}
