//! The kernels of a device: one compute pipeline a stage, made once and shared by all programs on the device.

use super::error::{During, Error};
use super::host::{Host, Shared};
use crate::log::span;
use crate::plan::Stage;
use ash::vk;
use drystone_kernels::gpu::POINTS;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A stage, compiled for the device.
#[derive(Clone, Copy, Default)]
pub(super) struct Pipeline {
    pub set_layout: vk::DescriptorSetLayout,
    pub layout: vk::PipelineLayout,
    pub pipeline: vk::Pipeline,
}

/// Bytes of push constants of every pipeline: those of the stage that has most. Layouts with the same range are
/// compatible for push constants, so what was pushed for one stage is still there for the next one.
fn push_size() -> u32 {
    crate::kernels::STAGES.iter().map(|stage| stage.push_size).max().unwrap_or(0)
}

/// Pipelines of a device. A stage is compiled when it is first needed, or ahead of time by [`Kernels::compile_all`],
/// which may run on another thread meanwhile. They outlive programs: a world whose lists grow recompiles nothing.
pub struct Kernels {
    shared: Arc<Shared>,
    ready: Mutex<HashMap<&'static str, Pipeline>>,
}

impl Kernels {
    /// Kernels for a host's device. Nothing is compiled yet.
    ///
    /// # Safety
    /// The handles are alive and belong together, the device was made with [`super::enable_required`]'s features, and
    /// it outlives what is made from this.
    pub unsafe fn new(host: &Host) -> Result<Arc<Self>, Error> {
        // SAFETY: this function's contract.
        let shared = unsafe { Shared::new(host) }?;
        Ok(Arc::new(Self { shared, ready: Mutex::default() }))
    }

    /// Compiles every stage that is not ready yet. Blocks until all are compiled; may be called on any thread.
    pub fn compile_all(&self) -> crate::Result<()> {
        crate::kernels::STAGES.iter().try_for_each(|stage| self.get(stage).map(drop))
    }

    /// Number of compiled stages, and number of all stages.
    pub fn progress(&self) -> (usize, usize) {
        (self.lock().len(), crate::kernels::STAGES.len())
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<&'static str, Pipeline>> {
        // The map is never left half changed.
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pipeline of `stage`, made if it is new.
    pub(super) fn get(&self, stage: &'static Stage) -> crate::Result<Pipeline> {
        if let Some(ready) = self.lock().get(stage.name) {
            return Ok(*ready);
        }
        span!("compile", stage = stage.name);
        let mut made = Pipeline::default();
        // Without the lock: others may compile other stages meanwhile.
        if let Err(error) = self.compile(stage, &crate::kernels::spirv(stage.name)?, &mut made) {
            self.destroy(&made);
            return Err(error.into());
        }
        let mut ready = self.lock();
        if let Some(other) = ready.get(stage.name).copied() {
            // Another thread was faster.
            drop(ready);
            self.destroy(&made);
            return Ok(other);
        }
        ready.insert(stage.name, made);
        Ok(made)
    }

    /// Creates the objects one by one into `made`, so that after a failure the caller can destroy those that exist.
    fn compile(&self, stage: &'static Stage, words: &[u32], made: &mut Pipeline) -> Result<(), Error> {
        let (device, callbacks) = (&self.shared.host.device, self.shared.host.callbacks());
        let name = CString::new(stage.name).unwrap_or_default();
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
        made.set_layout =
            unsafe { device.create_descriptor_set_layout(&info, callbacks) }.during("vkCreateDescriptorSetLayout")?;
        self.shared.name(made.set_layout, &name);

        let sets = [made.set_layout];
        let ranges = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push_size())];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
        // SAFETY: as above.
        made.layout = unsafe { device.create_pipeline_layout(&info, callbacks) }.during("vkCreatePipelineLayout")?;
        self.shared.name(made.layout, &name);

        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words are a module that the manifest vouches for.
        let module = unsafe { device.create_shader_module(&info, callbacks) }.during("vkCreateShaderModule")?;
        self.shared.name(module, &name);
        // Stages without the constant take no notice.
        let points: u32 = if self.shared.support.is_cpu() { 4 } else { 1 };
        let points = points.to_ne_bytes();
        let entries = [vk::SpecializationMapEntry::default().constant_id(POINTS).size(points.len())];
        let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&points);
        let shader = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(&name)
            .specialization_info(&constants);
        let info = vk::ComputePipelineCreateInfo::default().stage(shader).layout(made.layout);
        let cache = self.shared.host.pipeline_cache.unwrap_or_default();
        // SAFETY: as above; the module is destroyed only after the pipeline is made.
        let pipelines = unsafe { device.create_compute_pipelines(cache, &[info], callbacks) };
        // SAFETY: made above, used by nothing any more.
        unsafe { device.destroy_shader_module(module, callbacks) };
        let pipelines = pipelines.map_err(|(_, result)| result).during("vkCreateComputePipelines")?;
        made.pipeline = pipelines.first().copied().unwrap_or_default();
        self.shared.name(made.pipeline, &name);
        Ok(())
    }

    fn destroy(&self, made: &Pipeline) {
        let (device, callbacks) = (&self.shared.host.device, self.shared.host.callbacks());
        // SAFETY: made from this device and not in use (contract of `Program`); null handles are ignored.
        unsafe {
            device.destroy_pipeline(made.pipeline, callbacks);
            device.destroy_pipeline_layout(made.layout, callbacks);
            device.destroy_descriptor_set_layout(made.set_layout, callbacks);
        }
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        let all: Vec<_> = self.lock().drain().map(|(_, made)| made).collect();
        all.iter().for_each(|made| self.destroy(made));
    }
}
