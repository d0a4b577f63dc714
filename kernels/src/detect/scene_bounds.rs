//! Reduces the centres of all boxes to one box, over which `morton` lays its grid: first tile by tile, then the boxes
//! of the tiles. Reads `boxes`; writes `partials`.
//!
//! Boxes whose centre is not finite are left out. They still get a key (see `morton`), but one bad body must not
//! stretch the grid for all others.

use crate::gpu::{Group, Load, Store, finite, glam::Vec3};
use crate::layout::{Aabb, Extent, tile};
use crate::{layout, stage};

stage! {
    "scene_bounds" group 256, shared f32 1536 {
        read 0 boxes: Aabb,
        read 1 counters: u32,
        write 2 partials: Aabb,
    }
}

/// Boxes a workgroup joins to one.
pub const TILE: u32 = 4096;

layout! {
    /// Push constants of `scene_bounds`.
    pub struct Push {
        /// Number of boxes.
        pub extent: Extent,
        /// Not 0: take the boxes' centres; 0: the boxes are partial results, take them whole.
        pub centres: u32,
    }
}

fn load(shared: &Shared, lane: u32) -> Aabb {
    let at = lane * 6;
    Aabb {
        min: Vec3::new(shared.at(at), shared.at(at + 1), shared.at(at + 2)),
        max: Vec3::new(shared.at(at + 3), shared.at(at + 4), shared.at(at + 5)),
    }
}

fn store(shared: &mut Shared, lane: u32, bounds: &Aabb) {
    let at = lane * 6;
    shared.put(at, bounds.min.x);
    shared.put(at + 1, bounds.min.y);
    shared.put(at + 2, bounds.min.z);
    shared.put(at + 3, bounds.max.x);
    shared.put(at + 4, bounds.max.y);
    shared.put(at + 5, bounds.max.z);
}

/// Joins one tile.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    let count = push.extent.count(&b.counters, b.boxes.len());
    // Tiles beyond the count give the empty box, so the next round can read them like any other.
    let (start, end) = tile(group.index, TILE, count);

    let mut bounds = Aabb::EMPTY;
    // All lanes make the same number of rounds, so that they reach the barrier together.
    let rounds = (end - start).div_ceil(group.lanes);
    let mut round = 0;
    while round < rounds {
        let i = start + round * group.lanes + group.lane;
        if i < end {
            let item = b.boxes.at(i);
            if push.centres == 0 {
                bounds = bounds.union(&item);
            } else {
                let centre = item.centre();
                if finite(centre.x) & finite(centre.y) & finite(centre.z) {
                    bounds = bounds.union(&Aabb { min: centre, max: centre });
                }
            }
        }
        round += 1;
    }

    store(shared, group.lane, &bounds);
    group.barrier();
    let mut half = group.lanes / 2;
    while half > 0 {
        if group.lane < half {
            let folded = load(shared, group.lane).union(&load(shared, group.lane + half));
            store(shared, group.lane, &folded);
        }
        group.barrier();
        half /= 2;
    }
    if group.lane == 0 {
        b.partials.put(group.index, load(shared, 0));
    }
}
