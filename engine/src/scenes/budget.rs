//! Limits on what a scene file may ask for. Files are untrusted, and a few thousand bytes can describe a million
//! copies.

use crate::world::World;

/// What a scene from a file may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// Most bodies, copies included.
    pub bodies: usize,
    /// Most colliders, those of copies included.
    pub colliders: usize,
    /// Most particles of soft bodies.
    pub particles: usize,
}

impl Default for Budget {
    /// A million bodies, four million colliders, and a million particles: three or four gigabytes.
    fn default() -> Self {
        Self { bodies: 1_000_000, colliders: 4_000_000, particles: 1_000_000 }
    }
}

impl Budget {
    /// The same with at most so many bodies.
    pub fn with_bodies(mut self, bodies: usize) -> Self {
        self.bodies = bodies;
        self
    }

    /// The same with at most so many colliders.
    pub fn with_colliders(mut self, colliders: usize) -> Self {
        self.colliders = colliders;
        self
    }

    /// The same with at most so many particles.
    pub fn with_particles(mut self, particles: usize) -> Self {
        self.particles = particles;
        self
    }

    /// Whether there is room for so many particles more. An error goes on after the place.
    pub(super) fn check_particles(&self, world: &World, particles: usize) -> Result<(), String> {
        let wanted = (world.soft_store().used().particles as usize).saturating_add(particles);
        if wanted > self.particles {
            return Err(format!(" would make {wanted} particles; a scene has at most {}", self.particles));
        }
        Ok(())
    }

    /// Whether there is room for `bodies` more, with so many colliders each. An error goes on after the place.
    pub(super) fn check(&self, world: &World, bodies: usize, colliders: usize) -> Result<(), String> {
        if world.len().saturating_add(bodies) > self.bodies {
            return Err(format!(": a scene has at most {} bodies", self.bodies));
        }
        let wanted = world.collider_count().saturating_add(bodies.saturating_mul(colliders));
        if wanted > self.colliders {
            return Err(format!(" would make {wanted} colliders; a scene has at most {}", self.colliders));
        }
        Ok(())
    }
}
