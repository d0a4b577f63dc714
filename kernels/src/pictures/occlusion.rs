//! Finds how much of the sky each hit sees, by a few short rays into the half space above its surface.

use crate::gpu::{Load, Store, least};
use crate::layout::{Node, Volume};
use crate::math::Pose;
use crate::pictures::common::{View, lifted, pixel, scattered, shift, spot};
use crate::queries::rays::{Hit, Ray, Targets};
use crate::queries::records::Filter;
use crate::state::rigid::{Collider, Hull, HullFace, NONE};
use crate::{layout, stage};

stage! {
    "occlusion" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 order: u32,
        read 3 colliders: Collider,
        read 4 poses: Pose,
        read 5 views: View,
        read 6 rays: Ray,
        read 7 hits: Hit,
        write 8 openness: f32,
        read 9 hulls: Hull,
        read 10 hull_faces: HullFace,
    }
}

layout! {
    /// Push constants of `occlusion`.
    pub struct Push {
        /// Number of rays that have hits.
        pub count: u32,
        /// Leaves of the hierarchy.
        pub leaves: u32,
        /// Which sample.
        pub sample: u32,
        /// Rays a hit.
        pub rays: u32,
    }
}

/// Most rays a hit: who wants more of them takes more samples.
pub const MOST: u32 = 64;

/// Looks around from one hit.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    // An item without a hit of its own must stop here: it would otherwise trace as many rays as the push constant says.
    if item >= least(push.count, b.hits.len()) {
        return;
    }
    let (view, hit, ray) = (b.views.at(0), b.hits.at(item), b.rays.at(item));
    let shift = shift(pixel(&view, item), 5);
    let origin = lifted(ray.origin + ray.direction * hit.distance, hit.normal, hit.distance);
    let targets = Targets {
        nodes: b.nodes,
        volumes: b.volumes,
        order: b.order,
        colliders: b.colliders,
        poses: b.poses,
        hulls: b.hulls,
        hull_faces: b.hull_faces,
    };
    let rays = if hit.collider == NONE { 0 } else { least(push.rays, MOST) };
    let mut open = 0.0;
    let mut i = 0;
    while i < rays {
        let direction = scattered(hit.normal, spot(push.sample.wrapping_mul(push.rays).wrapping_add(i), shift));
        let found = targets.trace(&Ray { origin, reach: view.occlusion, direction }, &Filter::SOLID, push.leaves, true);
        // Near things darken more than far ones, so that the end of the reach is no edge.
        let near = found.distance / view.occlusion;
        open += if found.collider == NONE { 1.0 } else { near * near };
        i += 1;
    }
    b.openness.put(item, if rays > 0 { open / rays as f32 } else { 1.0 });
}
