//! Edits of bodies between steps: velocities, poses, targets, impulses, forces, materials. They are kept in a list
//! and take effect at the start of the next step.
//!
//! When a body gets several edits before a step, they are applied in this order: the last pose, then the last
//! velocity or target, then all impulses that came after that, then forces.

use super::joint::SentJoints;
use super::soft::SentSoft;
use super::{BodyHandle, BodyKind, Collider, World, WorldError, finite3, not_negative, unit};
use crate::glam::{Quat, Vec3};

/// A change that has not reached the device yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Edit {
    /// The slot has a new body, or its body was removed.
    Body,
    /// Sets position and rotation.
    Pose(Vec3, Quat),
    /// Sets linear and angular velocity.
    Velocity(Vec3, Vec3),
    /// Sets the pose that a kinematic body reaches at the end of the step.
    Target(Vec3, Quat),
    /// An impulse at its centre of mass, and an angular one.
    Impulse(Vec3, Vec3),
    /// An impulse at a point.
    ImpulseAt(Vec3, Vec3),
    /// The lasting force was set, or has to be set again after a force for one step.
    Force,
    /// A force and a torque for one step.
    Push(Vec3, Vec3),
    /// A force at a point for one step.
    PushAt(Vec3, Vec3),
    /// The damping was set.
    Damping,
    /// The body is as described again: see [`World::reset_world`].
    Renew,
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
    /// Slots of the bodies that were edited, some more than once.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = u32> {
        self.edits.iter().map(|(slot, _)| *slot)
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

    /// Puts a body at a pose at the start of the next step. It keeps its velocity.
    pub fn set_pose(&mut self, body: BodyHandle, position: Vec3, rotation: Quat) -> Result<(), WorldError> {
        self.entry(body)?;
        finite3("position", position)?;
        unit("rotation", rotation)?;
        self.edits.push((body.index, Edit::Pose(position, rotation)));
        Ok(())
    }

    /// Moves a kinematic body to a pose in the course of the next step, pushing what is in its way and carrying what
    /// lies on it; then it stops. A body that keeps moving needs a target before every step. An error for bodies of
    /// other kinds.
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

    /// Applies an impulse at a body's centre of mass (N s) and an angular one (N m s), in world space. Static and
    /// kinematic bodies ignore it.
    pub fn apply_impulse(&mut self, body: BodyHandle, linear: Vec3, angular: Vec3) -> Result<(), WorldError> {
        finite3("impulse", linear)?;
        finite3("angular impulse", angular)?;
        self.push(body, Edit::Impulse(linear, angular))
    }

    /// Applies an impulse (N s) at a point, both in world space. Static and kinematic bodies ignore it.
    pub fn apply_impulse_at(&mut self, body: BodyHandle, impulse: Vec3, point: Vec3) -> Result<(), WorldError> {
        finite3("impulse", impulse)?;
        finite3("point", point)?;
        self.push(body, Edit::ImpulseAt(impulse, point))
    }

    /// Sets the force at a body's centre of mass (N) and the torque (N m), in world space, that act on it until they
    /// are set again. Static and kinematic bodies ignore them.
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

    /// Applies a force at the centre of mass (N) and a torque (N m), in world space, during the next step only, on
    /// top of the lasting force. Static and kinematic bodies ignore it.
    pub fn apply_force(&mut self, body: BodyHandle, force: Vec3, torque: Vec3) -> Result<(), WorldError> {
        finite3("force", force)?;
        finite3("torque", torque)?;
        self.push(body, Edit::Push(force, torque))
    }

    /// Applies a force (N) at a point, both in world space, during the next step only. Static and kinematic bodies
    /// ignore it.
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

    /// Changes the material of a body's collider: friction, restitution, combination rules, surface motion, groups.
    /// Shape, pose, density and whether it is a sensor cannot be changed. The result is checked as a whole; on an
    /// error nothing changes.
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

    /// Edits since the last step, in order: slot and edit.
    pub(crate) fn edits(&self) -> &[(u32, Edit)] {
        &self.edits
    }

    /// Slots of colliders whose current data the device lacks, in order, each once.
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

    /// Whether the device already has this slot's current body.
    pub(crate) fn is_sent(&self, index: u32) -> bool {
        self.slots.get(index as usize).is_none_or(|s| s.sent)
    }

    /// Notes that the device now has every body from slot `bodies` on, every collider from slot `colliders` on, and
    /// every hull.
    pub(crate) fn uploaded(&mut self, bodies: u32, colliders: u32) {
        self.slots.iter_mut().skip(bodies as usize).for_each(|s| s.sent = true);
        self.changed_colliders.retain(|&slot| slot < colliders);
        self.changed_hulls.clear();
    }

    /// Notes that all edits were sent to the device. `after` are edits of the next step that undo what was meant for
    /// one step only. Returns what [`World::unsend`] needs.
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

    /// Undoes [`World::sent`], because the step was not made: the edits are pending again, before those made since.
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
