//! A snapshot in the middle changes nothing.

use super::*;

/// Steps to the middle, takes a snapshot, steps to the end; and goes on from the bytes in a new simulation, and in one
/// that was something else before.
fn interrupted(backend: &Backend, world: World, settings: Settings, half: u32) {
    let mut straight = Simulation::new(world, settings, backend.device()).unwrap();
    steps(&mut straight, half);
    let snapshot = through_bytes(&straight.snapshot().unwrap());
    assert_eq!(snapshot.steps(), u64::from(half * settings.substeps));
    steps(&mut straight, half);
    let (end, all) = (hash(&mut straight), straight.snapshot().unwrap());

    let mut again = Simulation::from_snapshot(&snapshot, backend.device()).unwrap();
    steps(&mut again, half);
    assert_eq!(hash(&mut again), end, "{}", backend.name());
    same(&again.snapshot().unwrap(), &all, &backend.name());
    assert_eq!(again.steps(), straight.steps());

    if !matches!(backend, Backend::Cpu) {
        return;
    }
    straight.restore(&snapshot).unwrap();
    assert_eq!(straight.steps(), u64::from(half * settings.substeps));
    steps(&mut straight, half);
    assert_eq!(hash(&mut straight), end, "{}: into the same", backend.name());
}

/// Scenes with balls thrown at them before the snapshot, where they are about that.
fn built(name: &str, parameters: &[(&str, f64)]) -> (World, Settings) {
    let scene = scene(name, parameters);
    let mut world = scene.world;
    for (_, action) in scene.later {
        if let scenes::Action::Add { body, .. } = action {
            world.add(body).unwrap();
        }
    }
    (world, scene.settings)
}

/// The scenes at their own size, and a pile and ragdolls that a test has time for.
const AT_SIZE: [(&str, &[(&str, f64)]); 4] =
    [("pile", &[("bodies", 1000.0)]), ("wall", &[]), ("ragdolls", &[("count", 60.0)]), ("chainmail", &[])];

#[test]
fn a_snapshot_at_step_100_gives_the_hash_of_step_200_on_the_cpu() {
    for (name, parameters) in AT_SIZE {
        let (world, settings) = built(name, parameters);
        interrupted(&Backend::Cpu, world, settings, 100);
    }
}

/// What the test below does with small ones and few iterations: `cargo test --test snapshots -- --ignored at_size`.
#[test]
#[ignore = "takes minutes"]
fn snapshots_at_size_on_drivers() {
    on_every_driver(|backend| {
        for (name, parameters) in AT_SIZE {
            let start = std::time::Instant::now();
            let (world, settings) = built(name, parameters);
            interrupted(backend, world, settings, 100);
            println!("{name} on {}: {:?}", backend.name(), start.elapsed());
        }
    });
}

#[test]
fn a_snapshot_at_step_100_gives_the_hash_of_step_200_on_drivers() {
    on_every_driver(|backend| {
        for (name, parameters) in [
            ("pile", &[("bodies", 40.0), ("levels", 4.0)][..]),
            ("wall", &[("columns", 4.0), ("rows", 3.0)]),
            ("ragdolls", &[("count", 2.0)]),
            ("chainmail", &[("side", 3.0)]),
        ] {
            let (world, settings) = built(name, parameters);
            // Every colour is a dispatch, and they are what takes time here.
            let settings = settings.with(|s| (s.colours, s.iterations, s.substeps) = (4, 2, 1));
            interrupted(backend, world, settings, 100);
        }
    });
}

#[test]
fn everything_that_a_world_can_have_is_in_it() {
    on_every_backend(|backend| {
        // Drivers take their time.
        let (kinds, frames) = if matches!(backend, Backend::Cpu) { (3, 60) } else { (1, 24) };
        for settings in [stiff(), Settings::default(), Settings::paper()].into_iter().take(kinds) {
            let settings = settings.with(|s| s.colours = 6);
            let (world, mut bodies) = zoo();
            let mut straight = Simulation::new(world, settings, backend.device()).unwrap();
            let mut again: Option<(Simulation, Vec<BodyHandle>)> = None;
            for frame in 1..=frames {
                play(frame, straight.world_mut(), &mut bodies);
                if let Some((again, bodies)) = &mut again {
                    play(frame, again.world_mut(), bodies);
                }
                if frame == frames / 2 {
                    // With everything said and nothing of it sent.
                    let snapshot = through_bytes(&straight.snapshot().unwrap());
                    assert_eq!(snapshot.world().find("belt"), straight.world().find("belt"));
                    assert!(snapshot.world().find_joint("hinge").is_some());
                    assert_eq!(snapshot.settings(), &settings);
                    again = Some((Simulation::from_snapshot(&snapshot, backend.device()).unwrap(), bodies.clone()));
                }
                let report = straight.step(DT).unwrap();
                if let Some((again, _)) = &mut again {
                    let told = again.step(DT).unwrap();
                    let happened = |r: &drystone::StepReport| {
                        let grown = |e: &&drystone::Event| !matches!(e.kind, drystone::EventKind::Grown { .. });
                        r.events.iter().filter(grown).copied().collect::<Vec<_>>()
                    };
                    assert_eq!(happened(&told), happened(&report), "{}, frame {frame}", backend.name());
                }
            }
            let (mut again, same) = again.unwrap();
            assert_eq!(same, bodies, "handles are given out in the same order");
            assert_eq!(hash(&mut again), hash(&mut straight), "{}", backend.name());
            assert_eq!(again.bodies().unwrap(), straight.bodies().unwrap());
            assert_eq!(again.joints().unwrap(), straight.joints().unwrap());
        }
    });
}

#[test]
fn a_snapshot_of_one_device_goes_on_on_another() {
    let (world, mut bodies) = zoo();
    let mut here = Simulation::new(world, Settings::default(), CPU).unwrap();
    for frame in 1..=40 {
        play(frame, here.world_mut(), &mut bodies);
        here.step(DT).unwrap();
    }
    let snapshot = through_bytes(&here.snapshot().unwrap());
    let at = here.bodies().unwrap();
    on_every_backend(|backend| {
        let mut there = Simulation::from_snapshot(&snapshot, backend.device()).unwrap();
        assert_eq!(there.bodies().unwrap(), at, "{}: bodies are where they were", backend.name());
        let back = there.snapshot().unwrap();
        assert!(back.to_bytes() == snapshot.to_bytes(), "{}: and so is all else", backend.name());
        steps(&mut there, 5);
        let now = there.bodies().unwrap();
        let far = now.iter().zip(&at).map(|(a, b)| (a.1.position - b.1.position).length());
        assert!(far.fold(0.0, f32::max) < 3.0, "{}", backend.name());
    });
}
