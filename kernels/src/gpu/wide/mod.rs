//! Arithmetic on several values at once: the points of a manifold, or the systems of several bodies. A lane of a GPU
//! processes one point of a manifold and the system of one body; the single lane of the CPU the points of two manifolds
//! and the systems of eight bodies. Code over [`Real`] serves both; [`OfPoints`] and [`OfBodies`] say what the values
//! belong to.

/// What is the same however eight floats are held, when they are of two manifolds with four points each.
#[cfg(not(target_arch = "spirv"))]
macro_rules! eight_points {
    () => {
        type Each<T: Copy> = [T; 2];
        type Body = Self;
        const PARTS: u32 = 2;
        const POINTS: u32 = 4;

        #[inline(always)]
        fn each<T: Copy>(get: impl Fn(u32) -> T) -> [T; 2] {
            [get(0), get(1)]
        }

        #[inline(always)]
        fn map<T: Copy, U: Copy>(each: &[T; 2], get: impl Fn(&T) -> U) -> [U; 2] {
            [get(&each[0]), get(&each[1])]
        }

        #[inline(always)]
        fn part<T: Copy>(each: &[T; 2], part: u32) -> T {
            each[(part & 1) as usize]
        }

        #[inline(always)]
        fn shift(each: &[u32; 2], by: u32) -> [u32; 2] {
            [each[0] + by, each[1] + by]
        }

        #[inline(always)]
        fn total(self) -> Self {
            self
        }

        #[inline(always)]
        fn common(self) -> Self {
            self
        }
    };
}

/// The same when they are of eight bodies.
#[cfg(not(target_arch = "spirv"))]
macro_rules! eight_bodies {
    () => {
        type Lanes<T: Copy> = [T; 8];
        const LANES: u32 = 8;

        #[inline(always)]
        fn lanes<T: Copy>(value: T) -> [T; 8] {
            [value; 8]
        }

        #[inline(always)]
        fn put_lane<T: Copy>(all: &mut [T; 8], lane: u32, value: T) {
            all[(lane & 7) as usize] = value;
        }

        #[inline(always)]
        fn lane<T: Copy>(all: &[T; 8], lane: u32) -> T {
            all[(lane & 7) as usize]
        }

        #[inline(always)]
        fn of_slot(self, _group: &Group, _slot: u32) -> Self {
            self
        }

        #[inline(always)]
        fn by_lane(self, f: impl Fn(f32) -> f32) -> Self {
            Self::gather(&self.scatter(), |v| f(*v))
        }

        #[inline(always)]
        fn with_lane(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
            let (a, b) = (self.scatter(), other.scatter());
            let both: [(f32, f32); 8] = core::array::from_fn(|i| (a[i], b[i]));
            Self::gather(&both, |(a, b)| f(*a, *b))
        }
    };
}

mod float;
pub(crate) mod four;
#[cfg(target_arch = "x86_64")]
mod oct;
#[cfg(not(target_arch = "spirv"))]
#[cfg_attr(target_arch = "x86_64", path = "quad_x86.rs")]
mod quad;
#[cfg(not(target_arch = "spirv"))]
mod two_quads;

// What other processors run, for a test.
#[cfg(all(test, target_arch = "x86_64"))]
#[path = "quad.rs"]
mod portable;

use super::glam::{UVec4, Vec3};
use super::{Group, LoadFour, StoreFour, sqrt};
use core::ops::{Add, BitAnd, Div, Mul, Neg, Not, Sub};

pub use four::Four;

/// A float, or several side by side. Code over it has no branches: it chooses with [`Real::select`].
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The outcome of comparisons.
    type Mask: Copy + BitAnd<Output = Self::Mask> + Not<Output = Self::Mask>;
    /// The same everywhere.
    fn splat(value: f32) -> Self;
    /// Square roots.
    fn root(self) -> Self;
    /// Where it is below `other`.
    fn below(self, other: Self) -> Self::Mask;
    /// `a` where the mask is true, else `b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// Whether the mask may be true in any lane: to skip code that is hardly ever needed.
    fn any(mask: Self::Mask) -> bool;

    /// Without sign.
    #[inline(always)]
    fn size(self) -> Self {
        Self::select(self.below(Self::splat(0.0)), -self, self)
    }

    /// The smaller of each.
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        Self::select(self.below(other), self, other)
    }

    /// The larger of each.
    #[inline(always)]
    fn most(self, other: Self) -> Self {
        Self::select(other.below(self), self, other)
    }
}

/// Floats of points: of [`OfPoints::POINTS`] of every one of [`OfPoints::PARTS`] manifolds.
pub trait OfPoints: Real {
    /// What the sums over points are held in.
    type Body: OfBodies;
    /// Something of every manifold.
    type Each<T: Copy>: Copy;
    /// Manifolds.
    const PARTS: u32;
    /// Points of a manifold that are held at once: all four, or one, whose number loads and stores are then told.
    const POINTS: u32;
    /// What `get` has for every part.
    fn each<T: Copy>(get: impl Fn(u32) -> T) -> Self::Each<T>;
    /// What `get` makes of every part's.
    fn map<T: Copy, U: Copy>(each: &Self::Each<T>, get: impl Fn(&T) -> U) -> Self::Each<U>;
    /// That of one part.
    fn part<T: Copy>(each: &Self::Each<T>, part: u32) -> T;
    /// Numbers of every part with `by` added.
    fn shift(each: &Self::Each<u32>, by: u32) -> Self::Each<u32>;
    /// Where a part's number is odd.
    fn odd(each: &Self::Each<u32>) -> Self::Mask;
    /// A value of every part, the same for all of its points.
    fn spread<T: Copy>(each: &Self::Each<T>, value: impl Fn(&T) -> f32) -> Self;
    /// Zero from part `parts` on.
    fn first(self, parts: u32) -> Self;
    /// A word of every part's points, from where `at` says; if one point is held, of that one.
    fn load(words: &impl LoadFour, at: &Self::Each<u32>, point: u32) -> Self;
    /// Word `word` of every part's record.
    fn load_each<L: LoadFour + Copy>(records: &Self::Each<L>, word: u32, point: u32) -> Self;
    /// Puts them there.
    fn store(self, words: &mut impl StoreFour, at: &Self::Each<u32>, point: u32);
    /// With the sign bit set where the mask is true, and only there.
    fn signed(self, mask: Self::Mask) -> Self;
    /// The sum over the points, or what [`OfBodies::totals`] makes it of.
    fn total(self) -> Self::Body;
    /// What all points have in common, beside such sums.
    fn common(self) -> Self::Body;
}

/// Floats of bodies, one a lane of the register.
pub trait OfBodies: Real {
    /// Something of every body.
    type Lanes<T: Copy>: Copy;
    /// Bodies.
    const LANES: u32;
    /// The same for every body.
    fn lanes<T: Copy>(value: T) -> Self::Lanes<T>;
    /// Sets that of one body.
    fn put_lane<T: Copy>(all: &mut Self::Lanes<T>, lane: u32, value: T);
    /// That of one body.
    fn lane<T: Copy>(all: &Self::Lanes<T>, lane: u32) -> T;
    /// A value of every body.
    fn gather<T: Copy>(all: &Self::Lanes<T>, value: impl Fn(&T) -> f32) -> Self;
    /// Values by body.
    fn scatter(self) -> Self::Lanes<f32>;
    /// For every body the sum over what is still held by point.
    fn totals<T: Copy>(all: &Self::Lanes<T>, value: impl Fn(&T) -> Self) -> Self;
    /// What the lane of the subgroup at `slot` has; on the CPU there is no other.
    fn of_slot(self, group: &Group, slot: u32) -> Self;
    /// `f` of each: slow.
    fn by_lane(self, f: impl Fn(f32) -> f32) -> Self;
    /// `f` of each with that of `other`: slow.
    fn with_lane(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self;
}

/// Components of the vectors of every body: x, y, z.
pub type Scattered<F> = (<F as OfBodies>::Lanes<f32>, <F as OfBodies>::Lanes<f32>, <F as OfBodies>::Lanes<f32>);

/// Three of them: a vector for every point.
#[derive(Clone, Copy)]
pub struct Vector<F> {
    /// Along x.
    pub x: F,
    /// Along y.
    pub y: F,
    /// Along z.
    pub z: F,
}

impl<F: Real> Vector<F> {
    /// From its components.
    #[inline(always)]
    pub fn new(x: F, y: F, z: F) -> Self {
        Self { x, y, z }
    }

    /// The same everywhere.
    #[inline(always)]
    pub fn splat(v: Vec3) -> Self {
        Self { x: F::splat(v.x), y: F::splat(v.y), z: F::splat(v.z) }
    }

    /// Zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::splat(Vec3::ZERO)
    }

    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> F {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Vector product.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - other.y * self.z,
            y: self.z * other.x - other.z * self.x,
            z: self.x * other.y - other.x * self.y,
        }
    }

    /// Products of different components: xy, xz, yz.
    #[inline(always)]
    pub fn mixed(self) -> Self {
        Self { x: self.x * self.y, y: self.x * self.z, z: self.y * self.z }
    }

    /// Component by component.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        Self { x: self.x * other.x, y: self.y * other.y, z: self.z * other.z }
    }

    /// Two directions at right angles to it and to each other, where it has length one: as [`crate::math::tangents`].
    #[inline(always)]
    pub fn tangents(self) -> (Self, Self) {
        let (one, zero) = (F::splat(1.0), F::splat(0.0));
        let sign = F::select(self.z.below(zero), -one, one);
        let a = -one / (sign + self.z);
        let b = self.x * self.y * a;
        (
            Self { x: one + sign * self.x * self.x * a, y: sign * b, z: -sign * self.x },
            Self { x: b, y: sign + self.y * self.y * a, z: -self.y },
        )
    }

    /// Component by component: `a` where the mask is true, else `b`.
    #[inline(always)]
    pub fn select(mask: F::Mask, a: Self, b: Self) -> Self {
        Self { x: F::select(mask, a.x, b.x), y: F::select(mask, a.y, b.y), z: F::select(mask, a.z, b.z) }
    }
}

impl<F: OfPoints> Vector<F> {
    /// A vector of every part.
    #[inline(always)]
    pub fn spread<T: Copy>(each: &F::Each<T>, value: impl Fn(&T) -> Vec3) -> Self {
        Self {
            x: F::spread(each, |t| value(t).x),
            y: F::spread(each, |t| value(t).y),
            z: F::spread(each, |t| value(t).z),
        }
    }

    /// See [`OfPoints::total`].
    #[inline(always)]
    pub fn total(self) -> Vector<F::Body> {
        Vector { x: self.x.total(), y: self.y.total(), z: self.z.total() }
    }

    /// See [`OfPoints::common`].
    #[inline(always)]
    pub fn common(self) -> Vector<F::Body> {
        Vector { x: self.x.common(), y: self.y.common(), z: self.z.common() }
    }
}

impl<F: OfBodies> Vector<F> {
    /// A vector of every body.
    #[inline(always)]
    pub fn gather<T: Copy>(all: &F::Lanes<T>, value: impl Fn(&T) -> Vec3) -> Self {
        Self { x: F::gather(all, |t| value(t).x), y: F::gather(all, |t| value(t).y), z: F::gather(all, |t| value(t).z) }
    }

    /// For every body the sum over what its points have.
    #[inline(always)]
    pub fn totals<T: Copy>(all: &F::Lanes<T>, value: impl Fn(&T) -> Self) -> Self {
        Self { x: F::totals(all, |t| value(t).x), y: F::totals(all, |t| value(t).y), z: F::totals(all, |t| value(t).z) }
    }

    /// The sum with what the lane at `slot` has, see [`OfBodies::of_slot`].
    #[inline(always)]
    pub fn with_slot(self, group: &Group, slot: u32) -> Self {
        let add = |f: F| f + f.of_slot(group, slot);
        Self { x: add(self.x), y: add(self.y), z: add(self.z) }
    }

    /// Vectors by body.
    #[inline(always)]
    pub fn scatter(self) -> Scattered<F> {
        (self.x.scatter(), self.y.scatter(), self.z.scatter())
    }

    /// That of one body.
    #[inline(always)]
    pub fn lane(all: &Scattered<F>, i: u32) -> Vec3 {
        Vec3::new(F::lane(&all.0, i), F::lane(&all.1, i), F::lane(&all.2, i))
    }
}

impl<F: Real> Add for Vector<F> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl<F: Real> Sub for Vector<F> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl<F: Real> Neg for Vector<F> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: -self.x, y: -self.y, z: -self.z }
    }
}

impl<F: Real> Mul<F> for Vector<F> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, scale: F) -> Self {
        Self { x: self.x * scale, y: self.y * scale, z: self.z * scale }
    }
}

/// Number of the specialisation constant of wide stages: points of a manifold that a lane of a Vulkan device holds at
/// once. Any value but 4 is one, which is the default.
///
/// One point at a time leaves a lane of a GPU so few registers in use that three times as many lanes wait for memory at
/// the same time. Drivers that run on a CPU have no such lanes: there a fetch costs what it costs whether it is of one
/// word or of four, and what the points of a manifold have in common is fetched once for all four.
pub const POINTS: u32 = 1;

/// What a lane works on at once, with the instructions that every processor of the kind has.
#[cfg(not(target_arch = "spirv"))]
pub type Wide = two_quads::TwoQuads;

/// The same with those of x86-64-v3.
#[cfg(target_arch = "x86_64")]
pub type WideV3 = oct::Oct;

#[cfg(all(test, not(target_arch = "spirv")))]
mod tests;
