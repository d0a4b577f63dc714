//! Finds the colliders that each shape of a batch overlaps, of those that its filter lets it see: their number, and the
//! first of them in the order of lists.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, least};
use crate::layout::{END, Extent, Node, Volume};
use crate::math::Pose;
use crate::queries::meeting::aim;
use crate::queries::rays::DEPTH;
use crate::queries::records::{OverlapRecord, ShapeQuery};
use crate::queries::search::{Search, Solids};
use crate::state::rigid::{Collider, Hull};
use crate::{layout, stage};

stage! {
    "overlaps" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 order: u32,
        read 3 colliders: Collider,
        read 4 poses: Pose,
        read 5 hulls: Hull,
        read 6 hull_vertices: Vec3,
        read 7 counts: u32,
        read 8 queries: ShapeQuery,
        write 9 found: u32,
        update 10 hits: OverlapRecord,
    }
}

layout! {
    /// Push constants of `overlaps`.
    pub struct Push {
        /// Number of overlaps.
        pub queries: Extent,
        /// Leaves of the hierarchy.
        pub leaves: u32,
    }
}

/// Looks into one shape.
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
    let room = b.hits.len();
    let first = least(query.first, room);
    let most = least(query.most, room - first);
    let mut count = 0;
    let mut stack = [END; DEPTH];
    let mut search = Search::new(&solids, &query, push.leaves, 0.0);
    while search.goes_on() {
        let outcome = search.step::<{ aim::OVERLAP }>(&solids, &query, &mut stack);
        if outcome.over & outcome.met {
            let hit = OverlapRecord::of(search.slot, &b.colliders.at(search.slot));
            // Inserted in order among those found before. If there are too many, the last is dropped.
            let mut place = least(count, most);
            count += 1;
            let mut moves = true;
            while moves & (place > 0) {
                let below = b.hits.at(first + place - 1);
                moves = hit.is_before(&below);
                if moves {
                    place -= 1;
                    if place + 1 < most {
                        b.hits.put(first + place + 1, below);
                    }
                }
            }
            if place < most {
                b.hits.put(first + place, hit);
            }
        }
    }
    b.found.put(item, count);
}
