//! `stabilise` for worlds with joints: also corrects the position errors of joints. Writes `deltas`, `rotations`,
//! `poses`.

pub use crate::solve::primal::Push;

use crate::math::{Pose, Twist};
use crate::solve::joints::{Joint, JointRow, RowState};
use crate::solve::sweep::primal_stage;

primal_stage! {
    "stabilise_joints", joints true, rows false, stabilise true, poses true {
        update 8 poses: Pose,
        read 9 starts: Pose,
        read 10 joints: Joint,
        read 11 joint_rows: JointRow,
        read 12 row_states: RowState,
        read 13 rows: u32,
        read 14 velocities: Twist,
    }
}
