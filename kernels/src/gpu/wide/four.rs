//! The four points of a manifold on a lane of a GPU, for a stage that needs to see them together (`aggregates`). They
//! lie side by side in memory, so a lane fetches a word of all four at once.

use super::*;

/// Four floats, each in a register of its own.
#[derive(Clone, Copy)]
pub struct Four(f32, f32, f32, f32);
/// Four outcomes.
#[derive(Clone, Copy)]
pub struct FourMask(bool, bool, bool, bool);

macro_rules! operator {
    ($($trait:ident $name:ident $operator:tt),*) => {$(
        impl $trait for Four {
            type Output = Self;
            #[inline(always)]
            fn $name(self, o: Self) -> Self {
                Self(self.0 $operator o.0, self.1 $operator o.1, self.2 $operator o.2, self.3 $operator o.3)
            }
        }
    )*};
}
operator!(Add add +, Sub sub -, Mul mul *, Div div /);

impl Neg for Four {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0, -self.1, -self.2, -self.3)
    }
}

impl BitAnd for FourMask {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, o: Self) -> Self {
        Self(self.0 & o.0, self.1 & o.1, self.2 & o.2, self.3 & o.3)
    }
}

impl Not for FourMask {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0, !self.1, !self.2, !self.3)
    }
}

#[inline(always)]
fn signed(v: f32, mask: bool) -> f32 {
    let bits = v.to_bits() & !(1 << 31);
    f32::from_bits(if mask { bits | 1 << 31 } else { bits })
}

impl Real for Four {
    type Mask = FourMask;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(value, value, value, value)
    }

    #[inline(always)]
    fn root(self) -> Self {
        Self(sqrt(self.0), sqrt(self.1), sqrt(self.2), sqrt(self.3))
    }

    #[inline(always)]
    fn below(self, o: Self) -> FourMask {
        FourMask(self.0 < o.0, self.1 < o.1, self.2 < o.2, self.3 < o.3)
    }

    #[inline(always)]
    fn select(mask: FourMask, a: Self, b: Self) -> Self {
        Self(
            if mask.0 { a.0 } else { b.0 },
            if mask.1 { a.1 } else { b.1 },
            if mask.2 { a.2 } else { b.2 },
            if mask.3 { a.3 } else { b.3 },
        )
    }

    #[inline(always)]
    fn any(mask: FourMask) -> bool {
        mask.0 | mask.1 | mask.2 | mask.3
    }
}

impl OfPoints for Four {
    type Body = f32;
    type Each<T: Copy> = T;
    const PARTS: u32 = 1;
    const POINTS: u32 = 4;

    #[inline(always)]
    fn each<T: Copy>(get: impl Fn(u32) -> T) -> T {
        get(0)
    }

    #[inline(always)]
    fn map<T: Copy, U: Copy>(each: &T, get: impl Fn(&T) -> U) -> U {
        get(each)
    }

    #[inline(always)]
    fn part<T: Copy>(each: &T, _part: u32) -> T {
        *each
    }

    #[inline(always)]
    fn shift(each: &u32, by: u32) -> u32 {
        *each + by
    }

    #[inline(always)]
    fn odd(each: &u32) -> FourMask {
        let odd = each & 1 != 0;
        FourMask(odd, odd, odd, odd)
    }

    #[inline(always)]
    fn spread<T: Copy>(each: &T, value: impl Fn(&T) -> f32) -> Self {
        Self::splat(value(each))
    }

    #[inline(always)]
    fn first(self, _parts: u32) -> Self {
        self
    }

    #[inline(always)]
    fn load(words: &impl LoadFour, at: &u32, _point: u32) -> Self {
        let v = words.at(*at);
        Self(f32::from_bits(v.x), f32::from_bits(v.y), f32::from_bits(v.z), f32::from_bits(v.w))
    }

    #[inline(always)]
    fn load_each<L: LoadFour + Copy>(record: &L, word: u32, _point: u32) -> Self {
        Self::load(record, &word, _point)
    }

    #[inline(always)]
    fn store(self, words: &mut impl StoreFour, at: &u32, _point: u32) {
        words.put(*at, UVec4::new(self.0.to_bits(), self.1.to_bits(), self.2.to_bits(), self.3.to_bits()));
    }

    #[inline(always)]
    fn signed(self, m: FourMask) -> Self {
        Self(signed(self.0, m.0), signed(self.1, m.1), signed(self.2, m.2), signed(self.3, m.3))
    }

    /// Pairs, then pairs of pairs, as the CPU adds.
    #[inline(always)]
    fn total(self) -> f32 {
        (self.0 + self.1) + (self.2 + self.3)
    }

    #[inline(always)]
    fn common(self) -> f32 {
        self.0
    }
}
