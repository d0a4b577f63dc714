//! What the surfaces of a manifold do besides friction: move by themselves (conveyor belts), resist rolling and
//! spinning, and bounce. A manifold that does any of the first three is marked
//! ([`Head::driven`](crate::detect::manifold::Head)); the iterations read its surface only if the mark is set.
//! `surfaces_start` writes the list of surfaces, `rolling_dual` its torques.
//!
//! **Moving surfaces.** The error of a tangent row is how far the point on a slid along b. If the surfaces move by
//! themselves, that is the motion of the bodies plus the motion of the surfaces. At a lever r from a's centre of mass
//!
//! ```text
//! d = shift + turn x r + drift + spin n x r
//! ```
//!
//! with shift and turn the motion of a's point relative to b, n the normal, drift and spin the motion of a's surface
//! relative to b's. The last two terms lie in the plane of contact, so they cause no force along the normal.
//!
//! **Rolling and torsional friction.** Three more rows a manifold, on the angle theta that a turned by relative to b:
//!
//! ```text
//! torque = lambda + k theta,    |tangential part| <= rolling N,    |normal part| <= torsional N
//! ```
//!
//! with k the stiffness, N the sum of the normal forces of its points, `rolling` and `torsional` lever arms in metres.
//! Beyond the bound the stiffness in the Hessian is the secant, bound / |theta|, as for sliding friction.

use crate::detect::manifold::Head;
use crate::gpu::glam::{UVec4, Vec3};
use crate::gpu::{Load, OfPoints, Real, Store, Vector, abs, fmin, sqrt};
use crate::math::{vector, words};

/// Vectors of a manifold in the list of surfaces.
pub mod word {
    /// Drift and spin.
    pub const DRIFT: u32 = 0;
    /// Levers of the torques, stiffness, restitution.
    pub const LIMITS: u32 = 1;
    /// Multiplier of the torques.
    pub const TORQUE: u32 = 2;
    /// Number of vectors.
    pub const COUNT: u32 = 3;
}

/// What the surfaces of a manifold do.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "spirv"), derive(Debug, PartialEq))]
pub struct Surface {
    /// How far a's surface moves by itself in a step relative to b's, metres; extrapolated to a's centre of mass.
    pub drift: Vec3,
    /// Angle by which a's surface turns by itself about the normal in a step, relative to b's, radians.
    pub spin: f32,
    /// Lever of the torque against rolling, metres.
    pub rolling: f32,
    /// Lever of the torque against spinning about the normal, metres.
    pub torsional: f32,
    /// Stiffness of both, newton metres a radian.
    pub k: f32,
    /// Coefficient of restitution: fraction of the speed of an impact that is left after it.
    pub restitution: f32,
    /// Multiplier of both torques: a vector in world space, newton metres.
    pub torque: Vec3,
}

impl Surface {
    /// A surface that does nothing.
    #[inline(always)]
    pub fn none() -> Self {
        let (drift, torque) = (Vec3::ZERO, Vec3::ZERO);
        Self { drift, spin: 0.0, rolling: 0.0, torsional: 0.0, k: 0.0, restitution: 0.0, torque }
    }

    /// This surface if `on`, else one that does nothing.
    #[inline(always)]
    pub fn only_if(self, on: bool) -> Self {
        let part = if on { 1.0 } else { 0.0 };
        Self {
            drift: self.drift * part,
            spin: self.spin * part,
            rolling: self.rolling * part,
            torsional: self.torsional * part,
            k: self.k * part,
            restitution: self.restitution * part,
            torque: self.torque * part,
        }
    }

    /// Whether the iterations have to include it.
    #[inline(always)]
    pub fn drives(&self) -> bool {
        (self.drift.length_squared() > 0.0) | (self.spin != 0.0) | (self.rolling > 0.0) | (self.torsional > 0.0)
    }

    /// Loads the surface of a manifold.
    #[inline(always)]
    pub fn load(list: &impl Load<UVec4>, manifold: u32) -> Self {
        let first = manifold.wrapping_mul(word::COUNT);
        let (drift, limits) = (list.at(first), list.at(first.wrapping_add(word::LIMITS)));
        Self {
            drift: vector(drift),
            spin: f32::from_bits(drift.w),
            rolling: f32::from_bits(limits.x),
            torsional: f32::from_bits(limits.y),
            k: f32::from_bits(limits.z),
            restitution: f32::from_bits(limits.w),
            torque: vector(list.at(first.wrapping_add(word::TORQUE))),
        }
    }

    /// Stores it as the surface of a manifold.
    #[inline(always)]
    pub fn store(&self, list: &mut impl Store<UVec4>, manifold: u32) {
        let first = manifold.wrapping_mul(word::COUNT);
        let limits = [self.rolling, self.torsional, self.k, self.restitution];
        let bits = UVec4::new(limits[0].to_bits(), limits[1].to_bits(), limits[2].to_bits(), limits[3].to_bits());
        list.put(first, words(self.drift, self.spin.to_bits()));
        list.put(first.wrapping_add(word::LIMITS), bits);
        list.put(first.wrapping_add(word::TORQUE), words(self.torque, 0));
    }

    /// Next multiplier (Eq. 11): the torque against having turned by `turn` under the normal force `pressed`, newtons.
    #[inline(always)]
    pub fn resists(&self, n: Vec3, turn: Vec3, pressed: f32) -> Vec3 {
        let wanted = self.torque + turn * self.k;
        let about = n.dot(wanted);
        let along = wanted - n * about;
        let (most, size) = (self.rolling * pressed, sqrt(along.length_squared()));
        let scale = if size > most { most / size } else { 1.0 };
        let bound = self.torsional * pressed;
        let kept = fmin(abs(about), bound);
        along * scale + n * if about < 0.0 { -kept } else { kept }
    }
}

/// Sum of the normal forces of a manifold's points, newtons; `lambda` holds their multipliers, which are negative.
#[inline(always)]
pub fn pressed(lambda: UVec4) -> f32 {
    let (x, y) = (f32::from_bits(lambda.x), f32::from_bits(lambda.y));
    let (z, w) = (f32::from_bits(lambda.z), f32::from_bits(lambda.w));
    -(x + y + z + w)
}

/// Surfaces of the manifolds that are processed at once. Manifolds without the `driven` mark get one that does nothing.
#[derive(Clone, Copy)]
pub struct Surfaces<F: OfPoints> {
    each: F::Each<Surface>,
}

/// Resisting torques of manifolds and their stiffness, a quarter of each for every one of four points.
#[derive(Clone, Copy)]
pub struct Resistance<F: Real> {
    /// Multiplier; the torque on a is its negative.
    pub torque: Vector<F>,
    /// Stiffness about the tangents.
    pub k: F,
    /// Stiffness about the normal.
    pub k_normal: F,
}

impl<F: OfPoints> Surfaces<F> {
    /// Surfaces that `get` returns for the parts.
    #[inline(always)]
    pub fn new(get: impl Fn(u32) -> Surface) -> Self {
        Self { each: F::each(get) }
    }

    /// See [`Surface`].
    #[inline(always)]
    pub fn drift(&self) -> Vector<F> {
        Vector::spread(&self.each, |s: &Surface| s.drift)
    }

    /// See [`Surface`].
    #[inline(always)]
    pub fn spin(&self) -> F {
        F::spread(&self.each, |s| s.spin)
    }

    /// Resisting torque when a has turned by `turn` relative to b and is pressed against it with the force `pressed`.
    #[inline(always)]
    pub fn resist(&self, n: Vector<F>, turn: Vector<F>, pressed: F) -> Resistance<F> {
        let (zero, one, tiny) = (F::splat(0.0), F::splat(1.0), F::splat(1e-30));
        let k = F::spread(&self.each, |s| s.k);
        let wanted = Vector::spread(&self.each, |s: &Surface| s.torque) + turn * k;
        let about = n.dot(wanted);
        let along = wanted - n * about;
        let (most, bound) =
            (F::spread(&self.each, |s| s.rolling) * pressed, F::spread(&self.each, |s| s.torsional) * pressed);
        let size = along.dot(along).root();
        let rolls = most.below(size);
        let scale = F::select(rolls, most / size.most(tiny), one);
        let spins = bound.below(about.size());
        let held = F::select(about.below(zero), -bound, bound);
        let turned = n.dot(turn);
        let across = turn - n * turned;
        let secant = most / across.dot(across).root().most(tiny);
        let secant_normal = bound / turned.size().most(tiny);
        let part = F::splat(0.25);
        Resistance {
            torque: (along * scale + n * F::select(spins, held, about)) * part,
            k: F::select(rolls, secant.least(k), k) * part,
            k_normal: F::select(spins, secant_normal.least(k), k) * part,
        }
    }
}

/// Whether any of these manifolds is marked as driven.
#[inline(always)]
pub fn any_driven<F: OfPoints>(heads: &F::Each<Head>) -> bool {
    let mut any = false;
    let mut part = 0;
    while part < F::PARTS {
        any |= F::part(heads, part).driven;
        part += 1;
    }
    any
}
