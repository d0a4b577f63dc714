//! Plan of a batch of queries over the step's buffers: rebuilds the hierarchy over the current poses, then
//! `ray_casts`, `shape_casts`, `overlaps` and `closest`, each only if the plan has capacity for it. In worlds with
//! surfaces of soft bodies `soft_ray_casts` follows `ray_casts`; the others only look at colliders.

use super::detect::bvh::Tree;
use super::soft_surface::SoftSurfaces;
use super::step::StepPlan;
use super::{Buffer, PlanError, Recording};
use crate::state::{HullBuffers, Role};
use drystone_kernels::layout::Extent;
use drystone_kernels::queries::records::{HitRecord, OverlapRecord, RayQuery, ShapeQuery, count};
use drystone_kernels::queries::{closest, overlaps, ray_casts, shape_casts, soft_ray_casts};

/// How many queries of each kind a batch may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryRoom {
    /// Rays.
    pub rays: u32,
    /// Casts of spheres and other shapes.
    pub casts: u32,
    /// Overlaps.
    pub overlaps: u32,
    /// Colliders that all overlaps together may list.
    pub overlap_hits: u32,
    /// Searches for the closest point.
    pub closest: u32,
}

impl QueryRoom {
    /// Names and numbers, in one order.
    pub(crate) fn parts(&self) -> [(&'static str, u32); 5] {
        [
            ("rays", self.rays),
            ("casts", self.casts),
            ("overlaps", self.overlaps),
            ("overlaps to list", self.overlap_hits),
            ("searches for the closest", self.closest),
        ]
    }

    /// Whether a batch of size `other` fits.
    pub fn holds(&self, other: &Self) -> bool {
        self.parts().iter().zip(other.parts()).all(|(room, needed)| room.1 >= needed.1)
    }

    /// Capacity for both; grows to powers of two, so that it does not grow with every batch.
    pub(crate) fn grown_to(&self, other: &Self) -> Self {
        let grown = |a: u32, b: u32| if b > a { b.checked_next_power_of_two().unwrap_or(b) } else { a };
        Self {
            rays: grown(self.rays, other.rays),
            casts: grown(self.casts, other.casts),
            overlaps: grown(self.overlaps, other.overlaps),
            overlap_hits: grown(self.overlap_hits, other.overlap_hits),
            closest: grown(self.closest, other.closest),
        }
    }
}

/// Buffers of a batch.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct QueryBuffers {
    /// How many queries there are of each kind: see
    /// [`count`].
    pub counts: Buffer<u32>,
    /// Rays.
    pub rays: Buffer<RayQuery>,
    /// What each met.
    pub ray_hits: Buffer<HitRecord>,
    /// Casts.
    pub casts: Buffer<ShapeQuery>,
    /// What each met.
    pub cast_hits: Buffer<HitRecord>,
    /// Overlaps.
    pub overlaps: Buffer<ShapeQuery>,
    /// How many colliders each overlaps.
    pub overlap_counts: Buffer<u32>,
    /// The colliders that they overlap.
    pub overlap_hits: Buffer<OverlapRecord>,
    /// Searches for the closest point.
    pub closest: Buffer<ShapeQuery>,
    /// The closest point to each.
    pub closest_hits: Buffer<HitRecord>,
}

/// A batch of queries ready to be recorded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QueryPlan {
    /// The commands, over the step's buffers and those of the batch.
    pub recording: Recording,
    /// Its own buffers.
    pub buffers: QueryBuffers,
    /// The room they have.
    pub room: QueryRoom,
}

impl QueryPlan {
    /// Plans batches about the state in `step`'s buffers. `base` is the recording of the program or runner that holds
    /// them; buffers are named after `name`.
    pub fn new(base: &Recording, step: &StepPlan, name: &str, room: QueryRoom) -> Result<Self, PlanError> {
        let r = &mut Recording::sharing(base, name);
        step.repeat_tree(r)?;
        let (asked, told) = (Role::HostWritten, Role::Result);
        let [rays, casts, overlaps, listed, closest] = room.parts().map(|(_, n)| u64::from(n));
        let b = QueryBuffers {
            counts: r.buffer_as(format!("{name}.counts"), asked, count::KINDS.into())?,
            rays: r.buffer_as(format!("{name}.rays"), asked, rays)?,
            ray_hits: r.buffer_as(format!("{name}.ray_hits"), told, rays)?,
            casts: r.buffer_as(format!("{name}.casts"), asked, casts)?,
            cast_hits: r.buffer_as(format!("{name}.cast_hits"), told, casts)?,
            overlaps: r.buffer_as(format!("{name}.overlaps"), asked, overlaps)?,
            overlap_counts: r.buffer_as(format!("{name}.overlap_counts"), told, overlaps)?,
            overlap_hits: r.buffer_as(format!("{name}.overlap_hits"), told, listed)?,
            closest: r.buffer_as(format!("{name}.closest"), asked, closest)?,
            closest_hits: r.buffer_as(format!("{name}.closest_hits"), told, closest)?,
        };
        let Tree { nodes, volumes, order, .. } = step.tree;
        let (colliders, poses, leaves) = (step.buffers.colliders, step.buffers.poses, step.capacities.colliders);
        let HullBuffers { hulls, faces: hull_faces, vertices: hull_vertices, .. } = step.buffers.hulls;
        let counts = b.counts;
        if rays > 0 {
            let (queries, hits) = (b.rays, b.ray_hits);
            let bind =
                ray_casts::Bind { nodes, volumes, order, colliders, poses, hulls, hull_faces, counts, queries, hits };
            let queries = Extent::counter(count::RAYS, room.rays);
            r.dispatch_each(rays, bind.with(ray_casts::Push { queries, leaves }))?;
            if let Some(surfaces) = SoftSurfaces::record(r, step, name)? {
                let Tree { nodes, volumes, order, .. } = surfaces.tree;
                let bind = soft_ray_casts::Bind {
                    nodes,
                    volumes,
                    order,
                    soft_triangles: surfaces.soft.triangles,
                    soft_vertices: surfaces.vertices,
                    particles: surfaces.soft.particles,
                    counts,
                    queries: b.rays,
                    hits,
                };
                r.dispatch_each(rays, bind.with(soft_ray_casts::Push { queries, leaves: surfaces.leaves }))?;
            }
        }
        if casts > 0 {
            let (queries, hits) = (b.casts, b.cast_hits);
            let bind = shape_casts::Bind {
                nodes,
                volumes,
                order,
                colliders,
                poses,
                hulls,
                hull_vertices,
                counts,
                queries,
                hits,
            };
            let queries = Extent::counter(count::CASTS, room.casts);
            r.dispatch_each(casts, bind.with(shape_casts::Push { queries, leaves }))?;
        }
        if overlaps > 0 {
            let (queries, found, hits) = (b.overlaps, b.overlap_counts, b.overlap_hits);
            let bind = overlaps::Bind {
                nodes,
                volumes,
                order,
                colliders,
                poses,
                hulls,
                hull_vertices,
                counts,
                queries,
                found,
                hits,
            };
            let queries = Extent::counter(count::OVERLAPS, room.overlaps);
            r.dispatch_each(overlaps, bind.with(overlaps::Push { queries, leaves }))?;
        }
        if closest > 0 {
            let (queries, hits) = (b.closest, b.closest_hits);
            let bind =
                closest::Bind { nodes, volumes, order, colliders, poses, hulls, hull_vertices, counts, queries, hits };
            let queries = Extent::counter(count::CLOSEST, room.closest);
            r.dispatch_each(closest, bind.with(closest::Push { queries, leaves }))?;
        }
        Ok(Self { recording: r.clone(), buffers: b, room })
    }
}
