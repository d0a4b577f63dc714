//! What the iterations read of a body besides its motion: target, start, mass, inertia and the range of its contacts,
//! gathered in the order in which the iterations visit the bodies.
//!
//! The bodies of a colour lie scattered over the world, and reading each of these from a list of its own would cost a
//! cache line each. `predict` gathers them in the order of the colours: a sweep reads them sequentially, and
//! neighbouring lanes of a GPU read neighbouring memory.

use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, Read, Store, Vector, Window, WindowMut, Write, sin_cos, sqrt};
#[cfg(not(target_arch = "spirv"))]
use crate::gpu::{Word, Words};
use crate::math::{Pose, Rotation, vector, words};
use crate::solve::turns::{PREDICTED_HELD, PREDICTED_ROLLING, TurnEnds, TurnForm, Turns, revolution_axis};
use crate::state::rigid::EntryRange;

/// Vectors of a body's record.
pub mod word {
    /// Way from the start to its target, and start of its row.
    pub const WAY: u32 = 0;
    /// Rotation of its target.
    pub const TURN: u32 = 1;
    /// Position at the start of the step, and end of its row.
    pub const POSITION: u32 = 2;
    /// Rotation at the start of the step.
    pub const ROTATION: u32 = 3;
    /// Principal inertia and mass.
    pub const MASS: u32 = 4;
    /// Number of vectors.
    pub const COUNT: u32 = 5;
}

/// Meaning of each of the 4 [`word::COUNT`] words of a body.
#[cfg(not(target_arch = "spirv"))]
pub fn record_words() -> Vec<Word> {
    let way = [Vec3::within("way"), u32::within("row.start"), Rotation::within("turn")];
    let start = [Vec3::within("position"), u32::within("row.end"), Rotation::within("rotation")];
    let mass = [Vec3::within("inertia"), f32::within("mass")];
    [way.concat(), start.concat(), mass.concat()].concat()
}
/// The words of a body's record.
pub type Frame<'a> = Window<'a, UVec4, { word::COUNT }>;

/// The same in a list that may be written.
pub type FrameMut<'a> = WindowMut<'a, UVec4, { word::COUNT }>;

/// The gathered data of a body.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "spirv"), derive(Debug, PartialEq))]
pub struct SolverBody {
    /// Inertial target (Eq. 2): position as the way from the start, metres, and rotation.
    pub target: Pose,
    /// Pose at the start of the step. For a body that spins fast, the rotation holds the predicted rotation vector
    /// instead: see [`TurnEnds`].
    pub start: Pose,
    /// Principal moments of inertia, kg m^2.
    pub inertia: Vec3,
    /// Mass, kilograms; 0 for a body that must not be moved.
    pub mass: f32,
}

#[inline(always)]
fn rotation(words: UVec4) -> Rotation {
    Rotation::new(vector(words), f32::from_bits(words.w))
}

impl SolverBody {
    /// The record at a place.
    #[inline(always)]
    pub fn at<'a>(solver_bodies: &Read<'a, UVec4>, place: u32) -> Frame<'a> {
        solver_bodies.window(place.wrapping_mul(word::COUNT))
    }

    /// Unpacks a record.
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

    /// Mass of the body at a place as the iterations see it, kilograms. Damping makes it larger than the true mass.
    #[inline(always)]
    pub fn mass(solver_bodies: &impl Load<UVec4>, place: u32) -> f32 {
        f32::from_bits(solver_bodies.at(place.wrapping_mul(word::COUNT).wrapping_add(word::MASS)).w)
    }

    /// Unpacks only the target.
    #[inline(always)]
    pub fn target(frame: &Frame<'_>) -> Pose {
        Pose { position: vector(frame.at(word::WAY)), rotation: rotation(frame.at(word::TURN)) }
    }

    /// Rotation vector by which a fast body with joints really turns in a step, when its multipliers turned it by
    /// `turned`.
    ///
    /// Joints only see the final rotation of a body. If the axis of the spin w is tilted by d, the final rotation
    /// changes by J d, with J the left Jacobian of the rotation by w. Subtracting J d from w would not undo d: beyond
    /// half a turn it tilts the axis more and more. Multiplying with J transposed subtracts J^T J d, which always has a
    /// part along d, and leaves the component along the axis unchanged.
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

    /// Rotation vector of a fast body of revolution with its spin about the final axis; `turned` has it about the axis
    /// at the start, which is what contacts use.
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

    /// The range of its contact entries, clamped to a list of `room` entries.
    #[inline(always)]
    pub fn row(frame: &Frame<'_>, room: u32) -> EntryRange {
        EntryRange { start: frame.at(word::WAY).w, end: frame.at(word::POSITION).w }.within(room)
    }

    /// Stores it at a place, together with the body's row.
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

    /// Rotation vector from its target to `rotation`, when it has turned by `turned` since the start.
    #[inline(always)]
    pub fn lag(&self, rotation: &Rotation, turned: Vec3) -> Vec3 {
        let turned = Vector::new(turned.x, turned.y, turned.z);
        let inertia = Vector::new(self.inertia.x, self.inertia.y, self.inertia.z);
        let lag = self.turn_ends().lag(TurnForm::EXACT, Turns::one(rotation), turned, inertia);
        Vec3::new(lag.x, lag.y, lag.z)
    }

    /// Orientation of its principal axes while the step is solved, see [`TurnEnds::inertia_frame`].
    #[inline(always)]
    pub fn inertia_frame(&self, rotation: &Rotation) -> Rotation {
        let axes = self.turn_ends().inertia_frame(TurnForm::EXACT, Turns::one(rotation));
        Rotation::new(Vec3::new(axes.v.x, axes.v.y, axes.v.z), axes.s)
    }

    /// Rotation vector since the start, when it was `turned` before and `step` brought it to `rotation`.
    #[inline(always)]
    pub fn turned(&self, rotation: &Rotation, turned: Vec3, step: Vec3) -> Vec3 {
        let vector = |v: Vec3| Vector::new(v.x, v.y, v.z);
        let way = self.turn_ends().turned(TurnForm::EXACT, Turns::one(rotation), vector(turned), vector(step));
        Vec3::new(way.x, way.y, way.z)
    }

    /// Sets the mass of the body at a place to 0, so that no later pass moves it.
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
        // SAFETY: as many elements as there are, which live until the end of the test and are not written while views
        // read.
        let view = |memory: &Vec<UVec4>| unsafe { Read::new(memory.as_ptr(), memory.len()) };
        assert_eq!(SolverBody::load(&SolverBody::at(&view(&memory), 1)), frame);
        let row = SolverBody::row(&SolverBody::at(&view(&memory), 1), 9);
        assert_eq!((row.start, row.end), (8, 9));
        SolverBody::hold(&mut memory, 1);
        assert_eq!(SolverBody::load(&SolverBody::at(&view(&memory), 1)).mass, 0.0);
    }
}
