//! Structs of soft bodies: particles, what holds them together, and what holds them to rigid bodies.
//!
//! Who is connected to whom does not change from step to step, so the host says it once: particles sorted by colour, and
//! for each a list of the elements it is a corner of. What a step changes are the states.

use crate::gpu::glam::Vec3;
use crate::layout;

layout! {
    /// A particle: a node of three degrees of freedom.
    pub struct Particle {
        /// Kilograms; 0 for one that is no longer there.
        pub mass: f32,
        /// How strongly gravity acts on it.
        pub gravity_scale: f32,
        /// How stiffly its elements hold it at rest, N/m.
        pub stiffness: f32,
        /// Distance to what it is connected with, metres: what errors of what holds it are measured against.
        pub length: f32,
        /// The soft body it is of.
        pub owner: u32,
        /// Where its entries begin.
        pub first: u32,
        /// Where they end.
        pub end: u32,
        /// Distance that contacts keep from it, metres.
        pub radius: f32,
        /// Coefficient of friction.
        pub friction: f32,
        /// What the user lets act on it, newtons.
        pub force: Vec3,
    }

    /// Which particles are a soft body.
    pub struct SoftRange {
        /// The first.
        pub first: u32,
        /// How many; 0 for one that is no longer there.
        pub count: u32,
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

    /// What the solver knows of a spring.
    pub struct SpringState {
        /// What it pulls with besides its stiffness, newtons; of hard ones only.
        pub lambda: f32,
        /// The stiffness it has now (Eq. 16).
        pub k: f32,
        /// What stiffness is measured in: the mass it would move, over the square of the time step.
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

    /// What holds a particle to a body or to the world.
    pub struct Attachment {
        /// The particle.
        pub particle: u32,
        /// The body, or none: the world.
        pub body: u32,
        /// Where, in the space of the body's principal axes, or in the world.
        pub anchor: Vec3,
        /// Newtons that it lets go at.
        pub max_force: f32,
        /// Newtons a metre; [`HARD`] and more: it does not give way.
        pub stiffness: f32,
        /// Not 0: there is one in this slot.
        pub there: u32,
    }

    /// What the solver knows of an attachment.
    pub struct AttachmentState {
        /// What it pulls the particle away from its place with besides its stiffness, newtons.
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

    /// What particles ask of a body: the parts of a [`System`](crate::solve::system::System), one after the other.
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

/// Stiffness from which on a spring or an attachment is held by a multiplier instead.
pub const HARD: f32 = 1e30;

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
