//! Writes poses into the host's own buffers, with its stride and interpolated between the last two frames, for
//! renderers whose frame rate is not that of the physics. Descriptor sets are made when a buffer is lent and when
//! lists have grown; recording only binds them.

use super::error::{During, Error};
use super::frames::{Frames, Retired};
use super::handover::{Handed, Piece, barrier};
use super::host::Shared;
use super::memory::Memory;
use super::program::Program;
use super::record::{Flags, HostAccess};
use crate::Result;
use crate::layout::BodyPose;
use crate::plan::Groups;
use crate::state::StateBuffers;
use crate::stepper::{Stepper, unique};
use ash::vk;
use drystone_kernels::finish::drawn_poses;
use std::sync::Arc;

/// A buffer of the host's that poses are written into: one [`BodyPose`] per body slot. Bytes between the poses are
/// not touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoseTarget {
    /// The buffer, made for use as a storage buffer.
    pub buffer: vk::Buffer,
    /// First byte of the first pose: a multiple of 4.
    pub offset: u64,
    /// Bytes from one pose to the next: a multiple of 4, at least 32.
    pub stride: u32,
    /// Number of body slots that fit; later slots are not written. Slots without a body are not
    /// [`BodyPose::present`].
    pub count: u32,
}

/// Identifies a lent buffer: see [`Stepper::lend_pose_buffer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LentPoses(u64);

#[cfg(feature = "ffi")]
impl LentPoses {
    pub(crate) fn numbered(number: u64) -> Self {
        Self(number)
    }

    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

/// A descriptor set with the poses and a target. Dropping it destroys it; the device has finished with it then.
pub(super) struct DrawnSet {
    shared: Arc<Shared>,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
}

impl Drop for DrawnSet {
    fn drop(&mut self) {
        // SAFETY: made from this device, which has finished with it (the type's contract).
        unsafe { self.shared.host.device.destroy_descriptor_pool(self.pool, self.shared.host.callbacks()) };
    }
}

/// A target, and the set for the program that is loaded.
pub(super) struct Lent {
    /// No other buffer of this process was lent under it.
    number: u64,
    target: PoseTarget,
    set: DrawnSet,
    handed: Handed,
}

impl PoseTarget {
    /// `count` poses from byte `offset` on, one every `stride` bytes.
    pub fn new(buffer: vk::Buffer, offset: u64, stride: u32, count: u32) -> Self {
        Self { buffer, offset, stride, count }
    }

    /// A barrier that hands the poses, from the first byte of the first to the last of the last, from one queue family
    /// to another, for the host's half of it: see [`HostAccess::on_family`].
    pub fn transfer(
        &self,
        families: (u32, u32),
        access: (vk::AccessFlags, vk::AccessFlags),
    ) -> vk::BufferMemoryBarrier<'static> {
        barrier(self.piece(), families, access)
    }

    fn piece(&self) -> Piece {
        (self.buffer, self.offset, self.end() - self.offset)
    }

    /// Bytes up to the end of the last pose.
    fn end(&self) -> u64 {
        let behind = u64::from(self.stride) * u64::from(self.count.saturating_sub(1));
        self.offset.saturating_add(behind).saturating_add(size_of::<BodyPose>() as u64)
    }

    fn check(&self, limit: u64) -> Result<(), Error> {
        let refuse = |why: String| Err(Error::PoseTarget(why));
        if !self.offset.is_multiple_of(4) || !self.stride.is_multiple_of(4) {
            return refuse(format!("offset {} and stride {} must be multiples of 4", self.offset, self.stride));
        }
        if (self.stride as usize) < size_of::<BodyPose>() || self.count == 0 {
            return refuse(format!("{} poses {} bytes apart; a pose has 32 bytes", self.count, self.stride));
        }
        if self.end() > limit {
            return refuse(format!("{} bytes, and the device binds at most {limit}", self.end()));
        }
        Ok(())
    }
}

impl<M: Memory> Frames<M> {
    fn drawn_set(&self, program: &Program<M>, b: &StateBuffers, target: &PoseTarget) -> Result<DrawnSet> {
        let (shared, stage) = (self.shared.clone(), &drawn_poses::STAGE);
        let (device, layout) = (&self.shared.host.device, self.kernels.get(stage)?.set_layout);
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(stage.bindings.len() as u32)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: the device is alive; descriptions borrow locals that live through the calls.
        let pool = unsafe { device.create_descriptor_pool(&info, shared.host.callbacks()) }
            .during("vkCreateDescriptorPool")?;
        let mut made = DrawnSet { shared, pool, set: vk::DescriptorSet::null() };
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: as above; the pool has room for one.
        made.set = unsafe { device.allocate_descriptor_sets(&info) }.during("vkAllocateDescriptorSets")?[0];
        self.shared.name(made.set, c"drawn_poses");
        let whole = |buffer: Option<vk::Buffer>| (buffer.unwrap_or_default(), vk::WHOLE_SIZE);
        let buffers = [
            whole(program.vk_buffer(b.body_poses.id())),
            whole(program.vk_buffer(b.previous_body_poses.id())),
            (target.buffer, target.end()),
        ];
        let infos = buffers.map(|(buffer, range)| [vk::DescriptorBufferInfo::default().buffer(buffer).range(range)]);
        let writes: Vec<_> = (stage.bindings.iter().zip(&infos))
            .map(|(binding, info)| {
                vk::WriteDescriptorSet::default()
                    .dst_set(made.set)
                    .dst_binding(binding.number)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(info)
            })
            .collect();
        // SAFETY: the set is new; the buffers are alive (contract of `Stepper::lend_pose_buffer`).
        unsafe { device.update_descriptor_sets(&writes, &[]) };
        Ok(made)
    }

    /// Sets of all lent buffers for a program that is about to be loaded.
    pub(super) fn drawn_sets(&self, program: &Program<M>, b: &StateBuffers) -> Result<Vec<Option<DrawnSet>>> {
        let one = |lent: &Option<Lent>| lent.as_ref().map(|l| self.drawn_set(program, b, &l.target)).transpose();
        self.lent.iter().map(one).collect()
    }

    fn lent_as(&mut self, lent: LentPoses) -> Option<&mut Lent> {
        self.lent.iter_mut().flatten().find(|there| there.number == lent.0)
    }

    /// Replaces the sets of all lent buffers; the old ones are destroyed when the device has finished with them.
    pub(super) fn exchange_drawn(&mut self, sets: Vec<Option<DrawnSet>>) {
        let pairs = self.lent.iter_mut().flatten().zip(sets.into_iter().flatten());
        let old: Vec<_> = pairs.map(|(lent, set)| std::mem::replace(&mut lent.set, set)).collect();
        old.into_iter().for_each(|set| self.retire(Retired::Drawn(set)));
    }
}

impl<M: Memory> Stepper<Frames<M>> {
    /// Prepares writing poses into a buffer of the host's with [`Stepper::record_poses`]. Any number of buffers may
    /// be lent, for example one per frame in flight. An error when the description is invalid or the device was lost.
    ///
    /// # Safety
    /// The buffer belongs to the stepper's device, is large enough, was made for use as a storage buffer, and is alive
    /// until it is given back or the stepper dropped, and the device has finished.
    pub unsafe fn lend_pose_buffer(&mut self, target: PoseTarget) -> Result<LentPoses> {
        self.unless_lost(|stepper| stepper.lend(target))
    }

    fn lend(&mut self, target: PoseTarget) -> Result<LentPoses> {
        let device = &mut self.device;
        target.check(device.shared.support.max_storage_buffer_range)?;
        let set = device.drawn_set(&device.program, &self.core.plan().buffers, &target)?;
        let number = unique();
        let lent = Some(Lent { number, target, set, handed: Handed::default() });
        match device.lent.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = lent,
            None => device.lent.push(lent),
        }
        Ok(LentPoses(number))
    }

    /// Takes a lent buffer back. The next recorded frame may still use it; frames after that do not. One that was taken
    /// back before stays as it is.
    pub fn return_pose_buffer(&mut self, lent: LentPoses) {
        let place = self.device.lent.iter_mut().find(|place| place.as_ref().is_some_and(|l| l.number == lent.0));
        if let Some(lent) = place.and_then(Option::take) {
            self.device.retire(Retired::Drawn(lent.set));
        }
    }

    /// Whether a buffer is lent.
    #[cfg(feature = "ffi")]
    pub(crate) fn has_pose_buffer(&mut self, lent: LentPoses) -> bool {
        self.device.lent_as(lent).is_some()
    }

    /// Records writing poses into a lent buffer: those at fraction `part` (0 to 1) between the frame before the last
    /// recorded one and the last recorded one ([`BodyPose::after`]). The commands may go into any command buffer
    /// submitted after that frame's, with or without a step in it, so a renderer may draw more or fewer frames than
    /// the physics makes. Does not submit, wait or allocate. Records nothing when the buffer was taken back.
    ///
    /// **On entry** it waits for what `entry` names, such as a vertex shader's reads of the target; **on exit** poses
    /// are visible to what `exit` names. Where they name another queue family, the target is acquired and released
    /// ([`HostAccess::on_family`]), unless the host made it to be shared: then name none. The compute pipeline,
    /// descriptor set 0 of the compute bind point and the push constants are overwritten.
    ///
    /// # Safety
    /// As for [`Stepper::record`]; the engine's own poses are not with another queue family.
    pub unsafe fn record_poses(
        &mut self,
        commands: vk::CommandBuffer,
        lent: LentPoses,
        part: f32,
        entry: Option<HostAccess>,
        exit: Option<HostAccess>,
    ) {
        let Self { core, device, .. } = self;
        let bodies = core.plan().capacities.bodies;
        let shared = device.shared.clone();
        let Some(Lent { target, set, handed, .. }) = device.lent_as(lent) else { return };
        let mut handed = std::mem::take(handed);
        let (target, set, stage) = (*target, set.set, &drawn_poses::STAGE);
        // The stage was compiled when the buffer was lent, so this does not compile anything.
        let Ok(kernel) = device.kernels.get(stage) else { return };
        let push = drawn_poses::Push {
            count: target.count,
            bodies,
            first: (target.offset / 4) as u32,
            stride: target.stride / 4,
            part: if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) },
        };
        let [x, y] = Groups::grid(push.count.div_ceil(stage.threads));
        // SAFETY: this function's contract; handles were made from this device and are alive.
        unsafe {
            let vk = &shared.host.device;
            shared.cmd_begin_label(commands, c"drystone poses");
            let mut before = Flags::between_parts();
            if let Some(entry) = entry {
                before = before.and(handed.enter(&shared, commands, entry, &[]));
            }
            shared.cmd_barrier(commands, before);
            // Lists may have grown since the last frame.
            device.record_carries(commands);
            vk.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, kernel.pipeline);
            vk.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::COMPUTE, kernel.layout, 0, &[set], &[]);
            let bytes = bytemuck::bytes_of(&push);
            vk.cmd_push_constants(commands, kernel.layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
            vk.cmd_dispatch(commands, x, y, 1);
            if let Some(exit) = exit {
                handed.leave(&shared, commands, Flags::default(), exit, &[], [target.piece()]);
            }
            shared.cmd_end_label(commands);
        }
        if let Some(lent) = device.lent_as(lent) {
            lent.handed = handed;
        }
    }
}
