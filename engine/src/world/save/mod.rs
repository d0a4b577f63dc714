//! Saving a world as bytes, and loading it. Everything loaded is checked as if a user had described it, and so is the
//! consistency between the parts: free and used slots, joints listed by bodies, contiguous rows. What can be derived
//! is not written.

mod body;
mod hull;
mod joint;
mod soft;

use super::handle::{WorldNumber, uses};
use super::many::{Free, Many, SHARED};
use super::{BodyKind, Edit, Features, HullTable, Names, Slot, World, finite3, unit};
use crate::snapshot::{Reader, SnapshotError, Writer};
use drystone_kernels::state::rigid::kind;
use std::sync::Arc;

/// A result of reading.
type Read<T> = Result<T, SnapshotError>;

fn nonsense<T>(what: &'static str, why: impl Into<String>) -> Read<T> {
    Err(SnapshotError::content(what, why))
}

impl World {
    /// Appends the whole world, with the edits that have not reached a device.
    pub(crate) fn save(&self, w: &mut Writer) {
        let pool = hull::Pool::of(self);
        w.list(self.many.gravity.iter(), |w, gravity| w.vec3(*gravity));
        let f = self.features;
        [f.surfaces, f.rolling, f.bounces, f.sensors, f.curved, f.reports].into_iter().for_each(|bit| w.bool(bit));
        pool.save(w);
        self.hulls.save(w, &pool);
        w.list(self.slots.iter(), |w, slot| {
            w.u32(slot.generation);
            w.bool(slot.sent);
            w.u32(slot.world);
            w.option(slot.entry.as_deref(), |w, entry| entry.save(w, &pool));
        });
        save_free(&self.free, w);
        w.u32(self.colliders.len() as u32);
        save_free(&self.free_colliders, w);
        self.joints.save(w);
        self.save_soft(w);
        save_names(&self.names, w);
        save_names(&self.joint_names, w);
        w.list(self.edits.iter(), |w, (slot, edit)| {
            w.u32(*slot);
            save_edit(*edit, w);
        });
    }

    /// The world that [`World::save`] wrote. A device has its bodies below `bodies`, as far as they were sent.
    ///
    /// Colliders and hulls are marked as not sent: whoever restores a world sends all of them.
    pub(crate) fn load(r: &mut Reader<'_>, bodies: u32) -> Read<Self> {
        // It may be from another process: handles of any world may be its own.
        let mut world = Self { number: WorldNumber::default(), ..Self::new() };
        let gravity = r.list(12, Reader::vec3)?;
        let worlds = gravity.len() as u32;
        if worlds == 0 || worlds > kind::MOST_WORLDS {
            return nonsense("worlds", format!("{worlds} of them"));
        }
        for gravity in &gravity {
            finite3("gravity", *gravity).map_err(|e| SnapshotError::content("gravity", e.to_string()))?;
        }
        world.many = Many {
            gravity: Arc::new(gravity),
            members: Arc::new(vec![Vec::new(); worlds as usize]),
            ..Many::default()
        };
        let features = Features {
            surfaces: r.bool("features")?,
            rolling: r.bool("features")?,
            bounces: r.bool("features")?,
            sensors: r.bool("features")?,
            curved: r.bool("features")?,
            reports: r.bool("features")?,
        };
        let pool = hull::Pool::load(r)?;
        let mut hulls = HullTable::load(r, &pool)?;
        let mut index = 0;
        let many = &mut world.many;
        world.slots = r.list(10, |r| {
            let (generation, sent) = (uses(r.u32()?), r.bool("a body's slot")?);
            let of = check_world_number(r.u32()?, worlds)?;
            let local = many.take(of, index);
            let entry = r.option("a body's slot", |r| body::load(r, &pool, &hulls, index))?;
            index += 1;
            Ok(Slot { generation, entry: entry.map(Arc::new), sent, world: of, local })
        })?;
        world.free = load_free(r, worlds)?;
        let is_of = |slot: u32, of: u32| world.slots.get(slot as usize).is_some_and(|s| s.world == of);
        check_free_of("free bodies", &world.free, is_of, world.slots.iter().map(|s| s.entry.is_some()))?;
        world.load_colliders(r)?;
        hulls.count_users(world.slots.iter().filter_map(|s| s.entry.as_deref()).flat_map(|e| &e.hulls))?;
        world.hulls = Arc::new(hulls);
        world.load_joints(r)?;
        world.load_soft(r)?;
        let moves =
            |slot: &&Slot| slot.world == SHARED && slot.entry.as_ref().is_some_and(|e| e.desc.kind != BodyKind::Static);
        if world.several() > 0 && world.soft_store().colours() > 0 || world.slots.iter().any(|s| moves(&s)) {
            return nonsense("worlds", "soft bodies among several, or a body of all that moves");
        }
        world.names = load_names("names of bodies", r, |slot| world.slot(slot).is_some())?;
        world.joint_names = load_names("names of joints", r, |slot| world.joints.slot(slot).is_some())?;
        world.edits = r.list(5, |r| Ok((r.u32()?, load_edit(r)?)))?;
        world.check_edits(bodies)?;
        let entries = world.slots.iter().filter_map(|s| s.entry.as_deref());
        world.continuous = entries.clone().filter(|e| e.desc.continuous).count() as u32;
        // Features of removed colliders count too, because plans depend on them.
        world.features = entries.flat_map(|e| &e.desc.colliders).fold(features, Features::with);
        if (features.rolling || features.bounces) && !features.surfaces {
            return nonsense("features", "surfaces that roll or bounce, and none that does anything");
        }
        Ok(world)
    }

    /// Loads the collider slots; their owners follow from the bodies.
    fn load_colliders(&mut self, r: &mut Reader<'_>) -> Read<()> {
        let count = r.u32()? as usize;
        self.free_colliders = load_free(r, self.worlds())?;
        let used: usize = self.slots.iter().filter_map(|s| s.entry.as_deref()).map(|e| e.colliders.len()).sum();
        if used + self.free_colliders.len() != count {
            return nonsense("colliders", format!("{used} in use and {} free of {count}", self.free_colliders.len()));
        }
        self.colliders = vec![None; count];
        for (body, slot) in (0..).zip(&self.slots) {
            let Some(entry) = slot.entry.as_deref() else { continue };
            for (n, collider) in (0..).zip(&entry.colliders) {
                match self.colliders.get_mut(*collider as usize) {
                    Some(owner @ None) => *owner = Some((body, n)),
                    Some(_) => return nonsense("colliders", format!("slot {collider} is of two bodies")),
                    None => return nonsense("colliders", format!("slot {collider} of {count}")),
                }
            }
        }
        check_free_of("free colliders", &self.free_colliders, |_, _| true, self.colliders.iter().map(Option::is_some))
    }

    /// Checks that every edit is one that the world itself would have accepted, and that every unsent body has an
    /// edit that announces it.
    fn check_edits(&self, bodies: u32) -> Read<()> {
        let mut renewed = vec![false; self.slots.len()];
        // Edits before a body was removed or added do not concern the body that is in the slot now.
        for (slot, edit) in self.edits.iter().rev() {
            let Some(new) = renewed.get_mut(*slot as usize) else {
                return nonsense("edits", format!("of body {slot}, of {}", self.slots.len()));
            };
            if *edit == Edit::Body {
                *new = true;
            } else if !*new {
                let kind = self.slot(*slot).map(|e| e.desc.kind);
                let fits = match edit {
                    Edit::Body | Edit::Pose(..) | Edit::Renew => kind.is_some(),
                    Edit::Velocity(..) => kind.is_some_and(|k| k != BodyKind::Static),
                    Edit::Target(..) => kind == Some(BodyKind::Kinematic),
                    _ => kind == Some(BodyKind::Dynamic),
                };
                if !fits {
                    return nonsense("edits", format!("{edit:?} for body {slot}, which is {kind:?}"));
                }
            }
        }
        for ((index, slot), renewed) in (0..).zip(&self.slots).zip(renewed) {
            if index >= bodies && slot.sent && slot.entry.is_some() {
                return nonsense("bodies", format!("body {index} is on a device that has {bodies}"));
            }
            if index < bodies && !slot.sent && !renewed {
                return nonsense("bodies", format!("body {index} has not been sent, and will not be"));
            }
        }
        Ok(())
    }
}

/// The same of slots that belong to worlds, each of which is the one that `is_of` says.
fn check_free_of(
    what: &'static str,
    free: &Free,
    is_of: impl Fn(u32, u32) -> bool,
    used: impl ExactSizeIterator<Item = bool>,
) -> Read<()> {
    if let Some((world, slot)) = free.all().into_iter().find(|(world, slot)| !is_of(*slot, *world)) {
        return nonsense(what, format!("slot {slot} is not one of world {world}"));
    }
    check_free(what, &free.all().into_iter().map(|(_, slot)| slot).collect::<Vec<_>>(), used)
}

/// Checks that the free slots are exactly the unused ones, each once.
fn check_free(what: &'static str, free: &[u32], used: impl ExactSizeIterator<Item = bool>) -> Read<()> {
    let mut taken: Vec<bool> = used.collect();
    for slot in free {
        match taken.get_mut(*slot as usize) {
            Some(taken @ false) => *taken = true,
            _ => return nonsense(what, format!("slot {slot} is not free")),
        }
    }
    match taken.iter().position(|taken| !taken) {
        None => Ok(()),
        Some(slot) => nonsense(what, format!("slot {slot} is missing")),
    }
}

fn save_free(free: &Free, w: &mut Writer) {
    w.list(free.all().into_iter(), |w, (world, slot)| {
        w.u32(world);
        w.u32(slot);
    });
}

/// A world of so many, or none.
fn check_world_number(world: u32, worlds: u32) -> Read<u32> {
    if world < worlds || world == SHARED { Ok(world) } else { nonsense("worlds", format!("{world} of {worlds}")) }
}

fn load_free(r: &mut Reader<'_>, worlds: u32) -> Read<Free> {
    let mut free = Free::default();
    for (world, slot) in r.list(8, |r| Ok((r.u32()?, r.u32()?)))? {
        free.push(check_world_number(world, worlds)?, slot);
    }
    Ok(free)
}

fn save_names(names: &Names, w: &mut Writer) {
    w.list(names.all(), |w, (slot, name)| {
        w.u32(slot);
        w.text(name);
    });
}

fn load_names(what: &'static str, r: &mut Reader<'_>, is_there: impl Fn(u32) -> bool) -> Read<Names> {
    let mut names = Names::default();
    let list = r.list(8, |r| Ok((r.u32()?, r.text(what)?)))?;
    for (slot, name) in list {
        if !is_there(slot) {
            return nonsense(what, format!("`{name}` is slot {slot}, where there is none"));
        }
        if !names.is_free(slot, name) {
            return nonsense(what, format!("`{name}` is there twice, or slot {slot}"));
        }
        names.set(slot, name);
    }
    Ok(names)
}

fn save_edit(edit: Edit, w: &mut Writer) {
    let mut two = |code: u8, a, b| {
        w.u8(code);
        w.vec3(a);
        w.vec3(b);
    };
    match edit {
        Edit::Velocity(a, b) => two(2, a, b),
        Edit::Impulse(a, b) => two(4, a, b),
        Edit::ImpulseAt(a, b) => two(5, a, b),
        Edit::Push(a, b) => two(7, a, b),
        Edit::PushAt(a, b) => two(8, a, b),
        Edit::Body => w.u8(0),
        Edit::Force => w.u8(6),
        Edit::Damping => w.u8(9),
        Edit::Renew => w.u8(10),
        Edit::Pose(position, rotation) | Edit::Target(position, rotation) => {
            w.u8(if matches!(edit, Edit::Pose(..)) { 1 } else { 3 });
            w.vec3(position);
            w.quat(rotation);
        }
    }
}

fn load_edit(r: &mut Reader<'_>) -> Read<Edit> {
    let wrong = |e: super::WorldError| SnapshotError::content("edits", e.to_string());
    let finite = |r: &mut Reader<'_>| {
        let (a, b) = (r.vec3()?, r.vec3()?);
        finite3("edit", a).and_then(|()| finite3("edit", b)).map_err(wrong)?;
        Ok((a, b))
    };
    let pose = |r: &mut Reader<'_>| {
        let (position, rotation) = (r.vec3()?, r.quat()?);
        finite3("position", position).and_then(|()| unit("rotation", rotation)).map_err(wrong)?;
        Ok((position, rotation))
    };
    Ok(match r.u8()? {
        0 => Edit::Body,
        1 => pose(r).map(|(p, q)| Edit::Pose(p, q))?,
        2 => finite(r).map(|(a, b)| Edit::Velocity(a, b))?,
        3 => pose(r).map(|(p, q)| Edit::Target(p, q))?,
        4 => finite(r).map(|(a, b)| Edit::Impulse(a, b))?,
        5 => finite(r).map(|(a, b)| Edit::ImpulseAt(a, b))?,
        6 => Edit::Force,
        7 => finite(r).map(|(a, b)| Edit::Push(a, b))?,
        8 => finite(r).map(|(a, b)| Edit::PushAt(a, b))?,
        9 => Edit::Damping,
        10 => Edit::Renew,
        code => return nonsense("edits", format!("there is no edit {code}")),
    })
}
