//! Handles that the host lends, and the small services built on them.

use super::error::{During, Error};
use super::requirements::Support;
use ash::vk;
use std::ffi::CStr;
use std::sync::Arc;

/// A device somebody else owns. Cloning copies function pointers and handles, nothing more.
#[derive(Clone)]
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

/// What every part of the backend holds.
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

    /// Makes a buffer without memory.
    pub fn create_buffer(&self, size: u64, usage: vk::BufferUsageFlags) -> Result<vk::Buffer, Error> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage).sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: the device is alive (contract of `new`), the description is complete.
        unsafe { self.host.device.create_buffer(&info, None) }.during("vkCreateBuffer")
    }
}
