//! What a step did, as values.

use crate::backend::RunTimes;
use crate::glam::Vec3;
use crate::state::Capacities;
use crate::world::{AttachmentHandle, BodyHandle, JointHandle, SoftHandle};

/// Something that happened in a step and that a user may want to know.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The step, counted from 0, sub-steps included.
    pub step: u64,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// A body's state was not finite: it was put back to where it was before, and takes no further part.
    Quarantined {
        /// The body.
        body: BodyHandle,
    },
    /// A list was too short and was made longer.
    Grown {
        /// Which: a field of [`Capacities`].
        list: &'static str,
        /// Its length before.
        from: u32,
        /// Its length now.
        to: u32,
    },
    /// For the first time, bodies found no colour and were solved in turn.
    Fallback {
        /// How many.
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
    /// A collider began to overlap a sensor: it does at the start of the step.
    SensorBegin(Overlap),
    /// A collider no longer overlaps a sensor. Not told when one of the bodies was removed.
    SensorEnd(Overlap),
    /// Two colliders began to push each other, and one of them asked for it: [`ContactReports`].
    ///
    /// [`ContactReports`]: crate::world::ContactReports
    ContactBegin(Contact),
    /// They pushed each other in the step before, and go on.
    ContactPersist(Contact),
    /// They no longer push each other: neither impulse nor point. Not told when one of the bodies was removed.
    ContactEnd(Contact),
    /// An attachment had to bear more than it does, and let its particle go.
    Detached {
        /// The attachment.
        attachment: AttachmentHandle,
        /// The force it had to bear, newtons.
        force: f32,
    },
    /// A particle's state was not finite: it stays where it was for this step, and begins again at rest.
    ParticleHeld {
        /// The soft body.
        soft: SoftHandle,
        /// Which of its particles.
        particle: u32,
    },
}

/// A contact of two colliders that is told by an event.
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
    /// What acted on `a` in the step, friction included, newton seconds; `b` got the opposite. What restitution adds to an
    /// impact is not in it.
    pub impulse: Vec3,
    /// Where it acted, in world space at the start of the step: the middle of the points, by how hard each pushed.
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
    /// Pairs of overlapping boxes.
    pub pairs: u32,
    /// Pairs that touch.
    pub manifolds: u32,
    /// Bodies that found no colour and were solved in turn.
    pub fallback_bodies: u32,
    /// How often a list of pairs or manifolds overflowed, was made longer, and the step repeated.
    pub grown: u32,
    /// Sub-steps of the frame that were made.
    pub substeps: u32,
    /// Sub-steps that it should have had by [`Settings::stability`](crate::Settings::stability), within no bounds; without
    /// [`substeps_most`](crate::Settings::substeps_most) those it was told to have.
    pub substeps_wanted: u32,
    /// Frames so far that wanted more sub-steps than [`substeps_most`](crate::Settings::substeps_most), this one included.
    pub short_frames: u32,
    /// Sub-steps that were left out because a list was too short. A waiting simulation grows and repeats, and has none.
    pub dropped: u32,
    /// Whether the world was rolled back, or restored, behind the frame before its results came. Then it counts for
    /// nothing: events and steps that were left out are not told.
    pub undone: bool,
    /// What the lists would have needed, where one was too short.
    pub needed: Option<Capacities>,
    /// What else happened.
    pub events: Vec<Event>,
    /// Events beyond those there was room for: they are counted, but not told one by one.
    pub events_lost: u32,
    /// Time of every pass, over all sub-steps.
    pub times: Vec<RunTimes>,
}

impl StepReport {
    /// Adds what a repetition of the same step did.
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
