//! Attachments: constraints that hold a particle to a body or to the world.

use super::SoftHandle;
use crate::glam::Vec3;
use crate::world::{BodyHandle, WorldError, finite3, positive};

/// Identifies an attachment. Its slot is never reused.
#[derive(Clone, Copy, Debug)]
pub struct AttachmentHandle {
    pub(crate) index: u32,
    /// Which world it is of; slots are used once.
    pub(crate) generation: u32,
}

impl AttachmentHandle {
    /// The slot in the engine's buffers.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// An attachment to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AttachmentDesc {
    /// The soft body.
    pub soft: SoftHandle,
    /// Which of its particles.
    pub particle: u32,
    /// The rigid body, or the world.
    pub body: Option<BodyHandle>,
    /// The point that holds the particle, in the body's space or in the world. `None` is where the particle was
    /// described to be.
    pub anchor: Option<Vec3>,
    /// Stiffness, N/m; infinite by default: it does not give way.
    pub stiffness: f32,
    /// Force at which it lets go, newtons; infinite by default.
    pub max_force: f32,
}

impl AttachmentDesc {
    /// Holds a particle where it is described to be.
    pub fn to_world(soft: SoftHandle, particle: u32) -> Self {
        let (stiffness, max_force) = (f32::INFINITY, f32::INFINITY);
        Self { soft, particle, body: None, anchor: None, stiffness, max_force }
    }

    /// Holds a particle to a body, where both are described to be.
    pub fn to_body(soft: SoftHandle, particle: u32, body: BodyHandle) -> Self {
        Self { body: Some(body), ..Self::to_world(soft, particle) }
    }

    /// Sets the point that holds the particle, in the body's space or in the world.
    #[must_use]
    pub fn at(mut self, anchor: Vec3) -> Self {
        self.anchor = Some(anchor);
        self
    }

    /// Sets the force at which it lets go, newtons.
    #[must_use]
    pub fn max_force(mut self, newtons: f32) -> Self {
        self.max_force = newtons;
        self
    }

    /// Sets the stiffness, N/m.
    #[must_use]
    pub fn stiffness(mut self, newtons_a_metre: f32) -> Self {
        self.stiffness = newtons_a_metre;
        self
    }

    pub(in crate::world) fn check(&self) -> Result<(), WorldError> {
        self.anchor.map_or(Ok(()), |anchor| finite3("anchor", anchor))?;
        let unlimited = |field, value: f32| if value == f32::INFINITY { Ok(()) } else { positive(field, value) };
        unlimited("stiffness", self.stiffness)?;
        unlimited("max_force", self.max_force)
    }
}
