//! `dual` when every row of a contact has a stiffness of its own, as published (Algorithm 1, lines 26 to 35; Eq. 11 and
//! 12).

pub use crate::solve::dual::{Push, TILE};

use crate::gpu::glam::UVec4;
use crate::solve::dual::dual_stage;

dual_stage! {
    "dual_rows", rows true {
        update 6 tangent_stiffness: UVec4,
        read 7 surfaces: UVec4,
    }
}
