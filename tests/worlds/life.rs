//! What happens to worlds while they are stepped: resets, bodies that come and go, quarantine, snapshots, going back.

use super::*;
use drystone::Snapshot;
use drystone::world::Placed;

fn steps(simulation: &mut Simulation, count: u32) {
    (0..count).for_each(|_| drop(simulation.step(DT).unwrap()));
}

#[test]
fn a_world_that_is_reset_goes_on_as_when_it_is_reset_alone_and_no_other_is_touched() {
    let worlds = scenes::ragdolls(1).unwrap().copies(6).unwrap();
    let run = |world: World, reset: Option<u32>, watched: u32| {
        let mut simulation = Simulation::new(world, Settings::default(), on(2)).unwrap();
        steps(&mut simulation, 40);
        if let Some(number) = reset {
            simulation.reset_world(number).unwrap();
        }
        steps(&mut simulation, 40);
        simulation.world_hash(watched).unwrap()
    };
    let alone = worlds.alone(3).unwrap();
    assert_eq!(run(worlds.clone(), Some(3), 3), run(alone.clone(), Some(0), 0));
    assert_ne!(run(alone.clone(), Some(0), 0), run(alone.clone(), None, 0));
    for other in [2, 4] {
        assert_eq!(run(worlds.clone(), Some(3), other), run(alone.clone(), None, 0));
    }
}

#[test]
fn a_reset_puts_bodies_where_they_were_or_where_it_says() {
    let mut simulation = Simulation::new(heap().copies(4).unwrap(), Settings::default(), on(2)).unwrap();
    steps(&mut simulation, 30);
    let bodies: Vec<_> = simulation.world().handles_in(2).collect();
    let placed: Vec<_> = (0..bodies.len())
        .map(|i| Placed {
            position: Vec3::new(0.0, 50.0 + 3.0 * i as f32, 0.0),
            rotation: Quat::IDENTITY,
            linear_velocity: Vec3::X,
            angular_velocity: Vec3::ZERO,
        })
        .collect();
    simulation.reset_world_to(2, &placed).unwrap();
    simulation.reset_world(1).unwrap();
    steps(&mut simulation, 1);
    for (body, at) in bodies.iter().zip(&placed).skip(1) {
        let state = simulation.body(*body).unwrap();
        let expected = at.position + DT * Vec3::X - Vec3::Y * 9.81 * DT * DT;
        assert!(state.position.distance(expected) < 1e-4, "{state:?}");
    }
    let first: Vec<_> = simulation.world().handles_in(1).collect();
    for body in first {
        let (state, desc) = (simulation.body(body).unwrap(), simulation.world().desc(body).unwrap().clone());
        assert!(state.position.distance(desc.position) < 0.02, "{state:?}");
    }
}

#[test]
fn a_reset_repairs_joints_and_wakes_what_was_disabled() {
    let mut worlds = scenes::ragdolls(1).unwrap().copies(3).unwrap();
    let joint = worlds.joints_in(1).next().unwrap();
    let body = worlds.handles_in(1).nth(4).unwrap();
    worlds.break_joint(joint).unwrap();
    let mut simulation = Simulation::new(worlds, Settings::default(), on(2)).unwrap();
    // Both together are more than a float holds.
    for _ in 0..2 {
        simulation.world_mut().apply_impulse(body, Vec3::splat(f32::MAX), Vec3::ZERO).unwrap();
    }
    steps(&mut simulation, 10);
    assert!(simulation.world_report(1).unwrap().quarantined > 0);
    assert_eq!(simulation.world_report(0).unwrap().quarantined, 0);
    simulation.reset_world(1).unwrap();
    steps(&mut simulation, 60);
    assert!(!simulation.world().is_broken(joint).unwrap());
    assert_eq!(simulation.world_report(1).unwrap().quarantined, 0);
    let reports = simulation.world_reports().unwrap();
    assert_eq!(reports[0], reports[2]);
    assert!(reports[0].contacts > 0 && reports[0].kinetic_energy > 0.0, "{reports:?}");
    assert_eq!(reports[1], simulation.world_report(1).unwrap());
}

/// Bodies are removed and added in world 1, and in others meanwhile.
fn come_and_go(simulation: &mut Simulation, number: u32, others: &[u32]) {
    for round in 0..8 {
        for world in others.iter().copied().chain([number]) {
            let bodies: Vec<_> = simulation.world().handles_in(world).collect();
            let world_mut = simulation.world_mut();
            // In the others another number of them, in another order.
            let part = if world == number { 3 } else { 2 + round % 3 };
            for body in bodies.iter().skip(1).step_by(part) {
                world_mut.remove(*body).unwrap();
            }
            for i in 0..bodies.len() / 3 + usize::from(world != number) {
                let at = Vec3::new(0.3 * i as f32, 4.0 + 0.8 * i as f32, 0.2);
                world_mut.add_to(world, BodyDesc::dynamic().at(at).with(Collider::cuboid(Vec3::splat(0.5)))).unwrap();
            }
        }
        steps(simulation, 5);
    }
}

#[test]
fn bodies_that_come_and_go_in_other_worlds_change_no_bit() {
    let worlds = heap().copies(5).unwrap();
    let mut many = Simulation::new(worlds.clone(), Settings::default(), on(2)).unwrap();
    let mut alone = Simulation::new(worlds.alone(1).unwrap(), Settings::default(), on(1)).unwrap();
    come_and_go(&mut many, 1, &[0, 2, 4]);
    come_and_go(&mut alone, 0, &[]);
    assert_eq!(many.world_hash(1).unwrap(), alone.world_hash(0).unwrap());
}

#[test]
fn snapshots_and_frames_keep_worlds() {
    let mut simulation = Simulation::new(mixture(), Settings::default(), on(2)).unwrap();
    simulation.keep_frames(8);
    steps(&mut simulation, 20);
    let extra = BodyDesc::dynamic().at(Vec3::Y * 9.0).with(Collider::sphere(0.2));
    simulation.world_mut().add_to(4, extra.clone()).unwrap();
    let bytes = simulation.snapshot().unwrap().to_bytes();
    let frame = simulation.kept_frames().last().unwrap();
    let go_on = |simulation: &mut Simulation| {
        steps(simulation, 6);
        simulation.world_hashes().unwrap()
    };
    let expected = go_on(&mut simulation);
    let mut again = Simulation::from_snapshot(&Snapshot::from_bytes(&bytes).unwrap(), on(1)).unwrap();
    assert_eq!(go_on(&mut again), expected);
    simulation.roll_back(frame).unwrap();
    // Another body in another world takes the slot meanwhile.
    simulation.world_mut().add_to(2, extra.clone()).unwrap();
    let other = go_on(&mut simulation);
    assert_eq!((other[2] != expected[2], other[4] != expected[4]), (true, true));
    simulation.roll_back(frame).unwrap();
    simulation.world_mut().add_to(4, extra).unwrap();
    assert_eq!(go_on(&mut simulation), expected);
}

#[test]
fn worlds_that_are_added_later_have_the_bits_they_have_alone() {
    let mut simulation = Simulation::new(heap(), Settings::default(), on(2)).unwrap();
    let mut alone = Simulation::new(heap(), Settings::default(), on(2)).unwrap();
    steps(&mut simulation, 10);
    steps(&mut alone, 10);
    simulation.world_mut().add_worlds(3).unwrap();
    for i in 0..30 {
        let ball = BodyDesc::dynamic().at(Vec3::Y * i as f32).with(Collider::sphere(0.4));
        simulation.world_mut().add_to(1 + i % 3, ball).unwrap();
    }
    steps(&mut simulation, 40);
    steps(&mut alone, 40);
    assert_eq!(simulation.world_hash(0).unwrap(), alone.world_hash(0).unwrap());
}
