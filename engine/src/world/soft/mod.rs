//! Descriptions of soft bodies: particles, and the elements that hold them together.
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
use std::collections::BTreeMap;

/// Names a soft body. Stays unique when others come and go.
#[derive(Clone, Copy, Debug)]
pub struct SoftHandle {
    pub(crate) index: u32,
    /// Which world it is of; slots are used once.
    pub(crate) generation: u32,
}

impl SoftHandle {
    /// The slot in the world's list.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// A line between two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SoftSpring {
    /// Its ends.
    pub ends: [u32; 2],
    /// Length at rest, metres.
    pub rest: f32,
    /// Stiffness, N/m; infinite for a spring that keeps its length under any load.
    pub stiffness: f32,
    /// Newton seconds a metre, of the rate of its length.
    pub damping: f32,
}

/// A triangle of cloth. Its rest shape is that of [`SoftDesc::rest`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
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

impl SoftSpring {
    /// A spring without damping: its ends, its length at rest in metres, and its stiffness in N/m.
    pub fn new(ends: [u32; 2], rest: f32, stiffness: f32) -> Self {
        Self { ends, rest, stiffness, damping: 0.0 }
    }
}

impl SoftTriangle {
    /// A triangle without damping: its corners, and Lame coefficients times thickness in N/m.
    pub fn new(corners: [u32; 3], mu: f32, lambda: f32) -> Self {
        Self { corners, mu, lambda, damping: 0.0 }
    }
}

impl SoftHinge {
    /// A hinge without damping: its corners, and its stiffness in N m a radian.
    pub fn new(corners: [u32; 4], stiffness: f32) -> Self {
        Self { corners, stiffness, damping: 0.0 }
    }
}

impl SoftTetrahedron {
    /// A tetrahedron without damping: its corners, and Lame coefficients in pascals.
    pub fn new(corners: [u32; 4], mu: f32, lambda: f32) -> Self {
        Self { corners, mu, lambda, damping: 0.0 }
    }
}

/// A soft body to be added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftDesc {
    /// Rest positions of the particles, metres: the shape to which triangles, hinges and tetrahedra return.
    pub rest: Vec<Vec3>,
    /// Initial positions, metres; empty when they are the rest positions.
    pub positions: Vec<Vec3>,
    /// Initial velocities, metres a second; empty when all are 0.
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
    /// Further triangles of its surface, which are drawn and which rays meet, and nothing else: for cloth of springs.
    /// Triangles of cloth, and the outside of tetrahedra, are drawn anyway.
    pub skin: Vec<[u32; 3]>,
    /// How strongly gravity acts on it, 1 by default.
    pub gravity_scale: Option<f32>,
    /// How its particles touch rigid bodies; none for particles that pass through them.
    pub surface: Option<SoftSurface>,
}

/// How particles touch rigid bodies, and surfaces other soft ones. Particles inside of a solid touch nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SoftSurface {
    /// Distance that bodies keep from particles, metres: half of the thickness of cloth.
    pub radius: f32,
    /// Coefficient of friction, combined with that of a collider as colliders' are.
    pub friction: f32,
    /// Groups the particles belong to, as in [`Collider`](super::Collider).
    pub groups: u32,
    /// Groups they collide with.
    pub mask: u32,
    /// Whether its triangles, lines and particles touch those of soft bodies that say so too, its own among them: with
    /// twice the radius as the thickness, and friction. They never cross then, if they do not cross at the start.
    /// Particles that are nearer than four radii at rest, in one body, touch later. Off by default: it takes time.
    pub meets_soft: bool,
}

impl SoftSurface {
    /// Of a radius and a coefficient of friction, in all groups.
    pub fn new(radius: f32, friction: f32) -> Self {
        Self { radius, friction, groups: u32::MAX, mask: u32::MAX, meets_soft: false }
    }

    /// Makes it touch soft bodies, its own among them: see [`SoftSurface::meets_soft`].
    #[must_use]
    pub fn meeting_soft(mut self) -> Self {
        self.meets_soft = true;
        self
    }

    fn check(&self) -> Result<(), WorldError> {
        not_negative("radius", self.radius)?;
        not_negative("friction", self.friction)
    }
}

/// Most elements of a kind: they are numbered with 27 bits.
const MOST: usize = 1 << 26;

impl SoftDesc {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Moves the whole body by a distance, metres.
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

    /// Gives it another surface, or none.
    #[must_use]
    pub fn touching(mut self, surface: impl Into<Option<SoftSurface>>) -> Self {
        self.surface = surface.into();
        self
    }

    /// The sides of triangles and of tetrahedra that have nothing behind them, corners counter-clockwise from outside.
    pub fn outside(&self) -> Vec<[u32; 3]> {
        let mut sides: BTreeMap<[u32; 3], Option<[u32; 3]>> = BTreeMap::new();
        for t in &self.tetrahedra {
            let [a, b, c, d] = t.corners.map(|c| self.rest[c as usize]);
            let turned = (b - a).dot((c - a).cross(d - a)) < 0.0;
            let [a, b, c, d] = t.corners;
            for [x, y, z] in [[a, c, b], [a, b, d], [b, c, d], [a, d, c]] {
                let side = if turned { [x, z, y] } else { [x, y, z] };
                let mut key = side;
                key.sort_unstable();
                // One that is there twice lies between two.
                sides.entry(key).and_modify(|s| *s = None).or_insert(Some(side));
            }
        }
        self.triangles.iter().map(|t| t.corners).chain(sides.into_values().flatten()).collect()
    }

    /// All triangles of the surface: [`SoftDesc::outside`], and [`SoftDesc::skin`].
    pub fn surface_triangles(&self) -> Vec<[u32; 3]> {
        let mut all = self.outside();
        all.extend(&self.skin);
        all
    }

    /// Initial position of particle `index`.
    pub fn position(&self, index: usize) -> Vec3 {
        self.positions.get(index).or_else(|| self.rest.get(index)).copied().unwrap_or_default()
    }

    /// Initial velocity of particle `index`.
    pub fn velocity(&self, index: usize) -> Vec3 {
        self.velocities.get(index).copied().unwrap_or_default()
    }

    /// Checks the description as [`World::add_soft`](super::World::add_soft) does. The error names the first invalid
    /// value.
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
            ("triangles of the skin", self.skin.len()),
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
        self.surface.map_or(Ok(()), |s| s.check())?;
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
        for (index, corners) in self.skin.iter().enumerate() {
            let wrong = |error| WorldError::Element { kind: "skin", index, error: Box::new(error) };
            self.corners(corners).map_err(wrong)?;
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
