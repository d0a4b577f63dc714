//! `primal` when every row of a contact has a stiffness of its own, as published. A stage of its own: the other reads
//! one stiffness a point, in the manifold's record, and does not pay for three.

pub use crate::solve::primal::Push;

use crate::detect::manifold::{record, word};
use crate::gpu::glam::UVec4;
use crate::gpu::{Group, Load, OfPoints, Store};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::contact::tangent_stiffness;
use crate::solve::primal::{bound, sweep};
use crate::solve::solver_body::SolverBody;
use crate::solve::system::System;
use crate::stage;
use crate::state::rigid::{ColourRange, Entry, EntryRange, Params};

stage! {
    "primal_rows" group 64, wide {
        read 0 params: Params,
        read 1 solver_bodies: UVec4,
        read 2 points: UVec4,
        read 3 entries: Entry,
        read 4 ranges: ColourRange,
        read 5 order: u32,
        update 6 rotations: Rotation,
        update 7 deltas: Twist,
        write 8 poses: Pose,
        read 9 tangent_stiffness: UVec4,
        read 10 surfaces: UVec4,
    }
}

bound! {
    false true
    fn tangents<F: OfPoints>(&self, manifolds: &F::Each<u32>) -> (F, F) {
        tangent_stiffness(&self.tangent_stiffness, manifolds)
    }
    fn joints(&self, _group: &Group, _on: bool, _index: u32, _lane: u32, _lanes: u32, _stabilise: bool) -> System {
        System::none()
    }
}

/// Solves a workgroup's bodies of the colour, or all of them.
#[inline(always)]
pub fn run<F: OfPoints>(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    sweep::<F, _>(group, push, b);
}
