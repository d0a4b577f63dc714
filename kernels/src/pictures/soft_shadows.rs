//! Takes away what triangles of soft bodies keep from each hit: the sun, by the ray of `sunlight`, and of the sky what
//! the rays of `occlusion` would see. Where a collider and a triangle hide the same part of the sky, it is taken twice.

use crate::gpu::{Load, Store, least};
use crate::layout::{Node, SoftVertex, Volume};
use crate::pictures::common::{View, lifted, pixel, scattered, shift, spot};
use crate::pictures::occlusion::MOST;
use crate::pictures::sunlight::to_sun;
use crate::queries::rays::soft::SoftTargets;
use crate::queries::rays::{Hit, Ray};
use crate::queries::records::Filter;
use crate::state::rigid::NONE;
use crate::state::soft::Particle;
use crate::{layout, stage};

stage! {
    "soft_shadows" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 order: u32,
        read 3 soft_triangles: u32,
        read 4 soft_vertices: SoftVertex,
        read 5 particles: Particle,
        read 6 views: View,
        read 7 rays: Ray,
        read 8 hits: Hit,
        update 9 sunlight: f32,
        update 10 openness: f32,
    }
}

layout! {
    /// Push constants of `soft_shadows`.
    pub struct Push {
        /// Number of rays that have hits.
        pub count: u32,
        /// Leaves of the hierarchy over the triangles.
        pub leaves: u32,
        /// Which sample.
        pub sample: u32,
        /// Rays a hit that look for the sky.
        pub rays: u32,
    }
}

/// Looks around from one hit: the first ray goes to the sun, the others to the sky.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= least(push.count, b.hits.len()) {
        return;
    }
    let (view, hit, ray) = (b.views.at(0), b.hits.at(item), b.rays.at(item));
    let targets = SoftTargets {
        nodes: b.nodes,
        volumes: b.volumes,
        order: b.order,
        triangles: b.soft_triangles,
        vertices: b.soft_vertices,
        particles: b.particles,
    };
    let origin = lifted(ray.origin + ray.direction * hit.distance, hit.normal, hit.distance);
    let lit = b.sunlight.at(item);
    let shift = shift(pixel(&view, item), 5);
    let rays = if hit.collider == NONE { 0 } else { least(push.rays, MOST) + 1 };
    let mut open = 0.0;
    let mut i = 0;
    while i < rays {
        let sun = i == 0;
        let index = push.sample.wrapping_mul(push.rays).wrapping_add(i.wrapping_sub(1));
        let direction = if sun { to_sun(&view, item, push.sample) } else { scattered(hit.normal, spot(index, shift)) };
        let far = if lit > 0.0 { crate::pictures::eye_rays::FAR } else { -1.0 };
        let reach = if sun { far } else { view.occlusion };
        let found = targets.trace(&Ray { origin, reach, direction }, &Filter::SOLID, push.leaves, true);
        if sun {
            b.sunlight.put(item, if found.triangle == NONE { lit } else { 0.0 });
        } else {
            let near = found.distance / view.occlusion;
            open += if found.triangle == NONE { 1.0 } else { near * near };
        }
        i += 1;
    }
    if rays > 1 {
        b.openness.put(item, b.openness.at(item) * open / (rays - 1) as f32);
    }
}
