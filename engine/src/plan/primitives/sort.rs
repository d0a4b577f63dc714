//! Plan of the stable radix sort of 32-bit keys with 32-bit payloads, eight bits a round: `sort_count`, `sort_scatter`.
//! Keys go back and forth between two pairs of buffers.

use crate::plan::{PlanError, Recording};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::layout::Extent;
use drystone_kernels::primitives::sort_count::{self, BITS, DIGITS, Push, TILE, tiles_a_group};
use drystone_kernels::primitives::sort_scatter;

/// Keys with their payloads.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KeyedItems {
    /// Sorted by these.
    pub keys: Buffer<u32>,
    /// Carried along.
    pub payloads: Buffer<u32>,
}

impl KeyedItems {
    /// Declares scratch for `count` keys and payloads.
    pub fn new(recording: &mut Recording, name: &str, count: u64) -> Result<Self, PlanError> {
        Ok(Self {
            keys: recording.scratch(format!("{name}.keys"), count)?,
            payloads: recording.scratch(format!("{name}.payloads"), count)?,
        })
    }
}

/// Scratch of a sort; another sort can use it afterwards.
#[derive(Clone, Copy, Debug)]
pub struct SortScratch {
    /// Keys and payloads go back and forth between these and the input.
    pub other: KeyedItems,
    table: Buffer<u32>,
    sums: Buffer<u32>,
}

/// Most rounds of a sort.
const ROUNDS: u32 = u32::BITS / BITS;

/// Words that the sums over groups of tiles take in all rounds.
fn words(rounds: u32, tiles: u32) -> u64 {
    match tiles_a_group(tiles) {
        0 => 0,
        group => u64::from(rounds) * u64::from(tiles.div_ceil(group)) * u64::from(DIGITS),
    }
}

impl SortScratch {
    /// Declares what sorts of up to `limit` keys need.
    pub fn new(recording: &mut Recording, name: &str, limit: u32) -> Result<Self, PlanError> {
        let tiles = limit.div_ceil(TILE);
        Ok(Self {
            other: KeyedItems::new(recording, &format!("{name}.other"), u64::from(limit))?,
            table: recording.scratch(format!("{name}.table"), u64::from(tiles) * u64::from(DIGITS))?,
            // Not shared scratch: to clear memory that another pass has just used would need a barrier.
            sums: recording.buffer(format!("{name}.sums"), words(ROUNDS, tiles))?,
        })
    }
}

/// Most keys a sort takes: indices and places are 32 bits, and the table has an entry a digit and tile.
pub const MAX_KEYS: u32 = 1 << 31;

/// A sort of `input`.
#[derive(Clone, Copy, Debug)]
pub struct Sort {
    /// Keys and payloads. Their order is lost.
    pub input: KeyedItems,
    /// Number of keys.
    pub extent: Extent,
    /// Bits of a key that may be set; higher ones are not looked at.
    pub key_bits: u32,
    /// Holds the count when `extent` says so.
    pub counters: Buffer<u32>,
}

impl Sort {
    /// Appends the rounds and returns where the sorted pairs are. Buffers it makes are named after `name`.
    pub fn record(self, recording: &mut Recording, name: &str) -> Result<KeyedItems, PlanError> {
        let limit = self.extent.limit;
        if limit > MAX_KEYS {
            let (count, limit) = (u64::from(limit), u64::from(MAX_KEYS));
            return Err(PlanError::TooManyItems { what: "sort", count, limit });
        }
        let room = SortScratch::new(recording, name, limit)?;
        self.record_in(recording, room)
    }

    /// As [`Sort::record`], with scratch that was declared before for at least as many keys.
    pub fn record_in(self, recording: &mut Recording, room: SortScratch) -> Result<KeyedItems, PlanError> {
        let Self { input, extent, key_bits, counters } = self;
        let SortScratch { other, table, sums } = room;
        let tiles = extent.limit.div_ceil(TILE);
        if tiles == 0 {
            return Ok(input);
        }
        let (mut from, mut to) = (input, other);
        let rounds = key_bits.min(u32::BITS).div_ceil(BITS);
        let (group, words) = (tiles_a_group(tiles), words(rounds, tiles));
        if words > 0 {
            recording.fill(sums, 0..words, 0)?;
        }
        for round in 0..rounds {
            let push = Push { extent, shift: round * BITS, tiles, group };
            let count = sort_count::Bind { keys: from.keys, counters, table, sums };
            recording.dispatch(u64::from(tiles), count.with(push))?;
            let scatter = sort_scatter::Bind {
                keys: from.keys,
                payloads: from.payloads,
                counters,
                table,
                sums,
                keys_out: to.keys,
                payloads_out: to.payloads,
            };
            recording.dispatch(u64::from(tiles), scatter.with(push))?;
            (from, to) = (to, from);
        }
        Ok(from)
    }
}
