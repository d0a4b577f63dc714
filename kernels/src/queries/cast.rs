//! Finds the first collider that each ray of a picture hits. Writes one hit a ray.

use crate::gpu::{Load, Store, least};
use crate::layout::{Node, Volume};
use crate::math::Pose;
use crate::queries::rays::{Hit, Ray, Targets};
use crate::queries::records::Filter;
use crate::state::rigid::{Collider, Hull, HullFace};
use crate::{layout, stage};

stage! {
    "cast" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 order: u32,
        read 3 colliders: Collider,
        read 4 poses: Pose,
        read 5 rays: Ray,
        write 6 hits: Hit,
        read 7 hulls: Hull,
        read 8 hull_faces: HullFace,
    }
}

layout! {
    /// Push constants of `cast`.
    pub struct Push {
        /// Number of rays.
        pub count: u32,
        /// Leaves of the hierarchy.
        pub leaves: u32,
    }
}

/// Follows one ray.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= least(push.count, b.rays.len()) {
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
    b.hits.put(item, targets.trace(&b.rays.at(item), &Filter::SOLID, push.leaves, false));
}
