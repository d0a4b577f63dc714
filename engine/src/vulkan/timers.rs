//! Time stamps between passes, or between all commands, in a ring of query pools. Reading them never waits.
//!
//! A pool is reused only after its results have been read. When no pool is free because the device is far behind, the
//! run is not timed; it never waits for a pool.

use super::error::{During, Error};
use super::host::Shared;
use crate::backend::{PassTime, RunTimes};
use ash::vk;
use std::sync::Arc;
use std::time::Duration;

/// What is timed separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Timing {
    /// Nothing: no time stamps are recorded.
    Off,
    /// A pass: commands of the same stage in a row have one time together, such as the colours of an iteration.
    #[default]
    Passes,
    /// Every command. Some drivers finish all work at a time stamp, so this takes longer itself.
    Commands,
}

struct Slot {
    pool: vk::QueryPool,
    /// The run whose stamps it holds or will hold.
    run: Option<u64>,
}

pub(super) struct Timers {
    shared: Arc<Shared>,
    slots: Vec<Slot>,
    /// The passes, without times, as a template of the result.
    passes: Vec<PassTime>,
    stamps: Vec<[u64; 2]>,
    mask: u64,
}

impl Timers {
    /// A ring of `frames` pools for the commands named `names`. Empty when the queue family has no time stamps.
    pub fn new(
        shared: Arc<Shared>,
        names: impl Iterator<Item = &'static str>,
        timing: Timing,
        frames: u32,
    ) -> Result<Self, Error> {
        let family = shared.support.queue_families.get(shared.host.queue_family as usize);
        let bits = family.map_or(0, |f| f.1);
        let mut passes: Vec<PassTime> = Vec::new();
        for (command, name) in names.enumerate() {
            match passes.last_mut() {
                Some(last) if timing == Timing::Passes && last.name == name => last.commands += 1,
                _ => passes.push(PassTime { name, command, commands: 1, time: Duration::ZERO }),
            }
        }
        // A driver without hardware may report an infinite tick.
        let period = shared.support.timestamp_period;
        let ticks = bits > 0 && period.is_finite() && period > 0.0;
        let count = if !ticks || passes.is_empty() || timing == Timing::Off { 0 } else { frames };
        let stamps = vec![[0; 2]; passes.len() + 1];
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let mut timers = Self { shared, slots: Vec::new(), passes, stamps, mask };
        timers.add(count)?;
        Ok(timers)
    }

    fn add(&mut self, pools: u32) -> Result<(), Error> {
        for _ in 0..pools {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(self.stamps.len() as u32);
            // SAFETY: the device is alive; the description is complete.
            let pool = unsafe { self.shared.host.device.create_query_pool(&info, self.shared.host.callbacks()) }
                .during("vkCreateQueryPool")?;
            self.shared.name(pool, c"drystone timers");
            self.slots.push(Slot { pool, run: None });
        }
        Ok(())
    }

    /// Makes the ring as long as `runs`, unless nothing is timed.
    pub fn reserve(&mut self, runs: u32) -> Result<(), Error> {
        let there = self.slots.len() as u32;
        if there == 0 { Ok(()) } else { self.add(runs.saturating_sub(there)) }
    }

    /// Pools there are.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Takes a free pool for `run`, by its number. `None` when there is none.
    pub fn take_slot(&mut self, run: u64) -> Option<usize> {
        let slot = self.slots.iter().position(|s| s.run.is_none())?;
        self.slots[slot].run = Some(run);
        Some(slot)
    }

    /// Resets a pool and stamps the start.
    ///
    /// # Safety
    /// `commands` is in the recording state, outside a render pass, on the host's queue family. When they are run, the
    /// pool is not in use: its results were taken.
    pub unsafe fn start(&self, commands: vk::CommandBuffer, slot: usize) -> vk::QueryPool {
        let (device, pool) = (&self.shared.host.device, self.slots[slot].pool);
        // SAFETY: this function's contract.
        unsafe {
            device.cmd_reset_query_pool(commands, pool, 0, self.stamps.len() as u32);
            device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, 0);
        }
        pool
    }

    /// The query that is stamped behind command `index`, if a pass ends there and anything is timed.
    pub fn query_behind(&self, index: usize) -> Option<u32> {
        let pass = self.passes.binary_search_by_key(&index, |p| p.command + p.commands - 1).ok()?;
        (!self.slots.is_empty()).then_some(pass as u32 + 1)
    }

    /// The oldest run whose stamps are all there. Never waits.
    pub fn take(&mut self) -> Result<Option<RunTimes>, Error> {
        let Some(slot) = self.slots.iter_mut().filter(|s| s.run.is_some()).min_by_key(|s| s.run) else {
            return Ok(None);
        };
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        // SAFETY: the pool has a query for every entry of `stamps`.
        let result = unsafe { self.shared.host.device.get_query_pool_results(slot.pool, 0, &mut self.stamps, flags) };
        match result {
            Err(vk::Result::NOT_READY) => return Ok(None),
            other => other.during("vkGetQueryPoolResults")?,
        }
        if self.stamps.iter().any(|s| s[1] == 0) {
            return Ok(None);
        }
        let run = slot.run.take().unwrap_or_default();
        let period = f64::from(self.shared.support.timestamp_period);
        let passes = self.passes.iter().zip(self.stamps.windows(2)).map(|(pass, pair)| {
            let ticks = pair[1][0].wrapping_sub(pair[0][0]) & self.mask;
            // A stamp earlier than its predecessor is a driver bug; count the pass as 0 instead of the wrapped
            // difference.
            let ticks = if ticks > self.mask / 2 { 0 } else { ticks };
            PassTime { time: Duration::from_nanos((ticks as f64 * period) as u64), ..*pass }
        });
        Ok(Some(RunTimes { run, passes: passes.collect() }))
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        for slot in &self.slots {
            // SAFETY: made from this device, no longer in use (contract of `Program`).
            unsafe { self.shared.host.device.destroy_query_pool(slot.pool, self.shared.host.callbacks()) };
        }
    }
}
