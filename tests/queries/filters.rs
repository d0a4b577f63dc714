//! What queries see, the order of their answers, and what is refused.

use crate::common::{Random, box_points};
use crate::on_every_backend;
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::queries::{OverlapHit, QueryBatch, QueryError, QueryFilter, QueryHit};
use drystone::world::{BodyDesc, BodyHandle, Collider, Shape, World, WorldError};
use drystone::{Error, Settings, Simulation};

const CPU: Device = Device::Cpu { threads: None };
const BALL: Shape = Shape::Sphere { radius: 0.25 };

/// Three boxes behind each other, and a sensor before them.
fn row() -> (World, [BodyHandle; 4]) {
    let mut world = World::new();
    let mut add = |x: f32, collider: Collider| world.add(BodyDesc::fixed().at(Vec3::X * x).with(collider)).unwrap();
    let cube = || Collider::cuboid(Vec3::ONE);
    let bodies = [
        add(0.0, cube().sensing()),
        add(2.0, cube().groups(0b01, u32::MAX)),
        add(4.0, cube().groups(0b10, 0b1)),
        add(6.0, cube().groups(0, 0)),
    ];
    (world, bodies)
}

#[test]
fn filters_hide_groups_bodies_and_sensors_from_every_kind_of_query() {
    let (world, [sensor, first, second, ungrouped]) = row();
    let all = QueryFilter::default();
    let cases = [
        (all, first),
        (all.with_sensors(), sensor),
        (all.with_sensors().without(sensor), first),
        (all.without(first), second),
        (all.groups(0b1, 0b10), second),
        (all.groups(0b10, 0b11), first),
        (all.groups(0b1, 0b1), first),
        // Only those that look at no groups see what is in none.
        (all.without(first).groups(0b10, 0b10), BodyHandle::clone(&ungrouped)),
    ];
    let mut batch = QueryBatch::new();
    let (start, way) = (Vec3::X * -3.0, Vec3::X * 20.0);
    let wide = Shape::Box { half: Vec3::new(30.0, 0.1, 0.1) };
    for (filter, _) in cases {
        batch.ray(start, way, 20.0, filter).unwrap();
        batch.shape_cast(&BALL, start, Quat::IDENTITY, way, filter).unwrap();
        batch.overlap(&wide, Vec3::ZERO, Quat::IDENTITY, 1, filter).unwrap();
        batch.closest_point(start, 20.0, filter).unwrap();
    }
    on_every_backend(|backend| {
        let mut simulation = Simulation::new(world.clone(), Settings::default(), backend.device()).unwrap();
        let found = simulation.query(&batch).unwrap();
        for (i, (_, body)) in cases.iter().enumerate() {
            let nothing = *body == ungrouped;
            let expected = (!nothing).then_some(*body);
            let of = |hit: Option<QueryHit>| hit.map(|h| h.body);
            let overlap = found.overlaps[i].hits.first().map(|h| h.body);
            let seen = [of(found.rays[i]), of(found.casts[i]), overlap, of(found.closest[i])];
            assert_eq!(seen, [expected; 4], "case {i} on {}", backend.name());
        }
        assert_eq!(found.overlaps[0].count, 3, "everything but the sensor");
        assert_eq!(found.overlaps[1].count, 4, "everything");
    });
}

#[test]
fn of_equally_near_ones_the_lowest_is_told_whatever_the_order_of_the_search() {
    // Boxes that lie in the same place, on bodies and within a body, among many others.
    let mut world = World::new();
    let mut random = Random::new(5);
    let cube = Collider::cuboid(Vec3::ONE);
    for i in 0..200 {
        let at = if i % 4 == 1 { Vec3::ZERO } else { crate::place(&mut random) + Vec3::Y * 3.0 };
        let body = BodyDesc::fixed().at(at).with(cube.clone().at(Vec3::X * 50.0)).with(cube.clone());
        world.add(body.with(cube.clone())).unwrap();
    }
    let lowest = world.handle(1).unwrap();
    let (all, mut batch) = (QueryFilter::default(), QueryBatch::new());
    let start = Vec3::Y * -3.0;
    batch.ray(start, Vec3::Y, 9.0, all).unwrap();
    batch.ray(Vec3::ZERO, Vec3::Y, 9.0, all).unwrap();
    batch.sphere_cast(start, 0.5, Vec3::Y * 9.0, all).unwrap();
    batch.sphere_cast(Vec3::ZERO, 0.5, Vec3::Y * 9.0, all).unwrap();
    batch.closest_point(start, 9.0, all).unwrap();
    batch.closest_point(Vec3::ZERO, 9.0, all).unwrap();
    batch.overlap(&BALL, Vec3::ZERO, Quat::IDENTITY, 5, all).unwrap();
    batch.overlap(&BALL, Vec3::ZERO, Quat::IDENTITY, 0, all).unwrap();
    let listed: Vec<_> = [(1, 1), (1, 2), (5, 1), (5, 2), (9, 1)]
        .map(|(body, collider)| OverlapHit { body: world.handle(body).unwrap(), collider })
        .into();
    on_every_backend(|backend| {
        let mut simulation = Simulation::new(world.clone(), Settings::default(), backend.device()).unwrap();
        let found = simulation.query(&batch).unwrap();
        let firsts = found.rays.iter().chain(&found.casts).chain(&found.closest);
        for (i, hit) in firsts.enumerate() {
            let hit = hit.unwrap();
            assert_eq!((hit.body, hit.collider), (lowest, 1), "query {i} on {}: {hit:?}", backend.name());
        }
        assert_eq!((found.overlaps[0].count, &found.overlaps[0].hits), (100, &listed), "{}", backend.name());
        assert_eq!((found.overlaps[1].count, found.overlaps[1].hits.len()), (100, 0), "only counted");
        assert_eq!(simulation.query(&batch).unwrap(), found, "the same again");
    });
}

#[test]
fn queries_that_make_no_sense_are_refused_by_name() {
    let (world, [_, first, ..]) = row();
    let (all, mut batch) = (QueryFilter::default(), QueryBatch::new());
    let (o, q) = (Vec3::ZERO, Quat::IDENTITY);
    let bad = Vec3::new(0.0, f32::NAN, 0.0);
    batch.ray(o, Vec3::Y, 1.0, all).unwrap();
    let refused = [
        (batch.ray(bad, Vec3::Y, 1.0, all), "ray 1 of the batch: its origin"),
        (batch.ray(o, Vec3::ZERO, 1.0, all), "direction has no length"),
        (batch.ray(o, Vec3::Y, -1.0, all), "reach must be 0 or more"),
        (batch.ray(o, Vec3::Y, f32::NAN, all), "reach must be 0 or more"),
        (batch.sphere_cast(o, -1.0, Vec3::Y, all), "sphere radius"),
        (batch.sphere_cast(bad, 1.0, Vec3::Y, all), "position"),
        (batch.sphere_cast(o, 1.0, bad, all), "cast 0 of the batch: its motion"),
        (batch.shape_cast(&BALL, o, Quat::from_xyzw(0.0, 0.0, 0.0, 3.0), Vec3::Y, all), "rotation"),
        (batch.shape_cast(&Shape::HalfSpace, o, q, Vec3::Y, all), "half-space"),
        (batch.overlap(&Shape::HalfSpace, o, q, 1, all), "overlap 0 of the batch"),
        (batch.closest_point(o, -1.0, all), "search for the closest 0"),
    ];
    for (result, text) in refused {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(text), "{error}, not {text}");
    }
    batch.overlap(&BALL, o, q, u32::MAX, all).unwrap();
    assert!(matches!(batch.overlap(&BALL, o, q, 1, all), Err(Error::Query(QueryError::TooMany { .. }))));
    batch.clear();
    assert!(batch.is_empty());

    // What only the world knows is refused when it is asked.
    let mut simulation = Simulation::new(world, Settings::default(), CPU).unwrap();
    assert!(simulation.query(&batch).unwrap().rays.is_empty(), "nothing was asked");
    let hull = Collider::hull(&box_points(Vec3::splat(0.3))).unwrap();
    batch.overlap(&hull.shape, o, q, 1, all.with_sensors()).unwrap();
    let unknown = |result| matches!(result, Err(Error::Query(QueryError::UnknownHull { index: 0, .. })));
    assert!(unknown(simulation.query(&batch)));
    let far = simulation.world_mut().add(BodyDesc::fixed().at(Vec3::Y * 100.0).with(hull)).unwrap();
    assert!(unknown(simulation.query(&batch)), "the device does not have it yet");
    simulation.step(0.01).unwrap();
    assert_eq!(simulation.query(&batch).unwrap().overlaps[0].count, 1);
    simulation.world_mut().remove(far).unwrap();
    assert!(unknown(simulation.query(&batch)), "nobody has it any longer");

    batch.clear();
    batch.ray(Vec3::X * -3.0, Vec3::X, 20.0, all.without(first)).unwrap();
    simulation.world_mut().remove(first).unwrap();
    assert!(matches!(simulation.query(&batch), Err(Error::World(WorldError::StaleBody { .. }))));
}

#[test]
fn bodies_that_come_and_go_are_never_confused() {
    let mut world = World::new();
    let ball = || BodyDesc::fixed().with(Collider::sphere(1.0));
    let old = world.add(ball()).unwrap();
    let mut simulation = Simulation::new(world, Settings::default(), CPU).unwrap();
    let mut batch = QueryBatch::new();
    batch.ray(Vec3::Y * 5.0, Vec3::NEG_Y, f32::INFINITY, QueryFilter::default()).unwrap();
    let met = |simulation: &mut Simulation| simulation.query(&batch).unwrap().rays[0].map(|h| (h.body, h.distance));
    assert_eq!(met(&mut simulation), Some((old, 4.0)));
    simulation.world_mut().remove(old).unwrap();
    let new = simulation.world_mut().add(ball()).unwrap();
    assert_eq!(new.index(), old.index());
    assert_eq!(met(&mut simulation), None, "the device still has the old one, which is gone");
    simulation.step(0.01).unwrap();
    assert_eq!(met(&mut simulation), Some((new, 4.0)));
    // More bodies than there was room for, and other settings: the buffers are others.
    for i in 0..300 {
        simulation.world_mut().add(ball().at(Vec3::new(3.0 * i as f32, 0.0, 9.0))).unwrap();
    }
    simulation.set_settings(Settings::default().with(|s| s.iterations = 3)).unwrap();
    simulation.step(0.01).unwrap();
    assert_eq!(met(&mut simulation), Some((new, 4.0)));
}
