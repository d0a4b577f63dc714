//! Where particles go that may meet others of soft surfaces: from what elements and inertia ask of each (`soft_ask`), and
//! its contacts with bodies and with soft surfaces. All read where particles are now, and write where they go: those
//! that are above and below one plane may have the same colour. Behind the iterations, once more for all of them: as far
//! to where the iterations sent them as the planes between them and what is near let them.

use crate::gpu::glam::Vec3;
use crate::gpu::{Load, Store, finite, fmin, least};
use crate::layout::Aabb;
use crate::math::{Pose, Twist};
use crate::solve::soft::Block;
use crate::solve::soft::contact::{Press, ROUNDS, gone, press};
use crate::solve::soft::pairs::{closable, closable_at_most, confined, gone_along, height, opposite, push_apart};
use crate::state::rigid::{EntryRange, NONE};
use crate::state::soft::{Particle, SOFT_CONTACTS, SOFT_ROW_WORDS, SoftContact};
use crate::state::soft_pairs::{SoftPair, pair_flag};
use crate::{layout, stage};

stage! {
    "soft_settle" each 64 {
        read 0 particles: Particle,
        read 1 soft_order: u32,
        read 2 soft_ranges: u32,
        read 3 soft_positions: Vec3,
        read 4 soft_deltas: Vec3,
        read 5 soft_regions: Aabb,
        read 6 soft_limits: u32,
        read 7 soft_blocks: Block,
        read 8 starts: Pose,
        read 9 poses: Pose,
        read 10 deltas: Twist,
        read 11 soft_contacts: SoftContact,
        read 12 soft_pair_rows: u32,
        read 13 soft_pair_list: u32,
        read 14 soft_pairs: SoftPair,
        update 15 soft_next: Vec3,
    }
}

layout! {
    /// Push constants of `soft_settle`.
    pub struct Push {
        /// The colour; or none, behind the iterations: all particles, which go to `soft_next` as far as they may.
        pub colour: u32,
        /// Number of particles.
        pub count: u32,
    }
}

/// Adds what a pair asks of its node with share `w`.
#[inline(always)]
fn add_pair(block: &mut Block, press: &Press, n: Vec3, w: f32, at_once: bool) {
    // A node of the other side that moves at the same time answers as well: as much again keeps both from going too far.
    let size = if w < 0.0 { -w } else { w };
    let square = w * w + if at_once { size } else { 0.0 };
    block.force += press.force * w;
    block.add_scalar(press.across * square);
    block.add_square((press.along - press.across) * square, n);
}

/// Where a particle's contacts let it go: which of them push is found in some rounds.
#[inline(always)]
fn pushed(index: u32, block: &Block, delta: Vec3, row: &EntryRange, b: &Bindings<'_>) -> Vec3 {
    let mut next = delta;
    let mut round = 0;
    while round < ROUNDS {
        let mut with = *block;
        with.force = block.force_behind(next - delta);
        let mut i = 0;
        while i < SOFT_CONTACTS {
            let contact = b.soft_contacts.at(index.wrapping_mul(SOFT_CONTACTS).wrapping_add(i));
            if contact.collider != NONE {
                let (_, way) = gone(&contact, next, &b.starts, &b.deltas, &b.poses);
                with.add_press(&press(&contact, way), contact.normal);
            }
            i += 1;
        }
        let mut e = row.start;
        while e < row.end {
            let entry = b.soft_pair_list.at(e);
            let pair = b.soft_pairs.at(entry / 4);
            let w = pair.share(entry % 4);
            if pair.thickness > 0.0 {
                let way = gone_along(&pair, &b.soft_deltas) + (next - delta) * w;
                let at_once = pair.flags & pair_flag::AT_ONCE != 0;
                add_pair(&mut with, &push_apart(&pair, way), pair.normal, w, at_once);
            }
            e += 1;
        }
        next += with.solve();
        round += 1;
    }
    next
}

/// How far towards the other side of a pair its node may go, metres.
#[inline(always)]
fn room(pair: &SoftPair, node: u32, delta: Vec3, place: Vec3, last: bool, b: &Bindings<'_>) -> f32 {
    let away = height(pair, node, delta) - opposite(pair, node, &b.soft_deltas);
    let gap = if pair.is_above(node) { away } else { -away };
    // Both sides go at the same time.
    0.5 * if last { closable_at_most(pair, gap, place) } else { closable(pair, gap, place) }
}

/// A motion from `delta` to `next` held before the planes: first what goes beyond them is taken off, so that it slides
/// along, then all of it is shortened until it is within.
#[inline(always)]
fn held_back(delta: Vec3, next: Vec3, place: Vec3, row: &EntryRange, b: &Bindings<'_>) -> Vec3 {
    let mut way = next - delta;
    let mut part = 1.0f32;
    let mut round = 0;
    while round < 2 {
        let mut e = row.start;
        while e < row.end {
            let entry = b.soft_pair_list.at(e);
            let (pair, node) = (b.soft_pairs.at(entry / 4), entry % 4);
            let towards = if pair.is_above(node) { pair.normal * -1.0 } else { pair.normal };
            let (goes, most) = (way.dot(towards), room(&pair, node, delta, place, round > 0, b));
            if goes > most {
                if round == 0 {
                    way -= towards * (goes - most);
                } else {
                    part = fmin(part, most / goes);
                }
            }
            e += 1;
        }
        round += 1;
    }
    delta + way * part
}

/// Sends one particle.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let all = push.colour == NONE;
    let mut index = item;
    let mut there = item < push.count;
    if !all {
        let end = least(b.soft_ranges.at(push.colour.wrapping_add(1)), b.soft_order.len());
        let place = b.soft_ranges.at(push.colour).wrapping_add(item);
        there = place < end;
        index = b.soft_order.at(if there { place } else { 0 });
    }
    if !there || b.particles.at(index).mass <= 0.0 {
        return;
    }
    let delta = b.soft_deltas.at(index);
    let first = index.wrapping_mul(SOFT_ROW_WORDS);
    let listed = EntryRange { start: b.soft_pair_rows.at(first), end: b.soft_pair_rows.at(first.wrapping_add(1)) };
    let row = listed.within(b.soft_pair_list.len());
    let mut next = b.soft_next.at(index);
    if all {
        let within = confined(&b.soft_regions.at(index), f32::from_bits(b.soft_limits.at(index)), next);
        next = held_back(delta, within, b.soft_positions.at(index), &row, b);
    } else {
        let block = b.soft_blocks.at(index);
        let touches = b.soft_contacts.at(index.wrapping_mul(SOFT_CONTACTS)).collider != NONE;
        next = delta + block.solve();
        if touches | (row.start < row.end) {
            next = pushed(index, &block, delta, &row, b);
        }
    }
    let sound = finite(next.x) & finite(next.y) & finite(next.z);
    b.soft_next.put(index, if sound { next } else { delta });
}
