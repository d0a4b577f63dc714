//! Stabilising pass, after the iterations and `velocity`: corrects part of the remaining overlap without changing
//! velocities (section 6). It is `primal` applied to the problem that the head of `contact` describes: how far to move
//! bodies from where the iterations left them. Writes `deltas`, `rotations` and `poses`.

pub use crate::solve::primal::Push;

use crate::math::{Pose, Twist};
use crate::solve::sweep::primal_stage;

primal_stage! {
    "stabilise", joints false, rows false, stabilise true, poses true {
        write 8 poses: Pose,
        read 9 velocities: Twist,
    }
}
