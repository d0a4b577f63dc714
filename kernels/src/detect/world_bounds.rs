//! Where there are several worlds: reduces the centres of the boxes of each to one box, over which `world_morton` lays
//! that world's grid. A world has the same grid, and so the same order of pairs and the same bits, as if it were alone.
//! Reads `boxes`; writes `scenes`.
//!
//! Bounds are kept as whole numbers that are ordered as the floats are, so that atomic minima and maxima find them:
//! these do not depend on who comes first. Boxes whose centre is not finite are left out, as in `scene_bounds`.

use crate::gpu::{Load, finite, glam::Vec3};
use crate::layout::Aabb;
use crate::state::rigid::{Body, Collider};
use crate::{layout, stage};

stage! {
    "world_bounds" each 256 {
        read 0 boxes: Aabb,
        read 1 colliders: Collider,
        read 2 bodies: Body,
        update 3 scenes: u32,
    }
}

layout! {
    /// Push constants of `world_bounds`.
    pub struct Push {
        /// Number of boxes.
        pub count: u32,
        /// Number of worlds. What belongs to all comes behind them, as one more.
        pub worlds: u32,
    }
}

/// Words of a bound: the lower ones of all worlds come first, [`u32::MAX`] where nothing is known, then the upper
/// ones, 0.
pub const WORDS: u32 = 3;

/// A whole number that is larger where the float is.
#[inline(always)]
pub fn ordered(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits >> 31 != 0 { !bits } else { bits | 1 << 31 }
}

/// The float of an [`ordered`] number.
#[inline(always)]
pub fn value(ordered: u32) -> f32 {
    f32::from_bits(if ordered >> 31 != 0 { ordered & !(1 << 31) } else { !ordered })
}

/// The world of a body among `worlds`, or the one behind them if it belongs to all.
#[inline(always)]
pub fn world_of(body: &Body, worlds: u32) -> u32 {
    let world = body.world();
    if body.is_shared() || world > worlds { worlds } else { world }
}

/// The box of a world's centres.
#[inline(always)]
pub fn scene(scenes: &impl Load<u32>, world: u32, worlds: u32) -> Aabb {
    let (low, high) = (world.wrapping_mul(WORDS), worlds.wrapping_add(1).wrapping_add(world).wrapping_mul(WORDS));
    let at = |i: u32| value(scenes.at(i));
    Aabb {
        min: Vec3::new(at(low), at(low.wrapping_add(1)), at(low.wrapping_add(2))),
        max: Vec3::new(at(high), at(high.wrapping_add(1)), at(high.wrapping_add(2))),
    }
}

/// Joins one box to its world's.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let centre = b.boxes.at(item).centre();
    if !(finite(centre.x) & finite(centre.y) & finite(centre.z)) {
        return;
    }
    let world = world_of(&b.bodies.at(b.colliders.at(item).what.body), push.worlds);
    let low = world.wrapping_mul(WORDS);
    let high = push.worlds.wrapping_add(1).wrapping_add(world).wrapping_mul(WORDS);
    widen(low, high, ordered(centre.x), b);
    widen(low.wrapping_add(1), high.wrapping_add(1), ordered(centre.y), b);
    widen(low.wrapping_add(2), high.wrapping_add(2), ordered(centre.z), b);
}

/// Most boxes lie within what is known already, and need no atomic.
#[inline(always)]
fn widen(low: u32, high: u32, value: u32, b: &mut Bindings<'_>) {
    if value < b.scenes.now(low) {
        b.scenes.lower(low, value);
    }
    if value > b.scenes.now(high) {
        b.scenes.raise(high, value);
    }
}

#[cfg(all(test, not(target_arch = "spirv")))]
mod tests {
    use super::*;

    #[test]
    fn ordered_numbers_are_ordered_as_their_floats_and_give_them_back() {
        let floats = [f32::MIN, -1e9, -1.5, -1.0, -1e-40, 0.0, 1e-40, 1.0, 1.5, 1e9, f32::MAX];
        for pair in floats.windows(2) {
            assert!(ordered(pair[0]) < ordered(pair[1]), "{pair:?}");
        }
        for f in floats {
            assert_eq!(value(ordered(f)).to_bits(), f.to_bits());
        }
    }
}
