//! One float: a body's, on a lane of a GPU.

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
