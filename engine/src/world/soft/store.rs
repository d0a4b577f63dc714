//! The world's soft bodies: slots, where each begins in the device's lists, and what the device does not have yet.
//!
//! Particles and elements of a removed body leave a gap that is not reused. Constant tables are rewritten as a whole
//! when a body or an attachment is added or removed; states are written once and then belong to the device.

use super::{AttachmentDesc, AttachmentHandle, SoftDesc, SoftHandle, Topology};
use crate::glam::Vec3;
use crate::world::handle::WorldNumber;
use crate::world::{BodyHandle, World, WorldError, finite3};
use drystone_kernels::state::soft::soft_entry;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Places in the device's lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub particles: u32,
    pub springs: u32,
    pub membranes: u32,
    pub hinges: u32,
    pub tetrahedra: u32,
    /// Entries of particles in elements; those of attachments are not counted.
    pub entries: u32,
    /// Pieces of surfaces that meet soft ones.
    pub faces: u32,
}

impl Counts {
    fn of(desc: &SoftDesc, topology: &Topology) -> Self {
        let lengths = [
            desc.len(),
            desc.springs.len(),
            desc.triangles.len(),
            desc.hinges.len(),
            desc.tetrahedra.len(),
            topology.entries.len(),
            topology.faces.len(),
        ];
        let [particles, springs, membranes, hinges, tetrahedra, entries, faces] = lengths.map(|l| l as u32);
        Self { particles, springs, membranes, hinges, tetrahedra, entries, faces }
    }

    /// The sum of both; `None` when a count would be too large.
    fn plus(&self, more: &Self) -> Option<Self> {
        let add = |a: u32, b: u32| a.checked_add(b).filter(|sum| *sum < 1 << soft_entry::BITS);
        Some(Self {
            particles: add(self.particles, more.particles)?,
            springs: add(self.springs, more.springs)?,
            membranes: add(self.membranes, more.membranes)?,
            hinges: add(self.hinges, more.hinges)?,
            tetrahedra: add(self.tetrahedra, more.tetrahedra)?,
            entries: self.entries.checked_add(more.entries).filter(|sum| *sum < 1 << 29)?,
            faces: self.faces.checked_add(more.faces).filter(|sum| *sum < 1 << 29)?,
        })
    }
}

/// A soft body in the world.
#[derive(Clone, Debug)]
pub(crate) struct SoftEntry {
    pub desc: SoftDesc,
    pub topology: Topology,
}

#[derive(Clone, Debug)]
pub(in crate::world) struct SoftSlot {
    /// Where it begins.
    pub first: Counts,
    /// Its size in the lists, which stays occupied after it was removed.
    pub size: Counts,
    /// Shared with copies of the world.
    pub entry: Option<Arc<SoftEntry>>,
    /// Forces on particles that the user applies, newtons.
    pub forces: Arc<BTreeMap<u32, Vec3>>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct AttachmentSlot {
    /// With an anchor.
    pub desc: Option<AttachmentDesc>,
    /// Whether the device reported that it has let go.
    pub broken: bool,
}

/// What the device has of the states, before it was sent more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentSoft {
    sent: (u32, u32, u32),
    changed: bool,
}

/// All soft bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoftBodies {
    /// Of their world.
    pub(in crate::world) number: WorldNumber,
    pub(in crate::world) slots: Vec<SoftSlot>,
    pub(in crate::world) attachments: Vec<AttachmentSlot>,
    pub(in crate::world) used: Counts,
    /// Particles, springs and attachments whose states the device has.
    pub(in crate::world) sent: (u32, u32, u32),
    /// Whether the device's constant tables are out of date.
    pub(in crate::world) changed: bool,
    /// A number that changes with every change of the constant tables.
    version: u64,
}

fn next_version() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl SoftBodies {
    /// None, of a world of this number.
    pub fn of(number: WorldNumber) -> Self {
        Self { number, ..Self::default() }
    }

    /// Places in use, gaps included.
    pub fn used(&self) -> Counts {
        self.used
    }

    /// Slots of attachments that were ever used.
    pub fn attachment_count(&self) -> u32 {
        self.attachments.len() as u32
    }

    /// Colours of all particles.
    pub fn colours(&self) -> u32 {
        let entries = self.slots.iter().filter_map(|s| s.entry.as_deref());
        entries.map(|e| e.topology.colour_count).max().unwrap_or(0)
    }

    /// Pieces of surfaces that the device has contacts of: those of bodies whose particles it has.
    pub fn sent_faces(&self) -> u32 {
        let first = self.slots.iter().find(|s| s.first.particles + s.size.particles > self.sent.0);
        first.map_or(self.used.faces, |s| s.first.faces)
    }

    /// Slots of bodies that were ever used.
    pub fn slot_count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Triangles of the surfaces of all bodies that are there.
    pub fn triangles(&self) -> u32 {
        let entries = self.slots.iter().filter_map(|s| s.entry.as_deref());
        entries.fold(0, |sum: u32, e| sum.saturating_add(e.topology.surface.len() as u32))
    }

    /// The soft body of a triangle in the device's list, its number within the body, and its particles.
    pub fn triangle(&self, triangle: u32) -> Option<(SoftHandle, u32, [u32; 3])> {
        let mut within = triangle as usize;
        for (slot, _, entry, _) in self.entries() {
            if let Some(corners) = entry.topology.surface.get(within) {
                return Some((self.handle(slot), within as u32, *corners));
            }
            within -= entry.topology.surface.len();
        }
        None
    }

    /// Bodies that are there, by slot: where each begins, what it is, and the forces on its particles.
    pub fn entries(&self) -> impl Iterator<Item = (u32, &Counts, &SoftEntry, &BTreeMap<u32, Vec3>)> {
        (0..).zip(&self.slots).filter_map(|(i, s)| Some((i, &s.first, s.entry.as_deref()?, &*s.forces)))
    }

    /// Attachments that are there, by slot.
    pub fn attachments(&self) -> impl Iterator<Item = (u32, &AttachmentDesc)> {
        (0..).zip(&self.attachments).filter_map(|(i, slot)| Some((i, slot.desc.as_ref()?)))
    }

    /// The particle of an attachment in the device's list.
    pub fn particle(&self, desc: &AttachmentDesc) -> u32 {
        self.slots.get(desc.soft.index as usize).map_or(0, |s| s.first.particles + desc.particle)
    }

    /// Where the particles of a body begin in the device's list.
    pub fn first(&self, soft: SoftHandle) -> u32 {
        self.slots.get(soft.index as usize).map_or(0, |s| s.first.particles)
    }

    /// The soft body, and the number within it, of a particle of the device's list.
    pub fn owner(&self, particle: u32) -> Option<(SoftHandle, u32)> {
        let slot = self.slots.partition_point(|s| s.first.particles <= particle).checked_sub(1)?;
        let found = &self.slots[slot];
        let within = particle - found.first.particles;
        (within < found.size.particles).then_some((self.handle(slot as u32), within))
    }

    /// Number of states that the device has: particles, springs, attachments.
    pub fn sent_states(&self) -> (u32, u32, u32) {
        self.sent
    }

    /// Whether the device's constant tables are out of date, or states are missing.
    pub fn is_changed(&self) -> bool {
        self.changed
    }

    /// Marks the constant tables to be written again.
    pub fn send_again(&mut self) {
        self.changed = true;
    }

    /// Marks everything as missing on the device.
    pub fn send_all(&mut self) {
        (self.changed, self.sent) = (true, (0, 0, 0));
    }

    /// Notes that everything was sent. Returns what [`SoftBodies::unsend`] needs.
    pub fn sent(&mut self) -> SentSoft {
        let before = SentSoft { sent: self.sent, changed: self.changed };
        (self.sent, self.changed) = ((self.used.particles, self.used.springs, self.attachment_count()), false);
        before
    }

    /// Undoes [`SoftBodies::sent`], because the step was not made.
    pub fn unsend(&mut self, before: SentSoft) {
        (self.sent, self.changed) = (before.sent, self.changed || before.changed);
    }

    /// Whether the constant tables are the same as in a copy of the world.
    pub fn is_same(&self, other: &Self) -> bool {
        self.version == other.version
    }

    fn change(&mut self) {
        (self.changed, self.version) = (true, next_version());
    }

    /// The device said that an attachment has let go.
    pub fn let_go(&mut self, index: u32) -> Option<AttachmentHandle> {
        let slot = self.attachments.get_mut(index as usize)?;
        slot.desc.as_ref()?;
        slot.broken = true;
        Some(self.attachment_handle(index))
    }

    fn handle(&self, index: u32) -> SoftHandle {
        SoftHandle { index, generation: self.number.generation(0) }
    }

    fn attachment_handle(&self, index: u32) -> AttachmentHandle {
        AttachmentHandle { index, generation: self.number.generation(0) }
    }

    fn push(&mut self, desc: SoftDesc) -> Option<SoftHandle> {
        let topology = Topology::new(&desc);
        let size = Counts::of(&desc, &topology);
        let used = self.used.plus(&size)?;
        let entry = Some(Arc::new(SoftEntry { desc, topology }));
        self.slots.push(SoftSlot { first: self.used, size, entry, forces: Arc::default() });
        self.used = used;
        self.change();
        Some(self.handle(self.slots.len() as u32 - 1))
    }

    /// The same from a snapshot: `entry` is none where one was removed.
    pub(in crate::world) fn restore(slots: Vec<(Counts, Option<SoftDesc>, BTreeMap<u32, Vec3>)>) -> Option<Self> {
        let mut all = Self::default();
        for (size, desc, forces) in slots {
            if let Some(desc) = desc {
                all.push(desc)?;
            } else {
                let used = all.used.plus(&size)?;
                all.slots.push(SoftSlot { first: all.used, size, entry: None, forces: Arc::default() });
                all.used = used;
            }
            let slot = all.slots.last_mut()?;
            slot.forces = Arc::new(forces);
        }
        all.change();
        Some(all)
    }
}

impl World {
    /// Adds a soft body; it takes part from the next step on. An error, and no change, when the description is
    /// invalid.
    pub fn add_soft(&mut self, desc: SoftDesc) -> Result<SoftHandle, WorldError> {
        desc.check()?;
        if self.several() > 0 {
            return Err(WorldError::SoftAmongWorlds);
        }
        let limit = 1 << soft_entry::BITS;
        // Triangles are numbered with as many bits.
        let triangles = u64::from(self.soft.triangles()) + desc.triangles.len() as u64 + desc.skin.len() as u64;
        if triangles + 4 * desc.tetrahedra.len() as u64 > 1 << 29 {
            return Err(WorldError::Full { what: "triangles of surfaces", limit: 1 << 29 });
        }
        self.soft.push(desc).ok_or(WorldError::Full { what: "particles, or elements of a kind", limit })
    }

    /// Removes a soft body and its attachments. Its handle is stale from now on.
    pub fn remove_soft(&mut self, soft: SoftHandle) -> Result<(), WorldError> {
        self.soft_desc(soft)?;
        self.soft.slots[soft.index as usize].entry = None;
        self.drop_attachments(|desc| desc.soft == soft);
        self.soft.change();
        Ok(())
    }

    /// The description a soft body was added with.
    pub fn soft_desc(&self, soft: SoftHandle) -> Result<&SoftDesc, WorldError> {
        if !self.soft.number.knows(soft.generation) {
            return Err(WorldError::ForeignSoft { index: soft.index });
        }
        let entry = self.soft.slots.get(soft.index as usize).and_then(|s| s.entry.as_deref());
        entry.map(|e| &e.desc).ok_or(WorldError::StaleSoft { index: soft.index })
    }

    /// Triangles of a soft body's surface, as numbers of its particles: those of cloth, the outside of tetrahedra,
    /// counter-clockwise from outside, and its [`skin`](SoftDesc::skin). They never change; a host copies them into an
    /// index buffer once, with [`World::soft_first_vertex`] as the offset of the vertices.
    pub fn soft_triangles(&self, soft: SoftHandle) -> Result<&[[u32; 3]], WorldError> {
        self.soft_desc(soft)?;
        let entry = self.soft.slots.get(soft.index as usize).and_then(|s| s.entry.as_deref());
        Ok(entry.map_or(&[], |e| &e.topology.surface))
    }

    /// Where the vertices of a soft body begin in the list of all vertices
    /// ([`SoftVertex`](crate::layout::SoftVertex)). It never changes.
    pub fn soft_first_vertex(&self, soft: SoftHandle) -> Result<u32, WorldError> {
        self.soft_desc(soft)?;
        Ok(self.soft.first(soft))
    }

    /// Handles of all soft bodies.
    pub fn soft_bodies(&self) -> impl Iterator<Item = SoftHandle> {
        (0..).zip(&self.soft.slots).filter(|(_, s)| s.entry.is_some()).map(|(index, _)| self.soft.handle(index))
    }

    /// Sets the force on a particle, newtons in world space; it acts until it is changed.
    pub fn set_particle_force(&mut self, soft: SoftHandle, particle: u32, force: Vec3) -> Result<(), WorldError> {
        finite3("force", force)?;
        self.check_particle(soft, particle)?;
        let forces = Arc::make_mut(&mut self.soft.slots[soft.index as usize].forces);
        forces.insert(particle, force);
        self.soft.change();
        Ok(())
    }

    fn check_particle(&self, soft: SoftHandle, particle: u32) -> Result<Vec3, WorldError> {
        let desc = self.soft_desc(soft)?;
        if particle as usize >= desc.len() {
            return Err(WorldError::NoParticle { index: particle, count: desc.len() });
        }
        Ok(desc.position(particle as usize))
    }

    /// Holds a particle to a body or to the world, from the next step on.
    pub fn attach(&mut self, desc: AttachmentDesc) -> Result<AttachmentHandle, WorldError> {
        desc.check()?;
        let place = self.check_particle(desc.soft, desc.particle)?;
        let mut anchor = place;
        if let Some(body) = desc.body {
            let body = &self.entry(body)?.desc;
            anchor = body.rotation.inverse() * (place - body.position);
        }
        if self.soft.attachments.len() >= 1 << soft_entry::BITS {
            return Err(WorldError::Full { what: "attachments", limit: 1 << soft_entry::BITS });
        }
        let anchor = desc.anchor.unwrap_or(anchor);
        // From a place that is far enough off, that of the particle is beyond the range of numbers.
        finite3("anchor", anchor)?;
        let desc = AttachmentDesc { anchor: Some(anchor), ..desc };
        self.soft.attachments.push(AttachmentSlot { desc: Some(desc), broken: false });
        self.soft.change();
        Ok(self.soft.attachment_handle(self.soft.attachment_count() - 1))
    }

    /// Lets a particle go. The handle is stale from now on.
    pub fn detach(&mut self, attachment: AttachmentHandle) -> Result<(), WorldError> {
        self.attachment(attachment)?;
        self.soft.attachments[attachment.index as usize].desc = None;
        self.soft.change();
        Ok(())
    }

    /// The description of an attachment, with its anchor.
    pub fn attachment(&self, attachment: AttachmentHandle) -> Result<&AttachmentDesc, WorldError> {
        if !self.soft.number.knows(attachment.generation) {
            return Err(WorldError::ForeignAttachment { index: attachment.index });
        }
        let slot = self.soft.attachments.get(attachment.index as usize);
        slot.and_then(|s| s.desc.as_ref()).ok_or(WorldError::StaleAttachment { index: attachment.index })
    }

    /// Whether an attachment has let go because its force exceeded `max_force`.
    pub fn has_let_go(&self, attachment: AttachmentHandle) -> Result<bool, WorldError> {
        self.attachment(attachment)?;
        Ok(self.soft.attachments[attachment.index as usize].broken)
    }

    /// Attachments of a body go with it.
    pub(in crate::world) fn drop_attachments_of(&mut self, body: BodyHandle) {
        if self.soft.attachments().any(|(_, desc)| desc.body == Some(body)) {
            self.drop_attachments(|desc| desc.body == Some(body));
            self.soft.change();
        }
    }

    fn drop_attachments(&mut self, goes: impl Fn(&AttachmentDesc) -> bool) {
        self.soft.attachments.iter_mut().for_each(|slot| slot.desc = slot.desc.filter(|desc| !goes(desc)));
    }

    pub(crate) fn soft_store(&self) -> &SoftBodies {
        &self.soft
    }

    pub(crate) fn soft_store_mut(&mut self) -> &mut SoftBodies {
        &mut self.soft
    }
}
