//! `primal_joints` for worlds with particles: besides contacts and joints, every body answers the particles held to it.

pub use crate::solve::primal::Push;

use crate::gpu::glam::UVec4;
use crate::math::Pose;
use crate::solve::joints::{Joint, JointRow, RowState};
use crate::solve::sweep::primal_stage;
use crate::state::soft::SoftPull;

primal_stage! {
    "primal_soft", joints true, rows false, stabilise false, poses soft {
        update 8 poses: Pose,
        read 9 starts: Pose,
        read 10 joints: Joint,
        read 11 joint_rows: JointRow,
        read 12 row_states: RowState,
        read 13 rows: u32,
        read 14 surfaces: UVec4,
        read 15 soft_rows: u32,
        read 16 soft_pulls: SoftPull,
    }
}
