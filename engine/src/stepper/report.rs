//! Reports of steps as plain values: counts, times and events.

use crate::backend::RunTimes;
use crate::glam::Vec3;
use crate::state::Capacities;
use crate::world::{AttachmentHandle, BodyHandle, JointHandle, SoftHandle};

/// Something that happened in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Number of the step in which it happened, counted from 0, each sub-step counted.
    pub step: u64,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// A body's state was not finite: the body was put back to its last valid state and disabled.
    Quarantined {
        /// The body.
        body: BodyHandle,
    },
    /// A list was made longer because it was too short, or nearly full.
    Grown {
        /// Name of the list: a field of [`Capacities`].
        list: &'static str,
        /// Its length before.
        from: u32,
        /// Its length now.
        to: u32,
    },
    /// Bodies found no colour and were solved one after the other. Reported the first time only.
    Fallback {
        /// Number of these bodies.
        bodies: u32,
    },
    /// A joint broke: it does nothing from the next step on.
    Broken {
        /// The joint.
        joint: JointHandle,
        /// The force it had to bear, newtons.
        force: f32,
        /// The torque, newton metres.
        torque: f32,
    },
    /// A collider began to overlap a sensor, as of the start of the step.
    SensorBegin(Overlap),
    /// A collider no longer overlaps a sensor. Not reported when one of the bodies was removed.
    SensorEnd(Overlap),
    /// Two colliders began to push each other, and one of them has reports switched on: [`ContactReports`].
    ///
    /// [`ContactReports`]: crate::world::ContactReports
    ContactBegin(Contact),
    /// Two colliders that pushed each other in the step before still do.
    ContactPersist(Contact),
    /// Two colliders no longer push each other; impulse and point are zero. Not reported when one of the bodies was
    /// removed.
    ContactEnd(Contact),
    /// An attachment was loaded beyond its limit and released its particle.
    Detached {
        /// The attachment.
        attachment: AttachmentHandle,
        /// The force it had to bear, newtons.
        force: f32,
    },
    /// A particle's state was not finite: it keeps its position in this step, and continues from rest.
    ParticleHeld {
        /// The soft body.
        soft: SoftHandle,
        /// Which of its particles.
        particle: u32,
    },
}

/// A contact of two colliders, as an event reports it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contact {
    /// One of the bodies.
    pub a: BodyHandle,
    /// Which of its colliders.
    pub collider_a: usize,
    /// The other.
    pub b: BodyHandle,
    /// Which of its colliders.
    pub collider_b: usize,
    /// Impulse on `a` in the step, friction included, newton seconds; `b` got the opposite. The part that restitution
    /// adds to an impact is not included.
    pub impulse: Vec3,
    /// Where the impulse acted, in world space at the start of the step: the mean of the contact points, weighted by
    /// how hard each pushed.
    pub point: Vec3,
}

/// A sensor, and what overlaps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Overlap {
    /// The body that the sensor is on.
    pub sensor: BodyHandle,
    /// Which of its colliders the sensor is.
    pub sensor_collider: usize,
    /// The body that overlaps it.
    pub body: BodyHandle,
    /// With which of its colliders.
    pub collider: usize,
}

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StepReport {
    /// Number of the call of `prepare` that the step belongs to, from 1 on.
    pub frame: u64,
    /// Number of pairs of overlapping boxes.
    pub pairs: u32,
    /// Number of pairs that touch.
    pub manifolds: u32,
    /// Bodies that found no colour and were solved in turn; contacts and joints with solvers that go from one to the
    /// next.
    pub fallback_bodies: u32,
    /// How often a list of pairs or manifolds overflowed, was made longer, and the step repeated.
    pub grown: u32,
    /// Sub-steps of the frame that were made.
    pub substeps: u32,
    /// Number of sub-steps that [`Settings::stability`](crate::Settings::stability) asks for, unbounded. Without
    /// [`substeps_most`](crate::Settings::substeps_most) it is the number that was set.
    pub substeps_wanted: u32,
    /// Frames so far that wanted more sub-steps than [`substeps_most`](crate::Settings::substeps_most), this one
    /// included.
    pub short_frames: u32,
    /// Sub-steps that were skipped because a list was too short. Always 0 in a simulation that waits: it repeats the
    /// step.
    pub dropped: u32,
    /// Whether the world was rolled back or restored after this frame, before its results came. The frame then counts
    /// for nothing: its events and skipped steps are not reported.
    pub undone: bool,
    /// The capacities that would have been enough, when a list was too short.
    pub needed: Option<Capacities>,
    /// Events of the frame, in a reproducible order.
    pub events: Vec<Event>,
    /// Number of events that did not fit into the list of events and are not reported one by one.
    pub events_lost: u32,
    /// Time of every pass, over all sub-steps.
    pub times: Vec<RunTimes>,
}

impl StepReport {
    /// Merges the report of a repetition of the same step.
    pub(super) fn and_then(&mut self, later: Self) {
        self.pairs = later.pairs;
        self.manifolds = later.manifolds;
        self.fallback_bodies = later.fallback_bodies;
        self.grown += later.grown;
        self.substeps += later.substeps;
        self.events.extend(later.events);
        self.events_lost += later.events_lost;
        self.times.extend(later.times);
    }
}
