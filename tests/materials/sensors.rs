//! Colliders that only report what overlaps them.

use super::*;
use drystone::render::{Ray, RayCaster};
use drystone::{EventKind, Overlap};

const DT: f32 = 1.0 / 60.0;

fn told(simulation: &mut Simulation, steps: u32) -> Vec<(u64, bool, Overlap)> {
    let mut events = Vec::new();
    for _ in 0..steps {
        events.extend(simulation.step(DT).unwrap().events.iter().filter_map(|e| match e.kind {
            EventKind::SensorBegin(o) => Some((e.step, true, o)),
            EventKind::SensorEnd(o) => Some((e.step, false, o)),
            _ => None,
        }));
    }
    events
}

#[test]
fn a_ball_that_flies_through_a_gate_is_told_in_and_out_and_not_touched() {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let gate = Collider::cuboid(Vec3::new(0.2, 2.0, 2.0)).sensing();
    let gate =
        world.add(BodyDesc::fixed().at(Vec3::X).with(Collider::sphere(0.1).at(Vec3::Y * 9.0)).with(gate)).unwrap();
    let ball = world.add(BodyDesc::dynamic().moving(Vec3::X * 3.0).with(Collider::sphere(0.25))).unwrap();
    // A body that goes by its velocity is seen, too; one that stands still is not.
    let cart = BodyDesc::kinematic().at(Vec3::new(1.0, 0.5, -5.0)).moving(Vec3::Z * 6.0);
    let cart = world.add(cart.with(Collider::capsule(0.1, 0.1))).unwrap();
    world.add(BodyDesc::fixed().at(Vec3::new(1.0, -0.7, 0.7)).with(Collider::sphere(0.1))).unwrap();
    let mut simulation = simulate(world, 4);
    let events = told(&mut simulation, 90);
    let overlap = |body, collider| Overlap { sensor: gate, sensor_collider: 1, body, collider };
    // Overlaps are those of the start of a step. The ball's front is at 0.25 + 3 t, its back at -0.25 + 3 t; the cart's
    // 0.1 before and behind -5 + 6 t.
    let first = |at: f32| (at / DT).ceil() as u64;
    let expected = [
        (first(0.65 / 3.0), true, overlap(ball, 0)),
        (first(1.35 / 3.0), false, overlap(ball, 0)),
        (first(3.9 / 6.0), true, overlap(cart, 0)),
        (first(6.1 / 6.0), false, overlap(cart, 0)),
    ];
    assert_eq!(events.len(), 4, "{events:?}");
    for (found, expected) in events.iter().zip(expected) {
        assert_eq!((found.1, found.2), (expected.1, expected.2), "{events:?}");
        assert!(found.0.abs_diff(expected.0) <= 1, "{events:?}, not {expected:?}");
    }
    // Nothing was in its way.
    let state = simulation.body(ball).unwrap();
    assert_eq!(state.linear_velocity, Vec3::X * 3.0, "{state:?}");
}

#[test]
fn every_shape_is_sensed_and_each_pair_is_told_once() {
    let corners = common::box_points(Vec3::splat(0.2));
    let shapes = [
        Collider::sphere(0.2),
        Collider::cuboid(Vec3::splat(0.4)),
        Collider::cylinder(0.2, 0.2),
        Collider::cone(0.2, 0.2),
        Collider::capsule(0.1, 0.1),
        Collider::hull(&corners).unwrap(),
    ];
    for sensor in &shapes {
        for other in &shapes {
            let mut world = World::new();
            world.set_gravity(Vec3::ZERO).unwrap();
            world.add(BodyDesc::fixed().with(sensor.clone().sensing())).unwrap();
            let body =
                world.add(BodyDesc::dynamic().at(Vec3::X * 2.0).moving(Vec3::X * -4.0).with(other.clone())).unwrap();
            let mut simulation = simulate(world, 4);
            let events = told(&mut simulation, 60);
            let kinds: Vec<bool> = events.iter().map(|e| e.1).collect();
            assert_eq!(kinds, [true, false], "{:?} senses {:?}: {events:?}", sensor.shape, other.shape);
            let velocity = simulation.body(body).unwrap().linear_velocity;
            assert_eq!(velocity, Vec3::X * -4.0, "{:?} touched {:?}", sensor.shape, other.shape);
        }
    }
}

#[test]
fn many_overlaps_come_in_the_same_order_every_time_and_removed_bodies_are_not_told() {
    let scene = || {
        let mut world = World::new();
        world.set_gravity(Vec3::ZERO).unwrap();
        let zone = world.add(BodyDesc::fixed().with(Collider::cuboid(Vec3::splat(4.0)).sensing())).unwrap();
        let mut balls = Vec::new();
        for i in 0..200u32 {
            let at = Vec3::new((i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32) * 0.35 - Vec3::splat(1.7);
            balls
                .push(world.add(BodyDesc::dynamic().at(at).moving(Vec3::X * 2.0).with(Collider::sphere(0.1))).unwrap());
        }
        (simulate(world, 4), zone, balls)
    };
    let (mut one, zone, balls) = scene();
    let first = told(&mut one, 1);
    assert_eq!(first.len(), 200, "{}", first.len());
    assert!(first.windows(2).all(|w| w[0].2 < w[1].2) && first.iter().all(|e| e.1 && e.2.sensor == zone));
    one.world_mut().remove(balls[7]).unwrap();
    // Another body in its place is told, as what it is.
    let new = one.world_mut().add(BodyDesc::dynamic().with(Collider::sphere(0.05))).unwrap();
    let again = told(&mut one, 1);
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!((again[0].1, again[0].2.body), (true, new));
    let (mut two, ..) = scene();
    assert_eq!(first, told(&mut two, 1));
    let rest = told(&mut two, 200);
    assert_eq!(rest.iter().filter(|e| !e.1).count(), 200, "all have left");
}

#[test]
fn rays_go_through_sensors() {
    let mut world = on_floor(Collider::half_space(), 0.0);
    world.add(BodyDesc::fixed().at(Vec3::Y * 2.0).with(Collider::sphere(0.5).sensing())).unwrap();
    let mut simulation = simulate(world, 4);
    simulation.step(DT).unwrap();
    let ray = Ray { origin: Vec3::Y * 5.0, direction: -Vec3::Y, reach: 100.0 };
    let hits = RayCaster::new().cast(&mut simulation, &[ray]).unwrap();
    assert!((hits[0].as_ref().unwrap().distance - 5.0).abs() < 1e-4, "{hits:?}");
}
