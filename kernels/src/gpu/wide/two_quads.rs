//! Two manifolds, four points of each, as two halves.

use super::quad::{Quad, QuadMask};
use super::*;

/// Eight floats.
#[derive(Clone, Copy, Debug)]
pub struct TwoQuads(Quad, Quad);
/// Eight outcomes.
#[derive(Clone, Copy, Debug)]
pub struct TwoQuadsMask(QuadMask, QuadMask);

macro_rules! operator {
    ($($trait:ident $name:ident),*) => {$(
        impl $trait for TwoQuads {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self(self.0.$name(other.0), self.1.$name(other.1))
            }
        }
    )*};
}
operator!(Add add, Sub sub, Mul mul, Div div);

impl Neg for TwoQuads {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl BitAnd for TwoQuadsMask {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0, self.1 & other.1)
    }
}

impl Not for TwoQuadsMask {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0, !self.1)
    }
}

impl Real for TwoQuads {
    type Mask = TwoQuadsMask;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(Quad::splat(value), Quad::splat(value))
    }

    #[inline(always)]
    fn root(self) -> Self {
        Self(self.0.root(), self.1.root())
    }

    #[inline(always)]
    fn below(self, other: Self) -> TwoQuadsMask {
        TwoQuadsMask(self.0.below(other.0), self.1.below(other.1))
    }

    #[inline(always)]
    fn select(mask: TwoQuadsMask, a: Self, b: Self) -> Self {
        Self(Quad::select(mask.0, a.0, b.0), Quad::select(mask.1, a.1, b.1))
    }

    #[inline(always)]
    fn any(mask: TwoQuadsMask) -> bool {
        mask.0.any() || mask.1.any()
    }
}

impl OfPoints for TwoQuads {
    eight_points!();

    #[inline(always)]
    fn odd(each: &[u32; 2]) -> TwoQuadsMask {
        TwoQuadsMask(QuadMask::splat(each[0] & 1 != 0), QuadMask::splat(each[1] & 1 != 0))
    }

    #[inline(always)]
    fn spread<T: Copy>(each: &[T; 2], value: impl Fn(&T) -> f32) -> Self {
        Self(Quad::splat(value(&each[0])), Quad::splat(value(&each[1])))
    }

    #[inline(always)]
    fn first(self, parts: u32) -> Self {
        Self(self.0, if parts > 1 { self.1 } else { Quad::splat(0.0) })
    }

    #[inline(always)]
    fn load(words: &impl LoadFour, at: &[u32; 2], _point: u32) -> Self {
        Self(Quad::from_bits(words.at(at[0]).to_array()), Quad::from_bits(words.at(at[1]).to_array()))
    }

    #[inline(always)]
    fn load_each<L: LoadFour + Copy>(records: &[L; 2], word: u32, _point: u32) -> Self {
        let half = |part: usize| Quad::from_bits(records[part].at(word).to_array());
        Self(half(0), half(1))
    }

    #[inline(always)]
    fn store(self, words: &mut impl StoreFour, at: &[u32; 2], _point: u32) {
        words.put(at[0], UVec4::from_array(self.0.to_bits()));
        words.put(at[1], UVec4::from_array(self.1.to_bits()));
    }

    #[inline(always)]
    fn signed(self, mask: TwoQuadsMask) -> Self {
        Self(self.0.signed(mask.0), self.1.signed(mask.1))
    }
}

impl OfBodies for TwoQuads {
    eight_bodies!();

    #[inline(always)]
    fn gather<T: Copy>(all: &[T; 8], value: impl Fn(&T) -> f32) -> Self {
        let bits = |i: usize| value(&all[i]).to_bits();
        let low = Quad::from_bits([bits(0), bits(1), bits(2), bits(3)]);
        Self(low, Quad::from_bits([bits(4), bits(5), bits(6), bits(7)]))
    }

    #[inline(always)]
    fn scatter(self) -> [f32; 8] {
        let (low, high) = (self.0, self.1);
        let mut all = [0.0; 8];
        for (one, bits) in all.iter_mut().zip(low.to_bits().into_iter().chain(high.to_bits())) {
            *one = f32::from_bits(bits);
        }
        all
    }

    #[inline(always)]
    fn totals<T: Copy>(all: &[T; 8], value: impl Fn(&T) -> Self) -> Self {
        let sums = |first: usize| {
            let v = |i: usize| value(&all[first + i]);
            let (a, b, c, d) = (v(0), v(1), v(2), v(3));
            Quad::totals(a.0, b.0, c.0, d.0) + Quad::totals(a.1, b.1, c.1, d.1)
        };
        Self(sums(0), sums(4))
    }
}
