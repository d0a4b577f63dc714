//! A workgroup as a stage sees it: its lanes, its subgroups, and what they can do together.
//!
//! Nothing here assumes a subgroup size. The width is taken from the number of subgroups that really run, not from
//! the `SubgroupSize` built-in, because some drivers report the largest size there and run a smaller one.
//!
//! Lanes of a subgroup that part ways are not promised to meet again before the next subgroup operation: Vulkan 1.2 has
//! no reconvergence. So wherever one follows, control flow is the same for all lanes of a subgroup. A loop whose length
//! differs goes on while [any](Group::any) lane has something left, and lanes that are done make its rounds without
//! doing anything; conditions around a subgroup operation are the same for the subgroup. `lanes.rs` plays stages
//! through lane by lane and tells when they are not.

/// One lane's view of its workgroup. On the CPU a workgroup is one lane in one subgroup.
#[derive(Clone, Copy)]
pub struct Group {
    /// Index of this workgroup in the dispatch.
    pub index: u32,
    /// This lane.
    pub lane: u32,
    /// Lanes in the workgroup.
    pub lanes: u32,
    /// The subgroup this lane is in.
    pub subgroup: u32,
    /// Subgroups in the workgroup.
    pub subgroups: u32,
    /// This lane's place in its subgroup.
    pub slot: u32,
}

/// The lanes of a subgroup that hold the same digit as this one.
#[derive(Clone, Copy)]
pub struct Peers {
    /// How many of them are in lower slots.
    pub rank: u32,
    /// How many there are, this lane included.
    pub count: u32,
    /// Slot of the lowest of them.
    pub leader: u32,
}

impl Group {
    /// Lanes in each subgroup.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.lanes / self.subgroups
    }

    /// This lane's place in the workgroup: subgroup by subgroup, so that lanes of a subgroup are neighbours on any
    /// device.
    #[inline(always)]
    pub fn place(&self) -> u32 {
        self.subgroup * self.width() + self.slot
    }

    /// As [`Group::from_slot`], of a float.
    #[inline(always)]
    pub fn float_from_slot(&self, value: f32, slot: u32) -> f32 {
        f32::from_bits(self.from_slot(value.to_bits(), slot))
    }

    /// Exclusive prefix over the lanes' `value`, and the total. `shared` needs a word a subgroup and is free again
    /// after. Sums that do not fit are held at `u32::MAX`, so that a count which overflows is still seen as too large.
    #[inline(always)]
    pub fn exclusive<const N: usize>(&self, shared: &mut [u32; N], value: u32) -> (u32, u32) {
        use super::{Load, Store};
        // Within the subgroup: after round r every lane holds the sum of the 2^r lanes up to itself. All lanes take
        // part in every shuffle; those without a left neighbour ask themselves and drop the answer.
        let mut inclusive = value;
        let mut reach = 1;
        while reach < self.width() {
            let has_left = self.slot >= reach;
            let left = self.from_slot(inclusive, if has_left { self.slot - reach } else { self.slot });
            inclusive = if has_left { saturating_sum(inclusive, left) } else { inclusive };
            reach *= 2;
        }
        let left = self.from_slot(inclusive, if self.slot > 0 { self.slot - 1 } else { 0 });

        // Across subgroups: their sums meet in workgroup memory, and every lane adds up those before its own.
        self.barrier();
        if self.slot == self.width() - 1 {
            shared.put(self.subgroup, inclusive);
        }
        self.barrier();
        let (mut before, mut total) = (0, 0);
        let mut s = 0;
        while s < self.subgroups {
            before = if s == self.subgroup { total } else { before };
            total = saturating_sum(total, shared.at(s));
            s += 1;
        }
        self.barrier();
        (if self.slot > 0 { saturating_sum(before, left) } else { before }, total)
    }
}

/// `a + b`, held at `u32::MAX`.
#[inline(always)]
pub fn saturating_sum(a: u32, b: u32) -> u32 {
    let sum = a.wrapping_add(b);
    if sum < a { u32::MAX } else { sum }
}

#[cfg(target_arch = "spirv")]
mod target {
    use super::*;
    use spirv_std::arch;
    use spirv_std::memory::{Scope, Semantics};

    impl Group {
        #[inline(always)]
        pub fn barrier(&self) {
            arch::workgroup_memory_barrier_with_group_sync();
        }

        #[inline(always)]
        pub fn storage_barrier(&self) {
            const WORKGROUP: u32 = Scope::Workgroup as u32;
            const SEEN: u32 = Semantics::UNIFORM_MEMORY.bits() | Semantics::ACQUIRE_RELEASE.bits();
            arch::control_barrier::<WORKGROUP, WORKGROUP, SEEN>();
        }

        #[inline(always)]
        pub fn subgroup_barrier(&self) {
            arch::subgroup_barrier();
        }

        #[inline(always)]
        pub fn sum(&self, value: u32) -> u32 {
            arch::subgroup_i_add(value)
        }

        #[inline(always)]
        pub fn any(&self, vote: bool) -> bool {
            let ballot = arch::subgroup_ballot(vote);
            (ballot.x | ballot.y | ballot.z | ballot.w) != 0
        }

        #[inline(always)]
        pub fn active(&self) -> u32 {
            arch::subgroup_ballot_bit_count(arch::subgroup_ballot(true))
        }

        #[inline(always)]
        pub fn from_slot(&self, value: u32, slot: u32) -> u32 {
            arch::subgroup_shuffle(value, slot)
        }

        #[inline(always)]
        pub fn peers(&self, digit: u32, bits: u32) -> Peers {
            let all = arch::subgroup_ballot(true);
            let (mut low, mut high) = (all.x, all.y);
            let mut bit = 0;
            while bit < bits {
                let set = (digit >> bit) & 1 != 0;
                let ballot = arch::subgroup_ballot(set);
                let flip = if set { 0 } else { u32::MAX };
                low &= ballot.x ^ flip;
                high &= ballot.y ^ flip;
                bit += 1;
            }
            let (below_low, below_high) =
                if self.slot < 32 { ((1u32 << self.slot) - 1, 0) } else { (u32::MAX, (1u32 << (self.slot - 32)) - 1) };
            Peers {
                rank: (low & below_low).count_ones() + (high & below_high).count_ones(),
                count: low.count_ones() + high.count_ones(),
                leader: if low != 0 { low.trailing_zeros() } else { 32 + high.trailing_zeros() },
            }
        }
    }
}

#[cfg(not(target_arch = "spirv"))]
mod target {
    use super::*;
    #[cfg(test)]
    use crate::gpu::lanes;

    impl Group {
        /// The workgroup `index` as the CPU runs it: one lane.
        #[inline(always)]
        pub fn native(index: u32) -> Self {
            Self { index, lane: 0, lanes: 1, subgroup: 0, subgroups: 1, slot: 0 }
        }

        /// Waits for all lanes of the workgroup and makes their writes to workgroup memory visible.
        #[inline(always)]
        #[cfg_attr(test, track_caller)]
        pub fn barrier(&self) {
            #[cfg(test)]
            lanes::barrier(self);
        }

        /// The same for what they wrote atomically to buffers.
        #[inline(always)]
        #[cfg_attr(test, track_caller)]
        pub fn storage_barrier(&self) {
            self.barrier();
        }

        /// The same for this lane's subgroup only.
        #[inline(always)]
        #[cfg_attr(test, track_caller)]
        pub fn subgroup_barrier(&self) {
            #[cfg(test)]
            lanes::exchange(self, 0);
        }

        /// Sum over the subgroup, wrapping.
        #[inline(always)]
        #[cfg_attr(test, track_caller)]
        pub fn sum(&self, value: u32) -> u32 {
            #[cfg(test)]
            if let Some(all) = lanes::exchange(self, value) {
                return all.into_iter().fold(0, u32::wrapping_add);
            }
            value
        }

        /// Whether a lane of the subgroup votes for it. As the condition of a loop, it keeps the lanes together.
        #[inline(always)]
        #[cfg_attr(test, track_caller)]
        pub fn any(&self, vote: bool) -> bool {
            #[cfg(test)]
            if let Some(all) = lanes::exchange(self, vote as u32) {
                return all.contains(&1);
            }
            vote
        }

        /// Lanes of this subgroup that are running, counted by ballot.
        #[inline(always)]
        #[cfg_attr(test, track_caller)]
        pub fn active(&self) -> u32 {
            #[cfg(test)]
            if let Some(all) = lanes::exchange(self, 0) {
                return all.len() as u32;
            }
            1
        }

        /// `value` as the lane in `slot` of this subgroup holds it.
        #[inline(always)]
        #[cfg_attr(test, track_caller)]
        pub fn from_slot(&self, value: u32, _slot: u32) -> u32 {
            #[cfg(test)]
            if let Some(all) = lanes::exchange(self, value) {
                return all[_slot as usize];
            }
            value
        }

        /// The lanes of this subgroup whose lowest `bits` bits of `digit` are the same. Every lane must take part.
        #[inline(always)]
        #[cfg_attr(test, track_caller)]
        pub fn peers(&self, _digit: u32, _bits: u32) -> Peers {
            #[cfg(test)]
            if let Some(all) = lanes::exchange(self, _digit) {
                let mask = 1u32.checked_shl(_bits).map_or(u32::MAX, |bit| bit - 1);
                let same = |slot: &u32| (all[*slot as usize] ^ _digit) & mask == 0;
                let peers: Vec<u32> = (0..all.len() as u32).filter(same).collect();
                let rank = peers.iter().filter(|slot| **slot < self.slot).count() as u32;
                return Peers { rank, count: peers.len() as u32, leader: peers[0] };
            }
            Peers { rank: 0, count: 1, leader: 0 }
        }
    }
}
