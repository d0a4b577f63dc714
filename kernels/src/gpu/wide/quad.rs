//! Four floats on processors without a module of their own; their compilers see the vectors in it.

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

impl QuadMask {
    #[inline(always)]
    pub fn splat(value: bool) -> Self {
        Self([value; 4])
    }
}

impl QuadMask {
    #[inline(always)]
    pub fn any(self) -> bool {
        self.0.contains(&true)
    }
}

impl Quad {
    #[inline(always)]
    pub fn splat(value: f32) -> Self {
        Self([value; 4])
    }

    #[inline(always)]
    pub fn from_bits(words: [u32; 4]) -> Self {
        Self(words.map(f32::from_bits))
    }

    #[inline(always)]
    pub fn to_bits(self) -> [u32; 4] {
        self.0.map(f32::to_bits)
    }

    #[inline(always)]
    pub fn signed(self, mask: QuadMask) -> Self {
        Self(std::array::from_fn(|i| f32::from_bits(self.0[i].to_bits() & !(1 << 31) | u32::from(mask.0[i]) << 31)))
    }

    #[inline(always)]
    pub fn root(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }

    #[inline(always)]
    pub fn below(self, other: Self) -> QuadMask {
        QuadMask(std::array::from_fn(|i| self.0[i] < other.0[i]))
    }

    #[inline(always)]
    pub fn select(mask: QuadMask, a: Self, b: Self) -> Self {
        Self(std::array::from_fn(|i| if mask.0[i] { a.0[i] } else { b.0[i] }))
    }

    /// The sum of each.
    #[inline(always)]
    pub fn totals(a: Self, b: Self, c: Self, d: Self) -> Self {
        Self([a, b, c, d].map(|q| (q.0[0] + q.0[1]) + (q.0[2] + q.0[3])))
    }
}
