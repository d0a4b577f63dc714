//! Soft bodies as they are described: particles, and what holds them together.
//!
//! A soft body is a list of particles and of elements between them: springs, triangles of cloth with hinges at their
//! sides, tetrahedra. Particles are named by the body's handle and a number. They are solved together with rigid bodies
//! and joints; what ties the two kinds to each other are attachments.
//!
//! ```
//! use drystone::world::{AttachmentDesc, Cloth, SoftDesc, World};
//! use drystone::{Settings, Simulation, backend::Device, glam::Vec3};
//!
//! let mut world = World::new();
//! // A metre of cloth, 11 by 11 particles, held at two corners.
//! let cloth = world.add_soft(SoftDesc::cloth(Vec3::ZERO, Vec3::X, Vec3::Z, (11, 11), &Cloth::default()))?;
//! for corner in [0, 10] {
//!     world.attach(AttachmentDesc::to_world(cloth, corner))?;
//! }
//! let mut simulation = Simulation::new(world, Settings::default(), Device::Cpu { threads: Some(1) })?;
//! simulation.step(1.0 / 60.0)?;
//! assert_eq!(simulation.soft(cloth)?.positions.len(), 121);
//! # Ok::<(), drystone::Error>(())
//! ```

mod attachment;
mod shapes;
mod store;
mod topology;

pub use attachment::{AttachmentDesc, AttachmentHandle};
pub use shapes::{Cloth, Solid};
pub(in crate::world) use store::AttachmentSlot;
pub(crate) use store::{Counts, SentSoft, SoftBodies};
pub(crate) use topology::Topology;

use super::{WorldError, finite1, finite3, not_negative, positive};
use crate::glam::Vec3;

/// Names a soft body. Stays unique when others come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SoftHandle {
    pub(crate) index: u32,
}

impl SoftHandle {
    /// The slot in the world's list.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// A line between two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftSpring {
    /// Its ends.
    pub ends: [u32; 2],
    /// Length at rest, metres.
    pub rest: f32,
    /// Newtons a metre; infinite for one that keeps its length, whatever pulls.
    pub stiffness: f32,
    /// Newton seconds a metre, of the rate of its length.
    pub damping: f32,
}

/// A triangle of cloth. Its rest shape is that of [`SoftDesc::rest`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftTriangle {
    /// Its corners.
    pub corners: [u32; 3],
    /// Shear modulus times thickness, N/m.
    pub mu: f32,
    /// The other Lame coefficient times thickness, N/m.
    pub lambda: f32,
    /// Of the rate of its metric, N s/m: at small strain a viscosity of four times as much.
    pub damping: f32,
}

/// Two triangles that share a side. The angle at rest is that of [`SoftDesc::rest`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftHinge {
    /// The ends of the side, the corner to the left of it, and the one to the right.
    pub corners: [u32; 4],
    /// Newton metres a radian.
    pub stiffness: f32,
    /// Newton metre seconds, of the rate of the angle.
    pub damping: f32,
}

/// A tetrahedron. Its rest shape is that of [`SoftDesc::rest`]; corners are in either order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftTetrahedron {
    /// Its corners.
    pub corners: [u32; 4],
    /// Shear modulus, pascals.
    pub mu: f32,
    /// The other Lame coefficient.
    pub lambda: f32,
    /// Of the rate of its metric, pascal seconds: at small strain a viscosity of four times as much.
    pub damping: f32,
}

/// A soft body to be added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftDesc {
    /// Where its particles are at rest: what triangles, hinges and tetrahedra go back to.
    pub rest: Vec<Vec3>,
    /// Where they are now; empty when they are at rest.
    pub positions: Vec<Vec3>,
    /// How they move; empty when they do not.
    pub velocities: Vec<Vec3>,
    /// Kilograms, one for each particle.
    pub masses: Vec<f32>,
    /// Springs.
    pub springs: Vec<SoftSpring>,
    /// Triangles of cloth.
    pub triangles: Vec<SoftTriangle>,
    /// Angles between them.
    pub hinges: Vec<SoftHinge>,
    /// Tetrahedra.
    pub tetrahedra: Vec<SoftTetrahedron>,
    /// How strongly gravity acts on it, 1 by default.
    pub gravity_scale: Option<f32>,
}

/// Most elements of a kind: they are numbered with 27 bits.
const MOST: usize = 1 << 26;

impl SoftDesc {
    /// Particles there are.
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Moves all of it.
    #[must_use]
    pub fn moved(mut self, by: Vec3) -> Self {
        self.rest.iter_mut().chain(&mut self.positions).for_each(|p| *p += by);
        self
    }

    /// Gives all particles a velocity.
    #[must_use]
    pub fn moving(mut self, velocity: Vec3) -> Self {
        self.velocities = vec![velocity; self.len()];
        self
    }

    /// Gives them the velocities of a rigid motion about the centre of mass: `spin` radians a second.
    #[must_use]
    pub fn spinning(mut self, spin: Vec3) -> Self {
        let mass: f32 = self.masses.iter().sum();
        let places = if self.positions.is_empty() { &self.rest } else { &self.positions };
        let centre = places.iter().zip(&self.masses).map(|(p, m)| *p * *m).sum::<Vec3>() / mass;
        self.velocities = places.iter().map(|p| spin.cross(*p - centre)).collect();
        self
    }

    /// Where particle `index` begins.
    pub fn position(&self, index: usize) -> Vec3 {
        self.positions.get(index).or_else(|| self.rest.get(index)).copied().unwrap_or_default()
    }

    /// How it moves in the beginning.
    pub fn velocity(&self, index: usize) -> Vec3 {
        self.velocities.get(index).copied().unwrap_or_default()
    }

    /// Says what is wrong with it, if anything is.
    pub fn check(&self) -> Result<(), WorldError> {
        let count = self.len();
        if count == 0 {
            return Err(WorldError::EmptySoft);
        }
        let lists = [
            ("positions", self.positions.len(), true),
            ("velocities", self.velocities.len(), true),
            ("masses", self.masses.len(), false),
        ];
        for (field, length, may_be_empty) in lists {
            if length != count && !(may_be_empty && length == 0) {
                return Err(WorldError::SoftLength { field, length, particles: count });
            }
        }
        let elements = [
            ("springs", self.springs.len()),
            ("triangles", self.triangles.len()),
            ("hinges", self.hinges.len()),
            ("tetrahedra", self.tetrahedra.len()),
            ("particles", count),
        ];
        if let Some((what, _)) = elements.into_iter().find(|(_, count)| *count > MOST) {
            return Err(WorldError::Full { what, limit: MOST as u32 });
        }
        self.rest.iter().try_for_each(|p| finite3("rest", *p))?;
        self.positions.iter().try_for_each(|p| finite3("positions", *p))?;
        self.velocities.iter().try_for_each(|v| finite3("velocities", *v))?;
        self.masses.iter().try_for_each(|m| positive("masses", *m))?;
        self.gravity_scale.map_or(Ok(()), |s| finite1("gravity_scale", s))?;
        for (index, spring) in self.springs.iter().enumerate() {
            let wrong = |error| WorldError::Element { kind: "springs", index, error: Box::new(error) };
            self.check_spring(spring).map_err(wrong)?;
        }
        for (index, t) in self.triangles.iter().enumerate() {
            let wrong = |error| WorldError::Element { kind: "triangles", index, error: Box::new(error) };
            let check = || {
                self.corners(&t.corners)?;
                lame(t.mu, t.lambda, t.damping)?;
                let [a, b, c] = t.corners.map(|c| self.rest[c as usize]);
                solid((b - a).cross(c - a).length(), (b - a).length() * (c - a).length())
            };
            check().map_err(wrong)?;
        }
        for (index, h) in self.hinges.iter().enumerate() {
            let wrong = |error| WorldError::Element { kind: "hinges", index, error: Box::new(error) };
            let check = || {
                self.corners(&h.corners)?;
                not_negative("stiffness", h.stiffness)?;
                not_negative("damping", h.damping)?;
                let [a, b, c, d] = h.corners.map(|c| self.rest[c as usize]);
                let e = b - a;
                solid(e.cross(c - a).length(), e.length() * (c - a).length())?;
                solid(e.cross(d - a).length(), e.length() * (d - a).length())
            };
            check().map_err(wrong)?;
        }
        for (index, t) in self.tetrahedra.iter().enumerate() {
            let wrong = |error| WorldError::Element { kind: "tetrahedra", index, error: Box::new(error) };
            let check = || {
                self.corners(&t.corners)?;
                lame(t.mu, t.lambda, t.damping)?;
                let [a, b, c, d] = t.corners.map(|c| self.rest[c as usize]);
                let (x, y, z) = (b - a, c - a, d - a);
                solid(x.dot(y.cross(z)).abs(), x.length() * y.length() * z.length())
            };
            check().map_err(wrong)?;
        }
        Ok(())
    }

    fn check_spring(&self, spring: &SoftSpring) -> Result<(), WorldError> {
        self.corners(&spring.ends)?;
        positive("rest", spring.rest)?;
        not_negative("damping", spring.damping)?;
        if spring.stiffness == f32::INFINITY { Ok(()) } else { positive("stiffness", spring.stiffness) }
    }

    /// Corners are particles, and different ones.
    fn corners(&self, corners: &[u32]) -> Result<(), WorldError> {
        for (i, c) in corners.iter().enumerate() {
            if *c as usize >= self.len() {
                return Err(WorldError::NoParticle { index: *c, count: self.len() });
            }
            if corners[..i].contains(c) {
                return Err(WorldError::SameParticle { index: *c });
            }
        }
        Ok(())
    }
}

fn lame(mu: f32, lambda: f32, damping: f32) -> Result<(), WorldError> {
    positive("mu", mu)?;
    not_negative("lambda", lambda)?;
    not_negative("damping", damping)
}

/// An element has an extent, and is no sliver: its area or volume against the product of its sides.
fn solid(extent: f32, sides: f32) -> Result<(), WorldError> {
    if extent.is_finite() && extent > 1e-5 * sides { Ok(()) } else { Err(WorldError::FlatElement) }
}
