//! Behind the iterations: corrects part of the overlap that is left without giving velocity (section 6). `primal` for the
//! problem that the head of `contact` tells: how far to move bodies from where the iterations left them.

pub use crate::solve::primal::Push;

use crate::math::{Pose, Twist};
use crate::solve::sweep::primal_stage;

primal_stage! {
    "stabilise", joints false, rows false, stabilise true, poses true {
        write 8 poses: Pose,
        read 9 velocities: Twist,
    }
}
