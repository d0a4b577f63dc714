//! `primal_soft` when every row of a contact has a stiffness of its own: see `primal_rows`.

pub use crate::solve::primal::Push;

use crate::gpu::glam::UVec4;
use crate::math::Pose;
use crate::solve::joints::{Joint, JointRow, RowState};
use crate::solve::sweep::primal_stage;
use crate::state::soft::SoftPull;

primal_stage! {
    "primal_soft_rows", joints true, rows true, stabilise false, poses soft {
        update 8 poses: Pose,
        read 9 starts: Pose,
        read 10 joints: Joint,
        read 11 joint_rows: JointRow,
        read 12 row_states: RowState,
        read 13 rows: u32,
        read 14 tangent_stiffness: UVec4,
        read 15 surfaces: UVec4,
        read 16 soft_rows: u32,
        read 17 soft_pulls: SoftPull,
    }
}
