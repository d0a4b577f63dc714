//! `primal` for worlds with joints: besides its contacts, every body answers its joints.

pub use crate::solve::primal::Push;

use crate::math::Pose;
use crate::solve::joints::{Joint, JointRow, RowState};
use crate::solve::sweep::primal_stage;

primal_stage! {
    "primal_joints", joints true, rows false, poses update {
        read 10 starts: Pose,
        read 11 joints: Joint,
        read 12 joint_rows: JointRow,
        read 13 row_states: RowState,
        read 14 rows: u32,
    }
}
