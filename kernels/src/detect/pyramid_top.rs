//! The upper levels of the pyramid, from the first that one workgroup can make on: one after the other, through
//! workgroup memory. The levels below are `pyramid`'s.

use crate::detect::pyramid::FAN;
use crate::gpu::{Group, Load, Store, glam::Vec3, least};
use crate::layout::{Aabb, Volume};
use crate::stage;

pub use crate::detect::pyramid::Push;

stage! {
    "pyramid_top" group 256, shared u32 1792 {
        read 0 counters: u32,
        update 1 levels: Volume,
    }
}

/// Most boxes of the first level that it makes: one a lane.
pub const MOST: u32 = 256;

/// Words of a box in workgroup memory.
const WORDS: u32 = 7;

fn load(shared: &Shared, i: u32) -> Volume {
    let at = |word: u32| f32::from_bits(shared.at(i * WORDS + word));
    let (min, max) = (Vec3::new(at(0), at(1), at(2)), Vec3::new(at(3), at(4), at(5)));
    Volume { bounds: Aabb { min, max }, class: shared.at(i * WORDS + 6) }
}

fn store(shared: &mut Shared, i: u32, volume: &Volume) {
    let Aabb { min, max } = volume.bounds;
    shared.put(i * WORDS, min.x.to_bits());
    shared.put(i * WORDS + 1, min.y.to_bits());
    shared.put(i * WORDS + 2, min.z.to_bits());
    shared.put(i * WORDS + 3, max.x.to_bits());
    shared.put(i * WORDS + 4, max.y.to_bits());
    shared.put(i * WORDS + 5, max.z.to_bits());
    shared.put(i * WORDS + 6, volume.class);
}

/// Makes the level `push.level` and all above it.
#[inline(always)]
pub fn run(group: &Group, shared: &mut Shared, push: &Push, b: &mut Bindings<'_>) {
    // What there is on a level, and what there is room for.
    let mut below = push.extent.count(&b.counters, u32::MAX);
    let mut room = push.extent.limit;
    let mut level = 1;
    while level < push.level && room > 1 {
        below = below.div_ceil(FAN);
        room = room.div_ceil(FAN);
        level += 1;
    }
    // Plans begin where a level fits; the bound holds for any push constants.
    below = least(below, MOST * FAN);
    room = least(room, MOST * FAN);
    let (mut from, mut start) = (push.below, push.start);
    // The same for all lanes, which are at the barriers together.
    while room > 1 {
        let above = below.div_ceil(FAN);
        let mut volume = Volume::EMPTY;
        let mut item = group.lane;
        while item < above {
            volume = Volume::EMPTY;
            let mut i = item * FAN;
            let to = if below - i < FAN { below } else { i + FAN };
            while i < to {
                // A lone lane finds what it wrote itself.
                let part = if level == push.level || group.lanes == 1 {
                    b.levels.at(from.wrapping_add(i))
                } else {
                    load(shared, i)
                };
                volume = volume.union(&part);
                i += 1;
            }
            b.levels.put(start.wrapping_add(item), volume);
            item += group.lanes;
        }
        group.barrier();
        if group.lanes > 1 && group.lane < above {
            store(shared, group.lane, &volume);
        }
        group.barrier();
        room = room.div_ceil(FAN);
        (below, from) = (above, start);
        start = start.wrapping_add(room);
        level += 1;
    }
}
