//! Arithmetic on several contact points at once. A lane of a GPU takes one point at a time, and its neighbours take the
//! next; the CPU's only lane is four wide. Code over [`Real`] serves both, and [`Wide`] is what the target has.

use super::{glam::Vec3, sqrt};
use core::ops::{Add, BitAnd, Div, Mul, Neg, Not, Sub};

/// A float, or several side by side. There are no branches over it: choose with [`Real::select`].
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The outcome of comparisons.
    type Mask: Copy + BitAnd<Output = Self::Mask> + Not<Output = Self::Mask>;
    /// How many there are.
    const WIDTH: u32;
    /// The same everywhere.
    fn splat(value: f32) -> Self;
    /// Where the sign bit is set.
    fn signed(self) -> Self::Mask;
    /// Columns of a table whose row `i` is `row(i)`, and zeros from row `count` on; `count` is not 0.
    fn columns(count: u32, row: impl Fn(u32) -> [f32; 12]) -> [Self; 12];
    /// Square roots.
    fn root(self) -> Self;
    /// Where it is below `other`.
    fn below(self, other: Self) -> Self::Mask;
    /// `a` where the mask is true, else `b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// The sum of all.
    fn total(self) -> f32;
    /// The one at `i`.
    fn at(self, i: u32) -> f32;
    /// Whether `mask` is true at `i`.
    fn is(mask: Self::Mask, i: u32) -> bool;

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

impl Real for f32 {
    type Mask = bool;
    const WIDTH: u32 = 1;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn signed(self) -> bool {
        self.to_bits() >> 31 != 0
    }

    #[inline(always)]
    fn columns(_count: u32, row: impl Fn(u32) -> [f32; 12]) -> [Self; 12] {
        row(0)
    }

    #[inline(always)]
    fn root(self) -> Self {
        sqrt(self)
    }

    #[inline(always)]
    fn below(self, other: Self) -> bool {
        self < other
    }

    #[inline(always)]
    fn select(mask: bool, a: Self, b: Self) -> Self {
        if mask { a } else { b }
    }

    #[inline(always)]
    fn total(self) -> f32 {
        self
    }

    #[inline(always)]
    fn at(self, _i: u32) -> f32 {
        self
    }

    #[inline(always)]
    fn is(mask: bool, _i: u32) -> bool {
        mask
    }
}

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

    /// The one at `i`.
    #[inline(always)]
    pub fn at(self, i: u32) -> Vec3 {
        Vec3::new(self.x.at(i), self.y.at(i), self.z.at(i))
    }

    /// The sum of all.
    #[inline(always)]
    pub fn total(self) -> Vec3 {
        Vec3::new(self.x.total(), self.y.total(), self.z.total())
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

impl<F: Real> Mul<F> for Vector<F> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, scale: F) -> Self {
        Self { x: self.x * scale, y: self.y * scale, z: self.z * scale }
    }
}

#[cfg(target_arch = "spirv")]
pub type Wide = f32;

#[cfg(not(target_arch = "spirv"))]
pub use quad::{Quad, QuadMask};

/// What a lane works on at once: four on the CPU, one on a GPU.
#[cfg(not(target_arch = "spirv"))]
pub type Wide = Quad;

/// Four floats in a register that every x86-64 has.
#[cfg(target_arch = "x86_64")]
mod quad {
    use super::*;
    use core::arch::x86_64::*;

    /// Four floats.
    #[derive(Clone, Copy, Debug)]
    pub struct Quad(__m128);
    /// Four outcomes, each all ones or all zeros.
    #[derive(Clone, Copy, Debug)]
    pub struct QuadMask(__m128);

    macro_rules! operator {
        ($($trait:ident $name:ident $intrinsic:ident),*) => {$(
            impl $trait for Quad {
                type Output = Self;
                #[inline(always)]
                fn $name(self, other: Self) -> Self {
                    // SAFETY: SSE is part of x86-64.
                    Self(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        )*};
    }
    operator!(Add add _mm_add_ps, Sub sub _mm_sub_ps, Mul mul _mm_mul_ps, Div div _mm_div_ps);

    impl Neg for Quad {
        type Output = Self;
        #[inline(always)]
        fn neg(self) -> Self {
            // SAFETY: SSE is part of x86-64.
            Self(unsafe { _mm_xor_ps(self.0, _mm_set1_ps(-0.0)) })
        }
    }

    impl BitAnd for QuadMask {
        type Output = Self;
        #[inline(always)]
        fn bitand(self, other: Self) -> Self {
            // SAFETY: SSE is part of x86-64.
            Self(unsafe { _mm_and_ps(self.0, other.0) })
        }
    }

    impl Not for QuadMask {
        type Output = Self;
        #[inline(always)]
        fn not(self) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            Self(unsafe { _mm_xor_ps(self.0, _mm_castsi128_ps(_mm_set1_epi32(-1))) })
        }
    }

    impl Real for Quad {
        type Mask = QuadMask;
        const WIDTH: u32 = 4;

        #[inline(always)]
        fn splat(value: f32) -> Self {
            // SAFETY: SSE is part of x86-64.
            Self(unsafe { _mm_set1_ps(value) })
        }

        #[inline(always)]
        fn signed(self) -> QuadMask {
            // SAFETY: SSE2 is part of x86-64.
            QuadMask(unsafe { _mm_castsi128_ps(_mm_srai_epi32::<31>(_mm_castps_si128(self.0))) })
        }

        #[inline(always)]
        fn columns(count: u32, row: impl Fn(u32) -> [f32; 12]) -> [Self; 12] {
            let rows = [row(0), row(1), row(2), row(3)];
            let mut columns = [Self::splat(0.0); 12];
            for block in [0, 4, 8] {
                // SAFETY: SSE is part of x86-64; every row has four floats from `block` on.
                let [a, b, c, d] = [0, 1, 2, 3].map(|i: usize| unsafe { _mm_loadu_ps(rows[i].as_ptr().add(block)) });
                // SAFETY: SSE is part of x86-64.
                let turned = unsafe {
                    let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
                    let (ab_high, cd_high) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
                    [
                        _mm_movelh_ps(ab, cd),
                        _mm_movehl_ps(cd, ab),
                        _mm_movelh_ps(ab_high, cd_high),
                        _mm_movehl_ps(cd_high, ab_high),
                    ]
                };
                columns[block..block + 4].copy_from_slice(&turned.map(Self));
            }
            if count < 4 {
                // SAFETY: SSE is part of x86-64.
                let there = Self(unsafe { _mm_setr_ps(0.0, 1.0, 2.0, 3.0) }).below(Self::splat(count as f32));
                columns = columns.map(|c| Self::select(there, c, Self::splat(0.0)));
            }
            columns
        }

        #[inline(always)]
        fn root(self) -> Self {
            // SAFETY: SSE is part of x86-64.
            Self(unsafe { _mm_sqrt_ps(self.0) })
        }

        #[inline(always)]
        fn below(self, other: Self) -> QuadMask {
            // SAFETY: SSE is part of x86-64.
            QuadMask(unsafe { _mm_cmplt_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn select(mask: QuadMask, a: Self, b: Self) -> Self {
            // SAFETY: SSE is part of x86-64.
            Self(unsafe { _mm_or_ps(_mm_and_ps(mask.0, a.0), _mm_andnot_ps(mask.0, b.0)) })
        }

        #[inline(always)]
        fn total(self) -> f32 {
            // Pairs, then pairs of pairs, as lanes add.
            // SAFETY: SSE is part of x86-64.
            unsafe {
                let pairs = _mm_add_ps(self.0, _mm_shuffle_ps::<0b10_11_00_01>(self.0, self.0));
                _mm_cvtss_f32(_mm_add_ss(pairs, _mm_movehl_ps(pairs, pairs)))
            }
        }

        #[inline(always)]
        fn at(self, i: u32) -> f32 {
            let mut all = [0.0; 4];
            // SAFETY: SSE is part of x86-64, and there is room for four.
            unsafe { _mm_storeu_ps(all.as_mut_ptr(), self.0) };
            all[(i & 3) as usize]
        }

        #[inline(always)]
        fn is(mask: QuadMask, i: u32) -> bool {
            // SAFETY: SSE is part of x86-64.
            unsafe { _mm_movemask_ps(mask.0) & (1 << (i & 3)) != 0 }
        }
    }
}

/// Four floats on other processors; their compilers see the vectors in it.
#[cfg(not(any(target_arch = "x86_64", target_arch = "spirv")))]
mod quad {
    use super::*;

    /// Four floats.
    #[derive(Clone, Copy, Debug)]
    pub struct Quad([f32; 4]);
    /// Four outcomes.
    #[derive(Clone, Copy, Debug)]
    pub struct QuadMask([bool; 4]);

    macro_rules! operator {
        ($($trait:ident $name:ident),*) => {$(
            impl $trait for Quad {
                type Output = Self;
                #[inline(always)]
                fn $name(self, other: Self) -> Self {
                    Self(std::array::from_fn(|i| self.0[i].$name(other.0[i])))
                }
            }
        )*};
    }
    operator!(Add add, Sub sub, Mul mul, Div div);

    impl Neg for Quad {
        type Output = Self;
        #[inline(always)]
        fn neg(self) -> Self {
            Self(self.0.map(f32::neg))
        }
    }

    impl BitAnd for QuadMask {
        type Output = Self;
        #[inline(always)]
        fn bitand(self, other: Self) -> Self {
            Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
        }
    }

    impl Not for QuadMask {
        type Output = Self;
        #[inline(always)]
        fn not(self) -> Self {
            Self(self.0.map(bool::not))
        }
    }

    impl Real for Quad {
        type Mask = QuadMask;
        const WIDTH: u32 = 4;

        #[inline(always)]
        fn splat(value: f32) -> Self {
            Self([value; 4])
        }

        #[inline(always)]
        fn signed(self) -> QuadMask {
            QuadMask(self.0.map(f32::is_sign_negative))
        }

        #[inline(always)]
        fn columns(count: u32, row: impl Fn(u32) -> [f32; 12]) -> [Self; 12] {
            let rows = [row(0), row(1), row(2), row(3)];
            let cell = |row: usize, column: usize| if (row as u32) < count { rows[row][column] } else { 0.0 };
            std::array::from_fn(|column| Self(std::array::from_fn(|row| cell(row, column))))
        }

        #[inline(always)]
        fn root(self) -> Self {
            Self(self.0.map(f32::sqrt))
        }

        #[inline(always)]
        fn below(self, other: Self) -> QuadMask {
            QuadMask(std::array::from_fn(|i| self.0[i] < other.0[i]))
        }

        #[inline(always)]
        fn select(mask: QuadMask, a: Self, b: Self) -> Self {
            Self(std::array::from_fn(|i| if mask.0[i] { a.0[i] } else { b.0[i] }))
        }

        #[inline(always)]
        fn total(self) -> f32 {
            (self.0[0] + self.0[1]) + (self.0[2] + self.0[3])
        }

        #[inline(always)]
        fn at(self, i: u32) -> f32 {
            self.0[(i & 3) as usize]
        }

        #[inline(always)]
        fn is(mask: QuadMask, i: u32) -> bool {
            mask.0[(i & 3) as usize]
        }
    }
}
