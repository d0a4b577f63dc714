//! Every soft body moved as a whole to where its forces balance, before its particles are swept. What its elements do
//! cancels in a rigid motion, so this needs none of them: only inertia, and what holds particles to something else. A
//! sweep moves a particle by what its neighbours let it, a thousandth of what a stiff body as a whole is due; with this a
//! body falls, flies and swings about what holds it at the right pace, at any number of iterations.

use crate::gpu::glam::Vec3;
use crate::gpu::{Group, Load, Store, Vector, finite, least};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::soft::{hold, lever, off, pulled};
use crate::solve::system::{System, Systems, Twists};
use crate::state::rigid::{NONE, Params};
use crate::state::soft::{Attachment, AttachmentState, Particle, SoftRange, soft_entry};
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
    }
}

layout! {
    /// Push constants of `soft_whole`.
    pub struct Push {
        /// Soft bodies.
        pub count: u32,
    }
}

/// Soft bodies of a workgroup: each subgroup takes the next one.
pub const BODIES: u32 = 4;
/// Particles up to which a body is moved as a whole: one subgroup goes through all of them.
pub const MOST: u32 = 1 << 16;

/// The sum over a subgroup.
#[inline(always)]
fn over_lanes(group: &Group, system: &System) -> Systems<f32> {
    let one = |v: Vec3| Vector::new(v.x, v.y, v.z);
    let all = Systems::<f32> {
        ll: one(system.ll),
        ll_off: one(system.ll_off),
        al: [one(system.al[0]), one(system.al[1]), one(system.al[2])],
        aa: one(system.aa),
        aa_off: one(system.aa_off),
        force: one(system.force),
        torque: one(system.torque),
    };
    all.over_lanes(group, group.width())
}

/// What inertia and attachments ask of a particle at `r` from the middle of its body.
#[inline(always)]
fn ask(index: u32, r: Vec3, system: &mut System, dt: f32, b: &Bindings<'_>) {
    let particle = b.particles.at(index);
    let (position, delta) = (b.soft_positions.at(index), b.soft_deltas.at(index));
    let k = particle.mass / (dt * dt);
    pulled(system, (b.soft_targets.at(index) - delta) * k, k, r);
    // Attachments are the last of its entries.
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
                let to_world = attachment.body == NONE;
                let body = if to_world { 0 } else { attachment.body };
                let lever = lever(&attachment, to_world, &b.poses.at(body));
                let mut moved = b.deltas.at(body);
                let mut start = b.starts.at(body).position;
                if to_world {
                    moved = Twist { linear: Vec3::ZERO, angular: Vec3::ZERO };
                    start = Vec3::ZERO;
                }
                let off = off(position, delta, start, &moved, lever);
                pulled(system, hold(&state, off), state.k, r);
            }
        }
    }
}

/// Moves a workgroup's bodies.
#[inline(always)]
pub fn run(group: &Group, push: &Push, b: &mut Bindings<'_>) {
    let dt = b.params.at(0).dt;
    // The same rounds for all lanes of a subgroup: the sums want them all.
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
        // The middle, from the first particle: numbers stay small.
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
                ask(i, r, &mut sum, dt, b);
            }
            i = i.wrapping_add(group.width());
        }
        let mut system = over_lanes(group, &sum);
        // Particles in a line turn about it by nothing: a little inertia keeps the system solvable.
        let little = 1e-6 * (system.aa.x + system.aa.y + system.aa.z) + 1e-30;
        system.aa = system.aa + Vector::new(little, little, little);
        let Twists { linear, angular } = system.ldl();
        let way = Vec3::new(linear.x, linear.y, linear.z);
        let angle = Vec3::new(angular.x, angular.y, angular.z);
        // Far turns are made in several iterations: forces and levers are those of here.
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
