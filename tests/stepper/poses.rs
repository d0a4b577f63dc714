//! Poses for drawing: whose they are, where they go, and who owns them.

use super::*;

#[test]
fn poses_that_another_queue_owns_meanwhile_are_stepped_on_as_if_they_had_stayed() {
    const FRAMES: u64 = 7;
    // Every colour is a dispatch, and they are what takes time here.
    let mut few = Settings::default();
    few.set_all([("iterations", 2.0), ("cold_iterations", 0.0), ("colours", 4.0)]).unwrap();
    // Drivers here have one family. What is outside of the device stands for another: its halves are not recorded here,
    // and the engine's are the same.
    let outside = COPIES.on_family(vk::QUEUE_FAMILY_EXTERNAL);
    let host = &HostLoop::new(open("llvmpipe"));
    let (world, _) = boxes(60);
    let device = Device::Vulkan(host.device.clone());
    let mut simulation = Simulation::new(world.clone(), few, device).unwrap();
    let mut stepper = host.stepper(world, few, roomy(3000));
    let target = PoseTarget::new(host.buffer, 4096, 48, 60);
    // SAFETY: the host's buffer is large enough, and outlives the stepper.
    let lent = unsafe { stepper.lend_pose_buffer(target) }.unwrap();
    for frame in 1..=FRAMES {
        host.wait(frame - 1);
        if frame == 4 {
            // Lists grow while the old poses are with the other owner.
            for world in [stepper.world_mut(), simulation.world_mut()] {
                for i in 0..100 {
                    let at = Vec3::new(i as f32 * 1.5, 20.0, -9.0);
                    world.add(BodyDesc::dynamic().at(at).with(Collider::sphere(0.5))).unwrap();
                }
            }
        }
        let prepared = stepper.prepare(DT, frame - 1).unwrap();
        host.frame(frame, |commands| {
            let exit = if frame == FRAMES { COPIES } else { outside };
            // SAFETY: as in `run`.
            unsafe {
                stepper.record(commands, prepared, Some(outside), Some(exit));
                if frame == FRAMES {
                    stepper.record_poses(commands, lent, 1.0, Some(outside), Some(outside));
                    stepper.record_poses(commands, lent, 1.0, Some(outside), None);
                }
            }
        });
        simulation.step(DT).unwrap();
    }
    host.wait(FRAMES);
    assert!(stepper.poll(FRAMES).unwrap().iter().all(|r| r.dropped == 0));
    same_state(host, &stepper, &mut simulation, FRAMES + 1);
    let (poses, count) = (stepper.poses().unwrap(), simulation.world().len() as u64);
    let bodies = simulation.bodies().unwrap();
    host.frame(FRAMES + 2, |commands| host.copy(commands, poses.previous, count * 32));
    host.wait(FRAMES + 2);
    assert!(host.read::<BodyPose>(count as usize).iter().all(|pose| pose.present == 1), "carried over");
    host.frame(FRAMES + 3, |commands| host.copy(commands, poses.current, count * 32));
    host.wait(FRAMES + 3);
    let drawn = host.read::<BodyPose>(count as usize);
    for (body, state) in bodies {
        assert!((drawn[body.index() as usize].position - state.position).length() < 1e-5, "{body:?}");
    }
    let said = host.device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn a_compound_with_an_offset_centre_of_mass_is_drawn_where_its_user_put_it() {
    host_loops(|host| {
        let mut world = World::new();
        world.set_gravity(Vec3::ZERO).unwrap();
        let hammer = BodyDesc::dynamic()
            .at(Vec3::new(1.0, 2.0, 3.0))
            .turned(Quat::from_rotation_z(0.4))
            .with(Collider::cuboid(Vec3::new(1.0, 0.1, 0.1)))
            .with(Collider::cuboid(Vec3::new(0.2, 0.6, 0.3)).at(Vec3::new(0.6, 0.1, 0.2)));
        let still = world.add(hammer.clone()).unwrap();
        let turning = world.add(hammer.at(Vec3::Y * 20.0).spinning(Vec3::new(0.3, 1.0, 0.2))).unwrap();
        let mut simulation =
            Simulation::new(world.clone(), Settings::default(), Device::Cpu { threads: Some(1) }).unwrap();
        let mut stepper = host.stepper(world, Settings::default(), FramesOptions::default());
        run(host, &mut stepper, 1, 30, |_, _| {});
        for _ in 0..30 {
            simulation.step(DT).unwrap();
        }
        let poses = drawn(host, &stepper);
        for body in [still, turning] {
            let (state, pose) = (simulation.body(body).unwrap(), poses[body.index() as usize]);
            let r = pose.rotation;
            let rotation = Quat::from_xyzw(r.x, r.y, r.z, r.s);
            assert!((pose.position - state.position).length() < 1e-4, "{pose:?} {state:?}");
            assert!(rotation.dot(state.rotation).abs() > 1.0 - 1e-5, "{pose:?} {state:?}");
        }
        assert!((poses[still.index() as usize].position - Vec3::new(1.0, 2.0, 3.0)).length() < 1e-5);
    });
}

#[test]
fn poses_between_frames_go_into_the_hosts_buffer_with_its_stride() {
    const COUNT: u32 = 44;
    let read = HostAccess::new(vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
    // The kernel itself is compared on every device in `tests/parity.rs`.
    let host = HostLoop::new(open("llvmpipe"));
    let (mut world, bodies) = boxes(30);
    world.set_velocity(bodies[29], Vec3::ZERO, Vec3::new(2.0, 1.0, 2.0)).unwrap();
    let settings = Settings::default().with(|s| s.substeps = 2);
    let mut simulation = Simulation::new(world.clone(), settings, Device::Vulkan(host.device.clone())).unwrap();
    let mut stepper = host.stepper(world, settings, roomy(2000));
    let target = PoseTarget::new(host.buffer, 20, 52, COUNT);
    for wrong in [PoseTarget::new(host.buffer, 20, 28, COUNT), PoseTarget::new(host.buffer, 2, 52, COUNT)] {
        // SAFETY: the buffer is alive; nothing comes of it.
        let error = unsafe { stepper.lend_pose_buffer(wrong) }.unwrap_err().to_string();
        assert!(error.contains("the buffer for poses"), "{error}");
    }
    // SAFETY: the buffer is alive as long as the host, and large enough.
    let lent = unsafe { stepper.lend_pose_buffer(target) }.unwrap();
    let places =
        |s: &mut Simulation| s.bodies().unwrap().into_iter().map(|(h, b)| (h, (b.position, b.rotation))).collect();
    type Placed = Vec<(BodyHandle, (Vec3, Quat))>;
    let mut turns = 0f32;
    let mut check = |part: f32, before: &Placed, now: &Placed| {
        let bytes: Vec<u8> = host.read(20 + 52 * COUNT as usize);
        let shown = |slot: usize| bytemuck::pod_read_unaligned::<BodyPose>(&bytes[20 + 52 * slot..][..32]);
        for (body, (place, rotation)) in now {
            // One that has just come was nowhere before.
            let (from, turned) = before.iter().find(|(b, _)| b == body).map_or((*place, *rotation), |(_, p)| *p);
            let pose = shown(body.index() as usize);
            assert_eq!(pose.present, 1);
            assert!((pose.position - from.lerp(*place, part)).length() < 1e-5, "{body:?}: {pose:?}");
            let r = pose.rotation;
            let shown = Quat::from_xyzw(r.x, r.y, r.z, r.s);
            let angle = shown.angle_between(turned.slerp(*rotation, part));
            assert!(angle < 2e-3, "{body:?}: {angle} radians from {rotation}");
            turns = turns.max(turned.angle_between(*rotation));
        }
        (0..COUNT as usize).filter(|slot| shown(*slot).present == 1).count()
    };
    let mut before: Placed = Vec::new();
    for step in 1..=6u64 {
        if step == 4 {
            // One goes, and more come than there is room for: buffers are others from here on.
            for world in [simulation.world_mut(), stepper.world_mut()] {
                world.remove(bodies[3]).unwrap();
                for i in 0..12 {
                    let place = Vec3::new(i as f32 * 2.0, 30.0, 0.0);
                    world.add(BodyDesc::dynamic().at(place).with(Collider::sphere(0.3))).unwrap();
                }
            }
        }
        simulation.step(DT).unwrap();
        let now = places(&mut simulation);
        let prepared = stepper.prepare(DT, step - 1).unwrap();
        // SAFETY: as in `run`.
        host.frame(2 * step - 1, |commands| unsafe {
            stepper.record(commands, prepared, None, None);
            stepper.record_poses(commands, lent, 0.25, None, Some(read));
        });
        host.wait(2 * step - 1);
        check(0.25, &before, &now);
        // A frame of the renderer's without a step.
        // SAFETY: as in `run`.
        host.frame(2 * step, |commands| unsafe { stepper.record_poses(commands, lent, 0.75, None, Some(read)) });
        host.wait(2 * step);
        assert_eq!(check(0.75, &before, &now), now.len(), "those that are not there are not marked");
        before = now;
    }
    stepper.return_pose_buffer(lent);
    assert!(turns > 0.02, "bodies turn by {turns} radians a frame: a rotation of either end would be seen");
}
