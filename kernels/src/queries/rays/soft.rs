//! Rays against the surfaces of soft bodies: through a hierarchy over their triangles. A triangle has two sides and no
//! inside, so a ray that starts within a soft body meets its surface where it leaves.

use super::{DEPTH, Ray, Touch, entry, inverse};
use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Read, Store, abs, fmax, fmin, least, sqrt};
use crate::layout::{Aabb, END, LEAF, Node, SoftVertex, Volume, volume_of};
use crate::queries::records::Filter;
use crate::state::rigid::NONE;
use crate::state::soft::Particle;

/// Set in the number of what was hit when it is a triangle of a soft body instead of a collider; the other bits are the
/// triangle's number. There are fewer than 2^29 triangles, so none of them is mistaken for [`NONE`].
pub const SOFT: u32 = 1 << 31;

/// Whether what was hit is a triangle of a soft body.
#[inline(always)]
pub fn is_soft(collider: u32) -> bool {
    (collider & SOFT != 0) & (collider != NONE)
}

/// What a ray may meet.
#[derive(Clone, Copy)]
pub struct SoftTargets<'a> {
    /// Inner nodes of the hierarchy.
    pub nodes: Read<'a, Node>,
    /// Volumes of nodes and leaves.
    pub volumes: Read<'a, Volume>,
    /// The triangle at each leaf.
    pub order: Read<'a, u32>,
    /// Vertices of the triangles, three each.
    pub triangles: Read<'a, u32>,
    /// The vertices.
    pub vertices: Read<'a, SoftVertex>,
    /// Their groups.
    pub particles: Read<'a, Particle>,
}

/// Where a ray meets a triangle.
#[derive(Clone, Copy)]
pub struct SoftHit {
    /// The way to it; the ray's reach when it meets nothing.
    pub distance: f32,
    /// The triangle, or [`NONE`].
    pub triangle: u32,
    /// Weight of the second corner.
    pub u: f32,
    /// Weight of the third.
    pub v: f32,
}

/// A ray against a triangle (Moeller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997).
#[inline(always)]
pub fn triangle(o: Vec3, d: Vec3, p0: Vec3, p1: Vec3, p2: Vec3) -> SoftHit {
    let (e1, e2, s) = (p1 - p0, p2 - p0, o - p0);
    let h = d.cross(e2);
    let determinant = e1.dot(h);
    let flat = abs(determinant) <= 1e-30;
    let scale = 1.0 / if flat { 1.0 } else { determinant };
    let q = s.cross(e1);
    let (u, v, distance) = (s.dot(h) * scale, d.dot(q) * scale, e2.dot(q) * scale);
    // A little more than the triangle, so that no ray goes between two that share a side.
    let slack = -1e-5;
    let met = !flat & (u >= slack) & (v >= slack) & (u + v <= 1.0 - slack) & (distance >= 0.0);
    SoftHit { distance: if met { distance } else { Touch::NEVER }, triangle: if met { 0 } else { NONE }, u, v }
}

impl SoftTargets<'_> {
    #[inline(always)]
    fn vertex(&self, triangle: u32, corner: u32) -> SoftVertex {
        self.vertices.at(self.triangles.at(triangle.wrapping_mul(3).wrapping_add(corner)))
    }

    #[inline(always)]
    fn bounds(&self, child: u32) -> Aabb {
        self.volumes.at(volume_of(child)).bounds
    }

    /// Whether a filter sees a triangle. Sensors and bodies that are left out are none of it.
    #[inline(always)]
    fn sees(&self, filter: &Filter, triangle: u32) -> bool {
        let particle = self.particles.at(self.triangles.at(triangle.wrapping_mul(3)));
        filter.sees_groups(particle.groups, particle.mask)
    }

    /// The soft body of a triangle.
    #[inline(always)]
    pub fn owner(&self, triangle: u32) -> u32 {
        self.vertex(triangle, 0).owner
    }

    /// Normal of a triangle against a direction, of length one.
    #[inline(always)]
    pub fn flat_normal(&self, triangle: u32, direction: Vec3) -> Vec3 {
        let p0 = self.vertex(triangle, 0).position;
        let (p1, p2) = (self.vertex(triangle, 1).position, self.vertex(triangle, 2).position);
        facing((p1 - p0).cross(p2 - p0), direction)
    }

    /// The same between the normals of its vertices.
    #[inline(always)]
    pub fn smooth_normal(&self, hit: &SoftHit, direction: Vec3) -> Vec3 {
        let (n0, n1, n2) = (self.vertex(hit.triangle, 0), self.vertex(hit.triangle, 1), self.vertex(hit.triangle, 2));
        let smooth = n0.normal * (1.0 - hit.u - hit.v) + n1.normal * hit.u + n2.normal * hit.v;
        let flat = self.flat_normal(hit.triangle, direction);
        let smooth = smooth * if smooth.dot(flat) < 0.0 { -1.0 } else { 1.0 };
        if smooth.length_squared() > 1e-6 { smooth * (1.0 / sqrt(smooth.length_squared())) } else { flat }
    }

    /// The first triangle on the ray's way among `leaves` leaves that the filter sees; with `any`, whatever is found
    /// first. At the same distance the lower triangle comes first.
    #[inline(always)]
    pub fn trace(&self, ray: &Ray, filter: &Filter, leaves: u32, any: bool) -> SoftHit {
        let mut hit = SoftHit { distance: ray.reach, triangle: NONE, u: 0.0, v: 0.0 };
        let inverse = inverse(ray.direction);
        let leaves = least(leaves, least(self.order.len(), LEAF - 1));
        let mut stack = [END; DEPTH];
        let mut depth = 0;
        let root = if leaves == 1 { LEAF } else { 0 };
        let mut at = if leaves == 0 || ray.reach < 0.0 { END } else { root };
        // No node is visited twice, so the bound is only met in a broken tree.
        let mut fuel = leaves.wrapping_mul(2);
        while at != END && fuel > 0 {
            fuel -= 1;
            let mut next = END;
            if at & LEAF != 0 {
                let index = self.order.at(at & !LEAF);
                let (a, b) = (self.vertex(index, 0), self.vertex(index, 1));
                let met = triangle(ray.origin, ray.direction, a.position, b.position, self.vertex(index, 2).position);
                let first = (met.distance < hit.distance) | ((met.distance == hit.distance) & (index < hit.triangle));
                if first & (met.distance < Touch::NEVER) & (a.present != 0) & self.sees(filter, index) {
                    hit = SoftHit { triangle: index, distance: met.distance, u: met.u, v: met.v };
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
            let found = any & (hit.triangle != NONE);
            if next == END && depth > 0 && !found {
                depth -= 1;
                next = stack.at(depth);
            }
            at = if found { END } else { next };
        }
        hit
    }
}

/// Of length one, against a direction.
#[inline(always)]
fn facing(normal: Vec3, direction: Vec3) -> Vec3 {
    let length = sqrt(fmax(normal.length_squared(), 1e-30));
    normal * (if normal.dot(direction) > 0.0 { -1.0 } else { 1.0 } / length)
}
