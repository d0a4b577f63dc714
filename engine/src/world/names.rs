//! Names of bodies and joints. A name belongs to one body, or to one joint, and is removed with it; events, reports
//! and scene files show it beside the slot.

use super::{BodyDesc, BodyHandle, JointDesc, JointHandle, World, WorldError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names by slot, and slots by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(Arc<Maps>);

/// Shared with copies of the world.
#[derive(Clone, Debug, Default)]
struct Maps {
    by_slot: BTreeMap<u32, Arc<str>>,
    by_name: BTreeMap<Arc<str>, u32>,
}

impl Names {
    /// An error when another slot has this name.
    fn check(&self, what: &'static str, name: &str, slot: Option<u32>) -> Result<(), WorldError> {
        match self.0.by_name.get(name) {
            Some(other) if Some(*other) != slot => {
                Err(WorldError::NameTaken { what, name: name.to_owned(), index: *other })
            }
            _ => Ok(()),
        }
    }

    pub(in crate::world) fn set(&mut self, slot: u32, name: &str) {
        self.forget(slot);
        let name: Arc<str> = name.into();
        let maps = Arc::make_mut(&mut self.0);
        maps.by_name.insert(name.clone(), slot);
        maps.by_slot.insert(slot, name);
    }

    pub(in crate::world) fn forget(&mut self, slot: u32) {
        if let Some(name) = self.0.by_slot.get(&slot).cloned() {
            let maps = Arc::make_mut(&mut self.0);
            maps.by_slot.remove(&slot);
            maps.by_name.remove(&name);
        }
    }

    /// Whether the slot has no name and the name is not used.
    pub(in crate::world) fn is_free(&self, slot: u32, name: &str) -> bool {
        !self.0.by_slot.contains_key(&slot) && !self.0.by_name.contains_key(name)
    }

    /// All of them, by slot.
    pub(in crate::world) fn all(&self) -> impl ExactSizeIterator<Item = (u32, &str)> {
        self.0.by_slot.iter().map(|(slot, name)| (*slot, &**name))
    }
}

impl World {
    /// Names a body. An error when another body has the name. The name is removed with the body.
    pub fn set_name(&mut self, body: BodyHandle, name: &str) -> Result<(), WorldError> {
        self.entry(body)?;
        self.names.check("body", name, Some(body.index))?;
        self.names.set(body.index, name);
        Ok(())
    }

    /// Adds a body, as [`World::add`] does, with a name that no other body has.
    pub fn add_named(&mut self, name: impl AsRef<str>, desc: BodyDesc) -> Result<BodyHandle, WorldError> {
        self.names.check("body", name.as_ref(), None)?;
        let body = self.add(desc)?;
        self.names.set(body.index, name.as_ref());
        Ok(body)
    }

    /// The name of a body, if it has one and still exists.
    pub fn name(&self, body: BodyHandle) -> Option<&str> {
        self.entry(body).ok()?;
        self.names.0.by_slot.get(&body.index).map(|name| &**name)
    }

    /// The body of that name.
    pub fn find(&self, name: &str) -> Option<BodyHandle> {
        self.handle(*self.names.0.by_name.get(name)?)
    }

    /// Every body that has a name, in the order of the names.
    pub fn names(&self) -> impl Iterator<Item = (&str, BodyHandle)> {
        self.names.0.by_name.iter().filter_map(|(name, slot)| Some((&**name, self.handle(*slot)?)))
    }

    /// Names a joint. An error when another joint has the name. The name is removed with the joint.
    pub fn set_joint_name(&mut self, joint: JointHandle, name: &str) -> Result<(), WorldError> {
        self.joint_entry(joint)?;
        self.joint_names.check("joint", name, Some(joint.index()))?;
        self.joint_names.set(joint.index(), name);
        Ok(())
    }

    /// Adds a joint, as [`World::add_joint`] does, with a name that no other joint has.
    pub fn add_joint_named(&mut self, name: impl AsRef<str>, desc: JointDesc) -> Result<JointHandle, WorldError> {
        self.joint_names.check("joint", name.as_ref(), None)?;
        let joint = self.add_joint(desc)?;
        self.joint_names.set(joint.index(), name.as_ref());
        Ok(joint)
    }

    /// The name of a joint, if it has one and still exists.
    pub fn joint_name(&self, joint: JointHandle) -> Option<&str> {
        self.joint_entry(joint).ok()?;
        self.joint_names.0.by_slot.get(&joint.index()).map(|name| &**name)
    }

    /// The joint of that name.
    pub fn find_joint(&self, name: &str) -> Option<JointHandle> {
        self.joint_handle(*self.joint_names.0.by_name.get(name)?)
    }

    /// Every joint that has a name, in the order of the names.
    pub fn joint_names(&self) -> impl Iterator<Item = (&str, JointHandle)> {
        self.joint_names.0.by_name.iter().filter_map(|(name, slot)| Some((&**name, self.joint_handle(*slot)?)))
    }

    /// The handle of the joint in a slot of the engine's buffers, if there is one.
    pub fn joint_handle(&self, index: u32) -> Option<JointHandle> {
        self.joints.handle(index)
    }
}
