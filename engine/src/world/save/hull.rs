//! Convex hulls: every one once, and the places they have in the device's tables.

use super::{Read, nonsense};
use crate::snapshot::{Reader, Writer};
use crate::world::{Hull, HullTable, Shape, World};
use drystone_kernels::state::rigid::NONE;
use std::collections::HashMap;
use std::sync::Arc;

/// Every hull that a body or the tables have. Those that are alike around their centres of mass share a place in the
/// tables, but not the centre.
#[derive(Default)]
pub(super) struct Pool {
    hulls: Vec<Arc<Hull>>,
    by_address: HashMap<*const Hull, u32>,
}

impl Pool {
    pub fn of(world: &World) -> Self {
        let mut pool = Self::default();
        let entries = world.slots.iter().filter_map(|s| s.entry.as_deref());
        for collider in entries.flat_map(|e| &e.desc.colliders) {
            if let Shape::ConvexHull(hull) = &collider.shape {
                pool.add(hull);
            }
        }
        world.hulls.hulls().for_each(|hull| pool.add(hull));
        pool
    }

    fn add(&mut self, hull: &Arc<Hull>) {
        let next = self.hulls.len() as u32;
        self.by_address.entry(Arc::as_ptr(hull)).or_insert_with(|| {
            self.hulls.push(hull.clone());
            next
        });
    }

    /// The number of a hull that is in it.
    pub fn index(&self, hull: &Arc<Hull>) -> u32 {
        self.by_address.get(&Arc::as_ptr(hull)).copied().unwrap_or(NONE)
    }

    pub fn get(&self, index: u32) -> Read<&Arc<Hull>> {
        match self.hulls.get(index as usize) {
            Some(hull) => Ok(hull),
            None => nonsense("hulls", format!("there is no hull {index} of {}", self.hulls.len())),
        }
    }

    pub fn save(&self, w: &mut Writer) {
        w.list(self.hulls.iter(), |w, hull| {
            w.list(hull.vertices.iter(), |w, v| w.vec3(*v));
            let corners = hull.faces.iter().map(|f| &hull.loops[f.first as usize..(f.first + f.count) as usize]);
            w.list(corners, |w, face| w.words(face));
            w.dvec3(hull.centre);
            w.f64(hull.volume);
            w.dmat3(hull.inertia);
        });
    }

    pub fn load(r: &mut Reader<'_>) -> Read<Self> {
        let hulls = r.list(112, |r| {
            let (vertices, loops) = (r.list(12, Reader::vec3)?, r.list(4, Reader::words)?);
            let (centre, volume, inertia) = (r.dvec3()?, r.f64()?, r.dmat3()?);
            match Hull::from_parts(vertices, loops, centre, volume, inertia) {
                Ok(hull) => Ok(Arc::new(hull)),
                Err(why) => nonsense("hulls", why),
            }
        })?;
        Ok(Self { hulls, by_address: HashMap::new() })
    }
}

impl HullTable {
    /// Gaps and users follow from the rest.
    pub(super) fn save(&self, w: &mut Writer, pool: &Pool) {
        w.list(self.slots(), |w, slot| {
            w.option(slot, |w, (hull, first)| {
                w.u32(pool.index(hull));
                w.u32(first);
            });
        });
        w.words(self.free_slots());
    }

    pub(super) fn load(r: &mut Reader<'_>, pool: &Pool) -> Read<Self> {
        let slots = r.list(1, |r| r.option("hull table", |r| Ok((pool.get(r.u32()?)?.clone(), r.u32()?))))?;
        let free = r.words()?;
        super::check_free("free hulls", &free, slots.iter().map(Option::is_some))?;
        match Self::from_parts(slots, free) {
            Ok(table) => Ok(table),
            Err(why) => nonsense("hull table", why),
        }
    }

    /// Counts who has which hull.
    pub(super) fn count_users<'a>(&mut self, users: impl Iterator<Item = &'a u32>) -> Read<()> {
        let mut counts = vec![0; self.slot_count() as usize];
        // Whether there is such a hull was asked of every body.
        for slot in users {
            if let Some(count) = counts.get_mut(*slot as usize) {
                *count += 1;
            }
        }
        match self.set_users(&counts) {
            Ok(()) => Ok(()),
            Err(slot) => nonsense("hull table", format!("nobody has hull {slot}")),
        }
    }
}
