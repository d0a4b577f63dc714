//! A Vulkan device that the engine opens itself, for the command, tests and examples. Hosts with a renderer do not
//! need it.

use super::error::{During, Error};
use super::host::Host;
use super::kernels::Kernels;
use super::requirements::{API_VERSION, Support, enable_required};
use super::validation::{LAYER, LAYER_NAME, ValidationLog};
use ash::vk;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The system's Vulkan loader.
pub struct Loader(ash::Entry);

impl Loader {
    /// Loads the system's Vulkan loader.
    pub fn system() -> Result<Self, Error> {
        // SAFETY: the loader is the system's; loading it runs its initialisers, which is what everybody does.
        unsafe { ash::Entry::load() }.map(Self).map_err(|e| Error::NoLoader(e.to_string()))
    }

    /// Loads a loader from a file.
    ///
    /// # Safety
    /// The file is a Vulkan loader: its initialisers are run, and its functions called.
    pub unsafe fn from_path(path: impl AsRef<OsStr>) -> Result<Self, Error> {
        // SAFETY: this function's contract.
        unsafe { ash::Entry::load_from(path) }.map(Self).map_err(|e| Error::NoLoader(e.to_string()))
    }

    /// Every device of the machine, usable or not.
    pub fn devices(&self) -> Result<Vec<Support>, Error> {
        let instance = Instance::new(self, false, &[])?;
        // SAFETY: the instance is alive.
        let devices = unsafe { instance.raw.enumerate_physical_devices() }.during("vkEnumeratePhysicalDevices")?;
        // SAFETY: the devices belong to the instance.
        Ok(devices.into_iter().map(|d| unsafe { Support::query(&instance.raw, d) }).collect())
    }
}

/// Choices for [`OwnDevice::new`].
#[derive(Clone, Debug, Default)]
pub struct OwnDeviceOptions {
    /// Part of the device's name. `None` takes the best usable device, in the order discrete, integrated, virtual,
    /// CPU.
    pub name: Option<String>,
    /// Runs under the validation layers, synchronisation validation included.
    pub validation: bool,
    /// With `validation`: what else the layers look at.
    pub more_validation: Vec<vk::ValidationFeatureEnableEXT>,
    /// Contents of a pipeline cache from an earlier run; ignored when it is of another device or driver, or damaged.
    pub pipeline_cache: Vec<u8>,
}

struct Instance {
    raw: ash::Instance,
    debug: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    has_debug_utils: bool,
    log: Box<ValidationLog>,
    // The library stays loaded as long as the instance lives.
    _entry: ash::Entry,
}

impl Instance {
    fn new(loader: &Loader, validation: bool, more: &[vk::ValidationFeatureEnableEXT]) -> Result<Self, Error> {
        let entry = &loader.0;
        let mut log = Box::new(ValidationLog::default());
        // SAFETY: the loader is loaded; these calls need nothing else.
        let (layers, extensions) = unsafe {
            (
                entry.enumerate_instance_layer_properties().during("vkEnumerateInstanceLayerProperties")?,
                entry.enumerate_instance_extension_properties(None).during("vkEnumerateInstanceExtensionProperties")?,
            )
        };
        if validation && !layers.iter().any(|l| l.layer_name_as_c_str() == Ok(LAYER)) {
            return Err(Error::NoLayer(LAYER_NAME));
        }
        let has_debug_utils =
            validation || extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(ash::ext::debug_utils::NAME));

        let application = vk::ApplicationInfo::default()
            .application_name(c"drystone")
            .engine_name(c"drystone")
            .api_version(API_VERSION);
        let layer_names = [LAYER.as_ptr()];
        let extension_names = [ash::ext::debug_utils::NAME.as_ptr(), ash::ext::validation_features::NAME.as_ptr()];
        let enabled = [&[vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION], more].concat();
        let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
        // SAFETY: the log is boxed and kept until the messenger is destroyed.
        let messenger = unsafe { ValidationLog::messenger(&mut *log) };
        let mut at_creation = messenger;
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_extension_names(&extension_names[..usize::from(has_debug_utils) + usize::from(validation)]);
        if validation {
            info = info.enabled_layer_names(&layer_names).push_next(&mut features).push_next(&mut at_creation);
        }
        // SAFETY: the description borrows locals that live through the call.
        let raw = match unsafe { entry.create_instance(&info, None) } {
            // What the loader says when there is no driver at all.
            Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => return Err(Error::NoDevice(None)),
            other => other.during("vkCreateInstance")?,
        };
        let mut instance = Self { raw, debug: None, has_debug_utils, log, _entry: entry.clone() };
        if validation {
            let functions = ash::ext::debug_utils::Instance::new(entry, &instance.raw);
            // SAFETY: the instance is alive; the log outlives the messenger, which `drop` destroys first.
            let made = unsafe { functions.create_debug_utils_messenger(&messenger, None) };
            instance.debug = Some((functions, made.during("vkCreateDebugUtilsMessengerEXT")?));
        }
        Ok(instance)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: what was made from the instance is gone: its owner drops it last.
        unsafe {
            if let Some((functions, messenger)) = self.debug.take() {
                functions.destroy_debug_utils_messenger(messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// Whether bytes begin with this device's pipeline cache header, version one: length, version, vendor, device, UUID.
/// Drivers should check this themselves, but not all do.
fn is_cache_of(properties: &vk::PhysicalDeviceProperties, data: &[u8]) -> bool {
    const HEADER: usize = 16 + vk::UUID_SIZE;
    let word = |at: usize| data.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    let numbers = [HEADER as u32, vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32];
    let expected = [numbers[0], numbers[1], properties.vendor_id, properties.device_id];
    (0..4).all(|i| word(4 * i) == Some(expected[i]))
        && data.get(16..HEADER).is_some_and(|uuid| *uuid == properties.pipeline_cache_uuid)
}

/// A device with one compute queue.
pub struct OwnDevice {
    host: Host,
    support: Support,
    queue: vk::Queue,
    queue_lock: Mutex<()>,
    kernels: OnceLock<Arc<Kernels>>,
    instance: Instance,
}

impl OwnDevice {
    /// Opens a device.
    pub fn new(loader: &Loader, options: &OwnDeviceOptions) -> Result<Self, Error> {
        let instance = Instance::new(loader, options.validation, &options.more_validation)?;
        let (physical_device, support) = choose(&instance.raw, options.name.as_deref())?;
        support.check()?;
        let queue_family = support.compute_family().unwrap_or(0);
        let priorities = [1.0];
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&priorities)];
        let mut features = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(support.timeline_semaphore);
        enable_required(&mut features);
        // Every device supports it. It keeps out-of-bounds accesses of tools and tests from reaching other memory.
        let robust = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_features(&robust)
            .push_next(&mut features);
        // SAFETY: the physical device belongs to the instance; `support` says the features are there.
        let device = unsafe { instance.raw.create_device(physical_device, &info, None) }.during("vkCreateDevice")?;
        // SAFETY: the family was asked for above, with one queue.
        let queue = unsafe { device.get_device_queue(queue_family, 0) };
        let debug_utils = instance.has_debug_utils.then(|| ash::ext::debug_utils::Device::new(&instance.raw, &device));
        let host = Host {
            instance: instance.raw.clone(),
            physical_device,
            device,
            queue_family,
            pipeline_cache: None,
            debug_utils,
            allocation: None,
        };
        let mut own = Self { host, support, queue, queue_lock: Mutex::new(()), kernels: OnceLock::new(), instance };
        // SAFETY: the physical device belongs to the instance.
        let properties = unsafe { own.instance.raw.get_physical_device_properties(physical_device) };
        let cached = if is_cache_of(&properties, &options.pipeline_cache) { &options.pipeline_cache[..] } else { &[] };
        let info = vk::PipelineCacheCreateInfo::default().initial_data(cached);
        // SAFETY: the device is alive; the data has its header. Drivers ignore what is not their own.
        let cache = unsafe { own.host.device.create_pipeline_cache(&info, None) }.during("vkCreatePipelineCache")?;
        own.host.pipeline_cache = Some(cache);
        Ok(own)
    }

    /// The handles, to be lent.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What the device offers.
    pub fn support(&self) -> &Support {
        &self.support
    }

    /// The queue. Threads that submit to it concurrently must hold [`OwnDevice::lock_queue`] while they submit.
    pub fn queue(&self) -> vk::Queue {
        self.queue
    }

    /// Locks the queue: Vulkan allows only one thread at a time to submit to it.
    pub fn lock_queue(&self) -> MutexGuard<'_, ()> {
        self.queue_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device's pipelines, shared by everything that runs on it.
    pub fn kernels(&self) -> Result<&Arc<Kernels>, Error> {
        if self.kernels.get().is_none() {
            // SAFETY: the device is alive and has the features; who uses the kernels keeps it alive. `drop` destroys
            // them before the device.
            let made = unsafe { Kernels::new(&self.host) }?;
            // Another thread may have been faster: both are empty yet.
            let _ = self.kernels.set(made);
        }
        self.kernels.get().ok_or(Error::DeviceLost("the making of its kernels"))
    }

    /// Messages of the validation layers.
    pub fn validation(&self) -> &ValidationLog {
        &self.instance.log
    }

    /// The pipeline cache's contents, to be stored and passed to the next [`OwnDevice::new`].
    pub fn pipeline_cache_data(&self) -> Result<Vec<u8>, Error> {
        let Some(cache) = self.host.pipeline_cache else { return Ok(Vec::new()) };
        // SAFETY: the cache is alive.
        unsafe { self.host.device.get_pipeline_cache_data(cache) }.during("vkGetPipelineCacheData")
    }
}

fn choose(instance: &ash::Instance, name: Option<&str>) -> Result<(vk::PhysicalDevice, Support), Error> {
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.enumerate_physical_devices() }.during("vkEnumeratePhysicalDevices")?;
    // SAFETY: the devices belong to the instance.
    let all = devices.into_iter().map(|d| (d, unsafe { Support::query(instance, d) }));
    let wanted = name.map(str::to_lowercase);
    let fits = |s: &Support| wanted.as_ref().is_none_or(|n| s.device_name.to_lowercase().contains(n));
    let rank = |s: &Support| {
        let kind = match s.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => 0,
            vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
            vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
            _ => 3,
        };
        (!s.missing().is_empty(), kind)
    };
    all.filter(|(_, s)| fits(s)).min_by_key(|(_, s)| rank(s)).ok_or_else(|| Error::NoDevice(name.map(str::to_owned)))
}

impl Drop for OwnDevice {
    fn drop(&mut self) {
        // SAFETY: whatever borrowed the device is gone before its owner; the instance goes after, as a field.
        unsafe {
            // An error here is a lost device, which is destroyed all the same.
            let _ = self.host.device.device_wait_idle();
            drop(self.kernels.take());
            if let Some(cache) = self.host.pipeline_cache {
                self.host.device.destroy_pipeline_cache(cache, None);
            }
            self.host.device.destroy_device(None);
        }
    }
}
