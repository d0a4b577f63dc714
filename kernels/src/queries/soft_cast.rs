//! Finds triangles of soft bodies that rays of a picture meet before what they have hit, and puts those into their hits.

use crate::gpu::{Load, Store, least};
use crate::layout::{Node, SoftVertex, Volume};
use crate::queries::rays::soft::{SOFT, SoftTargets};
use crate::queries::rays::{Hit, Ray};
use crate::queries::records::Filter;
use crate::state::rigid::NONE;
use crate::state::soft::Particle;
use crate::{layout, stage};

stage! {
    "soft_cast" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 order: u32,
        read 3 soft_triangles: u32,
        read 4 soft_vertices: SoftVertex,
        read 5 particles: Particle,
        read 6 rays: Ray,
        update 7 hits: Hit,
    }
}

layout! {
    /// Push constants of `soft_cast`.
    pub struct Push {
        /// Number of rays.
        pub count: u32,
        /// Leaves of the hierarchy over the triangles.
        pub leaves: u32,
    }
}

/// Follows one ray.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= least(push.count, b.rays.len()) {
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
    let (ray, hit) = (b.rays.at(item), b.hits.at(item));
    // A ray that goes nowhere has a negative reach.
    let reach = if ray.reach < 0.0 { ray.reach } else { hit.distance };
    let ray = Ray { origin: ray.origin, reach, direction: ray.direction };
    let found = targets.trace(&ray, &Filter::SOLID, push.leaves, false);
    if found.triangle != NONE {
        let normal = targets.smooth_normal(&found, ray.direction);
        let (collider, body) = (SOFT | found.triangle, targets.owner(found.triangle));
        b.hits.put(item, Hit { distance: found.distance, collider, body, normal });
    }
}
