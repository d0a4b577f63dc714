//! Views of storage buffers and of workgroup memory: load by index, store by index, and the atomics in use.
//!
//! On the CPU every worker thread holds its own view of the same memory. What makes that sound is the contract of
//! every stage: between two barriers of a recording no element is written by one invocation and touched by another,
//! except through the atomic methods.

use core::marker::PhantomData;

/// A storage buffer that a stage only reads.
#[derive(Clone, Copy)]
pub struct Read<'a, T> {
    #[cfg(target_arch = "spirv")]
    slice: &'a [T],
    #[cfg(not(target_arch = "spirv"))]
    start: *const T,
    #[cfg(not(target_arch = "spirv"))]
    len: usize,
    borrow: PhantomData<&'a T>,
}

/// A storage buffer that a stage writes, or reads and writes.
pub struct Write<'a, T> {
    #[cfg(target_arch = "spirv")]
    slice: &'a mut [T],
    #[cfg(not(target_arch = "spirv"))]
    start: *mut T,
    #[cfg(not(target_arch = "spirv"))]
    len: usize,
    borrow: PhantomData<&'a mut T>,
}

/// Loads by index, the same for buffers and workgroup memory.
pub trait Load<T> {
    /// The element at `i`.
    fn at(&self, i: u32) -> T;
}

/// Stores by index.
pub trait Store<T>: Load<T> {
    /// Stores `value` at `i`.
    fn put(&mut self, i: u32, value: T);
}

#[cfg(target_arch = "spirv")]
mod target {
    use super::*;
    use spirv_std::arch::{self, IndexUnchecked};
    use spirv_std::memory::{Scope, Semantics};

    const QUEUE: u32 = Scope::QueueFamily as u32;
    const WORKGROUP: u32 = Scope::Workgroup as u32;
    const RELAXED: u32 = Semantics::NONE.bits();

    impl<'a, T: Copy> Read<'a, T> {
        #[inline(always)]
        pub fn new(slice: &'a [T]) -> Self {
            Self { slice, borrow: PhantomData }
        }

        /// GPUs hide latency with other lanes.
        #[inline(always)]
        pub fn prefetch(&self, _i: u32, _count: u32) {}

        /// As for `prefetch`.
        #[inline(always)]
        pub fn prefetch_early(&self, _i: u32, _count: u32) {}
    }

    impl<T: Copy> Load<T> for Read<'_, T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            // SAFETY: the stage's contract: indices come from counts that the plan keeps within the buffer.
            unsafe { *self.slice.index_unchecked(i as usize) }
        }
    }

    impl<'a, T: Copy> Write<'a, T> {
        #[inline(always)]
        pub fn new(slice: &'a mut [T]) -> Self {
            Self { slice, borrow: PhantomData }
        }

        /// As for [`Read`].
        #[inline(always)]
        pub fn prefetch(&self, _i: u32, _count: u32) {}
    }

    impl<T: Copy> Load<T> for Write<'_, T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            // SAFETY: as for `Read::at`.
            unsafe { *self.slice.index_unchecked(i as usize) }
        }
    }

    impl<T: Copy> Store<T> for Write<'_, T> {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            // SAFETY: as for `Read::at`.
            unsafe { *self.slice.index_unchecked_mut(i as usize) = value }
        }
    }

    impl Write<'_, u32> {
        #[inline(always)]
        pub fn or(&mut self, i: u32, bits: u32) {
            // SAFETY: as for `Read::at`.
            unsafe { arch::atomic_or::<_, QUEUE, RELAXED>(self.slice.index_unchecked_mut(i as usize), bits) };
        }

        #[inline(always)]
        pub fn add(&mut self, i: u32, value: u32) -> u32 {
            // SAFETY: as for `Read::at`.
            unsafe { arch::atomic_i_add::<_, QUEUE, RELAXED>(self.slice.index_unchecked_mut(i as usize), value) }
        }

        #[inline(always)]
        pub fn now(&self, i: u32) -> u32 {
            // SAFETY: as for `Read::at`.
            unsafe { arch::atomic_load::<_, QUEUE, RELAXED>(self.slice.index_unchecked(i as usize)) }
        }

        #[inline(always)]
        pub fn lower(&mut self, i: u32, value: u32) -> u32 {
            // SAFETY: as for `Read::at`.
            unsafe { arch::atomic_u_min::<_, QUEUE, RELAXED>(self.slice.index_unchecked_mut(i as usize), value) }
        }
    }

    impl<T: Copy, const N: usize> Load<T> for [T; N] {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            // SAFETY: as for `Read::at`; the length is the declared one.
            unsafe { *self.index_unchecked(i as usize) }
        }
    }

    impl<T: Copy, const N: usize> Store<T> for [T; N] {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            // SAFETY: as above.
            unsafe { *self.index_unchecked_mut(i as usize) = value }
        }
    }

    #[inline(always)]
    pub fn shared_add<const N: usize>(shared: &mut [u32; N], i: u32, value: u32) -> u32 {
        // SAFETY: as above.
        unsafe { arch::atomic_i_add::<_, WORKGROUP, RELAXED>(shared.index_unchecked_mut(i as usize), value) }
    }
}

#[cfg(not(target_arch = "spirv"))]
mod target {
    use super::*;
    use core::sync::atomic::{AtomicU32, Ordering};

    // The cache that a prefetch brings memory into, as x86-64 counts them (`_MM_HINT_T0` and `_MM_HINT_T2`).
    const INNER: i32 = 3;
    const OUTER: i32 = 1;

    #[inline(always)]
    fn prefetch<T, const CACHE: i32>(start: *const T, i: u32, count: u32) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::_mm_prefetch;
            let (mut at, bytes) = (0, count as usize * size_of::<T>());
            while at < bytes {
                let line = start.wrapping_add(i as usize).cast::<i8>().wrapping_add(at);
                // SAFETY: a prefetch reads nothing and cannot fault.
                unsafe { _mm_prefetch::<CACHE>(line) };
                at += 64;
            }
        }
        let _ = (start, i, count);
    }

    impl<T: Copy> Read<'_, T> {
        /// Asks for `count` elements from `i` on ahead of their use. Changes nothing but time.
        #[inline(always)]
        pub fn prefetch(&self, i: u32, count: u32) {
            debug_assert!(i as usize + count as usize <= self.len, "prefetch beyond a buffer of {}", self.len);
            prefetch::<T, INNER>(self.start, i, count);
        }

        /// The same long before: brings them into an outer cache only, which has room for more that is under way.
        #[inline(always)]
        pub fn prefetch_early(&self, i: u32, count: u32) {
            debug_assert!(i as usize + count as usize <= self.len, "prefetch beyond a buffer of {}", self.len);
            prefetch::<T, OUTER>(self.start, i, count);
        }

        /// A view of `len` elements from `start` on.
        ///
        /// # Safety
        /// The elements are initialised, aligned for `T` and stay alive for the view's lifetime; whoever writes them
        /// meanwhile keeps the contract at the head of this module.
        #[inline(always)]
        pub unsafe fn new(start: *const T, len: usize) -> Self {
            Self { start, len, borrow: PhantomData }
        }
    }

    impl<T: Copy> Load<T> for Read<'_, T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            debug_assert!((i as usize) < self.len, "read of element {i} in a buffer of {}", self.len);
            // SAFETY: stages take their indices from counts that the plan keeps within the buffer; debug builds check.
            unsafe { self.start.add(i as usize).read() }
        }
    }

    impl<T: Copy> Write<'_, T> {
        /// As for [`Read::prefetch`].
        #[inline(always)]
        pub fn prefetch(&self, i: u32, count: u32) {
            debug_assert!(i as usize + count as usize <= self.len, "prefetch beyond a buffer of {}", self.len);
            prefetch::<T, INNER>(self.start.cast_const(), i, count);
        }

        /// A view of `len` elements from `start` on.
        ///
        /// # Safety
        /// As for [`Read::new`].
        #[inline(always)]
        pub unsafe fn new(start: *mut T, len: usize) -> Self {
            Self { start, len, borrow: PhantomData }
        }
    }

    impl<T: Copy> Load<T> for Write<'_, T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            debug_assert!((i as usize) < self.len, "read of element {i} in a buffer of {}", self.len);
            // SAFETY: as for `Read::at`.
            unsafe { self.start.add(i as usize).read() }
        }
    }

    impl<T: Copy> Store<T> for Write<'_, T> {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            debug_assert!((i as usize) < self.len, "write of element {i} in a buffer of {}", self.len);
            // SAFETY: as for `Read::at`; no other invocation touches this element (the contract above).
            unsafe { self.start.add(i as usize).write(value) }
        }
    }

    impl Write<'_, u32> {
        /// Sets `bits` in the word at `i`, atomically.
        #[inline(always)]
        pub fn or(&mut self, i: u32, bits: u32) {
            debug_assert!((i as usize) < self.len, "write of element {i} in a buffer of {}", self.len);
            // SAFETY: as for `Read::at`; the word is aligned and only touched atomically by this stage.
            unsafe { AtomicU32::from_ptr(self.start.add(i as usize)) }.fetch_or(bits, Ordering::Relaxed);
        }

        /// Adds to the word at `i`, atomically, and returns what it was.
        #[inline(always)]
        pub fn add(&mut self, i: u32, value: u32) -> u32 {
            debug_assert!((i as usize) < self.len, "write of element {i} in a buffer of {}", self.len);
            // SAFETY: as for `or`.
            unsafe { AtomicU32::from_ptr(self.start.add(i as usize)) }.fetch_add(value, Ordering::Relaxed)
        }

        /// The word at `i`, which others may be changing atomically.
        #[inline(always)]
        pub fn now(&self, i: u32) -> u32 {
            debug_assert!((i as usize) < self.len, "read of element {i} in a buffer of {}", self.len);
            // SAFETY: as for `or`.
            unsafe { AtomicU32::from_ptr(self.start.add(i as usize)) }.load(Ordering::Relaxed)
        }

        /// Lowers the word at `i` to `value` unless it is lower already, atomically, and returns what it was.
        #[inline(always)]
        pub fn lower(&mut self, i: u32, value: u32) -> u32 {
            debug_assert!((i as usize) < self.len, "write of element {i} in a buffer of {}", self.len);
            // SAFETY: as for `or`.
            unsafe { AtomicU32::from_ptr(self.start.add(i as usize)) }.fetch_min(value, Ordering::Relaxed)
        }
    }

    impl<T: Copy, const N: usize> Load<T> for [T; N] {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            self[i as usize]
        }
    }

    impl<T: Copy, const N: usize> Store<T> for [T; N] {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            self[i as usize] = value;
        }
    }

    /// What was read back from a buffer.
    impl<T: Copy> Load<T> for Vec<T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            self[i as usize]
        }
    }

    #[cfg(test)]
    impl<T: Copy> Store<T> for Vec<T> {
        fn put(&mut self, i: u32, value: T) {
            self[i as usize] = value;
        }
    }

    /// Adds to a counter in workgroup memory and returns what it held before.
    #[inline(always)]
    pub fn shared_add<const N: usize>(shared: &mut [u32; N], i: u32, value: u32) -> u32 {
        let before = shared[i as usize];
        shared[i as usize] = before.wrapping_add(value);
        before
    }
}

pub use target::shared_add;
