//! The host's Vulkan as C has it: raw handles, what a device has to offer, and the pipelines that are made for it.

use super::error::{DrystoneResult, Failure, done};
use super::sized::{Struct, put, read, write};
use crate::vulkan::{Host, HostAllocation, Kernels, Support};
use ash::vk::{self, Handle};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// As in `vulkan.h`.
pub type VkInstance = vk::Instance;
/// As in `vulkan.h`.
pub type VkPhysicalDevice = vk::PhysicalDevice;
/// As in `vulkan.h`.
pub type VkDevice = vk::Device;
/// As in `vulkan.h`.
pub type VkCommandBuffer = vk::CommandBuffer;
/// As in `vulkan.h`.
pub type VkBuffer = vk::Buffer;
/// As in `vulkan.h`.
pub type VkDeviceMemory = vk::DeviceMemory;
/// As in `vulkan.h`.
pub type VkPipelineCache = vk::PipelineCache;
/// As in `vulkan.h`.
#[allow(non_camel_case_types, reason = "the name that C has for it")]
pub type PFN_vkGetInstanceProcAddr = Option<vk::PFN_vkGetInstanceProcAddr>;

/// Room for the name of a device.
pub const DRYSTONE_NAME_SIZE: usize = 256;
/// Room for the list of what a device lacks.
pub const DRYSTONE_MISSING_SIZE: usize = 1024;
/// What a physical device offers, as far as this library cares. Vulkan 1.2 and no extensions are needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneSupport {
    /// sizeof(DrystoneSupport).
    pub struct_size: u32,
    /// 1 when the device can run the kernels.
    pub usable: u32,
    /// A queue family that computes, one that does nothing else if there is one; UINT32_MAX when there is none.
    pub compute_family: u32,
    /// Lanes a subgroup.
    pub subgroup_size: u32,
    /// 1 when it is a driver that runs on the CPU.
    pub is_cpu: u32,
    /// 0.
    pub reserved: u32,
    /// Name of the device.
    pub device_name: [c_char; DRYSTONE_NAME_SIZE],
    /// Everything that it lacks, in words; empty when it is usable.
    pub missing: [c_char; DRYSTONE_MISSING_SIZE],
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers take any bytes.
unsafe impl Struct for DrystoneSupport {
    const NAME: &'static str = "DrystoneSupport";

    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            usable: 0,
            compute_family: u32::MAX,
            subgroup_size: 0,
            is_cpu: 0,
            reserved: 0,
            device_name: [0; DRYSTONE_NAME_SIZE],
            missing: [0; DRYSTONE_MISSING_SIZE],
        }
    }
}

/// The host's Vulkan. Nothing of it is owned by this library: it is all alive until everything made from it is
/// destroyed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DrystoneVulkanHost {
    /// sizeof(DrystoneVulkanHost).
    pub struct_size: u32,
    /// Family of the queue that the command buffers go to.
    pub queue_family: u32,
    /// The loader's, or whatever else finds functions of the instance.
    pub get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    /// Made for Vulkan 1.2 or later.
    pub instance: VkInstance,
    /// The physical device.
    pub physical_device: VkPhysicalDevice,
    /// Made with the features of `drystone_vulkan_enable`.
    pub device: VkDevice,
    /// A cache for the pipelines, or VK_NULL_HANDLE.
    pub pipeline_cache: VkPipelineCache,
    /// 1 when VK_EXT_debug_utils is enabled on the instance: objects and passes get names.
    pub debug_utils: u32,
    /// 0.
    pub reserved: u32,
    /// A VkAllocationCallbacks, or NULL. It is copied; its functions may be called by any thread, until everything made
    /// from this is destroyed. Device memory is allocated without it.
    pub allocation_callbacks: *const c_void,
}

// SAFETY: as above; handles are numbers or pointers, and a function that is there is not NULL.
unsafe impl Struct for DrystoneVulkanHost {
    const NAME: &'static str = "DrystoneVulkanHost";

    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            queue_family: 0,
            get_instance_proc_addr: None,
            instance: VkInstance::null(),
            physical_device: VkPhysicalDevice::null(),
            device: VkDevice::null(),
            pipeline_cache: VkPipelineCache::null(),
            debug_utils: 0,
            reserved: 0,
            allocation_callbacks: std::ptr::null(),
        }
    }
}

/// Pipelines of a device, shared by all its steppers. Any thread may use it.
pub struct DrystoneKernels {
    pub(super) kernels: Arc<Kernels>,
    pub(super) host: Host,
}

/// A text as C has it, cut off where it does not fit.
pub(super) fn text<const N: usize>(text: &str) -> [c_char; N] {
    let mut room = [0; N];
    let mut end = text.len().min(N - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    room.iter_mut().zip(text[..end].bytes()).for_each(|(to, from)| *to = from as c_char);
    room
}

/// # Safety
/// The instance is alive, and the function finds its functions.
unsafe fn load_instance(find: PFN_vkGetInstanceProcAddr, instance: VkInstance) -> Result<ash::Instance, Failure> {
    let find = find.ok_or_else(|| Failure::pointer("get_instance_proc_addr", true))?;
    if instance.is_null() {
        return Err(Failure::pointer("instance", true));
    }
    // What is not there would abort when it is called, so it is looked for before.
    for name in [c"vkGetDeviceProcAddr", c"vkGetPhysicalDeviceProperties2", c"vkGetPhysicalDeviceFeatures2"] {
        // SAFETY: this function's contract.
        if unsafe { find(instance, name.as_ptr()) }.is_none() {
            let text = format!("the instance has no {}: it must be made for Vulkan 1.2", name.to_string_lossy());
            return Err(Failure::new(DrystoneResult::ErrorVulkan, text));
        }
    }
    // SAFETY: this function's contract.
    Ok(unsafe { ash::Instance::load(&ash::StaticFn { get_instance_proc_addr: find }, instance) })
}

/// Tells what a physical device offers, before a device is made of it.
///
/// # Safety
/// As at the top of this header; the handles are alive and belong together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_vulkan_support(
    get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    instance: VkInstance,
    physical_device: VkPhysicalDevice,
    support: *mut DrystoneSupport,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let instance = load_instance(get_instance_proc_addr, instance)?;
        if physical_device.is_null() {
            return Err(Failure::pointer("physical_device", true));
        }
        let found = Support::query(&instance, physical_device);
        let missing: Vec<_> = found.missing().iter().map(ToString::to_string).collect();
        let told = DrystoneSupport {
            usable: missing.is_empty().into(),
            compute_family: found.compute_family().unwrap_or(u32::MAX),
            subgroup_size: found.subgroup_size,
            is_cpu: found.is_cpu().into(),
            device_name: text(&found.device_name),
            missing: text(&missing.join("; ")),
            ..DrystoneSupport::defaults()
        };
        write("support", support, &told)
    })
}

/// Sets the features that the kernels need in a chain of structs for vkCreateDevice (`pNext` of VkDeviceCreateInfo): in
/// a VkPhysicalDeviceVulkan12Features, or in a VkPhysicalDeviceVulkanMemoryModelFeatures and a
/// VkPhysicalDeviceScalarBlockLayoutFeatures. An error when the chain has neither; nothing is changed then.
///
/// # Safety
/// As at the top of this header; every struct of the chain is as its sType says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_vulkan_enable(chain: *mut c_void) -> DrystoneResult {
    done(|| {
        let (mut memory_model, mut scalar) = (Vec::<*mut vk::Bool32>::new(), Vec::<*mut vk::Bool32>::new());
        let mut next = chain.cast::<vk::BaseOutStructure<'_>>();
        while !next.is_null() {
            // SAFETY: this function's contract: the struct is as its type says.
            unsafe {
                match (*next).s_type {
                    vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => {
                        let all = next.cast::<vk::PhysicalDeviceVulkan12Features<'_>>();
                        memory_model.push(&raw mut (*all).vulkan_memory_model);
                        scalar.push(&raw mut (*all).scalar_block_layout);
                    }
                    vk::StructureType::PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES => {
                        let one = next.cast::<vk::PhysicalDeviceVulkanMemoryModelFeatures<'_>>();
                        memory_model.push(&raw mut (*one).vulkan_memory_model);
                    }
                    vk::StructureType::PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES => {
                        let one = next.cast::<vk::PhysicalDeviceScalarBlockLayoutFeatures<'_>>();
                        scalar.push(&raw mut (*one).scalar_block_layout);
                    }
                    _ => {}
                }
                next = (*next).p_next;
            }
        }
        for (found, name) in [(&memory_model, "VulkanMemoryModel"), (&scalar, "ScalarBlockLayout")] {
            if found.is_empty() {
                return Err(Failure::value(format!(
                    "the chain has neither VkPhysicalDeviceVulkan12Features nor VkPhysicalDevice{name}Features: add one"
                )));
            }
        }
        // SAFETY: they point into structs of the chain.
        memory_model.into_iter().chain(scalar).for_each(|feature| unsafe { feature.write(vk::TRUE) });
        Ok(())
    })
}

/// # Safety
/// The handles are alive and belong together.
unsafe fn load(from: &DrystoneVulkanHost) -> Result<Host, Failure> {
    // SAFETY: this function's contract.
    let instance = unsafe { load_instance(from.get_instance_proc_addr, from.instance) }?;
    for (null, name) in [(from.physical_device.is_null(), "physical_device"), (from.device.is_null(), "device")] {
        if null {
            return Err(Failure::pointer(name, true));
        }
    }
    if from.debug_utils > 1 || from.reserved != 0 {
        return Err(Failure::value("DrystoneVulkanHost: debug_utils must be 0 or 1, and reserved 0"));
    }
    // SAFETY: this function's contract.
    let (device, families) = unsafe {
        let found: &[&CStr] = &[c"vkCreateBuffer", c"vkCmdPipelineBarrier", c"vkCreateComputePipelines"];
        for name in found {
            if (instance.fp_v1_0().get_device_proc_addr)(from.device, name.as_ptr()).is_none() {
                let text = format!("the device has no {}", name.to_string_lossy());
                return Err(Failure::new(DrystoneResult::ErrorVulkan, text));
            }
        }
        let device = ash::Device::load(instance.fp_v1_0(), from.device);
        (device, instance.get_physical_device_queue_family_properties(from.physical_device).len())
    };
    if from.queue_family as usize >= families {
        let text = format!("DrystoneVulkanHost.queue_family is {}: the device has {families}", from.queue_family);
        return Err(Failure::value(text));
    }
    let debug_utils = (from.debug_utils == 1).then(|| ash::ext::debug_utils::Device::new(&instance, &device));
    Ok(Host {
        instance,
        physical_device: from.physical_device,
        device,
        queue_family: from.queue_family,
        pipeline_cache: (!from.pipeline_cache.is_null()).then_some(from.pipeline_cache),
        debug_utils,
        // SAFETY: this function's contract: where it is not null, it is what its name says.
        allocation: unsafe { from.allocation_callbacks.cast::<vk::AllocationCallbacks<'static>>().as_ref() }
            .map(|callbacks| unsafe { HostAllocation::new(*callbacks) }),
    })
}

/// Makes the kernels of a device. Nothing is compiled yet.
///
/// # Safety
/// As at the top of this header; the handles are alive, belong together, and outlive what is made from them, and the
/// device has the features of `drystone_vulkan_enable`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_kernels_create(
    host: *const DrystoneVulkanHost,
    kernels: *mut *mut DrystoneKernels,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        put("kernels", kernels, std::ptr::null_mut())?;
        let host = load(&read("host", host)?)?;
        let made = DrystoneKernels { kernels: Kernels::new(&host)?, host };
        put("kernels", kernels, Box::into_raw(Box::new(made)))
    })
}

/// Compiles every pipeline that is not ready yet, which takes a while; another thread may do so meanwhile. Without it
/// they are compiled when they are first needed.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_kernels_compile(kernels: *const DrystoneKernels) -> DrystoneResult {
    done(|| {
        // SAFETY: this function's contract.
        let kernels = unsafe { kernels.as_ref() }.ok_or_else(|| Failure::pointer("kernels", true))?;
        Ok(kernels.kernels.compile_all()?)
    })
}

/// Destroys kernels, as soon as no stepper needs them. NULL is ignored.
///
/// # Safety
/// As at the top of this header; nothing uses them any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_kernels_destroy(kernels: *mut DrystoneKernels) -> DrystoneResult {
    done(|| {
        if !kernels.is_null() {
            // SAFETY: made by `Box::into_raw` above, and destroyed once.
            drop(unsafe { Box::from_raw(kernels) });
        }
        Ok(())
    })
}
