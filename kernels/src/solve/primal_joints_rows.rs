//! `primal_joints` when every row of a contact has a stiffness of its own: see `primal_rows`.

pub use crate::solve::primal::Push;

use crate::detect::manifold::{record, word};
use crate::gpu::glam::UVec4;
use crate::gpu::{Group, Load, OfPoints, Store};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::contact::tangent_stiffness;
use crate::solve::joints::{Joint, JointEnds, JointRow, JointRules, RowState, add, flag};
use crate::solve::primal::{bound, sweep};
use crate::solve::primal_joints::bound_joints;
use crate::solve::solver_body::SolverBody;
use crate::solve::system::System;
use crate::stage;
use crate::state::rigid::{ColourRange, Entry, EntryRange, Params, row};

stage! {
    "primal_joints_rows" group 64, wide {
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
        read 14 tangent_stiffness: UVec4,
        read 15 surfaces: UVec4,
    }
}

bound_joints! {
    true
    fn tangents<F: OfPoints>(&self, manifolds: &F::Each<u32>) -> (F, F) {
        tangent_stiffness(&self.tangent_stiffness, manifolds)
    }
}

/// Solves a workgroup's bodies of the colour, or all of them.
#[inline(always)]
pub fn run<F: OfPoints>(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    sweep::<F, _>(group, push, b);
}
