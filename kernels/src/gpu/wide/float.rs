//! One float: a body's, or that of one point of a manifold, on a lane of a GPU.

use super::*;

impl Real for f32 {
    type Mask = bool;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        value
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
    fn any(mask: bool) -> bool {
        mask
    }
}

impl OfPoints for f32 {
    type Body = f32;
    type Each<T: Copy> = T;
    const PARTS: u32 = 1;
    const POINTS: u32 = 1;

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
    fn odd(each: &u32) -> bool {
        each & 1 != 0
    }

    #[inline(always)]
    fn spread<T: Copy>(each: &T, value: impl Fn(&T) -> f32) -> Self {
        value(each)
    }

    #[inline(always)]
    fn first(self, _parts: u32) -> Self {
        self
    }

    #[inline(always)]
    fn load(words: &impl LoadFour, at: &u32, point: u32) -> Self {
        f32::from_bits(words.word(*at, point))
    }

    #[inline(always)]
    fn load_each<L: LoadFour + Copy>(record: &L, word: u32, point: u32) -> Self {
        Self::load(record, &word, point)
    }

    #[inline(always)]
    fn store(self, words: &mut impl StoreFour, at: &u32, point: u32) {
        words.put_word(*at, point, self.to_bits());
    }

    #[inline(always)]
    fn signed(self, mask: bool) -> Self {
        let bits = self.to_bits() & !(1 << 31);
        f32::from_bits(if mask { bits | 1 << 31 } else { bits })
    }

    #[inline(always)]
    fn total(self) -> f32 {
        self
    }

    #[inline(always)]
    fn common(self) -> f32 {
        self
    }
}

impl OfBodies for f32 {
    type Lanes<T: Copy> = T;
    const LANES: u32 = 1;

    #[inline(always)]
    fn lanes<T: Copy>(value: T) -> T {
        value
    }

    #[inline(always)]
    fn put_lane<T: Copy>(all: &mut T, _lane: u32, value: T) {
        *all = value;
    }

    #[inline(always)]
    fn lane<T: Copy>(all: &T, _lane: u32) -> T {
        *all
    }

    #[inline(always)]
    fn gather<T: Copy>(all: &T, value: impl Fn(&T) -> f32) -> Self {
        value(all)
    }

    #[inline(always)]
    fn scatter(self) -> f32 {
        self
    }

    #[inline(always)]
    fn totals<T: Copy>(all: &T, value: impl Fn(&T) -> Self) -> Self {
        value(all)
    }

    #[inline(always)]
    fn of_slot(self, group: &Group, slot: u32) -> Self {
        group.float_from_slot(self, slot)
    }

    #[inline(always)]
    fn by_lane(self, f: impl Fn(f32) -> f32) -> Self {
        f(self)
    }

    #[inline(always)]
    fn with_lane(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        f(self, other)
    }
}
