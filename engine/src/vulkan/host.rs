//! The handles that a host lends to the backend, and small helpers on top of them: naming objects, creating buffers.
//! Nothing here submits or waits.

use super::error::{During, Error};
use super::requirements::Support;
use ash::vk;
use std::ffi::CStr;
use std::sync::Arc;

/// A Vulkan device that the host owns. Cloning copies handles and function pointers only.
#[derive(Clone)]
#[non_exhaustive]
pub struct Host {
    /// The instance.
    pub instance: ash::Instance,
    /// The physical device.
    pub physical_device: vk::PhysicalDevice,
    /// The device, with [`super::enable_required`]'s features enabled.
    pub device: ash::Device,
    /// Family of the queue that the command buffers go to.
    pub queue_family: u32,
    /// A cache for the pipelines, if the host keeps one.
    pub pipeline_cache: Option<vk::PipelineCache>,
    /// For object names and labels, if the instance has `VK_EXT_debug_utils` enabled.
    pub debug_utils: Option<ash::ext::debug_utils::Device>,
    /// Callbacks with which the driver allocates host memory for every object made here, if the host provides them.
    /// Device memory comes from [`Memory`](super::Memory); gpu-allocator, the default one, passes no callbacks.
    pub allocation: Option<HostAllocation>,
}

/// A host's `VkAllocationCallbacks`, to be used by any thread.
#[derive(Clone, Copy)]
pub struct HostAllocation(vk::AllocationCallbacks<'static>);

impl HostAllocation {
    /// Wraps the callbacks.
    ///
    /// # Safety
    /// The functions may be called by any thread, with the user data they come with, until everything that was made
    /// from the [`Host`] is gone.
    pub unsafe fn new(callbacks: vk::AllocationCallbacks<'static>) -> Self {
        Self(callbacks)
    }
}

// SAFETY: the contract of `new`.
unsafe impl Send for HostAllocation {}
// SAFETY: as above.
unsafe impl Sync for HostAllocation {}

impl std::fmt::Debug for HostAllocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HostAllocation").field(&self.0.p_user_data).finish()
    }
}

impl Host {
    /// A host's device, and the family of the queue that its command buffers go to; without a pipeline cache, names
    /// for debuggers or allocation callbacks, which [`Host::with`] adds.
    pub fn new(
        instance: ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: ash::Device,
        queue_family: u32,
    ) -> Self {
        let (pipeline_cache, debug_utils, allocation) = (None, None, None);
        Self { instance, physical_device, device, queue_family, pipeline_cache, debug_utils, allocation }
    }

    /// The same with changes.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The allocation callbacks for every call that creates or destroys an object.
    pub(super) fn callbacks(&self) -> Option<&vk::AllocationCallbacks<'static>> {
        self.allocation.as_ref().map(|allocation| &allocation.0)
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host")
            .field("physical_device", &self.physical_device)
            .field("device", &self.device.handle())
            .field("queue_family", &self.queue_family)
            .finish_non_exhaustive()
    }
}

/// The host's handles and what the device supports; shared by all parts of the backend.
pub(super) struct Shared {
    pub host: Host,
    pub support: Support,
}

impl Shared {
    /// # Safety
    /// The handles are alive and belong together; the device outlives what is made from this.
    pub unsafe fn new(host: &Host) -> Result<Arc<Self>, Error> {
        // SAFETY: this function's contract.
        let support = unsafe { Support::query(&host.instance, host.physical_device) };
        support.check()?;
        Ok(Arc::new(Self { host: host.clone(), support }))
    }

    /// Names an object for debuggers and validation messages. A failure to do so changes nothing.
    pub fn name<H: vk::Handle>(&self, handle: H, name: &CStr) {
        if let Some(debug) = &self.host.debug_utils {
            let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(name);
            // SAFETY: the handle was made from this device just now.
            let _ = unsafe { debug.set_debug_utils_object_name(&info) };
        }
    }

    /// Creates a buffer without memory. `families` are the queue families that share it; with fewer than two it is
    /// `EXCLUSIVE`.
    pub fn create_buffer(&self, size: u64, usage: vk::BufferUsageFlags, families: &[u32]) -> Result<vk::Buffer, Error> {
        let mut info = vk::BufferCreateInfo::default().size(size).usage(usage).sharing_mode(vk::SharingMode::EXCLUSIVE);
        if families.len() > 1 {
            info = info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(families);
        }
        // SAFETY: the device is alive (contract of `new`), the description is complete.
        unsafe { self.host.device.create_buffer(&info, self.host.callbacks()) }.during("vkCreateBuffer")
    }
}
