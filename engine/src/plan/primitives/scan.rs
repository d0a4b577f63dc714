//! Plan of the exclusive scan: `scan_sums`, `scan_spine`, `scan_apply`; without the second for few tiles, and
//! `scan_spine` alone for few values. Sums that do not fit 32 bits stay at `u32::MAX`.

use crate::plan::{PlanError, Recording};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::layout::Extent;
use drystone_kernels::primitives::scan_spine::FEW;
use drystone_kernels::primitives::scan_sums::{FEW_TILES, Push, TILE};
use drystone_kernels::primitives::{scan_apply, scan_spine, scan_sums};

/// Buffers of a scan that can be used again by a later scan of the same size or less.
#[derive(Clone, Copy, Debug)]
pub struct Scratch {
    sums: Buffer<u32>,
    before: Buffer<u32>,
}

impl Scratch {
    /// Declares what scans of up to `limit` values need.
    pub fn new(recording: &mut Recording, name: &str, limit: u32) -> Result<Self, PlanError> {
        let tiles = u64::from(limit).div_ceil(u64::from(TILE)).max(1);
        Ok(Self {
            sums: recording.scratch(format!("{name}.sums"), tiles)?,
            before: recording.scratch(format!("{name}.before"), tiles)?,
        })
    }
}

/// What the last pass of a scan needs.
pub(crate) struct Sums {
    pub push: Push,
    /// Sum of each tile, or of all tiles before it.
    pub before: Buffer<u32>,
    /// Workgroups.
    pub tiles: u64,
}

/// What to scan, and where the results go.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// The values.
    pub values: Buffer<u32>,
    /// Receives the sum of all values before each; may not be `values`.
    pub prefixes: Buffer<u32>,
    /// Number of values.
    pub extent: Extent,
    /// Holds the count when `extent` says so, and receives the total.
    pub counters: Buffer<u32>,
    /// Counter that receives the total.
    pub total: u32,
}

impl Scan {
    /// Appends the passes.
    pub fn record(self, recording: &mut Recording, scratch: Scratch) -> Result<(), PlanError> {
        let Self { values, prefixes, extent, counters, total } = self;
        if extent.limit <= FEW {
            let spine = scan_spine::Bind { sums: values, counters, prefixes };
            return recording.dispatch(1, spine.with(Push { extent, total, tile: 1, few: 0 }));
        }
        let Sums { push, before, tiles } = self.record_sums(recording, scratch)?;
        recording.dispatch(tiles, scan_apply::Bind { values, counters, before, prefixes }.with(push))
    }

    /// Appends all passes but the last, for callers whose own last pass uses the prefixes instead of storing them.
    pub(crate) fn record_sums(self, recording: &mut Recording, scratch: Scratch) -> Result<Sums, PlanError> {
        let Self { values, extent, counters, total, .. } = self;
        let Scratch { sums, before } = scratch;
        let tiles = extent.limit.div_ceil(TILE);
        let few = tiles <= FEW_TILES;
        let push = Push { extent, total, tile: TILE, few: few.into() };
        recording.dispatch(tiles.into(), scan_sums::Bind { values, counters, sums }.with(push))?;
        if !few {
            recording.dispatch(1, scan_spine::Bind { sums, counters, prefixes: before }.with(push))?;
        }
        Ok(Sums { push, before: if few { sums } else { before }, tiles: tiles.into() })
    }
}
