//! Views of storage buffers and of workgroup memory: load by index, store by index, and the atomics in use.
//!
//! # What holds on the CPU, whatever buffers and push constants hold
//! Recordings, push constants and bytes in buffers are the user's: nothing here trusts an index. Safe code cannot reach
//! undefined behaviour with them, because
//!
//! * **every index is checked.** A load beyond the end gives zeros, a store or an atomic there does nothing. Neither
//!   panics. Debug builds count them ([`strays`]), so that tests see an index that a stage got wrong.
//! * **no element is ever raced for.** A buffer that a stage only reads ([`Read`]) is written by nobody meanwhile: a
//!   recording refuses to bind a buffer twice to a dispatch that writes it, and commands run one after the other. A
//!   buffer that it writes ([`Write`]) is shared by all threads, and wrong contents may send two invocations to one
//!   element. So its elements are loaded and stored a word at a time by relaxed atomics: plain moves for the processor,
//!   and no data race for the language. What is read then may be a mixture of two values of the element, never
//!   undefined.
//! * **every bit pattern is a value.** Elements are plain old data of 32-bit words; there are no references, bools or
//!   enums in buffers. Memory is aligned to 64 bytes.
//! * **loops end.** Stages hold ranges that they read from memory against the length of the list that they are about.
//!
//! What a hot loop knows better is said with `unsafe` and a reason: [`Write::put_own`] and [`Write::own`] are for
//! elements whose index comes from the number of the invocation alone, so that no contents of memory can make another
//! one touch them: plain accesses, which the compiler may join. Numbers of invocations are different within a dispatch:
//! recordings refuse more than 32 bits can count. Records of several elements are checked once ([`Read::window`],
//! [`Write::window_mut`]).
//!
//! # What holds on a GPU
//! Accesses are not checked by the kernels. With valid contents no index is beyond its buffer. With others, a device
//! with `robustBufferAccess` keeps loads and stores within the bound buffers, and loops end as they do on the CPU;
//! races give some value, as they do there. Without the feature, the contents of buffers and push constants are the
//! host's responsibility.

use super::glam::UVec4;
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

/// `N` elements of a buffer that a stage only reads, one after the other: a record that is checked once. Zeros where
/// they do not all lie in the buffer.
#[derive(Clone, Copy)]
pub struct Window<'a, T, const N: u32> {
    #[cfg(target_arch = "spirv")]
    slice: &'a [T],
    #[cfg(target_arch = "spirv")]
    first: u32,
    #[cfg(not(target_arch = "spirv"))]
    start: *const T,
    borrow: PhantomData<&'a T>,
}

/// `N` elements of a buffer that a stage writes, one after the other, checked once. What is stored is dropped where
/// they do not all lie in the buffer.
pub struct WindowMut<'a, T, const N: u32> {
    #[cfg(target_arch = "spirv")]
    slice: &'a mut [T],
    #[cfg(target_arch = "spirv")]
    first: u32,
    #[cfg(not(target_arch = "spirv"))]
    start: *mut T,
    #[cfg(not(target_arch = "spirv"))]
    inside: bool,
    borrow: PhantomData<&'a mut T>,
}

/// Elements of a [`Write`] that only this invocation touches.
pub struct Own<'a, T> {
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

/// Loads one word of a vector: a lane that wants no more carries no registers for the rest.
pub trait LoadFour: Load<UVec4> {
    /// Word `k`, below 4, of the vector at `i`.
    fn word(&self, i: u32, k: u32) -> u32;
}

/// Stores one word of a vector.
pub trait StoreFour: LoadFour + Store<UVec4> {
    /// Stores `value` as word `k`, below 4, of the vector at `i`.
    fn put_word(&mut self, i: u32, k: u32, value: u32);
}

#[cfg(target_arch = "spirv")]
mod target {
    use super::*;
    use core::arch::asm;
    use core::mem::MaybeUninit;
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

        #[inline(always)]
        pub fn len(&self) -> u32 {
            self.slice.len() as u32
        }

        #[inline(always)]
        pub unsafe fn known(&self, i: u32) -> T {
            self.at(i)
        }

        #[inline(always)]
        pub fn window<const N: u32>(&self, first: u32) -> Window<'a, T, N> {
            Window { slice: self.slice, first, borrow: PhantomData }
        }
    }

    impl<T: Copy, const N: u32> Load<T> for Window<'_, T, N> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            // SAFETY: as for `Read::at`.
            unsafe { *self.slice.index_unchecked((self.first + i) as usize) }
        }
    }

    impl<T: Copy> Load<T> for Read<'_, T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            // SAFETY: with contents that the engine wrote, indices lie in the buffer; with others see the module's
            // head.
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

        #[inline(always)]
        pub fn len(&self) -> u32 {
            self.slice.len() as u32
        }

        #[inline(always)]
        pub unsafe fn own(&mut self) -> Own<'_, T> {
            Own { slice: &mut *self.slice, borrow: PhantomData }
        }

        #[inline(always)]
        pub fn window_mut<const N: u32>(&mut self, first: u32) -> WindowMut<'_, T, N> {
            WindowMut { slice: &mut *self.slice, first, borrow: PhantomData }
        }

        #[inline(always)]
        pub unsafe fn at_own(&self, i: u32) -> T {
            self.at(i)
        }

        #[inline(always)]
        pub unsafe fn put_own(&mut self, i: u32, value: T) {
            self.put(i, value);
        }

        #[inline(always)]
        pub unsafe fn put_known(&mut self, i: u32, value: T) {
            self.put(i, value);
        }
    }

    impl<T: Copy, const N: u32> Load<T> for WindowMut<'_, T, N> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            // SAFETY: as for `Read::at`.
            unsafe { *self.slice.index_unchecked((self.first + i) as usize) }
        }
    }

    impl<T: Copy, const N: u32> Store<T> for WindowMut<'_, T, N> {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            // SAFETY: as for `Read::at`.
            unsafe { *self.slice.index_unchecked_mut((self.first + i) as usize) = value }
        }
    }

    impl<T: Copy> Load<T> for Own<'_, T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            // SAFETY: as for `Read::at`.
            unsafe { *self.slice.index_unchecked(i as usize) }
        }
    }

    impl<T: Copy> Store<T> for Own<'_, T> {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            // SAFETY: as for `Read::at`.
            unsafe { *self.slice.index_unchecked_mut(i as usize) = value }
        }
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

    /// A word of a vector in a buffer; the compiler has no other way to choose one by number in memory.
    #[inline(always)]
    fn word(vector: &UVec4, k: u32) -> u32 {
        let mut found = MaybeUninit::<&u32>::uninit();
        // SAFETY: `k` is below 4. The instruction makes the place of that word from the place of the vector.
        unsafe {
            asm! {
                "%word = OpAccessChain typeof*{found} {vector} {k}",
                "OpStore {found} %word",
                vector = in(reg) vector,
                k = in(reg) k,
                found = in(reg) found.as_mut_ptr(),
            }
            *found.assume_init()
        }
    }

    /// Stores a word of a vector in a buffer.
    #[inline(always)]
    fn put_word(vector: &mut UVec4, k: u32, value: u32) {
        let mut found = MaybeUninit::<&mut u32>::uninit();
        // SAFETY: as for `word`.
        unsafe {
            asm! {
                "%word = OpAccessChain typeof*{found} {vector} {k}",
                "OpStore {found} %word",
                vector = in(reg) vector,
                k = in(reg) k,
                found = in(reg) found.as_mut_ptr(),
            }
            *found.assume_init() = value;
        }
    }

    impl LoadFour for Read<'_, UVec4> {
        #[inline(always)]
        fn word(&self, i: u32, k: u32) -> u32 {
            // SAFETY: as for `Read::at`.
            word(unsafe { self.slice.index_unchecked(i as usize) }, k)
        }
    }

    impl LoadFour for Write<'_, UVec4> {
        #[inline(always)]
        fn word(&self, i: u32, k: u32) -> u32 {
            // SAFETY: as for `Read::at`.
            word(unsafe { self.slice.index_unchecked(i as usize) }, k)
        }
    }

    impl LoadFour for Own<'_, UVec4> {
        #[inline(always)]
        fn word(&self, i: u32, k: u32) -> u32 {
            // SAFETY: as for `Read::at`.
            word(unsafe { self.slice.index_unchecked(i as usize) }, k)
        }
    }

    impl<const N: u32> LoadFour for Window<'_, UVec4, N> {
        #[inline(always)]
        fn word(&self, i: u32, k: u32) -> u32 {
            // SAFETY: as for `Read::at`.
            word(unsafe { self.slice.index_unchecked((self.first + i) as usize) }, k)
        }
    }

    impl StoreFour for Write<'_, UVec4> {
        #[inline(always)]
        fn put_word(&mut self, i: u32, k: u32, value: u32) {
            // SAFETY: as for `Read::at`.
            put_word(unsafe { self.slice.index_unchecked_mut(i as usize) }, k, value)
        }
    }

    impl StoreFour for Own<'_, UVec4> {
        #[inline(always)]
        fn put_word(&mut self, i: u32, k: u32, value: u32) {
            // SAFETY: as for `Read::at`.
            put_word(unsafe { self.slice.index_unchecked_mut(i as usize) }, k, value)
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
        pub fn put_now(&mut self, i: u32, value: u32) {
            // SAFETY: as for `Read::at`.
            unsafe { arch::atomic_store::<_, QUEUE, RELAXED>(self.slice.index_unchecked_mut(i as usize), value) }
        }

        #[inline(always)]
        pub fn lower(&mut self, i: u32, value: u32) -> u32 {
            // SAFETY: as for `Read::at`.
            unsafe { arch::atomic_u_min::<_, QUEUE, RELAXED>(self.slice.index_unchecked_mut(i as usize), value) }
        }

        #[inline(always)]
        pub fn raise(&mut self, i: u32, value: u32) -> u32 {
            // SAFETY: as for `Read::at`.
            unsafe { arch::atomic_u_max::<_, QUEUE, RELAXED>(self.slice.index_unchecked_mut(i as usize), value) }
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
    use bytemuck::Pod;
    use core::mem::MaybeUninit;
    use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    // The cache that a prefetch brings memory into, as x86-64 counts them (`_MM_HINT_T0` and `_MM_HINT_T2`).
    const INNER: i32 = 3;
    const OUTER: i32 = 1;

    /// Most bytes that one call prefetches: more than any row that fits an inner cache.
    const MOST_BYTES: usize = 4096;

    #[inline(always)]
    fn prefetch<T, const CACHE: i32>(start: *const T, i: u32, count: u32) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::_mm_prefetch;
            let (mut at, bytes) = (0, (count as usize * size_of::<T>()).min(MOST_BYTES));
            while at < bytes {
                let line = start.wrapping_add(i as usize).cast::<i8>().wrapping_add(at);
                // SAFETY: a prefetch reads nothing and cannot fault, wherever it points.
                unsafe { _mm_prefetch::<CACHE>(line) };
                at += 64;
            }
        }
        let _ = (start, i, count);
    }

    static STRAYS: AtomicU64 = AtomicU64::new(0);

    /// Accesses beyond the end of a buffer so far, in builds with debug assertions; others do not count them.
    pub fn strays() -> u64 {
        STRAYS.load(Ordering::Relaxed)
    }

    /// Counts an access beyond the end of a buffer. Nothing at all without debug assertions: a call would cost
    /// registers.
    #[inline(always)]
    fn stray() {
        if cfg!(debug_assertions) {
            STRAYS.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What windows show that are not in their buffer.
    #[repr(align(64))]
    struct Zeros([AtomicU32; ZEROS_SIZE / 4]);
    const ZEROS_SIZE: usize = 256;
    /// Nobody writes them. Atomic, so that they may stand in for elements that are loaded by words.
    static ZEROS: Zeros = Zeros([const { AtomicU32::new(0) }; ZEROS_SIZE / 4]);

    /// Where `count` elements from `i` on lie in a buffer, or as many zeros if they do not.
    #[inline(always)]
    fn inside_or_zeros<T>(start: *mut T, len: usize, i: u32, count: u32) -> *mut T {
        debug_assert!(count as usize * size_of::<T>() <= ZEROS_SIZE && align_of::<T>() <= 4);
        let inside = u64::from(i) + u64::from(count) <= len as u64;
        if !inside {
            stray();
        }
        if inside { start.wrapping_add(i as usize) } else { ZEROS.0.as_ptr().cast_mut().cast() }
    }

    /// Elements that are loaded from a chosen address, zeros or the buffer: the loads stay part of what uses them.
    /// Small ones are loaded behind a branch, which is quicker for a word.
    const fn is_large<T>() -> bool {
        size_of::<T>() > 8 && size_of::<T>() <= ZEROS_SIZE
    }

    /// Whether elements of a type are made of aligned words, nothing else.
    const fn is_words<T>() -> bool {
        size_of::<T>().is_multiple_of(4) && align_of::<T>() == 4
    }

    /// An element that other threads may be storing.
    ///
    /// # Safety
    /// `from` points to an element of live memory that is read and written only atomically meanwhile.
    #[inline(always)]
    unsafe fn load_words<T: Pod>(from: *mut T) -> T {
        const { assert!(is_words::<T>()) };
        let mut value = MaybeUninit::<T>::uninit();
        let (from, to) = (from.cast::<u32>(), value.as_mut_ptr().cast::<u32>());
        let mut k = 0;
        while k < size_of::<T>() / 4 {
            // SAFETY: word `k` of the element, and of `value`; aligned, since `T` is.
            unsafe { to.add(k).write(AtomicU32::from_ptr(from.add(k)).load(Ordering::Relaxed)) };
            k += 1;
        }
        // SAFETY: every word was written, and every bit pattern is a `T`.
        unsafe { value.assume_init() }
    }

    /// Stores an element that other threads may be loading or storing.
    ///
    /// # Safety
    /// As for [`load_words`].
    #[inline(always)]
    unsafe fn store_words<T: Pod>(to: *mut T, value: T) {
        const { assert!(is_words::<T>()) };
        let (from, to) = ((&raw const value).cast::<u32>(), to.cast::<u32>());
        let mut k = 0;
        while k < size_of::<T>() / 4 {
            // SAFETY: word `k` of the element, and of `value`, which has no padding.
            unsafe { AtomicU32::from_ptr(to.add(k)).store(from.add(k).read(), Ordering::Relaxed) };
            k += 1;
        }
    }

    impl<'a, T: Pod> Read<'a, T> {
        /// Asks for `count` elements from `i` on ahead of their use. Changes nothing but time.
        #[inline(always)]
        pub fn prefetch(&self, i: u32, count: u32) {
            prefetch::<T, INNER>(self.start, i, count);
        }

        /// The same long before: brings them into an outer cache only, which has room for more that is under way.
        #[inline(always)]
        pub fn prefetch_early(&self, i: u32, count: u32) {
            prefetch::<T, OUTER>(self.start, i, count);
        }

        /// A view of `len` elements from `start` on.
        ///
        /// # Safety
        /// The elements are initialised, aligned for `T` and stay alive for the view's lifetime; nobody writes them
        /// meanwhile.
        #[inline(always)]
        pub unsafe fn new(start: *const T, len: usize) -> Self {
            Self { start, len, borrow: PhantomData }
        }

        /// Elements; never more than an index reaches.
        #[inline(always)]
        #[allow(clippy::len_without_is_empty, reason = "no stage asks")]
        pub fn len(&self) -> u32 {
            self.len.min(u32::MAX as usize) as u32
        }

        /// The element at `i`, unchecked: for loops whose end was held against the length before.
        ///
        /// # Safety
        /// `i` is below [`Read::len`].
        #[inline(always)]
        pub unsafe fn known(&self, i: u32) -> T {
            debug_assert!((i as usize) < self.len, "element {i} in a buffer of {}", self.len);
            // SAFETY: the contract above.
            unsafe { self.start.add(i as usize).read() }
        }

        /// The `N` elements from `first` on.
        #[inline(always)]
        pub fn window<const N: u32>(&self, first: u32) -> Window<'a, T, N> {
            const { assert!(N as usize * size_of::<T>() <= ZEROS_SIZE && is_words::<T>()) };
            let start = inside_or_zeros(self.start.cast_mut(), self.len, first, N);
            Window { start, borrow: PhantomData }
        }
    }

    impl<T: Pod, const N: u32> Load<T> for Window<'_, T, N> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            if i < N {
                // SAFETY: `Read::window` has found `N` elements here, or as many zeros.
                unsafe { self.start.add(i as usize).read() }
            } else {
                T::zeroed()
            }
        }
    }

    impl<T: Pod> Load<T> for Read<'_, T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            const { assert!(is_words::<T>()) };
            if is_large::<T>() {
                // SAFETY: within the buffer, which nobody writes while there is a view that reads it, or the zeros.
                unsafe { inside_or_zeros(self.start.cast_mut(), self.len, i, 1).read() }
            } else if (i as usize) < self.len {
                // SAFETY: within the buffer, which nobody writes while there is a view that reads it.
                unsafe { self.start.add(i as usize).read() }
            } else {
                stray();
                T::zeroed()
            }
        }
    }

    impl<T: Pod> Write<'_, T> {
        /// As for [`Read::prefetch`].
        #[inline(always)]
        pub fn prefetch(&self, i: u32, count: u32) {
            prefetch::<T, INNER>(self.start.cast_const(), i, count);
        }

        /// A view of `len` elements from `start` on.
        ///
        /// # Safety
        /// The elements are initialised, aligned for `T` and stay alive for the view's lifetime; meanwhile they are
        /// touched only through views of this kind.
        #[inline(always)]
        pub unsafe fn new(start: *mut T, len: usize) -> Self {
            Self { start, len, borrow: PhantomData }
        }

        /// As for [`Read::len`].
        #[inline(always)]
        #[allow(clippy::len_without_is_empty, reason = "no stage asks")]
        pub fn len(&self) -> u32 {
            self.len.min(u32::MAX as usize) as u32
        }

        /// The `N` elements from `first` on, to be stored one by one and checked once.
        #[inline(always)]
        pub fn window_mut<const N: u32>(&mut self, first: u32) -> WindowMut<'_, T, N> {
            let inside = u64::from(first) + u64::from(N) <= self.len as u64;
            if !inside {
                stray();
            }
            WindowMut { start: self.start.wrapping_add(first as usize), inside, borrow: PhantomData }
        }

        /// As `at`, of an element of this invocation.
        ///
        /// # Safety
        /// No other invocation of the dispatch stores to the element, whatever memory and push constants hold.
        #[inline(always)]
        pub unsafe fn at_own(&self, i: u32) -> T {
            if (i as usize) < self.len {
                // SAFETY: within the buffer; the contract above.
                unsafe { self.start.add(i as usize).read() }
            } else {
                stray();
                T::zeroed()
            }
        }

        /// As `put`, of an element of this invocation.
        ///
        /// # Safety
        /// No other invocation of the dispatch touches the element, whatever memory and push constants hold.
        #[inline(always)]
        pub unsafe fn put_own(&mut self, i: u32, value: T) {
            if (i as usize) < self.len {
                // SAFETY: within the buffer; the contract above.
                unsafe { self.start.add(i as usize).write(value) }
            } else {
                stray();
            }
        }

        /// As `put`, unchecked: for an index that was held against the length before. Other invocations may store there
        /// too.
        ///
        /// # Safety
        /// `i` is below [`Write::len`].
        #[inline(always)]
        pub unsafe fn put_known(&mut self, i: u32, value: T) {
            debug_assert!((i as usize) < self.len, "element {i} in a buffer of {}", self.len);
            // SAFETY: the contract above; as for `put`.
            unsafe { store_words(self.start.add(i as usize), value) }
        }

        /// Unchecked, plain access to elements of this invocation.
        ///
        /// # Safety
        /// Whatever is loaded or stored through it has an index below [`Write::len`], and is touched by no other
        /// invocation of the dispatch, whatever memory and push constants hold.
        #[inline(always)]
        pub unsafe fn own(&mut self) -> Own<'_, T> {
            Own { start: self.start, len: self.len, borrow: PhantomData }
        }
    }

    impl<T: Pod, const N: u32> Load<T> for WindowMut<'_, T, N> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            if self.inside && i < N {
                // SAFETY: `Write::window_mut` has found `N` elements here; as for `Write::at`.
                unsafe { load_words(self.start.add(i as usize)) }
            } else {
                T::zeroed()
            }
        }
    }

    impl<T: Pod, const N: u32> Store<T> for WindowMut<'_, T, N> {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            if self.inside && i < N {
                // SAFETY: as for `at`.
                unsafe { store_words(self.start.add(i as usize), value) }
            }
        }
    }

    impl<T: Pod> Load<T> for Own<'_, T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            debug_assert!((i as usize) < self.len, "element {i} in a buffer of {}", self.len);
            // SAFETY: the contract of `Write::own`.
            unsafe { self.start.add(i as usize).read() }
        }
    }

    impl<T: Pod> Store<T> for Own<'_, T> {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            debug_assert!((i as usize) < self.len, "element {i} in a buffer of {}", self.len);
            // SAFETY: the contract of `Write::own`.
            unsafe { self.start.add(i as usize).write(value) }
        }
    }

    impl<T: Pod> Load<T> for Write<'_, T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            if is_large::<T>() {
                // SAFETY: within the buffer, which is only touched through views of this kind while there is one, or
                // the zeros.
                unsafe { load_words(inside_or_zeros(self.start, self.len, i, 1)) }
            } else if (i as usize) < self.len {
                // SAFETY: within the buffer, which is only touched through views of this kind while there is one.
                unsafe { load_words(self.start.add(i as usize)) }
            } else {
                stray();
                T::zeroed()
            }
        }
    }

    impl<T: Pod> Store<T> for Write<'_, T> {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            if (i as usize) < self.len {
                // SAFETY: as for `at`.
                unsafe { store_words(self.start.add(i as usize), value) }
            } else {
                stray();
            }
        }
    }

    impl Write<'_, u32> {
        /// The word at `i`, if it is there.
        #[inline(always)]
        fn word(&self, i: u32) -> Option<&AtomicU32> {
            if (i as usize) < self.len {
                // SAFETY: within the buffer; aligned, and only touched atomically while there are views of this kind.
                Some(unsafe { AtomicU32::from_ptr(self.start.add(i as usize)) })
            } else {
                stray();
                None
            }
        }

        /// Sets `bits` in the word at `i`, atomically.
        #[inline(always)]
        pub fn or(&mut self, i: u32, bits: u32) {
            if let Some(word) = self.word(i) {
                word.fetch_or(bits, Ordering::Relaxed);
            }
        }

        /// Adds to the word at `i`, atomically, and returns what it was.
        #[inline(always)]
        pub fn add(&mut self, i: u32, value: u32) -> u32 {
            self.word(i).map_or(0, |word| word.fetch_add(value, Ordering::Relaxed))
        }

        /// The word at `i`, which others may be changing atomically.
        #[inline(always)]
        pub fn now(&self, i: u32) -> u32 {
            self.word(i).map_or(0, |word| word.load(Ordering::Relaxed))
        }

        /// Stores the word at `i`, which others may be looking at [now](Self::now).
        #[inline(always)]
        pub fn put_now(&mut self, i: u32, value: u32) {
            if let Some(word) = self.word(i) {
                word.store(value, Ordering::Relaxed);
            }
        }

        /// Lowers the word at `i` to `value` unless it is lower already, atomically, and returns what it was.
        #[inline(always)]
        pub fn lower(&mut self, i: u32, value: u32) -> u32 {
            self.word(i).map_or(0, |word| word.fetch_min(value, Ordering::Relaxed))
        }

        /// Raises the word at `i` to `value` unless it is higher already, atomically, and returns what it was.
        #[inline(always)]
        pub fn raise(&mut self, i: u32, value: u32) -> u32 {
            self.word(i).map_or(0, |word| word.fetch_max(value, Ordering::Relaxed))
        }
    }

    impl<L: Load<UVec4>> LoadFour for L {
        #[inline(always)]
        fn word(&self, i: u32, k: u32) -> u32 {
            self.at(i).to_array()[(k & 3) as usize]
        }
    }

    impl<S: Store<UVec4>> StoreFour for S {
        #[inline(always)]
        fn put_word(&mut self, i: u32, k: u32, value: u32) {
            let mut words = self.at(i).to_array();
            words[(k & 3) as usize] = value;
            self.put(i, UVec4::from_array(words));
        }
    }

    /// Beyond the end stands the first element once more; there always is one.
    impl<T: Copy, const N: usize> Load<T> for [T; N] {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            const { assert!(N > 0) };
            self[if (i as usize) < N { i as usize } else { 0 }]
        }
    }

    /// Nothing is stored beyond the end.
    impl<T: Copy, const N: usize> Store<T> for [T; N] {
        #[inline(always)]
        fn put(&mut self, i: u32, value: T) {
            if let Some(slot) = self.get_mut(i as usize) {
                *slot = value;
            }
        }
    }

    /// What was read back from a buffer.
    impl<T: Pod> Load<T> for Vec<T> {
        #[inline(always)]
        fn at(&self, i: u32) -> T {
            self.get(i as usize).copied().unwrap_or(T::zeroed())
        }
    }

    #[cfg(test)]
    impl<T: Pod> Store<T> for Vec<T> {
        fn put(&mut self, i: u32, value: T) {
            self[i as usize] = value;
        }
    }

    /// Adds to a counter in workgroup memory and returns what it held before.
    #[inline(always)]
    pub fn shared_add<const N: usize>(shared: &mut [u32; N], i: u32, value: u32) -> u32 {
        let before = shared.at(i);
        shared.put(i, before.wrapping_add(value));
        before
    }
}

pub use target::shared_add;
#[cfg(not(target_arch = "spirv"))]
pub use target::strays;
