//! `primal` for worlds with joints: besides its contacts, every body answers its joints. A stage of its own, so that worlds
//! without joints do not carry the registers.

pub use crate::primal::Push;

use crate::gpu::glam::UVec4;
use crate::gpu::{Group, Load, OfPoints, Store};
use crate::joints::{Ends, Joint, Row as JointRow, RowState, Rules, add, flag};
use crate::manifold::{Head, record, word};
use crate::math::{Pose, Twist};
use crate::primal::{bound, sweep};
use crate::rigid::{Body, ColourRange, Params, Row, row};
use crate::solve::Points;
use crate::system::System;
use crate::stage;

stage! {
    "primal_joints" group 64, wide {
        read 0 params: Params,
        read 1 bodies: Body,
        read 2 starts: Pose,
        read 3 targets: Pose,
        read 4 points: UVec4,
        read 5 rows: u32,
        read 6 entries: u32,
        read 7 neighbours: u32,
        read 8 ranges: ColourRange,
        read 9 order: u32,
        update 10 poses: Pose,
        update 11 deltas: Twist,
        read 12 joints: Joint,
        read 13 joint_rows: JointRow,
        read 14 row_states: RowState,
        read 15 joint_links: u32,
    }
}

bound! {
    true
    fn joints(&self, index: u32, lane: u32, lanes: u32, stabilise: bool) -> System {
        let mut system = System::none();
        let rules = Rules::new(&self.params.at(0), stabilise);
        let links = row(&self.joint_links, index);
        let mut e = links.start + lane;
        while e < links.end {
            let entry = self.joint_links.at(e);
            let joint = self.joints.at(entry >> 1);
            if joint.flags & flag::BROKEN == 0 {
                let ends = Ends::moving(&joint, &self.starts, &self.deltas, &self.poses);
                let side = if entry & 1 == 0 { 1.0 } else { -1.0 };
                add(&mut system, &rules, &joint, &ends, side, &self.joint_rows, &self.row_states);
            }
            e += lanes;
        }
        system
    }
}

/// Solves a workgroup's bodies of the colour, or all of them.
#[inline(always)]
pub fn run<F: OfPoints>(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    sweep::<F, _>(group, push, b);
}
