//! The engine inside somebody else's frame loop: borrowed handles, several frames in flight, the host's own memory.

mod common;

use common::{DRIVERS, open};
use drystone::layout::Extent;
use drystone::plan::primitives::scan::{Scan, Scratch};
use drystone::plan::{Buffer, Recording};
use drystone::vulkan::ash::vk;
use drystone::vulkan::{
    Allocation, Error, GpuAllocator, Host, HostAccess, Kernels, Location, Memory, OwnDevice, OwnDeviceOptions, Program,
    ProgramOptions, Queue, Signal, Timing, VulkanRunner,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const N: u32 = 9000;

struct Plan {
    recording: Recording,
    counters: Buffer<u32>,
}

/// Counts runs: fills values with 1, scans them, so that the total is `N`.
fn plan() -> Plan {
    let mut recording = Recording::new("count");
    let counters = recording.buffer("counters", 4).unwrap();
    let values = recording.buffer::<u32>("values", u64::from(N)).unwrap();
    let prefixes = recording.buffer("prefixes", u64::from(N)).unwrap();
    recording.fill(values, 0..u64::from(N), 1).unwrap();
    let scratch = Scratch::new(&mut recording, "scan", N).unwrap();
    let scan = Scan { values, prefixes, extent: Extent::host(N), counters, total: 1 };
    scan.record(&mut recording, scratch).unwrap();
    Plan { recording, counters }
}

/// A host's own allocator: one memory object a buffer, and a count of what is out.
struct Dedicated {
    host: Host,
    live: u64,
}

// SAFETY: every allocation is an object of its own, of a type that the requirements allow, mapped for its whole life.
unsafe impl Memory for Dedicated {
    fn allocate(
        &mut self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: Location,
    ) -> Result<Allocation, Error> {
        let wanted = match location {
            Location::Device => vk::MemoryPropertyFlags::DEVICE_LOCAL,
            _ => vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT,
        };
        // SAFETY: the handles are alive.
        let properties = unsafe { self.host.instance.get_physical_device_memory_properties(self.host.physical_device) };
        let kind = (0..properties.memory_type_count).find(|&i| {
            requirements.memory_type_bits & (1 << i) != 0
                && properties.memory_types[i as usize].property_flags.contains(wanted)
        });
        let refused = || Error::OutOfMemory { buffer: name.to_owned(), size: requirements.size, why: String::new() };
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(requirements.size)
            .memory_type_index(kind.ok_or_else(refused)?);
        // SAFETY: the device is alive.
        let memory = unsafe { self.host.device.allocate_memory(&info, None) }.map_err(|_| refused())?;
        self.live += 1;
        Ok(Allocation::new(memory, 0, requirements.size))
    }

    fn free(&mut self, allocation: Allocation) {
        // SAFETY: allocated above, given back once.
        unsafe { self.host.device.free_memory(allocation.memory, None) };
        self.live -= 1;
    }
}

impl Drop for Dedicated {
    fn drop(&mut self) {
        assert_eq!(self.live, 0, "the program gave back everything");
    }
}

/// A buffer of the host's that the results are copied to, readable on the host.
struct Landing {
    buffer: vk::Buffer,
    memory: Allocation,
    allocator: GpuAllocator,
}

impl Landing {
    fn new(host: &Host, size: u64) -> Self {
        // SAFETY: the device outlives this; the buffer is bound once.
        unsafe {
            let mut allocator = GpuAllocator::new(host).unwrap();
            let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST);
            let buffer = host.device.create_buffer(&info, None).unwrap();
            let requirements = host.device.get_buffer_memory_requirements(buffer);
            let memory = allocator.allocate("landing", requirements, Location::Readback).unwrap();
            host.device.bind_buffer_memory(buffer, memory.memory, memory.offset).unwrap();
            Self { buffer, memory, allocator }
        }
    }

    fn words(&self, count: usize) -> Vec<u32> {
        let start = self.memory.mapped.unwrap().as_ptr().cast::<u32>();
        // SAFETY: the device is done with it, and `count` words are inside.
        unsafe { std::slice::from_raw_parts(start, count) }.to_vec()
    }

    fn destroy(mut self, host: &Host) {
        // SAFETY: the device is idle.
        unsafe { host.device.destroy_buffer(self.buffer, None) };
        self.allocator.free(self.memory);
    }
}

/// The plan on a host's device.
///
/// # Safety
/// The device outlives it.
unsafe fn program(host: &Host, options: ProgramOptions) -> Program<GpuAllocator> {
    // SAFETY: this function's contract.
    unsafe {
        let memory = Arc::new(Mutex::new(GpuAllocator::new(host).unwrap()));
        Program::new(&Kernels::new(host).unwrap(), &memory, plan().recording, options).unwrap()
    }
}

fn record(program: &mut Program<GpuAllocator>, commands: vk::CommandBuffer) {
    // SAFETY: every test submits what it records once, in order, to the one queue of its device.
    unsafe { program.record(commands, None, None) };
}

fn silent(device: &OwnDevice) {
    let messages = device.validation().take();
    assert!(messages.is_empty(), "{}", messages.join("\n"));
}

#[test]
fn frames_in_flight_share_a_program_and_the_hosts_pass_sees_the_results() {
    for (name, _) in DRIVERS {
        let device = open(name);
        let host = device.host();
        let plan = plan();
        let landing = Landing::new(host, 4 * 8);
        // SAFETY: the device outlives everything here; the recordings are submitted once and in order.
        unsafe {
            let memory = Dedicated { host: host.clone(), live: 0 };
            let options = ProgramOptions { frames_in_flight: 4, timing: Timing::Passes, ..Default::default() };
            let mut program =
                Program::new(&Kernels::new(host).unwrap(), &Arc::new(Mutex::new(memory)), plan.recording, options)
                    .unwrap();
            let source = program.vk_buffer(plan.counters.id()).unwrap();
            let mut queue = Queue::new(host, device.queue()).unwrap();
            let mut last = 0;
            for frame in 0..4u64 {
                last = queue
                    .submit(&[], &[], |commands| {
                        let exit = HostAccess::new(vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_READ);
                        assert_eq!(program.record(commands, None, Some(exit)), frame);
                        let region = [vk::BufferCopy { src_offset: 4, dst_offset: frame * 4, size: 4 }];
                        host.device.cmd_copy_buffer(commands, source, landing.buffer, &region);
                        let to_host = [vk::MemoryBarrier::default()
                            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                            .dst_access_mask(vk::AccessFlags::HOST_READ)];
                        let (from, to) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
                        let none = vk::DependencyFlags::empty();
                        host.device.cmd_pipeline_barrier(commands, from, to, none, &to_host, &[], &[]);
                    })
                    .unwrap();
            }
            // Nothing was waited for until here.
            queue.wait(last, Duration::from_secs(60)).unwrap();
            assert_eq!(landing.words(4), [N; 4], "{name}");
            for frame in 0..4 {
                let times = program.times().unwrap().expect("finished runs have times");
                assert_eq!(times.run, frame, "in the order of the runs");
                let names: Vec<_> = times.passes.iter().map(|p| p.name).collect();
                assert_eq!(names, ["fill", "scan_sums", "scan_apply"]);
                assert!(times.total() > Duration::ZERO);
            }
            assert_eq!(program.times().unwrap(), None, "each run is reported once");
        }
        landing.destroy(host);
        silent(&device);
    }
}

#[test]
fn a_run_goes_untimed_rather_than_wait_for_a_timer() {
    let device = open("llvmpipe");
    let host = device.host();
    // SAFETY: as above.
    unsafe {
        let options = ProgramOptions { frames_in_flight: 1, timing: Timing::Passes, ..Default::default() };
        let mut program = program(host, options);
        let mut queue = Queue::new(host, device.queue()).unwrap();
        let mut last = 0;
        // One frame in flight has two timers, since results are taken a frame later.
        for _ in 0..3 {
            last = queue.submit(&[], &[], |commands| record(&mut program, commands)).unwrap();
        }
        queue.wait(last, Duration::from_secs(60)).unwrap();
        assert_eq!(program.times().unwrap().map(|t| t.run), Some(0));
        assert_eq!(program.times().unwrap().map(|t| t.run), Some(1));
        assert_eq!(program.times().unwrap(), None);
        // The timers are free again.
        last = queue.submit(&[], &[], |commands| record(&mut program, commands)).unwrap();
        queue.wait(last, Duration::from_secs(60)).unwrap();
        assert_eq!(program.times().unwrap().map(|t| t.run), Some(3));
    }
    silent(&device);
}

#[test]
fn submissions_wait_for_and_signal_the_hosts_semaphores() {
    let device = open("llvmpipe");
    let host = device.host();
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: as above.
    unsafe {
        let semaphore = host.device.create_semaphore(&info, None).unwrap();
        let mut program = program(host, ProgramOptions::default());
        let mut queue = Queue::new(host, device.queue()).unwrap();
        let (wait, signal) = (Signal::timeline(semaphore, 1), Signal::timeline(semaphore, 2));
        let value = queue.submit(&[wait], &[signal], |commands| record(&mut program, commands)).unwrap();
        // Nobody has signalled 1 yet.
        let error = queue.wait(value, Duration::from_millis(20)).unwrap_err();
        assert!(matches!(error, Error::TimedOut { .. }), "{error}");
        host.device.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(1)).unwrap();
        queue.wait(value, Duration::from_secs(60)).unwrap();
        assert_eq!(host.device.get_semaphore_counter_value(semaphore).unwrap(), 2);
        host.device.destroy_semaphore(semaphore, None);
    }
    silent(&device);
}

#[test]
fn submissions_wait_for_and_signal_binary_semaphores_beside_timelines() {
    let device = open("llvmpipe");
    let host = device.host();
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let timeline = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: as above.
    unsafe {
        let binary = host.device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None).unwrap();
        let timeline = host.device.create_semaphore(&timeline, None).unwrap();
        let mut program = program(host, ProgramOptions::default());
        // As a swapchain's are used: signalled by one submission, waited for by the next, and free again behind that.
        let mut queue = Queue::new(host, device.queue()).unwrap();
        let mut last = 0;
        for round in 1..=3 {
            let both = [Signal::binary(binary), Signal::timeline(timeline, 10 * round)];
            queue.submit(&[], &both, |commands| record(&mut program, commands)).unwrap();
            let end = [Signal::timeline(timeline, 10 * round + 1)];
            last = queue.submit(&both, &end, |commands| record(&mut program, commands)).unwrap();
        }
        queue.wait(last, Duration::from_secs(60)).unwrap();
        assert_eq!(host.device.get_semaphore_counter_value(timeline).unwrap(), 31);
        drop(queue);
        host.device.destroy_semaphore(binary, None);
        host.device.destroy_semaphore(timeline, None);
    }
    silent(&device);
}

#[test]
fn an_allocator_of_the_hosts_is_lent_and_gets_everything_back() {
    use drystone::vulkan::LendAllocator;
    use drystone::vulkan::gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
    /// A host that keeps its allocator another way, and counts how often it is asked for.
    struct Counted(Arc<Mutex<(Allocator, u32)>>);
    impl LendAllocator for Counted {
        fn lend(&mut self, using: &mut dyn FnMut(&mut Allocator)) {
            let mut inside = self.0.lock().unwrap();
            inside.1 += 1;
            using(&mut inside.0);
        }
    }
    let device = open("llvmpipe");
    let host = device.host();
    let own = || {
        Allocator::new(&AllocatorCreateDesc {
            instance: host.instance.clone(),
            device: host.device.clone(),
            physical_device: host.physical_device,
            debug_settings: Default::default(),
            buffer_device_address: false,
            allocation_sizes: Default::default(),
        })
        .unwrap()
    };
    let used = |allocator: &Allocator| allocator.generate_report().allocations.len();
    let shared = Arc::new(Mutex::new(own()));
    let counted = Arc::new(Mutex::new((own(), 0)));
    // SAFETY: as above; both allocate from this device.
    unsafe {
        let run = |memory: GpuAllocator| {
            let kernels = Kernels::new(host).unwrap();
            let memory = Arc::new(Mutex::new(memory));
            let mut program = Program::new(&kernels, &memory, plan().recording, ProgramOptions::default()).unwrap();
            let mut queue = Queue::new(host, device.queue()).unwrap();
            let value = queue.submit(&[], &[], |commands| record(&mut program, commands)).unwrap();
            queue.wait(value, Duration::from_secs(60)).unwrap();
            program
        };
        let program = run(GpuAllocator::lent(shared.clone()));
        assert_eq!(used(&shared.lock().unwrap()), 5, "a piece for each buffer");
        drop(program);
        assert_eq!(used(&shared.lock().unwrap()), 0);
        drop(run(GpuAllocator::lent(Counted(counted.clone()))));
        let (allocator, asked) = &*counted.lock().unwrap();
        assert_eq!((used(allocator), *asked), (0, 10), "five were given, and five came back");
    }
    drop((shared, counted));
    silent(&device);
}

#[test]
fn it_works_without_debug_utils_and_without_timers() {
    let device = open("SwiftShader");
    let host = device.host().clone().with(|h| (h.debug_utils, h.pipeline_cache) = (None, None));
    // SAFETY: as above.
    unsafe {
        let memory = GpuAllocator::new(&host).unwrap();
        let options = ProgramOptions { timing: Timing::Off, ..Default::default() };
        let mut program =
            Program::new(&Kernels::new(&host).unwrap(), &Arc::new(Mutex::new(memory)), plan().recording, options)
                .unwrap();
        let mut queue = Queue::new(&host, device.queue()).unwrap();
        let value = queue.submit(&[], &[], |commands| record(&mut program, commands)).unwrap();
        queue.wait(value, Duration::from_secs(60)).unwrap();
        assert_eq!(program.times().unwrap(), None);
    }
    silent(&device);
}

#[test]
fn a_pipeline_cache_goes_out_and_in_again_and_a_corrupt_one_is_ignored() {
    let first = open("llvmpipe");
    drop(VulkanRunner::new(first.clone(), plan().recording).unwrap());
    let data = first.pipeline_cache_data().unwrap();
    assert!(data.len() >= 16, "a header at least");
    let loader = drystone::vulkan::Loader::system().unwrap();
    for pipeline_cache in [data.clone(), data[..data.len() / 2].to_vec(), vec![0x5a; 100], Vec::new()] {
        let options = OwnDeviceOptions { name: Some("llvmpipe".to_owned()), pipeline_cache, ..Default::default() };
        let device = Arc::new(OwnDevice::new(&loader, &options).unwrap());
        let mut runner = VulkanRunner::new(device, plan().recording).unwrap();
        drystone::backend::Runner::run(&mut runner).unwrap();
    }
    silent(&first);
}

#[test]
fn memory_is_reported_by_buffer_name() {
    let device = open("llvmpipe");
    let runner = VulkanRunner::new(device, plan().recording).unwrap();
    let memory = drystone::backend::Runner::memory(&runner);
    let values = memory.iter().find(|m| m.name == "values").expect("named as in the recording");
    assert!(values.bytes >= u64::from(N) * 4 && values.bytes < u64::from(N) * 8, "{values:?}");
    assert_eq!(memory.len(), 5);
}
