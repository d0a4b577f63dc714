//! What steps did, as C has it.

use super::convert::{from_body, from_joint};
use super::describe::{DrystoneBody, DrystoneJoint};
use super::error::{DrystoneResult, Failure, done};
use super::passes::sums;
use super::sized::{Struct, write};
use super::stepper::{DrystoneStepper, with};
use crate::backend::RunTimes;
use crate::stepper::{Event, EventKind, StepReport};

/// What a frame did.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DrystoneReport {
    /// sizeof(DrystoneReport).
    pub struct_size: u32,
    /// Sub-steps that were left out because a list was too short.
    pub dropped: u32,
    /// Number of the frame, from 1 on.
    pub frame: u64,
    /// Pairs of overlapping boxes.
    pub pairs: u32,
    /// Pairs that touch.
    pub manifolds: u32,
    /// Bodies that found no colour and were solved in turn.
    pub fallback_bodies: u32,
    /// How often a list overflowed, was made longer, and the step repeated. CPU only.
    pub grown: u32,
    /// 1 when the world was rolled back or restored behind the frame: then it counts for nothing.
    pub undone: u32,
    /// Events of the frame, to be had by `drystone_report_event`.
    pub event_count: u32,
    /// Events beyond those there was room for.
    pub events_lost: u32,
    /// Passes whose time was taken, to be had by `drystone_report_pass`.
    pub pass_count: u32,
    /// Time of all passes together, nanoseconds; 0 when nothing was timed.
    pub nanoseconds: u64,
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers take any bytes.
unsafe impl Struct for DrystoneReport {
    const NAME: &'static str = "DrystoneReport";

    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, ..Self::default() }
    }
}

impl DrystoneReport {
    pub(super) fn of(report: &StepReport) -> Self {
        Self {
            dropped: report.dropped,
            frame: report.frame,
            pairs: report.pairs,
            manifolds: report.manifolds,
            fallback_bodies: report.fallback_bodies,
            grown: report.grown,
            undone: report.undone.into(),
            event_count: report.events.len() as u32,
            events_lost: report.events_lost,
            pass_count: sums(&report.times).len() as u32,
            nanoseconds: report.times.iter().map(RunTimes::total).sum::<std::time::Duration>().as_nanos() as u64,
            ..Self::defaults()
        }
    }
}

/// What can happen.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneEventKind {
    /// Something that this version of the interface has no words for.
    Other = 0,
    /// The state of `body` was not finite: it was put back to where it was before, and takes no further part.
    Quarantined = 1,
    /// A list was too short and was made longer: `from` to `to` elements.
    Grown = 2,
    /// For the first time, `to` bodies found no colour and were solved in turn.
    Fallback = 3,
    /// `joint` broke under `force` and `torque`.
    Broken = 4,
    /// Collider `other_collider` of `other` began to overlap the sensor `collider` of `body`.
    SensorBegin = 5,
    /// It no longer overlaps it.
    SensorEnd = 6,
    /// Collider `collider` of `body` and `other_collider` of `other` began to push each other, and one of them asked
    /// for it: `DrystoneCollider.reports`.
    ContactBegin = 7,
    /// They go on pushing each other.
    ContactPersist = 8,
    /// They no longer push each other: neither `impulse` nor `point`.
    ContactEnd = 9,
}

/// Something that happened in a step.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DrystoneEvent {
    /// sizeof(DrystoneEvent).
    pub struct_size: u32,
    /// A `DrystoneEventKind`.
    pub kind: u32,
    /// The step, counted from 0, sub-steps included.
    pub step: u64,
    /// The body, or the one that the sensor is on.
    pub body: DrystoneBody,
    /// The body that overlaps a sensor.
    pub other: DrystoneBody,
    /// The joint.
    pub joint: DrystoneJoint,
    /// Which collider of `body` the sensor is.
    pub collider: u32,
    /// Which collider of `other` overlaps it.
    pub other_collider: u32,
    /// Newtons.
    pub force: f32,
    /// Newton metres.
    pub torque: f32,
    /// Length of a list before.
    pub from: u32,
    /// Length of a list now, or a number of bodies.
    pub to: u32,
    /// What a contact did to `body` in the step, friction included, newton seconds; `other` got the opposite.
    pub impulse: [f32; 3],
    /// Where, in world space at the start of the step.
    pub point: [f32; 3],
}

// SAFETY: as above.
unsafe impl Struct for DrystoneEvent {
    const NAME: &'static str = "DrystoneEvent";

    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, ..Self::default() }
    }
}

impl DrystoneEvent {
    fn of(event: &Event) -> Self {
        use DrystoneEventKind as Kind;
        let told = |kind: Kind| Self { kind: kind as u32, step: event.step, ..Self::defaults() };
        let overlap = |kind: Kind, overlap: &crate::Overlap| Self {
            body: from_body(overlap.sensor),
            collider: overlap.sensor_collider as u32,
            other: from_body(overlap.body),
            other_collider: overlap.collider as u32,
            ..told(kind)
        };
        let contact = |kind: Kind, contact: &crate::Contact| Self {
            body: from_body(contact.a),
            collider: contact.collider_a as u32,
            other: from_body(contact.b),
            other_collider: contact.collider_b as u32,
            impulse: contact.impulse.into(),
            point: contact.point.into(),
            ..told(kind)
        };
        match &event.kind {
            EventKind::Quarantined { body } => Self { body: from_body(*body), ..told(Kind::Quarantined) },
            &EventKind::Grown { from, to, .. } => Self { from, to, ..told(Kind::Grown) },
            &EventKind::Fallback { bodies } => Self { to: bodies, ..told(Kind::Fallback) },
            &EventKind::Broken { joint, force, torque } => {
                Self { joint: from_joint(joint), force, torque, ..told(Kind::Broken) }
            }
            EventKind::SensorBegin(found) => overlap(Kind::SensorBegin, found),
            EventKind::SensorEnd(found) => overlap(Kind::SensorEnd, found),
            EventKind::ContactBegin(found) => contact(Kind::ContactBegin, found),
            EventKind::ContactPersist(found) => contact(Kind::ContactPersist, found),
            EventKind::ContactEnd(found) => contact(Kind::ContactEnd, found),
            &EventKind::Detached { force, .. } => Self { force, ..told(Kind::Other) },
            EventKind::ParticleHeld { .. } => told(Kind::Other),
        }
    }
}

/// Event number `index`, from 0 on, of the report that `drystone_poll` told last.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_report_event(
    stepper: *const DrystoneStepper,
    index: u32,
    event: *mut DrystoneEvent,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        with(stepper, |inside| {
            let count = inside.events.len();
            let none = || Failure::value(format!("there is no event {index}: the last report has {count}"));
            write("event", event, &DrystoneEvent::of(inside.events.get(index as usize).ok_or_else(none)?))
        })
    })
}
