//! Plan of the reduction: `reduce` over the values, then over its own partial results, until one is left.

use crate::plan::{PlanError, Recording};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::layout::Extent;
pub use drystone_kernels::primitives::reduce::op;
use drystone_kernels::primitives::reduce::{self, Push, TILE};

/// Appends a reduction of `values` by `op` (one of [`op`]). The result is element 0 of the returned buffer. Buffers
/// it makes are named after `name`; `counters` holds the count when `extent` says so.
pub fn record(
    recording: &mut Recording,
    name: &str,
    values: Buffer<u32>,
    counters: Buffer<u32>,
    extent: Extent,
    op: u32,
) -> Result<Buffer<u32>, PlanError> {
    let mut tiles = u64::from(extent.limit).div_ceil(u64::from(TILE)).max(1);
    let mut from = recording.buffer(format!("{name}.partials"), tiles)?;
    recording.dispatch(tiles, reduce::Bind { values, counters, partials: from }.with(Push { extent, op }))?;
    let mut level = 2;
    while tiles > 1 {
        let partials = recording.buffer(format!("{name}.partials{level}"), tiles.div_ceil(u64::from(TILE)))?;
        let count = Extent::host(tiles as u32);
        tiles = tiles.div_ceil(u64::from(TILE));
        let push = Push { extent: count, op };
        recording.dispatch(tiles, reduce::Bind { values: from, counters, partials }.with(push))?;
        from = partials;
        level += 1;
    }
    Ok(from)
}
