//! Joints in the step: their buffers, and their passes beside those of the contacts. Without joints there are none.

use super::recording::{PlanError, Recording};
use super::step::{Capacities, StepBuffers};
use drystone_kernels::detect::gate::{counter, dispatch};
use drystone_kernels::detect::joints_apart;
use drystone_kernels::finish::joints_break;
use drystone_kernels::gpu::Buffer;
use drystone_kernels::layout::{DispatchArgs, Extent, Pair};
use drystone_kernels::math::Twist;
use drystone_kernels::solve::joints::{Joint, JointForce, JointRow, RowState};
use drystone_kernels::solve::{joints_dual, joints_start, primal, primal_joints, primal_joints_rows};

/// Joints on the device.
#[derive(Clone, Copy, Debug)]
pub struct JointBuffers {
    /// Joints.
    pub joints: Buffer<Joint>,
    /// Their rows.
    pub rows: Buffer<JointRow>,
    /// What the solver knows of every row.
    pub states: Buffer<RowState>,
    /// What every joint pulled with in the last step.
    pub forces: Buffer<JointForce>,
    /// Joints of every body: first and last place of each, and at those places joint and side.
    pub links: Buffer<u32>,
}

impl JointBuffers {
    pub(super) fn new(r: &mut Recording, capacities: Capacities) -> Result<Self, PlanError> {
        let Capacities { bodies, joints, joint_rows, .. } = capacities;
        let (n, rows) = (u64::from(joints.max(1)), u64::from(joint_rows.max(1)));
        let links = if joints > 0 { 2 * u64::from(bodies) + 2 * n } else { 1 };
        Ok(Self {
            joints: r.buffer("joints", n)?,
            rows: r.buffer("joint_rows", rows)?,
            states: r.buffer("row_states", rows)?,
            forces: r.buffer("joint_forces", n)?,
            links: r.buffer("joint_links", links)?,
        })
    }
}

/// Takes out pairs that joints keep from touching.
pub(super) fn record_apart(
    r: &mut Recording,
    s: &StepBuffers,
    pairs: Buffer<Pair>,
    touches: Buffer<u32>,
    room: u32,
) -> Result<(), PlanError> {
    let bind = joints_apart::Bind {
        counters: s.counters,
        pairs,
        colliders: s.colliders,
        joints: s.joints.joints,
        joint_links: s.joints.links,
        touches,
    };
    let pairs = Extent::counter(counter::PAIRS, room);
    r.dispatch_each(u64::from(room), bind.with(joints_apart::Push { pairs }))
}

/// The passes over all joints.
pub(super) struct JointPasses {
    pub buffers: StepBuffers,
    pub deltas: Buffer<Twist>,
    pub args: Buffer<DispatchArgs>,
    pub count: u32,
}

impl JointPasses {
    /// Coordinates at the start, and the warm start (lines 5 and 6).
    pub fn start(&self, r: &mut Recording, load_shares: Buffer<f32>) -> Result<(), PlanError> {
        let s = &self.buffers;
        let bind = joints_start::Bind {
            params: s.params,
            bodies: s.bodies,
            poses: s.poses,
            joints: s.joints.joints,
            joint_rows: s.joints.rows,
            row_states: s.joints.states,
            load_shares,
        };
        r.dispatch_indirect(self.args, dispatch::JOINTS, bind.with(joints_start::Push { count: self.count }))
    }

    /// The primal pass with joints, over what it has without them.
    pub fn primal(&self, without: primal::Bind) -> primal_joints::Bind {
        let j = &self.buffers.joints;
        primal_joints::Bind {
            params: without.params,
            solver_bodies: without.solver_bodies,
            points: without.points,
            entries: without.entries,
            ranges: without.ranges,
            order: without.order,
            rotations: without.rotations,
            poses: without.poses,
            deltas: without.deltas,
            starts: self.buffers.starts,
            joints: j.joints,
            joint_rows: j.rows,
            row_states: j.states,
            joint_links: j.links,
        }
    }

    /// The same when every row of a contact has a stiffness of its own.
    pub fn primal_rows(&self, without: primal::Bind) -> primal_joints_rows::Bind {
        let with = self.primal(without);
        primal_joints_rows::Bind {
            params: with.params,
            solver_bodies: with.solver_bodies,
            points: with.points,
            entries: with.entries,
            ranges: with.ranges,
            order: with.order,
            rotations: with.rotations,
            poses: with.poses,
            deltas: with.deltas,
            starts: with.starts,
            joints: with.joints,
            joint_rows: with.joint_rows,
            row_states: with.row_states,
            joint_links: with.joint_links,
            tangent_stiffness: self.buffers.tangent_stiffness,
        }
    }

    /// Multipliers and stiffness (lines 26 to 35).
    pub fn dual(&self, r: &mut Recording) -> Result<(), PlanError> {
        let s = &self.buffers;
        let bind = joints_dual::Bind {
            params: s.params,
            starts: s.starts,
            poses: s.poses,
            deltas: self.deltas,
            joints: s.joints.joints,
            joint_rows: s.joints.rows,
            row_states: s.joints.states,
        };
        r.dispatch_indirect(self.args, dispatch::JOINTS, bind.with(joints_dual::Push { count: self.count }))
    }

    /// Forces, and what they break.
    pub fn forces(&self, r: &mut Recording, penalty: bool) -> Result<(), PlanError> {
        let s = &self.buffers;
        let bind = joints_break::Bind {
            params: s.params,
            starts: s.starts,
            poses: s.poses,
            deltas: self.deltas,
            joint_rows: s.joints.rows,
            row_states: s.joints.states,
            joints: s.joints.joints,
            joint_forces: s.joints.forces,
            counters: s.counters,
        };
        let push = joints_break::Push { count: self.count, penalty: u32::from(penalty) };
        r.dispatch_indirect(self.args, dispatch::JOINTS, bind.with(push))
    }
}
