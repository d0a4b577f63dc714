//! Scratch that shares memory: buffers whose contents are lost at the end of a run, and which are not in use at the
//! same time within it, lie in the same block.
//!
//! A buffer is in use from the first command that names it to the last. Buffers are placed from the largest to the
//! smallest, each into the first block in which no other buffer is in use at the same time, so a block is as long as
//! its first buffer. Barriers are derived from blocks, so a pass that writes into memory which another pass has just
//! read waits for that pass.

use super::error::PlanError;
use super::recording::{BlockId, Recording};
use crate::state::Role;
use drystone_kernels::gpu::BufferId;
use std::ops::RangeInclusive;

/// Commands from the first to the last that name a buffer.
type Life = RangeInclusive<usize>;

fn meet(a: &Life, b: &Life) -> bool {
    a.start() <= b.end() && b.start() <= a.end()
}

impl Recording {
    /// When each buffer is in use, if it is at all.
    fn lives(&self) -> Vec<Option<Life>> {
        let mut lives: Vec<Option<Life>> = vec![None; self.buffers().len()];
        for (index, command) in self.commands().iter().enumerate() {
            for used in self.uses(command) {
                let life = &mut lives[used.buffer.0 as usize];
                let first = life.as_ref().map_or(index, |l| *l.start());
                *life = Some(first..=index);
            }
        }
        lives
    }

    /// Puts scratch buffers that are not in use at the same time into the same memory. Call it once, when all
    /// commands have been recorded.
    pub fn share_scratch(&mut self) {
        let lives = self.lives();
        let mut placed: Vec<Option<BlockId>> = vec![None; lives.len()];
        let mut blocks: Vec<(bool, Vec<Life>)> = Vec::new();
        let mut order: Vec<usize> = (0..lives.len()).collect();
        // Stable: the same recording gives the same blocks.
        order.sort_by_key(|&i| std::cmp::Reverse(self.buffers()[i].size()));
        for i in order {
            let (info, Some(life)) = (&self.buffers()[i], &lives[i]) else { continue };
            if info.role != Role::Scratch {
                continue;
            }
            let fits = |(indirect, taken): &(bool, Vec<Life>)| {
                *indirect == info.indirect && !taken.iter().any(|other| meet(other, life))
            };
            let at = blocks.iter().position(fits).unwrap_or_else(|| {
                blocks.push((info.indirect, Vec::new()));
                blocks.len() - 1
            });
            blocks[at].1.push(life.clone());
            placed[i] = Some(BlockId(at as u32));
        }
        let mut count = blocks.len() as u32;
        let placed: Vec<BlockId> = placed
            .into_iter()
            .map(|block| {
                block.unwrap_or_else(|| {
                    count += 1;
                    BlockId(count - 1)
                })
            })
            .collect();
        self.place(&placed, count);
    }

    /// Checks that no two buffers of this recording that lie in the same memory are in use at the same time.
    pub(super) fn check_shared_memory(&self) -> Result<(), PlanError> {
        let lives = self.lives();
        for block in self.blocks().iter().filter(|b| b.buffers.len() > 1) {
            for (n, &one) in block.buffers.iter().enumerate() {
                let clash = |other: &&BufferId| match (&lives[one.0 as usize], &lives[other.0 as usize]) {
                    (Some(a), Some(b)) => meet(a, b),
                    _ => false,
                };
                if let Some(other) = block.buffers[n + 1..].iter().find(clash) {
                    let name = |id: BufferId| self.buffers()[id.0 as usize].name.clone();
                    let (recording, buffer, other) = (self.name().to_owned(), name(one), name(*other));
                    return Err(PlanError::SharedMemory { recording, buffer, other });
                }
            }
        }
        Ok(())
    }
}
