//! A function table between the engine and a driver: it counts calls, keeps account of what is made and destroyed, and
//! fails the call that a test asks it to. With no driver behind it, it plays one that makes nothing, so that thousands
//! of failures take seconds.
//!
//! State is the thread's, since tests run beside each other. Functions that are not in the table are not there at all:
//! ash ends the process with their name when one is called.

use super::recording::*;
use drystone::vulkan::ash::{self, vk};
use drystone::vulkan::{Host, HostAllocation};
use std::alloc::Layout;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};

#[derive(Default)]
pub struct State {
    /// What calls go on to; none for the driver that makes nothing.
    pub real: Option<ash::Device>,
    /// Calls by name, but for those that record.
    pub calls: BTreeMap<&'static str, u64>,
    /// Calls that could have failed, in their order.
    pub fallible: Vec<&'static str>,
    /// Which of them fails, counted from 0, and with what.
    pub fails: Option<(usize, vk::Result)>,
    /// Whether the device was lost.
    pub lost: bool,
    /// Time stamps that a query gives instead, over and over, as if all were there.
    pub stamps: Vec<u64>,
    /// What was made and not destroyed: handle, and what makes such.
    pub live: BTreeMap<u64, &'static str>,
    /// Bytes that a driver allocated with the host's callbacks, by address.
    pub host_memory: BTreeMap<usize, usize>,
    /// How often it did.
    pub host_allocations: u64,
    /// Destroyed without having been made, or waited where nobody may.
    pub wrong: Vec<String>,
    /// Whether barriers are remembered.
    pub watches_barriers: bool,
    /// Those that were recorded since.
    pub barriers: Vec<Barrier>,
    /// Queue families that share buffers, by buffer.
    pub sharing: BTreeMap<u64, Vec<u32>>,
    /// Queue families that the physical device says it has, if not its own.
    pub families: Vec<vk::QueueFlags>,
    next: u64,
    /// Bytes of buffers and memory.
    sizes: BTreeMap<u64, u64>,
    mapped: BTreeMap<u64, Vec<u64>>,
    alignments: BTreeMap<usize, usize>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Looks at the state, or changes it.
pub fn state<T>(call: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(call)
}

/// The host's device behind the table: with its driver, or without.
pub fn wrapped(host: &Host, with_driver: bool) -> Host {
    let real = host.device.clone();
    state(|s| *s = State { real: with_driver.then(|| real.clone()), ..State::default() });
    let find = |name: &CStr| {
        let name_text = name.to_str().unwrap_or_default();
        if with_driver && name_text.starts_with("vkCmd") && !name_text.starts_with("vkCmdPipelineBarrier") {
            // SAFETY: the device is alive.
            let found = unsafe { (host.instance.fp_v1_0().get_device_proc_addr)(real.handle(), name.as_ptr()) };
            return found.map_or(std::ptr::null(), |f| f as *const c_void);
        }
        table(name_text).unwrap_or(std::ptr::null())
    };
    // SAFETY: what is found has the type that goes with its name.
    let device = unsafe { ash::Device::load_with(find, real.handle()) };
    let callbacks = vk::AllocationCallbacks::default()
        .user_data((&raw const MARK).cast_mut().cast())
        .pfn_allocation(Some(host_allocate))
        .pfn_reallocation(Some(host_reallocate))
        .pfn_free(Some(host_free));
    // SAFETY: the functions are there for good, and keep account by thread: drivers call them where they are called.
    let allocation = Some(unsafe { HostAllocation::new(callbacks) });
    Host::new(host.instance.clone(), host.physical_device, device, host.queue_family)
        .with(|h| h.allocation = allocation)
}

/// The same without a driver, on a physical device with these queue families, the last of which is the host's.
pub fn with_families(host: &Host, families: &[vk::QueueFlags]) -> Host {
    let host = wrapped(host, false);
    state(|s| s.families = families.to_vec());
    let functions = ash::InstanceFnV1_0 {
        get_physical_device_queue_family_properties: queue_families,
        ..host.instance.fp_v1_0().clone()
    };
    let (handle, later) = (host.instance.handle(), (host.instance.fp_v1_1().clone(), host.instance.fp_v1_3().clone()));
    let instance = ash::Instance::from_parts_1_3(handle, functions, later.0, later.1);
    host.with(|h| (h.instance, h.queue_family) = (instance, families.len() as u32 - 1))
}

unsafe extern "system" fn queue_families(_: vk::PhysicalDevice, count: *mut u32, to: *mut vk::QueueFamilyProperties) {
    let families = state(|s| s.families.clone());
    // SAFETY: the caller's pointers: a number, and nothing or as many elements.
    unsafe {
        if to.is_null() {
            *count = families.len() as u32;
            return;
        }
        for (i, flags) in families.into_iter().enumerate().take(*count as usize) {
            *to.add(i) = vk::QueueFamilyProperties {
                queue_flags: flags,
                queue_count: 1,
                timestamp_valid_bits: 64,
                ..Default::default()
            };
        }
    }
}

/// User data of the host's callbacks.
static MARK: u64 = 0x6472_7973_746f_6e65;

/// Whether these are the host's callbacks.
fn check_callbacks(name: &'static str, callbacks: Callbacks<'_>) {
    // Device memory is the allocator's: gpu-allocator passes none.
    if name == "vkAllocateMemory" || name == "vkFreeMemory" {
        return;
    }
    // SAFETY: null, or what the caller passes as callbacks.
    let mark = unsafe { callbacks.as_ref() }.map(|c| c.p_user_data.cast_const().cast());
    if mark != Some(&raw const MARK) {
        state(|s| s.wrong.push(format!("{name} without the host's callbacks")));
    }
}

unsafe extern "system" fn host_allocate(
    _: *mut c_void,
    size: usize,
    alignment: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    let Ok(layout) = Layout::from_size_align(size.max(1), alignment.max(16)) else { return std::ptr::null_mut() };
    // SAFETY: not empty.
    let address = unsafe { std::alloc::alloc(layout) };
    state(|s| {
        s.host_allocations += 1;
        s.host_memory.insert(address as usize, layout.size());
        s.alignments.insert(address as usize, layout.align());
    });
    address.cast()
}

unsafe extern "system" fn host_reallocate(
    data: *mut c_void,
    old: *mut c_void,
    size: usize,
    alignment: usize,
    scope: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: as the specification has it: the old one is null or was allocated here, and has as much as is noted.
    unsafe {
        let new = host_allocate(data, size, alignment, scope);
        let there = state(|s| s.host_memory.get(&(old as usize)).copied()).unwrap_or(0);
        std::ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast::<u8>(), there.min(size));
        host_free(data, old);
        new
    }
}

unsafe extern "system" fn host_free(_: *mut c_void, address: *mut c_void) {
    if address.is_null() {
        return;
    }
    let noted = state(|s| s.host_memory.remove(&(address as usize)).zip(s.alignments.remove(&(address as usize))));
    match noted.and_then(|(size, alignment)| Layout::from_size_align(size, alignment).ok()) {
        // SAFETY: allocated above with this layout.
        Some(layout) => unsafe { std::alloc::dealloc(address.cast(), layout) },
        None => state(|s| s.wrong.push("memory was freed that the host's callbacks did not give".to_owned())),
    }
}

/// Counts a call, and tells what it goes on to.
pub fn count(name: &'static str) -> Option<ash::Device> {
    state(|s| {
        *s.calls.entry(name).or_default() += 1;
        s.real.clone()
    })
}

/// Counts a call that may fail: whether it does.
fn attempt(name: &'static str) -> Result<Option<ash::Device>, vk::Result> {
    let real = count(name);
    state(|s| {
        s.fallible.push(name);
        match s.fails {
            Some((number, result)) if number + 1 == s.fallible.len() => Err(result),
            _ => Ok(real),
        }
    })
}

fn new_handle() -> u64 {
    state(|s| {
        s.next += 1;
        s.next << 8
    })
}

fn made(name: &'static str, handle: u64) {
    state(|s| {
        if s.live.insert(handle, name).is_some() {
            s.wrong.push(format!("{name} made {handle:#x}, which is there already"));
        }
    });
}

fn gone(name: &'static str, handle: u64) {
    state(|s| {
        if handle != 0 && s.live.remove(&handle).is_none() {
            s.wrong.push(format!("{name} of {handle:#x}, which is not there"));
        }
        s.mapped.remove(&handle);
    });
}

type Callbacks<'a> = *const vk::AllocationCallbacks<'a>;

/// Functions that make one object.
macro_rules! creates {
    ($($function:ident $name:literal $info:ident $handle:ident;)*) => {$(
        unsafe extern "system" fn $function(
            device: vk::Device,
            info: *const vk::$info<'_>,
            callbacks: Callbacks<'_>,
            to: *mut vk::$handle,
        ) -> vk::Result {
            let real = match attempt($name) {
                Ok(real) => real,
                Err(result) => return result,
            };
            check_callbacks($name, callbacks);
            // SAFETY: the caller's arguments, as they are.
            unsafe {
                match real {
                    Some(real) => {
                        let result = (real.fp_v1_0().$function)(device, info, callbacks, to);
                        if result != vk::Result::SUCCESS {
                            return result;
                        }
                    }
                    None => *to = vk::Handle::from_raw(new_handle()),
                }
                made($name, vk::Handle::as_raw(*to));
                note_size($name, info.cast(), vk::Handle::as_raw(*to));
            }
            vk::Result::SUCCESS
        }
    )*};
}

/// Remembers how large a buffer or a piece of memory is.
///
/// # Safety
/// `info` is what the function of that name takes.
unsafe fn note_size(name: &'static str, info: *const c_void, handle: u64) {
    // SAFETY: this function's contract.
    let size = unsafe {
        match name {
            "vkCreateBuffer" => {
                let info = &*info.cast::<vk::BufferCreateInfo<'_>>();
                if info.sharing_mode == vk::SharingMode::CONCURRENT {
                    let count = info.queue_family_index_count as usize;
                    let families = std::slice::from_raw_parts(info.p_queue_family_indices, count).to_vec();
                    state(|s| s.sharing.insert(handle, families));
                }
                info.size
            }
            "vkAllocateMemory" => (*info.cast::<vk::MemoryAllocateInfo<'_>>()).allocation_size,
            _ => return,
        }
    };
    state(|s| s.sizes.insert(handle, size));
}

creates! {
    create_buffer "vkCreateBuffer" BufferCreateInfo Buffer;
    allocate_memory "vkAllocateMemory" MemoryAllocateInfo DeviceMemory;
    create_descriptor_set_layout "vkCreateDescriptorSetLayout" DescriptorSetLayoutCreateInfo DescriptorSetLayout;
    create_pipeline_layout "vkCreatePipelineLayout" PipelineLayoutCreateInfo PipelineLayout;
    create_shader_module "vkCreateShaderModule" ShaderModuleCreateInfo ShaderModule;
    create_descriptor_pool "vkCreateDescriptorPool" DescriptorPoolCreateInfo DescriptorPool;
    create_query_pool "vkCreateQueryPool" QueryPoolCreateInfo QueryPool;
    create_command_pool "vkCreateCommandPool" CommandPoolCreateInfo CommandPool;
}

/// Functions that destroy one.
macro_rules! destroys {
    ($($function:ident $name:literal $handle:ident;)*) => {$(
        unsafe extern "system" fn $function(device: vk::Device, handle: vk::$handle, callbacks: Callbacks<'_>) {
            let real = count($name);
            gone($name, vk::Handle::as_raw(handle));
            check_callbacks($name, callbacks);
            if let Some(real) = real {
                // SAFETY: the caller's arguments, as they are.
                unsafe { (real.fp_v1_0().$function)(device, handle, callbacks) };
            }
        }
    )*};
}

destroys! {
    destroy_buffer "vkDestroyBuffer" Buffer;
    free_memory "vkFreeMemory" DeviceMemory;
    destroy_descriptor_set_layout "vkDestroyDescriptorSetLayout" DescriptorSetLayout;
    destroy_pipeline_layout "vkDestroyPipelineLayout" PipelineLayout;
    destroy_shader_module "vkDestroyShaderModule" ShaderModule;
    destroy_descriptor_pool "vkDestroyDescriptorPool" DescriptorPool;
    destroy_query_pool "vkDestroyQueryPool" QueryPool;
    destroy_pipeline "vkDestroyPipeline" Pipeline;
    destroy_command_pool "vkDestroyCommandPool" CommandPool;
}

unsafe extern "system" fn allocate_command_buffers(
    device: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'_>,
    to: *mut vk::CommandBuffer,
) -> vk::Result {
    let tried = attempt("vkAllocateCommandBuffers");
    // SAFETY: the caller's arguments, as they are. Command buffers go with their pool.
    unsafe {
        match tried {
            Ok(Some(real)) => (real.fp_v1_0().allocate_command_buffers)(device, info, to),
            Ok(None) => {
                let count = (*info).command_buffer_count as usize;
                (0..count).for_each(|i| *to.add(i) = vk::Handle::from_raw(new_handle()));
                vk::Result::SUCCESS
            }
            Err(result) => result,
        }
    }
}

unsafe extern "system" fn begin_command_buffer(
    commands: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    match attempt("vkBeginCommandBuffer") {
        // SAFETY: the caller's arguments, as they are.
        Ok(Some(real)) => unsafe { (real.fp_v1_0().begin_command_buffer)(commands, info) },
        Ok(None) => vk::Result::SUCCESS,
        Err(result) => result,
    }
}

unsafe extern "system" fn end_command_buffer(commands: vk::CommandBuffer) -> vk::Result {
    match attempt("vkEndCommandBuffer") {
        // SAFETY: the caller's arguments, as they are.
        Ok(Some(real)) => unsafe { (real.fp_v1_0().end_command_buffer)(commands) },
        Ok(None) => vk::Result::SUCCESS,
        Err(result) => result,
    }
}

unsafe extern "system" fn create_compute_pipelines(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    callbacks: Callbacks<'_>,
    to: *mut vk::Pipeline,
) -> vk::Result {
    let tried = attempt("vkCreateComputePipelines");
    check_callbacks("vkCreateComputePipelines", callbacks);
    // SAFETY: the caller's arguments, as they are.
    unsafe {
        let result = match tried {
            Ok(Some(real)) => (real.fp_v1_0().create_compute_pipelines)(device, cache, count, infos, callbacks, to),
            Ok(None) => {
                (0..count as usize).for_each(|i| *to.add(i) = vk::Handle::from_raw(new_handle()));
                vk::Result::SUCCESS
            }
            Err(result) => {
                // As the specification has it, all that were not made are null.
                (0..count as usize).for_each(|i| *to.add(i) = vk::Pipeline::null());
                result
            }
        };
        if result == vk::Result::SUCCESS {
            (0..count as usize).for_each(|i| made("vkCreateComputePipelines", vk::Handle::as_raw(*to.add(i))));
        }
        result
    }
}

unsafe extern "system" fn allocate_descriptor_sets(
    device: vk::Device,
    info: *const vk::DescriptorSetAllocateInfo<'_>,
    to: *mut vk::DescriptorSet,
) -> vk::Result {
    let tried = attempt("vkAllocateDescriptorSets");
    // SAFETY: the caller's arguments, as they are. Sets go with their pool.
    unsafe {
        match tried {
            Ok(Some(real)) => (real.fp_v1_0().allocate_descriptor_sets)(device, info, to),
            Ok(None) => {
                let count = (*info).descriptor_set_count as usize;
                (0..count).for_each(|i| *to.add(i) = vk::Handle::from_raw(new_handle()));
                vk::Result::SUCCESS
            }
            Err(result) => result,
        }
    }
}

unsafe extern "system" fn bind_buffer_memory(
    device: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: u64,
) -> vk::Result {
    match attempt("vkBindBufferMemory") {
        // SAFETY: the caller's arguments, as they are.
        Ok(Some(real)) => unsafe { (real.fp_v1_0().bind_buffer_memory)(device, buffer, memory, offset) },
        Ok(None) => vk::Result::SUCCESS,
        Err(result) => result,
    }
}

unsafe extern "system" fn map_memory(
    device: vk::Device,
    memory: vk::DeviceMemory,
    offset: u64,
    size: u64,
    flags: vk::MemoryMapFlags,
    to: *mut *mut c_void,
) -> vk::Result {
    match attempt("vkMapMemory") {
        // SAFETY: the caller's arguments, as they are.
        Ok(Some(real)) => unsafe { (real.fp_v1_0().map_memory)(device, memory, offset, size, flags, to) },
        Ok(None) => {
            let handle = vk::Handle::as_raw(memory);
            // Zeroed pages, which cost nothing until they are touched.
            let address = state(|s| {
                let words = s.sizes.get(&handle).map_or(0, |size| size.div_ceil(8));
                s.mapped.entry(handle).or_insert_with(|| vec![0; words as usize]).as_mut_ptr()
            });
            // SAFETY: the caller's pointer; the memory is there until it is freed.
            unsafe { *to = address.cast::<u8>().add(offset as usize).cast() };
            vk::Result::SUCCESS
        }
        Err(result) => result,
    }
}

unsafe extern "system" fn unmap_memory(device: vk::Device, memory: vk::DeviceMemory) {
    match count("vkUnmapMemory") {
        // SAFETY: the caller's arguments, as they are.
        Some(real) => unsafe { (real.fp_v1_0().unmap_memory)(device, memory) },
        None => drop(state(|s| s.mapped.remove(&vk::Handle::as_raw(memory)))),
    }
}

unsafe extern "system" fn get_buffer_memory_requirements(
    device: vk::Device,
    buffer: vk::Buffer,
    to: *mut vk::MemoryRequirements,
) {
    let real = state(|s| s.real.clone());
    // SAFETY: the caller's arguments, as they are.
    unsafe {
        match real {
            Some(real) => (real.fp_v1_0().get_buffer_memory_requirements)(device, buffer, to),
            None => {
                let size = state(|s| s.sizes.get(&vk::Handle::as_raw(buffer)).copied()).unwrap_or(0);
                *to = vk::MemoryRequirements { size, alignment: 256, memory_type_bits: u32::MAX };
            }
        }
    }
}

unsafe extern "system" fn update_descriptor_sets(
    device: vk::Device,
    writes: u32,
    written: *const vk::WriteDescriptorSet<'_>,
    copies: u32,
    copied: *const vk::CopyDescriptorSet<'_>,
) {
    if let Some(real) = count("vkUpdateDescriptorSets") {
        // SAFETY: the caller's arguments, as they are.
        unsafe { (real.fp_v1_0().update_descriptor_sets)(device, writes, written, copies, copied) };
    }
}

unsafe extern "system" fn get_query_pool_results(
    device: vk::Device,
    pool: vk::QueryPool,
    first: u32,
    queries: u32,
    size: usize,
    to: *mut c_void,
    stride: u64,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    let real = count("vkGetQueryPoolResults");
    if flags.contains(vk::QueryResultFlags::WAIT) {
        state(|s| s.wrong.push("vkGetQueryPoolResults waits".to_owned()));
    }
    if state(|s| s.lost) {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    let stamps = state(|s| s.stamps.clone());
    if !stamps.is_empty() {
        let words = (0..queries as usize).flat_map(|i| [stamps[i % stamps.len()], 1]);
        // SAFETY: the caller has room for two words a query, 64 bits each, as its flags say.
        words.enumerate().for_each(|(i, word)| unsafe { to.cast::<u64>().add(i).write_unaligned(word) });
        return vk::Result::SUCCESS;
    }
    match real {
        Some(real) => {
            let function = real.fp_v1_0().get_query_pool_results;
            // SAFETY: the caller's arguments, as they are.
            unsafe { function(device, pool, first, queries, size, to, stride, flags) }
        }
        None => vk::Result::NOT_READY,
    }
}

/// The function of a name.
fn table(name: &str) -> Option<*const c_void> {
    macro_rules! found {
        ($($known:literal $function:ident: $type:ident;)*) => {
            match name {
                // The type makes sure that the function has the arguments that go with its name.
                $($known => Some({ let f: vk::$type = $function; f } as *const c_void),)*
                _ => None,
            }
        };
    }
    found! {
        "vkCreateBuffer" create_buffer: PFN_vkCreateBuffer;
        "vkAllocateMemory" allocate_memory: PFN_vkAllocateMemory;
        "vkCreateDescriptorSetLayout" create_descriptor_set_layout: PFN_vkCreateDescriptorSetLayout;
        "vkCreatePipelineLayout" create_pipeline_layout: PFN_vkCreatePipelineLayout;
        "vkCreateShaderModule" create_shader_module: PFN_vkCreateShaderModule;
        "vkCreateDescriptorPool" create_descriptor_pool: PFN_vkCreateDescriptorPool;
        "vkCreateQueryPool" create_query_pool: PFN_vkCreateQueryPool;
        "vkCreateComputePipelines" create_compute_pipelines: PFN_vkCreateComputePipelines;
        "vkAllocateDescriptorSets" allocate_descriptor_sets: PFN_vkAllocateDescriptorSets;
        "vkDestroyBuffer" destroy_buffer: PFN_vkDestroyBuffer;
        "vkFreeMemory" free_memory: PFN_vkFreeMemory;
        "vkDestroyDescriptorSetLayout" destroy_descriptor_set_layout: PFN_vkDestroyDescriptorSetLayout;
        "vkDestroyPipelineLayout" destroy_pipeline_layout: PFN_vkDestroyPipelineLayout;
        "vkDestroyShaderModule" destroy_shader_module: PFN_vkDestroyShaderModule;
        "vkDestroyDescriptorPool" destroy_descriptor_pool: PFN_vkDestroyDescriptorPool;
        "vkDestroyQueryPool" destroy_query_pool: PFN_vkDestroyQueryPool;
        "vkDestroyPipeline" destroy_pipeline: PFN_vkDestroyPipeline;
        "vkBindBufferMemory" bind_buffer_memory: PFN_vkBindBufferMemory;
        "vkMapMemory" map_memory: PFN_vkMapMemory;
        "vkUnmapMemory" unmap_memory: PFN_vkUnmapMemory;
        "vkGetBufferMemoryRequirements" get_buffer_memory_requirements: PFN_vkGetBufferMemoryRequirements;
        "vkUpdateDescriptorSets" update_descriptor_sets: PFN_vkUpdateDescriptorSets;
        "vkGetQueryPoolResults" get_query_pool_results: PFN_vkGetQueryPoolResults;
        "vkQueueSubmit" queue_submit: PFN_vkQueueSubmit;
        "vkQueueWaitIdle" queue_wait_idle: PFN_vkQueueWaitIdle;
        "vkDeviceWaitIdle" device_wait_idle: PFN_vkDeviceWaitIdle;
        "vkWaitForFences" wait_for_fences: PFN_vkWaitForFences;
        "vkWaitSemaphores" wait_semaphores: PFN_vkWaitSemaphores;
        "vkCreateCommandPool" create_command_pool: PFN_vkCreateCommandPool;
        "vkDestroyCommandPool" destroy_command_pool: PFN_vkDestroyCommandPool;
        "vkAllocateCommandBuffers" allocate_command_buffers: PFN_vkAllocateCommandBuffers;
        "vkBeginCommandBuffer" begin_command_buffer: PFN_vkBeginCommandBuffer;
        "vkEndCommandBuffer" end_command_buffer: PFN_vkEndCommandBuffer;
        "vkCmdExecuteCommands" cmd_execute_commands: PFN_vkCmdExecuteCommands;
        "vkCmdPipelineBarrier" cmd_pipeline_barrier: PFN_vkCmdPipelineBarrier;
        "vkCmdFillBuffer" cmd_fill_buffer: PFN_vkCmdFillBuffer;
        "vkCmdCopyBuffer" cmd_copy_buffer: PFN_vkCmdCopyBuffer;
        "vkCmdBindPipeline" cmd_bind_pipeline: PFN_vkCmdBindPipeline;
        "vkCmdBindDescriptorSets" cmd_bind_descriptor_sets: PFN_vkCmdBindDescriptorSets;
        "vkCmdPushConstants" cmd_push_constants: PFN_vkCmdPushConstants;
        "vkCmdDispatch" cmd_dispatch: PFN_vkCmdDispatch;
        "vkCmdDispatchIndirect" cmd_dispatch_indirect: PFN_vkCmdDispatchIndirect;
        "vkCmdResetQueryPool" cmd_reset_query_pool: PFN_vkCmdResetQueryPool;
        "vkCmdWriteTimestamp" cmd_write_timestamp: PFN_vkCmdWriteTimestamp;
    }
}
