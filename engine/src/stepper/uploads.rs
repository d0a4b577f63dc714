//! The host's writes before a step, gathered in one piece of memory that is reused for every step.

use crate::backend::Write;
use crate::plan::{Buffer, BufferId};
use bytemuck::Pod;
use std::ops::Range;

/// Bytes to be written to parts of buffers. No two parts overlap.
#[derive(Debug, Default)]
pub struct Uploads {
    bytes: Vec<u8>,
    parts: Vec<(BufferId, u64, Range<usize>)>,
}

impl Uploads {
    /// Removes all writes and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.parts.clear();
    }

    /// Adds `values` for the elements of `buffer` from `first` on.
    pub(super) fn push<T: Pod>(&mut self, buffer: Buffer<T>, first: u64, values: &[T]) {
        if values.is_empty() {
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytemuck::cast_slice(values));
        self.parts.push((buffer.id(), first.saturating_mul(size_of::<T>() as u64), start..self.bytes.len()));
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The bytes of all parts, one part after the other.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where the parts go, in the order of their bytes: buffer, first byte in it, and the range of [`Uploads::bytes`].
    pub fn parts(&self) -> impl Iterator<Item = (BufferId, u64, Range<usize>)> {
        self.parts.iter().cloned()
    }

    /// The parts as writes.
    pub fn writes(&self) -> Vec<Write<'_>> {
        self.parts().map(|(buffer, offset, range)| Write { buffer, offset, bytes: &self.bytes[range] }).collect()
    }
}
