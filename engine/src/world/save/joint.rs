//! Joints, and the rows they have on the device.

use super::{Read, check_free_of, check_world_number, load_free, nonsense, save_free};
use crate::snapshot::{Reader, SnapshotError, Writer};
use crate::world::handle::{WorldNumber, uses};
use crate::world::joint::{Axis, Changed, Drive, Hold, JointEntry, JointSlot, Joints};
use crate::world::{BodyHandle, JointDesc, LIMIT, World};
use std::sync::Arc;

fn save_handle(body: BodyHandle, w: &mut Writer) {
    w.u32(body.index);
    w.u32(uses(body.generation));
}

fn load_handle(r: &mut Reader<'_>) -> Read<BodyHandle> {
    Ok(BodyHandle { index: r.u32()?, generation: r.u32()? })
}

fn save_axis(axis: &Axis, w: &mut Writer) {
    let mut numbers = |code: u8, values: &[f32]| {
        w.u8(code);
        values.iter().for_each(|v| w.f32(*v));
    };
    match axis.hold {
        Hold::Free => numbers(0, &[]),
        Hold::At(value) => numbers(1, &[value]),
        Hold::Between(low, high) => numbers(2, &[low, high]),
    }
    match axis.drive {
        None => numbers(0, &[]),
        Some(Drive::Speed { speed, max }) => numbers(1, &[speed, max]),
        Some(Drive::Position { target, max }) => numbers(2, &[target, max]),
        Some(Drive::Spring { target, stiffness, damping, max }) => numbers(3, &[target, stiffness, damping, max]),
    }
}

fn load_axis(r: &mut Reader<'_>) -> Read<Axis> {
    let hold = match r.u8()? {
        0 => Hold::Free,
        1 => Hold::At(r.f32()?),
        2 => Hold::Between(r.f32()?, r.f32()?),
        code => return nonsense("joints", format!("there is no hold {code}")),
    };
    let drive = match r.u8()? {
        0 => None,
        1 => Some(Drive::Speed { speed: r.f32()?, max: r.f32()? }),
        2 => Some(Drive::Position { target: r.f32()?, max: r.f32()? }),
        3 => Some(Drive::Spring { target: r.f32()?, stiffness: r.f32()?, damping: r.f32()?, max: r.f32()? }),
        code => return nonsense("joints", format!("there is no drive {code}")),
    };
    Ok(Axis { hold, drive })
}

fn save_desc(desc: &JointDesc, w: &mut Writer) {
    save_handle(desc.body_a, w);
    w.option(desc.body_b, |w, body| save_handle(body, w));
    w.vec3(desc.anchor_a);
    w.vec3(desc.anchor_b);
    w.quat(desc.frame_a);
    w.quat(desc.frame_b);
    desc.axes.iter().for_each(|axis| save_axis(axis, w));
    desc.friction.iter().for_each(|most| w.f32(*most));
    w.f32(desc.max_force);
    w.f32(desc.max_torque);
    w.bool(desc.collide);
}

fn load_desc(r: &mut Reader<'_>) -> Read<JointDesc> {
    let mut desc = JointDesc::generic(load_handle(r)?, r.option("body_b", load_handle)?);
    (desc.anchor_a, desc.anchor_b) = (r.vec3()?, r.vec3()?);
    (desc.frame_a, desc.frame_b) = (r.quat()?, r.quat()?);
    for axis in &mut desc.axes {
        *axis = load_axis(r)?;
    }
    for most in &mut desc.friction {
        *most = r.f32()?;
    }
    (desc.max_force, desc.max_torque) = (r.f32()?, r.f32()?);
    desc.collide = r.bool("collide")?;
    Ok(desc)
}

impl Joints {
    pub(super) fn save(&self, w: &mut Writer) {
        w.list(self.slots.iter(), |w, slot| {
            w.u32(slot.generation);
            w.u32(slot.world);
            w.option(slot.entry.as_deref(), |w, entry| {
                save_desc(&entry.desc, w);
                w.u32(entry.first_row);
                w.bool(entry.broken);
            });
        });
        save_free(&self.free, w);
        w.u32(self.row_count);
        w.list(self.free_rows.iter(), |w, (rows, places)| {
            w.u32(*rows);
            w.words(places);
        });
        w.list(self.changed.iter(), |w, changed| {
            w.u32(changed.slot);
            w.bool(changed.fresh);
        });
    }

    fn load(r: &mut Reader<'_>, worlds: u32) -> Read<Self> {
        let mut index = 0;
        let slots = r.list(9, |r| {
            let (generation, world) = (uses(r.u32()?), check_world_number(r.u32()?, worlds)?);
            let entry = r.option("a joint's slot", |r| {
                let (desc, first_row, broken) = (load_desc(r)?, r.u32()?, r.bool("broken")?);
                desc.check().map_err(|error| SnapshotError::World { what: "joint", index, error })?;
                let rows = desc.rows().len() as u32;
                Ok(Arc::new(JointEntry { desc, first_row, rows, broken }))
            })?;
            index += 1;
            Ok(JointSlot { generation, entry, world })
        })?;
        let (free, row_count) = (load_free(r, worlds)?, r.u32()?);
        let free_rows = r.list(8, |r| Ok((r.u32()?, r.words()?)))?;
        let changed = r.list(5, |r| Ok(Changed { slot: r.u32()?, fresh: r.bool("changed joints")? }))?;
        let kinds = free_rows.len();
        let number = WorldNumber::default();
        let joints = Self { number, slots, free, free_rows: free_rows.into_iter().collect(), row_count, changed };
        if joints.free_rows.len() != kinds {
            return nonsense("rows of joints", "free ones of the same length are listed twice");
        }
        Ok(joints)
    }

    /// Rows that joints have and rows that are free lie side by side, and are all there are.
    fn check_rows(&self) -> Read<()> {
        let used = self.entries().map(|(_, e)| (e.first_row, e.rows));
        let free = self.free_rows.iter().flat_map(|(rows, places)| places.iter().map(|place| (*place, *rows)));
        let mut pieces: Vec<(u32, u32)> = used.filter(|piece| piece.1 > 0).chain(free).collect();
        pieces.sort_unstable();
        let mut end = 0u32;
        for (first, rows) in pieces {
            if first != end || rows == 0 {
                return nonsense("rows of joints", format!("{rows} from {first} on, behind {end}"));
            }
            end = end.saturating_add(rows);
        }
        if end != self.row_count {
            return nonsense("rows of joints", format!("{end} of {}", self.row_count));
        }
        // One without rows stands anywhere among them.
        match self.entries().find(|(_, e)| e.first_row > self.row_count) {
            Some((slot, _)) => nonsense("rows of joints", format!("those of joint {slot} are behind the last")),
            None => Ok(()),
        }
    }
}

impl World {
    pub(super) fn load_joints(&mut self, r: &mut Reader<'_>) -> Read<()> {
        let joints = Joints::load(r, self.worlds())?;
        let is_of = |slot: u32, world: u32| joints.slots.get(slot as usize).is_some_and(|s| s.world == world);
        check_free_of("free joints", &joints.free, is_of, joints.slots.iter().map(|s| s.entry.is_some()))?;
        joints.check_rows()?;
        if joints.slots.len() >= (LIMIT / 16) as usize {
            return nonsense("joints", format!("{} are more than a world holds", joints.slots.len()));
        }
        if let Some(c) = joints.changed.iter().find(|c| c.slot as usize >= joints.slots.len()) {
            return nonsense("changed joints", format!("joint {} of {}", c.slot, joints.slots.len()));
        }
        // Every joint is listed by its bodies, and bodies list nothing else.
        let mut listed: Vec<(u32, u32)> = Vec::new();
        for (body, slot) in (0..).zip(&self.slots) {
            listed.extend(slot.entry.iter().flat_map(|e| &e.joints).map(|joint| (body, *joint)));
        }
        let mut held: Vec<(u32, u32)> = Vec::new();
        for (joint, entry) in joints.entries() {
            for body in [Some(entry.desc.body_a), entry.desc.body_b].into_iter().flatten() {
                self.entry(body).map_err(|error| SnapshotError::World { what: "joint", index: joint, error })?;
                held.push((body.index, joint));
            }
            let of = self.world_of_joint(entry.desc.body_a, entry.desc.body_b).ok();
            if of != joints.slots.get(joint as usize).map(|slot| slot.world) {
                return nonsense("joints", format!("joint {joint} is in another world than its bodies"));
            }
        }
        listed.sort_unstable();
        held.sort_unstable();
        if listed != held {
            return nonsense("joints", "bodies list others than hold them");
        }
        self.joints = joints;
        Ok(())
    }
}
