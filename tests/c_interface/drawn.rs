//! Poses between frames, in a buffer of a C host's with its stride.

use super::*;
use drystone::vulkan::{GpuAllocator, Location, Memory};

const STRIDE: usize = 48;
const COUNT: usize = 8;

#[test]
fn poses_between_frames_go_into_a_c_hosts_buffer_and_wrong_ones_are_refused_by_name() {
    let device = open("llvmpipe");
    let vulkan = device.host();
    // SAFETY: as above; the buffer is bound once, and outlives the stepper.
    unsafe {
        let mut allocator = GpuAllocator::new(vulkan).unwrap();
        let info = vk::BufferCreateInfo::default().size(1024).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        let buffer = vulkan.device.create_buffer(&info, None).unwrap();
        let requirements = vulkan.device.get_buffer_memory_requirements(buffer);
        let memory = allocator.allocate("poses", requirements, Location::Readback).unwrap();
        vulkan.device.bind_buffer_memory(buffer, memory.memory, memory.offset).unwrap();
        let mapped = memory.mapped.unwrap().as_ptr().cast::<u8>();
        mapped.write_bytes(7, 1024);

        let entry = ash::Entry::load().unwrap();
        let (mut kernels, mut stepper, mut cpu) = (null_mut(), null_mut(), null_mut());
        done(drystone_kernels_create(&lent(&device, &entry), &mut kernels));
        done(drystone_stepper_create_vulkan(kernels, null(), &mut stepper));
        done(drystone_stepper_create_cpu(null(), &mut cpu));
        let (ball, ball_on_cpu) = (build(stepper), build(cpu));

        let target = DrystonePoseTarget { buffer, offset: 16, stride: STRIDE as u32, count: COUNT as u32, ..sized() };
        let mut lent = 9;
        for (wrong, code, words) in [
            (DrystonePoseTarget { stride: 28, ..target }, DrystoneResult::ErrorValue, "a pose has 32 bytes"),
            (DrystonePoseTarget { offset: 2, ..target }, DrystoneResult::ErrorValue, "multiples of 4"),
            (DrystonePoseTarget { reserved: 1, ..target }, DrystoneResult::ErrorValue, "reserved"),
            (DrystonePoseTarget { buffer: vk::Buffer::null(), ..target }, DrystoneResult::ErrorValue, "buffer is"),
            (DrystonePoseTarget { struct_size: 4, ..target }, DrystoneResult::ErrorStructSize, "DrystonePoseTarget"),
        ] {
            refused(drystone_lend_pose_buffer(stepper, &wrong, &mut lent), code, words);
            assert_eq!(lent, 0);
        }
        refused(drystone_lend_pose_buffer(cpu, &target, &mut lent), DrystoneResult::ErrorBackend, "frames");
        refused(drystone_lend_pose_buffer(stepper, &target, null_mut()), DrystoneResult::ErrorPointer, "`lent`");
        done(drystone_lend_pose_buffer(stepper, &target, &mut lent));

        let read = DrystoneAccess {
            stages: vk::PipelineStageFlags::HOST.as_raw(),
            access: vk::AccessFlags::HOST_READ.as_raw(),
            ..sized()
        };
        let somewhere = vk::Handle::from_raw(8);
        let record = |lent, part| drystone_record_poses(stepper, somewhere, lent, part, null(), null());
        refused(record(lent, f32::NAN), DrystoneResult::ErrorValue, "`part` is NaN");
        refused(record(lent, 1.5), DrystoneResult::ErrorValue, "`part` is 1.5");
        refused(record(0, 0.5), DrystoneResult::ErrorStale, "`lent`");

        // The ball after every step, as the CPU backend has it.
        let mut queue = Queue::new(vulkan, device.queue()).unwrap();
        let mut heights = vec![5.0];
        for step in 1..=4 {
            done(drystone_prepare(stepper, 1.0 / 60.0, step - 1));
            let value = queue.submit(&[], &[], |commands| {
                done(drystone_record(stepper, commands, null(), null(), null_mut()));
                done(drystone_record_poses(stepper, commands, lent, 0.25, null(), &read));
            });
            queue.wait(value.unwrap(), Duration::from_secs(60)).unwrap();
            done(drystone_prepare(cpu, 1.0 / 60.0, 0));
            done(drystone_run(cpu, null_mut()));
            let mut state = sized::<DrystoneBodyState>();
            done(drystone_body_state(cpu, ball_on_cpu, &mut state));
            heights.push(state.position[1]);
        }
        let pose = |slot: usize| mapped.add(16 + STRIDE * slot).cast::<DrystoneBodyPose>().read_unaligned();
        let shown = pose(drystone_body_slot(ball) as usize);
        let expected = heights[3] + 0.25 * (heights[4] - heights[3]);
        assert!(shown.present == 1 && (shown.position[1] - expected).abs() < 1e-4, "{shown:?}, not {expected}");
        assert_eq!((0..COUNT).filter(|slot| pose(*slot).present == 1).count(), 5);
        assert!((0..16).all(|byte| mapped.add(byte).read() == 7), "bytes before are the host's");
        for slot in 0..COUNT - 1 {
            assert!((32..STRIDE).all(|byte| mapped.add(16 + STRIDE * slot + byte).read() == 7), "those between, too");
        }
        // Given back once.
        done(drystone_return_pose_buffer(stepper, lent));
        refused(drystone_return_pose_buffer(stepper, lent), DrystoneResult::ErrorStale, "given back");
        refused(record(lent, 0.5), DrystoneResult::ErrorStale, "given back");
        drop(queue);
        done(drystone_stepper_destroy(stepper));
        done(drystone_stepper_destroy(cpu));
        done(drystone_kernels_destroy(kernels));
        vulkan.device.destroy_buffer(buffer, None);
        allocator.free(memory);
    }
    let said = device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}
