//! What users get wrong about bodies, shapes and time, and the named error it gives.

mod common;

use common::{Backend, on_every_backend};
use drystone::backend::{Device, RunnerExt};
use drystone::glam::{Quat, Vec3};
use drystone::metrics::{Metrics, Worst};
use drystone::plan::PlanError;
use drystone::state::Capacities;
use drystone::world::{BodyDesc, Collider, World, WorldError};
use drystone::{AvbdSettings, Error, EventKind, Settings, Simulation, VbdSettings};

const DT: f32 = 1.0 / 60.0;

fn cube() -> Collider {
    Collider::cuboid(Vec3::ONE)
}

fn simulate(world: World) -> Simulation {
    Simulation::new(world, Settings::default(), Device::Cpu { threads: Some(1) }).unwrap()
}

fn simulate_on(world: World, backend: &Backend) -> Simulation {
    let device = match backend {
        Backend::Cpu => Device::Cpu { threads: None },
        Backend::Vulkan(device) => Device::Vulkan(device.clone()),
    };
    Simulation::new(world, Settings::default(), device).unwrap()
}

/// A floor at y = 0.
fn floor() -> World {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space())).unwrap();
    world
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
        ("gravity_scale", BodyDesc::dynamic().gravity_scale(nan).with(cube())),
        ("force", BodyDesc::dynamic().pushed(Vec3::NAN, Vec3::ZERO).with(cube())),
        ("torque", BodyDesc::dynamic().pushed(Vec3::ZERO, Vec3::INFINITY).with(cube())),
        ("inertia.z", BodyDesc::dynamic().inertia(Vec3::new(1.0, 1.0, -1.0)).with(cube())),
        ("inertia.x", BodyDesc::dynamic().inertia(Vec3::splat(nan)).with(cube())),
        ("no mass", BodyDesc::dynamic().weighing(1.0)),
        ("no mass", BodyDesc::dynamic().inertia(Vec3::ONE)),
        ("mass", BodyDesc::dynamic().with(cube()).weighing(1e-30)),
        ("mass", BodyDesc::dynamic().with(cube().density(f32::MAX))),
        ("inertia", BodyDesc::dynamic().weighing(1.0).inertia(Vec3::splat(1e35))),
        ("colliders[1]", BodyDesc::dynamic().with(cube()).with(Collider::sphere(-1.0))),
        ("friction_static", BodyDesc::dynamic().with(cube().frictions(-1.0, 0.5))),
        ("friction_dynamic", BodyDesc::dynamic().with(cube().frictions(0.5, f32::INFINITY))),
        ("collider rotation", BodyDesc::dynamic().with(cube().turned(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)))),
        ("sphere radius", BodyDesc::dynamic().with(Collider::sphere(1e-6))),
        ("box half.x", BodyDesc::dynamic().with(Collider::cuboid(Vec3::new(1e6, 1.0, 1.0)))),
        ("box half.z", BodyDesc::dynamic().with(Collider::cuboid(Vec3::new(1.0, 1.0, 0.0)))),
        ("capsule radius", BodyDesc::dynamic().with(Collider::capsule(1.0, 0.0))),
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
        world.set_target(body, Vec3::ZERO, Quat::IDENTITY).unwrap_err(),
        world.set_force(body, Vec3::ZERO, Vec3::ZERO).unwrap_err(),
        world.apply_force(body, Vec3::ZERO, Vec3::ZERO).unwrap_err(),
        world.apply_force_at(body, Vec3::ZERO, Vec3::ZERO).unwrap_err(),
        world.apply_impulse_at(body, Vec3::ZERO, Vec3::ZERO).unwrap_err(),
        world.force(body).unwrap_err(),
        world.mass(body).unwrap_err(),
        world.desc(body).unwrap_err(),
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
    for dt in [-DT, f32::NAN, f32::INFINITY, 10.0, 1e-45, 9e-7] {
        assert!(matches!(simulation.step(dt).unwrap_err(), Error::TimeStep(_)), "{dt}");
    }
    simulation.step(0.0).unwrap();
    assert_eq!(simulation.body(body).unwrap().position, Vec3::ZERO);
    assert_eq!(simulation.steps(), 0);
}

#[test]
fn settings_out_of_range_are_named() {
    let changed = |change: fn(&mut Settings)| Settings::default().with(change);
    let solver = |change: fn(&mut AvbdSettings)| {
        let solver = AvbdSettings::default().with(change).into();
        Settings::default().with(|s| s.solver = solver)
    };
    for (name, settings) in [
        ("iterations", changed(|s| s.iterations = 0)),
        ("alpha", solver(|a| a.alpha = 1.1)),
        ("gamma", solver(|a| a.gamma = 1.1)),
        ("beta", solver(|a| a.beta = f32::NAN)),
        ("k_start", solver(|a| a.k_start = 0.0)),
        ("k_max", solver(|a| a.k_max = 0.5)),
        ("free", solver(|a| a.free = 0.1)),
        ("colours", changed(|s| s.colours = 33)),
        ("substeps", changed(|s| s.substeps = 0)),
        ("k_vbd", changed(|s| s.solver = VbdSettings::default().with(|v| v.stiffness = -1.0).into())),
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
    let mut most = 0;
    for _ in 0..120 {
        most = most.max(simulation.step(DT).unwrap().fallback_bodies);
        let now = Metrics::of(&mut simulation).unwrap();
        assert!(now.max_speed < 100.0, "{} m/s", now.max_speed);
        assert_eq!(now.quarantined, 0);
    }
    assert!(most >= 40 - 16, "forty that all touch need more than sixteen colours: {most} in the fallback");
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

#[test]
fn a_nan_on_the_device_takes_one_body_out_on_every_backend_and_is_told_once() {
    on_every_backend(|backend| {
        let mut world = floor();
        let bad = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(cube())).unwrap();
        let good = world.add(BodyDesc::dynamic().at(Vec3::Y * 1.5).with(cube())).unwrap();
        let mut simulation = simulate_on(world, backend);
        simulation.step(DT).unwrap();
        let (buffer, index) = (simulation.plan().buffers.velocities, bad.index());
        let mut velocity = simulation.runner().read_at(buffer, index.into()).unwrap();
        velocity.linear.x = f32::NAN;
        simulation.runner().write_at(buffer, index.into(), &velocity).unwrap();
        let mut events = Vec::new();
        for _ in 0..30 {
            events.extend(simulation.step(DT).unwrap().events);
        }
        let told: Vec<_> = events.iter().map(|e| (e.step, e.kind)).collect();
        assert_eq!(told, [(1, EventKind::Quarantined { body: bad })], "{}", backend.name());
        let state = simulation.body(bad).unwrap();
        assert!(!state.enabled && (state.position - Vec3::Y * 0.5).length() < 0.01, "{}", state.position);
        let state = simulation.body(good).unwrap();
        assert!(state.enabled && state.position.is_finite() && state.linear_velocity.is_finite());
        // What is said to it is not an error, and does not bring it back.
        simulation.world_mut().apply_impulse(bad, Vec3::ONE, Vec3::ZERO).unwrap();
        simulation.step(DT).unwrap();
        assert!(!simulation.body(bad).unwrap().enabled);
        // Another body in its place is a new one.
        simulation.world_mut().remove(bad).unwrap();
        let new = simulation.world_mut().add(BodyDesc::dynamic().at(Vec3::X * 5.0).with(cube())).unwrap();
        assert_eq!(new.index(), bad.index());
        simulation.step(DT).unwrap();
        assert!(simulation.body(new).unwrap().enabled);
        assert_eq!(Metrics::of(&mut simulation).unwrap().quarantined, 0);
    });
}

#[test]
fn a_body_with_a_thousand_neighbours_is_solved_on_every_backend() {
    on_every_backend(|backend| {
        let mut world = floor();
        let plate = Collider::cuboid(Vec3::new(40.0, 1.0, 40.0));
        let plate = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.5).with(plate)).unwrap();
        for i in 0..1024u16 {
            let place = Vec3::new(f32::from(i % 32) - 15.5, 1.25, f32::from(i / 32) - 15.5);
            world.add(BodyDesc::dynamic().at(place).with(Collider::cuboid(Vec3::splat(0.5)))).unwrap();
        }
        let mut simulation = simulate_on(world, backend);
        let mut touching = 0;
        for _ in 0..15 {
            touching = simulation.step(DT).unwrap().manifolds;
        }
        let place = backend.name();
        assert!(touching >= 1025, "{place}: the plate touches everything, {touching} manifolds");
        assert_eq!(simulation.colours().unwrap(), 2, "{place}: the plate has one, its neighbours the other");
        let height = simulation.body(plate).unwrap().position.y;
        assert!((height - 0.5).abs() < 0.02, "{place}: the plate at {height}");
        for (handle, state) in simulation.bodies().unwrap().into_iter().skip(2) {
            assert!((state.position.y - 1.25).abs() < 0.05, "{place}: {handle:?} at {}", state.position);
        }
    });
}

#[test]
fn the_thinnest_largest_and_smallest_shapes_stay_finite_on_every_backend() {
    on_every_backend(|backend| {
        let mut world = floor();
        let shapes = [
            Collider::cuboid(Vec3::new(1.0, 2e-5, 1.0)),
            Collider::cuboid(Vec3::splat(2e-5)),
            Collider::cuboid(Vec3::new(2e5, 2e-5, 2e5)),
            Collider::sphere(1e-5),
            Collider::sphere(1e5),
            Collider::capsule(1e5, 1e-5),
            Collider::capsule(1e-5, 1.0),
            Collider::cylinder(1e5, 1e-5),
            Collider::cone(1e-5, 1.0),
        ];
        for (i, shape) in shapes.into_iter().enumerate() {
            let place = Vec3::new(i as f32 * 3e5, 1e5 + 1.0, 0.0);
            world.add(BodyDesc::dynamic().at(place).spinning(Vec3::ONE).with(shape)).unwrap();
        }
        // One on the floor, one in the air, moments of inertia that are as good as singular.
        let needle = Vec3::new(1.0, 1e-12, 1.0);
        world.add(BodyDesc::dynamic().at(Vec3::new(-5.0, 0.5, 0.0)).inertia(needle).with(cube())).unwrap();
        let spun =
            BodyDesc::dynamic().at(Vec3::new(-9.0, 50.0, 0.0)).inertia(needle).spinning(Vec3::new(1.0, 20.0, 2.0));
        world.add(spun.with(cube())).unwrap();
        let mut simulation = simulate_on(world, backend);
        for _ in 0..30 {
            simulation.step(DT).unwrap();
        }
        let now = Metrics::of(&mut simulation).unwrap();
        assert_eq!(now.quarantined, 0, "{}", backend.name());
        assert!(now.kinetic_energy.is_finite() && now.max_speed < 50.0, "{}: {now:?}", backend.name());
    });
}

#[test]
fn few_many_far_and_fast_bodies_work_on_every_backend() {
    on_every_backend(|backend| {
        for n in [0u16, 257] {
            let mut world = if n == 0 { World::new() } else { floor() };
            for i in 1..n {
                let place = Vec3::new(f32::from(i % 16) * 1.5, 0.5, f32::from(i / 16) * 1.5);
                world.add(BodyDesc::dynamic().at(place).with(cube())).unwrap();
            }
            world.add(BodyDesc::dynamic().at(Vec3::splat(1e6)).moving(Vec3::splat(1e5)).with(cube())).unwrap();
            let mut simulation = simulate_on(world, backend);
            for _ in 0..5 {
                simulation.step(DT).unwrap();
            }
            let states = simulation.bodies().unwrap();
            assert_eq!(states.len(), usize::from(n) + 1);
            for (_, state) in &states[usize::from(n.min(1))..usize::from(n)] {
                assert!((state.position.y - 0.5).abs() < 0.01, "{} of {n}: {}", backend.name(), state.position);
            }
            assert!(states[usize::from(n)].1.position.x > 1e6 + 8000.0, "{n}: it flies on");
        }
        let mut empty = simulate_on(World::new(), backend);
        empty.step(DT).unwrap();
    });
}

#[test]
fn without_memory_to_grow_the_buffers_stay_and_the_world_steps_on() {
    on_every_backend(|backend| {
        let run = |limit: bool| {
            let mut world = floor();
            let falling = world.add(BodyDesc::dynamic().at(Vec3::Y * 20.0).with(cube())).unwrap();
            let mut simulation = simulate_on(world, backend);
            simulation.step(DT).unwrap();
            if limit {
                let used = simulation.memory().iter().map(|m| m.bytes).sum();
                simulation.limit_memory(Some(used));
                // Too many bodies: refused before the step.
                let more: Vec<_> = (0..500)
                    .map(|_| simulation.world_mut().add(BodyDesc::dynamic().at(Vec3::Y * 5.0).with(cube())).unwrap())
                    .collect();
                simulation.world_mut().apply_impulse(falling, Vec3::X * 1000.0, Vec3::ZERO).unwrap();
                for _ in 0..2 {
                    let error = simulation.step(DT).unwrap_err();
                    assert!(matches!(error, Error::MemoryLimit { .. }), "{error}");
                    assert!(error.to_string().contains("remove bodies"), "{error}");
                }
                assert_eq!(simulation.steps(), 1);
                for body in more {
                    simulation.world_mut().remove(body).unwrap();
                }
            } else {
                simulation.world_mut().apply_impulse(falling, Vec3::X * 1000.0, Vec3::ZERO).unwrap();
            }
            for _ in 0..10 {
                simulation.step(DT).unwrap();
            }
            let state = simulation.body(falling).unwrap();
            assert!(
                (state.linear_velocity.x - 1.0).abs() < 1e-3,
                "the impulse was not lost: {}",
                state.linear_velocity
            );
            state
        };
        assert_eq!(run(true), run(false), "{}", backend.name());
    });
}

#[test]
fn without_memory_for_contacts_a_step_fails_and_others_go_on() {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let crowd: Vec<_> =
        (0..100).map(|i| world.add(BodyDesc::dynamic().at(Vec3::X * (3.0 * i as f32)).with(cube())).unwrap()).collect();
    let mut simulation = simulate(world);
    simulation.step(DT).unwrap();
    let used = simulation.memory().iter().map(|m| m.bytes).sum();
    simulation.limit_memory(Some(used));
    for &body in &crowd {
        simulation.world_mut().set_pose(body, Vec3::ZERO, Quat::IDENTITY).unwrap();
    }
    assert!(matches!(simulation.step(DT).unwrap_err(), Error::MemoryLimit { .. }), "4950 pairs do not fit");
    assert_eq!(simulation.steps(), 1);
    assert_eq!(simulation.body(crowd[7]).unwrap().position, Vec3::X * 21.0, "nothing of the step was made");
    // Apart again, it works; and so does more memory.
    for (i, &body) in crowd.iter().enumerate() {
        simulation.world_mut().set_pose(body, Vec3::X * (3.0 * i as f32), Quat::IDENTITY).unwrap();
    }
    simulation.step(DT).unwrap();
    simulation.world_mut().set_pose(crowd[1], Vec3::ZERO, Quat::IDENTITY).unwrap();
    simulation.limit_memory(None);
    assert_eq!(simulation.step(DT).unwrap().manifolds, 1);
}

#[test]
fn capacities_beyond_what_kernels_count_are_refused() {
    let most = Capacities { bodies: 1, colliders: 1, pairs: 1, manifolds: 1, edits: 1, ..Default::default() };
    for (word, capacities) in [
        ("bodies", Capacities { bodies: u32::MAX, ..most }),
        ("colliders", Capacities { colliders: u32::MAX, ..most }),
        ("pairs", Capacities { pairs: u32::MAX, ..most }),
        ("manifolds", Capacities { manifolds: u32::MAX, ..most }),
        ("edits", Capacities { edits: u32::MAX, ..most }),
    ] {
        let device = Device::Cpu { threads: Some(1) };
        let error = Simulation::with_capacities(World::new(), Settings::default(), device, capacities).err().unwrap();
        assert!(matches!(error, Error::Plan(PlanError::TooManyItems { .. })), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn the_worst_of_metrics_keeps_the_step_it_was_seen_in() {
    let mut worst = Worst::default();
    let at = |top: f64, max_speed: f64| {
        let mut m = Metrics::default();
        (m.top, m.max_speed, m.kinetic_energy) = (top, max_speed, -3.0);
        m
    };
    for (step, m) in [at(5.0, 1.0), at(3.0, 7.0), at(4.0, 2.0)].iter().enumerate() {
        worst.see(step as u64, m);
    }
    let peak = |name: &str| worst.named().find(|p| p.0 == name).unwrap().1;
    assert_eq!((peak("top").value, peak("top").step), (3.0, 1));
    assert_eq!((peak("max_speed").value, peak("max_speed").step), (7.0, 1));
    assert_eq!((peak("kinetic_energy").value, peak("kinetic_energy").step), (-3.0, 0), "below zero from the start");
}
