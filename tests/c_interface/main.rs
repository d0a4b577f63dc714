//! The C interface in a host's frames, called as C calls it, under the validation layers. What it refuses on the CPU,
//! sizes and pointers is `examples/c/contract.c`'s; that it does what the engine does, `examples/c/twin.c`'s.

mod buffers;
#[path = "../common/mod.rs"]
mod common;
mod drawn;
mod memory;
mod queries;
mod soft;

use common::open;
use drystone::ffi::*;
use drystone::vulkan::ash::{self, vk};
use drystone::vulkan::{OwnDevice, Queue};
use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::time::Duration;

fn last_error() -> String {
    // SAFETY: the text is this thread's, and copied before anything else is called.
    unsafe { CStr::from_ptr(drystone_last_error()) }.to_str().unwrap().to_owned()
}

#[track_caller]
fn done(result: DrystoneResult) {
    assert_eq!(result, DrystoneResult::Ok, "{}", last_error());
}

#[track_caller]
fn refused(result: DrystoneResult, expected: DrystoneResult, words: &str) {
    assert_eq!(result, expected, "{}", last_error());
    assert!(last_error().contains(words), "{}", last_error());
}

/// A struct with its size in it, and zeros.
fn sized<T>() -> T {
    // SAFETY: structs of the interface are numbers and pointers that may be zero, the size first.
    unsafe {
        let mut value = std::mem::zeroed::<T>();
        (&raw mut value).cast::<u32>().write(size_of::<T>() as u32);
        value
    }
}

/// The host's handles, as C has them.
fn lent(device: &OwnDevice, entry: &ash::Entry) -> DrystoneVulkanHost {
    let host = device.host();
    DrystoneVulkanHost {
        queue_family: host.queue_family,
        get_instance_proc_addr: Some(entry.static_fn().get_instance_proc_addr),
        instance: host.instance.handle(),
        physical_device: host.physical_device,
        device: host.device.handle(),
        debug_utils: host.debug_utils.is_some().into(),
        ..sized()
    }
}

unsafe fn add(
    stepper: *mut DrystoneStepper,
    kind: DrystoneBodyKind,
    position: [f32; 3],
    shape: DrystoneShape,
) -> DrystoneBody {
    // SAFETY: the structs are whole, and alive during the calls.
    unsafe {
        let (mut collider, mut desc, mut body) = (sized::<DrystoneCollider>(), sized::<DrystoneBodyDesc>(), 0);
        done(drystone_collider_defaults(&mut collider));
        (collider.shape, collider.half, collider.radius) = (shape as u32, [0.5; 3], 0.5);
        done(drystone_body_defaults(&mut desc));
        (desc.kind, desc.position) = (kind as u32, position);
        (desc.colliders, desc.collider_count) = (&collider, 1);
        done(drystone_add_body(stepper, &desc, &mut body));
        body
    }
}

/// Ground, a tower of three boxes, and a ball that falls beside it.
unsafe fn build(stepper: *mut DrystoneStepper) -> DrystoneBody {
    use DrystoneBodyKind::{Dynamic, Static};
    // SAFETY: the stepper is alive.
    unsafe {
        done(drystone_set_setting(stepper, c"cold_iterations".as_ptr(), 0.0));
        add(stepper, Static, [0.0; 3], DrystoneShape::HalfSpace);
        for i in 0..3 {
            add(stepper, Dynamic, [0.0, 0.5 + i as f32, 0.0], DrystoneShape::Box);
        }
        add(stepper, Dynamic, [3.0, 5.0, 0.0], DrystoneShape::Sphere)
    }
}

/// Hash of the poses of a snapshot, as the CPU backend has them.
unsafe fn hash_of(bytes: &[u8]) -> u64 {
    // SAFETY: what is pointed to is alive during the calls.
    unsafe {
        let (mut cpu, mut count, mut hash) = (null_mut(), 0, 0);
        done(drystone_stepper_create_cpu(null(), &mut cpu));
        done(drystone_restore(cpu, bytes.as_ptr(), bytes.len()));
        let mut poses = [DrystoneBodyPose::default(); 16];
        done(drystone_read_poses(cpu, poses.as_mut_ptr(), 16, &mut count));
        assert_eq!(count, 5);
        done(drystone_pose_hash(poses.as_ptr(), count, &mut hash));
        done(drystone_stepper_destroy(cpu));
        hash
    }
}

/// A stepper in the frames of a host that waits for each.
struct InFrames<'a> {
    stepper: *mut DrystoneStepper,
    queue: Queue,
    device: &'a OwnDevice,
    frame: u64,
}

impl InFrames<'_> {
    /// Makes frames, and a snapshot with the last of them.
    unsafe fn step(&mut self, frames: u64) -> Vec<u8> {
        let (stepper, last) = (self.stepper, self.frame + frames);
        // SAFETY: what is recorded is submitted once, in order.
        unsafe {
            while self.frame < last {
                done(drystone_prepare(stepper, 1.0 / 60.0, self.frame));
                done(drystone_reserve_snapshot(stepper));
                let alone = self.device.lock_queue();
                let recorded = self.queue.submit(&[], &[], |commands| {
                    done(drystone_record(stepper, commands, null(), null(), &mut self.frame));
                    if self.frame == last {
                        done(drystone_record_snapshot(stepper, commands, null_mut()));
                    }
                });
                drop(alone);
                self.queue.wait(recorded.unwrap(), Duration::from_secs(60)).unwrap();
            }
            let (mut bytes, mut size, mut frame) = (null(), 0, 0);
            let early = drystone_poll_snapshot(stepper, last - 1, &mut frame);
            assert_eq!(early, DrystoneResult::Nothing, "the frame is not said to be done");
            done(drystone_poll_snapshot(stepper, last, &mut frame));
            assert_eq!(frame, last);
            done(drystone_snapshot_bytes(stepper, &mut bytes, &mut size));
            std::slice::from_raw_parts(bytes, size).to_vec()
        }
    }
}

#[test]
fn a_stepper_in_a_hosts_frames_goes_on_back_and_is_told_apart_from_one_on_the_cpu() {
    // SAFETY: the loader stays loaded; every pointer is to something alive, or NULL to see it refused.
    let entry = unsafe { ash::Entry::load() }.unwrap();
    let device = open("llvmpipe");
    // SAFETY: as above.
    unsafe {
        let mut kernels = null_mut();
        done(drystone_kernels_create(&lent(&device, &entry), &mut kernels));
        let mut stepper = null_mut();
        done(drystone_stepper_create_vulkan(kernels, null(), &mut stepper));
        // It keeps what it needs of them.
        done(drystone_kernels_destroy(kernels));
        let ball = build(stepper);

        let (mut state, mut report) = (sized::<DrystoneBodyState>(), sized::<DrystoneReport>());
        refused(drystone_run(stepper, null_mut()), DrystoneResult::ErrorBackend, "CPU");
        refused(drystone_take_snapshot(stepper), DrystoneResult::ErrorBackend, "CPU");
        refused(drystone_body_state(stepper, ball, &mut state), DrystoneResult::ErrorBackend, "waits");
        let nowhere = vk::Handle::from_raw(0);
        refused(
            drystone_record(stepper, nowhere, null(), null(), null_mut()),
            DrystoneResult::ErrorPointer,
            "`commands`",
        );
        let somewhere = vk::Handle::from_raw(8);
        let unprepared = drystone_record(stepper, somewhere, null(), null(), null_mut());
        refused(unprepared, DrystoneResult::ErrorNotPrepared, "drystone_prepare");
        let unnamed = drystone_record(stepper, somewhere, &sized::<DrystoneAccess>(), null(), null_mut());
        refused(unnamed, DrystoneResult::ErrorValue, "`entry` names no stages");

        let queue = Queue::new(device.host(), device.queue()).unwrap();
        let mut host = InFrames { stepper, queue, device: &device, frame: 0 };
        let start = host.step(5);
        let first = hash_of(&host.step(5));
        // From bytes, and from what is kept.
        done(drystone_restore(stepper, start.as_ptr(), start.len()));
        assert_eq!(hash_of(&host.step(5)), first, "restored");
        done(drystone_restore(stepper, start.as_ptr(), start.len()));
        done(drystone_keep_frames(stepper, 4));
        host.step(2);
        let back = host.frame;
        assert_eq!(hash_of(&host.step(3)), first, "restored again");
        refused(drystone_roll_back(stepper, 1), DrystoneResult::ErrorSnapshot, "kept");
        done(drystone_roll_back(stepper, back));
        assert_eq!(hash_of(&host.step(3)), first, "rolled back");
        assert_ne!(hash_of(&start), first);

        // Every frame has a report, in order, each once.
        let mut told = Vec::new();
        while drystone_poll(stepper, host.frame, &mut report) == DrystoneResult::Ok {
            assert_eq!(report.dropped, 0);
            told.push(report.frame);
        }
        assert!(told.iter().copied().eq(1..=host.frame), "{told:?}");
        let mut view = sized::<DrystonePoseView>();
        done(drystone_poses(stepper, &mut view));
        assert_eq!((view.version, view.stride as usize), (DRYSTONE_POSE_VERSION, size_of::<DrystoneBodyPose>()));
        assert!(view.count >= 5 && drystone_body_slot(ball) == 4);
        drop(host);
        done(drystone_stepper_destroy(stepper));
    }
    let said = device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn frames_that_are_pending_and_handles_that_are_wrong_are_refused_by_name() {
    let device = open("llvmpipe");
    // SAFETY: as above; what is recorded is submitted once, in order.
    unsafe {
        let entry = ash::Entry::load().unwrap();
        let good = lent(&device, &entry);
        let mut kernels = null_mut();
        for (host, expected, words) in [
            (DrystoneVulkanHost { queue_family: 99, ..good }, DrystoneResult::ErrorValue, "queue_family is 99"),
            (DrystoneVulkanHost { device: vk::Handle::from_raw(0), ..good }, DrystoneResult::ErrorPointer, "device"),
            (
                DrystoneVulkanHost { instance: vk::Handle::from_raw(0), ..good },
                DrystoneResult::ErrorPointer,
                "instance",
            ),
            (DrystoneVulkanHost { get_instance_proc_addr: None, ..good }, DrystoneResult::ErrorPointer, "proc_addr"),
            (DrystoneVulkanHost { debug_utils: 2, ..good }, DrystoneResult::ErrorValue, "debug_utils"),
            (DrystoneVulkanHost { struct_size: 3, ..good }, DrystoneResult::ErrorStructSize, "DrystoneVulkanHost"),
        ] {
            refused(drystone_kernels_create(&host, &mut kernels), expected, words);
            assert!(kernels.is_null());
        }
        let mut support = sized::<DrystoneSupport>();
        let find = good.get_instance_proc_addr;
        done(drystone_vulkan_support(find, good.instance, good.physical_device, &mut support));
        let found = CStr::from_ptr(support.device_name.as_ptr()).to_str().unwrap();
        assert!(support.usable == 1 && support.missing[0] == 0 && found.contains("llvmpipe"), "{found}");

        // Two structs of one feature each, or the one with all.
        let mut scalar = vk::PhysicalDeviceScalarBlockLayoutFeatures::default();
        refused(drystone_vulkan_enable((&raw mut scalar).cast()), DrystoneResult::ErrorValue, "VulkanMemoryModel");
        assert_eq!(scalar.scalar_block_layout, vk::FALSE, "nothing was changed");
        let next = (&raw mut scalar).cast();
        let mut model = vk::PhysicalDeviceVulkanMemoryModelFeatures { p_next: next, ..Default::default() };
        done(drystone_vulkan_enable((&raw mut model).cast()));
        assert_eq!((model.vulkan_memory_model, scalar.scalar_block_layout), (vk::TRUE, vk::TRUE));
        let mut all = vk::PhysicalDeviceVulkan12Features::default();
        done(drystone_vulkan_enable((&raw mut all).cast()));
        assert_eq!((all.vulkan_memory_model, all.scalar_block_layout), (vk::TRUE, vk::TRUE));

        done(drystone_kernels_create(&good, &mut kernels));
        let mut stepper = null_mut();
        done(drystone_stepper_create_vulkan(kernels, null(), &mut stepper));
        build(stepper);
        let mut queue = Queue::new(device.host(), device.queue()).unwrap();
        for _ in 0..2 {
            done(drystone_prepare(stepper, 0.01, 0));
            let record = |commands| done(drystone_record(stepper, commands, null(), null(), null_mut()));
            queue.submit(&[], &[], record).unwrap();
        }
        refused(drystone_prepare(stepper, 0.01, 0), DrystoneResult::ErrorFrameInFlight, "2 frames are pending");
        queue.wait(2, Duration::from_secs(60)).unwrap();
        done(drystone_prepare(stepper, 0.01, 2));
        drop(queue);
        done(drystone_stepper_destroy(stepper));
        done(drystone_kernels_destroy(kernels));
    }
    let said = device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}
