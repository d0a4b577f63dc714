//! `primal` when every row of a contact has a stiffness of its own, as published: the other reads one stiffness a
//! point, in the manifold's record, and does not pay for three.

pub use crate::solve::primal::Push;

use crate::gpu::glam::UVec4;
use crate::solve::sweep::primal_stage;

primal_stage! {
    "primal_rows", joints false, rows true, stabilise false, poses false {
        read 8 tangent_stiffness: UVec4,
        read 9 surfaces: UVec4,
    }
}
