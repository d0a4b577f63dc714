//! The world's joints: their slots, the allocation of their rows, and which changes the device lacks.

use super::{Axis, Drive, JointAxis, JointDesc, JointHandle};
use crate::world::handle::{WorldNumber, next_use, uses};
use crate::world::many::Free;
use crate::world::{LIMIT, World, WorldError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A joint in the world.
#[derive(Clone, Debug)]
pub(crate) struct JointEntry {
    pub desc: JointDesc,
    /// Its rows in the device's list.
    pub first_row: u32,
    pub rows: u32,
    pub broken: bool,
}

#[derive(Clone, Debug)]
pub(in crate::world) struct JointSlot {
    pub generation: u32,
    /// Shared with copies of the world.
    pub entry: Option<Arc<JointEntry>>,
    /// The world that it belongs to for good.
    pub world: u32,
}

/// A slot whose current joint the device lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Changed {
    pub slot: u32,
    /// Whether the device's state of its rows (multipliers, stiffness) is to be reset.
    pub fresh: bool,
}

/// Changes that were sent to the device.
#[derive(Clone, Debug)]
pub(crate) struct SentJoints(Vec<Changed>);

/// All joints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joints {
    /// Of the world.
    pub(in crate::world) number: WorldNumber,
    pub(in crate::world) slots: Vec<JointSlot>,
    pub(in crate::world) free: Free,
    /// Freed ranges of rows, by their length.
    pub(in crate::world) free_rows: BTreeMap<u32, Vec<u32>>,
    pub(in crate::world) row_count: u32,
    pub(in crate::world) changed: Vec<Changed>,
}

impl Joints {
    /// Slots up to the last that was ever used.
    pub fn slot_count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Rows up to the last that was ever used.
    pub fn row_count(&self) -> u32 {
        self.row_count
    }

    pub fn slot(&self, index: u32) -> Option<&JointEntry> {
        self.slots.get(index as usize)?.entry.as_deref()
    }

    /// Every joint with its slot.
    pub fn entries(&self) -> impl Iterator<Item = (u32, &JointEntry)> {
        (0..).zip(&self.slots).filter_map(|(i, s)| Some((i, s.entry.as_deref()?)))
    }

    pub fn handle(&self, index: u32) -> Option<JointHandle> {
        let slot = self.slots.get(index as usize).filter(|s| s.entry.is_some())?;
        Some(JointHandle { index, generation: self.number.generation(slot.generation) })
    }

    /// Slots whose current joint the device lacks, each once.
    pub fn changed(&self) -> Vec<Changed> {
        let mut changed = self.changed.clone();
        // Of several changes of a slot, a fresh one sorts last and wins.
        changed.sort_unstable();
        changed.dedup_by(|later, kept| {
            let same = later.slot == kept.slot;
            kept.fresh |= same && later.fresh;
            same
        });
        changed
    }

    /// Slots of joints that have not been in any step yet: added or repaired since the last one.
    pub fn fresh(&self) -> BTreeSet<u32> {
        self.changed.iter().filter(|c| c.fresh).map(|c| c.slot).collect()
    }

    /// Marks slots that are new on the device, so that they are sent with fresh row states.
    pub fn resend(&mut self, new: std::ops::Range<u32>) {
        self.changed.extend(new.map(|slot| Changed { slot, fresh: true }));
    }

    /// Sends these slots again, because the device may have old data; the states of their rows are kept.
    pub fn send_again(&mut self, slots: std::ops::Range<u32>) {
        self.changed.extend(slots.map(|slot| Changed { slot, fresh: false }));
    }

    /// Notes that all changes were sent. Returns what [`Joints::unsend`] needs.
    pub fn sent(&mut self) -> SentJoints {
        SentJoints(std::mem::take(&mut self.changed))
    }

    /// Undoes [`Joints::sent`], because the step was not made.
    pub fn unsend(&mut self, sent: SentJoints) {
        self.changed.extend(sent.0);
    }

    pub(in crate::world) fn take_rows(&mut self, count: u32) -> u32 {
        let free = self.free_rows.get_mut(&count).and_then(Vec::pop);
        free.unwrap_or_else(|| {
            self.row_count += count;
            self.row_count - count
        })
    }

    fn give_rows(&mut self, entry: &JointEntry) {
        if entry.rows > 0 {
            self.free_rows.entry(entry.rows).or_default().push(entry.first_row);
        }
    }

    pub(in crate::world) fn add(&mut self, world: u32, desc: JointDesc) -> JointHandle {
        let rows = desc.rows().len() as u32;
        let first_row = self.take_rows(rows);
        let index = self.free.pop(world).unwrap_or_else(|| {
            self.slots.push(JointSlot { generation: 0, entry: None, world });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.entry = Some(Arc::new(JointEntry { desc, first_row, rows, broken: false }));
        let handle = JointHandle { index, generation: self.number.generation(slot.generation) };
        self.changed.push(Changed { slot: index, fresh: true });
        handle
    }

    pub(in crate::world) fn remove(&mut self, index: u32) -> Option<Arc<JointEntry>> {
        let slot = self.slots.get_mut(index as usize)?;
        let entry = slot.entry.take()?;
        slot.generation = next_use(slot.generation);
        let world = slot.world;
        self.free.push(world, index);
        self.give_rows(&entry);
        self.changed.push(Changed { slot: index, fresh: true });
        Some(entry)
    }

    /// Repairs a joint and forgets what the device knows of it.
    pub(in crate::world) fn renew(&mut self, index: u32) {
        let Some(entry) = self.slots.get_mut(index as usize).and_then(|s| s.entry.as_mut()) else { return };
        if entry.broken {
            Arc::make_mut(entry).broken = false;
        }
        self.changed.push(Changed { slot: index, fresh: true });
    }

    fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl World {
    /// Adds a joint; it acts from the next step on. An error, and no change, when the description is invalid.
    pub fn add_joint(&mut self, desc: JointDesc) -> Result<JointHandle, WorldError> {
        desc.check()?;
        self.entry(desc.body_a)?;
        desc.body_b.map(|b| self.entry(b)).transpose()?;
        if self.joints.len() >= (LIMIT / 16) as usize {
            return Err(WorldError::Full { what: "joints", limit: LIMIT / 16 });
        }
        let world = self.world_of_joint(desc.body_a, desc.body_b)?;
        let bodies = [Some(desc.body_a), desc.body_b];
        let handle = self.joints.add(world, desc);
        for body in bodies.into_iter().flatten() {
            if let Some(entry) = self.slot_mut(body.index) {
                entry.joints.push(handle.index);
            }
        }
        Ok(handle)
    }

    /// Removes a joint; its handle becomes stale. Removing a body removes its joints too.
    pub fn remove_joint(&mut self, joint: JointHandle) -> Result<(), WorldError> {
        self.joint_entry(joint)?;
        self.drop_joint(joint.index);
        Ok(())
    }

    /// Takes a joint out of its slot and off its bodies.
    pub(in crate::world) fn drop_joint(&mut self, index: u32) {
        let Some(entry) = self.joints.remove(index) else { return };
        self.joint_names.forget(index);
        for body in [Some(entry.desc.body_a), entry.desc.body_b].into_iter().flatten() {
            if let Some(body) = self.slot_mut(body.index) {
                body.joints.retain(|j| *j != index);
            }
        }
    }

    pub(crate) fn joint_entry(&self, joint: JointHandle) -> Result<&JointEntry, WorldError> {
        let JointHandle { index, generation } = joint;
        if !self.joints.number.knows(generation) {
            return Err(WorldError::ForeignJoint { index });
        }
        let generation = uses(generation);
        let slot = self.joints.slots.get(index as usize).filter(|s| s.generation == generation);
        slot.and_then(|s| s.entry.as_deref()).ok_or(WorldError::StaleJoint { index, generation })
    }

    fn joint_mut(&mut self, joint: JointHandle, fresh: bool) -> Result<&mut JointEntry, WorldError> {
        self.joint_entry(joint)?;
        let JointHandle { index, generation } = joint;
        self.joints.changed.push(Changed { slot: index, fresh });
        let entry = self.joints.slots.get_mut(index as usize).and_then(|s| s.entry.as_mut());
        entry.map(Arc::make_mut).ok_or(WorldError::StaleJoint { index, generation })
    }

    /// The description of a joint.
    pub fn joint(&self, joint: JointHandle) -> Result<&JointDesc, WorldError> {
        Ok(&self.joint_entry(joint)?.desc)
    }

    /// Handles of all joints.
    pub fn joints(&self) -> impl Iterator<Item = JointHandle> {
        self.joints.entries().filter_map(|(index, _)| self.joints.handle(index))
    }

    /// Whether a joint is broken.
    pub fn is_broken(&self, joint: JointHandle) -> Result<bool, WorldError> {
        Ok(self.joint_entry(joint)?.broken)
    }

    /// Breaks a joint: it does nothing until it is repaired.
    pub fn break_joint(&mut self, joint: JointHandle) -> Result<(), WorldError> {
        self.joint_entry(joint)?;
        self.joint_mut(joint, false)?.broken = true;
        Ok(())
    }

    /// Repairs a broken joint: it acts again from the next step on, and pulls its bodies together from where they
    /// are.
    pub fn repair_joint(&mut self, joint: JointHandle) -> Result<(), WorldError> {
        if self.joint_entry(joint)?.broken {
            self.joint_mut(joint, true)?.broken = false;
        }
        Ok(())
    }

    /// Sets or removes the drive of a coordinate, from the next step on.
    pub fn set_drive(&mut self, joint: JointHandle, axis: JointAxis, drive: Option<Drive>) -> Result<(), WorldError> {
        let hold = self.joint_entry(joint)?.desc.axes[axis as usize].hold;
        self.set_axis(joint, axis, Axis { hold, drive })
    }

    /// Sets the friction of a coordinate from now on: see [`JointDesc::rubbing`].
    pub fn set_friction(&mut self, joint: JointHandle, axis: JointAxis, most: f32) -> Result<(), WorldError> {
        let desc = self.joint_entry(joint)?.desc.clone().rubbing(axis, most);
        self.change_joint(joint, desc)
    }

    /// Sets hold and drive of a coordinate, from the next step on.
    pub fn set_axis(&mut self, joint: JointHandle, axis: JointAxis, does: Axis) -> Result<(), WorldError> {
        let mut desc = self.joint_entry(joint)?.desc.clone();
        desc.axes[axis as usize] = does;
        self.change_joint(joint, desc)
    }

    fn change_joint(&mut self, joint: JointHandle, desc: JointDesc) -> Result<(), WorldError> {
        let old = self.joint_entry(joint)?.clone();
        desc.check()?;
        let roles = |d: &JointDesc| d.rows().iter().map(|r| (r.axis, r.role)).collect::<Vec<_>>();
        let (before, after) = (roles(&old.desc), roles(&desc));
        let rows = after.len() as u32;
        let mut first_row = old.first_row;
        if rows != old.rows {
            self.joints.give_rows(&old);
            first_row = self.joints.take_rows(rows);
        }
        let entry = self.joint_mut(joint, before != after)?;
        (entry.desc, entry.first_row, entry.rows) = (desc, first_row, rows);
        Ok(())
    }

    /// Every joint, for the device.
    pub(crate) fn joint_store(&self) -> &Joints {
        &self.joints
    }

    pub(crate) fn joint_store_mut(&mut self) -> &mut Joints {
        &mut self.joints
    }

    /// Marks joints that broke on the device, except those with changes that the device has not seen.
    pub(crate) fn joints_broke(&mut self, slots: &[u32]) {
        let changed = self.joints.changed();
        for slot in slots.iter().filter(|slot| !changed.iter().any(|c| c.slot == **slot)) {
            self.joint_broke(*slot);
        }
    }

    /// Marks a joint that broke on the device.
    pub(crate) fn joint_broke(&mut self, index: u32) {
        if let Some(entry) = self.joints.slots.get_mut(index as usize).and_then(|s| s.entry.as_mut()) {
            Arc::make_mut(entry).broken = true;
        }
    }
}
