//! Where the poses of bodies, the vertices of soft bodies and the forces of joints lie on the device, for the host's own commands.

use super::frames::Frames;
use super::handover::{Piece, barrier};
use super::memory::Memory;
use crate::layout::{BODY_POSE_VERSION, BodyPose, SOFT_VERTEX_VERSION, SoftVertex};
use crate::plan::step::StepPlan;
use crate::stepper::{JointForce, Stepper};
use ash::vk;

/// Where the poses of all bodies are in device memory, for the host's own shaders: one [`BodyPose`] per body slot
/// ([`BodyHandle::index`](crate::world::BodyHandle::index)), usable as instance data or as a storage buffer.
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
    /// Number of body slots; slots without a body are not [`BodyPose::present`].
    pub count: u32,
    /// [`BODY_POSE_VERSION`].
    pub version: u32,
    /// Changes whenever the buffers do: see [`Stepper::generation`].
    pub generation: u64,
}

impl PoseView {
    /// Barriers that transfer both buffers from one queue family to another, for the host's own
    /// `vkCmdPipelineBarrier`: the halves that the engine does not record
    /// ([`HostAccess::on_family`](super::HostAccess::on_family)). Where entry and exit name no family, the host
    /// records both halves: first on the releasing queue, then on the acquiring one. The engine's buffers belong to
    /// the family of [`Host::queue_family`](super::Host::queue_family), and must be returned to it before the next
    /// step.
    pub fn transfer(
        &self,
        families: (u32, u32),
        access: (vk::AccessFlags, vk::AccessFlags),
    ) -> [vk::BufferMemoryBarrier<'static>; 2] {
        pieces([self.current, self.previous]).map(|piece| barrier(piece, families, access))
    }
}

/// Where the particles of all soft bodies are in device memory, for the host's own shaders: one [`SoftVertex`] per
/// particle, usable as a vertex buffer or as a storage buffer. Those of a soft body lie side by side from
/// [`World::soft_first_vertex`](crate::world::World::soft_first_vertex) on, and
/// [`World::soft_triangles`](crate::world::World::soft_triangles) has the triangles between them, which never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SoftVertexView {
    /// Vertices after the last recorded frame.
    pub current: vk::Buffer,
    /// Vertices after the frame before it.
    pub previous: vk::Buffer,
    /// First byte in either.
    pub offset: u64,
    /// Bytes from one vertex to the next.
    pub stride: u32,
    /// Number of vertices there is room for; places without a particle are not [`SoftVertex::present`].
    pub count: u32,
    /// [`SOFT_VERTEX_VERSION`].
    pub version: u32,
    /// Changes whenever the buffers do: see [`Stepper::generation`].
    pub generation: u64,
}

impl SoftVertexView {
    /// As [`PoseView::transfer`], for both buffers of vertices: they are handed over together with the poses.
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

/// Where the forces of all joints are in device memory, for the host's own shaders or copies: one [`JointForce`] per
/// joint slot ([`JointHandle::index`](crate::world::JointHandle::index)), as each step leaves them.
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

/// Where a persistent buffer of the host's own ([`FramesOptions::user_buffers`](super::FramesOptions::user_buffers))
/// is in device memory: one element per slot of its list. It is the host's to read and write between frames; entry and
/// exit of [`Stepper::record`] name what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserBufferView {
    /// The buffer.
    pub buffer: vk::Buffer,
    /// First byte in it.
    pub offset: u64,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Slots there is room for.
    pub count: u32,
    /// Changes whenever the buffer does: see [`Stepper::generation`].
    pub generation: u64,
}

impl<M: Memory> Frames<M> {
    /// What frames share with other queue families: the buffers of [`PoseView`] and of [`SoftVertexView`], as they are
    /// now. The second number is how many there are; recording allocates nothing, so they come in an array.
    pub(super) fn shared_pieces(&self, plan: &StepPlan) -> ([Piece; 4], usize) {
        let b = &plan.buffers;
        let (now, before) = (b.body_poses.id(), b.previous_body_poses.id());
        let soft = b.soft.map(|soft| [soft.vertices.id(), soft.previous_vertices.id()]);
        let [s0, s1] = soft.unwrap_or([now, before]);
        let all = [now, before, s0, s1].map(|buffer| (self.handle(buffer).unwrap_or_default(), 0, vk::WHOLE_SIZE));
        (all, if soft.is_some() { 4 } else { 2 })
    }
}

impl<M: Memory> Stepper<Frames<M>> {
    /// Where the poses of all bodies are. Ask again after every [`Stepper::prepare`], because growth replaces the
    /// buffers.
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

    /// Where the vertices of all soft bodies are; `None` when the plan has no soft bodies. Ask again after every
    /// [`Stepper::prepare`], because growth replaces the buffers.
    pub fn soft_vertices(&self) -> Option<SoftVertexView> {
        let soft = self.plan().buffers.soft?;
        Some(SoftVertexView {
            current: self.device.handle(soft.vertices.id())?,
            previous: self.device.handle(soft.previous_vertices.id())?,
            offset: 0,
            stride: size_of::<SoftVertex>() as u32,
            count: self.capacities().particles,
            version: SOFT_VERTEX_VERSION,
            generation: self.generation(),
        })
    }

    /// Where the buffer of the host's own of that name is; `None` when there is none. Ask again after every
    /// [`Stepper::prepare`], because growth replaces the buffers.
    pub fn user_buffer(&self, name: &str) -> Option<UserBufferView> {
        self.user_buffers().iter().find(|user| user.name == name)?;
        let recording = &self.plan().recording;
        let id = recording.find(name)?;
        let info = recording.info(id)?;
        let (buffer, count) = (self.device.handle(id)?, info.count as u32);
        Some(UserBufferView { buffer, offset: 0, stride: info.stride, count, generation: self.generation() })
    }

    /// Where the forces of all joints are; `None` when the plan has no joints. Nothing is copied or waited for here;
    /// the host's own copy is the only cost. A joint's error follows from the poses:
    /// [`JointDesc::error`](crate::world::JointDesc::error). Ask again after every [`Stepper::prepare`].
    pub fn joint_forces(&self) -> Option<JointForceView> {
        let count = self.capacities().joints;
        let buffer = self.device.handle(self.plan().buffers.joints.forces.id()).filter(|_| count > 0)?;
        let (stride, generation) = (size_of::<JointForce>() as u32, self.generation());
        Some(JointForceView { buffer, offset: 0, stride, count, generation })
    }
}
