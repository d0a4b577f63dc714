//! Compiles every kernel for one GPU and reads what its compiler says of them.
//!
//! Mesa's RADV makes up a device for the family that `RADV_FORCE_FAMILY` names, compiles for it with the real compiler,
//! and executes nothing. Some of its calls crash, among them waiting for the device and destroying it, so one process
//! compiles for one family and leaves without putting anything away.

use crate::table::{Kernel, Table};
use anyhow::{Context, Result, bail, ensure};
use ash::vk;
use drystone_kernels::manifest::{FILE, Manifest, Module};
use std::ffi::{CStr, CString};
use std::path::Path;

/// Subgroup sizes that are asked for; a device compiles for those that it has.
const WAVES: [u32; 2] = [32, 64];

/// A device without hardware behind it.
struct Null {
    device: ash::Device,
    statistics: ash::khr::pipeline_executable_properties::Device,
    /// Name of the driver, with its version.
    driver: String,
    /// Subgroup sizes that a compute stage can ask for; the reported one only, where none can be asked for.
    waves: Vec<u32>,
    /// Whether a size can be asked for.
    asks: bool,
    /// RADV counts a subgroup of 64 lanes as two on RDNA, where a SIMD unit is 32 lanes wide.
    counted_twice: bool,
}

/// Every kernel in `folder`, as the GPU `family` of the environment gets it, for all of its subgroup sizes.
pub fn compile(family: &str, folder: &Path) -> Result<Vec<Table>> {
    let path = folder.join(FILE);
    let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let manifest = Manifest::parse(&text)?;
    let null = Null::new()?;
    let mut tables = Vec::new();
    for &wave in &null.waves {
        let mut kernels = Vec::new();
        for module in &manifest.modules {
            let bytes = std::fs::read(folder.join(format!("{}.spv", module.stage)))?;
            module.check(&bytes)?;
            let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            kernels.push(null.kernel(module, &words, wave).with_context(|| module.stage.clone())?);
        }
        tables.push(Table { family: family.to_owned(), wave, driver: null.driver.clone(), kernels });
    }
    Ok(tables)
}

impl Null {
    fn new() -> Result<Self> {
        // SAFETY: loading the system's Vulkan loader runs no code but its own.
        let entry = unsafe { ash::Entry::load() }.context("no Vulkan loader: tools/drivers installs one")?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the description borrows locals that live through the call. The instance lives as long as the process.
        let instance = unsafe { entry.create_instance(&info, None) }?;
        // SAFETY: the instance is alive.
        let physical = unsafe { instance.enumerate_physical_devices() }?;
        let [physical] = physical[..] else { bail!("{} devices instead of RADV's one", physical.len()) };

        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut subgroup)
            .push_next(&mut sizes)
            .push_next(&mut driver);
        // SAFETY: the chain holds structs that the call knows; drivers leave out what they do not.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let name = properties.properties.device_name_as_c_str().unwrap_or_default().to_string_lossy().into_owned();
        ensure!(name.starts_with("Null hardware"), "{name} is hardware: its kernels are not compiled by this tool");
        let text = |s: Result<&CStr, _>| s.map_or(String::new(), |s| s.to_string_lossy().into_owned());
        let driver = text(driver.driver_info_as_c_str().map_err(drop));
        let asks = sizes.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
        let has = |wave: &u32| (sizes.min_subgroup_size..=sizes.max_subgroup_size).contains(wave);
        let waves: Vec<u32> = if asks { WAVES.into_iter().filter(has).collect() } else { vec![subgroup.subgroup_size] };
        let sizes_differ = waves.len() > 1;

        let mut features12 =
            vk::PhysicalDeviceVulkan12Features::default().vulkan_memory_model(true).scalar_block_layout(true);
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlFeatures::default().subgroup_size_control(true);
        let mut executables =
            vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&priorities)];
        let extensions =
            [ash::khr::pipeline_executable_properties::NAME.as_ptr(), ash::ext::subgroup_size_control::NAME.as_ptr()];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut features12)
            .push_next(&mut sizes)
            .push_next(&mut executables);
        // SAFETY: as for the instance; the device lives as long as the process.
        let device = unsafe { instance.create_device(physical, &info, None) }?;
        let statistics = ash::khr::pipeline_executable_properties::Device::new(&instance, &device);
        // The library must stay loaded until the process ends.
        std::mem::forget(entry);
        Ok(Self { device, statistics, driver, waves, asks, counted_twice: sizes_differ })
    }

    /// Compiles a module for subgroups of `wave` lanes, and leaves its objects to the end of the process.
    fn kernel(&self, module: &Module, words: &[u32], wave: u32) -> Result<Kernel> {
        let device = &self.device;
        let name = CString::new(module.stage.as_str())?;
        let binding = |number: u32| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(number)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings: Vec<_> = module.bindings.iter().map(|b| binding(b.number)).collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: here and below: the device is alive, and descriptions borrow locals that live through the call.
        let sets = [unsafe { device.create_descriptor_set_layout(&info, None) }?];
        let ranges = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(module.push)];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
        // SAFETY: see above.
        let layout = unsafe { device.create_pipeline_layout(&info, None) }?;
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: see above; the manifest vouches for the module.
        let shader = unsafe { device.create_shader_module(&info, None) }?;
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default().required_subgroup_size(wave);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader)
            .name(&name);
        if self.asks {
            stage = stage.push_next(&mut size);
        }
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR)
            .stage(stage)
            .layout(layout);
        // SAFETY: see above.
        let pipelines = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        let pipelines = pipelines.map_err(|(_, error)| error)?;
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipelines[0]);
        // SAFETY: the pipeline was made with statistics; the list is as long as the driver says.
        let statistics = unsafe {
            let get = self.statistics.fp().get_pipeline_executable_statistics_khr;
            let mut count = 0;
            get(device.handle(), &info, &mut count, std::ptr::null_mut()).result()?;
            let mut all = vec![vk::PipelineExecutableStatisticKHR::default(); count as usize];
            get(device.handle(), &info, &mut count, all.as_mut_ptr()).result()?;
            all.truncate(count as usize);
            all
        };
        let find = |wanted: &str| -> Result<u64> {
            let named = |s: &&vk::PipelineExecutableStatisticKHR<'_>| {
                s.name_as_c_str().is_ok_and(|name| name.to_bytes() == wanted.as_bytes())
            };
            let found = statistics.iter().find(named).with_context(|| format!("the driver has no `{wanted}`"))?;
            ensure!(found.format == vk::PipelineExecutableStatisticFormatKHR::UINT64, "`{wanted}` is no whole number");
            // SAFETY: the format says which member of the union is set.
            Ok(unsafe { found.value.u64 })
        };
        Ok(Kernel {
            name: module.stage.clone(),
            vgprs: find("VGPRs")?,
            needed: find("Pre-Sched VGPRs")?,
            sgprs: find("SGPRs")?,
            spills: find("Spilled VGPRs")? + find("Spilled SGPRs")?,
            scratch: find("Scratch size")?,
            lds: find("LDS size")?,
            waves: find("Subgroups per SIMD")? / if self.counted_twice && wave == 64 { 2 } else { 1 },
            instructions: find("Instructions")?,
            latency: find("Latency")?,
        })
    }
}
