//! Four floats in a register that every x86-64 has.

use super::*;
use core::arch::x86_64::*;

/// Four floats.
#[derive(Clone, Copy, Debug)]
pub struct Quad(pub __m128);
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

impl QuadMask {
    #[inline(always)]
    pub fn splat(value: bool) -> Self {
        Self(Quad::splat(f32::from_bits(0u32.wrapping_sub(value as u32))).0)
    }
}

impl QuadMask {
    #[inline(always)]
    pub fn any(self) -> bool {
        // SAFETY: SSE is part of x86-64.
        unsafe { _mm_movemask_ps(self.0) != 0 }
    }
}

impl Quad {
    #[inline(always)]
    pub fn splat(value: f32) -> Self {
        // SAFETY: SSE is part of x86-64.
        Self(unsafe { _mm_set1_ps(value) })
    }

    #[inline(always)]
    pub fn from_bits(words: [u32; 4]) -> Self {
        // SAFETY: four words are as large as the register, and any bits are floats.
        Self(unsafe { core::mem::transmute::<[u32; 4], __m128>(words) })
    }

    #[inline(always)]
    pub fn to_bits(self) -> [u32; 4] {
        // SAFETY: as above, the other way round.
        unsafe { core::mem::transmute::<__m128, [u32; 4]>(self.0) }
    }

    #[inline(always)]
    pub fn signed(self, mask: QuadMask) -> Self {
        // SAFETY: SSE is part of x86-64.
        Self(unsafe {
            let sign = _mm_set1_ps(-0.0);
            _mm_or_ps(_mm_andnot_ps(sign, self.0), _mm_and_ps(sign, mask.0))
        })
    }

    #[inline(always)]
    pub fn root(self) -> Self {
        // SAFETY: SSE is part of x86-64.
        Self(unsafe { _mm_sqrt_ps(self.0) })
    }

    #[inline(always)]
    pub fn below(self, other: Self) -> QuadMask {
        // SAFETY: SSE is part of x86-64.
        QuadMask(unsafe { _mm_cmplt_ps(self.0, other.0) })
    }

    #[inline(always)]
    pub fn select(mask: QuadMask, a: Self, b: Self) -> Self {
        // SAFETY: SSE is part of x86-64.
        Self(unsafe { _mm_or_ps(_mm_and_ps(mask.0, a.0), _mm_andnot_ps(mask.0, b.0)) })
    }

    /// The sum of each.
    #[inline(always)]
    pub fn totals(a: Self, b: Self, c: Self, d: Self) -> Self {
        // Pairs, then pairs of pairs, as lanes add.
        // SAFETY: SSE is part of x86-64.
        Self(unsafe {
            let (ab, cd) = (_mm_unpacklo_ps(a.0, b.0), _mm_unpacklo_ps(c.0, d.0));
            let (ab_high, cd_high) = (_mm_unpackhi_ps(a.0, b.0), _mm_unpackhi_ps(c.0, d.0));
            let low = _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
            _mm_add_ps(low, _mm_add_ps(_mm_movelh_ps(ab_high, cd_high), _mm_movehl_ps(cd_high, ab_high)))
        })
    }
}
