//! Writes the indirect dispatches of the passes over particles (`soft_args`), after `gate`: all zero if `gate` stopped
//! the step.

use crate::detect::gate::{dispatch, groups};
use crate::gpu::{Load, Store, least};
use crate::layout::DispatchArgs;
use crate::{layout, stage};

stage! {
    "soft_gate" each 64 {
        read 0 args: DispatchArgs,
        read 1 soft_ranges: u32,
        write 2 soft_args: DispatchArgs,
        read 3 soft_pair_places: u32,
    }
}

layout! {
    /// Push constants of `soft_gate`.
    pub struct Push {
        /// Number of particles.
        pub particles: u32,
        /// Number of springs and attachments together.
        pub held: u32,
        /// Number of attachments.
        pub attachments: u32,
        /// Number of entries in the rows of bodies.
        pub rows: u32,
        /// Number of bodies.
        pub bodies: u32,
        /// Number of soft bodies.
        pub soft_bodies: u32,
        /// Places for contacts of particles.
        pub contacts: u32,
        /// Number of colours of particles.
        pub colours: u32,
        /// Number of pieces of soft surfaces that meet each other.
        pub faces: u32,
        /// Contacts between them that there is room for.
        pub pairs: u32,
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
    /// Every place for a contact of a particle, 64 a workgroup.
    pub const CONTACTS: u32 = 6;
    /// Every piece of a soft surface, 64 a workgroup.
    pub const FACES: u32 = 7;
    /// Every contact of soft surfaces, 64 a workgroup.
    pub const PAIRS: u32 = 8;
    /// Every place for an entry of those in the rows of particles, 256 a workgroup.
    pub const PAIR_ROWS: u32 = 9;
    /// Every soft body and every body, 64 a workgroup.
    pub const NODES: u32 = 10;
    /// Every particle and every body, 64 a workgroup.
    pub const CARRIED: u32 = 11;
    /// The first colour of particles, 64 a workgroup; the other colours are the entries after it.
    pub const COLOURS: u32 = 12;
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
    } else if item == soft_dispatch::CONTACTS {
        count = push.contacts;
    } else if item == soft_dispatch::ATTACHMENTS {
        count = push.attachments;
    } else if item == soft_dispatch::ROWS {
        (count, tile) = (push.rows, 256);
    } else if item == soft_dispatch::BODIES {
        (count, tile) = (push.bodies, crate::solve::soft_pull::BODIES);
    } else if item == soft_dispatch::SOFT_BODIES {
        (count, tile) = (push.soft_bodies, crate::solve::soft_whole::BODIES);
    } else if item == soft_dispatch::FACES {
        count = push.faces;
    } else if item == soft_dispatch::PAIRS {
        // Behind the places of all pieces stands how many there are.
        count = if push.faces > 0 { least(b.soft_pair_places.at(push.faces), push.pairs) } else { 0 };
    } else if item == soft_dispatch::PAIR_ROWS {
        (count, tile) = (push.pairs.wrapping_mul(4), 256);
    } else if item == soft_dispatch::NODES {
        count = push.soft_bodies.wrapping_add(push.bodies);
    } else if item == soft_dispatch::CARRIED {
        count = push.particles.wrapping_add(push.bodies);
    } else if item >= soft_dispatch::COLOURS {
        let colour = item - soft_dispatch::COLOURS;
        count = b.soft_ranges.at(colour.wrapping_add(1)).wrapping_sub(b.soft_ranges.at(colour));
        count = if count > push.particles { push.particles } else { count };
    }
    let open = b.args.at(dispatch::ONCE).x > 0;
    b.soft_args.put(item, groups(if open { count } else { 0 }, tile));
}
