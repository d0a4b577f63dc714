//! `primal_joints` when every row of a contact has a stiffness of its own: see `primal_rows`.

pub use crate::solve::primal::Push;

use crate::gpu::glam::UVec4;
use crate::math::Pose;
use crate::solve::joints::{Joint, JointRow, RowState};
use crate::solve::sweep::primal_stage;

primal_stage! {
    "primal_joints_rows", joints true, rows true, poses update {
        read 10 starts: Pose,
        read 11 joints: Joint,
        read 12 joint_rows: JointRow,
        read 13 row_states: RowState,
        read 14 rows: u32,
        read 15 tangent_stiffness: UVec4,
    }
}
