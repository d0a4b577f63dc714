//! What a stepper is made of: it moves between threads, its state survives growth, its scratch may hold anything.

use super::*;

#[test]
fn a_stepper_can_move_between_threads_and_runs_on_the_cpu_alike() {
    fn is_send<T: Send>(_: &T) {}
    let device = Device::Cpu { threads: Some(2) };
    let (world, _) = boxes(30);
    let mut simulation = Simulation::new(world.clone(), Settings::default(), device.clone()).unwrap();
    let mut stepper = Stepper::on(&device, world, Settings::default()).unwrap();
    is_send(&stepper);
    is_send(&simulation);
    let stepper = std::thread::spawn(move || {
        for frame in 1..=20 {
            let prepared = stepper.prepare(DT).unwrap();
            assert_eq!(stepper.run(prepared).unwrap().frame, frame);
        }
        stepper
    });
    let mut stepper = stepper.join().unwrap();
    for _ in 0..20 {
        simulation.step(DT).unwrap();
    }
    assert_eq!(stepper.steps(), simulation.steps());
    let poses = stepper.plan().buffers.poses;
    assert_eq!(stepper.runner().read(poses).unwrap(), simulation.runner().read(poses).unwrap());
}

#[test]
fn a_persistent_buffer_that_is_declared_survives_growth_without_another_line() {
    common::on_every_backend(|backend| {
        let scene = scenes::drop(40).unwrap();
        let marks = UserBuffer::new("marks", 4, List::Bodies);
        let capacities = Capacities { pairs: 1, manifolds: 1, ..Default::default() };
        let mut simulation =
            Simulation::with_user_buffers(scene, Settings::default(), backend.device(), capacities, vec![marks])
                .unwrap();
        let id = simulation.plan().recording.find("marks").unwrap();
        let before = simulation.plan().recording.info(id).unwrap().count;
        let written: Vec<u8> = (0..before as u32).flat_map(|i| (i * 3 + 1).to_le_bytes()).collect();
        simulation.runner().write_bytes(id, 0, &written).unwrap();
        let generation = simulation.generation();
        for _ in 0..40 {
            simulation.world_mut().add(BodyDesc::dynamic().at(Vec3::Y * 30.0).with(Collider::sphere(0.1))).unwrap();
        }
        let report = simulation.step(DT).unwrap();
        assert!(report.grown > 0 && simulation.generation() != generation, "pairs and bodies both grew");
        let id = simulation.plan().recording.find("marks").unwrap();
        let now = simulation.plan().recording.info(id).unwrap().count;
        assert!(now > before);
        let mut read = vec![1; now as usize * 4];
        simulation.runner().read_bytes(id, 0, &mut read).unwrap();
        assert_eq!(read[..written.len()], written[..]);
        assert!(read[written.len()..].iter().all(|b| *b == 0));
    });
}

#[test]
fn scratch_may_hold_anything_when_a_step_begins() {
    use drystone::plan::BufferId;
    use drystone::state::Role;
    let scenes = [("drop", "bodies", 60), ("ragdolls", "count", 4)];
    for (name, parameter, count) in scenes {
        let hash = |poison: Option<u8>| {
            let scene = scenes::build(name, &[(parameter.to_owned(), f64::from(count))].into()).unwrap();
            let mut simulation =
                Simulation::new(scene.world, Settings::default(), Device::Cpu { threads: None }).unwrap();
            for _ in 0..30 {
                if let Some(byte) = poison {
                    let infos: Vec<_> = simulation.plan().recording.buffers().to_vec();
                    for (i, info) in infos.iter().enumerate().filter(|(_, b)| b.role == Role::Scratch) {
                        let bytes = vec![byte; (u64::from(info.stride) * info.count) as usize];
                        simulation.runner().write_bytes(BufferId(i as u32), 0, &bytes).unwrap();
                    }
                }
                simulation.step(DT).unwrap();
            }
            Metrics::of(&mut simulation).unwrap().pose_hash
        };
        let clean = hash(None);
        for byte in [0xff, 0x5a] {
            assert_eq!(hash(Some(byte)), clean, "{name} with scratch of {byte:#x}");
        }
    }
}
