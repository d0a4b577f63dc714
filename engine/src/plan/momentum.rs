//! Momentum of what moves freely: which bodies hang together, and what the iterations lost of their momentum.

use super::recording::{PlanError, Recording};
use super::sort::{Pairs, Room, Sort};
use super::step::{Capacities, StepBuffers, bits};
use drystone_kernels::gate::{counter, dispatch};
use drystone_kernels::gpu::Buffer;
use drystone_kernels::islands::{self, phase};
use drystone_kernels::layout::{DispatchArgs, Extent};
use drystone_kernels::math::{Pose, Twist};
use drystone_kernels::momentum;

/// The passes behind the iterations.
pub(super) struct MomentumPasses {
    pub buffers: StepBuffers,
    pub neighbours: Buffer<u32>,
    pub targets: Buffer<Pose>,
    pub deltas: Buffer<Twist>,
    pub args: Buffer<DispatchArgs>,
    /// A word a body each, free to be written.
    pub unsorted: Pairs,
    /// The same, for a sort of as many keys as there are bodies.
    pub room: Room,
}

impl MomentumPasses {
    pub fn record(self, r: &mut Recording, capacities: Capacities) -> Result<(), PlanError> {
        let Capacities { bodies: count, joints, .. } = capacities;
        let s = &self.buffers;
        for phase in [phase::APART, phase::JOIN, phase::SETTLE] {
            let bind = islands::Bind {
                bodies: s.bodies,
                rows: s.rows,
                entries: s.entries,
                neighbours: self.neighbours,
                manifolds: s.manifolds,
                points: s.points,
                joints: s.joints.joints,
                joint_links: s.joints.links,
                parents: self.room.other.payloads,
                keys: self.unsorted.keys,
                members: self.unsorted.payloads,
            };
            r.dispatch_indirect(self.args, dispatch::BODIES, bind.with(islands::Push { count, joints, phase }))?;
        }
        let sort = Sort {
            input: self.unsorted,
            extent: Extent::host(count),
            key_bits: bits(count),
            counters: s.counters,
            spare: counter::SPARE,
        };
        let sorted = sort.record_in(r, self.room)?;
        let bind = momentum::Bind {
            bodies: s.bodies,
            starts: s.starts,
            targets: self.targets,
            islands: sorted.keys,
            members: sorted.payloads,
            poses: s.poses,
            deltas: self.deltas,
            joint_links: s.joints.links,
        };
        r.dispatch_indirect(self.args, dispatch::ISLANDS, bind.with(momentum::Push { count, joints }))
    }
}
