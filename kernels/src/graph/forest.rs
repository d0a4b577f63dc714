//! Sets of nodes, joined by a lock-free union-find: every node points to one of its set with a lower number, the first
//! of a set to itself, and numbers only ever become lower. In whatever order lanes run, the first of every set ends up
//! as its lowest node, so what is final is the same in every run although intermediate states are not. All nodes that
//! are not free form one set, the ground, lower than all others.

use crate::gpu::{Store, Write};

/// The set of nodes that are not free. The number of node `i` is `i + 1`.
pub const GROUND: u32 = 0;

/// The first of a node's set. Shortens the path on the way: every other node on it is made to point farther.
#[inline(always)]
pub fn first(parents: &mut Write<'_, u32>, node: u32) -> u32 {
    let mut at = node;
    let mut parent = if at == GROUND { GROUND } else { parents.now(at - 1) };
    // Ends, because numbers become lower with every round: when sets are made there are no higher ones.
    while parent < at && parent != GROUND {
        let next = parents.now(parent - 1);
        parents.lower(at - 1, next);
        at = parent;
        parent = next;
    }
    // A driver that cuts loops short (llvmpipe, after 65,535 rounds) may stop in the middle of a chain. The node then
    // goes to the ground, which is never moved: better than moving half an island without the other half.
    if parent == at { parent } else { GROUND }
}

/// Joins two sets.
#[inline(always)]
pub fn join(parents: &mut Write<'_, u32>, node: u32, other: u32) {
    let mut one = first(parents, node);
    let mut two = first(parents, other);
    while one != two {
        let low = if one < two { one } else { two };
        let high = if one < two { two } else { one };
        let before = parents.lower(high - 1, low);
        // If another lane was faster and made it point to a third set, that one and ours must be joined now. Both are
        // lower than `high`, so this ends.
        one = low;
        two = low;
        if before != high {
            one = first(parents, low);
            two = first(parents, before);
        }
    }
}

/// A node by itself, or on the ground.
#[inline(always)]
pub fn apart(parents: &mut Write<'_, u32>, node: u32, free: bool) {
    parents.put(node, if free { node + 1 } else { GROUND });
}
