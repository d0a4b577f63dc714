//! Two manifolds, four points of each, in one register of AVX. Only what runs behind a check of the processor makes
//! values of it: see [`stage!`](crate::stage).

use super::quad::Quad;
use super::*;
use core::arch::x86_64::*;

/// Eight floats.
#[derive(Clone, Copy, Debug)]
pub struct Oct(__m256);
/// Eight outcomes, each all ones or all zeros.
#[derive(Clone, Copy, Debug)]
pub struct OctMask(__m256);

macro_rules! operator {
    ($($trait:ident $name:ident $intrinsic:ident),*) => {$(
        impl $trait for Oct {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: there is a value only where there is AVX.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    )*};
}
operator!(Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);

impl Neg for Oct {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: there is a value only where there is AVX.
        Self(unsafe { _mm256_xor_ps(self.0, _mm256_set1_ps(-0.0)) })
    }
}

impl BitAnd for OctMask {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        // SAFETY: there is a value only where there is AVX.
        Self(unsafe { _mm256_and_ps(self.0, other.0) })
    }
}

impl Not for OctMask {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: there is a value only where there is AVX.
        Self(unsafe { _mm256_xor_ps(self.0, _mm256_castsi256_ps(_mm256_set1_epi32(-1))) })
    }
}

impl Oct {
    #[inline(always)]
    fn halves(low: Quad, high: Quad) -> Self {
        // SAFETY: see the head of the module.
        Self(unsafe { _mm256_set_m128(high.0, low.0) })
    }

    #[inline(always)]
    fn low(self) -> Quad {
        // SAFETY: there is a value only where there is AVX.
        Quad(unsafe { _mm256_castps256_ps128(self.0) })
    }

    #[inline(always)]
    fn high(self) -> Quad {
        // SAFETY: there is a value only where there is AVX.
        Quad(unsafe { _mm256_extractf128_ps::<1>(self.0) })
    }
}

impl Real for Oct {
    type Mask = OctMask;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see the head of the module.
        Self(unsafe { _mm256_set1_ps(value) })
    }

    #[inline(always)]
    fn root(self) -> Self {
        // SAFETY: there is a value only where there is AVX.
        Self(unsafe { _mm256_sqrt_ps(self.0) })
    }

    #[inline(always)]
    fn below(self, other: Self) -> OctMask {
        // SAFETY: there is a value only where there is AVX.
        OctMask(unsafe { _mm256_cmp_ps::<_CMP_LT_OS>(self.0, other.0) })
    }

    #[inline(always)]
    fn select(mask: OctMask, a: Self, b: Self) -> Self {
        // SAFETY: there is a value only where there is AVX.
        Self(unsafe { _mm256_blendv_ps(b.0, a.0, mask.0) })
    }

    #[inline(always)]
    fn any(mask: OctMask) -> bool {
        // SAFETY: there is a value only where there is AVX.
        unsafe { _mm256_movemask_ps(mask.0) != 0 }
    }
}

impl OfPoints for Oct {
    eight_points!();

    #[inline(always)]
    fn odd(each: &[u32; 2]) -> OctMask {
        // Minus one where it is odd, all ones, else zero.
        let word = |part: usize| f32::from_bits(0u32.wrapping_sub(each[part] & 1));
        OctMask(Self::halves(Quad::splat(word(0)), Quad::splat(word(1))).0)
    }

    #[inline(always)]
    fn spread<T: Copy>(each: &[T; 2], value: impl Fn(&T) -> f32) -> Self {
        Self::halves(Quad::splat(value(&each[0])), Quad::splat(value(&each[1])))
    }

    #[inline(always)]
    fn first(self, parts: u32) -> Self {
        if parts > 1 { self } else { Self::halves(self.low(), Quad::splat(0.0)) }
    }

    #[inline(always)]
    fn load(words: &impl LoadFour, at: &[u32; 2], _point: u32) -> Self {
        Self::halves(Quad::from_bits(words.at(at[0]).to_array()), Quad::from_bits(words.at(at[1]).to_array()))
    }

    #[inline(always)]
    fn load_each<L: LoadFour + Copy>(records: &[L; 2], word: u32, _point: u32) -> Self {
        let half = |part: usize| Quad::from_bits(records[part].at(word).to_array());
        Self::halves(half(0), half(1))
    }

    #[inline(always)]
    fn store(self, words: &mut impl StoreFour, at: &[u32; 2], _point: u32) {
        words.put(at[0], UVec4::from_array(self.low().to_bits()));
        words.put(at[1], UVec4::from_array(self.high().to_bits()));
    }

    #[inline(always)]
    fn signed(self, mask: OctMask) -> Self {
        // SAFETY: there is a value only where there is AVX.
        Self(unsafe {
            let sign = _mm256_set1_ps(-0.0);
            _mm256_or_ps(_mm256_andnot_ps(sign, self.0), _mm256_and_ps(sign, mask.0))
        })
    }
}

impl OfBodies for Oct {
    eight_bodies!();

    #[inline(always)]
    fn gather<T: Copy>(all: &[T; 8], value: impl Fn(&T) -> f32) -> Self {
        let bits = |i: usize| value(&all[i]).to_bits();
        let low = Quad::from_bits([bits(0), bits(1), bits(2), bits(3)]);
        Self::halves(low, Quad::from_bits([bits(4), bits(5), bits(6), bits(7)]))
    }

    #[inline(always)]
    fn scatter(self) -> [f32; 8] {
        let (low, high) = (self.low(), self.high());
        let mut all = [0.0; 8];
        for (one, bits) in all.iter_mut().zip(low.to_bits().into_iter().chain(high.to_bits())) {
            *one = f32::from_bits(bits);
        }
        all
    }

    #[inline(always)]
    fn totals<T: Copy>(all: &[T; 8], value: impl Fn(&T) -> Self) -> Self {
        let v = |i: usize| value(&all[i]).0;
        // Pairs, then pairs of pairs, then both manifolds.
        // SAFETY: there is a value only where there is AVX.
        Self(unsafe {
            let (ab, cd) = (_mm256_hadd_ps(v(0), v(1)), _mm256_hadd_ps(v(2), v(3)));
            let (ef, gh) = (_mm256_hadd_ps(v(4), v(5)), _mm256_hadd_ps(v(6), v(7)));
            let (abcd, efgh) = (_mm256_hadd_ps(ab, cd), _mm256_hadd_ps(ef, gh));
            let first = _mm256_permute2f128_ps::<0x20>(abcd, efgh);
            _mm256_add_ps(first, _mm256_permute2f128_ps::<0x31>(abcd, efgh))
        })
    }
}
