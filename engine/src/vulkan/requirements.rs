//! The device features and limits that the kernels need, and whether a device has them. Pure functions of plain data,
//! so that a host can ask before it creates its device, and tests can ask about devices that do not exist.

use ash::vk;
use std::ffi::CStr;
use std::fmt;

/// The lowest Vulkan version the engine works with.
pub const API_VERSION: u32 = vk::API_VERSION_1_2;

/// Lanes of the largest workgroup among the kernels.
const WORKGROUP: u32 = 256;
/// Largest workgroup memory of any kernel, bytes.
const WORKGROUP_MEMORY: u32 = 16 * 1024;
/// Subgroup sizes that the kernels support: ballots are read as two 32-bit words.
const SUBGROUP_SIZES: std::ops::RangeInclusive<u32> = 4..=64;

const SUBGROUP_OPERATIONS: [(vk::SubgroupFeatureFlags, &str); 4] = [
    (vk::SubgroupFeatureFlags::BASIC, "basic"),
    (vk::SubgroupFeatureFlags::ARITHMETIC, "arithmetic"),
    (vk::SubgroupFeatureFlags::BALLOT, "ballot"),
    (vk::SubgroupFeatureFlags::SHUFFLE, "shuffle"),
];

/// Something a device lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// The Vulkan version is too low.
    ApiVersion {
        /// What the device has.
        has: u32,
    },
    /// A feature to be enabled at device creation.
    Feature(&'static str),
    /// A subgroup operation in compute shaders.
    SubgroupOperation(&'static str),
    /// Subgroups of a size the kernels are not written for.
    SubgroupSize(u32),
    /// A limit is too low.
    Limit {
        /// Its name in the specification.
        name: &'static str,
        /// What the device has.
        has: u32,
        /// What is needed.
        needs: u32,
    },
    /// No queue family can compute.
    ComputeQueue,
    /// The device has no memory: a driver without hardware behind it, as Mesa's RADV makes one up for compilers. It
    /// takes submissions, and waiting for them ends inside the driver.
    Hardware,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ApiVersion { has } => {
                let (major, minor) = (vk::api_version_major(*has), vk::api_version_minor(*has));
                write!(f, "Vulkan 1.2 (it has {major}.{minor})")
            }
            Self::Feature(name) => write!(f, "feature {name}"),
            Self::SubgroupOperation(name) => write!(f, "subgroup {name} operations in compute shaders"),
            Self::SubgroupSize(size) => write!(f, "a subgroup size between 4 and 64 (it has {size})"),
            Self::Limit { name, has, needs } => write!(f, "{name} of {needs} (it has {has})"),
            Self::ComputeQueue => write!(f, "a queue family that computes"),
            Self::Hardware => write!(f, "hardware: the driver shows a device without any memory"),
        }
    }
}

/// What a physical device offers, as far as the engine cares.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Support {
    /// The device's name.
    pub device_name: String,
    /// The driver's name and version.
    pub driver: String,
    /// Kind of device.
    pub device_type: vk::PhysicalDeviceType,
    /// Vulkan version of the device.
    pub api_version: u32,
    /// Lanes a subgroup, as reported.
    pub subgroup_size: u32,
    /// Subgroup operations in compute shaders.
    pub subgroup_operations: vk::SubgroupFeatureFlags,
    /// Feature `vulkanMemoryModel`.
    pub vulkan_memory_model: bool,
    /// Feature `scalarBlockLayout`.
    pub scalar_block_layout: bool,
    /// Feature `timelineSemaphore`: needed by [`super::Queue`] only.
    pub timeline_semaphore: bool,
    /// Limit `maxComputeWorkGroupInvocations`.
    pub max_workgroup: u32,
    /// Limit `maxComputeSharedMemorySize`.
    pub max_workgroup_memory: u32,
    /// Limit `maxPerStageDescriptorStorageBuffers`.
    pub max_storage_buffers: u32,
    /// Limit `maxStorageBufferRange`.
    pub max_storage_buffer_range: u64,
    /// Limit `maxMemoryAllocationSize`.
    pub max_allocation: u64,
    /// Bytes of the largest device-local heap.
    pub device_memory: u64,
    /// Nanoseconds a tick of the time stamps.
    pub timestamp_period: f32,
    /// Queue families: capabilities and valid bits of their time stamps (0: none).
    pub queue_families: Vec<(vk::QueueFlags, u32)>,
}

impl Support {
    /// Asks a physical device.
    ///
    /// # Safety
    /// `instance` is alive, was created for Vulkan 1.1 or later, and `physical_device` belongs to it.
    pub unsafe fn query(instance: &ash::Instance, physical_device: vk::PhysicalDevice) -> Self {
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut subgroup)
            .push_next(&mut maintenance3)
            .push_next(&mut driver);
        let mut memory_model = vk::PhysicalDeviceVulkanMemoryModelFeatures::default();
        let mut scalar = vk::PhysicalDeviceScalarBlockLayoutFeatures::default();
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut memory_model)
            .push_next(&mut scalar)
            .push_next(&mut timeline);
        // SAFETY: this function's contract; the chains hold structs the calls know.
        let (memory, queues) = unsafe {
            instance.get_physical_device_properties2(physical_device, &mut properties);
            instance.get_physical_device_features2(physical_device, &mut features);
            (
                instance.get_physical_device_memory_properties(physical_device),
                instance.get_physical_device_queue_family_properties(physical_device),
            )
        };
        let base = properties.properties;
        let heaps = &memory.memory_heaps[..memory.memory_heap_count as usize];
        let local = heaps.iter().filter(|h| h.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
        Self {
            device_name: text(base.device_name_as_c_str().ok()),
            driver: format!(
                "{} {}",
                text(driver.driver_name_as_c_str().ok()),
                text(driver.driver_info_as_c_str().ok())
            )
            .trim()
            .to_owned(),
            device_type: base.device_type,
            api_version: base.api_version,
            subgroup_size: subgroup.subgroup_size,
            subgroup_operations: if subgroup.supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
                subgroup.supported_operations
            } else {
                vk::SubgroupFeatureFlags::empty()
            },
            vulkan_memory_model: memory_model.vulkan_memory_model == vk::TRUE,
            scalar_block_layout: scalar.scalar_block_layout == vk::TRUE,
            timeline_semaphore: timeline.timeline_semaphore == vk::TRUE,
            max_workgroup: base.limits.max_compute_work_group_invocations,
            max_workgroup_memory: base.limits.max_compute_shared_memory_size,
            max_storage_buffers: base.limits.max_per_stage_descriptor_storage_buffers,
            max_storage_buffer_range: u64::from(base.limits.max_storage_buffer_range),
            max_allocation: maintenance3.max_memory_allocation_size,
            device_memory: local.map(|h| h.size).max().unwrap_or(0),
            timestamp_period: base.limits.timestamp_period,
            queue_families: queues.iter().map(|q| (q.queue_flags, q.timestamp_valid_bits)).collect(),
        }
    }

    /// What the device lacks; empty when it can run the kernels.
    pub fn missing(&self) -> Vec<Missing> {
        let mut missing = Vec::new();
        if self.api_version < API_VERSION {
            missing.push(Missing::ApiVersion { has: self.api_version });
        }
        for (there, name) in
            [(self.vulkan_memory_model, "vulkanMemoryModel"), (self.scalar_block_layout, "scalarBlockLayout")]
        {
            if !there {
                missing.push(Missing::Feature(name));
            }
        }
        for (operation, name) in SUBGROUP_OPERATIONS {
            if !self.subgroup_operations.contains(operation) {
                missing.push(Missing::SubgroupOperation(name));
            }
        }
        if !SUBGROUP_SIZES.contains(&self.subgroup_size) {
            missing.push(Missing::SubgroupSize(self.subgroup_size));
        }
        let buffers = drystone_kernels::STAGES.iter().map(|s| s.bindings.len() as u32).max().unwrap_or(0);
        for (name, has, needs) in [
            ("maxComputeWorkGroupInvocations", self.max_workgroup, WORKGROUP),
            ("maxComputeSharedMemorySize", self.max_workgroup_memory, WORKGROUP_MEMORY),
            ("maxPerStageDescriptorStorageBuffers", self.max_storage_buffers, buffers),
        ] {
            if has < needs {
                missing.push(Missing::Limit { name, has, needs });
            }
        }
        if self.compute_family().is_none() {
            missing.push(Missing::ComputeQueue);
        }
        if self.device_memory == 0 {
            missing.push(Missing::Hardware);
        }
        missing
    }

    /// An error that names everything missing, if anything is.
    pub fn check(&self) -> Result<(), super::Error> {
        let missing = self.missing();
        if missing.is_empty() {
            return Ok(());
        }
        Err(super::Error::Unsupported { device: self.device_name.clone(), missing })
    }

    /// Whether the "device" is a driver that runs on the CPU.
    pub fn is_cpu(&self) -> bool {
        self.device_type == vk::PhysicalDeviceType::CPU
    }

    /// A queue family that computes; one that does nothing else is preferred.
    pub fn compute_family(&self) -> Option<u32> {
        let computes = |flags: &vk::QueueFlags| flags.contains(vk::QueueFlags::COMPUTE);
        let families = || (0..).zip(&self.queue_families);
        let alone = families().find(|(_, (f, _))| computes(f) && !f.contains(vk::QueueFlags::GRAPHICS));
        alone.or_else(|| families().find(|(_, (f, _))| computes(f))).map(|(i, _)| i)
    }
}

fn text(name: Option<&CStr>) -> String {
    name.map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Sets what the kernels need in a host's feature structs before `vkCreateDevice`. No extension is needed.
pub fn enable_required(features: &mut vk::PhysicalDeviceVulkan12Features<'_>) {
    features.vulkan_memory_model = vk::TRUE;
    features.scalar_block_layout = vk::TRUE;
}

/// Sets the required features in a host's chain of feature structs (`VkDeviceCreateInfo::pNext`): in
/// `VkPhysicalDeviceVulkan12Features`, or in `VkPhysicalDeviceVulkanMemoryModelFeatures` and
/// `VkPhysicalDeviceScalarBlockLayoutFeatures`, whichever is present. An error names a feature that has no struct in
/// the chain: add [`required_features`], or the struct.
///
/// # Safety
/// `chain` is a chain of Vulkan structs, each as its `sType` says, that nobody else uses meanwhile.
pub unsafe fn enable_required_in_chain(chain: &mut vk::PhysicalDeviceFeatures2<'_>) -> Result<(), super::Error> {
    let mut next = chain.p_next.cast::<vk::BaseOutStructure<'_>>();
    let (mut memory_model, mut scalar_layout) = (false, false);
    while !next.is_null() {
        // SAFETY: this function's contract.
        unsafe {
            match (*next).s_type {
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => {
                    enable_required(&mut *next.cast::<vk::PhysicalDeviceVulkan12Features<'_>>());
                    (memory_model, scalar_layout) = (true, true);
                }
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES => {
                    let features = next.cast::<vk::PhysicalDeviceVulkanMemoryModelFeatures<'_>>();
                    (*features).vulkan_memory_model = vk::TRUE;
                    memory_model = true;
                }
                vk::StructureType::PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES => {
                    let features = next.cast::<vk::PhysicalDeviceScalarBlockLayoutFeatures<'_>>();
                    (*features).scalar_block_layout = vk::TRUE;
                    scalar_layout = true;
                }
                _ => {}
            }
            next = (*next).p_next;
        }
    }
    let named = [(memory_model, "vulkanMemoryModel"), (scalar_layout, "scalarBlockLayout")];
    let missing: Vec<_> = named.into_iter().filter(|(there, _)| !there).map(|(_, name)| name).collect();
    if missing.is_empty() { Ok(()) } else { Err(super::Error::FeatureChain(missing.join(" and "))) }
}

/// The required features as separate structs, for a chain that has neither `VkPhysicalDeviceVulkan12Features` nor
/// these.
pub fn required_features()
-> (vk::PhysicalDeviceVulkanMemoryModelFeatures<'static>, vk::PhysicalDeviceScalarBlockLayoutFeatures<'static>) {
    (
        vk::PhysicalDeviceVulkanMemoryModelFeatures::default().vulkan_memory_model(true),
        vk::PhysicalDeviceScalarBlockLayoutFeatures::default().scalar_block_layout(true),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_set_wherever_a_host_keeps_them() {
        let mut twelve = vk::PhysicalDeviceVulkan12Features::default();
        let mut eleven = vk::PhysicalDeviceVulkan11Features::default();
        let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut twelve).push_next(&mut eleven);
        // SAFETY: the chain was made above.
        unsafe { enable_required_in_chain(&mut chain) }.unwrap();
        assert_eq!((twelve.vulkan_memory_model, twelve.scalar_block_layout), (vk::TRUE, vk::TRUE));

        let mut model = vk::PhysicalDeviceVulkanMemoryModelFeatures::default();
        let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut model);
        // SAFETY: as above.
        let error = unsafe { enable_required_in_chain(&mut chain) }.unwrap_err().to_string();
        assert!(error.contains("scalarBlockLayout") && !error.contains("vulkanMemoryModel"), "{error}");
        let (mut model, mut scalar) = required_features();
        (model.vulkan_memory_model, scalar.scalar_block_layout) = (vk::FALSE, vk::FALSE);
        let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut model).push_next(&mut scalar);
        // SAFETY: as above.
        unsafe { enable_required_in_chain(&mut chain) }.unwrap();
        assert_eq!((model.vulkan_memory_model, scalar.scalar_block_layout), (vk::TRUE, vk::TRUE));
    }
}
