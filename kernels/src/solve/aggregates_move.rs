//! Applies the motions that `aggregates` computed. A stage of its own, because every aggregate must be solved before
//! any body moves. Reads `motions`; writes `deltas`, `rotations` and `poses`.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::aggregates::Motion;
use crate::solve::solver_body::SolverBody;
use crate::{layout, stage};

stage! {
    "aggregates_move" each 256 {
        read 0 starts: Pose,
        read 1 island_of: u32,
        read 2 motions: Motion,
        read 3 body_order: u32,
        update 4 deltas: Twist,
        update 5 rotations: Rotation,
        write 6 poses: Pose,
        read 7 solver_bodies: UVec4,
    }
}

layout! {
    /// Push constants of `aggregates_move`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
    }
}

/// Moves one body.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.count {
        return;
    }
    let key = b.island_of.at(item);
    if key >= push.count {
        return;
    }
    let motion = b.motions.at(key);
    if motion.moves == 0.0 {
        return;
    }
    let (start, delta, rank) = (b.starts.at(item), b.deltas.at(item), b.body_order.at(item));
    let r = start.position - motion.centre + if motion.now != 0.0 { delta.linear } else { Vec3::ZERO };
    let linear = delta.linear + motion.shift + motion.turn.cross(r);
    let rotation = Rotation::exp(motion.turn).then_after(&b.rotations.at(rank)).normalized();
    let frame = SolverBody::load(&SolverBody::at(&b.solver_bodies, rank));
    let angular = frame.turned(&rotation, delta.angular, motion.turn);
    b.deltas.put(item, Twist { linear, angular });
    b.rotations.put(rank, rotation);
    b.poses.put(item, Pose { position: start.position + linear, rotation });
}
