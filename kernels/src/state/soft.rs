//! Structs of soft bodies: particles, the elements between them, and their attachments to rigid bodies.
//!
//! Connections do not change from step to step, so the host writes them once: particles sorted by colour, and for each
//! a list of the elements it is a corner of. A step only changes the states.

use crate::gpu::glam::Vec3;
use crate::layout;
use crate::state::rigid::NONE;

layout! {
    /// A particle: a node of three degrees of freedom.
    pub struct Particle {
        /// Kilograms; 0 for one that is no longer there.
        pub mass: f32,
        /// How strongly gravity acts on it.
        pub gravity_scale: f32,
        /// Stiffness with which its elements hold it at rest, N/m.
        pub stiffness: f32,
        /// Distance to its neighbours, metres: the length that errors of attachments are measured against.
        pub length: f32,
        /// The soft body it is of.
        pub owner: u32,
        /// Where its entries begin.
        pub first: u32,
        /// Where they end.
        pub end: u32,
        /// Distance that contacts keep from it, metres; below 0 for one that touches nothing.
        pub radius: f32,
        /// Coefficient of friction.
        pub friction: f32,
        /// Groups it belongs to.
        pub groups: u32,
        /// Groups it collides with.
        pub mask: u32,
        /// The user's force on it, newtons.
        pub force: Vec3,
    }

    /// Which particles are a soft body.
    pub struct SoftRange {
        /// The first.
        pub first: u32,
        /// How many; 0 for one that is no longer there.
        pub count: u32,
        /// Kilograms of all of them.
        pub mass: f32,
    }

    /// A line between two particles.
    pub struct Spring {
        /// One end.
        pub a: u32,
        /// The other.
        pub b: u32,
        /// Metres.
        pub rest: f32,
        /// Newtons a metre; [`HARD`] and more: it keeps its length, whatever pulls.
        pub stiffness: f32,
        /// Newton seconds a metre, of the rate of its length.
        pub damping: f32,
    }

    /// State of a spring in the solver.
    pub struct SpringState {
        /// Multiplier, newtons; only hard springs have one.
        pub lambda: f32,
        /// The stiffness it has now (Eq. 16).
        pub k: f32,
        /// One unit of stiffness: the reduced mass of its ends over dt squared.
        pub unit: f32,
        /// Error at the start of the step that is left alone in it (Eq. 18), metres.
        pub left: f32,
    }

    /// A triangle of cloth, and its rest shape.
    pub struct Membrane {
        /// Corners.
        pub a: u32,
        /// Corners.
        pub b: u32,
        /// Corners.
        pub c: u32,
        /// Of the first side (a to b) in the coordinates of the rest shape: column of the inverse of its edges.
        pub b0: f32,
        /// The same, second coordinate.
        pub b1: f32,
        /// Of the second side (a to c).
        pub c0: f32,
        /// The same, second coordinate.
        pub c1: f32,
        /// At rest, square metres.
        pub area: f32,
        /// Shear modulus times thickness, N/m.
        pub mu: f32,
        /// The other Lame coefficient times thickness, N/m.
        pub lambda: f32,
        /// Of the rate of its metric, N s/m: see [`membrane`](crate::solve::soft::membrane).
        pub damping: f32,
    }

    /// Two triangles that share a side, and the angle between them.
    pub struct Hinge {
        /// One end of the side.
        pub a: u32,
        /// The other.
        pub b: u32,
        /// The corner to the left of it.
        pub c: u32,
        /// The corner to the right.
        pub d: u32,
        /// At rest, radians.
        pub angle: f32,
        /// Newton metres a radian.
        pub stiffness: f32,
        /// Newton metre seconds, of the rate of the angle.
        pub damping: f32,
    }

    /// A tetrahedron, and its rest shape: rows of the inverse of its edges.
    pub struct Tetrahedron {
        /// Corners.
        pub a: u32,
        /// Corners.
        pub b: u32,
        /// Corners.
        pub c: u32,
        /// Corners.
        pub d: u32,
        /// Of the edge from a to b.
        pub wb: Vec3,
        /// Of the edge from a to c.
        pub wc: Vec3,
        /// Of the edge from a to d.
        pub wd: Vec3,
        /// At rest, cubic metres.
        pub volume: f32,
        /// Shear modulus, pascals.
        pub mu: f32,
        /// The other Lame coefficient.
        pub lambda: f32,
        /// Of the rate of its metric, pascal seconds.
        pub damping: f32,
    }

    /// Attaches a particle to a body or to the world.
    pub struct Attachment {
        /// The particle.
        pub particle: u32,
        /// The body, or none: the world.
        pub body: u32,
        /// Where, in the space of the body's principal axes, or in the world.
        pub anchor: Vec3,
        /// Force at which it breaks, newtons.
        pub max_force: f32,
        /// Newtons a metre; [`HARD`] and more: it does not give way.
        pub stiffness: f32,
        /// Not 0: there is one in this slot.
        pub there: u32,
    }

    /// State of an attachment in the solver.
    pub struct AttachmentState {
        /// Multiplier: force on its place towards the particle, newtons; only hard attachments have one.
        pub lambda: Vec3,
        /// The stiffness it has now.
        pub k: f32,
        /// As in [`SpringState`].
        pub unit: f32,
        /// As in [`SpringState`].
        pub left: Vec3,
        /// Not 0: it has let go.
        pub broken: u32,
        /// The force on the particle in the last step, newtons.
        pub force: Vec3,
    }

    /// A particle that touches a collider, in this step. Each has room for [`SOFT_CONTACTS`]; those that are there come
    /// first.
    pub struct SoftContact {
        /// The collider, or none: there is no contact in this place.
        pub collider: u32,
        /// Its body.
        pub body: u32,
        /// Out of the collider.
        pub normal: Vec3,
        /// Where the particle meets it, in the space of the body's principal axes.
        pub point: Vec3,
        /// Gap or overlap, and way from the anchor, at the start of the step, without what is left alone of them (Eq.
        /// 18).
        pub error: Vec3,
        /// The force on the particle besides that of the stiffness, newtons.
        pub lambda: Vec3,
        /// Where the particle was on the body when it began to stick, if it sticks.
        pub anchor: Vec3,
        /// The stiffness it has now. Between `soft_touch` and `soft_meet`: the gap.
        pub k: f32,
        /// As in [`SpringState`].
        pub unit: f32,
        /// Highest stiffness.
        pub most: f32,
        /// Coefficient of friction.
        pub friction: f32,
        /// Not 0: it does not slide.
        pub sticks: u32,
        /// Of the first one of a particle: contacts that there was no room for.
        pub dropped: u32,
    }

    /// A contact of a particle between steps.
    pub struct SoftCached {
        /// One more than the collider's slot; 0 when there is no contact in this place.
        pub collider: u32,
        /// Which of the colliders that had this slot it is.
        pub generation: u32,
        /// On the particle, newtons.
        pub force: Vec3,
        /// Where the particle was on the body when it began to stick, in the space of the principal axes.
        pub anchor: Vec3,
        /// The stiffness it had.
        pub k: f32,
        /// Not 0: it did not slide.
        pub sticks: u32,
        /// As in [`SoftContact`].
        pub dropped: u32,
    }

    /// Sum of the forces and stiffness of particles on a body: the parts of a [`System`](crate::solve::system::System).
    pub struct SoftPull {
        /// Diagonal of the linear block.
        pub ll: Vec3,
        /// Its off-diagonal.
        pub ll_off: Vec3,
        /// First row of the angular-linear block.
        pub al0: Vec3,
        /// Second row.
        pub al1: Vec3,
        /// Third row.
        pub al2: Vec3,
        /// Diagonal of the angular block.
        pub aa: Vec3,
        /// Its off-diagonal.
        pub aa_off: Vec3,
        /// Force.
        pub force: Vec3,
        /// Torque.
        pub torque: Vec3,
    }
}

/// Stiffness from which on a spring or an attachment is hard: a multiplier holds it.
pub const HARD: f32 = 1e30;

/// Contacts that a particle has room for: a corner of three walls, and one more. Those that are farthest away are
/// dropped and counted.
pub const SOFT_CONTACTS: u32 = 4;

impl SoftContact {
    /// No contact.
    #[inline(always)]
    pub fn none() -> Self {
        Self {
            collider: NONE,
            body: 0,
            normal: Vec3::ZERO,
            point: Vec3::ZERO,
            error: Vec3::ZERO,
            lambda: Vec3::ZERO,
            anchor: Vec3::ZERO,
            k: 0.0,
            unit: 0.0,
            most: 0.0,
            friction: 0.0,
            sticks: 0,
            dropped: 0,
        }
    }
}

/// What an entry of a particle is about: kind, corner and number in one word.
pub mod soft_entry {
    /// A [`Spring`](super::Spring).
    pub const SPRING: u32 = 0;
    /// A [`Membrane`](super::Membrane).
    pub const MEMBRANE: u32 = 1;
    /// A [`Hinge`](super::Hinge).
    pub const HINGE: u32 = 2;
    /// A [`Tetrahedron`](super::Tetrahedron).
    pub const TETRAHEDRON: u32 = 3;
    /// An [`Attachment`](super::Attachment).
    pub const ATTACHMENT: u32 = 4;
    /// Bits of the number.
    pub const BITS: u32 = 27;

    /// An entry.
    #[inline(always)]
    pub fn pack(kind: u32, corner: u32, index: u32) -> u32 {
        kind << (BITS + 2) | corner << BITS | index
    }

    /// Its kind.
    #[inline(always)]
    pub fn kind(entry: u32) -> u32 {
        entry >> (BITS + 2)
    }

    /// Which corner the particle is.
    #[inline(always)]
    pub fn corner(entry: u32) -> u32 {
        (entry >> BITS) & 3
    }

    /// The number of the element.
    #[inline(always)]
    pub fn index(entry: u32) -> u32 {
        entry & ((1 << BITS) - 1)
    }
}

/// Words of a body's row of what holds particles to it: where it begins and where it ends.
pub const SOFT_ROW_WORDS: u32 = 2;
