//! Converts the world's joints to the device's records and adds those that changed to the uploads. Touches no device.

use super::bodies::rotation_to_device;
use super::uploads::Uploads;
use crate::glam::{Quat, Vec3};
use crate::plan::step::StepPlan;
use crate::world::joint::{Axis, Hold, JointAxis, JointEntry};
use crate::world::{BodyEntry, BodyKind, JointDesc, World};
use drystone_kernels::solve::joints::{Joint, JointForce, JointRow, RowState, axis, flag};
use drystone_kernels::state::rigid::NONE;

/// Converts an anchor and a frame from the user's body space to the device's; those of the world stay as they are.
fn on_body(body: Option<&BodyEntry>, anchor: Vec3, frame: Quat) -> (Vec3, Quat) {
    let Some(entry) = body else { return (anchor, frame) };
    let axes = entry.mass.axes.inverse();
    (axes * (anchor - entry.mass.centre), axes * frame)
}

/// The length, in metres, against which a joint's errors are measured: the shorter lever of its bodies, or how far a
/// body's mass is spread if that is more.
fn length(ends: [(Option<&BodyEntry>, Vec3); 2]) -> f32 {
    let reach = |(body, anchor): (Option<&BodyEntry>, Vec3)| {
        let entry = body.filter(|e| e.desc.kind == BodyKind::Dynamic)?;
        let spread = (entry.mass.inertia.max_element() / entry.mass.mass).sqrt();
        Some(anchor.length().max(spread))
    };
    let shortest = ends.into_iter().filter_map(reach).fold(f32::INFINITY, f32::min);
    if shortest.is_finite() && shortest > 0.0 { shortest } else { 1.0 }
}

/// Length of a rod or a rope, metres; 0 for other joints.
fn reach(desc: &JointDesc) -> f32 {
    match desc.axes[JointAxis::Distance as usize].hold {
        Hold::At(length) | Hold::Between(_, length) if length.is_finite() => length,
        _ => 0.0,
    }
}

/// The records of the joint in a slot; an empty slot gets a broken joint without bodies or rows.
fn record(world: &World, slot: u32) -> (Joint, Vec<JointRow>) {
    let Some(JointEntry { desc, first_row, broken, .. }) = world.joint_store().slot(slot) else {
        return (Joint { flags: flag::BROKEN, body_a: NONE, body_b: NONE, ..Default::default() }, Vec::new());
    };
    let (a, b) = (world.slot(desc.body_a.index()), desc.body_b.and_then(|b| world.slot(b.index())));
    let (anchor_a, frame_a) = on_body(a, desc.anchor_a, desc.frame_a);
    let (anchor_b, frame_b) = on_body(b, desc.anchor_b, desc.frame_b);
    let rows = desc.rows();
    let turns = rows.iter().any(|r| (axis::TWIST..=axis::SWING_Z).contains(&r.axis));
    let together = desc.axes[..3].iter().all(|a| *a == Axis { hold: Hold::At(0.0), drive: None });
    let bits =
        [(*broken, flag::BROKEN), (!desc.collide, flag::APART), (turns, flag::TURNS), (together, flag::TOGETHER)];
    let joint = Joint {
        body_a: desc.body_a.index(),
        body_b: desc.body_b.map_or(NONE, |b| b.index()),
        flags: bits.into_iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum(),
        first_row: *first_row,
        rows: rows.len() as u32,
        length: length([(a, anchor_a), (b, anchor_b)]).max(reach(desc)),
        anchor_a,
        anchor_b,
        frame_a: rotation_to_device(frame_a),
        frame_b: rotation_to_device(frame_b),
        max_force: desc.max_force,
        max_torque: desc.max_torque,
    };
    (joint, rows)
}

/// Adds joints that changed to the uploads. The device itself finds which bodies are joined, in every step.
pub(super) fn push(world: &World, plan: &StepPlan, uploads: &mut Uploads) {
    let (b, room, store) = (plan.buffers.joints, plan.capacities, world.joint_store());
    if room.joints == 0 {
        return;
    }
    // Consecutive slots and rows are sent in one piece.
    let mut joints: Vec<(u32, Vec<Joint>)> = Vec::new();
    let mut rows: Vec<(u32, Vec<JointRow>)> = Vec::new();
    let mut states: Vec<(u32, Vec<RowState>)> = Vec::new();
    let mut forces: Vec<(u32, Vec<JointForce>)> = Vec::new();
    for changed in store.changed() {
        let (joint, list) = record(world, changed.slot);
        append(&mut joints, changed.slot, &[joint]);
        append(&mut rows, joint.first_row, &list);
        if changed.fresh {
            append(&mut states, joint.first_row, &vec![RowState::default(); list.len()]);
            append(&mut forces, changed.slot, &[JointForce::default()]);
        }
    }
    joints.iter().for_each(|(first, run)| uploads.push(b.joints, u64::from(*first), run));
    rows.iter().for_each(|(first, run)| uploads.push(b.rows, u64::from(*first), run));
    forces.iter().for_each(|(first, run)| uploads.push(b.forces, u64::from(*first), run));
    states.iter().for_each(|(first, run)| uploads.push(b.states, u64::from(*first), run));
}

fn append<T: Copy>(runs: &mut Vec<(u32, Vec<T>)>, first: u32, items: &[T]) {
    if items.is_empty() {
        return;
    }
    match runs.last_mut() {
        Some((start, run)) if *start + run.len() as u32 == first => run.extend_from_slice(items),
        _ => runs.push((first, items.to_vec())),
    }
}
