//! Writes the Morton code of every box's centre, 10 bits an axis, and the identity permutation that is sorted along
//! with it. Reads `boxes` and the scene's box; writes `keys` and `order`.
//!
//! A centre outside the scene's box is clamped to its border, and one that is not a number goes to cell 0, so every box
//! gets a key whatever the state of its body. Unbounded boxes come before all others, in a subtree of their own: every
//! walk visits them, and should not have to descend into a corner of the scene for that.

use crate::gpu::{Load, Store, abs, glam::Vec3, least};
use crate::layout::{Aabb, Extent};
use crate::{layout, stage};

stage! {
    "morton" each 256 {
        read 0 boxes: Aabb,
        read 1 counters: u32,
        read 2 scene: Aabb,
        write 3 keys: u32,
        write 4 order: u32,
    }
}

layout! {
    /// Push constants of `morton`.
    pub struct Push {
        /// Number of boxes.
        pub extent: Extent,
        /// Elements of `scene` that make up the scene.
        pub parts: u32,
    }
}

/// Most of them: every lane joins them.
pub const FEW_PARTS: u32 = 4;

/// Bits of a key that can be set.
pub const KEY_BITS: u32 = 31;

/// Moves the low 10 bits apart, two zeros between neighbours.
#[inline(always)]
pub fn spread(v: u32) -> u32 {
    let v = (v | (v << 16)) & 0x0300_00ff;
    let v = (v | (v << 8)) & 0x0300_f00f;
    let v = (v | (v << 4)) & 0x030c_30c3;
    (v | (v << 2)) & 0x0924_9249
}

/// Index of the cell that holds `value`, of 1024 cells between `low` and `high`.
#[inline(always)]
pub fn cell(value: f32, low: f32, high: f32) -> u32 {
    let size = high - low;
    let scaled = if size > 0.0 { (value - low) / size * 1024.0 } else { 0.0 };
    // Written so that a NaN falls through to 0.
    if scaled >= 1023.0 {
        1023
    } else if scaled > 0.0 {
        scaled as u32
    } else {
        0
    }
}

/// The Morton code of `point` in the grid over `scene`.
#[inline(always)]
pub fn code(point: Vec3, scene: &Aabb) -> u32 {
    let x = cell(point.x, scene.min.x, scene.max.x);
    let y = cell(point.y, scene.min.y, scene.max.y);
    let z = cell(point.z, scene.min.z, scene.max.z);
    spread(x) | (spread(y) << 1) | (spread(z) << 2)
}

/// Codes one box.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.extent.count(&b.counters, b.boxes.len()) {
        return;
    }
    let centre = b.boxes.at(item).centre();
    // Also false for NaN.
    let finite = (abs(centre.x) <= f32::MAX) & (abs(centre.y) <= f32::MAX) & (abs(centre.z) <= f32::MAX);
    let mut scene = b.scene.at(0);
    let mut part = 1;
    while part < least(push.parts, FEW_PARTS) {
        scene = scene.union(&b.scene.at(part));
        part += 1;
    }
    b.keys.put(item, (finite as u32) << 30 | code(centre, &scene));
    b.order.put(item, item);
}
