//! How much of what joints pull with is felt by what they join: one number for all that hangs together by joints.
//!
//! Between stiff joints a sweep moves a body by little, so waves longer than the iterations reach answer forces as if the bodies were heavier:
//! by about 2 k dt^2 / (m n) in n iterations. Stopping them takes multipliers as much larger. Stiffness follows the load
//! (see `joints_start`), so it would follow these multipliers too, make the bodies heavier still, and so on: nets of some
//! thousand bodies threw themselves up above their supports. But a load is what accelerates mass. With F the pull of all its joints on a body and
//! m (a - g) the force that it felt, the part of the pulls that is a load is
//!
//! ```text
//! s = sum F . m (a - g) / sum F . F
//! ```
//!
//! over all that hangs together: 1 at rest and wherever the iterations converge, and less the less of the pull arrives. The squares
//! make heavy bodies count: it does not matter how little of it the links of a chain feel that holds a thousand times their mass.
//! Stiffness with the multipliers taken by this part does not feed on itself.

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

/// Adds up the islands that begin in a workgroup's tile.
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

/// Tells all bodies of an island their share. All lanes of a subgroup are in here, with an island or without, until the last loop: the
/// sums want them all.
#[inline(always)]
fn share_out(group: &Group, part: &IslandShare, iterations: u32, b: &mut Bindings<'_>) {
    // In parts of the largest: squares of forces may be beyond what a float holds.
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
