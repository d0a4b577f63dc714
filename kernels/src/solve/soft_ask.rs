//! What inertia and elements ask of every particle of a colour, in worlds with soft surfaces that meet each other: as the
//! first half of `soft_primal`, whose second half is `soft_settle` there. Writes `soft_blocks` of this colour.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, least};
use crate::math::{Pose, Twist};
use crate::solve::soft::Block;
use crate::solve::soft::elements::elements;
use crate::state::rigid::Params;
use crate::state::soft::{Attachment, AttachmentState, Hinge, Membrane, Particle, Spring, SpringState, Tetrahedron};
use crate::{layout, stage};

stage! {
    "soft_ask" each 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 soft_order: u32,
        read 3 soft_ranges: u32,
        read 4 soft_entries: u32,
        read 5 soft_positions: Vec3,
        read 6 soft_targets: Vec3,
        read 7 soft_deltas: Vec3,
        read 8 springs: Spring,
        read 9 spring_states: SpringState,
        read 10 membranes: Membrane,
        read 11 hinges: Hinge,
        read 12 tetrahedra: Tetrahedron,
        read 13 attachments: Attachment,
        read 14 attachment_states: AttachmentState,
        read 15 starts: Pose,
        read 16 poses: Pose,
        read 17 deltas: Twist,
        write 18 soft_blocks: Block,
    }
}

layout! {
    /// Push constants of `soft_ask`.
    pub struct Push {
        /// Number of the colour.
        pub colour: u32,
    }
}

elements!();

/// Asks for one particle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let end = least(b.soft_ranges.at(push.colour.wrapping_add(1)), b.soft_order.len());
    let place = b.soft_ranges.at(push.colour).wrapping_add(item);
    if place >= end {
        return;
    }
    let index = b.soft_order.at(place);
    let particle = b.particles.at(index);
    let block = asked_of_all(index, &particle, b.soft_deltas.at(index), b);
    b.soft_blocks.put(index, block);
}
