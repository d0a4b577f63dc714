//! Rotations of several bodies at once, and the exponential and logarithm that the solver moves bodies with. Exact forms:
//! first-order ones lose a fifth of a body's spin every second at 60 Hz.

use crate::gpu::glam::Vec3;
use crate::gpu::{OfBodies, Vector, abs, fmax, quadrant_angle, sin_cos};
use crate::math::Rotation;
use crate::state::rigid::{Params, option};
use core::f32::consts::PI;

/// Unit quaternions: vector part and scalar.
#[derive(Clone, Copy)]
pub struct Turns<F> {
    /// Vector part.
    pub v: Vector<F>,
    /// Scalar part.
    pub s: F,
}

/// Squares of angles up to here are small: the series below are good to the last bits.
const SMALL: f32 = 0.25;
/// Squares of the sine of half the angle up to here are small.
const SMALL_SINE: f32 = 0.01;

impl<F: OfBodies> Turns<F> {
    /// One of every body.
    #[inline(always)]
    pub fn gather<T: Copy>(all: &F::Lanes<T>, value: impl Fn(&T) -> Rotation) -> Self {
        Self { v: Vector::gather(all, |t| value(t).v()), s: F::gather(all, |t| value(t).s) }
    }

    /// First `other`, then `self`.
    #[inline(always)]
    pub fn then_after(self, other: Self) -> Self {
        Self {
            v: other.v * self.s + self.v * other.s + self.v.cross(other.v),
            s: self.s * other.s - self.v.dot(other.v),
        }
    }

    /// The other way round.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        Self { v: -self.v, s: self.s }
    }

    /// Length one again.
    #[inline(always)]
    pub fn normalized(self) -> Self {
        let scale = F::splat(1.0) / (self.v.dot(self.v) + self.s * self.s).root();
        Self { v: self.v * scale, s: self.s * scale }
    }

    /// Where the axes of body space are in world space.
    #[inline(always)]
    pub fn axes(self) -> [Vector<F>; 3] {
        let (v, s, two, one) = (self.v, self.s, F::splat(2.0), F::splat(1.0));
        let (squares, mixed, turned) = (v.times(v) * two, v.mixed() * two, v * (s * two));
        [
            Vector::new(one - (squares.y + squares.z), mixed.x + turned.z, mixed.y - turned.y),
            Vector::new(mixed.x - turned.z, one - (squares.x + squares.z), mixed.z + turned.x),
            Vector::new(mixed.y + turned.y, mixed.z - turned.x, one - (squares.x + squares.y)),
        ]
    }

    /// The rotation by a vector: its length is the angle, its direction the axis.
    #[inline(always)]
    pub fn exp(w: Vector<F>) -> Self {
        let c = F::splat;
        let x = w.dot(w);
        // sin(a/2)/a and cos(a/2) in powers of the angle's square.
        let mut sine = c(0.5) - x * (c(1.0 / 48.0) - x * (c(1.0 / 3840.0) - x * c(1.0 / 645_120.0)));
        let mut s =
            c(1.0) - x * (c(0.125) - x * (c(1.0 / 384.0) - x * (c(1.0 / 46_080.0) - x * c(1.0 / 10_321_920.0))));
        let large = c(SMALL).below(x);
        if F::any(large) {
            let angle = x.root();
            sine = F::select(large, (angle * c(0.5)).by_lane(|half| sin_cos(half).0) / angle, sine);
            s = F::select(large, (angle * c(0.5)).by_lane(|half| sin_cos(half).1), s);
        }
        Self { v: w * sine, s }
    }

    /// The vector whose [`Turns::exp`] this is, by the shorter way round.
    #[inline(always)]
    pub fn log(self) -> Vector<F> {
        let c = F::splat;
        // Both signs are the same rotation; the positive scalar is the short way.
        let flip = self.s.below(c(0.0));
        let (v, s) = (Vector::select(flip, -self.v, self.v), F::select(flip, -self.s, self.s));
        // angle / sin(angle/2) in powers of the sine's square.
        let x = v.dot(v);
        let mut scale = c(2.0) + x * (c(1.0 / 3.0) + x * (c(0.15) + x * c(15.0 / 168.0)));
        let large = c(SMALL_SINE).below(x);
        if F::any(large) {
            let sine = x.root();
            let angle = sine.with_lane(s, quadrant_angle) * c(2.0);
            scale = F::select(large, angle / sine, scale);
        }
        v * scale
    }

    /// The rotation vector from `from` to this, by the short way (the exact form of Eq. 20).
    #[inline(always)]
    pub fn since(self, from: Self) -> Vector<F> {
        self.then_after(from.inverse()).log()
    }
}

/// Radians a step from which on a body spins fast. Two rotation vectors of this length and less add up to less than half
/// a turn, within which the logarithm finds them again. A longer one is one of many that end in the same rotation.
pub const FAST: f32 = 1.0;
/// Scalar part of a start that is no rotation but the vector that a fast body was predicted to turn by.
pub const PREDICTED: f32 = 2.0;
/// The same of a body of revolution that touches something: see [`rolling`].
pub const PREDICTED_ROLLING: f32 = 2.5;
/// The same of a body with joints.
pub const PREDICTED_HELD: f32 = 3.0;

/// Moments of inertia that differ by less than this part are equal.
const SAME_MOMENT: f32 = 1e-3;
/// Cosine of the largest angle by which the axis of what rolls tilts in a step, 1 radian: beyond, it tumbles.
const TUMBLES: f32 = 0.54;

/// The axis of a body of revolution in its own frame, whose other two moments of inertia are equal; nothing of others, and
/// of what has no axis since all three are.
#[inline(always)]
pub fn revolution_axis(inertia: Vec3) -> Vec3 {
    let same = |a: f32, b: f32| abs(a - b) <= SAME_MOMENT * fmax(a, b);
    let (xy, yz, zx) = (same(inertia.x, inertia.y), same(inertia.y, inertia.z), same(inertia.z, inertia.x));
    let one = |is: bool| if is { 1.0 } else { 0.0 };
    Vec3::new(one(yz & !xy & !zx), one(zx & !xy & !yz), one(xy & !yz & !zx))
}

/// What contacts are told that a fast body of revolution turns by, which turned from `start` to `end` and has the spin
/// `angular` then; nothing if it is none, or tumbles.
///
/// Contacts take a turn w for the motion w x r of every point. Beyond a radian this holds no longer: a capsule that rolls
/// a little askew precesses, and its ends do not go where w x r says. What contacts took back of that motion tilted it
/// more, by a factor of w^2 (1/2 - A/C) a step with C and A its moments about the axis and across. So they are told the
/// turn that moves the ends to where they come to, a x a', and the spin about the axis at the start, which moves none.
#[inline(always)]
pub fn rolling(inertia: Vec3, start: &Rotation, end: &Rotation, angular: Vec3) -> Vec3 {
    let own = revolution_axis(inertia);
    let (from, to) = (start.apply(own), end.apply(own));
    let rolls = from.dot(to) > TUMBLES;
    if rolls { from * to.dot(angular) + from.cross(to) } else { Vec3::ZERO }
}

/// Whole turns next to an angle, as an angle.
#[inline(always)]
pub fn whole_turns(angle: f32) -> f32 {
    let turns = angle * (0.5 / PI);
    ((turns + if turns < 0.0 { -0.5 } else { 0.5 }) as i32) as f32 * (2.0 * PI)
}

/// Of all vectors that end in the same rotation as `v`, the one nearest to `near`.
#[inline(always)]
fn unwound<F: OfBodies>(v: Vector<F>, near: Vector<F>) -> Vector<F> {
    let (c, square) = (F::splat, v.dot(v));
    // After whole turns no axis is left in the rotation.
    let lost = square.below(c(1e-6));
    let axis = Vector::select(lost, near, v);
    let axis = axis * (c(1.0) / axis.dot(axis).most(c(1e-20)).root());
    v + axis * (near.dot(axis) - v.dot(axis)).by_lane(whole_turns)
}

/// Where bodies started a step, or how far they were predicted to turn, and where to: what their rotations are
/// measured from.
///
/// Up to [`FAST`] a body's turn since the start is the logarithm of its rotation. If it was predicted to turn by more, every
/// motion of the descent is added to that: torques change the angular velocity by just that, and whole turns are not lost.
#[derive(Clone, Copy)]
pub struct TurnEnds<F> {
    /// Rotation at the start, or with the scalar [`PREDICTED`] the vector that a fast body was predicted to turn by.
    pub start: Turns<F>,
    /// Rotation of the target.
    pub target: Turns<F>,
}

impl<F: OfBodies> TurnEnds<F> {
    /// What a body that was predicted to be fast lags behind, when it turned by `turned`: the sum of its motions. The logarithm
    /// of as much is another vector: of a small motion across a large one, half a turn makes one at right angles to it, and
    /// no descent ends.
    ///
    /// What is stopped has its moments of inertia elsewhere than where it was predicted to be. It lacks all of the momentum L
    /// that it had, and not what its spin would have been here: a rod that is tilted a little as it is stopped would be
    /// turned about itself, about which it is light, by hundreds of times as much. What is not stopped has both.
    #[inline(always)]
    fn lag_of_sums(&self, rotation: Turns<F>, turned: Vector<F>, inertia: Vector<F>) -> Vector<F> {
        let (there, here) = (self.target.axes(), rotation.axes());
        let predicted = self.start.v;
        let momentum = |axis: Vector<F>, i: F| axis * (axis.dot(predicted) * i);
        let l = momentum(there[0], inertia.x) + momentum(there[1], inertia.y) + momentum(there[2], inertia.z);
        let spin = |axis: Vector<F>, i: F| axis * (axis.dot(l) / i);
        let back = spin(here[0], inertia.x) + spin(here[1], inertia.y) + spin(here[2], inertia.z);
        let lag = turned - predicted;
        Vector::select(turned.dot(turned).below(lag.dot(lag)), turned - back, lag)
    }

    /// How far a body, turned by `turned` to `rotation`, is from its target; `inertia` are its principal moments. To be taken
    /// with the axes of inertia that [`TurnEnds::inertia_frame`] gives.
    #[inline(always)]
    pub fn lag(&self, form: TurnForm, rotation: Turns<F>, turned: Vector<F>, inertia: Vector<F>) -> Vector<F> {
        // One logarithm whatever the form, and no way out in between: drivers for CPUs need minutes to compile more here.
        let to = if form.first_order { rotation } else { self.target };
        let from = if form.first_order { self.target } else { self.start };
        let between = form.between(to, from);
        let mut lag = if form.first_order { between } else { turned - between };
        let marked = self.marked();
        if !form.first_order && F::any(marked) {
            lag = Vector::select(marked, self.lag_of_sums(rotation, turned, inertia), lag);
        }
        lag
    }

    /// Where the principal axes of a body are while a step is solved: half way to its target, where its angular momentum is
    /// that of its spin.
    ///
    /// They do not follow the iterations. What has to give up a turn of a radian and is tilted by d on the way would have
    /// that momentum about other axes by as much: a rod, a thousand times as light about itself as across, would be turned
    /// about itself by a thousand d, half of which tilts it again; with every iteration more, until it flies off. With axes
    /// that stay the motion is a quadratic form, and what is stopped gives up just the momentum that it had.
    #[inline(always)]
    pub fn inertia_frame(&self, form: TurnForm, rotation: Turns<F>) -> Turns<F> {
        let middle = Turns { v: self.start.v + self.target.v, s: self.start.s + self.target.s }.normalized();
        let marked = self.marked();
        let fixed =
            Turns { v: Vector::select(marked, rotation.v, middle.v), s: F::select(marked, rotation.s, middle.s) };
        if form.first_order { rotation } else { fixed }
    }

    /// Which were predicted to be fast.
    #[inline(always)]
    fn marked(&self) -> F::Mask {
        F::splat(1.5).below(self.start.s)
    }

    /// How far a body has turned that was turned by `turned` before, and by `step` since, to `rotation`.
    #[inline(always)]
    pub fn turned(&self, form: TurnForm, rotation: Turns<F>, turned: Vector<F>, step: Vector<F>) -> Vector<F> {
        let mut angular = form.between(rotation, self.start);
        let along = turned + step;
        let slow = along.dot(along).below(F::splat(FAST * FAST)) & self.start.s.below(F::splat(1.5));
        if !form.first_order && F::any(!slow) {
            // What was slow at first is where it is, by the nearest of all ways there: large motions to and fro, as an
            // impact makes them, do not add up. What was fast already has no such way.
            let marked = self.marked();
            angular = Vector::select(slow, angular, Vector::select(marked, along, unwound(angular, along)));
        }
        angular
    }
}

/// How rotations are added and subtracted: exactly, or to first order as the paper does.
#[derive(Clone, Copy)]
pub struct TurnForm {
    first_order: bool,
}

impl TurnForm {
    /// Exactly.
    pub const EXACT: Self = Self { first_order: false };

    /// Of a step.
    #[inline(always)]
    pub fn new(params: &Params) -> Self {
        Self { first_order: params.options & option::FIRST_ORDER != 0 }
    }

    /// The rotation vector from `from` to `to` (Eq. 20, or its exact form).
    #[inline(always)]
    pub fn between<F: OfBodies>(self, to: Turns<F>, from: Turns<F>) -> Vector<F> {
        let turn = to.then_after(from.inverse());
        let mut vector = turn.v * F::splat(2.0);
        if !self.first_order {
            vector = turn.log();
        }
        vector
    }

    /// `rotation` turned by the vector `w` (Eq. 21, or its exact form).
    #[inline(always)]
    pub fn turned<F: OfBodies>(self, rotation: Turns<F>, w: Vector<F>) -> Turns<F> {
        // Eq. 21 is the product with the quaternion (1, w / 2).
        let mut by = Turns { v: w * F::splat(0.5), s: F::splat(1.0) };
        if !self.first_order {
            by = Turns::exp(w);
        }
        by.then_after(rotation).normalized()
    }
}

impl Turns<f32> {
    /// Of one body.
    #[inline(always)]
    pub fn one(rotation: &Rotation) -> Self {
        Self { v: Vector::new(rotation.x, rotation.y, rotation.z), s: rotation.s }
    }
}
