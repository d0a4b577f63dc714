//! What the user says: bodies and their shapes, as descriptions and handles, and what happens to them between steps. Knows
//! nothing of devices.
//!
//! Everything is checked when it is said: an error names the field and leaves the world as it was.

mod desc;
mod edit;
mod error;
pub(crate) mod handle;
mod hull;
mod hull_table;
mod inertia;
pub mod joint;
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
pub use material::{Combine, ContactReports, Features};
pub use shape::{Collider, Shape};
pub use soft::{AttachmentDesc, AttachmentHandle, Cloth, SoftDesc, SoftHandle, Solid};

pub(crate) use edit::{Edit, Sent};
pub(crate) use hull::unit_box;

use crate::glam::{Quat, Vec3};
use drystone_kernels::state::rigid::NONE;
use handle::{WorldNumber, next_use, uses};
use inertia::MassProperties;
use joint::Joints;
use names::Names;
use soft::SoftBodies;
use std::sync::Arc;

/// Names a body. Stays unique when its slot is used again, and is of one world and its copies: another refuses it.
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
    /// Slots of their hulls, or of what stands in for them; [`NONE`] for other shapes.
    pub hulls: Vec<u32>,
    /// What acts on it until it is changed.
    pub force: Vec3,
    pub torque: Vec3,
    /// How it is damped: linear, angular, 1/s.
    pub damping: (f32, f32),
    /// Slots of its joints.
    pub joints: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Slot {
    /// How often it was used before.
    generation: u32,
    /// Shared with copies of the world, which histories are made of.
    entry: Option<Arc<BodyEntry>>,
    /// Whether the device has this body, or knows that there is none.
    sent: bool,
}

/// Whose a collider slot is: a body, and which of its colliders.
type Owner = Option<(u32, u32)>;

/// Bodies, gravity, and what was changed since the last step.
#[derive(Clone, Debug)]
pub struct World {
    number: WorldNumber,
    gravity: Vec3,
    slots: Vec<Slot>,
    free: Vec<u32>,
    colliders: Vec<Owner>,
    free_colliders: Vec<u32>,
    hulls: Arc<HullTable>,
    joints: Joints,
    soft: SoftBodies,
    names: Names,
    joint_names: Names,
    /// Bodies with continuous detection.
    continuous: u32,
    /// In the order in which they were said: slot and change.
    edits: Vec<(u32, Edit)>,
    /// Slots of colliders that the device does not have as they are.
    changed_colliders: Vec<u32>,
    /// Slots of hulls that the device does not have.
    changed_hulls: Vec<u32>,
    /// What colliders are and do that were ever added.
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
            gravity: Vec3::new(0.0, -9.81, 0.0),
            slots: Vec::new(),
            free: Vec::new(),
            colliders: Vec::new(),
            free_colliders: Vec::new(),
            hulls: Arc::new(HullTable::new()),
            joints: Joints { number, ..Joints::default() },
            soft: SoftBodies::default(),
            names: Names::default(),
            joint_names: Names::default(),
            continuous: 0,
            edits: Vec::new(),
            changed_colliders: Vec::new(),
            changed_hulls: Vec::new(),
            features: Features::default(),
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

    /// Adds a body. Between steps, too: it is there from the start of the next one.
    pub fn add(&mut self, desc: BodyDesc) -> Result<BodyHandle, WorldError> {
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
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, entry: None, sent: false });
            self.slots.len() as u32 - 1
        });
        let colliders: Vec<u32> = (0..desc.colliders.len() as u32).map(|n| self.collider_slot((index, n))).collect();
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

    fn collider_slot(&mut self, owner: (u32, u32)) -> u32 {
        let slot = self.free_colliders.pop().unwrap_or_else(|| {
            self.colliders.push(None);
            self.colliders.len() as u32 - 1
        });
        self.colliders[slot as usize] = Some(owner);
        slot
    }

    /// The slot of a collider's hull, or of what stands in for a cylinder or a cone where bodies are continuous.
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

    /// Gives hulls to cylinders and cones that were added before there was anything continuous.
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

    /// Removes a body, its joints and its attachments. Its handle is stale from now on.
    pub fn remove(&mut self, body: BodyHandle) -> Result<(), WorldError> {
        for joint in self.entry(body)?.joints.clone() {
            self.drop_joint(joint);
        }
        self.drop_attachments_of(body);
        let slot = &mut self.slots[body.index as usize];
        let entry = slot.entry.take();
        self.continuous -= u32::from(entry.as_ref().is_some_and(|e| e.desc.continuous));
        let (colliders, hulls) = entry.as_deref().map_or((&[][..], &[][..]), |e| (&e.colliders, &e.hulls));
        for &hull in hulls.iter().filter(|h| **h != NONE) {
            Arc::make_mut(&mut self.hulls).release(hull);
        }
        for &collider in colliders {
            self.colliders[collider as usize] = None;
            self.free_colliders.push(collider);
            self.changed_colliders.push(collider);
        }
        slot.generation = next_use(slot.generation);
        slot.sent = false;
        self.names.forget(body.index);
        self.free.push(body.index);
        self.edits.push((body.index, Edit::Body));
        Ok(())
    }

    /// Bodies with continuous detection.
    pub(crate) fn continuous_count(&self) -> u32 {
        self.continuous
    }

    /// Bodies there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Colliders there are, of all bodies together.
    pub fn collider_count(&self) -> usize {
        self.colliders.len() - self.free_colliders.len()
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

    /// Mass of a body, 0 when forces do not move it.
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

    /// Whose the collider of a slot is, if it still is of this generation: the lower half of that of its body.
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

    /// What colliders are and do that were ever added: what passes a step needs.
    pub(crate) fn features(&self) -> Features {
        self.features
    }

    /// Whether the hulls are those of a copy of the world, in the same places.
    pub(crate) fn has_hulls_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.hulls, &other.hulls)
    }

    pub(crate) fn hulls(&self) -> &HullTable {
        &self.hulls
    }
}
