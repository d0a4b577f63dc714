//! Many small worlds in one: thousands of them are stepped by the same passes, and none sees another.
//!
//! A [`World`] begins with one world, number 0. [`World::add_worlds`] and [`World::copies`] make more of them. Bodies of
//! different worlds never meet, however they overlap in space, and joints hold bodies of one world. What belongs to all
//! ([`World::add_shared`]), such as a floor, is static. Every world has its own gravity; settings and time step are
//! common.
//!
//! A world has the same bits among others as alone ([`World::alone`]): nothing in it is ordered or coloured by what is
//! in others. Therefore slots belong to the world that first used them, and a body has a number among the bodies of its
//! world, which is its slot where there is only one world.

use super::{
    BodyDesc, BodyEntry, BodyHandle, BodyKind, Edit, HullTable, LIMIT, Slot, World, WorldError, finite3, unit,
};
use crate::glam::{Quat, Vec3};
use crate::world::handle::uses;
use crate::world::joint::{Changed, JointEntry, JointHandle, JointSlot};
use drystone_kernels::manifest::fnv1a;
use drystone_kernels::math::Pose;
use drystone_kernels::state::rigid::{NONE, kind};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Stands for the number of a world where something belongs to all.
pub(crate) const SHARED: u32 = u32::MAX;

/// Free slots of a list, by the world that they belong to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Free {
    lists: BTreeMap<u32, Vec<u32>>,
    count: usize,
}

impl Free {
    /// Takes the one that was freed last in a world.
    pub fn pop(&mut self, world: u32) -> Option<u32> {
        let slot = self.lists.get_mut(&world)?.pop()?;
        self.count -= 1;
        Some(slot)
    }

    pub fn push(&mut self, world: u32, slot: u32) {
        self.lists.entry(world).or_default().push(slot);
        self.count += 1;
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Those of one world, the one freed last at the end.
    pub fn of(&self, world: u32) -> &[u32] {
        self.lists.get(&world).map_or(&[], |list| list)
    }

    /// Every one with its world.
    pub fn all(&self) -> Vec<(u32, u32)> {
        let of = |(world, list): (&u32, &Vec<u32>)| list.iter().map(|slot| (*world, *slot)).collect::<Vec<_>>();
        self.lists.iter().flat_map(of).collect()
    }
}

/// The worlds in a world.
#[derive(Clone, Debug)]
pub(crate) struct Many {
    /// Gravity of every one, m/s^2.
    pub gravity: Arc<Vec<Vec3>>,
    /// Slots of the bodies of every one, in the order in which they were first used.
    pub members: Arc<Vec<Vec<u32>>>,
    /// The same of what belongs to all.
    pub shared: Arc<Vec<u32>>,
}

impl Default for Many {
    fn default() -> Self {
        let earth = Vec3::new(0.0, -9.81, 0.0);
        Self { gravity: Arc::new(vec![earth]), members: Arc::new(vec![Vec::new()]), shared: Arc::default() }
    }
}

impl Many {
    pub fn count(&self) -> u32 {
        self.gravity.len() as u32
    }

    /// Slots of the bodies of a world, or of what belongs to all.
    pub fn of(&self, world: u32) -> &[u32] {
        if world == SHARED { &self.shared } else { self.members.get(world as usize).map_or(&[], |list| list) }
    }

    /// Gives a slot to a world. Returns the number of the body there.
    pub fn take(&mut self, world: u32, slot: u32) -> u32 {
        let list = if world == SHARED {
            Arc::make_mut(&mut self.shared)
        } else {
            &mut Arc::make_mut(&mut self.members)[world as usize]
        };
        list.push(slot);
        list.len() as u32 - 1
    }
}

/// Where a body is put, and how it moves from there: for [`World::reset_world_to`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placed {
    /// Position of the body's origin, metres in world space.
    pub position: Vec3,
    /// Rotation from body space to world space.
    pub rotation: Quat,
    /// Velocity of the centre of mass, m/s.
    pub linear_velocity: Vec3,
    /// Angular velocity, rad/s in world space.
    pub angular_velocity: Vec3,
}

impl World {
    /// Number of worlds; 1 unless more were added.
    pub fn worlds(&self) -> u32 {
        self.many.count()
    }

    /// Number of worlds for plans and kernels: 0 where there is only one and nothing belongs to all.
    pub(crate) fn several(&self) -> u32 {
        if self.worlds() > 1 || !self.many.shared.is_empty() { self.worlds() } else { 0 }
    }

    /// Adds empty worlds, with the gravity of world 0. Returns their numbers. An error when there would be more than
    /// 2^20, or when the world has soft bodies, which are in no other world than the only one.
    pub fn add_worlds(&mut self, count: u32) -> Result<Range<u32>, WorldError> {
        let first = self.worlds();
        self.may_be_several()?;
        let Some(end) = first.checked_add(count).filter(|end| *end <= kind::MOST_WORLDS) else {
            return Err(WorldError::Full { what: "worlds", limit: kind::MOST_WORLDS });
        };
        if count > 0 {
            let gravity = self.gravity();
            Arc::make_mut(&mut self.many.gravity).resize(end as usize, gravity);
            Arc::make_mut(&mut self.many.members).resize(end as usize, Vec::new());
        }
        Ok(first..end)
    }

    fn may_be_several(&self) -> Result<(), WorldError> {
        if self.soft_store().colours() > 0 { Err(WorldError::SoftAmongWorlds) } else { Ok(()) }
    }

    pub(crate) fn check_world(&self, world: u32) -> Result<(), WorldError> {
        let count = self.worlds();
        if world < count { Ok(()) } else { Err(WorldError::NoWorld { world, count }) }
    }

    /// Adds a body to one of the worlds, as [`World::add`] does to world 0.
    pub fn add_to(&mut self, world: u32, desc: BodyDesc) -> Result<BodyHandle, WorldError> {
        self.check_world(world)?;
        self.add_in(world, desc)
    }

    /// Adds a static body that belongs to all worlds: whatever is in any of them meets it. Such bodies come before all
    /// others, so that every world sees them in the same order; later ones may take the places of those removed.
    pub fn add_shared(&mut self, desc: BodyDesc) -> Result<BodyHandle, WorldError> {
        self.may_be_several()?;
        if desc.kind != BodyKind::Static {
            return Err(WorldError::SharedKind { is: desc.kind });
        }
        let others = self.many.shared.len() < self.slots.len();
        let (bodies, colliders) = (self.free.of(SHARED).len(), self.free_colliders.of(SHARED).len());
        if others && (bodies == 0 || colliders < desc.colliders.len()) {
            return Err(WorldError::SharedLate);
        }
        self.add_in(SHARED, desc)
    }

    /// The world that a body is in; `None` if it belongs to all.
    pub fn world_of(&self, body: BodyHandle) -> Result<Option<u32>, WorldError> {
        self.entry(body)?;
        Ok(Some(self.slots[body.index as usize].world).filter(|world| *world != SHARED))
    }

    /// Bodies of a world, in the order in which their slots were first used; those of a copy are in the order of what
    /// was copied. Empty if there is no such world.
    pub fn handles_in(&self, world: u32) -> impl Iterator<Item = BodyHandle> {
        self.many.of(world).iter().filter_map(|slot| self.handle(*slot))
    }

    /// Joints of a world, in the order of its bodies.
    pub fn joints_in(&self, world: u32) -> impl Iterator<Item = JointHandle> {
        self.joint_slots_in(world).into_iter().filter_map(|slot| self.joint_handle(slot))
    }

    /// Slots of a world's joints, in order.
    fn joint_slots_in(&self, world: u32) -> Vec<u32> {
        let mut slots: Vec<u32> = Vec::new();
        for slot in self.many.of(world) {
            slots.extend(self.slot(*slot).iter().flat_map(|entry| &entry.joints));
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Gravity of a world, m/s^2.
    pub fn gravity_of(&self, world: u32) -> Result<Vec3, WorldError> {
        self.check_world(world)?;
        Ok(self.many.gravity[world as usize])
    }

    /// Sets the gravity of one world, m/s^2, from the next step on. An error when it is not finite.
    pub fn set_gravity_of(&mut self, world: u32, gravity: Vec3) -> Result<(), WorldError> {
        self.check_world(world)?;
        finite3("gravity", gravity)?;
        Arc::make_mut(&mut self.many.gravity)[world as usize] = gravity;
        Ok(())
    }

    /// Puts all bodies of a world back to where they were described, with the velocities, forces and damping of their
    /// descriptions, at the start of the next step, and repairs its joints. What was known of its contacts and joints
    /// is forgotten; bodies that were disabled take part again. Handles stay valid, and no other world is touched.
    /// Edits of the world's bodies made before in the same step are forgotten, those that follow are not.
    ///
    /// The next step does not start cold for it: see [`Stepper::start_cold`](crate::Stepper::start_cold).
    pub fn reset_world(&mut self, world: u32) -> Result<(), WorldError> {
        self.check_world(world)?;
        self.renew(world);
        Ok(())
    }

    /// As [`World::reset_world`], and puts every body, in the order of [`World::handles_in`], to where `placed` says.
    /// An error, and no change, when there are more or fewer of them, or when a value is not finite.
    pub fn reset_world_to(&mut self, world: u32, placed: &[Placed]) -> Result<(), WorldError> {
        self.check_world(world)?;
        let bodies: Vec<_> = self.handles_in(world).collect();
        if bodies.len() != placed.len() {
            return Err(WorldError::WrongCount { world, bodies: bodies.len(), given: placed.len() });
        }
        for at in placed {
            finite3("position", at.position)?;
            unit("rotation", at.rotation)?;
            finite3("linear_velocity", at.linear_velocity)?;
            finite3("angular_velocity", at.angular_velocity)?;
        }
        self.renew(world);
        for (body, at) in bodies.into_iter().zip(placed) {
            self.set_pose(body, at.position, at.rotation)?;
            self.set_velocity(body, at.linear_velocity, at.angular_velocity)?;
        }
        Ok(())
    }

    fn renew(&mut self, world: u32) {
        let joints = self.joint_slots_in(world);
        for slot in self.many.of(world).to_vec() {
            let Some(entry) = self.slot_mut(slot) else { continue };
            entry.force = entry.desc.force;
            entry.torque = entry.desc.torque;
            entry.damping = (entry.desc.linear_damping, entry.desc.angular_damping);
            self.edits.push((slot, Edit::Renew));
        }
        for slot in joints {
            self.joints.renew(slot);
        }
    }

    /// Hash of the poses of a world's bodies, from those of all bodies in the order of their slots
    /// ([`StateBuffers::poses`](crate::state::StateBuffers::poses)): the same, to the bit, as that of world 0 of
    /// [`World::alone`] after the same steps. Poses that are missing count as nothing.
    pub fn pose_hash_of(&self, world: u32, poses: &[Pose]) -> Result<u64, WorldError> {
        self.check_world(world)?;
        let slots = self.many.of(world);
        // As far as there are bodies: room says nothing.
        let used = slots.iter().rposition(|slot| self.slot(*slot).is_some()).map_or(0, |last| last + 1);
        let there = slots[..used].iter().filter_map(|slot| poses.get(*slot as usize));
        Ok(fnv1a(there.flat_map(|pose| bytemuck::bytes_of(pose).iter().copied())))
    }

    /// This world so many times, as it is described: bodies, joints, gravity; and once what belongs to all. Names stay
    /// with the first copy. An error when this is more than one world already, or has soft bodies.
    pub fn copies(&self, count: u32) -> Result<Self, WorldError> {
        if self.worlds() != 1 {
            return Err(WorldError::SeveralWorlds { count: self.worlds() });
        }
        self.may_be_several()?;
        let mut all = Self::new();
        all.set_gravity(self.gravity())?;
        all.add_worlds(count.max(1) - 1)?;
        let mut places = vec![NONE; self.slots.len()];
        all.graft(self, SHARED, SHARED, &mut places)?;
        for world in 0..count.max(1) {
            all.graft(self, 0, world, &mut places)?;
            if world == 0 {
                all.take_names(self, &places);
            }
        }
        Ok(all)
    }

    /// One of the worlds by itself, as it is described, with what belongs to all: a world whose steps have the same
    /// bits as those of that world among the others.
    pub fn alone(&self, world: u32) -> Result<Self, WorldError> {
        self.check_world(world)?;
        let mut one = Self::new();
        one.set_gravity(self.many.gravity[world as usize])?;
        let mut places = vec![NONE; self.slots.len()];
        one.graft(self, SHARED, SHARED, &mut places)?;
        one.graft(self, world, 0, &mut places)?;
        one.take_names(self, &places);
        // They decide which passes a step has.
        one.features = self.features;
        Ok(one)
    }

    /// Names of bodies and joints that were copied to `places`.
    fn take_names(&mut self, from: &Self, places: &[u32]) {
        for (slot, name) in from.names.all() {
            if let Some(place) = places.get(slot as usize).filter(|place| **place != NONE) {
                self.names.set(*place, name);
            }
        }
    }

    /// Copies the slots of a world, used and free, behind all others, in their order. `places` maps slots of bodies of
    /// `from` to those here.
    fn graft(&mut self, from: &Self, source: u32, into: u32, places: &mut [u32]) -> Result<(), WorldError> {
        let slots = from.many.of(source);
        let used: Vec<&BodyEntry> = slots.iter().filter_map(|slot| from.slot(*slot)).collect();
        // Colliders in the order of their slots: pairs name the lower one first.
        let mut colliders: Vec<u32> = used.iter().flat_map(|entry| &entry.colliders).copied().collect();
        colliders.extend(from.free_colliders.of(source));
        colliders.sort_unstable();
        let joints: Vec<u32> =
            (0..).zip(&from.joints.slots).filter(|(_, slot)| slot.world == source).map(|(i, _)| i).collect();
        for (what, now, more, limit) in [
            ("bodies", self.slots.len(), slots.len(), LIMIT),
            ("colliders", self.colliders.len(), colliders.len(), LIMIT),
            ("joints", self.joints.slots.len(), joints.len(), LIMIT / 16),
        ] {
            if now + more > limit as usize {
                return Err(WorldError::Full { what, limit });
            }
        }
        let (first_body, first_collider) = (self.slots.len() as u32, self.colliders.len() as u32);
        let first_joint = self.joints.slots.len() as u32;
        let behind = |list: &[u32], first: u32, slot: u32| list.binary_search(&slot).map_or(NONE, |i| first + i as u32);
        let collider_place = |slot: u32| behind(&colliders, first_collider, slot);
        let joint_place = |slot: u32| behind(&joints, first_joint, slot);
        for (place, slot) in (first_body..).zip(slots) {
            places[*slot as usize] = place;
        }

        self.colliders.resize(self.colliders.len() + colliders.len(), None);
        from.free_colliders.of(source).iter().for_each(|slot| self.free_colliders.push(into, collider_place(*slot)));
        for slot in slots {
            let place = places[*slot as usize];
            let local = self.many.take(into, place);
            let generation = from.slots[*slot as usize].generation;
            let entry = from.slot(*slot).map(|entry| {
                let hulls = acquire(Arc::make_mut(&mut self.hulls), &mut self.changed_hulls, &from.hulls, entry);
                let mut copy = BodyEntry { hulls, ..entry.clone() };
                copy.colliders.iter_mut().for_each(|slot| *slot = collider_place(*slot));
                copy.joints.iter_mut().for_each(|slot| *slot = joint_place(*slot));
                // A shared body lists the joints of the worlds that are copied with it.
                copy.joints.retain(|slot| *slot != NONE);
                copy
            });
            if let Some(entry) = &entry {
                for (n, collider) in (0..).zip(&entry.colliders) {
                    self.colliders[*collider as usize] = Some((place, n));
                    self.changed_colliders.push(*collider);
                }
                self.features = entry.desc.colliders.iter().fold(self.features, |f, c| f.with(c));
                self.continuous += u32::from(entry.desc.continuous);
                self.edits.push((place, Edit::Body));
            }
            self.slots.push(Slot { generation, entry: entry.map(Arc::new), sent: false, world: into, local });
        }
        from.free.of(source).iter().for_each(|slot| self.free.push(into, places[*slot as usize]));
        for slot in &joints {
            self.graft_joint(from, *slot, into, places);
        }
        from.joints.free.of(source).iter().for_each(|slot| self.joints.free.push(into, joint_place(*slot)));
        Ok(())
    }

    fn graft_joint(&mut self, from: &Self, slot: u32, into: u32, places: &[u32]) {
        let (place, old) = (self.joints.slots.len() as u32, &from.joints.slots[slot as usize]);
        let handle = |body: BodyHandle| BodyHandle {
            index: places[body.index as usize],
            generation: self.number.generation(uses(body.generation)),
        };
        let entry = old.entry.as_deref().map(|entry| {
            let mut desc = entry.desc.clone();
            (desc.body_a, desc.body_b) = (handle(desc.body_a), desc.body_b.map(handle));
            JointEntry { desc, first_row: 0, rows: entry.rows, broken: entry.broken }
        });
        let entry = entry.map(|mut entry| {
            entry.first_row = self.joints.take_rows(entry.rows);
            // One of a body that belongs to all is listed there too.
            for body in [Some(entry.desc.body_a), entry.desc.body_b].into_iter().flatten() {
                if let Some(body) = self.slot_mut(body.index).filter(|body| !body.joints.contains(&place)) {
                    body.joints.push(place);
                }
            }
            Arc::new(entry)
        });
        self.joints.slots.push(JointSlot { generation: old.generation, entry, world: into });
        self.joints.changed.push(Changed { slot: place, fresh: true });
    }

    /// The world that a joint between two bodies is in. An error when they are of different ones.
    pub(in crate::world) fn world_of_joint(&self, a: BodyHandle, b: Option<BodyHandle>) -> Result<u32, WorldError> {
        let of = |body: BodyHandle| self.slots.get(body.index as usize).map_or(SHARED, |slot| slot.world);
        match (of(a), b.map_or(SHARED, of)) {
            (SHARED, SHARED) => Err(WorldError::SharedJoint),
            (world, SHARED) | (SHARED, world) => Ok(world),
            (one, two) if one == two => Ok(one),
            (one, two) => Err(WorldError::WorldsApart { a: one, b: two }),
        }
    }

    /// What the device is told of a body in a slot besides its kind: its world.
    pub(crate) fn world_word(&self, slot: u32) -> u32 {
        match self.slots.get(slot as usize).map_or(0, |slot| slot.world) {
            SHARED => kind::SHARED,
            world => world << kind::WORLD_SHIFT,
        }
    }

    /// Number of the body in a slot among those of its world.
    pub(crate) fn local(&self, slot: u32) -> u32 {
        self.slots.get(slot as usize).map_or(0, |slot| slot.local)
    }

    /// Gravity of every world.
    pub(crate) fn gravities(&self) -> &Arc<Vec<Vec3>> {
        &self.many.gravity
    }
}

/// Makes a body a user of its hulls in another table. Returns their slots there.
fn acquire(table: &mut HullTable, changed: &mut Vec<u32>, from: &HullTable, entry: &BodyEntry) -> Vec<u32> {
    let mut place = |slot: &u32| {
        let Some(hull) = from.entry(*slot).filter(|_| *slot != NONE) else { return NONE };
        let (slot, new) = table.acquire(&hull.hull);
        if new {
            changed.push(slot);
        }
        slot
    };
    entry.hulls.iter().map(&mut place).collect()
}
