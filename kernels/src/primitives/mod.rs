//! General passes without physics: reduce, scan, sort, and the sizes of dispatches.

pub mod capacity;
pub mod probe;
pub mod reduce;
pub mod scan_apply;
pub mod scan_spine;
pub mod scan_sums;
pub mod search;
pub mod sort_count;
pub mod sort_scatter;
