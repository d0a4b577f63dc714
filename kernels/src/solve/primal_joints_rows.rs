//! `primal_joints` when every row of a contact has a stiffness of its own: see `primal_rows`.

pub use crate::solve::primal::Push;

use crate::gpu::glam::UVec4;
use crate::math::Pose;
use crate::solve::joints::{Joint, JointRow, RowState};
use crate::solve::sweep::primal_stage;

primal_stage! {
    "primal_joints_rows", joints true, rows true, stabilise false, poses true {
        update 8 poses: Pose,
        read 9 starts: Pose,
        read 10 joints: Joint,
        read 11 joint_rows: JointRow,
        read 12 row_states: RowState,
        read 13 rows: u32,
        read 14 tangent_stiffness: UVec4,
        read 15 surfaces: UVec4,
    }
}
