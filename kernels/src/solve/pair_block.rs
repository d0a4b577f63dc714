//! What a joint locks, solved at once. Row by row, a light body on a long lever is lost: with its inertia I about its
//! middle and a lever r, its rows about angles and those of its point move each other by all but I / (I + m r^2), so
//! little is settled in an iteration, and what the warm start carries over into the next step grows.
//!
//! ```text
//!        A = J M^-1 J^T h^2           of the locked rows, at most three along lengths and three about angles
//!        A f = C                      what they lack
//!   s:   (a - b^T A^-1 b) f = c       a row beside them, which is solved as if they held:  b = J M^-1 J_s^T h^2
//! ```

use crate::gpu::glam::Vec3;
use crate::gpu::{Vector, abs, fmax};
use crate::solve::joints::{JointEnds, JointRow, Measure, UNBOUNDED, axis, role};
use crate::solve::pair::Mover;
use crate::solve::system::Systems;

/// A number for each of the six coordinates of a joint's point and frame.
#[derive(Clone, Copy)]
pub struct Six {
    /// Along x, y, z.
    pub lengths: Vec3,
    /// Twist, swing about y, swing about z.
    pub angles: Vec3,
}

impl Six {
    /// Nothing.
    #[inline(always)]
    pub fn none() -> Self {
        Self { lengths: Vec3::ZERO, angles: Vec3::ZERO }
    }

    /// One for a coordinate.
    #[inline(always)]
    pub fn one(of: u32) -> Self {
        let at = |a: u32| if of == a { 1.0 } else { 0.0 };
        Self {
            lengths: Vec3::new(at(axis::X), at(axis::Y), at(axis::Z)),
            angles: Vec3::new(at(axis::TWIST), at(axis::SWING_Y), at(axis::SWING_Z)),
        }
    }

    /// With so many times another added.
    #[inline(always)]
    pub fn plus(&self, other: &Self, times: f32) -> Self {
        Self { lengths: self.lengths + other.lengths * times, angles: self.angles + other.angles * times }
    }

    /// The sum of products.
    #[inline(always)]
    pub fn dot(&self, other: &Self) -> f32 {
        self.lengths.dot(other.lengths) + self.angles.dot(other.angles)
    }

    /// Each times that of the other.
    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        Self { lengths: self.lengths * other.lengths, angles: self.angles * other.angles }
    }
}

/// Whether a row is one of those that are solved at once.
#[inline(always)]
pub fn locks(row: &JointRow) -> bool {
    (row.role == role::LOCK) & (row.axis != axis::DISTANCE) & (row.bound >= UNBOUNDED)
}

/// The rows that a joint locks: what they move each other by.
#[derive(Clone, Copy)]
pub struct Block {
    /// One for each coordinate that is locked.
    locked: Six,
    along: [Vec3; 3],
    turn_a: [Vec3; 3],
    turn_b: [Vec3; 3],
    about: [Vec3; 3],
    system: Systems<f32>,
}

/// A part of every row's own by which it is softer: rows that say the same twice can be solved.
const LITTLE: f32 = 1e-6;

impl Block {
    /// Of a joint, with the coordinates that it locks; `square` is that of the step.
    #[inline(always)]
    pub fn new(ends: &JointEnds, a: &Mover, b: &Mover, locked: &Six, square: f32) -> Self {
        let along = [ends.frame.apply(Vec3::X), ends.frame.apply(Vec3::Y), ends.frame.apply(Vec3::Z)];
        let turn_a = [ends.lever_a.cross(along[0]), ends.lever_a.cross(along[1]), ends.lever_a.cross(along[2])];
        let turn_b = [ends.reach_b.cross(along[0]), ends.reach_b.cross(along[1]), ends.reach_b.cross(along[2])];
        let turn = |axis: u32| ends.measure(axis).turn_a;
        let about = [turn(axis::TWIST), turn(axis::SWING_Y), turn(axis::SWING_Z)];
        let easy_a = [a.turned(turn_a[0]), a.turned(turn_a[1]), a.turned(turn_a[2])];
        let easy_b = [b.turned(turn_b[0]), b.turned(turn_b[1]), b.turned(turn_b[2])];
        let both = |v: Vec3| a.turned(v) + b.turned(v);
        let easy = [both(about[0]), both(about[1]), both(about[2])];
        // Axes along lengths are unit vectors at right angles.
        let mass = a.inverse_mass() + b.inverse_mass();
        let point = |i: usize, j: usize| turn_a[i].dot(easy_a[j]) + turn_b[i].dot(easy_b[j]);
        let cross = |j: usize| {
            let t = about[j];
            let towards = |i: usize| t.dot(easy_a[i] + easy_b[i]);
            Vec3::new(towards(0), towards(1), towards(2))
        };
        let frame = |i: usize, j: usize| about[i].dot(easy[j]);
        let (l, t) = (locked.lengths, locked.angles);
        // What is not locked is by itself, and asks for nothing.
        let own = |on: Vec3, of: Vec3| (on * of * (1.0 + LITTLE)) * square + (Vec3::ONE - on) + Vec3::splat(1e-30);
        let pairs = |v: Vec3| Vec3::new(v.x * v.y, v.x * v.z, v.y * v.z);
        let lengths = Vec3::new(point(0, 0) + mass, point(1, 1) + mass, point(2, 2) + mass);
        let angles = Vec3::new(frame(0, 0), frame(1, 1), frame(2, 2));
        let mixed = |j: usize, on: f32| Vector::splat(cross(j) * l * (on * square));
        let none = Vector::splat(Vec3::ZERO);
        let system = Systems {
            ll: Vector::splat(own(l, lengths)),
            ll_off: Vector::splat(pairs(l) * Vec3::new(point(0, 1), point(0, 2), point(1, 2)) * square),
            al: [mixed(0, t.x), mixed(1, t.y), mixed(2, t.z)],
            aa: Vector::splat(own(t, angles)),
            aa_off: Vector::splat(pairs(t) * Vec3::new(frame(0, 1), frame(0, 2), frame(1, 2)) * square),
            force: none,
            torque: none,
        };
        Self { locked: *locked, along, turn_a, turn_b, about, system }
    }

    /// The forces that make up for what the locked rows lack.
    #[inline(always)]
    pub fn solved(&self, lack: &Six) -> Six {
        let lack = lack.times(&self.locked);
        let (force, torque) = (Vector::splat(lack.lengths), Vector::splat(lack.angles));
        let found = Systems { force, torque, ..self.system }.ldl();
        let (lengths, angles) = (found.linear, found.angular);
        Six { lengths: Vec3::new(lengths.x, lengths.y, lengths.z), angles: Vec3::new(angles.x, angles.y, angles.z) }
    }

    /// By how much a force along another row moves the locked ones.
    #[inline(always)]
    pub fn beside(&self, measure: &Measure, a: &Mover, b: &Mover, square: f32) -> Six {
        let (easy_a, easy_b) = (a.turned(measure.turn_a), b.turned(measure.turn_b));
        let line = measure.linear * (a.inverse_mass() + b.inverse_mass());
        let length = |i: usize| line.dot(self.along[i]) + easy_a.dot(self.turn_a[i]) + easy_b.dot(self.turn_b[i]);
        let angle = |i: usize| (easy_a + easy_b).dot(self.about[i]);
        let all = Six {
            lengths: Vec3::new(length(0), length(1), length(2)) * square,
            angles: Vec3::new(angle(0), angle(1), angle(2)) * square,
        };
        all.times(&self.locked)
    }

    /// Moves both bodies by forces along the locked rows.
    #[inline(always)]
    pub fn push(&self, forces: &Six, a: &mut Mover, b: &mut Mover, times: f32) {
        let of = forces.times(&self.locked);
        let (f, t) = (of.lengths * times, of.angles * times);
        let sum = |v: &[Vec3; 3], by: Vec3| v[0] * by.x + v[1] * by.y + v[2] * by.z;
        let (line, about) = (sum(&self.along, f), sum(&self.about, t));
        a.push(line, sum(&self.turn_a, f) + about);
        b.push(-line, -(sum(&self.turn_b, f) + about));
    }
}

/// What is left of a row's own when the locked ones hold; none that they hold as well is without anything.
#[inline(always)]
pub fn left(own: f32, taken: f32) -> f32 {
    fmax(own - taken, fmax(LITTLE * abs(own), 1e-30))
}
