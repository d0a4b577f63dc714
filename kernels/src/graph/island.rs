//! How a stage goes through the islands that `islands` found, after a sort has laid their members side by side. Keys
//! are the numbers of the islands, in order; bodies without an island come last, with the key `count`.
//!
//! Every workgroup has a tile of places. One lane processes an island that is no longer than a tile. The first subgroup
//! of the workgroup processes the longer island that begins in its tile; no second one that long can begin there. Sums
//! are made in a fixed order.
//!
//! Sums over lanes need all lanes of a subgroup at once. Therefore all lanes make the same rounds, with an island or
//! without, and a round has either only short islands, one a lane, or only the long one.

use crate::gpu::glam::Vec3;
use crate::gpu::{Group, Load, OfBodies, Read, least};

/// Number of places in the list of members that a workgroup covers.
pub const TILE: u32 = 64;

/// The share of a lane in an island: every `step`-th member from `first` to `end`, alone or together with its subgroup.
#[derive(Clone, Copy)]
pub struct IslandShare {
    /// Place of its first member.
    pub first: u32,
    /// End of the island; not above `first` if there is nothing to do.
    pub end: u32,
    /// Distance from one of its members to the next.
    pub step: u32,
    /// Where the island begins.
    pub start: u32,
}

/// The shares of a lane in its workgroup's tile, one after the other.
pub struct TileShares {
    first: u32,
    count: u32,
    round: u32,
    rounds: u32,
}

impl TileShares {
    /// Those of `group`, in the list of `count` members.
    #[inline(always)]
    pub fn new(islands: &Read<'_, u32>, group: &Group, count: u32) -> Self {
        let (first, count) = (group.index * TILE, least(count, islands.len()));
        // Short islands, each by one lane, and in the last round a long one by all lanes of a subgroup.
        let rounds = if any(islands, first, count) { TILE.div_ceil(group.lanes) + 1 } else { 0 };
        Self { first, count, round: 0, rounds }
    }

    /// Whether there are more shares: the same for all lanes of the workgroup.
    #[inline(always)]
    pub fn more(&self) -> bool {
        self.round < self.rounds
    }

    /// The next share, which may be empty. All lanes of a subgroup call it together.
    #[inline(always)]
    pub fn next(&mut self, islands: &Read<'_, u32>, group: &Group) -> IslandShare {
        self.round += 1;
        if self.round < self.rounds {
            let place = self.first + (self.round - 1) * group.lanes + group.lane;
            IslandShare { first: place, end: end_of_short(islands, group, place, self.count), step: 1, start: place }
        } else {
            IslandShare::of_long(islands, group, self.first, self.count)
        }
    }
}

/// Whether there may be islands that begin in the tile from `first` on.
#[inline(always)]
fn any(islands: &impl Load<u32>, first: u32, count: u32) -> bool {
    let mut any = false;
    if first < count && islands.at(first) < count {
        // Inside a long island none begins.
        any = first == 0 || islands.at(first - 1) != islands.at(least(first + TILE, count) - 1);
    }
    any
}

/// Whether an island begins at a place.
#[inline(always)]
fn begins(islands: &impl Load<u32>, place: u32, count: u32) -> bool {
    let mut begins = false;
    if place < count {
        let key = islands.at(place);
        begins = key < count && (place == 0 || islands.at(place - 1) != key);
    }
    begins
}

/// End of the island that begins at a place; 0 if none begins there, or a long one. All lanes of a subgroup call it
/// together, and search as far as the lane with the longest island.
#[inline(always)]
fn end_of_short(islands: &impl Load<u32>, group: &Group, place: u32, count: u32) -> u32 {
    let begins = begins(islands, place, count);
    let key = islands.at(if begins { place } else { 0 });
    let last = if begins { least(place + TILE, count) } else { 0 };
    let mut end = place + 1;
    let mut more = end < last;
    while group.any(more) {
        if more {
            more = islands.at(end) == key;
        }
        if more {
            end += 1;
            more = end < last;
        }
    }
    let mut long = false;
    if begins && end < count {
        long = islands.at(end) == key;
    }
    if begins && !long { end } else { 0 }
}

/// Where the island that begins at a place ends: keys are sorted.
#[inline(always)]
fn end_of(islands: &impl Load<u32>, place: u32, count: u32) -> u32 {
    let key = islands.at(place);
    let (mut low, mut high) = (place, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if islands.at(middle) <= key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl IslandShare {
    /// This lane's share of the long island that begins in the tile from `first` on, if there is one; it is the last
    /// that begins there. All lanes of the first subgroup find the same one.
    #[inline(always)]
    fn of_long(islands: &impl Load<u32>, group: &Group, first: u32, count: u32) -> Self {
        let mut part = Self { first, end: 0, step: group.width(), start: first };
        let mut behind = least(first + TILE, count);
        while behind > first && !begins(islands, behind - 1, count) {
            behind -= 1;
        }
        if group.subgroup == 0 && behind > first {
            let start = behind - 1;
            let end = end_of(islands, start, count);
            // An island up to a tile long was processed by one lane in an earlier round.
            if end - start > TILE {
                part = Self { first: start + group.slot, end, step: group.width(), start };
            }
        }
        part
    }

    /// The same if `on`, else nothing.
    #[inline(always)]
    pub fn only_if(self, on: bool) -> Self {
        Self { end: if on { self.end } else { 0 }, ..self }
    }

    /// Whether there is anything to do.
    #[inline(always)]
    pub fn is_any(&self) -> bool {
        self.start < self.end
    }

    /// Members of the island.
    #[inline(always)]
    pub fn members(&self) -> u32 {
        if self.is_any() { self.end - self.start } else { 0 }
    }

    /// The sum over the lanes that work together, in pairs, then pairs of pairs.
    #[inline(always)]
    pub fn sum(&self, group: &Group, value: f32) -> f32 {
        let mut total = value;
        let mut reach = 1;
        while reach < self.step {
            total += total.of_slot(group, group.slot ^ reach);
            reach *= 2;
        }
        total
    }

    /// The same of vectors.
    #[inline(always)]
    pub fn sums(&self, group: &Group, v: Vec3) -> Vec3 {
        Vec3::new(self.sum(group, v.x), self.sum(group, v.y), self.sum(group, v.z))
    }

    /// The largest value that the lanes that work together have.
    #[inline(always)]
    pub fn most(&self, group: &Group, value: f32) -> f32 {
        let mut most = value;
        let mut reach = 1;
        while reach < self.step {
            let other = most.of_slot(group, group.slot ^ reach);
            most = if other > most { other } else { most };
            reach *= 2;
        }
        most
    }
}
