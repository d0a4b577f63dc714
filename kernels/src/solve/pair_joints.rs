//! Joints of a colour, or those of the fallback in turn: see [`pair`](crate::solve::pair). `motions` are the ways of
//! bodies since the start of the step, or in [`phase::RELAX`] their velocities.
//!
//! Rows are those of [`joints`](crate::solve::joints). What a joint locks is solved at once
//! ([`pair_block`](crate::solve::pair_block)), and what drives or limits it row by row, with the stiffness that moves a
//! row to where it shall be at once. Sequential impulses and soft steps have derivatives of the start of the step;
//! XPBD measures where bodies are.

pub use crate::solve::pair::Push;

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Store};
use crate::math::{Pose, Rotation, Twist};
use crate::solve::contact::is_finite;
use crate::solve::joints::{Joint, JointEnds, JointRow, Measure, RowState, role};
use crate::solve::pair::{Mover, PairRules, phase, places};
use crate::solve::pair_block::{Block, Six, left, locks};
use crate::stage;
use crate::state::rigid::{ColourRange, NONE, Params, option};

stage! {
    "pair_joints" each 64 {
        read 0 params: Params,
        read 1 ranges: ColourRange,
        read 2 order: u32,
        read 3 joints: Joint,
        read 4 joint_rows: JointRow,
        read 5 inverses: UVec4,
        read 6 starts: Pose,
        update 7 row_states: RowState,
        update 8 motions: Twist,
    }
}

/// Solves one joint, or all of the fallback.
#[inline(always)]
pub fn run(item: u32, push: &Push, b: &mut Bindings<'_>) {
    let places = places(item, push, &b.ranges, b.order.len());
    let mut at = places.start;
    while at < places.end {
        solve(b.order.at(at), push.phase, b);
        at += 1;
    }
}

#[inline(always)]
fn solve(number: u32, phase: u32, b: &mut Bindings<'_>) {
    let params = b.params.at(0);
    let joint = b.joints.at(number);
    let h = params.dt;
    let square = h * h;
    let unit = if phase == phase::RELAX { h } else { 1.0 };
    let world = joint.body_b == NONE;
    let index = if world { joint.body_a } else { joint.body_b };
    let mut a = Mover::load(&b.inverses, &b.motions, joint.body_a, unit);
    let mut c = Mover::load(&b.inverses, &b.motions, index, unit);
    let (start_a, mut start_c) = (b.starts.at(joint.body_a), b.starts.at(index));
    if world {
        c = Mover::still();
        start_c = Pose { position: Vec3::ZERO, rotation: Rotation::IDENTITY };
    }
    // Where its coordinates are measured, and which ways are in that already.
    let mut between = start_a.position - start_c.position;
    let (mut turned_a, mut turned_c) = (start_a.rotation, start_c.rotation);
    let (mut from_a, mut from_c) = (Mover::still(), Mover::still());
    if params.options & option::XPBD != 0 {
        between += a.way.linear - c.way.linear;
        turned_a = Rotation::exp(a.way.angular).then_after(&turned_a);
        turned_c = Rotation::exp(c.way.angular).then_after(&turned_c);
        (from_a, from_c) = (a, c);
    }
    let ends = JointEnds::new(&joint, between, &turned_a, &turned_c);
    let pair = PairRules::new(&params, phase, true, true);
    let rules = pair.joint_rules(&params);
    let known = is_finite(&a.way) & is_finite(&c.way);
    let rows = if known { joint.rows_within(b.joint_rows.len()) } else { 0 };
    // What is locked, and the multipliers of that.
    let (mut locked, mut forces) = (Six::none(), Six::none());
    let mut r = 0;
    while r < rows {
        let row = b.joint_rows.at(joint.first_row + r);
        let lock = if locks(&row) { 1.0 } else { 0.0 };
        let one = Six::one(row.axis);
        locked = locked.plus(&one, lock);
        forces = forces.plus(&one, lock * b.row_states.at(joint.first_row + r).lambda);
        r += 1;
    }
    let block = Block::new(&ends, &a, &c, &locked, square);
    if phase == phase::WARM {
        block.push(&forces, &mut a, &mut c, -square);
    }
    let moved = |measure: &Measure, a: &Mover, c: &Mover| {
        let (linear, turn_a, turn_c) = (measure.linear, measure.turn_a, measure.turn_b);
        let way = a.along(linear, turn_a) - c.along(linear, turn_c);
        (way, way - (from_a.along(linear, turn_a) - from_c.along(linear, turn_c)))
    };
    // First what is locked, at once; then what is beside it, row by row, each as if the locked ones held.
    let mut turn = 0;
    while (turn <= rows) & (rows > 0) {
        let first = turn == 0;
        let number = joint.first_row + if first { 0 } else { turn - 1 };
        let mut six = Six::none();
        let mut r = 0;
        while first & (phase != phase::WARM) & (r < rows) {
            let row = b.joint_rows.at(joint.first_row + r);
            let state = b.row_states.at(joint.first_row + r);
            let mut measure = ends.measure(row.axis);
            let (way, more) = moved(&measure, &a, &c);
            (measure.turned, measure.value) = (way, measure.value + more);
            let lack = row.ask(&rules, &state, &measure, joint.length).error;
            six = six.plus(&Six::one(row.axis), if locks(&row) { lack } else { 0.0 });
            r += 1;
        }
        let row = b.joint_rows.at(number);
        let mut state = b.row_states.at(number);
        let mut measure = ends.measure(row.axis);
        if !first {
            six = block.beside(&measure, &a, &c, square);
        }
        let found = block.solved(&six);
        let beside = !first & !locks(&row);
        if first {
            let more = Six::none().plus(&found, pair.firm).plus(&forces, -pair.fade);
            let on = if phase == phase::WARM { 0.0 } else { 1.0 };
            block.push(&more, &mut a, &mut c, -square * on);
            forces = forces.plus(&more, on);
        } else if beside {
            let (linear, turn_a, turn_c) = (measure.linear, measure.turn_a, measure.turn_b);
            let before = state.lambda;
            if phase != phase::WARM {
                let (way, more) = moved(&measure, &a, &c);
                (measure.turned, measure.value) = (way, measure.value + more);
                let own = (a.ease(linear, turn_a) + c.ease(linear, turn_c)) * square;
                let ease = left(own, six.dot(&found));
                let spring = row.role == role::SPRING;
                let compliance = if spring { 1.0 / row.stiffest(h) } else { 0.0 };
                // What limits is as firm as the solver has it; springs and motors are what they are.
                let soft = row.role == role::LOCK || row.role == role::LIMIT;
                state.k = if soft { pair.firm } else { 1.0 } / (ease + compliance);
                state.lambda = before * if soft { 1.0 - pair.fade } else { 1.0 };
                state.lambda = row.ask(&rules, &state, &measure, joint.length).force;
                b.row_states.put(number, state);
            }
            let more = if phase == phase::WARM { before } else { state.lambda - before };
            a.push(linear * (-more * square), turn_a * (-more * square));
            c.push(linear * (more * square), turn_c * (more * square));
            let kept = if phase == phase::WARM { 0.0 } else { more };
            block.push(&found, &mut a, &mut c, kept * square);
            forces = forces.plus(&found, -kept);
        }
        turn += 1;
    }
    let mut r = 0;
    while (phase != phase::WARM) & (r < rows) {
        let row = b.joint_rows.at(joint.first_row + r);
        if locks(&row) {
            let mut state = b.row_states.at(joint.first_row + r);
            state.lambda = forces.dot(&Six::one(row.axis));
            b.row_states.put(joint.first_row + r, state);
        }
        r += 1;
    }
    // What is no number any more stays with the body that has it, which is about to be taken out.
    if known & is_finite(&a.way) & is_finite(&c.way) {
        a.store(&mut b.motions, joint.body_a, unit);
        if !world {
            c.store(&mut b.motions, index, unit);
        }
    }
}
