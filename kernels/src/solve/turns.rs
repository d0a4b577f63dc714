//! Rotations of several bodies at once, with the exponential and logarithm by which the solver turns bodies (exact
//! forms of Eq. 20 and 21). The first-order forms of the paper lose a fifth of a body's spin every second at 60 Hz.
//! Plain functions; no buffers.

use crate::gpu::glam::Vec3;
use crate::gpu::{OfBodies, Vector, abs, fmax, quadrant_angle, sin_cos};
use crate::math::Rotation;
use crate::state::rigid::{Params, option};
use core::f32::consts::PI;

/// Unit quaternions, one a lane: vector part and scalar part.
#[derive(Clone, Copy)]
pub struct Turns<F> {
    /// Vector part.
    pub v: Vector<F>,
    /// Scalar part.
    pub s: F,
}

/// Square of the angle, radians squared, up to which the series below are exact to the last bits.
const SMALL: f32 = 0.25;
/// Square of the sine of half the angle up to which the series of the logarithm is used.
const SMALL_SINE: f32 = 0.01;

impl<F: OfBodies> Turns<F> {
    /// Puts the rotations of several bodies side by side.
    #[inline(always)]
    pub fn gather<T: Copy>(all: &F::Lanes<T>, value: impl Fn(&T) -> Rotation) -> Self {
        Self { v: Vector::gather(all, |t| value(t).v()), s: F::gather(all, |t| value(t).s) }
    }

    /// Product: the rotation that applies `other` first, then `self`.
    #[inline(always)]
    pub fn then_after(self, other: Self) -> Self {
        Self {
            v: other.v * self.s + self.v * other.s + self.v.cross(other.v),
            s: self.s * other.s - self.v.dot(other.v),
        }
    }

    /// The inverse rotation.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        Self { v: -self.v, s: self.s }
    }

    /// Scaled to length 1.
    #[inline(always)]
    pub fn normalized(self) -> Self {
        let scale = F::splat(1.0) / (self.v.dot(self.v) + self.s * self.s).root();
        Self { v: self.v * scale, s: self.s * scale }
    }

    /// Axes of body space in world space: the columns of the rotation matrix.
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

    /// Rotation by a rotation vector: its length is the angle in radians, its direction the axis.
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

    /// The rotation vector whose [`Turns::exp`] this is; the shorter of the two.
    #[inline(always)]
    pub fn log(self) -> Vector<F> {
        let c = F::splat;
        // q and -q are the same rotation; a positive scalar part gives the shorter vector.
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

    /// Rotation vector from `from` to this, by the shorter way (the exact form of Eq. 20).
    #[inline(always)]
    pub fn since(self, from: Self) -> Vector<F> {
        self.then_after(from.inverse()).log()
    }
}

/// Radians a step above which a body counts as spinning fast. Two rotation vectors up to this length add up to less
/// than half a turn, so the logarithm recovers their sum. A longer vector is one of many that give the same rotation.
pub const FAST: f32 = 1.0;
/// Scalar part that marks a start as no rotation: the vector part is then the predicted rotation vector of a fast body.
pub const PREDICTED: f32 = 2.0;
/// The same mark for a body of revolution that touches something: see [`rolling`].
pub const PREDICTED_ROLLING: f32 = 2.5;
/// The same mark for a body with joints.
pub const PREDICTED_HELD: f32 = 3.0;

/// Relative difference below which two moments of inertia count as equal.
const SAME_MOMENT: f32 = 1e-3;
/// Cosine of the largest tilt of a rolling body's axis in a step, 1 radian; beyond that the body counts as tumbling.
const TUMBLES: f32 = 0.54;

/// Axis of a body of revolution in its own frame, found by its other two moments of inertia being equal. Zero for other
/// bodies, and for those with three equal moments.
#[inline(always)]
pub fn revolution_axis(inertia: Vec3) -> Vec3 {
    let same = |a: f32, b: f32| abs(a - b) <= SAME_MOMENT * fmax(a, b);
    let (xy, yz, zx) = (same(inertia.x, inertia.y), same(inertia.y, inertia.z), same(inertia.z, inertia.x));
    let one = |is: bool| if is { 1.0 } else { 0.0 };
    Vec3::new(one(yz & !xy & !zx), one(zx & !xy & !yz), one(xy & !yz & !zx))
}

/// Rotation vector that contacts use for a fast body of revolution, which is predicted to turn from `start` to `end`
/// and to have the spin `angular` there. Zero if the body is not one of revolution, or tumbles.
///
/// Contacts take a rotation vector w to move every point by w x r. Beyond a radian this is wrong: a capsule that rolls
/// slightly askew precesses, and its ends do not move by w x r. The contact forces against that false motion tilted it
/// further, by a factor of w^2 (1/2 - A/C) a step, with C and A its moments about the axis and across it. So contacts
/// get the vector that moves the ends to where they really go, a x a' with a and a' the axis at the start and at the
/// end, plus the spin about the axis at the start, which moves neither end.
#[inline(always)]
pub fn rolling(inertia: Vec3, start: &Rotation, end: &Rotation, angular: Vec3) -> Vec3 {
    let own = revolution_axis(inertia);
    let (from, to) = (start.apply(own), end.apply(own));
    let rolls = from.dot(to) > TUMBLES;
    if rolls { from * to.dot(angular) + from.cross(to) } else { Vec3::ZERO }
}

/// The multiple of 2 pi nearest to an angle, radians.
#[inline(always)]
pub fn whole_turns(angle: f32) -> f32 {
    let turns = angle * (0.5 / PI);
    ((turns + if turns < 0.0 { -0.5 } else { 0.5 }) as i32) as f32 * (2.0 * PI)
}

/// Radians a step up to which [`TurnEnds::lag`] does without `precession`: it would change a torque by less than a
/// thousandth.
const LITTLE_TURN: f32 = 1e-3;
/// Largest factor by which an iteration may leave an error of `precession` behind; at twice that none of it is taken,
/// since iterations would no longer converge.
const CONTRACTS: f32 = 0.5;

/// Of all rotation vectors that give the same rotation as `v`, the one nearest to `near`.
#[inline(always)]
fn unwound<F: OfBodies>(v: Vector<F>, near: Vector<F>) -> Vector<F> {
    let (c, square) = (F::splat, v.dot(v));
    // A rotation by whole turns is the identity and has no axis: that of `near` is taken.
    let lost = square.below(c(1e-6));
    let axis = Vector::select(lost, near, v);
    let axis = axis * (c(1.0) / axis.dot(axis).most(c(1e-20)).root());
    v + axis * (near.dot(axis) - v.dot(axis)).by_lane(whole_turns)
}

/// What the rotations of bodies in a step are measured from: the start (or the predicted rotation vector) and the
/// target.
///
/// If a body was predicted to turn by at most [`FAST`], its turn since the start is the logarithm of its rotation. If
/// by more, the rotation vectors of all motions of the descent are added to the predicted one: torques then change the
/// angular velocity by exactly what they should, and whole turns are not lost.
#[derive(Clone, Copy)]
pub struct TurnEnds<F> {
    /// Rotation at the start; with the scalar [`PREDICTED`], the predicted rotation vector of a fast body.
    pub start: Turns<F>,
    /// Rotation of the target.
    pub target: Turns<F>,
}

impl<F: OfBodies> TurnEnds<F> {
    /// Rotation vector by which a body that was predicted to be fast is behind its target; `turned` is the sum of its
    /// motions. The logarithm cannot be used here: for a small motion across a large one, half a turn gives a vector at
    /// right angles to it, and the descent would not converge.
    ///
    /// A body that is stopped has its principal axes elsewhere than at its target. It lacks the angular momentum L that
    /// was predicted, which is not the predicted spin times the inertia in its present orientation: with the latter, a
    /// rod that is tilted slightly as it is stopped would be turned about its own axis, where its inertia is small, by
    /// hundreds of times the tilt. For a body that is not stopped both are the same.
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

    /// Rotation vector from its target to a body that has turned by `turned` to `rotation`; `inertia` holds its
    /// principal moments. To be multiplied with the inertia in the axes of [`TurnEnds::inertia_frame`].
    #[inline(always)]
    pub fn lag(&self, form: TurnForm, rotation: Turns<F>, turned: Vector<F>, inertia: Vector<F>) -> Vector<F> {
        // One logarithm for either form, and no early return: Vulkan drivers for CPUs need minutes to compile more
        // here.
        let to = if form.first_order { rotation } else { self.target };
        let from = if form.first_order { self.target } else { self.start };
        let between = form.between(to, from);
        let mut lag = if form.first_order { between } else { turned - between };
        let marked = self.marked();
        if !form.first_order && F::any(marked) {
            lag = Vector::select(marked, self.lag_of_sums(rotation, turned, inertia), lag);
        }
        let reach = turned.dot(turned).most(between.dot(between));
        let turning = !marked & F::splat(LITTLE_TURN * LITTLE_TURN).below(reach);
        if !form.first_order && F::any(turning) {
            let change = self.precession(rotation, turned, between, inertia);
            lag = Vector::select(turning, lag + change, lag);
        }
        lag
    }

    /// What the lag of a body that turns by less than [`FAST`] is changed by because its axes of inertia turn with it.
    ///
    /// With I the inertia at the start, R(w/2) half of the turn w, and P, Q the axes in the middle of the turn made so
    /// far and of the predicted one, a body has the angular momentum L(w) = R(w/2) I w = I_P w. So it lacks I_P w - I_Q
    /// (predicted turn), which is I_Q times the lag w - (predicted turn) + I_Q^-1 I_P w - w. Without the last two terms
    /// a torque T across the spin s of a symmetric body with moments A about its axis and C across moves it by
    /// (A - C) / (2 C) s T in the wrong direction, and heavy tops sink by that whatever their spin.
    ///
    /// The Hessian does not have this term, whose derivative G is not symmetric. Iterations then converge as the powers
    /// of |I^-1/2 G I^-1/2|, which is at most the sum over axes k of |w_k| max(|I_k - I_i|, |I_k - I_j|) / (2 sqrt(I_i
    /// I_j)). That is less than [`CONTRACTS`] for tops, wheels and boxes at half a radian a step, and more than a hundred
    /// for a thin rod that tumbles, which such a term would throw about in every iteration: it takes none.
    #[inline(always)]
    fn precession(&self, rotation: Turns<F>, turned: Vector<F>, predicted: Vector<F>, inertia: Vector<F>) -> Vector<F> {
        let c = F::splat;
        let middle = |end: Turns<F>| Turns { v: self.start.v + end.v, s: self.start.s + end.s };
        // Of a quaternion and its negative, the nearer one: a turn of less than half a circle has a middle.
        let near = F::select((rotation.v.dot(self.start.v) + rotation.s * self.start.s).below(c(0.0)), c(-1.0), c(1.0));
        let p = middle(Turns { v: rotation.v * near, s: rotation.s * near }).normalized().axes();
        let q = middle(self.target).normalized().axes();
        let along = |axis: Vector<F>, i: F| axis * (axis.dot(turned) * i);
        let momentum = along(p[0], inertia.x) + along(p[1], inertia.y) + along(p[2], inertia.z);
        let spin = |axis: Vector<F>, i: F| axis * (axis.dot(momentum) / i);
        let change = spin(q[0], inertia.x) + spin(q[1], inertia.y) + spin(q[2], inertia.z) - turned;

        let turns = |axis: Vector<F>| axis.dot(turned).size().most(axis.dot(predicted).size());
        let Vector { x, y, z } = inertia;
        let gain = |k: F, i: F, j: F| (k - i).size().most((k - j).size()) / (i.root() * j.root());
        let gains = turns(p[0]) * gain(x, y, z) + turns(p[1]) * gain(y, z, x) + turns(p[2]) * gain(z, x, y);
        change * (c(2.0) - gains * c(0.5 / CONTRACTS)).least(c(1.0)).most(c(0.0))
    }

    /// Orientation of a body's principal axes while a step is solved: half way from its start to its target, where its
    /// angular momentum is that of its spin.
    ///
    /// The axes do not follow the iterations. If they did, a body that has to give up a turn of a radian and is tilted
    /// by d meanwhile would have part of its momentum about other axes, in proportion to d. A rod whose inertia about
    /// itself is a thousandth of that across would turn about itself by 1000 d, half of which tilts it again, more in
    /// every iteration until it flies off. With fixed axes inertia is a quadratic form, and a stopped body gives up
    /// exactly the momentum that it had.
    #[inline(always)]
    pub fn inertia_frame(&self, form: TurnForm, rotation: Turns<F>) -> Turns<F> {
        let middle = Turns { v: self.start.v + self.target.v, s: self.start.s + self.target.s }.normalized();
        let marked = self.marked();
        let fixed =
            Turns { v: Vector::select(marked, rotation.v, middle.v), s: F::select(marked, rotation.s, middle.s) };
        if form.first_order { rotation } else { fixed }
    }

    /// Mask of the bodies that were predicted to be fast.
    #[inline(always)]
    fn marked(&self) -> F::Mask {
        F::splat(1.5).below(self.start.s)
    }

    /// Rotation vector since the start of a body that was `turned` before and that `step` brought to `rotation`.
    #[inline(always)]
    pub fn turned(&self, form: TurnForm, rotation: Turns<F>, turned: Vector<F>, step: Vector<F>) -> Vector<F> {
        let mut angular = form.between(rotation, self.start);
        let along = turned + step;
        let slow = along.dot(along).below(F::splat(FAST * FAST)) & self.start.s.below(F::splat(1.5));
        if !form.first_order && F::any(!slow) {
            // A body that was slow at the start: of all vectors to its rotation the one nearest to the sum, because
            // large motions to and fro, as in an impact, do not add up exactly. A body that was fast at the start keeps
            // the sum itself.
            let marked = self.marked();
            angular = Vector::select(slow, angular, Vector::select(marked, along, unwound(angular, along)));
        }
        angular
    }
}

/// How rotations are added and subtracted: exactly, or to first order as in the paper (Eq. 20 and 21).
#[derive(Clone, Copy)]
pub struct TurnForm {
    first_order: bool,
}

impl TurnForm {
    /// Exactly.
    pub const EXACT: Self = Self { first_order: false };

    /// The form that a step's options ask for.
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
    /// The rotation of one body.
    #[inline(always)]
    pub fn one(rotation: &Rotation) -> Self {
        Self { v: Vector::new(rotation.x, rotation.y, rotation.z), s: rotation.s }
    }
}
