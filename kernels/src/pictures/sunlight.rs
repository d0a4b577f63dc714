//! Finds whether the sun reaches each hit, by a ray to a point of the sun's disc.

use crate::gpu::{Load, Store, glam::Vec3, least, sin_cos, sqrt};
use crate::layout::{Node, Volume};
use crate::math::{Pose, tangents};
use crate::pictures::common::{View, lifted, pixel, shift, spot};
use crate::queries::rays::{Hit, Ray, Targets};
use crate::queries::records::Filter;
use crate::state::rigid::{Collider, Hull, HullFace, NONE};
use crate::{layout, stage};

stage! {
    "sunlight" each 64 {
        read 0 nodes: Node,
        read 1 volumes: Volume,
        read 2 order: u32,
        read 3 colliders: Collider,
        read 4 poses: Pose,
        read 5 views: View,
        read 6 rays: Ray,
        read 7 hits: Hit,
        write 8 sunlight: f32,
        read 9 hulls: Hull,
        read 10 hull_faces: HullFace,
    }
}

layout! {
    /// Push constants of `sunlight`.
    pub struct Push {
        /// Number of rays.
        pub count: u32,
        /// Leaves of the hierarchy.
        pub leaves: u32,
        /// Which sample.
        pub sample: u32,
    }
}

/// A point of the sun's disc.
#[inline(always)]
pub fn to_sun(view: &View, item: u32, sample: u32) -> Vec3 {
    let at = spot(sample, shift(pixel(view, item), 0));
    let (t, u) = tangents(view.sun);
    let (sine, cosine) = sin_cos(at.v * core::f32::consts::TAU);
    let direction = view.sun + (t * cosine + u * sine) * (view.sun_size * sqrt(at.u));
    direction * (1.0 / sqrt(direction.length_squared()))
}

/// Looks at the sun from one hit.
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= least(push.count, b.hits.len()) {
        return;
    }
    let (view, hit, ray) = (b.views.at(0), b.hits.at(item), b.rays.at(item));
    let direction = to_sun(&view, item, push.sample);
    let faces = hit.collider != NONE && hit.normal.dot(direction) > 0.0;
    // A surface that does not face the sun gets a ray of negative reach, which hits nothing.
    let reach = if faces { crate::pictures::eye_rays::FAR } else { -1.0 };
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
    let blocked = targets.trace(&Ray { origin, reach, direction }, &Filter::SOLID, push.leaves, true).collider != NONE;
    b.sunlight.put(item, if faces && !blocked { 1.0 } else { 0.0 });
}
