//! Host time of `Stepper::record`, at ten thousand and at a million bodies. Run with `cargo bench --bench record`; it
//! needs llvmpipe, and submits nothing.
//!
//! Recording is our own work and the driver's. To tell them apart it is timed with two tables of functions: one whose
//! `vkCmd*` do nothing but count, so that what is left is ours, and llvmpipe's own; each with and without time stamps,
//! the second with labels for debuggers, too; and with commands that are recorded once and called (`recorded_once`).
//! Caches are as the last recording left them (`warm`), or as a frame leaves them that did something else (`cold`: 64
//! MB are written in between).

use drystone::glam::Vec3;
use drystone::vulkan::ash::{self, vk};
use drystone::vulkan::{
    Allocation, Error, Frames, FramesOptions, GpuAllocator, Host, HostAccess, Kernels, Loader, Location, Memory,
    OwnDevice, OwnDeviceOptions, Timing,
};
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Settings, Stepper};
use drystone_kernels::detect::gate::counter;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

const SIZES: [u32; 2] = [10_000, 1_000_000];
const FRAMES: usize = 400;
const DT: f32 = 1.0 / 60.0;

/// Calls by kind, as `KINDS` names them.
static CALLS: [AtomicU64; KINDS.len()] = [const { AtomicU64::new(0) }; KINDS.len()];
const KINDS: [&str; 7] =
    ["dispatches", "pipelines and sets", "push constants", "barriers", "fills and copies", "time stamps", "others"];

/// Defines functions that count their calls and do nothing.
macro_rules! counting {
    ($($kind:literal $function:ident($($argument:ty),*);)*) => {
        $(unsafe extern "system" fn $function($(_: $argument),*) {
            // One thread calls: a plain addition, which is cheaper than an atomic one.
            CALLS[$kind].store(CALLS[$kind].load(Relaxed) + 1, Relaxed);
        })*
    };
}

counting! {
    0 dispatch(vk::CommandBuffer, u32, u32, u32);
    0 dispatch_indirect(vk::CommandBuffer, vk::Buffer, vk::DeviceSize);
    1 bind_pipeline(vk::CommandBuffer, vk::PipelineBindPoint, vk::Pipeline);
    1 bind_sets(vk::CommandBuffer, vk::PipelineBindPoint, vk::PipelineLayout, u32, u32, *const vk::DescriptorSet, u32,
        *const u32);
    2 push(vk::CommandBuffer, vk::PipelineLayout, vk::ShaderStageFlags, u32, u32, *const c_void);
    3 barrier(vk::CommandBuffer, vk::PipelineStageFlags, vk::PipelineStageFlags, vk::DependencyFlags,
        u32, *const vk::MemoryBarrier<'_>, u32, *const vk::BufferMemoryBarrier<'_>, u32,
        *const vk::ImageMemoryBarrier<'_>);
    4 fill(vk::CommandBuffer, vk::Buffer, vk::DeviceSize, vk::DeviceSize, u32);
    4 copy(vk::CommandBuffer, vk::Buffer, vk::Buffer, u32, *const vk::BufferCopy);
    6 execute(vk::CommandBuffer, u32, *const vk::CommandBuffer);
    5 reset_queries(vk::CommandBuffer, vk::QueryPool, u32, u32);
    5 stamp(vk::CommandBuffer, vk::PipelineStageFlags, vk::QueryPool, u32);
}

/// Says that all time stamps are there, since nothing is submitted: otherwise pools would run out and no time be taken.
unsafe extern "system" fn query_results(
    _: vk::Device,
    _: vk::QueryPool,
    _: u32,
    _: u32,
    size: usize,
    data: *mut c_void,
    _: vk::DeviceSize,
    _: vk::QueryResultFlags,
) -> vk::Result {
    // SAFETY: the caller has room for `size` bytes.
    unsafe { data.cast::<u8>().write_bytes(1, size) };
    vk::Result::SUCCESS
}

#[derive(Clone, Copy)]
struct Table {
    name: &'static str,
    driver: bool,
    labels: bool,
    timing: Timing,
    once: bool,
}

const OURS: Table = Table { name: "ours", driver: false, labels: false, timing: Timing::Passes, once: false };
const DRIVER: Table = Table { name: "with llvmpipe", driver: true, ..OURS };

const TABLES: [Table; 7] = [
    Table { name: "ours, no times", timing: Timing::Off, ..OURS },
    OURS,
    Table { name: "ours, recorded once", once: true, ..OURS },
    Table { name: "with llvmpipe, no times", timing: Timing::Off, ..DRIVER },
    DRIVER,
    Table { name: "with llvmpipe, labelled", labels: true, ..DRIVER },
    Table { name: "with llvmpipe, once", once: true, ..DRIVER },
];

/// The driver's own.
static PROPERTIES: OnceLock<vk::PFN_vkGetPhysicalDeviceProperties2> = OnceLock::new();

/// Bindings of any size: llvmpipe's are 128 MB, in which a million bodies do not fit. Nothing is run.
unsafe extern "system" fn properties(device: vk::PhysicalDevice, into: *mut vk::PhysicalDeviceProperties2<'_>) {
    // SAFETY: the caller's.
    unsafe {
        PROPERTIES.get().expect("set before it is called")(device, into.cast());
        (*into).properties.limits.max_storage_buffer_range = u32::MAX;
    }
}

fn host(own: &OwnDevice, table: Table) -> Host {
    let Host { instance, device, .. } = own.host();
    PROPERTIES.get_or_init(|| instance.fp_v1_1().get_physical_device_properties2);
    let unbounded = ash::InstanceFnV1_1 { get_physical_device_properties2: properties, ..instance.fp_v1_1().clone() };
    let driver = ash::DeviceFnV1_0 { get_query_pool_results: query_results, ..device.fp_v1_0().clone() };
    let counting = ash::DeviceFnV1_0 {
        cmd_bind_pipeline: bind_pipeline,
        cmd_bind_descriptor_sets: bind_sets,
        cmd_push_constants: push,
        cmd_dispatch: dispatch,
        cmd_dispatch_indirect: dispatch_indirect,
        cmd_fill_buffer: fill,
        cmd_copy_buffer: copy,
        cmd_pipeline_barrier: barrier,
        cmd_reset_query_pool: reset_queries,
        cmd_write_timestamp: stamp,
        cmd_execute_commands: execute,
        ..driver.clone()
    };
    own.host().clone().with(|host| {
        host.instance = ash::Instance::from_parts_1_3(
            instance.handle(),
            instance.fp_v1_0().clone(),
            unbounded,
            instance.fp_v1_3().clone(),
        );
        host.device = ash::Device::from_parts_1_3(
            device.handle(),
            if table.driver { driver } else { counting },
            device.fp_v1_1().clone(),
            device.fp_v1_2().clone(),
            device.fp_v1_3().clone(),
        );
        host.debug_utils = host.debug_utils.take().filter(|_| table.labels);
    })
}

/// Memory that begins with zeros: what no device ever wrote is read as if nothing had happened, but for the colours.
struct Zeroed(GpuAllocator);

// SAFETY: as the allocator's.
unsafe impl Memory for Zeroed {
    fn allocate(&mut self, name: &str, size: vk::MemoryRequirements, at: Location) -> Result<Allocation, Error> {
        let made = self.0.allocate(name, size, at)?;
        if let Some(mapped) = made.mapped {
            // SAFETY: the allocator vouches for that many bytes.
            unsafe { mapped.cast::<u8>().write_bytes(0, made.size as usize) };
            // As many colours as a pile has, and colours that stay: commands are planned by that.
            if name == "readback" {
                // SAFETY: as above; there is room for all counters.
                unsafe { mapped.cast::<u32>().add(counter::COLOURS as usize).write_unaligned(7) };
            }
        }
        Ok(made)
    }

    fn free(&mut self, allocation: Allocation) {
        self.0.free(allocation);
    }
}

fn world(bodies: u32) -> World {
    let mut world = World::new();
    let place = |i: u32| Vec3::new((i % 100) as f32, (i / 10_000) as f32, (i / 100 % 100) as f32) * 3.0;
    for i in 0..bodies {
        world.add(BodyDesc::dynamic().at(place(i)).with(Collider::cuboid(Vec3::ONE))).expect("a body");
    }
    world
}

/// Microseconds of every recording, sorted, and calls in each.
fn times(
    stepper: &mut Stepper<Frames<Zeroed>>,
    host: &Host,
    commands: vk::CommandBuffer,
    frame: &mut u64,
    mut between: impl FnMut(),
) -> (Vec<f64>, [u64; KINDS.len()]) {
    let drawing = HostAccess::new(vk::PipelineStageFlags::VERTEX_SHADER, vk::AccessFlags::SHADER_READ);
    let (mut times, mut calls) = (Vec::new(), [0; KINDS.len()]);
    let counted = || std::array::from_fn(|kind| CALLS[kind].load(Relaxed));
    for _ in 0..FRAMES {
        // As if the device were through with everything, so that no frame has to wait.
        let prepared = stepper.prepare(DT, *frame).expect("a step");
        stepper.poll(*frame).expect("reports");
        between();
        // SAFETY: the command buffer was never submitted; beginning resets it.
        unsafe {
            let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            host.device.begin_command_buffer(commands, &begin).expect("a command buffer");
            let (before, start): ([u64; KINDS.len()], _) = (counted(), Instant::now());
            *frame = stepper.record(commands, prepared, Some(drawing), Some(drawing));
            times.push(start.elapsed().as_secs_f64() * 1e6);
            calls = counted();
            calls.iter_mut().zip(before).for_each(|(now, before)| *now -= before);
            host.device.end_command_buffer(commands).expect("commands");
        }
    }
    times.sort_by(f64::total_cmp);
    (times, calls)
}

fn main() {
    let options = OwnDeviceOptions { name: Some("llvmpipe".to_owned()), ..Default::default() };
    let own = Loader::system().and_then(|loader| OwnDevice::new(&loader, &options)).expect("llvmpipe");
    // Nothing runs, so no step is ever made; without this each would have the many iterations of a world's first.
    let mut settings = Settings::default();
    settings.set("cold_iterations", 0.0).expect("a setting");
    let mut other = vec![0u8; 64 << 20];
    println!("host time of `record`, microseconds: least, median, 95 of 100");
    for bodies in SIZES {
        let world = world(bodies);
        for table in TABLES {
            let host = host(&own, table);
            // SAFETY: handles are alive and outlive what is made here; nothing is submitted.
            unsafe {
                let kernels = Kernels::new(&host).expect("kernels");
                let memory = Zeroed(GpuAllocator::new(&host).expect("an allocator"));
                let options = FramesOptions { timing: table.timing, recorded_once: table.once, ..Default::default() };
                let mut stepper =
                    Stepper::in_frames(&kernels, memory, world.clone(), settings, options).expect("a world that fits");
                let info = vk::CommandPoolCreateInfo::default()
                    .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
                    .queue_family_index(host.queue_family);
                let pool = host.device.create_command_pool(&info, None).expect("a pool");
                let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
                let commands = host.device.allocate_command_buffers(&info).expect("a command buffer")[0];
                let mut frame = 0;
                for state in ["warm", "cold"] {
                    let between = || {
                        if state == "cold" {
                            other.iter_mut().for_each(|b| *b = b.wrapping_add(1))
                        }
                    };
                    let (times, calls) = times(&mut stepper, &host, commands, &mut frame, between);
                    let [least, median, most] = [0, FRAMES / 2, FRAMES * 95 / 100].map(|i| times[i]);
                    if !table.driver && state == "warm" {
                        let kinds: Vec<_> = calls.iter().zip(KINDS).map(|(n, kind)| format!("{n} {kind}")).collect();
                        println!("{} calls: {}", calls.iter().sum::<u64>(), kinds.join(", "));
                    }
                    let name = table.name;
                    println!("{bodies:>9} bodies, {name:<24} {state}: {least:6.1} {median:6.1} {most:6.1}");
                }
                drop(stepper);
                host.device.destroy_command_pool(pool, None);
            }
        }
    }
}
