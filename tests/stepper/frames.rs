//! Steps inside a host's frames do what a simulation does: edits, growth, joints, changed settings.

use super::*;

/// What a game does to a world in a frame: pushes, bodies that come and go.
fn play(frame: u64, world: &mut World, bodies: &mut Vec<BodyHandle>) {
    let n = bodies.len() as u64;
    let pushed = bodies[(frame * 7919 % n) as usize];
    world.apply_impulse(pushed, Vec3::new(0.5, 2.0, 0.1) * world.mass(pushed).unwrap(), Vec3::ZERO).unwrap();
    if frame.is_multiple_of(4) {
        let place = Vec3::new((frame % 5) as f32, 14.0 + frame as f32 * 0.3, (frame % 7) as f32);
        bodies.push(world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::ONE))).unwrap());
    }
    if frame.is_multiple_of(9) {
        world.remove(bodies.swap_remove((frame * 31 % n) as usize)).unwrap();
    }
}

#[test]
fn a_thousand_boxes_step_inside_the_hosts_frames_as_in_a_simulation() {
    const FRAMES: u64 = 40;
    host_loops(|host| {
        let settings = Settings::default();
        let (world, mut bodies) = boxes(1000);
        let mut simulation = Simulation::new(world.clone(), settings, Device::Vulkan(host.device.clone())).unwrap();
        let mut stepper = host.stepper(world, settings, roomy(20_000));
        let mut same = bodies.clone();
        let reports = run(host, &mut stepper, 1, FRAMES, |frame, s| play(frame, s.world_mut(), &mut bodies));
        for frame in 1..=FRAMES {
            play(frame, simulation.world_mut(), &mut same);
            simulation.step(DT).unwrap();
        }
        assert_eq!(reports.len() as u64, FRAMES, "every frame is told once");
        assert!(reports.iter().zip(1..).all(|(r, frame)| r.frame == frame && r.dropped == 0));
        let grown = reports.iter().flat_map(|r| &r.events).filter(|e| matches!(e.kind, EventKind::Grown { .. }));
        assert!(grown.count() > 0, "bodies that came made the lists grow");
        assert!(reports.iter().any(|r| r.times.iter().any(|t| t.passes.iter().any(|p| p.name == "primal"))));
        assert_eq!(stepper.steps(), simulation.steps());

        let poses = drawn(host, &stepper);
        for (handle, state) in simulation.bodies().unwrap() {
            let pose = &poses[handle.index() as usize];
            assert_eq!(pose.present, 1);
            assert!((pose.position - state.position).length() < 1e-5, "{pose:?} {state:?}");
        }
        let present = poses.iter().filter(|pose| pose.present == 1).count();
        assert_eq!(present, simulation.world().len(), "those that were removed are marked");
        // The state itself is the same to the last bit.
        same_state(host, &stepper, &mut simulation, FRAMES + 1);
    });
}

/// Cubes that hang on the world by joints, one of them by one that breaks when it is pulled, above a stone that is a
/// hull.
fn hanging() -> (World, Vec<BodyHandle>, JointHandle) {
    let (mut world, _) = boxes(8);
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(0.3, 1.2, 0.3), Vec3::new(0.8, 0.2, 0.9)];
    world.add(BodyDesc::dynamic().at(Vec3::new(1.0, 6.0, 1.0)).with(Collider::hull(&corners).unwrap())).unwrap();
    let mut joints = Vec::new();
    let bodies: Vec<_> = (0..4)
        .map(|i| {
            let place = Vec3::new(20.0 + 3.0 * i as f32, 5.0, 0.0);
            let body = world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::ONE))).unwrap();
            let limit = if i == 2 { 1.5 * 9810.0 } else { f32::INFINITY };
            let joint = JointDesc::fixed(body, None).anchors(Vec3::ZERO, place).breaking(limit, f32::INFINITY);
            joints.push(world.add_joint(joint).unwrap());
            body
        })
        .collect();
    (world, bodies, joints[2])
}

/// Pulls one of them in the tenth frame, and hangs more on them in the twentieth.
fn pull(frame: u64, world: &mut World, bodies: &[BodyHandle]) {
    if frame == 10 {
        world.set_force(bodies[2], Vec3::Y * -20_000.0, Vec3::ZERO).unwrap();
    }
    if frame == 20 {
        for (i, &above) in bodies.iter().enumerate() {
            let place = Vec3::new(20.0 + 3.0 * i as f32, 3.5, 0.0);
            let body = world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::ONE * 0.5))).unwrap();
            let joint = JointDesc::ball(body, above).anchors(Vec3::Y * 0.75, Vec3::Y * -0.75);
            world.add_joint(joint).unwrap();
        }
    }
}

#[test]
fn joints_break_grow_and_are_told_in_frames_as_in_a_simulation() {
    const FRAMES: u64 = 36;
    let broken = |reports: &[StepReport]| -> Vec<_> {
        let events = reports.iter().flat_map(|r| &r.events);
        events.filter(|e| matches!(e.kind, EventKind::Broken { .. })).copied().collect()
    };
    host_loops(|host| {
        let with = |substeps: u32, most: u32| {
            Settings::default().with(|s| (s.substeps, s.substeps_most, s.stability) = (substeps, most, 1e-3))
        };
        // The last has sub-steps that the device chooses.
        for settings in [with(1, 0), with(3, 0), with(1, 4)] {
            let host = HostLoop::new(host.device.clone());
            let (world, bodies, weak) = hanging();
            let mut simulation = Simulation::new(world.clone(), settings, Device::Vulkan(host.device.clone())).unwrap();
            let mut stepper = host.stepper(world, settings, roomy(500));
            let reports = run(&host, &mut stepper, 1, FRAMES, |frame, s| pull(frame, s.world_mut(), &bodies));
            let mut expected = Vec::new();
            for frame in 1..=FRAMES {
                pull(frame, simulation.world_mut(), &bodies);
                expected.push(simulation.step(DT).unwrap());
            }
            assert_eq!(broken(&reports), broken(&expected), "with their steps and forces");
            assert_eq!(broken(&reports).len(), 1);
            let substeps = |reports: &[StepReport]| -> Vec<_> {
                reports.iter().map(|r| (r.substeps, r.substeps_wanted, r.short_frames, r.dropped)).collect()
            };
            let made = substeps(&reports);
            assert_eq!(made, substeps(&expected));
            let varied = made.iter().any(|m| m.0 != made[0].0);
            assert_eq!(varied, settings.substeps_most > 0, "{made:?}");
            assert!(stepper.world().is_broken(weak).unwrap());
            assert!(stepper.capacities().joints >= 8, "four joints came");
            same_state(&host, &stepper, &mut simulation, FRAMES + 1);
            same_forces(&host, &stepper, &mut simulation, FRAMES + 2);
        }
    });
}

#[test]
fn a_step_that_does_not_fit_is_skipped_or_made_in_part_and_told() {
    // A first step of 128 iterations takes drivers long, and colours are dispatches.
    let mut few = Settings::default();
    few.set_all([("iterations", 2.0), ("cold_iterations", 4.0), ("colours", 6.0)]).unwrap();
    host_loops(|host| {
        for overflow in [Overflow::Skip, Overflow::Partial] {
            let (mut dense, _) = boxes(60);
            let options = FramesOptions { overflow, ..Default::default() };
            // A heap that is far closer together than its number of bodies lets expect.
            for i in 0..60 {
                let place = Vec3::new((i % 4) as f32 * 0.3, 5.0 + (i / 16) as f32 * 0.3, (i / 4 % 4) as f32 * 0.3);
                dense.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::ONE))).unwrap();
            }
            let host = HostLoop::new(host.device.clone());
            let device = Device::Vulkan(host.device.clone());
            let mut simulation = Simulation::new(dense.clone(), few, device).unwrap();
            let first: Vec<_> = dense.handles().map(|b| (b, dense.desc(b).unwrap().position)).collect();
            let mut stepper = host.stepper(dense, few, options);
            let room = *stepper.capacities();
            let mut reports = run(&host, &mut stepper, 1, 1, |_, _| {});
            let poses = drawn(&host, &stepper);
            let moved = |(body, at): &&(BodyHandle, Vec3)| poses[body.index() as usize].position != *at;
            let moved = first.iter().filter(moved).count();
            reports.extend(run(&host, &mut stepper, 2, 11, |_, _| {}));
            let short: Vec<_> = reports.iter().filter(|r| r.needed.is_some()).collect();
            assert!(!short.is_empty(), "the heap does not fit at first");
            let more = short[0].pairs > room.pairs && short[0].manifolds > room.manifolds;
            assert!(more, "neither list is long enough: {:?}", short[0]);
            let dropped: u32 = reports.iter().map(|r| r.dropped).sum();
            match overflow {
                Overflow::Skip => {
                    assert_eq!((dropped as usize, moved), (short.len(), 0), "the first frame leaves the world alone");
                }
                Overflow::Partial => {
                    assert_eq!((dropped, moved), (0, first.len() - 1), "all but the floor move in the first frame");
                }
                _ => unreachable!("neither was asked for"),
            }
            assert_eq!(stepper.steps(), 12 - u64::from(dropped));
            assert!(reports[8..].iter().all(|r| r.needed.is_none() && r.dropped == 0), "it fits in the end");
            let grown = |r: &StepReport| r.events.iter().any(|e| matches!(e.kind, EventKind::Grown { .. }));
            let growth: Vec<_> = reports.iter().filter(|r| grown(r)).map(|r| (r.frame, &r.events)).collect();
            assert_eq!(growth.len(), 1, "pairs and manifolds grow in one go, and nothing else: {growth:?}");
            if overflow == Overflow::Skip {
                // What was skipped did nothing, and nothing of it is left.
                (0..stepper.steps()).for_each(|_| drop(simulation.step(DT).unwrap()));
                same_state(&host, &stepper, &mut simulation, 13);
            }
            let poses = drawn(&host, &stepper);
            assert!(poses.iter().filter(|p| p.present == 1).all(|p| p.position.is_finite()));
        }
    });
}

#[test]
fn commands_that_are_recorded_once_do_the_same_and_are_timed() {
    let host = HostLoop::new(open("llvmpipe"));
    let (world, mut bodies) = boxes(60);
    let settings = Settings::default().with(|s| s.substeps = 2);
    let mut simulation = Simulation::new(world.clone(), settings, Device::Vulkan(host.device.clone())).unwrap();
    let mut stepper = host.stepper(world, settings, FramesOptions { recorded_once: true, ..roomy(4000) });
    let mut same = bodies.clone();
    let reports = run(&host, &mut stepper, 1, 12, |frame, s| play(frame, s.world_mut(), &mut bodies));
    for frame in 1..=12 {
        play(frame, simulation.world_mut(), &mut same);
        simulation.step(DT).unwrap();
    }
    let told: Vec<_> = reports.iter().map(|r| (r.dropped, r.times.len())).collect();
    assert_eq!(told, [(0, 2); 12], "every sub-step was made and timed");
    assert!(reports.iter().flat_map(|r| &r.times).all(|t| t.passes.iter().any(|p| p.name == "primal")));
    same_state(&host, &stepper, &mut simulation, 13);
}

#[test]
fn a_recording_may_be_submitted_again_and_makes_its_steps_again() {
    let host = HostLoop::new(open("llvmpipe"));
    let (world, _) = boxes(30);
    let settings = Settings::default();
    let mut simulation = Simulation::new(world.clone(), settings, Device::Vulkan(host.device.clone())).unwrap();
    let mut stepper = host.stepper(world, settings, roomy(2000));
    run(&host, &mut stepper, 1, 3, |_, _| {});
    let prepared = stepper.prepare(DT, 3).unwrap();
    let (vk, commands) = (&host.device.host().device, host.commands[0]);
    // SAFETY: the device is idle; the command buffer is submitted again only when it is again.
    unsafe {
        vk.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
        assert_eq!(stepper.record(commands, prepared, Some(COPIES), Some(COPIES)), 4);
        vk.end_command_buffer(commands).unwrap();
        for submission in 4..=8 {
            host.submit(commands, submission);
            host.wait(submission);
        }
    }
    (0..8).for_each(|_| drop(simulation.step(DT).unwrap()));
    let reports = stepper.poll(4).unwrap();
    assert_eq!((reports.len(), reports[0].frame, reports[0].dropped), (1, 4, 0));
    assert_eq!(stepper.steps(), simulation.steps());
    same_state(&host, &stepper, &mut simulation, 9);
    // And it goes on from there.
    let prepared = stepper.prepare(DT, 4).unwrap();
    // SAFETY: as in `run`.
    host.frame(10, |commands| unsafe {
        stepper.record(commands, prepared, Some(COPIES), Some(COPIES));
    });
    host.wait(10);
    simulation.step(DT).unwrap();
    assert_eq!((stepper.poll(5).unwrap().len(), stepper.steps()), (1, simulation.steps()));
    same_state(&host, &stepper, &mut simulation, 11);
}

#[test]
fn settings_change_between_frames_and_nothing_is_compiled_again() {
    host_loops(|host| {
        let (world, _) = boxes(60);
        let mut simulation =
            Simulation::new(world.clone(), Settings::default(), Device::Vulkan(host.device.clone())).unwrap();
        let vulkan = host.device.host();
        // SAFETY: the device is alive, has the features, and outlives the stepper.
        let (kernels, mut stepper) = unsafe {
            let kernels = Kernels::new(vulkan).unwrap();
            let memory = GpuAllocator::new(vulkan).unwrap();
            let stepper = Stepper::in_frames(&kernels, memory, world, Settings::default(), roomy(2000)).unwrap();
            (kernels, stepper)
        };
        let compiled = kernels.progress();
        let changed = |frame: u64| {
            let mut settings = Settings::default();
            settings.set("iterations", if frame < 10 { 4.0 } else { 9.0 }).unwrap();
            settings.set("substeps", if frame < 20 { 1.0 } else { 3.0 }).unwrap();
            settings
        };
        let reports = run(host, &mut stepper, 1, 30, |frame, s| s.set_settings(changed(frame)).unwrap());
        for frame in 1..=30 {
            simulation.set_settings(changed(frame)).unwrap();
            simulation.step(DT).unwrap();
        }
        assert_eq!(kernels.progress(), compiled, "no pipeline was made again");
        assert_eq!(stepper.steps(), 19 + 11 * 3);
        assert_eq!(reports.last().unwrap().times.len(), 3, "every sub-step has its times");
        let poses = drawn(host, &stepper);
        for (handle, state) in simulation.bodies().unwrap() {
            let pose = &poses[handle.index() as usize];
            assert!((pose.position - state.position).length() < 1e-5, "{pose:?} {state:?}");
        }
    });
}

#[test]
fn more_frames_than_may_be_in_flight_are_refused_by_name_and_nothing_prepared_is_lost() {
    let host = HostLoop::new(open("llvmpipe"));
    let (world, bodies) = boxes(2);
    let mut stepper = host.stepper(world, Settings::default(), FramesOptions::default());
    stepper.world_mut().set_gravity(Vec3::ZERO).unwrap();
    for frame in 1..=2 {
        let body = bodies[frame as usize - 1];
        stepper.world_mut().set_velocity(body, Vec3::X * frame as f32, Vec3::ZERO).unwrap();
        // Prepared twice, recorded once: what the first one took over is not lost.
        drop(stepper.prepare(DT, 0).unwrap());
        let prepared = stepper.prepare(DT, 0).unwrap();
        host.frame(frame, |commands| {
            // SAFETY: as in `run`.
            unsafe { stepper.record(commands, prepared, None, Some(COPIES)) };
        });
    }
    let error = stepper.prepare(DT, 0).unwrap_err().to_string();
    assert!(error.contains("2 frames are pending") && error.contains("frames in flight"), "{error}");
    host.wait(2);
    assert_eq!(stepper.poll(2).unwrap().len(), 2);
    run(&host, &mut stepper, 3, 1, |_, _| {});
    let poses = drawn(&host, &stepper);
    let moved = |body: BodyHandle| poses[body.index() as usize].position.x;
    assert!((moved(bodies[0]) - 3.0 * DT).abs() < 1e-5, "{}", moved(bodies[0]));
    assert!((moved(bodies[1]) - 1.3 - 2.0 * 2.0 * DT).abs() < 1e-5, "{}", moved(bodies[1]));
}
