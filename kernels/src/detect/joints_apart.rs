//! Takes out pairs of colliders whose bodies a joint keeps from touching each other.

use crate::gpu::{Load, Store};
use crate::layout::{Extent, Pair};
use crate::solve::joints::{Joint, flag};
use crate::state::rigid::{Collider, row};
use crate::{layout, stage};

stage! {
    "joints_apart" each 64 {
        read 0 counters: u32,
        read 1 pairs: Pair,
        read 2 colliders: Collider,
        read 3 joints: Joint,
        read 4 joint_links: u32,
        write 5 touches: u32,
    }
}

layout! {
    /// Push constants of `joints_apart`.
    pub struct Push {
        /// Number of pairs.
        pub pairs: Extent,
    }
}

/// Looks at one pair.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.pairs.count(&b.counters, b.pairs.len()) {
        return;
    }
    let pair = b.pairs.at(item);
    let (one, two) = (b.colliders.at(pair.a).what.body, b.colliders.at(pair.b).what.body);
    let room = b.joint_links.len();
    let (row_one, row_two) = (row(&b.joint_links, one, room), row(&b.joint_links, two, room));
    let shorter = row_one.count() <= row_two.count();
    let links = if shorter { row_one } else { row_two };
    let other = if shorter { two } else { one };
    let mut apart = false;
    let mut e = links.start;
    while e < links.end {
        let joint = b.joints.at(b.joint_links.at(e) >> 1);
        let there = joint.flags & flag::APART != 0 && joint.flags & flag::BROKEN == 0;
        apart = apart || (there && (joint.body_a == other || joint.body_b == other));
        e += 1;
    }
    if apart {
        b.touches.put(item, 0);
    }
}
