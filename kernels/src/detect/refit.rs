//! Writes the volume of every inner node: the union over its run of leaves, taken from the pyramid. Reads `levels` and
//! `nodes`; writes `volumes`.
//!
//! Half of the nodes hold two leaves and a quarter four, so a node needs a few reads on average. Minimum and maximum
//! give the same bits in any order.

use crate::detect::pyramid::FAN;
use crate::gpu::{Load, Store, least};
use crate::layout::{Extent, LEAF, Node, Volume, volume_of};
use crate::{layout, stage};

stage! {
    "refit" each 256 {
        update 0 volumes: Volume,
        read 1 counters: u32,
        read 2 levels: Volume,
        read 3 nodes: Node,
    }
}

layout! {
    /// Push constants of `refit`.
    pub struct Push {
        /// Number of leaves.
        pub extent: Extent,
    }
}

/// Levels of a pyramid over 2^31 leaves: the bound of the climb.
const MAX_LEVELS: u32 = 11;

/// Finds the box of one inner node.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters, least(b.nodes.len(), LEAF - 1));
    if item + 1 >= leaves {
        return;
    }
    let node = b.nodes.at(item);
    let mut volume = Volume::EMPTY;
    // Clamped, so that a node of a corrupt tree gets an empty or shorter range.
    let mut high = least(node.last, leaves - 1) + 1;
    let mut low = least(node.first, high);

    // The leaves up to the next full block on both sides, then the same one level up, and so on.
    while low < high && !low.is_multiple_of(FAN) {
        // SAFETY: leaves have odd places, and what is stored here, inner nodes, even ones.
        volume = volume.union(&unsafe { b.volumes.at_own(volume_of(low | LEAF)) });
        low += 1;
    }
    while low < high && !high.is_multiple_of(FAN) {
        high -= 1;
        // SAFETY: as above.
        volume = volume.union(&unsafe { b.volumes.at_own(volume_of(high | LEAF)) });
    }
    let mut start = 0u32;
    let mut room = push.extent.limit.div_ceil(FAN);
    let mut level = 0;
    while low < high && level < MAX_LEVELS {
        low /= FAN;
        high /= FAN;
        while low < high && !low.is_multiple_of(FAN) {
            volume = volume.union(&b.levels.at(start.wrapping_add(low)));
            low += 1;
        }
        while low < high && !high.is_multiple_of(FAN) {
            high -= 1;
            volume = volume.union(&b.levels.at(start.wrapping_add(high)));
        }
        start = start.wrapping_add(room);
        room = room.div_ceil(FAN);
        level += 1;
    }
    b.volumes.put(volume_of(item), volume);
}
