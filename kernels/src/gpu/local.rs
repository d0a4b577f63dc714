//! A small array of a lane. A GPU cannot index registers, so an array with a variable index would live in memory, with
//! one access a lane. There every access is unrolled into a selection between all elements; the CPU indexes.

use super::{Load, Store};

/// Up to eight values. A store beyond the end is dropped, which costs a GPU less than a branch around it.
#[derive(Clone, Copy)]
pub struct Local<T, const N: usize>([T; N]);

impl<T: Copy, const N: usize> Local<T, N> {
    /// All the same.
    #[inline(always)]
    pub fn splat(value: T) -> Self {
        const { assert!(N <= 8) };
        Self([value; N])
    }

    /// These.
    #[inline(always)]
    pub fn of(values: [T; N]) -> Self {
        const { assert!(N <= 8) };
        Self(values)
    }
}

#[cfg(target_arch = "spirv")]
mod target {
    use super::*;
    use spirv_std::arch::IndexUnchecked;

    macro_rules! unrolled {
        ($($slot:literal)*) => {
            impl<T: Copy, const N: usize> Load<T> for Local<T, N> {
                #[inline(always)]
                fn at(&self, i: u32) -> T {
                    // SAFETY: in bounds wherever `N` lets it run.
                    let mut value = unsafe { *self.0.index_unchecked(0) };
                    $(if N > $slot {
                        // SAFETY: as above.
                        let other = unsafe { *self.0.index_unchecked($slot) };
                        value = if i == $slot { other } else { value };
                    })*
                    value
                }
            }

            impl<T: Copy, const N: usize> Store<T> for Local<T, N> {
                #[inline(always)]
                fn put(&mut self, i: u32, value: T) {
                    // SAFETY: in bounds wherever `N` lets it run.
                    let first = unsafe { *self.0.index_unchecked(0) };
                    // SAFETY: as above.
                    unsafe { *self.0.index_unchecked_mut(0) = if i == 0 { value } else { first } };
                    $(if N > $slot {
                        // SAFETY: as above.
                        let old = unsafe { *self.0.index_unchecked($slot) };
                        // SAFETY: as above.
                        unsafe { *self.0.index_unchecked_mut($slot) = if i == $slot { value } else { old } };
                    })*
                }
            }
        };
    }
    unrolled!(1 2 3 4 5 6 7);
}

#[cfg(not(target_arch = "spirv"))]
mod target {
    use super::*;

    impl<T: Copy, const N: usize> Load<T> for Local<T, N> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            // What is not there is the last. A comparison, which is left out where the loop around it knows the answer.
            if (i as usize) < N { self.0[i as usize] } else { self.0[N - 1] }
        }
    }

    impl<T: Copy, const N: usize> Store<T> for Local<T, N> {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            if let Some(slot) = self.0.get_mut(i as usize) {
                *slot = value;
            }
        }
    }
}
