//! Lists the overlaps with sensors in this step, in the order of the pairs. Reads `sensed` and its scan; writes
//! `overlaps`.

use crate::gpu::{Load, Store};
use crate::layout::Pair;
use crate::state::material::traits::{GENERATION, SENSOR};
use crate::state::rigid::Collider;
use crate::{layout, stage};

stage! {
    "sensors_list" each 64 {
        read 0 pairs: Pair,
        read 1 colliders: Collider,
        read 2 sensed: u32,
        read 3 sensed_offsets: u32,
        write 4 overlaps: Overlap,
    }
}

layout! {
    /// Push constants of `sensors_list`.
    pub struct Push {
        /// Capacity of the list of pairs.
        pub pairs: u32,
        /// Capacity of the list of overlaps.
        pub limit: u32,
    }

    /// An overlap of a collider with a sensor.
    #[cfg_attr(target_arch = "spirv", rust_gpu::vector::v1)]
    pub struct Overlap {
        /// Slot of the sensor's collider.
        pub sensor: u32,
        /// Slot of the collider that overlaps it.
        pub other: u32,
        /// Generations of both slots: the sensor's in the lower 16 bits, the other's above.
        pub generations: u32,
        /// Not used.
        pub spare: u32,
    }
}

/// Lists one pair.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.pairs || b.sensed.at(item) == 0 {
        return;
    }
    let (place, pair) = (b.sensed_offsets.at(item), b.pairs.at(item));
    let (one, two) = (b.colliders.at(pair.a).traits, b.colliders.at(pair.b).traits);
    let first = one & SENSOR != 0;
    let (sensor, other) = if first { (pair.a, pair.b) } else { (pair.b, pair.a) };
    let (of_sensor, of_other) = if first { (one, two) } else { (two, one) };
    let generations = (of_sensor >> GENERATION) | ((of_other >> GENERATION) << 16);
    if place < push.limit {
        b.overlaps.put(place, Overlap { sensor, other, generations, spare: 0 });
    }
}
