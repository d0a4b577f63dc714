//! Zeroed, aligned memory for a buffer. Its address stays the same for its whole life.

use drystone_kernels::gpu::RawBuffer;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};

/// A cache line: no two buffers share one.
const ALIGN: usize = 64;

/// Blocks of at least this many bytes ask for huge pages. Contacts of a body are scattered over large buffers, and
/// with small pages address translation takes a fifth of the primal pass at a hundred thousand bodies.
const HUGE: usize = 2 << 20;

/// Advises the system to use huge pages for a block; it may ignore the advice.
#[cfg(target_os = "linux")]
fn welcome_huge_pages(start: *mut u8, size: usize) {
    use std::ffi::{c_int, c_void};
    // The C library's, which the standard library links anyway.
    unsafe extern "C" {
        fn madvise(start: *mut c_void, size: usize, advice: c_int) -> c_int;
    }
    const MADV_HUGEPAGE: c_int = 14;
    // SAFETY: the whole pages of a block that was just allocated; this advice changes nothing of their contents.
    unsafe { madvise(start.cast(), size & !(HUGE - 1), MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn welcome_huge_pages(_start: *mut u8, _size: usize) {}

pub struct Block {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: the block owns its memory; access goes through `&mut self` or the contracts of whoever asked for `raw`.
unsafe impl Send for Block {}

impl Block {
    /// `size` zeroed bytes; `None` when there is no memory for them, or for 0 bytes.
    pub fn zeroed(size: u64) -> Option<Self> {
        let size = usize::try_from(size).ok()?;
        let huge = size >= HUGE;
        let layout = Layout::from_size_align(size, if huge { HUGE } else { ALIGN }).ok()?;
        if size == 0 {
            return None;
        }
        // SAFETY: the size is not 0.
        let start = unsafe { if huge { alloc(layout) } else { alloc_zeroed(layout) } };
        if start.is_null() {
            return None;
        }
        if huge {
            // Must come before the first write, which maps the pages.
            welcome_huge_pages(start, size);
            // SAFETY: allocated with this size.
            unsafe { start.write_bytes(0, size) };
        }
        Some(Self { start, layout })
    }

    pub fn size(&self) -> u64 {
        self.layout.size() as u64
    }

    pub fn raw(&mut self) -> RawBuffer {
        RawBuffer { start: self.start, size: self.layout.size() }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: allocated with this size, initialised with zeros, borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.layout.size()) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `zeroed` with this layout, freed once.
        unsafe { dealloc(self.start, self.layout) };
    }
}
