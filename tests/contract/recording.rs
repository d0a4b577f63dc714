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
    cmd_pipeline_barrier (
        vk::PipelineStageFlags, vk::PipelineStageFlags, vk::DependencyFlags, u32, *const vk::MemoryBarrier<'_>, u32,
        *const vk::BufferMemoryBarrier<'_>, u32, *const vk::ImageMemoryBarrier<'_>
    );
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
