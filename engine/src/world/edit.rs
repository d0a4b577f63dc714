//! What is said to bodies between steps. It is kept in a list, and takes effect at the start of the next step.
//!
//! A body that is told several things before a step is first put where it was last told to be, then gets the last velocity or
//! target, then all impulses that came after that, and forces.

use super::joint::SentJoints;
use super::soft::SentSoft;
use super::{BodyHandle, BodyKind, Collider, World, WorldError, finite3, not_negative, unit};
use crate::glam::{Quat, Vec3};

/// A change that has not reached the device yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Edit {
    /// The slot's body is new, or gone.
    Body,
    /// It is put somewhere.
    Pose(Vec3, Quat),
    /// It gets this velocity.
    Velocity(Vec3, Vec3),
    /// It is there at the end of the step.
    Target(Vec3, Quat),
    /// An impulse at its centre of mass, and an angular one.
    Impulse(Vec3, Vec3),
    /// An impulse at a point.
    ImpulseAt(Vec3, Vec3),
    /// The force that acts on it was set, or has to be again.
    Force,
    /// A force and a torque for one step.
    Push(Vec3, Vec3),
    /// A force at a point for one step.
    PushAt(Vec3, Vec3),
    /// How it is damped was set.
    Damping,
}

/// Changes that were sent to the device.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    edits: Vec<(u32, Edit)>,
    after_count: usize,
    colliders: Vec<u32>,
    hulls: Vec<u32>,
    joints: SentJoints,
    soft: SentSoft,
}

impl Sent {
    /// Whether nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.colliders.is_empty() && self.hulls.is_empty() && self.joints.is_empty()
    }
}

impl World {
    /// Sets a body's velocities. Static bodies ignore it.
    pub fn set_velocity(&mut self, body: BodyHandle, linear: Vec3, angular: Vec3) -> Result<(), WorldError> {
        finite3("linear velocity", linear)?;
        finite3("angular velocity", angular)?;
        if self.entry(body)?.desc.kind != BodyKind::Static {
            self.edits.push((body.index, Edit::Velocity(linear, angular)));
        }
        Ok(())
    }

    /// Puts a body somewhere. It keeps its velocity.
    pub fn set_pose(&mut self, body: BodyHandle, position: Vec3, rotation: Quat) -> Result<(), WorldError> {
        self.entry(body)?;
        finite3("position", position)?;
        unit("rotation", rotation)?;
        self.edits.push((body.index, Edit::Pose(position, rotation)));
        Ok(())
    }

    /// Moves a kinematic body: it goes there in the course of the next step, pushing what is in its way and carrying what lies on
    /// it, and then stops. A body that keeps moving gets a target before every step.
    pub fn set_target(&mut self, body: BodyHandle, position: Vec3, rotation: Quat) -> Result<(), WorldError> {
        let is = self.entry(body)?.desc.kind;
        if is != BodyKind::Kinematic {
            let needs = BodyKind::Kinematic;
            return Err(WorldError::WrongKind { what: "a target", index: body.index, is, needs });
        }
        finite3("target position", position)?;
        unit("target rotation", rotation)?;
        self.edits.push((body.index, Edit::Target(position, rotation)));
        Ok(())
    }

    /// Changes a body's velocities by an impulse at its centre of mass and an angular one. Bodies that forces do not move
    /// ignore it.
    pub fn apply_impulse(&mut self, body: BodyHandle, linear: Vec3, angular: Vec3) -> Result<(), WorldError> {
        finite3("impulse", linear)?;
        finite3("angular impulse", angular)?;
        self.push(body, Edit::Impulse(linear, angular))
    }

    /// Changes a body's velocities by an impulse at a point in world space. Bodies that forces do not move ignore it.
    pub fn apply_impulse_at(&mut self, body: BodyHandle, impulse: Vec3, point: Vec3) -> Result<(), WorldError> {
        finite3("impulse", impulse)?;
        finite3("point", point)?;
        self.push(body, Edit::ImpulseAt(impulse, point))
    }

    /// Sets the force at a body's centre of mass and the torque that act on it from now on, until they are set again. Bodies
    /// that forces do not move ignore them.
    pub fn set_force(&mut self, body: BodyHandle, force: Vec3, torque: Vec3) -> Result<(), WorldError> {
        finite3("force", force)?;
        finite3("torque", torque)?;
        self.push(body, Edit::Force)?;
        if let Some(entry) = self.slot_mut(body.index) {
            (entry.force, entry.torque) = (force, torque);
        }
        Ok(())
    }

    /// The force and the torque that act on a body until they are changed.
    pub fn force(&self, body: BodyHandle) -> Result<(Vec3, Vec3), WorldError> {
        let entry = self.entry(body)?;
        Ok((entry.force, entry.torque))
    }

    /// Lets a force at the centre of mass and a torque act on a body during the next step, on top of what acts on it anyway.
    /// Bodies that forces do not move ignore it.
    pub fn apply_force(&mut self, body: BodyHandle, force: Vec3, torque: Vec3) -> Result<(), WorldError> {
        finite3("force", force)?;
        finite3("torque", torque)?;
        self.push(body, Edit::Push(force, torque))
    }

    /// Lets a force at a point in world space act on a body during the next step. Bodies that forces do not move ignore it.
    pub fn apply_force_at(&mut self, body: BodyHandle, force: Vec3, point: Vec3) -> Result<(), WorldError> {
        finite3("force", force)?;
        finite3("point", point)?;
        self.push(body, Edit::PushAt(force, point))
    }

    /// Sets how strongly a body is damped from now on, 1/s: see [`BodyDesc::damped`](super::BodyDesc::damped).
    pub fn set_damping(&mut self, body: BodyHandle, linear: f32, angular: f32) -> Result<(), WorldError> {
        not_negative("linear_damping", linear)?;
        not_negative("angular_damping", angular)?;
        self.push(body, Edit::Damping)?;
        if let Some(entry) = self.slot_mut(body.index) {
            entry.damping = (linear, angular);
        }
        Ok(())
    }

    /// How strongly a body is damped: linear, angular.
    pub fn damping(&self, body: BodyHandle) -> Result<(f32, f32), WorldError> {
        Ok(self.entry(body)?.damping)
    }

    /// Changes what a collider of a body is made of: friction, restitution, how it is combined, how its surface moves, groups.
    /// Shape, place and density stay as they are, and so does whether it is a sensor; the result is checked as a whole.
    pub fn set_material(
        &mut self,
        body: BodyHandle,
        collider: usize,
        change: impl FnOnce(&mut Collider),
    ) -> Result<(), WorldError> {
        let entry = self.entry(body)?;
        let count = entry.desc.colliders.len();
        let old = entry.desc.colliders.get(collider).ok_or(WorldError::NoCollider { index: collider, count })?;
        let mut new = old.clone();
        change(&mut new);
        let same = (new.shape == old.shape, new.position == old.position, new.rotation == old.rotation);
        if same != (true, true, true) || (new.density, new.sensor) != (old.density, old.sensor) {
            return Err(WorldError::NotMaterial { index: collider });
        }
        new.check()?;
        let slot = entry.colliders[collider];
        self.features = self.features.with(&new);
        self.changed_colliders.push(slot);
        if let Some(entry) = self.slot_mut(body.index) {
            entry.desc.colliders[collider] = new;
        }
        Ok(())
    }

    /// The collider of a body as it is now.
    pub fn collider_of(&self, body: BodyHandle, collider: usize) -> Result<&Collider, WorldError> {
        let colliders = &self.entry(body)?.desc.colliders;
        colliders.get(collider).ok_or(WorldError::NoCollider { index: collider, count: colliders.len() })
    }

    fn push(&mut self, body: BodyHandle, edit: Edit) -> Result<(), WorldError> {
        if self.entry(body)?.desc.kind == BodyKind::Dynamic {
            self.edits.push((body.index, edit));
        }
        Ok(())
    }

    /// Everything said since the last step, in order: slot and change.
    pub(crate) fn edits(&self) -> &[(u32, Edit)] {
        &self.edits
    }

    /// Slots of colliders that the device does not have as they are, in order, each once.
    pub(crate) fn changed_colliders(&self) -> Vec<u32> {
        let mut slots = self.changed_colliders.clone();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Slots of hulls that the device does not have.
    pub(crate) fn changed_hulls(&self) -> Vec<u32> {
        self.changed_hulls.clone()
    }

    /// Whether the device has this slot's body as it is.
    pub(crate) fn is_sent(&self, index: u32) -> bool {
        self.slots.get(index as usize).is_none_or(|s| s.sent)
    }

    /// The device has every body from slot `bodies` on, every collider from slot `colliders` on, and every hull.
    pub(crate) fn uploaded(&mut self, bodies: u32, colliders: u32) {
        self.slots.iter_mut().skip(bodies as usize).for_each(|s| s.sent = true);
        self.changed_colliders.retain(|&slot| slot < colliders);
        self.changed_hulls.clear();
    }

    /// The device has everything. `after` is what takes back, in the next step, what was for one step only. Returns what
    /// [`World::unsend`] takes.
    pub(crate) fn sent(&mut self, after: Vec<(u32, Edit)>) -> Sent {
        let after_count = after.len();
        let edits = std::mem::replace(&mut self.edits, after);
        for (index, edit) in &edits {
            if *edit == Edit::Body {
                self.slots[*index as usize].sent = true;
            }
        }
        Sent {
            edits,
            after_count,
            colliders: std::mem::take(&mut self.changed_colliders),
            hulls: std::mem::take(&mut self.changed_hulls),
            joints: self.joint_store_mut().sent(),
            soft: self.soft_store_mut().sent(),
        }
    }

    /// What was sent never arrived: it is as if it had not been, and what was said since comes behind it.
    pub(crate) fn unsend(&mut self, sent: Sent) {
        let Sent { mut edits, after_count, colliders, hulls, joints, soft } = sent;
        for (index, edit) in &edits {
            if *edit == Edit::Body {
                self.slots[*index as usize].sent = false;
            }
        }
        edits.extend(self.edits.drain(..).skip(after_count));
        self.edits = edits;
        self.changed_colliders.extend(colliders);
        self.changed_hulls.extend(hulls);
        self.joint_store_mut().unsend(joints);
        self.soft_store_mut().unsend(soft);
    }
}
