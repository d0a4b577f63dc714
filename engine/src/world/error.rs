//! What can be wrong with what a user says.

use super::BodyKind;
use super::joint::JointAxis;

/// What is wrong with something that was said to a world.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// A value is NaN or infinite.
    #[error("{field} is not finite: {value}")]
    NotFinite {
        /// Which.
        field: &'static str,
        /// What it was.
        value: String,
    },
    /// A value must be greater than zero, or not negative.
    #[error("{field} is out of range: {value}; it must be {must}")]
    OutOfRange {
        /// Which.
        field: &'static str,
        /// What it was.
        value: f32,
        /// What it must be.
        must: &'static str,
    },
    /// A rotation that is no rotation.
    #[error("{field} is not a unit quaternion: its length is {length}")]
    NotUnit {
        /// Which.
        field: &'static str,
        /// Its length.
        length: f32,
    },
    /// A dynamic body needs a mass.
    #[error("a dynamic body has no mass: give it a collider with volume and density, or a mass and an inertia")]
    NoMass,
    /// A half-space has no inside to weigh, and cannot fall.
    #[error("a half-space can only belong to a static body")]
    MovingHalfSpace,
    /// A collider of a described body is wrong.
    #[error("colliders[{index}]: {error}")]
    Collider {
        /// Which of the body's colliders.
        index: usize,
        /// What is wrong with it.
        error: Box<WorldError>,
    },
    /// A body has no collider of that number.
    #[error("there is no collider {index}: the body has {count}")]
    NoCollider {
        /// The number, from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A change of a material that is more than that.
    #[error(
        "colliders[{index}]: shape, position, rotation, density and sensor cannot be changed; remove the body and add it anew"
    )]
    NotMaterial {
        /// Which of the body's colliders.
        index: usize,
    },
    /// Too few points for a convex hull.
    #[error("a convex hull needs at least 4 points, not {points}")]
    HullPoints {
        /// How many there are.
        points: usize,
    },
    /// A convex hull without volume.
    #[error("the points of a convex hull lie in a plane: {size} m long, {width} m thick")]
    FlatHull {
        /// How far they are from lying in a plane.
        width: f32,
        /// Longest side of the box around them.
        size: f32,
    },
    /// A convex hull with too many vertices.
    #[error("a convex hull has more than {limit} vertices")]
    HullVertices {
        /// How many it may have.
        limit: usize,
    },
    /// Something was said to a body of another kind than it is for.
    #[error("{what} is for {needs:?} bodies; body {index} is {is:?}")]
    WrongKind {
        /// What was said.
        what: &'static str,
        /// The body's slot.
        index: u32,
        /// What the body is.
        is: BodyKind,
        /// What it would have to be.
        needs: BodyKind,
    },
    /// A name that something else has.
    #[error("{what} {index} is called `{name}` already; no two have the same name")]
    NameTaken {
        /// "body" or "joint".
        what: &'static str,
        /// The name.
        name: String,
        /// The slot of the one that has it.
        index: u32,
    },
    /// A handle of a body that was removed.
    #[error("body {index} (generation {generation}) is no longer there")]
    StaleBody {
        /// Its slot.
        index: u32,
        /// Its generation.
        generation: u32,
    },
    /// A handle of a body in another world.
    #[error("the handle of body {index} is of another world: a world knows its own handles and those of its copies")]
    ForeignBody {
        /// Its slot there.
        index: u32,
    },
    /// A handle of a joint in another world.
    #[error("the handle of joint {index} is of another world: a world knows its own handles and those of its copies")]
    ForeignJoint {
        /// Its slot there.
        index: u32,
    },
    /// A handle of a joint that was removed.
    #[error("joint {index} (generation {generation}) is no longer there")]
    StaleJoint {
        /// Its slot.
        index: u32,
        /// Its generation.
        generation: u32,
    },
    /// A joint of a body with itself.
    #[error("a joint needs two bodies: both ends are body {index}")]
    SelfJoint {
        /// The body's slot.
        index: u32,
    },
    /// Limits that leave nothing between them.
    #[error("limits from {low} to {high}: the first must not be greater, and neither NaN")]
    Limits {
        /// The lower one.
        low: f32,
        /// The upper one.
        high: f32,
    },
    /// What a joint does to one of its axes makes no sense.
    #[error("{axis:?}: {error}")]
    Axis {
        /// The axis.
        axis: JointAxis,
        /// What is wrong with it.
        error: Box<WorldError>,
    },
    /// A soft body without particles.
    #[error("a soft body needs particles: `rest` is empty")]
    EmptySoft,
    /// A list of a soft body that is not as long as there are particles.
    #[error("{field} has {length} elements, and there are {particles} particles: one for each is needed")]
    SoftLength {
        /// Which list.
        field: &'static str,
        /// Its length.
        length: usize,
        /// How many particles there are.
        particles: usize,
    },
    /// An element of a soft body is wrong.
    #[error("{kind}[{index}]: {error}")]
    Element {
        /// Which list.
        kind: &'static str,
        /// Which of its elements.
        index: usize,
        /// What is wrong with it.
        error: Box<WorldError>,
    },
    /// A soft body has no particle of that number.
    #[error("there is no particle {index}: the soft body has {count}")]
    NoParticle {
        /// The number, from 0.
        index: u32,
        /// How many there are.
        count: usize,
    },
    /// An element with the same particle twice.
    #[error("particle {index} is two corners of it; all must be different")]
    SameParticle {
        /// The particle.
        index: u32,
    },
    /// An element without extent.
    #[error("it has no area or volume at rest, next to the length of its sides")]
    FlatElement,
    /// A handle of a soft body that was removed.
    #[error("soft body {index} is no longer there")]
    StaleSoft {
        /// Its slot.
        index: u32,
    },
    /// A handle of an attachment that was removed.
    #[error("attachment {index} is no longer there")]
    StaleAttachment {
        /// Its slot.
        index: u32,
    },
    /// Too many bodies or colliders.
    #[error("a world holds at most {limit} {what}")]
    Full {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        limit: u32,
    },
}
