//! Dual pass of rolling and torsional friction, after `dual`: updates the torque of every driven manifold within what
//! its normal forces now allow (Eq. 11; [`Surface`] has the rows). Reads `deltas`; writes `surfaces`.

use crate::detect::gate::counter;
use crate::detect::manifold::{Head, Manifold, Record, record, word};
use crate::gpu::Load;
use crate::gpu::glam::UVec4;
use crate::math::Twist;
use crate::solve::surface::{Surface, pressed};
use crate::{layout, stage};

stage! {
    "rolling_dual" each 64 {
        read 0 manifolds: Manifold,
        read 1 deltas: Twist,
        read 2 counters: u32,
        read 3 points: UVec4,
        update 4 surfaces: UVec4,
    }
}

layout! {
    /// Push constants of `rolling_dual`.
    pub struct Push {
        /// Capacity of the list of manifolds.
        pub limit: u32,
    }
}

/// Updates one manifold.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.limit || item >= b.counters.at(counter::SOLVED) {
        return;
    }
    let memory: Record<'_> = b.points.window(record(item));
    let head = Head::load(&memory, 0);
    let mut surface = Surface::load(&b.surfaces, item);
    if head.driven && surface.k > 0.0 {
        let ends = b.manifolds.at(item).ends;
        let turn = b.deltas.at(ends.body_a).angular - b.deltas.at(ends.body_b).angular;
        surface.torque = surface.resists(head.normal, turn, pressed(memory.at(word::LAMBDA + 2)));
        surface.store(&mut b.surfaces, item);
    }
}
