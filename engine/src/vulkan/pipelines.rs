//! One compute pipeline a stage, made once and shared by all its dispatches.

use super::error::{During, Error};
use super::host::Shared;
use crate::plan::Stage;
use ash::vk;
use std::ffi::CString;
use std::sync::Arc;

/// A stage, compiled for the device.
pub(super) struct Pipeline {
    pub stage: &'static Stage,
    pub set_layout: vk::DescriptorSetLayout,
    pub layout: vk::PipelineLayout,
    pub pipeline: vk::Pipeline,
}

/// The pipelines of a program.
pub(super) struct Pipelines {
    shared: Arc<Shared>,
    list: Vec<Pipeline>,
}

impl Pipelines {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self { shared, list: Vec::new() }
    }

    /// The pipeline of `stage`, made if it is new.
    pub fn get(&mut self, stage: &'static Stage) -> crate::Result<&Pipeline> {
        let at = match self.list.iter().position(|p| p.stage.name == stage.name) {
            Some(at) => at,
            None => {
                self.add(stage, &crate::kernels::spirv(stage.name)?)?;
                self.list.len() - 1
            }
        };
        Ok(&self.list[at])
    }

    fn add(&mut self, stage: &'static Stage, words: &[u32]) -> Result<(), Error> {
        let device = &self.shared.host.device;
        let name = CString::new(stage.name).unwrap_or_default();
        // The entry is pushed before it is complete, so that a failure half-way is cleaned up by `drop`.
        self.list.push(Pipeline {
            stage,
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
        });
        let at = self.list.len() - 1;
        let entry = &mut self.list[at];

        let bindings: Vec<_> = stage
            .bindings
            .iter()
            .map(|b| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(b.number)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the device is alive; the description borrows locals that live through the call.
        entry.set_layout =
            unsafe { device.create_descriptor_set_layout(&info, None) }.during("vkCreateDescriptorSetLayout")?;
        self.shared.name(entry.set_layout, &name);

        let sets = [entry.set_layout];
        let ranges =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(stage.push_size)];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
        // SAFETY: as above.
        entry.layout = unsafe { device.create_pipeline_layout(&info, None) }.during("vkCreatePipelineLayout")?;
        self.shared.name(entry.layout, &name);

        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words are a module that the manifest vouches for.
        let module = unsafe { device.create_shader_module(&info, None) }.during("vkCreateShaderModule")?;
        self.shared.name(module, &name);
        let shader = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(&name);
        let info = vk::ComputePipelineCreateInfo::default().stage(shader).layout(entry.layout);
        let cache = self.shared.host.pipeline_cache.unwrap_or_default();
        // SAFETY: as above; the module is destroyed only after the pipeline is made.
        let made = unsafe { device.create_compute_pipelines(cache, &[info], None) };
        // SAFETY: made above, used by nothing any more.
        unsafe { device.destroy_shader_module(module, None) };
        entry.pipeline =
            made.map_err(|(_, result)| result).during("vkCreateComputePipelines")?.first().copied().unwrap_or_default();
        self.shared.name(entry.pipeline, &name);
        Ok(())
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        let device = &self.shared.host.device;
        for entry in &self.list {
            // SAFETY: made from this device, no longer in use (contract of `Program`); null handles are ignored.
            unsafe {
                device.destroy_pipeline(entry.pipeline, None);
                device.destroy_pipeline_layout(entry.layout, None);
                device.destroy_descriptor_set_layout(entry.set_layout, None);
            }
        }
    }
}
