//! What the user says: bodies and their shapes, as descriptions and handles. Knows nothing of devices.
//!
//! Everything is checked when it is said: an error names the field and leaves the world as it was.

mod hull;
mod hull_table;
mod inertia;
mod quickhull;
mod shape;

pub(crate) use hull::unit_box;
pub use hull::{Hull, MAX_HULL_VERTICES};
pub(crate) use hull_table::{BOX_EDGES, HullTable};
pub use shape::{Collider, Shape};

use crate::glam::{Quat, Vec3};
use drystone_kernels::rigid::{NONE, kind};
use inertia::MassProperties;

/// What is wrong with something that was said to a world.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// A value is NaN or infinite.
    #[error("{field} is not finite: {value}")]
    NotFinite {
        /// Which.
        field: &'static str,
        /// What it was.
        value: String,
    },
    /// A value must be greater than zero, or not negative.
    #[error("{field} is out of range: {value}; it must be {must}")]
    OutOfRange {
        /// Which.
        field: &'static str,
        /// What it was.
        value: f32,
        /// What it must be.
        must: &'static str,
    },
    /// A rotation that is no rotation.
    #[error("{field} is not a unit quaternion: its length is {length}")]
    NotUnit {
        /// Which.
        field: &'static str,
        /// Its length.
        length: f32,
    },
    /// A dynamic body needs a mass.
    #[error("a dynamic body has no mass: give it a collider with volume and density, or a mass")]
    NoMass,
    /// A half-space has no inside to weigh, and cannot fall.
    #[error("a half-space can only belong to a static body")]
    MovingHalfSpace,
    /// Too few points for a convex hull.
    #[error("a convex hull needs at least 4 points, not {points}")]
    HullPoints {
        /// How many there are.
        points: usize,
    },
    /// A convex hull without volume.
    #[error("the points of a convex hull lie in a plane: {size} m long, {width} m thick")]
    FlatHull {
        /// How far they are from lying in a plane.
        width: f32,
        /// Longest side of the box around them.
        size: f32,
    },
    /// A convex hull with too many vertices.
    #[error("a convex hull has more than {limit} vertices")]
    HullVertices {
        /// How many it may have.
        limit: usize,
    },
    /// A handle of a body that was removed.
    #[error("body {index} (generation {generation}) is no longer there")]
    StaleBody {
        /// Its slot.
        index: u32,
        /// Its generation.
        generation: u32,
    },
    /// Too many bodies or colliders.
    #[error("a world holds at most {limit} {what}")]
    Full {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        limit: u32,
    },
}

/// Names a body. Stays unique when its slot is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyHandle {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl BodyHandle {
    /// The slot in the engine's buffers.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// What may move a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BodyKind {
    /// Forces.
    #[default]
    Dynamic,
    /// Its velocity, and nothing else.
    Kinematic,
    /// Nothing.
    Static,
}

/// A body to be added.
#[derive(Clone, Debug, Default)]
pub struct BodyDesc {
    /// What may move it.
    pub kind: BodyKind,
    /// Of its origin.
    pub position: Vec3,
    /// From body space to world space.
    pub rotation: Quat,
    /// Of its centre of mass.
    pub linear_velocity: Vec3,
    /// In world space, radians a second.
    pub angular_velocity: Vec3,
    /// How strongly gravity acts on it, 1 by default.
    pub gravity_scale: Option<f32>,
    /// Its shapes.
    pub colliders: Vec<Collider>,
    /// Its mass, instead of what density and volume give. Inertia is scaled along.
    pub mass: Option<f32>,
}

impl BodyDesc {
    /// A dynamic body.
    pub fn dynamic() -> Self {
        Self::default()
    }

    /// A static body.
    pub fn fixed() -> Self {
        Self { kind: BodyKind::Static, ..Self::default() }
    }

    /// A body that moves with its velocity.
    pub fn kinematic() -> Self {
        Self { kind: BodyKind::Kinematic, ..Self::default() }
    }

    /// At `position`.
    pub fn at(mut self, position: Vec3) -> Self {
        self.position = position;
        self
    }

    /// Turned by `rotation`.
    pub fn turned(mut self, rotation: Quat) -> Self {
        self.rotation = rotation;
        self
    }

    /// With a linear velocity.
    pub fn moving(mut self, velocity: Vec3) -> Self {
        self.linear_velocity = velocity;
        self
    }

    /// With an angular velocity.
    pub fn spinning(mut self, velocity: Vec3) -> Self {
        self.angular_velocity = velocity;
        self
    }

    /// With one more shape.
    pub fn with(mut self, collider: impl Into<Collider>) -> Self {
        self.colliders.push(collider.into());
        self
    }

    /// With a mass of its own.
    pub fn weighing(mut self, mass: f32) -> Self {
        self.mass = Some(mass);
        self
    }
}

/// A body in the world.
#[derive(Clone, Debug)]
pub(crate) struct BodyEntry {
    pub desc: BodyDesc,
    pub mass: MassProperties,
    /// Slots of its colliders.
    pub colliders: Vec<u32>,
    /// Slots of their hulls, [`NONE`] for other shapes.
    pub hulls: Vec<u32>,
}

impl BodyEntry {
    pub fn kind_code(&self) -> u32 {
        match self.desc.kind {
            BodyKind::Dynamic => kind::DYNAMIC,
            BodyKind::Kinematic => kind::KINEMATIC,
            BodyKind::Static => kind::STATIC,
        }
    }
}

#[derive(Clone, Debug)]
struct Slot {
    generation: u32,
    entry: Option<BodyEntry>,
}

/// A change that has not reached the device yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Edit {
    /// The body is new, or gone.
    Body(u32),
    /// The collider is gone.
    Collider(u32),
    /// The hull is new.
    Hull(u32),
    /// It gets this velocity.
    Velocity(u32, Vec3, Vec3),
    /// Its velocity changes by this.
    Impulse(u32, Vec3, Vec3),
    /// It is put somewhere.
    Pose(u32, Vec3, Quat),
}

/// Bodies, gravity, and what was changed since the last step.
#[derive(Clone, Debug)]
pub struct World {
    gravity: Vec3,
    slots: Vec<Slot>,
    free: Vec<u32>,
    collider_count: u32,
    free_colliders: Vec<u32>,
    hulls: HullTable,
    edits: Vec<Edit>,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

const MAX_BODIES: u32 = 1 << 30;

fn finite3(field: &'static str, v: Vec3) -> Result<(), WorldError> {
    if v.is_finite() { Ok(()) } else { Err(WorldError::NotFinite { field, value: v.to_string() }) }
}

fn finite1(field: &'static str, v: f32) -> Result<(), WorldError> {
    if v.is_finite() { Ok(()) } else { Err(WorldError::NotFinite { field, value: v.to_string() }) }
}

fn unit(field: &'static str, q: Quat) -> Result<(), WorldError> {
    let length = q.length();
    if !length.is_finite() {
        return Err(WorldError::NotFinite { field, value: q.to_string() });
    }
    if (length - 1.0).abs() < 1e-3 { Ok(()) } else { Err(WorldError::NotUnit { field, length }) }
}

impl World {
    /// An empty world with earth's gravity along -y.
    pub fn new() -> Self {
        Self {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            slots: Vec::new(),
            free: Vec::new(),
            collider_count: 0,
            free_colliders: Vec::new(),
            hulls: HullTable::new(),
            edits: Vec::new(),
        }
    }

    /// Acceleration of everything that falls.
    pub fn gravity(&self) -> Vec3 {
        self.gravity
    }

    /// Sets the acceleration of everything that falls.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), WorldError> {
        finite3("gravity", gravity)?;
        self.gravity = gravity;
        Ok(())
    }

    /// Adds a body.
    pub fn add(&mut self, desc: BodyDesc) -> Result<BodyHandle, WorldError> {
        finite3("position", desc.position)?;
        unit("rotation", desc.rotation)?;
        finite3("linear_velocity", desc.linear_velocity)?;
        finite3("angular_velocity", desc.angular_velocity)?;
        finite1("gravity_scale", desc.gravity_scale.unwrap_or(1.0))?;
        if let Some(mass) = desc.mass {
            finite1("mass", mass)?;
            if mass <= 0.0 {
                return Err(WorldError::OutOfRange { field: "mass", value: mass, must: "greater than 0" });
            }
        }
        for collider in &desc.colliders {
            collider.check()?;
            if collider.shape == Shape::HalfSpace && desc.kind != BodyKind::Static {
                return Err(WorldError::MovingHalfSpace);
            }
        }
        let mass = MassProperties::new(&desc)?;
        if self.slots.len() as u32 - self.free.len() as u32 >= MAX_BODIES {
            return Err(WorldError::Full { what: "bodies", limit: MAX_BODIES });
        }
        self.hulls.check(desc.colliders.iter().filter(|c| matches!(c.shape, Shape::ConvexHull(_))).count())?;
        let hulls = desc.colliders.iter().map(|c| self.hull_slot(c)).collect();
        let colliders = desc.colliders.iter().map(|_| self.collider_slot()).collect();
        let entry = BodyEntry { desc, mass, colliders, hulls };
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, entry: None });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.entry = Some(entry);
        let generation = slot.generation;
        self.edits.push(Edit::Body(index));
        Ok(BodyHandle { index, generation })
    }

    fn collider_slot(&mut self) -> u32 {
        self.free_colliders.pop().unwrap_or_else(|| {
            self.collider_count += 1;
            self.collider_count - 1
        })
    }

    fn hull_slot(&mut self, collider: &Collider) -> u32 {
        let Shape::ConvexHull(hull) = &collider.shape else { return NONE };
        let (slot, new) = self.hulls.acquire(hull);
        if new {
            self.edits.push(Edit::Hull(slot));
        }
        slot
    }

    /// Removes a body. Its handle is stale from now on.
    pub fn remove(&mut self, body: BodyHandle) -> Result<(), WorldError> {
        self.entry(body)?;
        let slot = &mut self.slots[body.index as usize];
        if let Some(entry) = slot.entry.take() {
            self.edits.extend(entry.colliders.iter().map(|c| Edit::Collider(*c)));
            self.free_colliders.extend(entry.colliders);
            entry.hulls.into_iter().filter(|h| *h != NONE).for_each(|h| self.hulls.release(h));
        }
        slot.generation += 1;
        self.free.push(body.index);
        self.edits.push(Edit::Body(body.index));
        Ok(())
    }

    /// Sets a body's velocities at the start of the next step.
    pub fn set_velocity(&mut self, body: BodyHandle, linear: Vec3, angular: Vec3) -> Result<(), WorldError> {
        self.entry(body)?;
        finite3("linear velocity", linear)?;
        finite3("angular velocity", angular)?;
        self.edits.push(Edit::Velocity(body.index, linear, angular));
        Ok(())
    }

    /// Changes a body's velocities at the start of the next step by an impulse at its centre of mass and an angular one.
    /// Bodies that forces do not move ignore it.
    pub fn apply_impulse(&mut self, body: BodyHandle, linear: Vec3, angular: Vec3) -> Result<(), WorldError> {
        let entry = self.entry(body)?;
        finite3("impulse", linear)?;
        finite3("angular impulse", angular)?;
        if entry.desc.kind == BodyKind::Dynamic {
            self.edits.push(Edit::Impulse(body.index, linear, angular));
        }
        Ok(())
    }

    /// Puts a body somewhere at the start of the next step.
    pub fn set_pose(&mut self, body: BodyHandle, position: Vec3, rotation: Quat) -> Result<(), WorldError> {
        self.entry(body)?;
        finite3("position", position)?;
        unit("rotation", rotation)?;
        self.edits.push(Edit::Pose(body.index, position, rotation));
        Ok(())
    }

    /// Bodies there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Handles of all bodies.
    pub fn handles(&self) -> impl Iterator<Item = BodyHandle> {
        (0..)
            .zip(&self.slots)
            .filter(|(_, s)| s.entry.is_some())
            .map(|(index, s)| BodyHandle { index, generation: s.generation })
    }

    /// The description a body was added with.
    pub fn desc(&self, body: BodyHandle) -> Result<&BodyDesc, WorldError> {
        Ok(&self.entry(body)?.desc)
    }

    /// Mass of a body, 0 when forces do not move it.
    pub fn mass(&self, body: BodyHandle) -> Result<f32, WorldError> {
        Ok(self.entry(body)?.mass.mass)
    }

    pub(crate) fn entry(&self, body: BodyHandle) -> Result<&BodyEntry, WorldError> {
        let BodyHandle { index, generation } = body;
        let slot = self.slots.get(index as usize).filter(|s| s.generation == generation);
        slot.and_then(|s| s.entry.as_ref()).ok_or(WorldError::StaleBody { index, generation })
    }

    pub(crate) fn slot(&self, index: u32) -> Option<&BodyEntry> {
        self.slots.get(index as usize)?.entry.as_ref()
    }

    pub(crate) fn slot_count(&self) -> u32 {
        self.slots.len() as u32
    }

    pub(crate) fn collider_slots(&self) -> u32 {
        self.collider_count
    }

    pub(crate) fn hulls(&self) -> &HullTable {
        &self.hulls
    }

    pub(crate) fn take_edits(&mut self) -> Vec<Edit> {
        std::mem::take(&mut self.edits)
    }
}
