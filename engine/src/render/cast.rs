//! Casts many rays at once into a simulation, for picking and visibility. Waits for the device.

use super::plan::record_cast;
use super::{Attached, RenderError};
use crate::backend::RunnerExt;
use crate::glam::Vec3;
use crate::plan::{Buffer, Recording};
use crate::world::BodyHandle;
use crate::{Result, Simulation};
use drystone_kernels::queries::rays::{Hit, Ray};
use drystone_kernels::state::rigid::NONE;

/// What a ray met first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RayHit {
    /// The body.
    pub body: BodyHandle,
    /// The way to it; 0 when the ray starts inside of it.
    pub distance: f32,
    /// Out of the body.
    pub normal: Vec3,
}

#[derive(Clone, Copy)]
struct Buffers {
    rays: Buffer<Ray>,
    hits: Buffer<Hit>,
    room: usize,
}

/// Casts rays into a simulation.
#[derive(Default)]
pub struct RayCaster {
    attached: Option<Attached<Buffers>>,
}

impl RayCaster {
    /// One that has not cast any yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the first hit of each ray. Directions need not be of length one; reach and distance are in metres.
    /// Waits for the device; an error names a ray with invalid values.
    pub fn cast(&mut self, simulation: &mut Simulation, rays: &[Ray]) -> Result<Vec<Option<RayHit>>> {
        let rays = rays.iter().enumerate().map(|(index, ray)| checked(index, ray)).collect::<Result<Vec<_>, _>>()?;
        if rays.is_empty() {
            return Ok(Vec::new());
        }
        let generation = simulation.generation();
        if self.attached.as_ref().is_none_or(|a| a.generation != generation || a.buffers.room < rays.len()) {
            self.attached = None;
            simulation.free_attached()?;
            self.attached = Some(attach(simulation, rays.len().next_power_of_two())?);
        }
        let Some(Attached { part, buffers, .. }) = &self.attached else {
            unreachable!("attached above");
        };
        let runner = simulation.runner();
        // Rays of earlier calls that lie beyond these go nowhere.
        let none = Ray { origin: Vec3::ZERO, reach: -1.0, direction: Vec3::Y };
        let mut all = rays.clone();
        all.resize(buffers.room, none);
        runner.write(buffers.rays, &all)?;
        runner.run_part(*part)?;
        let hits = runner.read_first(buffers.hits, rays.len() as u64)?;
        let world = simulation.world();
        Ok(hits.iter().map(|hit| found(world.handle(hit.body), hit)).collect())
    }
}

fn found(body: Option<BodyHandle>, hit: &Hit) -> Option<RayHit> {
    let body = body.filter(|_| hit.collider != NONE)?;
    Some(RayHit { body, distance: hit.distance, normal: hit.normal })
}

fn checked(index: usize, ray: &Ray) -> Result<Ray, RenderError> {
    let wrong = |why| Err(RenderError::Ray { index, why });
    if !ray.origin.is_finite() {
        return wrong("its origin is not finite");
    }
    let Some(direction) = ray.direction.try_normalize() else { return wrong("its direction has no length") };
    if ray.reach.is_nan() || ray.reach < 0.0 {
        return wrong("its reach must be 0 or more");
    }
    Ok(Ray { origin: ray.origin, reach: ray.reach.min(1e30), direction })
}

fn attach(simulation: &mut Simulation, room: usize) -> Result<Attached<Buffers>> {
    let generation = simulation.generation();
    let base = simulation.runner().recording().clone();
    let name = base.free_name("rays");
    let mut r = Recording::sharing(&base, name.as_str());
    let step = simulation.plan();
    step.repeat_tree(&mut r)?;
    let rays = r.buffer(format!("{name}.rays"), room as u64)?;
    let hits = r.buffer(format!("{name}.hits"), room as u64)?;
    record_cast(&mut r, step, rays, hits, room as u32)?;
    let (part, token) = simulation.attach_held(r)?;
    Ok(Attached { generation, part, _token: token, buffers: Buffers { rays, hits, room } })
}
