//! How much a scene file may ask for. A file is text from anywhere, and a few thousand bytes of it can be copied a million times.

use crate::world::World;

/// What a scene from a file may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// Most bodies, copies included.
    pub bodies: usize,
    /// Most colliders, those of copies included.
    pub colliders: usize,
}

impl Default for Budget {
    /// A million bodies and four million colliders: two or three gigabytes.
    fn default() -> Self {
        Self { bodies: 1_000_000, colliders: 4_000_000 }
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
