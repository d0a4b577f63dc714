//! What the surfaces of a manifold do beyond friction: they move by themselves (conveyor belts), resist rolling and spinning, and
//! bounce. Manifolds that have any of the first three are marked ([`Head::driven`](crate::detect::manifold::Head)); the
//! iterations look here for those only.
//!
//! **Moving surfaces.** The error of a tangent row is how far the point on a slid along b. With surfaces that move by
//! themselves that is the way of the bodies and that of the surfaces: at a lever r from a's centre of mass
//!
//! ```text
//! d = shift + turn x r + drift + spin n x r
//! ```
//!
//! The last two lie in the plane of contact, so that nothing is pushed along the normal.
//!
//! **Rolling and torsional friction.** Three more rows a manifold, on the angle theta that a turned by relative to b:
//!
//! ```text
//! torque = lambda + k theta,    |tangential part| <= rolling N,    |normal part| <= torsional N
//! ```
//!
//! with N the normal force of its points. Beyond the bound the stiffness in the Hessian is the secant, bound / |theta|, as for
//! sliding friction.

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
    /// The multiplier.
    pub const TORQUE: u32 = 2;
    /// All.
    pub const COUNT: u32 = 3;
}

/// What the surfaces of a manifold do.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "spirv"), derive(Debug, PartialEq))]
pub struct Surface {
    /// How far the surface of a goes by itself in a step, seen from that of b; taken at a's centre of mass.
    pub drift: Vec3,
    /// How far it turns by itself about the normal, radians.
    pub spin: f32,
    /// Lever of the torque against rolling, metres.
    pub rolling: f32,
    /// Lever of the torque against spinning about the normal.
    pub torsional: f32,
    /// Stiffness of both, newton metres a radian.
    pub k: f32,
    /// Part of the speed of an impact that is left.
    pub restitution: f32,
    /// Multiplier of both: a torque in world space.
    pub torque: Vec3,
}

impl Surface {
    /// One that does nothing.
    #[inline(always)]
    pub fn none() -> Self {
        let (drift, torque) = (Vec3::ZERO, Vec3::ZERO);
        Self { drift, spin: 0.0, rolling: 0.0, torsional: 0.0, k: 0.0, restitution: 0.0, torque }
    }

    /// It, or one that does nothing.
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

    /// Whether the iterations have to know of it.
    #[inline(always)]
    pub fn drives(&self) -> bool {
        (self.drift.length_squared() > 0.0) | (self.spin != 0.0) | (self.rolling > 0.0) | (self.torsional > 0.0)
    }

    /// That of a manifold.
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

    /// Makes it that of a manifold.
    #[inline(always)]
    pub fn store(&self, list: &mut impl Store<UVec4>, manifold: u32) {
        let first = manifold.wrapping_mul(word::COUNT);
        let limits = [self.rolling, self.torsional, self.k, self.restitution];
        let bits = UVec4::new(limits[0].to_bits(), limits[1].to_bits(), limits[2].to_bits(), limits[3].to_bits());
        list.put(first, words(self.drift, self.spin.to_bits()));
        list.put(first.wrapping_add(word::LIMITS), bits);
        list.put(first.wrapping_add(word::TORQUE), words(self.torque, 0));
    }

    /// The torque against having turned by `turn` under the normal force `pressed`: the next multiplier.
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

/// The sum of the normal forces of a manifold's points, whose vector of multipliers this is.
#[inline(always)]
pub fn pressed(lambda: UVec4) -> f32 {
    let (x, y) = (f32::from_bits(lambda.x), f32::from_bits(lambda.y));
    let (z, w) = (f32::from_bits(lambda.z), f32::from_bits(lambda.w));
    -(x + y + z + w)
}

/// The surfaces of manifolds that are worked on at once, where `driven` says that there are any.
#[derive(Clone, Copy)]
pub struct Surfaces<F: OfPoints> {
    each: F::Each<Surface>,
}

/// Torques of manifolds, a quarter for each of four points, and their stiffness.
#[derive(Clone, Copy)]
pub struct Resistance<F: Real> {
    /// On a, with a minus: a multiplier.
    pub torque: Vector<F>,
    /// Along the tangents.
    pub k: F,
    /// Along the normal.
    pub k_normal: F,
}

impl<F: OfPoints> Surfaces<F> {
    /// Those that `get` has.
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

    /// What they resist with when a has turned by `turn`, seen from b, and is pressed against b by `pressed`.
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

/// Whether the surfaces of any of these manifolds do anything.
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
