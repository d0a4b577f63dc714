//! What the iterations need to know of a body besides how it moves, in the order in which they come to the bodies.
//!
//! A colour's bodies lie all over the world, and what they bring along in as many lists would cost a line of memory each. Gathered
//! by `predict` in the order of the colours, a sweep reads them from one end to the other, and neighbouring lanes of a GPU read
//! neighbouring memory.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Read, Store, Vector, Window, WindowMut, Write, sin_cos, sqrt};
#[cfg(not(target_arch = "spirv"))]
use crate::gpu::{Word, Words};
use crate::math::{Pose, Rotation, vector, words};
use crate::solve::turns::{PREDICTED_HELD, PREDICTED_ROLLING, TurnEnds, TurnForm, Turns, revolution_axis};
use crate::state::rigid::EntryRange;

/// Vectors of a body's frame.
pub mod word {
    /// The way to its target, and where its row starts.
    pub const WAY: u32 = 0;
    /// Rotation of its target.
    pub const TURN: u32 = 1;
    /// Where it started, and where its row ends.
    pub const POSITION: u32 = 2;
    /// Rotation it started with.
    pub const ROTATION: u32 = 3;
    /// Principal inertia and mass.
    pub const MASS: u32 = 4;
    /// All.
    pub const COUNT: u32 = 5;
}

/// What the 4 [`word::COUNT`] words of a body are.
#[cfg(not(target_arch = "spirv"))]
pub fn record_words() -> Vec<Word> {
    let way = [Vec3::within("way"), u32::within("row.start"), Rotation::within("turn")];
    let start = [Vec3::within("position"), u32::within("row.end"), Rotation::within("rotation")];
    let mass = [Vec3::within("inertia"), f32::within("mass")];
    [way.concat(), start.concat(), mass.concat()].concat()
}
/// The words of a body's frame.
pub type Frame<'a> = Window<'a, UVec4, { word::COUNT }>;

/// The same in a list that is written.
pub type FrameMut<'a> = WindowMut<'a, UVec4, { word::COUNT }>;

/// What is gathered of a body.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "spirv"), derive(Debug, PartialEq))]
pub struct SolverBody {
    /// Where it would go on its own: the way from the start, and the rotation.
    pub target: Pose,
    /// Where it started. For a body that spins fast, the rotation is the vector that it was predicted to turn by: see
    /// [`TurnEnds`].
    pub start: Pose,
    /// Inertia about the principal axes.
    pub inertia: Vec3,
    /// Kilograms; 0 for a body that is not to be moved.
    pub mass: f32,
}

#[inline(always)]
fn rotation(words: UVec4) -> Rotation {
    Rotation::new(vector(words), f32::from_bits(words.w))
}

impl SolverBody {
    /// The frame at a place.
    #[inline(always)]
    pub fn at<'a>(solver_bodies: &Read<'a, UVec4>, place: u32) -> Frame<'a> {
        solver_bodies.window(place.wrapping_mul(word::COUNT))
    }

    /// What a frame says.
    #[inline(always)]
    pub fn load(frame: &Frame<'_>) -> Self {
        let at = |word: u32| frame.at(word);
        let mass = at(word::MASS);
        Self {
            target: Self::target(frame),
            start: Pose { position: vector(at(word::POSITION)), rotation: rotation(at(word::ROTATION)) },
            inertia: vector(mass),
            mass: f32::from_bits(mass.w),
        }
    }

    /// How heavy the body at a place is for the iterations, kilograms: damping makes it count for more.
    #[inline(always)]
    pub fn mass(solver_bodies: &impl Load<UVec4>, place: u32) -> f32 {
        f32::from_bits(solver_bodies.at(place.wrapping_mul(word::COUNT).wrapping_add(word::MASS)).w)
    }

    /// The target in a frame.
    #[inline(always)]
    pub fn target(frame: &Frame<'_>) -> Pose {
        Pose { position: vector(frame.at(word::WAY)), rotation: rotation(frame.at(word::TURN)) }
    }

    /// What a fast body with joints really turned by in a step, when its multipliers turned it by `turned`.
    ///
    /// Joints see where a body came to. Tilted by d from its axis, its spin w brings it there with J d only, J the left
    /// Jacobian of the rotation by w, and to take back J d is not to take back d: beyond half a turn that would tilt it
    /// more and more. J transposed takes back J^T J d, which is always part of d, and the axis itself is not changed.
    #[inline(always)]
    pub fn held_turn(solver_bodies: &impl Load<UVec4>, place: u32, turned: Vec3) -> Vec3 {
        let start = solver_bodies.at(place.wrapping_mul(word::COUNT).wrapping_add(word::ROTATION));
        let mut found = turned;
        if f32::from_bits(start.w) >= PREDICTED_HELD {
            let predicted = vector(start);
            let angle = sqrt(predicted.length_squared());
            let axis = predicted * (1.0 / angle);
            let (sine, cosine) = sin_cos(angle);
            let (more, part) = (turned - predicted, sine / angle);
            let along = axis * (axis.dot(more) * (1.0 - part));
            found = predicted + more * part + along - axis.cross(more) * ((1.0 - cosine) / angle);
        }
        found
    }

    /// The spin of a fast body of revolution goes with its axis: what is told to contacts has it about that of the start.
    #[inline(always)]
    pub fn rolling_turn(
        solver_bodies: &impl Load<UVec4>,
        place: u32,
        principal: Vec3,
        (start, end): (&Rotation, &Rotation),
        turned: Vec3,
    ) -> Vec3 {
        let predicted = solver_bodies.at(place.wrapping_mul(word::COUNT).wrapping_add(word::ROTATION));
        let own = revolution_axis(principal);
        let (from, to) = (start.apply(own), end.apply(own));
        let with_axis = turned + (to - from) * from.dot(turned);
        if f32::from_bits(predicted.w) == PREDICTED_ROLLING { with_axis } else { turned }
    }

    /// The row in a frame, in a list of `room` entries.
    #[inline(always)]
    pub fn row(frame: &Frame<'_>, room: u32) -> EntryRange {
        EntryRange { start: frame.at(word::WAY).w, end: frame.at(word::POSITION).w }.within(room)
    }

    /// Puts it to a place, with the row of the body.
    #[inline(always)]
    pub fn store(&self, solver_bodies: &mut Write<'_, UVec4>, place: u32, row: EntryRange) {
        let mut frame: FrameMut<'_> = solver_bodies.window_mut(place.wrapping_mul(word::COUNT));
        let mut put = |word: u32, v: Vec3, w: u32| frame.put(word, words(v, w));
        let (turn, rotation) = (self.target.rotation, self.start.rotation);
        put(word::WAY, self.target.position, row.start);
        put(word::TURN, turn.v(), turn.s.to_bits());
        put(word::POSITION, self.start.position, row.end);
        put(word::ROTATION, rotation.v(), rotation.s.to_bits());
        put(word::MASS, self.inertia, self.mass.to_bits());
    }

    #[inline(always)]
    fn turn_ends(&self) -> TurnEnds<f32> {
        TurnEnds { start: Turns::one(&self.start.rotation), target: Turns::one(&self.target.rotation) }
    }

    /// The rotation vector from its target to `rotation`, to which it has turned by `turned`.
    #[inline(always)]
    pub fn lag(&self, rotation: &Rotation, turned: Vec3) -> Vec3 {
        let turned = Vector::new(turned.x, turned.y, turned.z);
        let inertia = Vector::new(self.inertia.x, self.inertia.y, self.inertia.z);
        let lag = self.turn_ends().lag(TurnForm::EXACT, Turns::one(rotation), turned, inertia);
        Vec3::new(lag.x, lag.y, lag.z)
    }

    /// Where its principal axes are while the step is solved, see [`TurnEnds::inertia_frame`].
    #[inline(always)]
    pub fn inertia_frame(&self, rotation: &Rotation) -> Rotation {
        let axes = self.turn_ends().inertia_frame(TurnForm::EXACT, Turns::one(rotation));
        Rotation::new(Vec3::new(axes.v.x, axes.v.y, axes.v.z), axes.s)
    }

    /// How far it has turned when it was turned by `turned` before, and by `step` since, to `rotation`.
    #[inline(always)]
    pub fn turned(&self, rotation: &Rotation, turned: Vec3, step: Vec3) -> Vec3 {
        let vector = |v: Vec3| Vector::new(v.x, v.y, v.z);
        let way = self.turn_ends().turned(TurnForm::EXACT, Turns::one(rotation), vector(turned), vector(step));
        Vec3::new(way.x, way.y, way.z)
    }

    /// Says that the body at a place is not to be moved any more.
    #[inline(always)]
    pub fn hold(solver_bodies: &mut impl Store<UVec4>, place: u32) {
        solver_bodies.put(place.wrapping_mul(word::COUNT).wrapping_add(word::MASS), UVec4::ZERO);
    }
}

#[cfg(all(test, not(target_arch = "spirv")))]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_body_are_where_they_are_stored() {
        let words = record_words();
        assert_eq!(words.len(), 4 * word::COUNT as usize);
        let first = |name: &str| words.iter().position(|w| w.path.starts_with(name)).unwrap() as u32 / 4;
        let found = ["way", "turn", "position", "rotation", "inertia"].map(first);
        assert_eq!(found, [word::WAY, word::TURN, word::POSITION, word::ROTATION, word::MASS]);
    }

    #[test]
    fn a_place_holds_frame_and_row() {
        let pose = |k: f32| Pose { position: Vec3::new(k, 2.0, 3.0), rotation: Rotation::exp(Vec3::Y * k) };
        let frame = SolverBody { target: pose(0.5), start: pose(0.25), inertia: Vec3::new(4.0, 5.0, 6.0), mass: 7.0 };
        let mut memory = vec![UVec4::ZERO; 2 * word::COUNT as usize];
        // SAFETY: as many elements as there are, which live until the end of the test.
        let mut list = unsafe { Write::new(memory.as_mut_ptr(), memory.len()) };
        frame.store(&mut list, 1, EntryRange { start: 8, end: 9 });
        assert!(memory[..word::COUNT as usize].iter().all(|v| *v == UVec4::ZERO), "the first place is another's");
        // SAFETY: as many elements as there are, which live until the end of the test and are not written while views read.
        let view = |memory: &Vec<UVec4>| unsafe { Read::new(memory.as_ptr(), memory.len()) };
        assert_eq!(SolverBody::load(&SolverBody::at(&view(&memory), 1)), frame);
        let row = SolverBody::row(&SolverBody::at(&view(&memory), 1), 9);
        assert_eq!((row.start, row.end), (8, 9));
        SolverBody::hold(&mut memory, 1);
        assert_eq!(SolverBody::load(&SolverBody::at(&view(&memory), 1)).mass, 0.0);
    }
}
