//! What users get wrong about bodies, shapes and time, and the named error it gives.

use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::world::{BodyDesc, Collider, World, WorldError};
use drystone::{Error, Settings, Simulation};

const DT: f32 = 1.0 / 60.0;

fn cube() -> Collider {
    Collider::cuboid(Vec3::ONE)
}

fn simulate(world: World) -> Simulation {
    Simulation::new(world, Settings::default(), Device::Cpu { threads: Some(1) }).unwrap()
}

#[test]
fn bodies_that_make_no_sense_are_refused_by_the_field_and_the_world_stays() {
    let mut world = World::new();
    let nan = f32::NAN;
    let box_with = |half: Vec3| Collider::cuboid(half * 2.0);
    let cases: Vec<(&str, BodyDesc)> = vec![
        ("position", BodyDesc::dynamic().at(Vec3::new(nan, 0.0, 0.0)).with(cube())),
        ("rotation", BodyDesc::dynamic().turned(Quat::from_xyzw(0.0, 0.0, 0.0, nan)).with(cube())),
        ("rotation", BodyDesc::dynamic().turned(Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)).with(cube())),
        ("linear_velocity", BodyDesc::dynamic().moving(Vec3::INFINITY).with(cube())),
        ("angular_velocity", BodyDesc::dynamic().spinning(Vec3::NAN).with(cube())),
        ("mass", BodyDesc::dynamic().with(cube()).weighing(0.0)),
        ("mass", BodyDesc::dynamic().with(cube()).weighing(-1.0)),
        ("mass", BodyDesc::dynamic().with(cube()).weighing(nan)),
        ("no mass", BodyDesc::dynamic()),
        ("no mass", BodyDesc::dynamic().with(cube().density(0.0))),
        ("density", BodyDesc::dynamic().with(cube().density(-1.0))),
        ("friction", BodyDesc::dynamic().with(cube().friction(nan))),
        ("sphere radius", BodyDesc::dynamic().with(Collider::sphere(0.0))),
        ("sphere radius", BodyDesc::dynamic().with(Collider::sphere(1e6))),
        ("box half.y", BodyDesc::dynamic().with(box_with(Vec3::new(1.0, 1e-6, 1.0)))),
        ("capsule half_height", BodyDesc::dynamic().with(Collider::capsule(nan, 1.0))),
        ("collider position", BodyDesc::dynamic().with(cube().at(Vec3::NAN))),
        ("half-space", BodyDesc::dynamic().with(Collider::half_space())),
    ];
    for (word, desc) in cases {
        let error = world.add(desc).unwrap_err();
        assert!(error.to_string().contains(word), "`{word}` in: {error}");
        assert_eq!(world.len(), 0, "the world is unchanged after: {error}");
    }
    assert!(world.set_gravity(Vec3::NAN).is_err());
}

#[test]
fn stale_handles_are_named() {
    let mut world = World::new();
    let body = world.add(BodyDesc::dynamic().with(cube())).unwrap();
    world.remove(body).unwrap();
    let again = world.add(BodyDesc::dynamic().with(cube())).unwrap();
    assert_eq!(again.index(), body.index(), "the slot is used again");
    for error in [
        world.remove(body).unwrap_err(),
        world.set_velocity(body, Vec3::ZERO, Vec3::ZERO).unwrap_err(),
        world.apply_impulse(body, Vec3::ZERO, Vec3::ZERO).unwrap_err(),
        world.set_pose(body, Vec3::ZERO, Quat::IDENTITY).unwrap_err(),
    ] {
        assert!(matches!(error, WorldError::StaleBody { .. }), "{error}");
    }
    assert!(matches!(simulate(world).body(body).unwrap_err(), Error::World(WorldError::StaleBody { .. })));
}

#[test]
fn time_steps_out_of_range_are_refused_and_zero_does_nothing() {
    let mut world = World::new();
    let body = world.add(BodyDesc::dynamic().with(cube())).unwrap();
    let mut simulation = simulate(world);
    for dt in [-DT, f32::NAN, f32::INFINITY, 10.0] {
        assert!(matches!(simulation.step(dt).unwrap_err(), Error::TimeStep(_)), "{dt}");
    }
    simulation.step(0.0).unwrap();
    assert_eq!(simulation.body(body).unwrap().position, Vec3::ZERO);
    assert_eq!(simulation.steps(), 0);
}

#[test]
fn settings_out_of_range_are_named() {
    let ok = Settings::default();
    for (name, settings) in [
        ("iterations", Settings { iterations: 0, ..ok }),
        ("alpha", Settings { alpha: 1.1, ..ok }),
        ("gamma", Settings { gamma: 1.0, ..ok }),
        ("beta", Settings { beta: f32::NAN, ..ok }),
        ("k_start", Settings { k_start: 0.0, ..ok }),
        ("colours", Settings { colours: 33, ..ok }),
        ("substeps", Settings { substeps: 0, ..ok }),
    ] {
        let error = Simulation::new(World::new(), settings, Device::Cpu { threads: Some(1) }).err().unwrap();
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn worlds_with_no_body_one_body_and_around_a_workgroup_work() {
    for n in [0, 1, 2, 63, 64, 65, 255, 256, 257] {
        let mut world = World::new();
        world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
        for i in 0..n {
            let place = Vec3::new((i % 16) as f32 * 1.5, 0.6, (i / 16) as f32 * 1.5);
            world.add(BodyDesc::dynamic().at(place).with(cube())).unwrap();
        }
        let mut simulation = simulate(world);
        for _ in 0..60 {
            simulation.step(DT).unwrap();
        }
        for (_, state) in simulation.bodies().unwrap().into_iter().skip(1) {
            assert!((state.position.y - 0.5).abs() < 0.01, "{n} bodies: {}", state.position);
        }
    }
    let mut empty = simulate(World::new());
    empty.step(DT).unwrap();
}

#[test]
fn bodies_come_and_go_between_steps() {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let first = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(cube())).unwrap();
    let top = world.add(BodyDesc::dynamic().at(Vec3::Y * 1.5).with(cube())).unwrap();
    let mut simulation = simulate(world);
    let steps = |s: &mut Simulation, n: u32| (0..n).for_each(|_| drop(s.step(DT).unwrap()));
    steps(&mut simulation, 60);
    simulation.world_mut().remove(first).unwrap();
    steps(&mut simulation, 90);
    assert!((simulation.body(top).unwrap().position.y - 0.5).abs() < 0.01, "it fell to the floor");
    // Into the freed slot, high above: nothing of the old contacts may stick to it.
    let falling = simulation.world_mut().add(BodyDesc::dynamic().at(Vec3::Y * 50.0).with(cube())).unwrap();
    assert_eq!(falling.index(), first.index());
    steps(&mut simulation, 30);
    let expected = 50.0 - 0.5 * 9.81 * DT * DT * (30 * 31) as f32;
    let state = simulation.body(falling).unwrap();
    assert!((state.position.y - expected).abs() < 1e-3, "{} not {expected}", state.position.y);
    // Many more than there was room for.
    for i in 0..50 {
        let place = Vec3::new(5.0 + i as f32 * 2.0, 0.5, 0.0);
        simulation.world_mut().add(BodyDesc::dynamic().at(place).with(cube())).unwrap();
    }
    steps(&mut simulation, 30);
    assert_eq!(simulation.bodies().unwrap().len(), 53);
    assert_eq!(Metrics::of(&mut simulation).unwrap().quarantined, 0);
}

#[test]
fn colliders_of_a_removed_body_do_not_stick_to_the_next_in_its_slot() {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    // A foot far below: a body that had it would stand on it.
    let tall = BodyDesc::dynamic().at(Vec3::Y * 10.0).with(cube().at(Vec3::Y * -3.0)).with(cube());
    let first = world.add(tall).unwrap();
    let mut simulation = simulate(world);
    simulation.step(DT).unwrap();
    simulation.world_mut().remove(first).unwrap();
    let second = simulation.world_mut().add(BodyDesc::dynamic().at(Vec3::Y * 2.0).with(cube())).unwrap();
    assert_eq!(second.index(), first.index(), "the same slot");
    for _ in 0..120 {
        simulation.step(DT).unwrap();
    }
    let height = simulation.body(second).unwrap().position.y;
    assert!((height - 0.5).abs() < 0.01, "it stands on its own collider: {height}");
}

#[test]
fn velocities_impulses_poses_and_kinematic_bodies_do_what_they_are_told() {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let a = world.add(BodyDesc::dynamic().with(cube())).unwrap();
    let b = world.add(BodyDesc::dynamic().at(Vec3::X * 5.0).with(cube())).unwrap();
    let c = world.add(BodyDesc::kinematic().at(Vec3::X * 10.0).moving(Vec3::Z).with(cube())).unwrap();
    let mut simulation = simulate(world);
    let world = simulation.world_mut();
    world.set_velocity(a, Vec3::Y, Vec3::ZERO).unwrap();
    world.apply_impulse(b, Vec3::Y * 2000.0, Vec3::Z * 1000.0 / 6.0).unwrap();
    for _ in 0..60 {
        simulation.step(DT).unwrap();
    }
    assert!((simulation.body(a).unwrap().position - Vec3::Y).length() < 1e-3);
    let state = simulation.body(b).unwrap();
    assert!((state.position - Vec3::new(5.0, 2.0, 0.0)).length() < 1e-3, "{}", state.position);
    assert!((state.angular_velocity - Vec3::Z).length() < 1e-3, "{}", state.angular_velocity);
    assert!((simulation.body(c).unwrap().position - Vec3::new(10.0, 0.0, 1.0)).length() < 1e-3);
    simulation.world_mut().set_pose(a, Vec3::ONE, Quat::IDENTITY).unwrap();
    simulation.world_mut().set_velocity(a, Vec3::ZERO, Vec3::ZERO).unwrap();
    simulation.step(DT).unwrap();
    assert!((simulation.body(a).unwrap().position - Vec3::ONE).length() < 1e-5);
}

#[test]
fn a_body_that_overflows_is_taken_out_and_its_neighbours_go_on() {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    let bad = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(cube())).unwrap();
    let good = world.add(BodyDesc::dynamic().at(Vec3::Y * 1.5).with(cube())).unwrap();
    let mut simulation = simulate(world);
    simulation.step(DT).unwrap();
    simulation.world_mut().set_velocity(bad, Vec3::splat(f32::MAX), Vec3::ZERO).unwrap();
    for _ in 0..120 {
        simulation.step(DT).unwrap();
    }
    assert!(!simulation.body(bad).unwrap().enabled, "taken out");
    assert!(simulation.body(bad).unwrap().position.is_finite(), "at its last good place");
    assert_eq!(Metrics::of(&mut simulation).unwrap().quarantined, 1);
    let state = simulation.body(good).unwrap();
    assert!(state.enabled && state.position.is_finite(), "{}", state.position);
}

#[test]
fn everything_in_one_place_comes_apart_at_bounded_speed() {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    for _ in 0..40 {
        world.add(BodyDesc::dynamic().at(Vec3::Y * 2.0).with(cube())).unwrap();
    }
    let mut simulation = simulate(world);
    for _ in 0..120 {
        simulation.step(DT).unwrap();
        let now = Metrics::of(&mut simulation).unwrap();
        assert!(now.max_speed < 100.0, "{} m/s", now.max_speed);
        assert_eq!(now.quarantined, 0);
    }
}

#[test]
fn far_and_fast_bodies_do_not_hang() {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    world.add(BodyDesc::dynamic().at(Vec3::splat(1e6)).moving(Vec3::splat(1e5)).with(cube())).unwrap();
    let near = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(cube())).unwrap();
    let mut simulation = simulate(world);
    for _ in 0..60 {
        simulation.step(DT).unwrap();
    }
    assert!((simulation.body(near).unwrap().position.y - 0.5).abs() < 0.01);
}

#[test]
fn a_million_to_one_in_mass_stays_finite() {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(cube()).weighing(1e-3)).unwrap();
    let heavy = world.add(BodyDesc::dynamic().at(Vec3::Y * 1.5).with(cube()).weighing(1e3)).unwrap();
    let mut simulation = simulate(world);
    for _ in 0..120 {
        simulation.step(DT).unwrap();
        assert_eq!(Metrics::of(&mut simulation).unwrap().quarantined, 0);
    }
    assert!(simulation.body(heavy).unwrap().position.y > 0.3);
}
