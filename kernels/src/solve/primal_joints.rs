//! `primal` for worlds with joints: adds the forces of a body's joints to those of its contacts, and also writes
//! `poses`, which joints read.

pub use crate::solve::primal::Push;

use crate::gpu::glam::UVec4;
use crate::math::Pose;
use crate::solve::joints::{Joint, JointRow, RowState};
use crate::solve::sweep::primal_stage;

primal_stage! {
    "primal_joints", joints true, rows false, stabilise false, poses true {
        update 8 poses: Pose,
        read 9 starts: Pose,
        read 10 joints: Joint,
        read 11 joint_rows: JointRow,
        read 12 row_states: RowState,
        read 13 rows: u32,
        read 14 surfaces: UVec4,
    }
}
