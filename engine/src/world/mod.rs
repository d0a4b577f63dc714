//! The world as the user describes it: bodies, shapes, joints and soft bodies as descriptions and handles, and the
//! edits made to them between steps. Knows nothing of devices.
//!
//! Everything is checked when it is added or edited: an error names the field, and leaves the world unchanged.

mod desc;
mod edit;
mod error;
pub(crate) mod handle;
mod hull;
mod hull_table;
mod inertia;
pub mod joint;
mod many;
mod material;
mod names;
mod quickhull;
mod save;
mod shape;
pub mod soft;

pub use desc::{BodyDesc, BodyKind};
pub use error::WorldError;
pub use hull::{Hull, MAX_HULL_VERTICES};
pub(crate) use hull_table::{BOX_EDGES, HullTable};
pub use joint::{JointDesc, JointError, JointHandle};
pub use many::Placed;
pub use material::{Combine, ContactReports, Features};
pub use shape::{Collider, Shape};
pub use soft::{AttachmentDesc, AttachmentHandle, Cloth, SoftDesc, SoftHandle, SoftSurface, Solid};

pub(crate) use edit::{Edit, Sent};
pub(crate) use hull::unit_box;

use crate::glam::{Quat, Vec3};
use drystone_kernels::state::rigid::NONE;
use handle::{WorldNumber, next_use, uses};
use inertia::MassProperties;
use joint::Joints;
use many::{Free, Many};
use names::Names;
use soft::SoftBodies;
use std::sync::Arc;

/// Identifies a body. A handle stays unique when its slot is reused, and is valid in one world and its copies; other
/// worlds refuse it.
#[derive(Clone, Copy, Debug)]
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

/// A body in the world.
#[derive(Clone, Debug)]
pub(crate) struct BodyEntry {
    pub desc: BodyDesc,
    pub mass: MassProperties,
    /// Slots of its colliders.
    pub colliders: Vec<u32>,
    /// Slots of the colliders' hulls, or of hulls that stand in for cylinders and cones; [`NONE`] for other shapes.
    pub hulls: Vec<u32>,
    /// Lasting force at its centre of mass, newtons.
    pub force: Vec3,
    pub torque: Vec3,
    /// Damping: linear, angular, 1/s.
    pub damping: (f32, f32),
    /// Slots of its joints.
    pub joints: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Slot {
    /// How often the slot was used before.
    generation: u32,
    /// Shared with copies of the world, so that keeping frames for rollback is cheap.
    entry: Option<Arc<BodyEntry>>,
    /// Whether the device has this body, or knows that there is none.
    sent: bool,
    /// The world that it belongs to for good, or [`many::SHARED`].
    world: u32,
    /// Its number among the slots of that world.
    local: u32,
}

/// The owner of a collider slot: the body's slot, and which of its colliders.
type Owner = Option<(u32, u32)>;

/// Bodies, joints, soft bodies and gravity, and the edits since the last step. A plain value: it can be cloned and
/// moved between threads. It may hold many worlds that do not see each other: [`World::copies`].
#[derive(Clone, Debug)]
pub struct World {
    number: WorldNumber,
    many: Many,
    slots: Vec<Slot>,
    free: Free,
    colliders: Vec<Owner>,
    free_colliders: Free,
    hulls: Arc<HullTable>,
    joints: Joints,
    soft: SoftBodies,
    names: Names,
    joint_names: Names,
    /// Bodies with continuous detection.
    continuous: u32,
    /// Edits since the last step, in order: slot and edit.
    edits: Vec<(u32, Edit)>,
    /// Slots of colliders whose current data the device lacks.
    changed_colliders: Vec<u32>,
    /// Slots of hulls that the device does not have.
    changed_hulls: Vec<u32>,
    /// Features of all colliders that were ever added.
    features: Features,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// Most bodies, and most colliders.
const LIMIT: u32 = 1 << 30;

fn finite3(field: &'static str, v: Vec3) -> Result<(), WorldError> {
    if v.is_finite() { Ok(()) } else { Err(WorldError::NotFinite { field, value: v.to_string() }) }
}

fn finite1(field: &'static str, v: f32) -> Result<(), WorldError> {
    if v.is_finite() { Ok(()) } else { Err(WorldError::NotFinite { field, value: v.to_string() }) }
}

fn positive(field: &'static str, v: f32) -> Result<(), WorldError> {
    finite1(field, v)?;
    if v > 0.0 { Ok(()) } else { Err(WorldError::OutOfRange { field, value: v, must: "greater than 0" }) }
}

fn not_negative(field: &'static str, v: f32) -> Result<(), WorldError> {
    finite1(field, v)?;
    if v >= 0.0 { Ok(()) } else { Err(WorldError::OutOfRange { field, value: v, must: "0 or more" }) }
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
        let number = WorldNumber::next();
        Self {
            number,
            many: Many::default(),
            slots: Vec::new(),
            free: Free::default(),
            colliders: Vec::new(),
            free_colliders: Free::default(),
            hulls: Arc::new(HullTable::new()),
            joints: Joints { number, ..Joints::default() },
            soft: SoftBodies::of(number),
            names: Names::default(),
            joint_names: Names::default(),
            continuous: 0,
            edits: Vec::new(),
            changed_colliders: Vec::new(),
            changed_hulls: Vec::new(),
            features: Features::default(),
        }
    }

    /// Gravity, m/s^2: that of the first of many worlds.
    pub fn gravity(&self) -> Vec3 {
        self.many.gravity.first().copied().unwrap_or_default()
    }

    /// Sets gravity, m/s^2, from the next step on, in all worlds. An error when it is not finite.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), WorldError> {
        finite3("gravity", gravity)?;
        Arc::make_mut(&mut self.many.gravity).fill(gravity);
        Ok(())
    }

    /// Adds a body; it takes part from the next step on. An error, and no change, when the description is invalid.
    pub fn add(&mut self, desc: BodyDesc) -> Result<BodyHandle, WorldError> {
        self.add_in(0, desc)
    }

    fn add_in(&mut self, world: u32, desc: BodyDesc) -> Result<BodyHandle, WorldError> {
        let mass = desc.mass_properties()?;
        if self.len() >= LIMIT as usize {
            return Err(WorldError::Full { what: "bodies", limit: LIMIT });
        }
        if self.colliders.len() - self.free_colliders.len() + desc.colliders.len() > LIMIT as usize {
            return Err(WorldError::Full { what: "colliders", limit: LIMIT });
        }
        let stands_in = self.continuous > 0 || desc.continuous;
        if stands_in && self.continuous == 0 {
            self.add_stand_ins()?;
        }
        let hulled = |c: &&Collider| matches!(c.shape, Shape::ConvexHull(_)) || (stands_in && c.is_curved());
        self.hulls.check(desc.colliders.iter().filter(hulled).count())?;
        let hulls = desc.colliders.iter().map(|c| self.hull_slot(c, stands_in)).collect::<Result<_, _>>()?;
        let index = self.free.pop(world).unwrap_or_else(|| {
            let slot = self.slots.len() as u32;
            let local = self.many.take(world, slot);
            self.slots.push(Slot { generation: 0, entry: None, sent: false, world, local });
            slot
        });
        let count = desc.colliders.len() as u32;
        let colliders: Vec<u32> = (0..count).map(|n| self.collider_slot(world, (index, n))).collect();
        self.changed_colliders.extend(&colliders);
        self.features = desc.colliders.iter().fold(self.features, Features::with);
        let (force, torque, damping) = (desc.force, desc.torque, (desc.linear_damping, desc.angular_damping));
        self.continuous += u32::from(desc.continuous);
        let slot = &mut self.slots[index as usize];
        let entry = BodyEntry { desc, mass, colliders, hulls, force, torque, damping, joints: Vec::new() };
        slot.entry = Some(Arc::new(entry));
        slot.sent = false;
        let generation = self.number.generation(slot.generation);
        self.edits.push((index, Edit::Body));
        Ok(BodyHandle { index, generation })
    }

    fn collider_slot(&mut self, world: u32, owner: (u32, u32)) -> u32 {
        let slot = self.free_colliders.pop(world).unwrap_or_else(|| {
            self.colliders.push(None);
            self.colliders.len() as u32 - 1
        });
        self.colliders[slot as usize] = Some(owner);
        slot
    }

    /// The slot of a collider's hull, or of the hull that stands in for a cylinder or a cone in continuous detection.
    fn hull_slot(&mut self, collider: &Collider, stands_in: bool) -> Result<u32, WorldError> {
        let hull = match &collider.shape {
            Shape::ConvexHull(hull) => hull.clone(),
            _ => match collider.stand_in().filter(|_| stands_in) {
                Some(made) => Arc::new(made?),
                None => return Ok(NONE),
            },
        };
        let (slot, new) = Arc::make_mut(&mut self.hulls).acquire(&hull);
        if new {
            self.changed_hulls.push(slot);
        }
        Ok(slot)
    }

    /// Gives stand-in hulls to cylinders and cones that were added before the first continuous body.
    fn add_stand_ins(&mut self) -> Result<(), WorldError> {
        let waits = |(slot, owner): (usize, &Owner)| {
            let (body, n) = (*owner)?;
            let entry = self.slot(body)?;
            let collider = entry.desc.colliders.get(n as usize).filter(|c| c.is_curved())?;
            (entry.hulls.get(n as usize) == Some(&NONE)).then(|| (slot as u32, body, n, collider.clone()))
        };
        let waiting: Vec<_> = self.colliders.iter().enumerate().filter_map(waits).collect();
        self.hulls.check(waiting.len())?;
        for (slot, body, n, collider) in waiting {
            let hull = self.hull_slot(&collider, true)?;
            if let Some(entry) = &mut self.slots[body as usize].entry {
                Arc::make_mut(entry).hulls[n as usize] = hull;
            }
            self.changed_colliders.push(slot);
        }
        Ok(())
    }

    /// Removes a body, its joints and its attachments; its handle becomes stale.
    pub fn remove(&mut self, body: BodyHandle) -> Result<(), WorldError> {
        for joint in self.entry(body)?.joints.clone() {
            self.drop_joint(joint);
        }
        self.drop_attachments_of(body);
        let slot = &mut self.slots[body.index as usize];
        let world = slot.world;
        let entry = slot.entry.take();
        self.continuous -= u32::from(entry.as_ref().is_some_and(|e| e.desc.continuous));
        let (colliders, hulls) = entry.as_deref().map_or((&[][..], &[][..]), |e| (&e.colliders, &e.hulls));
        for &hull in hulls.iter().filter(|h| **h != NONE) {
            Arc::make_mut(&mut self.hulls).release(hull);
        }
        for &collider in colliders {
            self.colliders[collider as usize] = None;
            self.free_colliders.push(world, collider);
            self.changed_colliders.push(collider);
        }
        slot.generation = next_use(slot.generation);
        slot.sent = false;
        self.names.forget(body.index);
        self.free.push(world, body.index);
        self.edits.push((body.index, Edit::Body));
        Ok(())
    }

    /// Bodies with continuous detection.
    pub(crate) fn continuous_count(&self) -> u32 {
        self.continuous
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Number of colliders of all bodies together.
    pub fn collider_count(&self) -> usize {
        self.colliders.len() - self.free_colliders.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Handles of all bodies.
    pub fn handles(&self) -> impl Iterator<Item = BodyHandle> {
        (0..)
            .zip(&self.slots)
            .filter(|(_, s)| s.entry.is_some())
            .map(|(index, s)| BodyHandle { index, generation: self.number.generation(s.generation) })
    }

    /// The handle of the body in a slot of the engine's buffers, if there is one.
    pub fn handle(&self, index: u32) -> Option<BodyHandle> {
        let slot = self.slots.get(index as usize).filter(|s| s.entry.is_some())?;
        Some(BodyHandle { index, generation: self.number.generation(slot.generation) })
    }

    /// The description a body was added with.
    pub fn desc(&self, body: BodyHandle) -> Result<&BodyDesc, WorldError> {
        Ok(&self.entry(body)?.desc)
    }

    /// Mass of a body in kilograms; 0 for static and kinematic bodies.
    pub fn mass(&self, body: BodyHandle) -> Result<f32, WorldError> {
        Ok(self.entry(body)?.mass.mass)
    }

    pub(crate) fn entry(&self, body: BodyHandle) -> Result<&BodyEntry, WorldError> {
        let BodyHandle { index, generation } = body;
        if !self.number.knows(generation) {
            return Err(WorldError::ForeignBody { index });
        }
        let generation = uses(generation);
        let slot = self.slots.get(index as usize).filter(|s| s.generation == generation);
        slot.and_then(|s| s.entry.as_deref()).ok_or(WorldError::StaleBody { index, generation })
    }

    pub(crate) fn slot(&self, index: u32) -> Option<&BodyEntry> {
        self.slots.get(index as usize)?.entry.as_deref()
    }

    /// The body of a slot, to be changed.
    fn slot_mut(&mut self, index: u32) -> Option<&mut BodyEntry> {
        self.slots.get_mut(index as usize)?.entry.as_mut().map(Arc::make_mut)
    }

    /// The collider of a slot, and the body it is on.
    pub(crate) fn collider(&self, slot: u32) -> Option<(u32, &BodyEntry, &Collider)> {
        let (body, n) = (*self.colliders.get(slot as usize)?)?;
        let entry = self.slot(body)?;
        Some((body, entry, entry.desc.colliders.get(n as usize)?))
    }

    /// The owner of a collider slot, if its body's handle still has this generation (the lower 16 bits are compared).
    pub(crate) fn collider_owner(&self, slot: u32, generation: u32) -> Option<(BodyHandle, usize)> {
        let (body, n) = (*self.colliders.get(slot as usize)?)?;
        let handle = self.handle(body)?;
        (handle.generation & 0xffff == generation).then_some((handle, n as usize))
    }

    /// The hull of a collider slot.
    pub(crate) fn hull_of(&self, slot: u32) -> Option<u32> {
        let (body, n) = (*self.colliders.get(slot as usize)?)?;
        self.slot(body)?.hulls.get(n as usize).copied().filter(|h| *h != NONE)
    }

    /// Slots up to the last that is in use.
    pub(crate) fn slot_count(&self) -> u32 {
        let last = self.slots.iter().rposition(|s| s.entry.is_some());
        last.map_or(0, |i| i as u32 + 1)
    }

    /// Slots that were ever used.
    pub(crate) fn body_slots(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Slots of colliders that were ever used.
    pub(crate) fn collider_room(&self) -> u32 {
        self.colliders.len() as u32
    }

    /// Slots of colliders up to the last that is in use.
    pub(crate) fn collider_slots(&self) -> u32 {
        let last = self.colliders.iter().rposition(Option::is_some);
        last.map_or(0, |i| i as u32 + 1)
    }

    /// Features of all colliders that were ever added; they decide which passes a step needs.
    pub(crate) fn features(&self) -> Features {
        self.features
    }

    /// Whether both worlds are copies with the same hulls at the same places of the tables.
    pub(crate) fn has_hulls_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.hulls, &other.hulls)
    }

    pub(crate) fn hulls(&self) -> &HullTable {
        &self.hulls
    }
}
