//! Commands of a part that are recorded only once, into secondary command buffers of the engine's; frames then only
//! call them. The driver's time for several hundred calls is spent when a plan is loaded, not in every frame.

use super::commands::Commands;
use super::error::{During, Error};
use super::host::Shared;
use super::record::Flags;
use super::timers::Timers;
use ash::vk;
use std::ffi::CStr;
use std::sync::Arc;

/// The command buffers: one without time stamps, and one for every set of timers. Dropping it destroys them; the device
/// has finished with them then.
pub(super) struct Once {
    shared: Arc<Shared>,
    pool: vk::CommandPool,
    untimed: vk::CommandBuffer,
    timed: Vec<vk::CommandBuffer>,
}

impl Once {
    pub fn new(shared: &Arc<Shared>, label: &CStr, commands: &Commands, timers: &Timers) -> Result<Self, Error> {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(shared.host.queue_family);
        // SAFETY: the device is alive; the description is complete.
        let pool = unsafe { shared.host.device.create_command_pool(&info, shared.host.callbacks()) }
            .during("vkCreateCommandPool")?;
        shared.name(pool, label);
        let untimed = vk::CommandBuffer::null();
        let mut once = Self { shared: shared.clone(), pool, untimed, timed: Vec::new() };
        once.untimed = once.record(commands, |_| None)?;
        once.reserve(commands, timers)?;
        Ok(once)
    }

    /// Makes one for every set of timers that has none yet.
    pub fn reserve(&mut self, commands: &Commands, timers: &Timers) -> Result<(), Error> {
        for slot in self.timed.len()..timers.slots() {
            // SAFETY: the command buffer is being recorded.
            let made = self.record(commands, |into| Some(unsafe { timers.start(into, slot) }))?;
            self.timed.push(made);
        }
        Ok(())
    }

    fn record(
        &self,
        commands: &Commands,
        timer: impl FnOnce(vk::CommandBuffer) -> Option<vk::QueryPool>,
    ) -> Result<vk::CommandBuffer, Error> {
        let device = &self.shared.host.device;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        // SAFETY: the pool is alive, and used by whoever owns this only.
        let made = unsafe { device.allocate_command_buffers(&info) }.during("vkAllocateCommandBuffers")?[0];
        let inherits = vk::CommandBufferInheritanceInfo::default();
        // Frames in flight, and the sub-steps of a frame, call the same one.
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)
            .inheritance_info(&inherits);
        // SAFETY: the command buffer is new; handles in the list are alive as long as this is (contract of `Program`).
        unsafe {
            device.begin_command_buffer(made, &begin).during("vkBeginCommandBuffer")?;
            let timer = timer(made);
            commands.play(&self.shared, made, Flags::default(), timer);
            device.end_command_buffer(made).during("vkEndCommandBuffer")?;
        }
        Ok(made)
    }

    /// Calls the commands, with the stamps of a set of timers or without.
    ///
    /// # Safety
    /// `commands` is a primary command buffer in the recording state, outside a render pass, on the host's queue
    /// family.
    pub unsafe fn call(&self, commands: vk::CommandBuffer, slot: Option<usize>) {
        let which = slot.and_then(|slot| self.timed.get(slot)).copied().unwrap_or(self.untimed);
        // SAFETY: this function's contract.
        unsafe { self.shared.host.device.cmd_execute_commands(commands, &[which]) };
    }
}

impl Drop for Once {
    fn drop(&mut self) {
        // SAFETY: made from this device, which has finished with it (the type's contract).
        unsafe { self.shared.host.device.destroy_command_pool(self.pool, self.shared.host.callbacks()) };
    }
}
