//! Going back, frame by frame, as netcode does.

use super::*;
use drystone::{Error, SnapshotError};

const BACK: usize = 8;

/// A game whose inputs arrive late: every frame is made at once with inputs that are wrong, and all frames since the
/// last sure one are made again when the right ones are there.
fn late(simulation: &mut Simulation, bodies: Vec<BodyHandle>, frames: u64) {
    simulation.keep_frames(BACK as u32);
    // What the game knows behind every frame, and the engine's number of it.
    let mut known = vec![(0, bodies)];
    let one = |simulation: &mut Simulation, frame: u64, said: u64, known: &mut Vec<(u64, Vec<BodyHandle>)>| {
        known.truncate(frame as usize);
        let mut bodies = known[frame as usize - 1].1.clone();
        play(said, simulation.world_mut(), &mut bodies);
        let report = simulation.step(DT).unwrap();
        known.push((report.frame, bodies));
    };
    one(simulation, 1, 1, &mut known);
    for frame in 2..=frames {
        // A guess that is wrong, with other bodies added and removed.
        one(simulation, frame, frame * 5 + 35, &mut known);
        let sure = (frame as usize).saturating_sub(BACK).max(1);
        simulation.roll_back(known[sure].0).unwrap();
        for frame in sure as u64 + 1..=frame {
            one(simulation, frame, frame, &mut known);
        }
    }
}

fn straight(simulation: &mut Simulation, mut bodies: Vec<BodyHandle>, frames: u64) {
    for frame in 1..=frames {
        play(frame, simulation.world_mut(), &mut bodies);
        simulation.step(DT).unwrap();
    }
}

#[test]
fn eight_frames_back_in_every_frame_for_600_frames_are_the_straight_run() {
    let (world, bodies) = zoo();
    let mut one = Simulation::new(world.clone(), Settings::default(), CPU).unwrap();
    straight(&mut one, bodies.clone(), 600);
    let mut other = Simulation::new(world, Settings::default(), CPU).unwrap();
    late(&mut other, bodies, 600);
    assert_eq!(hash(&mut one), hash(&mut other));
    assert_eq!(one.steps(), other.steps());
    assert_eq!(one.bodies().unwrap(), other.bodies().unwrap());
    assert_eq!(one.joints().unwrap(), other.joints().unwrap());
    for joint in one.world().joints() {
        assert_eq!(one.world().is_broken(joint), other.world().is_broken(joint));
    }
}

fn on_a_device(backend: &Backend, frames: u64) {
    let (world, bodies) = zoo();
    let settings = stiff().with(|s| s.colours = 5);
    let mut one = Simulation::new(world.clone(), settings, backend.device()).unwrap();
    straight(&mut one, bodies.clone(), frames);
    let mut other = Simulation::new(world, settings, backend.device()).unwrap();
    late(&mut other, bodies, frames);
    assert_eq!(hash(&mut one), hash(&mut other), "{}", backend.name());
}

#[test]
fn devices_go_back_too() {
    on_every_backend(|backend| on_a_device(backend, 12));
}

/// The same for as long as on the CPU: `cargo test --test snapshots -- --ignored devices_go_back_for_600`.
#[test]
#[ignore = "takes minutes"]
fn devices_go_back_for_600_frames_too() {
    on_every_driver(|backend| {
        let start = std::time::Instant::now();
        on_a_device(backend, 600);
        println!("{}: {:?}", backend.name(), start.elapsed());
    });
}

#[test]
fn frames_that_are_not_kept_are_refused_and_settings_come_back() {
    let (world, _) = zoo();
    let mut simulation = Simulation::new(world, Settings::default(), CPU).unwrap();
    let refused = |s: &mut Simulation, frame| match s.roll_back(frame) {
        Err(Error::Snapshot(SnapshotError::NotKept { frame: f, oldest, newest })) if f == frame => (oldest, newest),
        other => panic!("{other:?}"),
    };
    steps(&mut simulation, 2);
    assert_eq!(refused(&mut simulation, 2), (1, 0), "nothing is kept unless it is asked for");
    simulation.keep_frames(3);
    steps(&mut simulation, 6);
    assert_eq!(simulation.kept_frames().collect::<Vec<_>>(), [5, 6, 7, 8]);
    assert_eq!(refused(&mut simulation, 4), (5, 8));
    let at = hash(&mut simulation);
    simulation.roll_back(8).unwrap();
    assert_eq!(hash(&mut simulation), at, "back to where it is");

    // Everything that was said since is undone.
    let body = simulation.world_mut().add(BodyDesc::dynamic().with(Collider::sphere(1.0))).unwrap();
    simulation.world_mut().set_gravity(Vec3::Y).unwrap();
    let belt = simulation.world().find("belt").unwrap();
    simulation.world_mut().remove(belt).unwrap();
    simulation.set_settings(stiff()).unwrap();
    steps(&mut simulation, 1);
    simulation.roll_back(7).unwrap();
    assert_eq!(simulation.world().gravity(), Vec3::new(0.1, -9.0, 0.0));
    assert_eq!(simulation.settings(), &Settings::default());
    assert_eq!(simulation.world().find("belt"), Some(belt));
    assert!(simulation.body(body).is_err());
    assert_eq!(simulation.steps(), 7);
    steps(&mut simulation, 1);
    assert_eq!(hash(&mut simulation), at);
    // Step 9 took the place of step 5, and is of another time.
    assert_eq!(simulation.kept_frames().collect::<Vec<_>>(), [6, 7, 10]);
    simulation.keep_frames(0);
    assert_eq!(simulation.kept_frames().count(), 0);
}
