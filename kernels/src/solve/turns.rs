//! Rotations of several bodies at once, and the exponential and logarithm that the solver moves bodies with. Exact forms:
//! first-order ones lose a fifth of a body's spin every second at 60 Hz.

use crate::gpu::{OfBodies, Vector, quadrant_angle, sin_cos};
use crate::math::Rotation;
use crate::state::rigid::{Params, option};

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

/// How rotations are added and subtracted: exactly, or to first order as the paper does.
#[derive(Clone, Copy)]
pub struct TurnForm {
    first_order: bool,
}

impl TurnForm {
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
