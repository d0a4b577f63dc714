//! Zeroed, aligned memory for a buffer. Its address stays the same for its whole life.

use drystone_kernels::gpu::RawBuffer;
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// A cache line: no two buffers share one.
const ALIGN: usize = 64;

pub struct Block {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: the block owns its memory; access goes through `&mut self` or the contracts of whoever asked for `raw`.
unsafe impl Send for Block {}

impl Block {
    /// `size` zeroed bytes; `None` when there is no memory for them, or for 0 bytes.
    pub fn zeroed(size: u64) -> Option<Self> {
        let layout = Layout::from_size_align(usize::try_from(size).ok()?, ALIGN).ok()?;
        if layout.size() == 0 {
            return None;
        }
        // SAFETY: the size is not 0.
        let start = unsafe { alloc_zeroed(layout) };
        (!start.is_null()).then_some(Self { start, layout })
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
