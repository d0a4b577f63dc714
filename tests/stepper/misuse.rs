//! Calls in an order that makes no sense, and numbers that are none: they do nothing, or are refused by name.

use super::*;

/// A ball that nothing pulls, and a stepper of its world.
fn ball(host: &HostLoop) -> (Stepper<Frames<GpuAllocator>>, BodyHandle) {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let ball = world.add(BodyDesc::dynamic().with(Collider::sphere(0.5))).unwrap();
    (host.stepper(world, Settings::default(), FramesOptions::default()), ball)
}

#[test]
fn a_step_that_was_prepared_again_is_made_once_and_impulses_count_once() {
    let host = HostLoop::new(open("llvmpipe"));
    let (mut stepper, ball) = ball(&host);
    let (mut other, _) = self::ball(&host);
    let push = |world: &mut World, ball| {
        world.apply_impulse(ball, Vec3::X * world.mass(ball).unwrap(), Vec3::ZERO).unwrap();
    };
    push(stepper.world_mut(), ball);
    let void = stepper.prepare(DT, 0).unwrap();
    let foreign = other.prepare(DT, 0).unwrap();
    let prepared = stepper.prepare(DT, 0).unwrap();
    host.frame(1, |commands| {
        // SAFETY: as in `run`.
        unsafe {
            assert_eq!(stepper.record(commands, void, None, Some(COPIES)), 0, "nothing was recorded");
            assert_eq!(stepper.record(commands, foreign, None, Some(COPIES)), 0, "nor was what another one prepared");
            assert_eq!(stepper.record(commands, prepared, None, Some(COPIES)), 1);
        }
        host.copy(commands, stepper.poses().unwrap().current, 32);
    });
    host.wait(1);
    let moved = drawn(&host, &stepper)[0].position.x;
    assert!((moved - DT).abs() < 1e-6, "{moved} m in a step at 1 m/s");
    assert_eq!((stepper.poll(1).unwrap().len(), stepper.steps()), (1, 1));

    // No more frames become pending this way than there is memory for.
    let kept: Vec<_> = (0..3).map(|_| stepper.prepare(DT, 1).unwrap()).collect();
    drop(stepper.prepare(DT, 1).unwrap());
    // SAFETY: the device is idle, and nothing of this is submitted.
    unsafe {
        let (vk, commands) = (&host.device.host().device, host.commands[0]);
        vk.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
        for void in kept {
            assert_eq!(stepper.record(commands, void, None, None), 1, "nothing was recorded");
        }
        vk.end_command_buffer(commands).unwrap();
    }
    run(&host, &mut stepper, 2, 1, |_, _| {});
    assert_eq!(stepper.steps(), 2);

    // The same where the step is run.
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let ball = world.add(BodyDesc::dynamic().with(Collider::sphere(0.5))).unwrap();
    let mut stepper = Stepper::on(&Device::Cpu { threads: Some(1) }, world, Settings::default()).unwrap();
    push(stepper.world_mut(), ball);
    let (void, prepared) = (stepper.prepare(DT).unwrap(), stepper.prepare(DT).unwrap());
    assert_eq!(stepper.run(void).unwrap().frame, 1);
    assert_eq!(stepper.steps(), 0, "it is void");
    stepper.run(prepared).unwrap();
    assert_eq!(stepper.steps(), 1);
    let moved = stepper.body(ball).unwrap().position.x;
    assert!((moved - DT).abs() < 1e-6, "{moved} m in a step at 1 m/s");
}

#[test]
fn a_pose_buffer_that_was_given_back_is_not_written_whoever_has_its_place() {
    let host = HostLoop::new(open("llvmpipe"));
    let (mut stepper, _) = ball(&host);
    let read = HostAccess::new(vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
    // SAFETY: the buffer is alive as long as the host, and large enough.
    let lend = |stepper: &mut Stepper<_>, at| unsafe {
        stepper.lend_pose_buffer(PoseTarget::new(host.buffer, at, 32, 1)).unwrap()
    };
    // SAFETY: the mapping holds `ROOM` bytes, and the device does nothing yet.
    unsafe { host.mapped.cast_mut().write_bytes(7, ROOM as usize) };
    let old = lend(&mut stepper, 0);
    stepper.return_pose_buffer(old);
    let new = lend(&mut stepper, 4096);
    // It is not the new one's place that is given back.
    stepper.return_pose_buffer(old);
    let prepared = stepper.prepare(DT, 0).unwrap();
    host.frame(1, |commands| {
        // SAFETY: as in `run`.
        unsafe {
            stepper.record(commands, prepared, None, None);
            stepper.record_poses(commands, old, 1.0, None, Some(read));
        }
    });
    host.wait(1);
    let bytes = || host.read::<u8>(4096 + 32);
    assert!(bytes().iter().all(|b| *b == 7), "nothing was written");
    // A part that is no number is the frame before.
    // SAFETY: as in `run`.
    host.frame(2, |commands| unsafe { stepper.record_poses(commands, new, f32::NAN, None, Some(read)) });
    host.wait(2);
    let pose = bytemuck::pod_read_unaligned::<BodyPose>(&bytes()[4096..]);
    assert!(pose.present == 1 && pose.position == Vec3::ZERO, "{pose:?}");
}

#[test]
fn frames_in_flight_that_nobody_has_memory_for_are_refused_by_name() {
    let host = HostLoop::new(open("llvmpipe"));
    let vulkan = host.device.host();
    for frames_in_flight in [0, 65, u32::MAX] {
        let options = FramesOptions { frames_in_flight, ..Default::default() };
        // SAFETY: the device is alive, has the features, and outlives what is made.
        let made = unsafe {
            let (kernels, memory) = (Kernels::new(vulkan).unwrap(), GpuAllocator::new(vulkan).unwrap());
            Stepper::in_frames(&kernels, memory, boxes(2).0, Settings::default(), options).map(drop)
        };
        let error = made.unwrap_err().to_string();
        assert!(error.starts_with(&format!("{frames_in_flight} frames in flight")), "{error}");
    }
}
