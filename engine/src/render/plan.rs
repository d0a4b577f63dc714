//! The passes of a picture, over the step's buffers.

use super::RenderError;
use crate::plan::detect::bvh::Tree;
use crate::plan::primitives::reduce;
use crate::plan::soft_surface::SoftSurfaces;
use crate::plan::step::StepPlan;
use crate::plan::{Buffer, PlanError, Recording};
use crate::state::HullBuffers;
use drystone_kernels::gpu::glam::Vec3;
use drystone_kernels::layout::Extent;
use drystone_kernels::pictures::common::{COLOURS, TILE, View};
use drystone_kernels::pictures::{body_values, develop, eye_rays, occlusion, shade, soft_shadows, sunlight};
use drystone_kernels::queries::rays::{Hit, Ray};
use drystone_kernels::queries::{cast, soft_cast};

/// Size and quality of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Rays a pixel: what smooths edges and shadows.
    pub samples: u32,
    /// Rays a sample that look for what keeps the sky's light away; at most 64 are sent.
    pub occlusion_rays: u32,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { width: 1280, height: 720, samples: 4, occlusion_rays: 4 }
    }
}

pub(super) fn check_size(width: u32, height: u32) -> Result<(), RenderError> {
    let must = "between 1 and 16384 pixels";
    for (what, value) in [("width", width), ("height", height)] {
        if !(1..=16_384).contains(&value) {
            return Err(RenderError::OutOfRange { what, value, must });
        }
    }
    Ok(())
}

impl RenderOptions {
    /// Checks every value.
    pub fn check(&self) -> Result<(), RenderError> {
        check_size(self.width, self.height)?;
        let (samples, rays) = (self.samples, self.occlusion_rays);
        if !(1..=4096).contains(&samples) {
            return Err(RenderError::OutOfRange { what: "samples", value: samples, must: "between 1 and 4096" });
        }
        if rays > 256 {
            return Err(RenderError::OutOfRange { what: "occlusion rays", value: rays, must: "256 or fewer" });
        }
        Ok(())
    }
}

/// Buffers of a picture that others read or write.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RenderBuffers {
    /// How the world is looked at, one element: written before each picture.
    pub view: Buffer<View>,
    /// Colours, see [`palette`](super::palette()): written once.
    pub palette: Buffer<Vec3>,
    /// The picture: red, green, blue, alpha, a byte each, row by row from the top.
    pub image: Buffer<u32>,
    /// What the last sample's rays met, in squares of 8 by 8 pixels.
    pub hits: Buffer<Hit>,
    /// Highest force or speed of a body, as the bits of a float, in element 0.
    pub highest: Buffer<u32>,
}

/// A picture ready to be made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RenderPlan {
    /// The commands, over the step's buffers and those of the picture.
    pub recording: Recording,
    /// The picture's buffers.
    pub buffers: RenderBuffers,
}

/// Rays and what they met, for one sample of every pixel.
struct Samples {
    count: u32,
    rays: Buffer<Ray>,
    hits: Buffer<Hit>,
    sunlight: Buffer<f32>,
    openness: Buffer<f32>,
    light: Buffer<Vec3>,
}

impl RenderPlan {
    /// Plans pictures of the state in `step`'s buffers. `base` is the recording of the program or runner that holds
    /// them; buffers are named after `name`.
    pub fn new(base: &Recording, step: &StepPlan, name: &str, options: RenderOptions) -> Result<Self, PlanError> {
        let mut r = Recording::sharing(base, name);
        step.repeat_tree(&mut r)?;
        let RenderOptions { width, height, samples, occlusion_rays } = options;
        // Whole squares, in which pixels are worked on.
        let count = width.div_ceil(TILE) * height.div_ceil(TILE) * TILE * TILE;
        let n = u64::from(count);
        let bodies = step.capacities.bodies;
        let s = &step.buffers;

        let view = r.buffer(format!("{name}.view"), 1)?;
        let palette = r.buffer(format!("{name}.palette"), u64::from(COLOURS))?;
        let values = r.buffer(format!("{name}.values"), u64::from(bodies))?;
        let bind = body_values::Bind {
            views: view,
            bodies: s.bodies,
            velocities: s.velocities,
            colours: s.colours,
            points: s.points,
            rows: s.rows,
            entries: s.entries,
            values,
        };
        r.dispatch_each(u64::from(bodies), bind.with(body_values::Push { count: bodies }))?;
        let extent = Extent::host(bodies);
        let highest = reduce::record(&mut r, name, values, s.counters, extent, reduce::op::MAX_F32)?;

        let per_pixel = Samples {
            count,
            rays: r.buffer(format!("{name}.rays"), n)?,
            hits: r.buffer(format!("{name}.hits"), n)?,
            sunlight: r.buffer(format!("{name}.sunlight"), n)?,
            openness: r.buffer(format!("{name}.openness"), n)?,
            light: r.buffer(format!("{name}.light"), n)?,
        };
        let Samples { rays, hits, light, .. } = per_pixel;
        let surfaces = SoftSurfaces::record(&mut r, step, name)?;
        for sample in 0..samples {
            let bind = eye_rays::Bind { views: view, rays };
            r.dispatch_each(n, bind.with(eye_rays::Push { count, sample }))?;
            record_cast(&mut r, step, rays, hits, count)?;
            if let Some(surfaces) = &surfaces {
                record_soft_cast(&mut r, surfaces, rays, hits, count)?;
            }
            per_pixel.record_light(&mut r, step, view, sample, occlusion_rays)?;
            if let Some(surfaces) = &surfaces {
                per_pixel.record_soft_shadows(&mut r, surfaces, view, sample, occlusion_rays)?;
            }
            let bind = shade::Bind {
                views: view,
                rays,
                hits,
                sunlight: per_pixel.sunlight,
                openness: per_pixel.openness,
                bodies: s.bodies,
                colliders: s.colliders,
                poses: s.poses,
                values,
                highest,
                palette,
                light,
            };
            r.dispatch_each(n, bind.with(shade::Push { count, sample }))?;
        }
        let image = r.buffer(format!("{name}.image"), u64::from(width) * u64::from(height))?;
        let bind = develop::Bind { views: view, light, image };
        r.dispatch_each(n, bind.with(develop::Push { count, samples }))?;
        Ok(Self { recording: r, buffers: RenderBuffers { view, palette, image, hits, highest } })
    }
}

/// Appends the search for the first thing that each of `count` rays meets. The step's hierarchy is up to date.
pub(super) fn record_cast(
    r: &mut Recording,
    step: &StepPlan,
    rays: Buffer<Ray>,
    hits: Buffer<Hit>,
    count: u32,
) -> Result<(), PlanError> {
    let Tree { nodes, volumes, order, .. } = step.tree;
    let (colliders, poses) = (step.buffers.colliders, step.buffers.poses);
    let HullBuffers { hulls, faces: hull_faces, .. } = step.buffers.hulls;
    let bind = cast::Bind { nodes, volumes, order, colliders, poses, rays, hits, hulls, hull_faces };
    r.dispatch_each(u64::from(count), bind.with(cast::Push { count, leaves: step.capacities.colliders }))
}

/// Appends the search for triangles of soft bodies that lie before what the rays have hit.
fn record_soft_cast(
    r: &mut Recording,
    surfaces: &SoftSurfaces,
    rays: Buffer<Ray>,
    hits: Buffer<Hit>,
    count: u32,
) -> Result<(), PlanError> {
    let Tree { nodes, volumes, order, .. } = surfaces.tree;
    let bind = soft_cast::Bind {
        nodes,
        volumes,
        order,
        soft_triangles: surfaces.soft.triangles,
        soft_vertices: surfaces.vertices,
        particles: surfaces.soft.particles,
        rays,
        hits,
    };
    r.dispatch_each(u64::from(count), bind.with(soft_cast::Push { count, leaves: surfaces.leaves }))
}

impl Samples {
    /// Appends what soft bodies keep from the hits of one sample.
    fn record_soft_shadows(
        &self,
        r: &mut Recording,
        surfaces: &SoftSurfaces,
        views: Buffer<View>,
        sample: u32,
        rays: u32,
    ) -> Result<(), PlanError> {
        let Tree { nodes, volumes, order, .. } = surfaces.tree;
        let bind = soft_shadows::Bind {
            nodes,
            volumes,
            order,
            soft_triangles: surfaces.soft.triangles,
            soft_vertices: surfaces.vertices,
            particles: surfaces.soft.particles,
            views,
            rays: self.rays,
            hits: self.hits,
            sunlight: self.sunlight,
            openness: self.openness,
        };
        let push = soft_shadows::Push { count: self.count, leaves: surfaces.leaves, sample, rays };
        r.dispatch_each(u64::from(self.count), bind.with(push))
    }

    /// Appends the light that reaches the hits of one sample.
    fn record_light(
        &self,
        r: &mut Recording,
        step: &StepPlan,
        views: Buffer<View>,
        sample: u32,
        occlusion_rays: u32,
    ) -> Result<(), PlanError> {
        let Self { count, rays, hits, sunlight, openness, .. } = *self;
        let Tree { nodes, volumes, order, .. } = step.tree;
        let (colliders, poses, leaves) = (step.buffers.colliders, step.buffers.poses, step.capacities.colliders);
        let HullBuffers { hulls, faces: hull_faces, .. } = step.buffers.hulls;
        let bind =
            sunlight::Bind { nodes, volumes, order, colliders, poses, views, rays, hits, sunlight, hulls, hull_faces };
        r.dispatch_each(u64::from(count), bind.with(sunlight::Push { count, leaves, sample }))?;
        let bind =
            occlusion::Bind { nodes, volumes, order, colliders, poses, views, rays, hits, openness, hulls, hull_faces };
        r.dispatch_each(u64::from(count), bind.with(occlusion::Push { count, leaves, sample, rays: occlusion_rays }))
    }
}
