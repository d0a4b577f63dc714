//! One colour's particles, each moved to where its forces balance (Algorithm 1, lines 9 to 21). No two particles of a
//! colour share an element, and rigid bodies are not moved meanwhile: the sweep goes on from the newest places.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, finite, least};
use crate::math::{Pose, Twist};
use crate::solve::soft::hinge::{Wings, hinge};
use crate::solve::soft::membrane::membrane;
use crate::solve::soft::tetrahedron::{Edges, tetrahedron};
use crate::solve::soft::{Block, hold, lever, off, spring};
use crate::state::rigid::{NONE, Params};
use crate::state::soft::{
    Attachment, AttachmentState, Hinge, Membrane, Particle, Spring, SpringState, Tetrahedron, soft_entry,
};
use crate::{layout, stage};

stage! {
    "soft_primal" each 64 {
        read 0 params: Params,
        read 1 particles: Particle,
        read 2 soft_order: u32,
        read 3 soft_ranges: u32,
        read 4 soft_entries: u32,
        read 5 soft_positions: Vec3,
        read 6 soft_targets: Vec3,
        update 7 soft_deltas: Vec3,
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
    }
}

layout! {
    /// Push constants of `soft_primal`.
    pub struct Push {
        /// The colour.
        pub colour: u32,
    }
}

/// The way from one particle to another, at the start of the step.
#[inline(always)]
fn before(b: &Bindings<'_>, from: u32, to: u32) -> Vec3 {
    b.soft_positions.at(to) - b.soft_positions.at(from)
}

/// The same now.
#[inline(always)]
fn now(b: &Bindings<'_>, from: u32, to: u32) -> Vec3 {
    before(b, from, to) + (b.soft_deltas.at(to) - b.soft_deltas.at(from))
}

/// What one entry asks of the particle.
#[inline(always)]
fn asked(particle: u32, entry: u32, dt: f32, b: &Bindings<'_>) -> Block {
    let (kind, corner, index) = (soft_entry::kind(entry), soft_entry::corner(entry), soft_entry::index(entry));
    let mut block = Block::none();
    if kind == soft_entry::SPRING {
        let line = b.springs.at(index);
        let other = if corner == 0 { line.b } else { line.a };
        let ways = (now(b, particle, other), before(b, particle, other));
        block = spring(&line, &b.spring_states.at(index), ways.0, ways.1, dt);
    } else if kind == soft_entry::MEMBRANE {
        let m = b.membranes.at(index);
        let sides = (now(b, m.a, m.b), now(b, m.a, m.c));
        block = membrane(&m, corner, sides, (before(b, m.a, m.b), before(b, m.a, m.c)), dt);
    } else if kind == soft_entry::HINGE {
        let h = b.hinges.at(index);
        let wings = Wings { b: now(b, h.a, h.b), c: now(b, h.a, h.c), d: now(b, h.a, h.d) };
        let were = Wings { b: before(b, h.a, h.b), c: before(b, h.a, h.c), d: before(b, h.a, h.d) };
        block = hinge(&h, corner, &wings, &were, dt);
    } else if kind == soft_entry::TETRAHEDRON {
        let t = b.tetrahedra.at(index);
        let edges = Edges { b: now(b, t.a, t.b), c: now(b, t.a, t.c), d: now(b, t.a, t.d) };
        let were = Edges { b: before(b, t.a, t.b), c: before(b, t.a, t.c), d: before(b, t.a, t.d) };
        block = tetrahedron(&t, corner, &edges, &were, dt);
    } else {
        let (attachment, state) = (b.attachments.at(index), b.attachment_states.at(index));
        if (attachment.there != 0) & (state.broken == 0) {
            let to_world = attachment.body == NONE;
            let body = if to_world { 0 } else { attachment.body };
            let mut moved = b.deltas.at(body);
            let mut start = b.starts.at(body).position;
            let lever = lever(&attachment, to_world, &b.poses.at(body));
            if to_world {
                moved = Twist { linear: Vec3::ZERO, angular: Vec3::ZERO };
                start = Vec3::ZERO;
            }
            let off = off(b.soft_positions.at(particle), b.soft_deltas.at(particle), start, &moved, lever);
            block.force = hold(&state, off);
            block.add_scalar(state.k);
        }
    }
    block
}

/// Moves one particle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let end = least(b.soft_ranges.at(push.colour.wrapping_add(1)), b.soft_order.len());
    let place = b.soft_ranges.at(push.colour).wrapping_add(item);
    if place >= end {
        return;
    }
    let index = b.soft_order.at(place);
    let particle = b.particles.at(index);
    let dt = b.params.at(0).dt;
    let delta = b.soft_deltas.at(index);
    let mut block = Block::inertial(particle.mass, delta - b.soft_targets.at(index), dt);
    let last = least(particle.end, b.soft_entries.len());
    let mut e = particle.first;
    while e < last {
        block = block.plus(&asked(index, b.soft_entries.at(e), dt, b));
        e += 1;
    }
    let next = delta + block.solve();
    if (particle.mass > 0.0) & finite(next.x) & finite(next.y) & finite(next.z) {
        b.soft_deltas.put(index, next);
    }
}
