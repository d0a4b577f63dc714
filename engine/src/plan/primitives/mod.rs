//! Plans of general-purpose passes, which know nothing of physics: reduction, scan, sort.

pub mod reduce;
pub mod scan;
pub mod sort;

/// Bits that a key up to `largest` needs.
pub(crate) fn bits(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}
