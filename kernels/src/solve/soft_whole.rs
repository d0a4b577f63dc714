//! Every soft body moved as a whole to where its forces balance, before its particles are swept. What its elements do
//! cancels in a rigid motion, so this needs none of them: only inertia, and what holds particles to something else or
//! pushes them. A sweep moves a particle by what its neighbours let it, a thousandth of what a stiff body as a whole is
//! due; with this a body falls, flies and swings about what holds it at the right pace, at any number of iterations.

use crate::gpu::glam::Vec3;
use crate::gpu::{Group, Load, Store, Vector, finite, fmax, least};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::soft::contact::{Press, gone, press_held, pressed};
use crate::solve::soft::pairs::push_apart_held;
use crate::solve::soft::{Hook, hold, pulled};
use crate::solve::system::{System, Systems, Twists};
use crate::state::rigid::{EntryRange, NONE, Params};
use crate::state::soft::{
    Attachment, AttachmentState, Particle, SOFT_CONTACTS, SOFT_ROW_WORDS, SoftContact, SoftRange, soft_entry,
};
use crate::state::soft_pairs::{SoftPair, pair_flag};
use crate::{layout, stage};

stage! {
    "soft_whole" group 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 soft_bodies: SoftRange,
        read 3 soft_entries: u32,
        read 4 soft_positions: Vec3,
        read 5 soft_targets: Vec3,
        update 6 soft_deltas: Vec3,
        read 7 attachments: Attachment,
        read 8 attachment_states: AttachmentState,
        read 9 starts: Pose,
        read 10 poses: Pose,
        read 11 deltas: Twist,
        read 12 soft_contacts: SoftContact,
        read 13 soft_pair_rows: u32,
        read 14 soft_pair_list: u32,
        read 15 soft_pairs: SoftPair,
    }
}

layout! {
    /// Push constants of `soft_whole`.
    pub struct Push {
        /// Number of soft bodies.
        pub count: u32,
        /// Not 0: soft surfaces meet each other.
        pub pairs: u32,
    }
}

/// Soft bodies of a workgroup; its subgroups take them in turn.
pub const BODIES: u32 = 4;
/// Largest number of particles of a body that is moved as a whole, because one subgroup processes all of them.
pub const MOST: u32 = 1 << 16;

/// The sum over a subgroup.
#[inline(always)]
fn over_lanes(group: &Group, system: &System) -> Systems<f32> {
    Systems::<f32>::gather(system).over_lanes(group, group.width())
}

/// What inertia, attachments and contacts ask of a particle at `r` from the middle of its body.
#[inline(always)]
fn ask(index: u32, r: Vec3, system: &mut System, dt: f32, (pairs, mass): (bool, f32), b: &Bindings<'_>) {
    let particle = b.particles.at(index);
    let (position, delta) = (b.soft_positions.at(index), b.soft_deltas.at(index));
    let k = particle.mass / (dt * dt);
    pulled(system, (b.soft_targets.at(index) - delta) * k, k, r);
    // Attachments are the last of a particle's entries.
    let first = least(particle.first, particle.end);
    let mut e = least(particle.end, b.soft_entries.len());
    let mut more = e > first;
    while more {
        e -= 1;
        let entry = b.soft_entries.at(e);
        more = (soft_entry::kind(entry) == soft_entry::ATTACHMENT) & (e > first);
        if soft_entry::kind(entry) == soft_entry::ATTACHMENT {
            let place = soft_entry::index(entry);
            let (attachment, state) = (b.attachments.at(place), b.attachment_states.at(place));
            if (attachment.there != 0) & (state.broken == 0) {
                let hook = Hook::of(&attachment, &b.starts, &b.deltas, &b.poses);
                let off = hook.off(position, delta);
                pulled(system, hold(&state, off), state.k, r);
            }
        }
    }
    let mut i = index.wrapping_mul(SOFT_CONTACTS);
    let behind = i.wrapping_add(SOFT_CONTACTS);
    while i < behind {
        let contact = b.soft_contacts.at(i);
        if contact.collider != NONE {
            let (_, way) = gone(&contact, delta, &b.starts, &b.deltas, &b.poses);
            let press = press_held(&contact, way);
            pressed(system, press.force, &press, contact.normal, r);
        }
        i += 1;
    }
    if pairs {
        ask_pairs(index, r, system, mass, b);
    }
}

/// What other soft bodies ask of it. What a body does to itself cancels in a rigid motion.
#[inline(always)]
fn ask_pairs(index: u32, r: Vec3, system: &mut System, mass: f32, b: &Bindings<'_>) {
    let first = index.wrapping_mul(SOFT_ROW_WORDS);
    let listed = EntryRange { start: b.soft_pair_rows.at(first), end: b.soft_pair_rows.at(first.wrapping_add(1)) };
    let row = listed.within(b.soft_pair_list.len());
    let mut e = row.start;
    while e < row.end {
        let entry = b.soft_pair_list.at(e);
        let pair = b.soft_pairs.at(entry / 4);
        let w = pair.share(entry % 4);
        if (pair.thickness > 0.0) & (pair.flags & pair_flag::INNER == 0) {
            // The other body answers at the same time, from where it was when it was looked at last. With a stiffness
            // of 1 + m / m' times that of the contact on the body of m, and 1 + m' / m on that of m', both go apart in
            // proportion to one over their mass, as momentum has it, and never too far: the product of what is added
            // on both sides is 1. All nodes of a side go together, so their shares count, not the squares.
            let press = push_apart_held(&pair, pair.way);
            let node = if pair.is_above(entry % 4) { pair.d } else { pair.a };
            let other = b.soft_bodies.at(b.particles.at(node).owner).mass;
            let part = (1.0 + mass / fmax(other, 1e-30)) * if w < 0.0 { -w } else { w };
            let of_node = Press { along: press.along * part, across: press.across * part, ..press };
            pressed(system, press.force * w, &of_node, pair.normal, r);
        }
        e += 1;
    }
}

/// Moves this workgroup's soft bodies.
#[inline(always)]
pub fn run(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    let dt = b.params.at(0).dt;
    // All lanes of a subgroup make the same rounds, because the sums need all lanes.
    let mut turn = group.subgroup;
    while turn < BODIES {
        let body = group.index.wrapping_mul(BODIES).wrapping_add(turn);
        let (mut first, mut end) = (0, 0);
        if body < push.count {
            let range = b.soft_bodies.at(body);
            let within = (range.count > 1) & (range.count <= MOST);
            first = range.first;
            end = if within { least(range.first.wrapping_add(range.count), b.particles.len()) } else { range.first };
        }
        // Centre of mass, relative to the first particle so that the sums stay small.
        let origin = b.soft_positions.at(least(first, b.particles.len().wrapping_sub(1)));
        let mut sum = System::none();
        let mut i = first.wrapping_add(group.slot);
        while group.any(i < end) {
            if i < end {
                let mass = b.particles.at(i).mass;
                sum.ll.x += mass;
                sum.force += ((b.soft_positions.at(i) - origin) + b.soft_deltas.at(i)) * mass;
            }
            i = i.wrapping_add(group.width());
        }
        let middle = over_lanes(group, &sum);
        let mass = middle.ll.x;
        let scale = if mass > 0.0 { 1.0 / mass } else { 0.0 };
        let centre = Vec3::new(middle.force.x, middle.force.y, middle.force.z) * scale;

        let mut sum = System::none();
        let mut i = first.wrapping_add(group.slot);
        while group.any(i < end) {
            if i < end {
                let r = (b.soft_positions.at(i) - origin) + b.soft_deltas.at(i) - centre;
                ask(i, r, &mut sum, dt, (push.pairs != 0, mass), b);
            }
            i = i.wrapping_add(group.width());
        }
        let mut system = over_lanes(group, &sum);
        // Particles in a line have no inertia about it; a little is added, so that the system can be solved.
        let little = 1e-6 * (system.aa.x + system.aa.y + system.aa.z) + 1e-30;
        system.aa = system.aa + Vector::new(little, little, little);
        let Twists { linear, angular } = system.ldl();
        let way = Vec3::new(linear.x, linear.y, linear.z);
        let angle = Vec3::new(angular.x, angular.y, angular.z);
        // Large turns take several iterations, because forces and levers are those of the present positions.
        let square = angle.length_squared();
        let sound = finite(way.x) & finite(way.y) & finite(way.z) & finite(square) & (mass > 0.0);
        let angle = if square > 0.01 { angle * (0.1 / crate::gpu::sqrt(square)) } else { angle };
        let rotation = Rotation::exp(angle);
        let mut i = first.wrapping_add(group.slot);
        while i < end {
            let delta = b.soft_deltas.at(i);
            let r = (b.soft_positions.at(i) - origin) + delta - centre;
            if sound & (b.particles.at(i).mass > 0.0) {
                b.soft_deltas.put(i, delta + way + (rotation.apply(r) - r));
            }
            i = i.wrapping_add(group.width());
        }
        turn += group.subgroups;
    }
}
