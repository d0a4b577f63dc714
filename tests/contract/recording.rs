//! Functions that do nothing: those that record, for the driver that makes nothing, and those that nobody may call.

use super::table::{count, state};
use drystone::vulkan::ash::vk;
use std::ffi::c_void;

/// Functions that record, for the driver that makes nothing.
macro_rules! records {
    ($($function:ident ($($type:ty),*);)*) => {$(
        pub unsafe extern "system" fn $function(_: vk::CommandBuffer, $(_: $type),*) {}
    )*};
}

records! {
    cmd_execute_commands (u32, *const vk::CommandBuffer);
    cmd_fill_buffer (vk::Buffer, u64, u64, u32);
    cmd_copy_buffer (vk::Buffer, vk::Buffer, u32, *const vk::BufferCopy);
    cmd_bind_pipeline (vk::PipelineBindPoint, vk::Pipeline);
    cmd_bind_descriptor_sets (
        vk::PipelineBindPoint, vk::PipelineLayout, u32, u32, *const vk::DescriptorSet, u32, *const u32
    );
    cmd_push_constants (vk::PipelineLayout, vk::ShaderStageFlags, u32, u32, *const c_void);
    cmd_dispatch (u32, u32, u32);
    cmd_dispatch_indirect (vk::Buffer, u64);
    cmd_reset_query_pool (vk::QueryPool, u32, u32);
    cmd_write_timestamp (vk::PipelineStageFlags, vk::QueryPool, u32);
}

/// A barrier that was recorded.
#[derive(Clone, Debug)]
pub struct Barrier {
    pub stages: [vk::PipelineStageFlags; 2],
    /// All that is named of memory, before and after.
    pub access: [vk::AccessFlags; 2],
    /// What is handed over or ordered by itself: buffer, first byte, size, families.
    pub buffers: Vec<(vk::Buffer, u64, u64, [u32; 2])>,
}

/// Remembers the barrier, and hands it on to the driver.
pub unsafe extern "system" fn cmd_pipeline_barrier(
    commands: vk::CommandBuffer,
    before: vk::PipelineStageFlags,
    after: vk::PipelineStageFlags,
    flags: vk::DependencyFlags,
    memories: u32,
    memory: *const vk::MemoryBarrier<'_>,
    buffers: u32,
    buffer: *const vk::BufferMemoryBarrier<'_>,
    images: u32,
    image: *const vk::ImageMemoryBarrier<'_>,
) {
    assert_eq!(images, 0, "the engine has none");
    let mut seen = Barrier { stages: [before, after], access: Default::default(), buffers: Vec::new() };
    // SAFETY: as many as the caller says.
    unsafe {
        for i in 0..memories as usize {
            let found = &*memory.add(i);
            seen.access = [seen.access[0] | found.src_access_mask, seen.access[1] | found.dst_access_mask];
        }
        for i in 0..buffers as usize {
            let found = &*buffer.add(i);
            seen.access = [seen.access[0] | found.src_access_mask, seen.access[1] | found.dst_access_mask];
            let families = [found.src_queue_family_index, found.dst_queue_family_index];
            seen.buffers.push((found.buffer, found.offset, found.size, families));
        }
    }
    let real = state(|s| {
        if s.watches_barriers {
            s.barriers.push(seen);
        }
        s.real.clone()
    });
    if let Some(real) = real {
        let function = real.fp_v1_0().cmd_pipeline_barrier;
        // SAFETY: the caller's arguments, as they are.
        unsafe { function(commands, before, after, flags, memories, memory, buffers, buffer, images, image) };
    }
}

/// Functions that nothing of the record-only path may call: they are counted, and go nowhere.
macro_rules! forbidden {
    ($($function:ident $name:literal ($($type:ty),*);)*) => {$(
        pub unsafe extern "system" fn $function($(_: $type),*) -> vk::Result {
            count($name);
            state(|s| s.wrong.push(format!("{} was called", $name)));
            vk::Result::SUCCESS
        }
    )*};
}

forbidden! {
    queue_submit "vkQueueSubmit" (vk::Queue, u32, *const vk::SubmitInfo<'_>, vk::Fence);
    queue_wait_idle "vkQueueWaitIdle" (vk::Queue);
    device_wait_idle "vkDeviceWaitIdle" (vk::Device);
    wait_for_fences "vkWaitForFences" (vk::Device, u32, *const vk::Fence, vk::Bool32, u64);
    wait_semaphores "vkWaitSemaphores" (vk::Device, *const vk::SemaphoreWaitInfo<'_>, u64);
}
