//! Errors of descriptions and edits. Each names the field or handle that is wrong; the world is then unchanged.

use super::BodyKind;
use super::joint::JointAxis;

/// Why a description or an edit was refused.
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
    /// A rotation is not a unit quaternion.
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
    /// A half-space is on a body that is not static: it has no volume and no mass.
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
    /// A change of a material also changes shape, pose, density or sensor.
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
    /// An edit does not apply to bodies of this kind.
    #[error("{what} is for {needs:?} bodies; body {index} is {is:?}")]
    WrongKind {
        /// The edit.
        what: &'static str,
        /// The body's slot.
        index: u32,
        /// What the body is.
        is: BodyKind,
        /// What it would have to be.
        needs: BodyKind,
    },
    /// The name already belongs to another body or joint.
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
    /// There is no world of that number.
    #[error("there is no world {world}: there are {count}, numbered from 0; add_worlds adds more")]
    NoWorld {
        /// The number.
        world: u32,
        /// How many there are.
        count: u32,
    },
    /// A joint of bodies in different worlds.
    #[error("a joint cannot hold bodies of two worlds, {a} and {b}: they never meet")]
    WorldsApart {
        /// The world of one.
        a: u32,
        /// The world of the other.
        b: u32,
    },
    /// A joint of two bodies that belong to all worlds, or of one with the world: neither moves.
    #[error("a joint needs a body that is in one of the worlds: what belongs to all of them does not move")]
    SharedJoint,
    /// A body that belongs to all worlds would move.
    #[error("what belongs to all worlds is static, not {is:?}: add it to each of them")]
    SharedKind {
        /// What it is.
        is: BodyKind,
    },
    /// A body that belongs to all worlds comes behind others.
    #[error("bodies that belong to all worlds are added before all others, or take the places of removed ones")]
    SharedLate,
    /// A world that is several already cannot be copied.
    #[error("copies are made of a single world; these are {count}: take one of them with alone()")]
    SeveralWorlds {
        /// How many they are.
        count: u32,
    },
    /// Soft bodies among several worlds.
    #[error("soft bodies can be in a world that is the only one, not in one of several")]
    SoftAmongWorlds,
    /// A world is reset to states of more or fewer bodies than it has.
    #[error("world {world} has {bodies} bodies, and states of {given} were given")]
    WrongCount {
        /// The world.
        world: u32,
        /// Its bodies.
        bodies: usize,
        /// How many states there were.
        given: usize,
    },
    /// A joint of a body with itself.
    #[error("a joint needs two bodies: both ends are body {index}")]
    SelfJoint {
        /// The body's slot.
        index: u32,
    },
    /// The lower limit is greater than the upper one, or one is NaN.
    #[error("limits from {low} to {high}: the first must not be greater, and neither NaN")]
    Limits {
        /// The lower one.
        low: f32,
        /// The upper one.
        high: f32,
    },
    /// The description of one axis of a joint is invalid.
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
    /// A handle of a soft body in another world.
    #[error(
        "the handle of soft body {index} is of another world: a world knows its own handles and those of its copies"
    )]
    ForeignSoft {
        /// Its slot there.
        index: u32,
    },
    /// A handle of an attachment in another world.
    #[error(
        "the handle of attachment {index} is of another world: a world knows its own handles and those of its copies"
    )]
    ForeignAttachment {
        /// Its slot there.
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
