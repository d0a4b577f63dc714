//! Rays against the world: through the hierarchy the step has built, to the shapes in its leaves. Pure functions;
//! `cast`, `ray_casts`, `sunlight` and `occlusion` call them.
//!
//! Bodies are solid: a ray that starts inside one meets it at distance 0. Half-spaces need no special care, their boxes
//! are infinite and lie on a single path through the tree.

pub mod shapes;
pub mod soft;

use crate::detect::collide::Solid;
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Read, Store, fmax, fmin, least};
use crate::layout;
use crate::layout::{Aabb, END, LEAF, Node, Volume, volume_of};
use crate::math::Pose;
use crate::queries::records::Filter;
use crate::state::rigid::{Collider, Hull, HullFace, NONE, shape, world_pose};

layout! {
    /// A ray.
    pub struct Ray {
        /// Where it starts.
        pub origin: Vec3,
        /// How far it goes.
        pub reach: f32,
        /// Where it goes, of length one.
        pub direction: Vec3,
    }

    /// The first thing a ray meets.
    pub struct Hit {
        /// Way to it; the ray's reach when it meets nothing.
        pub distance: f32,
        /// The collider, or [`NONE`].
        pub collider: u32,
        /// Its body, or [`NONE`].
        pub body: u32,
        /// Out of the collider; against the ray when that starts inside.
        pub normal: Vec3,
    }
}

/// The way to a shape, and its surface there.
#[derive(Clone, Copy)]
pub struct Touch {
    /// Way along the ray, [`Touch::NEVER`] when it misses.
    pub distance: f32,
    /// Out of the shape, in its own axes.
    pub normal: Vec3,
}

impl Touch {
    /// The distance of a miss: farther than any reach.
    pub const NEVER: f32 = f32::MAX;

    /// A miss.
    pub const MISS: Self = Self { distance: Self::NEVER, normal: Vec3::ZERO };
}

/// What a ray may meet.
#[derive(Clone, Copy)]
pub struct Targets<'a> {
    /// Inner nodes of the hierarchy.
    pub nodes: Read<'a, Node>,
    /// Volumes of nodes and leaves: see [`volume_of`].
    pub volumes: Read<'a, Volume>,
    /// The collider at each leaf.
    pub order: Read<'a, u32>,
    /// Colliders.
    pub colliders: Read<'a, Collider>,
    /// Poses of bodies.
    pub poses: Read<'a, Pose>,
    /// Convex hulls.
    pub hulls: Read<'a, Hull>,
    /// Their faces.
    pub hull_faces: Read<'a, HullFace>,
}

/// One over each component, with zeros kept from becoming infinite.
#[inline(always)]
pub fn inverse(d: Vec3) -> Vec3 {
    let one = |v: f32| {
        let tiny = 1e-20;
        1.0 / if (v < tiny) & (v > -tiny) { tiny } else { v }
    };
    Vec3::new(one(d.x), one(d.y), one(d.z))
}

/// Where a ray enters a box: 0 inside of it, [`Touch::NEVER`] when it misses, or meets it beyond `reach`. An empty box
/// is never met.
#[inline(always)]
pub fn entry(origin: Vec3, inverse: Vec3, reach: f32, bounds: &Aabb) -> f32 {
    let (a, b) = ((bounds.min - origin) * inverse, (bounds.max - origin) * inverse);
    let enter = fmax(fmax(fmin(a.x, b.x), fmin(a.y, b.y)), fmax(fmin(a.z, b.z), 0.0));
    let leave = fmin(fmin(fmax(a.x, b.x), fmax(a.y, b.y)), fmin(fmax(a.z, b.z), reach));
    // A little more than rounding loses, so that no box is passed by along its side.
    let met = (enter <= leave * 1.000_01 + 1e-6) & (bounds.min.x <= bounds.max.x);
    if met { enter } else { Touch::NEVER }
}

/// Deeper than a hierarchy can be: a level a bit of the Morton code, then a level a bit of the index.
pub const DEPTH: usize = 64;

impl Targets<'_> {
    /// A ray against one collider, in world space. This is where shapes are told apart.
    #[inline(always)]
    fn touch(&self, ray: &Ray, collider: &Collider, pose: &Pose) -> Touch {
        let solid = Solid::new(collider, pose);
        let (o, d) = (solid.to_local(ray.origin - solid.centre), solid.to_local(ray.direction));
        let met = if collider.what.shape == shape::BOX {
            shapes::cuboid(o, d, solid.half)
        } else if collider.what.shape == shape::SPHERE {
            shapes::sphere(o, d, solid.radius)
        } else if collider.what.shape == shape::CAPSULE {
            shapes::capsule(o, d, solid.half.y, solid.radius)
        } else if shape::is_curved(collider.what.shape) {
            shapes::curved(o, d, solid.half.y, solid.half.x, collider.what.shape == shape::CONE)
        } else if collider.what.shape == shape::HALF_SPACE {
            shapes::half_space(o, d)
        } else if collider.what.shape == shape::HULL {
            shapes::hull(o, d, &self.hulls.at(collider.hull).bounded(), self.hull_faces)
        } else {
            Touch::MISS
        };
        Touch { distance: met.distance, normal: solid.to_world(met.normal) }
    }

    /// The box of a child.
    #[inline(always)]
    fn bounds(&self, child: u32) -> Aabb {
        self.volumes.at(volume_of(child)).bounds
    }

    /// Whether a ray passes by the box of a child.
    #[inline(always)]
    fn misses(&self, ray: &Ray, inverse: Vec3, child: u32) -> bool {
        entry(ray.origin, inverse, ray.reach, &self.bounds(child)) >= Touch::NEVER
    }

    /// The first thing on the ray's way among `leaves` leaves that the filter sees; with `any`, whatever is found
    /// first. At the same distance the lower body comes first, then the lower collider.
    ///
    /// Nearer children come first, so that what is found early cuts the search short: this needs a stack, unlike the
    /// walk that finds pairs.
    #[inline(always)]
    pub fn trace(&self, ray: &Ray, filter: &Filter, leaves: u32, any: bool) -> Hit {
        let mut hit = Hit { distance: ray.reach, collider: NONE, body: NONE, normal: Vec3::ZERO };
        let inverse = inverse(ray.direction);
        let leaves = least(leaves, least(self.order.len(), LEAF - 1));
        let mut stack = [END; DEPTH];
        let mut depth = 0;
        // The box of a single leaf, whose body may be none, is nobody's child.
        let root = if leaves == 1 { LEAF } else { 0 };
        let nothing = leaves == 0 || ray.reach < 0.0 || (leaves == 1 && self.misses(ray, inverse, root));
        let mut at = if nothing { END } else { root };
        // No node is visited twice, so the bound is only met in a broken tree.
        let mut fuel = leaves.wrapping_mul(2);
        while at != END && fuel > 0 {
            fuel -= 1;
            let mut next = END;
            if at & LEAF != 0 {
                let index = self.order.at(at & !LEAF);
                let collider = self.colliders.at(index);
                let met = self.touch(ray, &collider, &world_pose(&collider, &self.poses.at(collider.what.body)));
                let body = collider.what.body;
                let lower = (body < hit.body) | ((body == hit.body) & (index < hit.collider));
                let first = (met.distance < hit.distance) | ((met.distance == hit.distance) & lower);
                if first & (met.distance < Touch::NEVER) & filter.sees(&collider) {
                    hit = Hit { distance: met.distance, collider: index, body, normal: met.normal };
                }
            } else {
                let node = self.nodes.at(at);
                let left = entry(ray.origin, inverse, hit.distance, &self.bounds(node.left));
                let right = entry(ray.origin, inverse, hit.distance, &self.bounds(node.right));
                let (near, far) = if left <= right { (node.left, node.right) } else { (node.right, node.left) };
                let (first, second) = (fmin(left, right), fmax(left, right));
                if second < Touch::NEVER && depth < DEPTH as u32 {
                    stack.put(depth, far);
                    depth += 1;
                }
                if first < Touch::NEVER {
                    next = near;
                }
            }
            let found = any & (hit.collider != NONE);
            if next == END && depth > 0 && !found {
                depth -= 1;
                next = stack.at(depth);
            }
            at = if found { END } else { next };
        }
        hit
    }
}
