//! A hierarchy over the triangles of soft bodies' surfaces as they are now, for rays: `soft_vertices`, `surface_boxes`,
//! and the passes of [`Bvh`]. Recordings that have rays build it; a step does not.

use super::detect::bvh::{Bvh, Tree};
use super::finish::record_soft_vertices;
use super::step::StepPlan;
use super::{Buffer, PlanError, Recording};
use crate::state::SoftBuffers;
use drystone_kernels::layout::{Extent, SoftVertex};
use drystone_kernels::queries::surface_boxes;

/// Surfaces, and the hierarchy over them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftSurfaces {
    /// Particles, and vertices of the triangles.
    pub soft: SoftBuffers,
    /// Positions and normals of the particles.
    pub vertices: Buffer<SoftVertex>,
    /// Over the triangles.
    pub tree: Tree,
    /// Triangles there is room for.
    pub leaves: u32,
}

impl SoftSurfaces {
    /// Appends the passes that build it. `None` in worlds without surfaces of soft bodies. Buffers are named after
    /// `name`.
    pub fn record(r: &mut Recording, step: &StepPlan, name: &str) -> Result<Option<Self>, PlanError> {
        let leaves = step.capacities.soft_triangles;
        let Some(soft) = step.buffers.soft.filter(|_| leaves > 0) else { return Ok(None) };
        let count = u64::from(step.capacities.particles);
        let vertices = r.buffer(format!("{name}.soft_vertices"), count)?;
        // Written by the pass, and not used here.
        let before = r.buffer(format!("{name}.soft_vertices_before"), count)?;
        record_soft_vertices(r, &soft, &step.capacities, vertices, before)?;
        let boxes = r.buffer(format!("{name}.surface_boxes"), u64::from(leaves))?;
        let bind = surface_boxes::Bind { soft_vertices: vertices, soft_triangles: soft.triangles, boxes };
        r.dispatch_each(u64::from(leaves), bind.with(surface_boxes::Push { count: leaves }))?;
        let counters = step.buffers.counters;
        let bvh = Bvh { boxes, extent: Extent::host(leaves), counters };
        let tree = bvh.record(r, &format!("{name}.soft_bvh"))?;
        Ok(Some(Self { soft, vertices, tree, leaves }))
    }
}
