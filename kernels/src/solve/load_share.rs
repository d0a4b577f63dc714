//! Finds, for every assembly of bodies that joints hold together, the fraction of the joints' pulls that is a real
//! load: one number s, the share, for all its bodies. Reads `carried_loads`; writes `load_shares`, which `joints_start`
//! reads.
//!
//! Between stiff joints a sweep moves a body only a little. Waves longer than the iterations reach therefore answer
//! forces as if the bodies were heavier, by about 2 k dt^2 / (m n) with k the stiffness, m the mass and n the
//! iterations, and stopping such a wave takes multipliers larger by the same factor. Stiffness follows the load (see
//! `joints_start`). If it followed these multipliers too, it would make the bodies heavier still, and so on: nets of
//! some thousand bodies rose above their supports. But a real load accelerates mass. With F the sum of the joint forces
//! on a body, a its acceleration and m (a - g) the force that accelerated it, the share of the pulls that is a load is
//!
//! ```text
//! s = sum F . m (a - g) / sum F . F
//! ```
//!
//! summed over the assembly. It is 1 at rest and wherever the iterations converge, and smaller the less of the pull
//! arrives as acceleration. The squares weight heavily loaded bodies: the light links of a chain that holds a thousand
//! times their mass hardly count. Stiffness computed from multipliers times s does not feed on itself.

use crate::gpu::{Group, Load, Store, fmax, fmin};
use crate::graph::island::{IslandShare, TileShares};
use crate::solve::carried_load::CarriedLoad;
use crate::state::rigid::Params;
use crate::{layout, stage};

stage! {
    "load_share" group 64 {
        read 0 islands: u32,
        read 1 members: u32,
        read 2 carried_loads: CarriedLoad,
        write 3 load_shares: f32,
        read 4 params: Params,
    }
}

layout! {
    /// Push constants of `load_share`.
    pub struct Push {
        /// Number of bodies.
        pub count: u32,
        /// Iterations of a step.
        pub iterations: u32,
    }
}

/// Sums up the islands that begin in this workgroup's tile.
#[inline(always)]
pub fn run(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    let mut parts = TileShares::new(&b.islands, group, push.count);
    while parts.more() {
        let part = parts.next(&b.islands, group);
        // The same for the subgroup.
        if group.any(part.is_any()) {
            share_out(group, &part, push.iterations, b);
        }
    }
}

/// Writes the share of an island to all its bodies. All lanes of a subgroup stay here together until the last loop,
/// with an island or without, because the sums need all lanes.
#[inline(always)]
fn share_out(group: &Group, part: &IslandShare, iterations: u32, b: &mut Bindings<'_>) {
    // Relative to the largest pull, because squares of forces may overflow a float.
    let mut most = 0.0;
    let mut place = part.first;
    while group.any(place < part.end) {
        if place < part.end {
            most = fmax(most, b.carried_loads.at(b.members.at(place)).pull);
        }
        place += part.step;
    }
    let scale = 1.0 / fmax(part.most(group, most), 1e-30);
    let (mut along, mut square) = (0.0, 0.0);
    let mut place = part.first;
    while group.any(place < part.end) {
        if place < part.end {
            let felt = b.carried_loads.at(b.members.at(place));
            let pull = felt.pull * scale;
            along += pull * (felt.along * scale);
            square += pull * pull;
        }
        place += part.step;
    }
    let (along, square) = (part.sum(group, along), part.sum(group, square));
    let params = b.params.at(0);
    let reached = params.share_reach * iterations as f32 / part.members() as f32;
    let least = fmax(params.least_share, fmin(reached * reached, 1.0));
    let share = if square > 0.0 { fmax(least, fmin(along / square, 1.0)) } else { 1.0 };
    let mut place = part.first;
    while place < part.end {
        b.load_shares.put(b.members.at(place), share);
        place += part.step;
    }
}
