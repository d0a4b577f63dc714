//! Forces of joints, and buffers of a C host's own, in its frames: written and read by its own copies.

use super::*;
use drystone::vulkan::{Allocation, GpuAllocator, Location, Memory};

/// A buffer of the host's that copies come from and go to.
struct Landing {
    buffer: vk::Buffer,
    memory: Allocation,
    allocator: GpuAllocator,
}

impl Landing {
    fn new(device: &OwnDevice, size: u64) -> Self {
        let host = device.host();
        // SAFETY: the device outlives this; the buffer is bound once.
        unsafe {
            let mut allocator = GpuAllocator::new(host).unwrap();
            let usage = vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::TRANSFER_SRC;
            let info = vk::BufferCreateInfo::default().size(size).usage(usage);
            let buffer = host.device.create_buffer(&info, None).unwrap();
            let requirements = host.device.get_buffer_memory_requirements(buffer);
            let memory = allocator.allocate("landing", requirements, Location::Readback).unwrap();
            host.device.bind_buffer_memory(buffer, memory.memory, memory.offset).unwrap();
            Self { buffer, memory, allocator }
        }
    }

    fn floats(&mut self) -> &mut [f32] {
        let start = self.memory.mapped.unwrap().as_ptr().cast::<f32>();
        // SAFETY: the device is done with it, and one slice is used at a time.
        unsafe { std::slice::from_raw_parts_mut(start, (self.memory.size / 4) as usize) }
    }

    fn destroy(mut self, device: &OwnDevice) {
        // SAFETY: the device is done with it.
        unsafe { device.host().device.destroy_buffer(self.buffer, None) };
        self.allocator.free(self.memory);
    }
}

#[test]
fn forces_of_joints_and_buffers_of_the_hosts_own_are_its_shaders_and_copies() {
    const MARK: [f32; 2] = [3.25, -7.5];
    let device = open("llvmpipe");
    let vulkan = &device.host().device;
    // SAFETY: the loader stays loaded; what is recorded is submitted once, in order; pointers are alive or NULL.
    unsafe {
        let entry = ash::Entry::load().unwrap();
        let (mut kernels, mut stepper) = (null_mut(), null_mut());
        done(drystone_kernels_create(&lent(&device, &entry), &mut kernels));
        let marks = DrystoneUserBuffer { name: c"marks".as_ptr(), stride: 8, ..sized() };
        let mut desc = sized::<DrystoneStepperDesc>();
        done(drystone_stepper_defaults(&mut desc));
        (desc.user_buffers, desc.user_buffer_count) = (&raw const marks, 1);
        done(drystone_stepper_create_vulkan(kernels, &desc, &mut stepper));
        let mut view = sized::<DrystoneBufferView>();
        assert_eq!(drystone_joint_forces(stepper, &mut view), DrystoneResult::Nothing, "there is no joint");
        refused(drystone_user_buffer(stepper, c"poses".as_ptr(), &mut view), DrystoneResult::ErrorValue, "no buffer");
        refused(drystone_user_buffer(stepper, null(), &mut view), DrystoneResult::ErrorPointer, "`name`");

        // A ball on a hook: of its weight the joint carries all.
        let ball = add(stepper, DrystoneBodyKind::Dynamic, [0.0; 3], DrystoneShape::Sphere);
        let (mut hook, mut joint) = (sized::<DrystoneJointDesc>(), 0);
        done(drystone_joint_defaults(&mut hook));
        (hook.body_a, hook.anchor_a, hook.anchor_b) = (ball, [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]);
        done(drystone_add_joint(stepper, &hook, &mut joint));
        let mut landing = Landing::new(&device, 256);
        let mut queue = Queue::new(device.host(), device.queue()).unwrap();
        let copies = DrystoneAccess {
            stages: (vk::PipelineStageFlags::TRANSFER | vk::PipelineStageFlags::HOST).as_raw(),
            access: (vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE).as_raw(),
            ..sized()
        };
        let slot = u64::from(drystone_body_slot(ball));
        let mut room = Vec::new();
        for frame in 1..=40 {
            if frame == 20 {
                // Lists grow: the mark goes along.
                for i in 0..300 {
                    let at = [i as f32 * 2.0, 50.0, 9.0];
                    add(stepper, DrystoneBodyKind::Dynamic, at, DrystoneShape::Sphere);
                }
            }
            done(drystone_prepare(stepper, 1.0 / 60.0, frame - 1));
            let _alone = device.lock_queue();
            let value = queue.submit(&[], &[], |commands| {
                done(drystone_record(stepper, commands, &copies, &copies, null_mut()));
                done(drystone_user_buffer(stepper, c"marks".as_ptr(), &mut view));
                assert!(view.stride == 8 && view.count > slot as u32, "{view:?}");
                room.push((view.count, view.generation));
                if frame == 5 {
                    landing.floats()[..2].copy_from_slice(&MARK);
                    let region = vk::BufferCopy { src_offset: 0, dst_offset: view.offset + 8 * slot, size: 8 };
                    vulkan.cmd_copy_buffer(commands, landing.buffer, view.buffer, &[region]);
                }
                if frame == 40 {
                    let region = vk::BufferCopy { src_offset: view.offset + 8 * slot, dst_offset: 0, size: 8 };
                    vulkan.cmd_copy_buffer(commands, view.buffer, landing.buffer, &[region]);
                    done(drystone_joint_forces(stepper, &mut view));
                    assert_eq!((view.stride as usize, view.count > 0), (size_of::<DrystoneJointForce>(), true));
                    let first = view.offset + u64::from(view.stride * drystone_joint_slot(joint));
                    let region = vk::BufferCopy { src_offset: first, dst_offset: 8, size: 24 };
                    vulkan.cmd_copy_buffer(commands, view.buffer, landing.buffer, &[region]);
                }
            });
            queue.wait(value.unwrap(), Duration::from_secs(60)).unwrap();
        }
        assert!(room[18].0 < room[19].0 && room[18].1 != room[19].1, "lists have grown: {room:?}");
        let found = landing.floats();
        assert_eq!(found[..2], MARK);
        let (weight, force) = (523.6 * 9.81, &found[2..5]);
        assert!((force[1] - weight).abs() < 0.01 * weight && force[0].abs() < 0.01 * weight, "{force:?} for {weight}");
        drop(queue);
        done(drystone_stepper_destroy(stepper));
        done(drystone_kernels_destroy(kernels));
        landing.destroy(&device);
    }
    let said = device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}
