//! What may have happened to a world before a snapshot, and to the one that it is restored into.

use super::*;
use drystone::backend::RunnerExt;
use drystone::plan::Buffer;
use drystone::state::{Capacities, List, UserBuffer};
use drystone::{Error, SnapshotError, Stepper};

fn roomy(world: World, settings: Settings) -> Simulation {
    let capacities = Capacities {
        bodies: 300,
        colliders: 500,
        pairs: 5000,
        manifolds: 3000,
        hulls: 40,
        hull_edges: 900,
        edits: 100,
        joints: 70,
        joint_rows: 400,
        continuous: 9,
        ..Capacities::default()
    };
    Simulation::with_capacities(world, settings, CPU, capacities).unwrap()
}

#[test]
fn lists_may_be_longer_or_shorter_where_it_is_restored() {
    let (world, mut bodies) = zoo();
    let tight = Capacities { pairs: 1, manifolds: 1, ..Default::default() };
    let mut small = Simulation::with_capacities(world.clone(), stiff(), CPU, tight).unwrap();
    let mut large = roomy(world, stiff());
    let mut same_bodies = bodies.clone();
    for frame in 1..=30 {
        play(frame, small.world_mut(), &mut bodies);
        play(frame, large.world_mut(), &mut same_bodies);
        small.step(DT).unwrap();
        large.step(DT).unwrap();
    }
    let (of_small, of_large) = (small.snapshot().unwrap(), large.snapshot().unwrap());
    same(&of_small, &of_large, "room makes no difference");
    steps(&mut small, 20);
    let end = hash(&mut small);
    // From short lists to long ones, from long ones to short ones, and into what held something else.
    let (other, _) = zoo();
    let mut used = roomy(scene("pile", &[("bodies", 200.0)]).world, Settings::default());
    steps(&mut used, 5);
    let mut shorter = Simulation::new(other, Settings::default(), CPU).unwrap();
    steps(&mut shorter, 3);
    for (place, snapshot) in [(&mut large, &of_small), (&mut used, &of_large), (&mut shorter, &of_large)] {
        place.restore(&through_bytes(snapshot)).unwrap();
        assert_eq!(place.settings(), &stiff());
        same(&place.snapshot().unwrap(), snapshot, "restored");
        steps(place, 20);
        assert_eq!(hash(place), end);
    }
}

#[test]
fn growth_between_snapshot_and_restore_is_forgotten() {
    let (world, _) = zoo();
    let mut simulation = Simulation::new(world, Settings::default(), CPU).unwrap();
    steps(&mut simulation, 10);
    let snapshot = simulation.snapshot().unwrap();
    steps(&mut simulation, 10);
    let end = hash(&mut simulation);
    simulation.restore(&snapshot).unwrap();
    for i in 0..400 {
        let place = Vec3::new((i % 20) as f32, 3.0 + (i / 100) as f32, (i / 20 % 5) as f32);
        simulation.world_mut().add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::splat(1.1)))).unwrap();
    }
    simulation.set_settings(stiff()).unwrap();
    let report = simulation.step(DT).unwrap();
    assert!(report.manifolds > 400);
    simulation.restore(&snapshot).unwrap();
    assert_eq!(simulation.world().len(), snapshot.world().len());
    steps(&mut simulation, 10);
    assert_eq!(hash(&mut simulation), end);
}

#[test]
fn a_snapshot_may_be_taken_at_any_time() {
    // Before any step, of nothing, with bodies that the device has no room for yet, and of settings that no step had.
    let mut empty = Simulation::new(World::new(), Settings::default(), CPU).unwrap();
    let nothing = through_bytes(&empty.snapshot().unwrap());
    let (world, bodies) = zoo();
    let mut simulation = Simulation::new(world, Settings::default(), CPU).unwrap();
    let first = through_bytes(&simulation.snapshot().unwrap());
    steps(&mut simulation, 3);
    for i in 0..100 {
        let place = Vec3::new(-4.0, 1.0 + 1.2 * i as f32, 0.0);
        simulation.world_mut().add(BodyDesc::dynamic().at(place).with(Collider::sphere(0.5))).unwrap();
    }
    simulation.world_mut().remove(bodies[3]).unwrap();
    simulation.set_settings(stiff()).unwrap();
    let crowded = through_bytes(&simulation.snapshot().unwrap());
    steps(&mut simulation, 3);
    for (snapshot, steps_left) in [(first, 3), (crowded, 3), (nothing, 0)] {
        let mut again = Simulation::from_snapshot(&snapshot, CPU).unwrap();
        assert_eq!(again.world().len(), snapshot.world().len());
        steps(&mut again, steps_left);
        if snapshot.settings() == &stiff() {
            same(&again.snapshot().unwrap(), &simulation.snapshot().unwrap(), "crowded");
        }
        empty.restore(&snapshot).unwrap();
        steps(&mut empty, 2);
    }
}

#[test]
fn what_is_prepared_and_not_run_counts_as_said() {
    let (world, bodies) = zoo();
    let mut stepper = Stepper::on(&CPU, world, Settings::default()).unwrap();
    for _ in 0..4 {
        let prepared = stepper.prepare(DT).unwrap();
        stepper.run(prepared).unwrap();
    }
    stepper.world_mut().apply_impulse(bodies[0], Vec3::Y * 9.0, Vec3::ZERO).unwrap();
    stepper.world_mut().add(BodyDesc::dynamic().at(Vec3::Y * 7.0).with(Collider::sphere(0.2))).unwrap();
    let before = stepper.snapshot().unwrap();
    let prepared = stepper.prepare(DT).unwrap();
    let after = stepper.snapshot().unwrap();
    assert_eq!(after.steps(), 4);
    let run = |snapshot: &Snapshot| {
        let mut simulation = Simulation::from_snapshot(&through_bytes(snapshot), CPU).unwrap();
        steps(&mut simulation, 3);
        hash(&mut simulation)
    };
    assert_eq!(run(&before), run(&after));
    // A step of a world that is gone does nothing.
    stepper.restore(&before).unwrap();
    stepper.run(prepared).unwrap();
    assert_eq!(stepper.steps(), 4);
    assert_eq!(run(&stepper.snapshot().unwrap()), run(&before));
}

#[test]
fn user_buffers_are_in_it_and_have_to_be_the_same() {
    let mine = |name: &str, stride, each| UserBuffer::new(name, stride, each);
    let user = vec![mine("paint", 8, List::Bodies), mine("wear", 4, List::Joints), mine("heat", 4, List::Manifolds)];
    let (world, _) = zoo();
    let made = |user: &[UserBuffer]| {
        Simulation::with_user_buffers(world.clone(), Settings::default(), CPU, Capacities::default(), user.to_vec())
    };
    let mut simulation = made(&user).unwrap();
    steps(&mut simulation, 5);
    let paint = |s: &Simulation| Buffer::<[u32; 2]>::new(s.plan().recording.find("paint").unwrap());
    let painted = paint(&simulation);
    simulation.runner().write_at(painted, 3, &[17, 4]).unwrap();
    let snapshot = through_bytes(&simulation.snapshot().unwrap());
    let mut again = Simulation::from_snapshot(&snapshot, CPU).unwrap();
    let painted = paint(&again);
    assert_eq!(again.runner().read_at(painted, 3).unwrap(), [17, 4]);
    for other in [&user[..2], &[user[0].clone(), user[1].clone(), mine("heat", 8, List::Manifolds)], &[]] {
        let mut place = made(other).unwrap();
        let error = place.restore(&snapshot).unwrap_err();
        assert!(matches!(&error, Error::Snapshot(SnapshotError::Buffer { buffer, .. }) if buffer != "bodies"));
        assert!(error.to_string().contains("UserBuffer"), "{error}");
        steps(&mut place, 1);
    }
}

#[test]
fn a_world_that_may_not_have_the_memory_stays_what_it_was() {
    let mut simulation = Simulation::new(zoo().0, Settings::default(), CPU).unwrap();
    steps(&mut simulation, 5);
    let before = simulation.snapshot().unwrap();
    let mut large = Simulation::new(scene("pile", &[("bodies", 2000.0)]).world, stiff(), CPU).unwrap();
    let pile = large.snapshot().unwrap();
    simulation.limit_memory(Some(1 << 20));
    assert!(matches!(simulation.restore(&pile), Err(Error::MemoryLimit { .. })));
    same(&simulation.snapshot().unwrap(), &before, "as before");
    steps(&mut simulation, 5);
    simulation.limit_memory(None);
    simulation.restore(&pile).unwrap();
    steps(&mut simulation, 1);
    steps(&mut large, 1);
    assert_eq!(hash(&mut simulation), hash(&mut large));
}

/// Figures for the README: `cargo test --release --test snapshots -- --ignored --nocapture figures`.
#[test]
#[ignore = "figures, not a test"]
fn figures_of_a_pile_of_ten_thousand() {
    let device = Device::Cpu { threads: None };
    let mut simulation =
        Simulation::new(scene("pile", &[("bodies", 10_000.0)]).world, Settings::default(), device).unwrap();
    steps(&mut simulation, 60);
    let bodies = simulation.world().len();
    let time = |what: &str, task: &mut dyn FnMut()| {
        let times = (0..9).map(|_| {
            let start = std::time::Instant::now();
            task();
            start.elapsed()
        });
        let mut times: Vec<_> = times.collect();
        times.sort_unstable();
        println!("{what}: {:.2?}", times[4]);
    };
    let snapshot = simulation.snapshot().unwrap();
    let bytes = snapshot.to_bytes();
    println!("{} bytes, {} a body", bytes.len(), bytes.len() / bodies);
    let buffers: usize = snapshot.buffers().map(|(_, b)| b.len()).sum();
    println!("{} a body in buffers, {} in the world", buffers / bodies, (bytes.len() - buffers) / bodies);
    time("snapshot", &mut || drop(simulation.snapshot().unwrap()));
    time("to_bytes", &mut || drop(snapshot.to_bytes()));
    time("from_bytes", &mut || drop(Snapshot::from_bytes(&bytes).unwrap()));
    time("restore", &mut || simulation.restore(&snapshot).unwrap());
    time("world clone", &mut || drop(simulation.world().clone()));
    time("step", &mut || drop(simulation.step(DT).unwrap()));
    simulation.keep_frames(8);
    time("step that is kept", &mut || drop(simulation.step(DT).unwrap()));
    let last = simulation.kept_frames().last().unwrap();
    time("roll_back", &mut || simulation.roll_back(last).unwrap());
}

#[test]
fn quarantined_bodies_and_broken_joints_stay_so() {
    let (mut world, bodies) = zoo();
    let fast = world.add(BodyDesc::dynamic().at(Vec3::new(0.0, 50.0, 0.0)).with(Collider::sphere(0.3))).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), CPU).unwrap();
    simulation.world_mut().set_force(bodies[11], Vec3::Y * -5000.0, Vec3::ZERO).unwrap();
    simulation.step(DT).unwrap();
    let velocities = simulation.plan().buffers.velocities;
    let mut velocity = simulation.runner().read_at(velocities, fast.index().into()).unwrap();
    velocity.linear.x = f32::NAN;
    simulation.runner().write_at(velocities, fast.index().into(), &velocity).unwrap();
    steps(&mut simulation, 10);
    let broken = |s: &Simulation| s.world().joints().filter(|j| s.world().is_broken(*j).unwrap()).count();
    assert!(!simulation.body(fast).unwrap().enabled && broken(&simulation) > 0, "{}", broken(&simulation));
    let mut again = Simulation::from_snapshot(&through_bytes(&simulation.snapshot().unwrap()), CPU).unwrap();
    assert!(!again.body(fast).unwrap().enabled);
    assert_eq!(broken(&again), broken(&simulation));
    let report = again.step(DT).unwrap();
    assert_eq!(report.events, [], "and are not told again");
    simulation.step(DT).unwrap();
    same(&again.snapshot().unwrap(), &simulation.snapshot().unwrap(), "the step behind it");
}

#[test]
fn a_cold_start_that_was_asked_for_is_in_it_and_goes_with_the_step_that_makes_it() {
    let (world, _) = zoo();
    let mut simulation = Simulation::new(world, stiff(), CPU).unwrap();
    steps(&mut simulation, 10);
    let usual = simulation.snapshot().unwrap().to_bytes();
    simulation.start_cold();
    let cold = simulation.snapshot().unwrap().to_bytes();
    let restored = |bytes: &[u8]| Simulation::from_snapshot(&Snapshot::from_bytes(bytes).unwrap(), CPU).unwrap();
    let commands = |s: &Simulation| s.plan().recording.commands().len();
    let (mut from_usual, mut from_cold) = (restored(&usual), restored(&cold));
    for simulation in [&mut simulation, &mut from_usual, &mut from_cold] {
        steps(simulation, 1);
    }
    assert!(commands(&from_cold) > commands(&from_usual), "it has the iterations of a first step");
    assert_eq!(hash(&mut from_cold), hash(&mut simulation));
    assert_ne!(hash(&mut from_cold), hash(&mut from_usual));
    steps(&mut simulation, 1);
    steps(&mut from_cold, 1);
    assert_eq!((hash(&mut from_cold), commands(&from_cold)), (hash(&mut simulation), commands(&from_usual)));
    // Restored over one that was asked to: it counts no longer.
    simulation.start_cold();
    simulation.restore(&Snapshot::from_bytes(&usual).unwrap()).unwrap();
    steps(&mut simulation, 1);
    assert_eq!(hash(&mut simulation), hash(&mut from_usual));
    // Going back to the frame that started cold does not start the next one cold.
    simulation.keep_frames(3);
    simulation.start_cold();
    steps(&mut simulation, 1);
    let back = simulation.kept_frames().last().unwrap();
    steps(&mut simulation, 2);
    let straight = hash(&mut simulation);
    simulation.roll_back(back).unwrap();
    steps(&mut simulation, 2);
    assert_eq!(hash(&mut simulation), straight);
}

#[test]
fn kept_frames_are_counted_as_memory() {
    let (world, _) = zoo();
    let mut simulation = Simulation::new(world, stiff(), CPU).unwrap();
    let kept = |s: &Simulation| s.memory().iter().filter(|m| m.name == "kept frames").map(|m| m.bytes).sum::<u64>();
    steps(&mut simulation, 2);
    assert_eq!(kept(&simulation), 0);
    simulation.keep_frames(3);
    steps(&mut simulation, 1);
    let one = kept(&simulation);
    steps(&mut simulation, 9);
    assert!(one > 10_000 && kept(&simulation) == 4 * one, "three to go back by, and the last: {one}");
    simulation.keep_frames(0);
    assert_eq!(kept(&simulation), 0);
}
