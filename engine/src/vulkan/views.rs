//! Where the poses of bodies and the forces of joints lie on the device, for the host's own commands.

use super::frames::Frames;
use super::handover::{Piece, barrier};
use super::memory::Memory;
use crate::layout::{BODY_POSE_VERSION, BodyPose};
use crate::plan::step::StepPlan;
use crate::stepper::{JointForce, Stepper};
use ash::vk;

/// Where the poses of all bodies lie, for the host's own shaders: [`BodyPose`] by body slot
/// ([`BodyHandle::index`](crate::world::BodyHandle::index)), as instance data or as a storage buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoseView {
    /// Poses after the last recorded frame.
    pub current: vk::Buffer,
    /// Poses after the frame before it.
    pub previous: vk::Buffer,
    /// First byte in either.
    pub offset: u64,
    /// Bytes from one body to the next.
    pub stride: u32,
    /// Body slots there is room for; those without a body are not [`BodyPose::present`].
    pub count: u32,
    /// [`BODY_POSE_VERSION`].
    pub version: u32,
    /// Changes whenever the buffers do: see [`Stepper::generation`].
    pub generation: u64,
}

impl PoseView {
    /// Barriers that hand both buffers from one queue family to another, for the host's own `vkCmdPipelineBarrier`: the halves
    /// that the engine does not record ([`HostAccess::on_family`](super::HostAccess::on_family)), or, where entry and exit name
    /// no family, both: once on the queue that gives them away, and once on the one that takes them, in this order. The
    /// engine's buffers belong to the family of [`Host::queue_family`](super::Host::queue_family), and are given back to it
    /// before the next step.
    pub fn transfer(
        &self,
        families: (u32, u32),
        access: (vk::AccessFlags, vk::AccessFlags),
    ) -> [vk::BufferMemoryBarrier<'static>; 2] {
        pieces([self.current, self.previous]).map(|piece| barrier(piece, families, access))
    }
}

/// All of each buffer.
fn pieces(buffers: [vk::Buffer; 2]) -> [Piece; 2] {
    buffers.map(|buffer| (buffer, 0, vk::WHOLE_SIZE))
}

/// Where the forces of all joints lie, for the host's own shaders or copies: [`JointForce`] by joint slot
/// ([`JointHandle::index`](crate::world::JointHandle::index)), as every step leaves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JointForceView {
    /// Forces of the last sub-step of the last recorded frame.
    pub buffer: vk::Buffer,
    /// First byte in it.
    pub offset: u64,
    /// Bytes from one joint to the next.
    pub stride: u32,
    /// Joint slots there is room for.
    pub count: u32,
    /// Changes whenever the buffer does: see [`Stepper::generation`].
    pub generation: u64,
}

impl<M: Memory> Frames<M> {
    /// What frames share with other queue families: the buffers of [`PoseView`], as they are now.
    pub(super) fn shared_pieces(&self, plan: &StepPlan) -> [Piece; 2] {
        let (now, before) = (plan.buffers.body_poses.id(), plan.buffers.previous_body_poses.id());
        pieces([now, before].map(|buffer| self.handle(buffer).unwrap_or_default()))
    }
}

impl<M: Memory> Stepper<Frames<M>> {
    /// Where the poses of all bodies lie. Ask again after every [`Stepper::prepare`]: growth brings other buffers.
    pub fn poses(&self) -> Option<PoseView> {
        let b = &self.plan().buffers;
        Some(PoseView {
            current: self.device.handle(b.body_poses.id())?,
            previous: self.device.handle(b.previous_body_poses.id())?,
            offset: 0,
            stride: size_of::<BodyPose>() as u32,
            count: self.capacities().bodies,
            version: BODY_POSE_VERSION,
            generation: self.generation(),
        })
    }

    /// Where the forces of all joints lie, `None` when there is no room for joints. Reading them costs what the host's
    /// own copy of them costs: nothing here copies or waits. How far a joint is off follows from poses:
    /// [`JointDesc::error`](crate::world::JointDesc::error). Ask again after every [`Stepper::prepare`].
    pub fn joint_forces(&self) -> Option<JointForceView> {
        let count = self.capacities().joints;
        let buffer = self.device.handle(self.plan().buffers.joints.forces.id()).filter(|_| count > 0)?;
        let (stride, generation) = (size_of::<JointForce>() as u32, self.generation());
        Some(JointForceView { buffer, offset: 0, stride, count, generation })
    }
}
