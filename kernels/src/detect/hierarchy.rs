//! Linear BVH over sorted Morton codes: every inner node finds its own range and split, all in parallel (Karras,
//! "Maximizing Parallelism in the Construction of BVHs, Octrees, and k-d Trees", 2012).
//!
//! Equal codes are told apart by their index, so any number of boxes at one place gives a balanced subtree.
//!
//! The pass also writes the *ropes*, by which a walk goes on without a stack. After a subtree whose last leaf is `r`, a
//! depth-first walk continues at the right child of the one node that splits after leaf `r`. There are as many inner
//! nodes as splits, so one array holds them all: `ropes[split] = right`.
//!
//! It also brings the boxes into Morton order, where neighbours in space are neighbours in memory, and makes the first
//! level of the pyramid over them (see `pyramid`).

use crate::detect::pyramid::FAN;
use crate::gpu::{Load, Read, Store, least};
use crate::layout::{Aabb, END, Extent, LEAF, Node, Volume, size_class, volume_of};
use crate::{layout, stage};

stage! {
    "hierarchy" each 256 {
        read 0 keys: u32,
        read 1 counters: u32,
        write 2 nodes: Node,
        write 3 ropes: u32,
        read 4 boxes: Aabb,
        read 5 order: u32,
        write 6 volumes: Volume,
        write 7 levels: Volume,
    }
}

layout! {
    /// Push constants of `hierarchy`.
    pub struct Push {
        /// Number of leaves.
        pub extent: Extent,
    }
}

/// Length of the common prefix of leaf `i`, whose code is `key`, and leaf `j`; -1 when there is no leaf `j`.
///
/// # Safety
/// `count` is no more than there are keys.
#[inline(always)]
unsafe fn prefix_of(keys: &Read<'_, u32>, count: i32, key: u32, i: i32, j: i32) -> i32 {
    if j < 0 || j >= count {
        return -1;
    }
    // SAFETY: `count` is no more than there are keys, and `j` is below it.
    let difference = key ^ unsafe { keys.known(j as u32) };
    if difference != 0 { difference.leading_zeros() as i32 } else { 32 + (i ^ j).leading_zeros() as i32 }
}

/// Largest number of leaves: indices, and twice the distances between them, must fit a signed 32-bit number.
const MOST: u32 = 1 << 30;

/// The volume of the box at a place in Morton order.
#[inline(always)]
fn leaf(boxes: &Read<'_, Aabb>, order: &Read<'_, u32>, place: u32) -> Volume {
    let bounds = boxes.at(order.at(place));
    Volume { bounds, class: size_class(&bounds) }
}

/// Finds the range, the split and the rope of one inner node.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters, least(b.keys.len(), MOST));
    if item >= leaves {
        return;
    }
    // SAFETY: `item` is the number of the invocation, no other one has the same place, and nothing else is stored.
    unsafe { b.volumes.put_own(volume_of(item | LEAF), leaf(&b.boxes, &b.order, item)) };
    if leaves > 1 && item.is_multiple_of(FAN) {
        let end = if leaves - item < FAN { leaves } else { item + FAN };
        let mut volume = Volume::EMPTY;
        let mut i = item;
        while i < end {
            volume = volume.union(&leaf(&b.boxes, &b.order, i));
            i += 1;
        }
        b.levels.put(item / FAN, volume);
    }
    if item == leaves - 1 {
        b.ropes.put(item, END);
        return;
    }
    let (count, i) = (leaves as i32, item as i32);
    let key = b.keys.at(item);
    // SAFETY: `leaves` is no more than there are keys.
    let prefix = |j: i32| unsafe { prefix_of(&b.keys, count, key, i, j) };

    // The node's range starts at leaf i and extends to the side whose neighbour has the longer common prefix with it.
    let after = prefix(i + 1);
    let before = prefix(i - 1);
    let (d, outside) = if after > before { (1, before) } else { (-1, after) };

    // An upper bound of the range's length, then its other end by bisection. Both loops end after 31 rounds.
    let mut bound = 2;
    while bound < count && prefix(i + bound * d) > outside {
        bound *= 2;
    }
    let mut length = 0;
    let mut step = bound / 2;
    while step > 0 {
        if prefix(i + (length + step) * d) > outside {
            length += step;
        }
        step /= 2;
    }
    let j = i + length * d;

    // Finds the last leaf whose common prefix with leaf i is longer than that of the two ends of the range.
    let common = prefix(j);
    let mut offset = 0;
    let mut step = length;
    while step > 1 {
        step = (step + 1) / 2;
        if offset + step < length && prefix(i + (offset + step) * d) > common {
            offset += step;
        }
    }
    let split = if d > 0 { i + offset } else { i - offset - 1 };

    let (first, last) = if d > 0 { (i, j) } else { (j, i) };
    let left = if first == split { split as u32 | LEAF } else { split as u32 };
    let right = if last == split + 1 { (split + 1) as u32 | LEAF } else { (split + 1) as u32 };
    b.nodes.put(item, Node { left, right, first: first as u32, last: last as u32 });
    b.ropes.put(split as u32, right);
}
