//! Dispatches of the passes over particles, behind `gate`: none when the step is not made.

use crate::detect::gate::{dispatch, groups};
use crate::gpu::{Load, Store};
use crate::layout::DispatchArgs;
use crate::{layout, stage};

stage! {
    "soft_gate" each 64 {
        read 0 args: DispatchArgs,
        read 1 soft_ranges: u32,
        write 2 soft_args: DispatchArgs,
    }
}

layout! {
    /// Push constants of `soft_gate`.
    pub struct Push {
        /// Particles.
        pub particles: u32,
        /// Springs and attachments.
        pub held: u32,
        /// Attachments.
        pub attachments: u32,
        /// Entries of the rows of bodies.
        pub rows: u32,
        /// Bodies.
        pub bodies: u32,
        /// Soft bodies.
        pub soft_bodies: u32,
        /// Colours of particles.
        pub colours: u32,
    }
}

/// Entries of `soft_args`.
pub mod soft_dispatch {
    /// Every particle, 64 a workgroup.
    pub const PARTICLES: u32 = 0;
    /// Every spring, then every attachment, 64 a workgroup.
    pub const HELD: u32 = 1;
    /// Every attachment, 64 a workgroup.
    pub const ATTACHMENTS: u32 = 2;
    /// Every entry of the rows of bodies, 256 a workgroup.
    pub const ROWS: u32 = 3;
    /// Every body, [`BODIES`](crate::solve::soft_pull::BODIES) a workgroup.
    pub const BODIES: u32 = 4;
    /// Every soft body, [`BODIES`](crate::solve::soft_whole::BODIES) a workgroup.
    pub const SOFT_BODIES: u32 = 5;
    /// The first colour of particles, 64 a workgroup; the others follow.
    pub const COLOURS: u32 = 6;
}

/// Writes one dispatch.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    if item >= push.colours.wrapping_add(soft_dispatch::COLOURS) {
        return;
    }
    let mut count = push.particles;
    let mut tile = 64;
    if item == soft_dispatch::HELD {
        count = push.held;
    } else if item == soft_dispatch::ATTACHMENTS {
        count = push.attachments;
    } else if item == soft_dispatch::ROWS {
        (count, tile) = (push.rows, 256);
    } else if item == soft_dispatch::BODIES {
        (count, tile) = (push.bodies, crate::solve::soft_pull::BODIES);
    } else if item == soft_dispatch::SOFT_BODIES {
        (count, tile) = (push.soft_bodies, crate::solve::soft_whole::BODIES);
    } else if item >= soft_dispatch::COLOURS {
        let colour = item - soft_dispatch::COLOURS;
        count = b.soft_ranges.at(colour.wrapping_add(1)).wrapping_sub(b.soft_ranges.at(colour));
        count = if count > push.particles { push.particles } else { count };
    }
    let open = b.args.at(dispatch::ONCE).x > 0;
    b.soft_args.put(item, groups(if open { count } else { 0 }, tile));
}
