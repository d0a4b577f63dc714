//! `primal` for worlds with joints: besides its contacts, every body answers its joints. A stage of its own, so that worlds
//! without joints do not carry the registers.

pub use crate::solve::primal::Push;

use crate::detect::manifold::{record, word};
use crate::gpu::glam::UVec4;
use crate::gpu::{Group, Load, OfPoints, Store};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::joints::{Joint, JointEnds, JointRow, JointRules, RowState, add, flag};
use crate::solve::primal::{bound, sweep};
use crate::solve::solver_body::SolverBody;
use crate::solve::system::System;
use crate::stage;
use crate::state::rigid::{ColourRange, Entry, EntryRange, Params, row};

stage! {
    "primal_joints" group 64, wide {
        read 0 params: Params,
        read 1 solver_bodies: UVec4,
        read 2 points: UVec4,
        read 3 entries: Entry,
        read 4 ranges: ColourRange,
        read 5 order: u32,
        update 6 rotations: Rotation,
        update 7 deltas: Twist,
        update 8 poses: Pose,
        read 9 starts: Pose,
        read 10 joints: Joint,
        read 11 joint_rows: JointRow,
        read 12 row_states: RowState,
        read 13 joint_links: u32,
        read 14 surfaces: UVec4,
    }
}

/// [`bound!`] for stages with the bindings of joints, and the rest as it is given.
macro_rules! bound_joints {
    ($rows:literal $($given:item)*) => {
        bound! {
            true $rows
            $($given)*
            fn joints(&self, group: &Group, on: bool, index: u32, lane: u32, lanes: u32, stabilise: bool) -> System {
                let mut system = System::none();
                let rules = JointRules::new(&self.params.at(0), stabilise);
                let mut links = EntryRange::EMPTY;
                if on {
                    links = row(&self.joint_links, index, self.joint_links.len());
                }
                // Lanes go through as many joints as the one of their subgroup that has the most, and through as many rows
                // of each: the sums over teams want them all. One that has none left looks at the first joint and adds
                // nothing.
                let mut e = links.start + lane;
                while group.any(e < links.end) {
                    let here = e < links.end;
                    let entry = self.joint_links.at(if here { e } else { 0 });
                    let joint = self.joints.at(if here { entry >> 1 } else { 0 });
                    let holds = here && joint.flags & flag::BROKEN == 0;
                    let mut ends = JointEnds::none();
                    if holds {
                        ends = JointEnds::moving(&joint, &self.starts, &self.deltas, &self.poses);
                    }
                    let side = if entry & 1 == 0 { 1.0 } else { -1.0 };
                    add(&mut system, &rules, (group, holds), &joint, &ends, side, &self.joint_rows, &self.row_states);
                    e += lanes;
                }
                system
            }
        }
    };
}
pub(crate) use bound_joints;

bound_joints! {
    false
}

/// Solves a workgroup's bodies of the colour, or all of them.
#[inline(always)]
pub fn run<F: OfPoints>(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    sweep::<F, _>(group, push, b);
}
