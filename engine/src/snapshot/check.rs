//! Checks the contents of a snapshot's buffers. Kernels check indices against the lengths of their lists anyway; here
//! bad ones are refused, because a world that silently differs from the saved one is worse than an error.

use super::{Snapshot, SnapshotError, word};
use crate::glam::Vec3;
use crate::plan::step::persistent;
use crate::state::List;
use bytemuck::Pod;
use drystone_kernels::detect::gate::counter;
use drystone_kernels::detect::sensors_list::Overlap;
use drystone_kernels::layout::{BodyPose, SoftVertex};
use drystone_kernels::math::{Pose, Rotation, Twist};
use drystone_kernels::solve::joints::{Joint, JointForce, RowState, flag};
use drystone_kernels::state::rigid::{Body, BodyFrame, CachedPair, CachedPoint, Entry, NONE, entry, kind};
use drystone_kernels::state::second::LastStep;
use drystone_kernels::state::soft::{AttachmentState, SoftCached, SpringState};
use drystone_kernels::state::soft_pairs::SoftPairCached;
use drystone_kernels::state::touching::Touching;

/// Checks the values of one element.
type Sense = fn(&[u8]) -> bool;

fn of<T: Pod>(bytes: &[u8]) -> T {
    bytemuck::pod_read_unaligned(bytes)
}

fn all<T: Pod>(bytes: &[u8]) -> impl Iterator<Item = T> {
    bytes.chunks_exact(size_of::<T>()).map(of)
}

fn finite(bytes: &[u8]) -> bool {
    all::<f32>(bytes).all(f32::is_finite)
}

fn any(_: &[u8]) -> bool {
    true
}

/// Whether a rotation is a unit quaternion, up to the rounding errors that build up within a step.
fn unit(r: Rotation) -> bool {
    let square = r.x * r.x + r.y * r.y + r.z * r.z + r.s * r.s;
    (square - 1.0).abs() < 0.02
}

fn shown(bytes: &[u8]) -> bool {
    let pose = of::<BodyPose>(bytes);
    pose.present <= 1 && pose.position.is_finite() && finite(bytemuck::bytes_of(&pose.rotation))
}

fn shown_soft(bytes: &[u8]) -> bool {
    let vertex = of::<SoftVertex>(bytes);
    vertex.present <= 1 && vertex.position.is_finite() && vertex.normal.is_finite()
}

/// Buffers whose elements can be checked one by one.
const ELEMENTS: &[(&str, usize, Sense)] = &[
    ("poses", size_of::<Pose>(), |b| finite(b) && unit(of::<Pose>(b).rotation)),
    ("starts", size_of::<Pose>(), |b| finite(b) && unit(of::<Pose>(b).rotation)),
    ("velocities", size_of::<Twist>(), finite),
    ("previous", size_of::<Vec3>(), finite),
    ("last_steps", size_of::<LastStep>(), |b| {
        finite(&b[..104]) && of::<LastStep>(b).dt >= 0.0 && of::<LastStep>(b).used <= 1
    }),
    ("forces", size_of::<Twist>(), finite),
    ("body_frames", size_of::<BodyFrame>(), finite),
    ("body_poses", size_of::<BodyPose>(), shown),
    ("previous_body_poses", size_of::<BodyPose>(), shown),
    ("colours", 4, |b| of::<u32>(b) <= 32 || of::<u32>(b) == NONE),
    ("colour_changes", 4, |b| of::<u32>(b) == 0),
    // What is kept of contacts, joints and springs may overflow in a step: the next one takes out whom that throws.
    ("cached_points", size_of::<CachedPoint>(), any),
    ("cached_stiffness", 4, any),
    ("cached_torques", 4, any),
    ("row_states", size_of::<RowState>(), any),
    ("joint_forces", size_of::<JointForce>(), any),
    ("last_touching", size_of::<Touching>(), |b| of::<Touching>(b).touches <= 1),
    ("soft_positions", size_of::<Vec3>(), finite),
    ("soft_velocities", size_of::<Vec3>(), finite),
    ("soft_previous", size_of::<Vec3>(), finite),
    ("spring_states", size_of::<SpringState>(), any),
    ("attachment_states", size_of::<AttachmentState>(), |b| of::<AttachmentState>(b).broken <= 1),
    ("soft_vertices", size_of::<SoftVertex>(), shown_soft),
    ("previous_soft_vertices", size_of::<SoftVertex>(), shown_soft),
    // Colliders are only compared with others: one that there is not is found by nobody.
    ("soft_cached", size_of::<SoftCached>(), |b| of::<SoftCached>(b).sticks <= 1),
    // Kernels hold ranges against the length of the list, and compare pieces with others only.
    ("soft_face_pairs", 4, |b| of::<u32>(b) <= 1 << 29),
    ("soft_cached_pairs", size_of::<SoftPairCached>(), |b| of::<SoftPairCached>(b).sticks <= 1),
];

fn nonsense<T>(what: &'static str, why: String) -> Result<T, SnapshotError> {
    Err(SnapshotError::content(what, why))
}

/// Checks all buffers against the world.
pub(super) fn buffers(s: &Snapshot) -> Result<(), SnapshotError> {
    let world = &s.host.world;
    let most = [
        ("bodies", s.used.bodies, world.body_slots()),
        ("colliders", s.used.colliders, world.collider_room()),
        ("joints", s.used.joints, world.joint_store().slot_count()),
        ("rows of joints", s.used.joint_rows, world.joint_store().row_count()),
        ("particles", s.used.particles, world.soft_store().sent_states().0),
        ("springs", s.used.springs, world.soft_store().sent_states().1),
        ("attachments", s.used.attachments, world.soft_store().sent_states().2),
        ("soft faces", s.used.soft_faces, world.soft_store().used().faces),
    ];
    if let Some((what, used, most)) = most.into_iter().find(|(_, used, most)| used > most) {
        return nonsense(what, format!("{used} on a device, of {most}"));
    }
    let by_user = s.user.iter().any(|b| b.each == List::Pairs);
    if s.used.pairs > 0 && !s.options.features.sensors && !by_user {
        return nonsense("lists in use", format!("{} overlaps with sensors, and no sensors", s.used.pairs));
    }
    // A world may get longer lists from this number, so there must be as many contacts behind it.
    let backed = s.bytes_of("soft_cached_pairs").len() / size_of::<SoftPairCached>();
    if s.used.soft_pairs as usize > backed && !s.user.iter().any(|b| b.each == List::SoftPairs) {
        return nonsense("lists in use", format!("{} contacts of soft surfaces, of {backed}", s.used.soft_pairs));
    }
    lengths(s)?;
    for (name, size, makes_sense) in ELEMENTS {
        let wrong = s.bytes_of(name).chunks_exact(*size).position(|element| !makes_sense(element));
        if let Some(index) = wrong {
            return nonsense(name, format!("element {index} is none that a step leaves behind"));
        }
    }
    counters(s)?;
    bodies(s)?;
    rows(s)?;
    let known = |o: Overlap| o.sensor < s.used.colliders && o.other < s.used.colliders && o.spare == 0;
    let kept = word(s.bytes_of("counters"), counter::SENSED_LAST as usize);
    let overlaps = all::<Overlap>(s.bytes_of("last_overlaps")).take(kept as usize);
    if let Some(index) = overlaps.map(known).position(|known| !known) {
        return nonsense("last_overlaps", format!("element {index} names colliders that there are not"));
    }
    joints(s)
}

/// Checks that every declared buffer is present once, with the declared length.
fn lengths(s: &Snapshot) -> Result<(), SnapshotError> {
    let refuse = |buffer: &str, why: String| Err(SnapshotError::Buffer { buffer: buffer.to_owned(), why });
    let declared = match persistent(&s.used, &s.options, &s.user) {
        Ok(declared) => declared,
        Err(error) => return nonsense("user buffers", error.to_string()),
    };
    if let Some(b) = s.buffers.iter().find(|b| !declared.iter().any(|d| d.name == b.name)) {
        return refuse(&b.name, "is none of this engine's".to_owned());
    }
    for info in &declared {
        let mut found = s.buffers.iter().filter(|b| b.name == info.name);
        let (Some(saved), None) = (found.next(), found.next()) else {
            return refuse(&info.name, "is missing or there twice".to_owned());
        };
        if saved.bytes.len() as u64 != info.capacity() {
            return refuse(&info.name, format!("has {} bytes instead of {}", saved.bytes.len(), info.capacity()));
        }
    }
    Ok(())
}

fn counters(s: &Snapshot) -> Result<(), SnapshotError> {
    let count = |slot: u32| word(s.bytes_of("counters"), slot as usize);
    if count(counter::STEPS) != s.host.made as u32 {
        return nonsense("counters", format!("{} steps, and {} were made", count(counter::STEPS), s.host.made));
    }
    let told = (count(counter::EDITS), count(counter::EVENTS));
    if told != (0, 0) {
        return nonsense("counters", format!("{told:?} edits and events between two steps"));
    }
    for slot in [counter::NEED, counter::LAST_DT] {
        let value = f32::from_bits(count(slot));
        if !(value.is_finite() && value >= 0.0) {
            return nonsense("counters", format!("{value} for what sub-steps are chosen by"));
        }
    }
    let kept = count(counter::SENSED_LAST);
    if kept > s.used.pairs {
        return nonsense("counters", format!("{kept} overlaps with sensors, of {}", s.used.pairs));
    }
    Ok(())
}

/// Checks that the device's bodies are those of the world, except for bodies that the world has yet to send.
fn bodies(s: &Snapshot) -> Result<(), SnapshotError> {
    for (index, body) in (0..).zip(all::<Body>(s.bytes_of("bodies"))) {
        let values = [body.mass, body.inertia.x, body.inertia.y, body.inertia.z, body.gravity_scale];
        let damping = [body.linear_damping, body.angular_damping];
        let sound = values.into_iter().chain(damping).all(f32::is_finite) && damping.into_iter().all(|d| d >= 0.0);
        let heavy = !body.is_dynamic() || (body.mass > 0.0 && body.inertia.min_element() > 0.0);
        let word = s.host.world.world_word(index);
        // A slot whose body was removed is in no world.
        let placed = body.kind & !kind::MASK == word || body.kind == kind::DISABLED || !s.host.world.is_sent(index);
        if !sound || !heavy || !placed || body.world() >= s.host.world.worlds() {
            return nonsense("bodies", format!("body {index} cannot be: {body:?}"));
        }
        let described = s.host.world.slot(index).map_or(kind::DISABLED, |e| e.desc.kind.code());
        if s.host.world.is_sent(index) && !body.is(kind::DISABLED) && !body.is(described) {
            return nonsense(
                "bodies",
                format!("body {index} is of kind {}, described as {described}", body.kind & kind::MASK),
            );
        }
    }
    Ok(())
}

/// Checks that rows lie within the list of entries, and that entries refer to existing manifolds, joints and bodies.
fn rows(s: &Snapshot) -> Result<(), SnapshotError> {
    let (rows, entries, pairs) = (s.bytes_of("rows"), s.bytes_of("entries"), s.bytes_of("cached_pairs"));
    let count = (entries.len() / size_of::<Entry>()) as u32;
    for (body, row) in rows.chunks_exact(entry::ROW_WORDS as usize * 4).enumerate() {
        let places: Vec<u32> = all(row).collect();
        let last = places.last().copied().unwrap_or(0);
        if !places.is_sorted() || last > count {
            return nonsense("rows", format!("that of body {body} is {places:?} of {count} entries"));
        }
        let listed = &entries[places[0] as usize * size_of::<Entry>()..last as usize * size_of::<Entry>()];
        for e in all::<Entry>(listed) {
            let there = match e.kind() {
                entry::CONTACT => e.manifold() < s.used.manifolds,
                entry::JOINT => e.joint() < s.used.joints,
                _ => false,
            };
            if !there || e.other >= s.used.bodies {
                return nonsense("entries", format!("body {body} has one that is not there: {e:?}"));
            }
            if e.kind() == entry::CONTACT {
                let pair: CachedPair = of(&pairs[e.manifold() as usize * size_of::<CachedPair>()..][..8]);
                if pair.collider_a.max(pair.collider_b) >= s.used.colliders {
                    return nonsense("cached_pairs", format!("{pair:?} of {} colliders", s.used.colliders));
                }
            }
        }
    }
    Ok(())
}

/// Checks the joints. The host sends them again; only the device knows which of them are broken.
fn joints(s: &Snapshot) -> Result<(), SnapshotError> {
    let store = s.host.world.joint_store();
    let changed: Vec<u32> = store.changed().iter().map(|c| c.slot).collect();
    for (slot, joint) in (0..s.used.joints).zip(all::<Joint>(s.bytes_of("joints"))) {
        if changed.binary_search(&slot).is_ok() {
            continue;
        }
        let described = store.slot(slot).map_or((NONE, NONE, 0, 0), |e| {
            let other = e.desc.body_b.map_or(NONE, |b| b.index);
            (e.desc.body_a.index, other, e.first_row, e.rows)
        });
        let found = (joint.body_a, joint.body_b, joint.first_row, joint.rows);
        if found != described {
            return nonsense("joints", format!("joint {slot} is {found:?}, described as {described:?}"));
        }
    }
    Ok(())
}

/// Slots of joints that are broken on the device.
pub(super) fn broken_joints(bytes: &[u8], joints: u32) -> Vec<u32> {
    let list = (0..joints).zip(all::<Joint>(bytes));
    list.filter(|(_, joint)| joint.flags & flag::BROKEN != 0).map(|(slot, _)| slot).collect()
}

/// Slots of attachments that have let go on the device.
pub(super) fn broken_attachments(bytes: &[u8], attachments: u32) -> Vec<u32> {
    let list = (0..attachments).zip(all::<AttachmentState>(bytes));
    list.filter(|(_, state)| state.broken != 0).map(|(slot, _)| slot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::step::StepOptions;
    use crate::state::Capacities;

    /// Persistent buffers of format 4: whoever adds one, takes one out or changes its elements raises
    /// [`FORMAT`](super::super::FORMAT), and says above what it may hold.
    const FORMAT_4: &[(&str, u32)] = &[
        ("bodies", 32),
        ("poses", 28),
        ("starts", 28),
        ("velocities", 24),
        ("previous", 12),
        ("last_steps", 108),
        ("body_frames", 28),
        ("body_poses", 32),
        ("previous_body_poses", 32),
        ("forces", 24),
        ("colliders", 76),
        ("materials", 36),
        ("report_impulses", 4),
        ("counters", 4),
        ("colours", 4),
        ("colour_changes", 4),
        ("rows", 4),
        ("entries", 8),
        ("cached_pairs", 8),
        ("cached_points", 44),
        ("cached_stiffness", 16),
        ("cached_torques", 16),
        ("last_overlaps", 16),
        ("last_touching", 8),
        ("joints", 88),
        ("joint_rows", 28),
        ("row_states", 20),
        ("joint_forces", 24),
        ("soft_positions", 12),
        ("soft_velocities", 12),
        ("soft_previous", 12),
        ("spring_states", 16),
        ("attachment_states", 48),
        ("soft_vertices", 32),
        ("previous_soft_vertices", 32),
        ("soft_cached", 44),
        ("soft_face_pairs", 4),
        ("soft_cached_pairs", 40),
    ];
    /// Those that have a function of their own, or are sent again by the host whatever a snapshot holds.
    const OTHERS: &[&str] = &[
        "bodies",
        "colliders",
        "materials",
        "report_impulses",
        "counters",
        "rows",
        "entries",
        "cached_pairs",
        "last_overlaps",
        "joints",
        "joint_rows",
    ];

    #[test]
    fn every_persistent_buffer_is_in_the_format_and_checked() {
        let some = Capacities { particles: 1, soft_faces: 1, ..Capacities::default() };
        let declared = persistent(&some, &StepOptions::default(), &[]).unwrap();
        let found: Vec<_> = declared.iter().map(|b| (b.name.as_str(), b.stride)).collect();
        assert_eq!(found, FORMAT_4, "another format: raise FORMAT and change this list");
        for (name, stride) in found {
            let element = ELEMENTS.iter().find(|(n, ..)| *n == name);
            assert!(element.is_some() != OTHERS.contains(&name), "who checks `{name}`?");
            assert!(
                element.is_none_or(|(_, size, _)| (stride as usize).is_multiple_of(*size)),
                "`{name}` has {stride} bytes"
            );
        }
    }
}
