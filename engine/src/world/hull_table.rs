//! Allocation of hulls in the device's tables. Bodies with equal hulls share one entry.

use super::{Hull, MAX_HULL_VERTICES, WorldError};
use std::collections::HashMap;
use std::sync::Arc;

/// Edges of [`super::unit_box`], which lie first in the tables.
pub(crate) const BOX_EDGES: u32 = 12;
/// Largest number of edges in the tables.
const MAX_EDGES: u32 = 1 << 26;

/// A hull in the tables.
#[derive(Clone, Debug)]
pub(crate) struct TableEntry {
    pub hull: Arc<Hull>,
    /// Where its parts of the tables begin.
    pub first: u32,
    users: u32,
}

/// Every different hull of a world once, with a range in the device's tables that is freed when no collider uses it
/// any longer. A closed surface has more edges than vertices or faces, so one range of indices, as long as there are
/// edges, serves all tables.
#[derive(Clone, Debug)]
pub(crate) struct HullTable {
    slots: Vec<Option<TableEntry>>,
    free_slots: Vec<u32>,
    by_hash: HashMap<u64, Vec<u32>>,
    /// Free ranges, sorted by start; adjacent ones are merged.
    gaps: Vec<(u32, u32)>,
    end: u32,
}

impl HullTable {
    pub fn new() -> Self {
        Self { slots: Vec::new(), free_slots: Vec::new(), by_hash: HashMap::new(), gaps: Vec::new(), end: BOX_EDGES }
    }

    /// Slots that were ever used.
    pub fn slot_count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Where the tables end.
    pub fn end(&self) -> u32 {
        self.end
    }

    pub fn entry(&self, slot: u32) -> Option<&TableEntry> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// An error unless `hulls` more hulls fit, even if each has the most edges possible.
    pub fn check(&self, hulls: usize) -> Result<(), WorldError> {
        let most = (hulls as u64).saturating_mul(3 * MAX_HULL_VERTICES as u64);
        if u64::from(self.end) + most <= u64::from(MAX_EDGES) {
            return Ok(());
        }
        Err(WorldError::Full { what: "edges of convex hulls", limit: MAX_EDGES })
    }

    /// The slot of a hull, if it is in the tables.
    pub fn find(&self, hull: &Arc<Hull>) -> Option<u32> {
        let is =
            |slot: &u32| self.entry(*slot).is_some_and(|entry| Arc::ptr_eq(&entry.hull, hull) || entry.hull.is(hull));
        self.by_hash.get(&hull.hash)?.iter().copied().find(is)
    }

    /// Adds a user of a hull. Returns its slot, and whether it is new in the tables.
    pub fn acquire(&mut self, hull: &Arc<Hull>) -> (u32, bool) {
        let alike = self.by_hash.entry(hull.hash).or_default();
        for &slot in alike.iter() {
            if let Some(entry) = &mut self.slots[slot as usize]
                && (Arc::ptr_eq(&entry.hull, hull) || entry.hull.is(hull))
            {
                entry.users += 1;
                return (slot, false);
            }
        }
        let slot = self.free_slots.pop().unwrap_or(self.slots.len() as u32);
        if slot as usize == self.slots.len() {
            self.slots.push(None);
        }
        alike.push(slot);
        let first = self.take(hull.edges.len() as u32);
        self.slots[slot as usize] = Some(TableEntry { hull: hull.clone(), first, users: 1 });
        (slot, true)
    }

    /// Removes a user of a hull, and frees its slot when it was the last.
    pub fn release(&mut self, slot: u32) {
        let Some(entry) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) else { return };
        entry.users -= 1;
        if entry.users > 0 {
            return;
        }
        let (first, hull) = (entry.first, entry.hull.clone());
        self.slots[slot as usize] = None;
        self.free_slots.push(slot);
        if let Some(alike) = self.by_hash.get_mut(&hull.hash) {
            alike.retain(|s| *s != slot);
            if alike.is_empty() {
                self.by_hash.remove(&hull.hash);
            }
        }
        self.give(first, first + hull.edges.len() as u32);
    }

    /// Every hull in the tables.
    pub(super) fn hulls(&self) -> impl Iterator<Item = &Arc<Hull>> {
        self.slots.iter().flatten().map(|entry| &entry.hull)
    }

    /// Hull and place of every slot.
    pub(super) fn slots(&self) -> impl ExactSizeIterator<Item = Option<(&Arc<Hull>, u32)>> {
        self.slots.iter().map(|slot| slot.as_ref().map(|entry| (&entry.hull, entry.first)))
    }

    pub(super) fn free_slots(&self) -> &[u32] {
        &self.free_slots
    }

    /// Rebuilds a saved table from its slots and free slots; users are not counted yet. An error says what is wrong
    /// with the ranges.
    pub(super) fn from_parts(slots: Vec<Option<(Arc<Hull>, u32)>>, free_slots: Vec<u32>) -> Result<Self, String> {
        let mut table = Self { free_slots, ..Self::new() };
        let there = (0..).zip(&slots).filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)));
        let mut places: Vec<(u32, u32, u32)> = Vec::new();
        for (slot, (hull, first)) in there {
            table.by_hash.entry(hull.hash).or_default().push(slot);
            places.push((*first, hull.edges.len() as u32, slot));
        }
        places.sort_unstable();
        for (first, edges, slot) in places {
            let end = first.saturating_add(edges);
            if first < table.end || end > MAX_EDGES {
                return Err(format!("hull {slot} lies at {first}..{end}, behind {}", table.end));
            }
            if first > table.end {
                table.gaps.push((table.end, first));
            }
            table.end = end;
        }
        let entry = |(hull, first)| TableEntry { hull, first, users: 0 };
        table.slots = slots.into_iter().map(|slot| slot.map(entry)).collect();
        Ok(table)
    }

    /// Sets the number of users of each hull. A hull without users is an error, with its slot.
    pub(super) fn set_users(&mut self, counts: &[u32]) -> Result<(), u32> {
        for ((index, slot), users) in (0..).zip(&mut self.slots).zip(counts) {
            if let Some(entry) = slot {
                if *users == 0 {
                    return Err(index);
                }
                entry.users = *users;
            }
        }
        Ok(())
    }

    /// The first gap that is long enough, or the end.
    fn take(&mut self, length: u32) -> u32 {
        if let Some(i) = self.gaps.iter().position(|(from, to)| to - from >= length) {
            let (from, to) = self.gaps[i];
            if to - from == length {
                self.gaps.remove(i);
            } else {
                self.gaps[i].0 += length;
            }
            return from;
        }
        self.end += length;
        self.end - length
    }

    fn give(&mut self, mut from: u32, mut to: u32) {
        self.gaps.retain(|&(f, t)| {
            let touches = t == from || f == to;
            if touches {
                (from, to) = (from.min(f), to.max(t));
            }
            !touches
        });
        if to == self.end {
            self.end = from;
        } else {
            let place = self.gaps.partition_point(|g| g.0 < from);
            self.gaps.insert(place, (from, to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit_box;
    use super::*;
    use crate::glam::Vec3;

    fn wedge(width: f32) -> Arc<Hull> {
        let points = [Vec3::ZERO, Vec3::X * width, Vec3::Y, Vec3::Z];
        Arc::new(Hull::new(&points).unwrap())
    }

    #[test]
    fn equal_hulls_share_a_slot_and_places_are_used_again() {
        let mut table = HullTable::new();
        let (a, new) = table.acquire(&wedge(1.0));
        assert!(new);
        assert_eq!(table.acquire(&wedge(1.0)), (a, false), "the same points made twice");
        let (b, new) = table.acquire(&wedge(2.0));
        assert!(new && a != b);
        assert_eq!(table.end(), BOX_EDGES + 12, "two tetrahedra");
        table.release(a);
        assert!(table.entry(a).is_some(), "one user is left");
        table.release(a);
        assert!(table.entry(a).is_none());
        let (c, _) = table.acquire(&wedge(3.0));
        assert_eq!((c, table.entry(c).unwrap().first, table.end()), (a, BOX_EDGES, BOX_EDGES + 12));
        for slot in [c, b] {
            table.release(slot);
        }
        assert_eq!((table.end(), table.gaps.len()), (BOX_EDGES, 0), "as if nothing had been there");
    }

    #[test]
    fn the_unit_box_has_the_edges_that_are_set_aside_for_it() {
        let hull = unit_box().unwrap();
        assert_eq!((hull.vertices.len(), hull.faces.len(), hull.edges.len() as u32), (8, 6, BOX_EDGES));
        assert_eq!(hull.half, Vec3::ONE);
        assert!(hull.faces.iter().all(|f| f.offset == 1.0 && f.normal.abs().max_element() == 1.0));
    }
}
