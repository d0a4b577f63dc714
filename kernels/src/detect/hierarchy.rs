//! Linear BVH over sorted Morton codes: every inner node finds its own range and split, all in parallel (Karras,
//! "Maximizing Parallelism in the Construction of BVHs, Octrees, and k-d Trees", 2012).
//!
//! Equal codes are told apart by their index, so any number of boxes in one place gives a balanced subtree.
//!
//! Beside the nodes the pass writes the *ropes* that let a walk go on without a stack. After a subtree whose last
//! leaf is `r` is done, a depth-first walk goes on at the right child of the one node that splits after leaf `r`.
//! There are as many inner nodes as splits, so `ropes[split] = right` is all there is to it.

use crate::gpu::{Load, Read, Store, least};
use crate::layout::{END, Extent, LEAF, Node};
use crate::{layout, stage};

stage! {
    "hierarchy" each 256 {
        read 0 keys: u32,
        read 1 counters: u32,
        write 2 nodes: Node,
        write 3 ropes: u32,
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

/// Most leaves whose numbers, and twice the bounds between them, fit signed numbers.
const MOST: u32 = 1 << 30;

/// Finds the range, the split and the rope of one inner node.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let leaves = push.extent.count(&b.counters, least(b.keys.len(), MOST));
    if item >= leaves {
        return;
    }
    if item == leaves - 1 {
        b.ropes.put(item, END);
        return;
    }
    let (count, i) = (leaves as i32, item as i32);
    let key = b.keys.at(item);
    // SAFETY: `leaves` is no more than there are keys.
    let prefix = |j: i32| unsafe { prefix_of(&b.keys, count, key, i, j) };

    // The node's range starts at leaf i and grows to the side that shares more with it.
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

    // The last leaf that shares more with leaf i than the two ends of the range share with each other.
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
