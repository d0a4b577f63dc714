//! The papers' scenes, and what each must show.

mod common;

use common::{Backend, on_every_backend};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::metrics::Metrics;
use drystone::plan::step::Capacities;
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Settings, Simulation, scenes};

const DT: f32 = 1.0 / 60.0;

fn device(backend: &Backend) -> Device {
    match backend {
        Backend::Cpu => Device::Cpu { threads: None },
        Backend::Vulkan(device) => Device::Vulkan(device.clone()),
    }
}

fn simulate(world: World, backend: &Backend) -> Simulation {
    Simulation::new(world, Settings::default(), device(backend)).unwrap()
}

fn run(simulation: &mut Simulation, seconds: f32) -> f64 {
    let mut deepest = 0.0f64;
    for _ in 0..(seconds / DT).round() as u32 {
        simulation.step(DT).unwrap();
        if simulation.steps() > 120 {
            deepest = deepest.max(Metrics::of(simulation).unwrap().max_penetration);
        }
    }
    deepest
}

#[test]
fn a_stack_with_three_times_heavier_boxes_upwards_stands() {
    on_every_backend(|backend| {
        let mut simulation = simulate(scenes::stack(10, 3.0).unwrap(), backend);
        // `run` leaves out the first two seconds: while the multipliers build up from nothing, the stack overlaps by up to
        // 6% of a box.
        let deepest = run(&mut simulation, 10.0);
        let end = Metrics::of(&mut simulation).unwrap();
        let place = backend.name();
        assert!(deepest < 0.02, "{place}: {deepest} m of penetration after two seconds");
        assert!(end.top > 9.3, "{place}: the top is at {}", end.top);
        for (handle, state) in simulation.bodies().unwrap() {
            assert!(state.position.with_y(0.0).length() < 0.1, "{place}: {handle:?} at {}", state.position);
        }
    });
}

#[test]
fn a_pyramid_of_820_cubes_stands() {
    let mut simulation = simulate(scenes::pyramid(40).unwrap(), &Backend::Cpu);
    assert_eq!(simulation.world().len(), 821);
    let deepest = run(&mut simulation, 10.0);
    let end = Metrics::of(&mut simulation).unwrap();
    assert!(end.top > 39.5 * 0.99, "the top is at {}", end.top);
    assert!(end.max_speed < 0.2, "at rest, not {} m/s", end.max_speed);
    assert!(deepest < 0.02, "{deepest} m of penetration");
}

#[test]
fn a_pile_of_a_thousand_bricks_stands_until_it_is_hit() {
    let world = scenes::pile(1000, 40).unwrap();
    let bricks = world.len();
    let mut simulation = simulate(world, &Backend::Cpu);
    let start = Metrics::of(&mut simulation).unwrap().top;
    run(&mut simulation, 5.0);
    let stood = Metrics::of(&mut simulation).unwrap();
    assert!(stood.top > start - 0.2, "lost {} m of 20", start - stood.top);
    assert!(stood.max_penetration < 0.02, "{} m of penetration", stood.max_penetration);

    let hit = BodyDesc::dynamic().at(Vec3::new(30.0, 6.0, 0.0)).moving(Vec3::X * -40.0);
    simulation.world_mut().add(hit.with(Collider::sphere(3.0).density(4000.0))).unwrap();
    assert_eq!(simulation.world().len(), bricks + 1);
    let places = simulation.bodies().unwrap();
    run(&mut simulation, 4.0);
    let mut moved = 0;
    for ((_, before), (_, after)) in places.iter().zip(simulation.bodies().unwrap()) {
        assert!(after.enabled && after.position.is_finite());
        moved += usize::from((after.position - before.position).length() > 1.0);
    }
    assert!(moved > bricks / 2, "it collapses: {moved} of {bricks} bricks moved by more than a metre");
    let end = Metrics::of(&mut simulation).unwrap();
    assert!(end.energy() < stood.energy() + 0.5 * 460_000.0 * 1600.0, "no energy comes from nowhere");
}

#[test]
fn a_heap_of_all_shapes_comes_to_rest_without_gaining_energy() {
    let mut simulation = simulate(scenes::drop(300).unwrap(), &Backend::Cpu);
    let mut before = Metrics::of(&mut simulation).unwrap().energy();
    let start = before;
    for step in 0..600 {
        simulation.step(DT).unwrap();
        if step % 60 == 59 {
            let now = Metrics::of(&mut simulation).unwrap();
            assert!(now.energy() < before + 0.005 * start, "second {}: {} after {before}", step / 60, now.energy());
            assert_eq!(now.quarantined, 0);
            before = now.energy();
        }
    }
    for (handle, state) in simulation.bodies().unwrap() {
        assert!(state.position.y > -0.1, "{handle:?} fell through the floor: {}", state.position);
    }
}

#[test]
fn two_runs_are_the_same_to_the_bit_and_tiny_capacities_change_nothing() {
    on_every_backend(|backend| {
        let hash = |capacities: Option<Capacities>| {
            let world = scenes::drop(60).unwrap();
            let mut simulation = match capacities {
                None => simulate(world, backend),
                Some(c) => Simulation::with_capacities(world, Settings::default(), device(backend), c).unwrap(),
            };
            let mut grown = 0;
            for _ in 0..90 {
                grown += simulation.step(DT).unwrap().grown;
            }
            (Metrics::of(&mut simulation).unwrap().pose_hash, grown)
        };
        let tiny = Capacities { bodies: 1, colliders: 1, pairs: 1, manifolds: 1, edits: 1, ..Default::default() };
        let large = Capacities { bodies: 100, colliders: 100, pairs: 10_000, manifolds: 5000, edits: 100, ..tiny };
        let (first, grown) = hash(Some(large));
        assert_eq!(grown, 0, "large enough");
        assert_eq!(hash(Some(large)).0, first, "a second run on {}", backend.name());
        let (small, grown) = hash(Some(tiny));
        assert!(grown > 1, "the small one had to grow");
        assert_eq!(small, first, "tiny capacities on {}", backend.name());
    });
}

/// The bodies of a heap that has been falling together for a while, as a new world.
fn heap(seconds: f32) -> World {
    let mut simulation = simulate(scenes::drop(60).unwrap(), &Backend::Cpu);
    run(&mut simulation, seconds);
    let mut world = World::new();
    for (handle, state) in simulation.bodies().unwrap() {
        let mut desc = simulation.world().desc(handle).unwrap().clone();
        (desc.position, desc.rotation) = (state.position, state.rotation);
        (desc.linear_velocity, desc.angular_velocity) = (state.linear_velocity, state.angular_velocity);
        world.add(desc).unwrap();
    }
    world
}

#[test]
fn backends_agree_on_steps_from_the_same_state() {
    // A heap in motion is chaotic: only a few steps can be compared. Velocities are differences of positions over
    // 1/60 s, so a few rounding errors at 3 m show up as tenths of a millimetre a second.
    for seconds in [0.0, 0.7, 2.0] {
        let world = heap(seconds);
        let states = |backend: &Backend| {
            let mut simulation = simulate(world.clone(), backend);
            let mut touching = 0;
            for _ in 0..3 {
                touching = simulation.step(DT).unwrap().manifolds;
            }
            (simulation.bodies().unwrap(), touching)
        };
        let (cpu, touching) = states(&Backend::Cpu);
        assert!(seconds == 0.0 || touching > 30, "a heap that touches: {touching} manifolds");
        on_every_backend(|backend| {
            for ((handle, a), (_, b)) in cpu.iter().zip(states(backend).0) {
                let place = format!("after {seconds} s on {}: {handle:?}", backend.name());
                let (way, speed) =
                    ((a.position - b.position).length(), (a.linear_velocity - b.linear_velocity).length());
                assert!(way < 2e-4 && speed < 1e-2, "{place}: {way} m, {speed} m/s apart");
                assert!(a.rotation.angle_between(b.rotation) < 2e-3, "{place}: turned otherwise");
            }
        });
    }
}

#[test]
fn bodies_beyond_the_colours_are_solved_in_turn_and_counted() {
    let settings = Settings { colours: 2, ..Settings::default() };
    let world = scenes::pyramid(12).unwrap();
    let mut simulation = Simulation::new(world, settings, Device::Cpu { threads: None }).unwrap();
    let mut most = 0;
    for _ in 0..300 {
        most = most.max(simulation.step(DT).unwrap().fallback_bodies);
    }
    assert!(most > 10, "two colours are too few for a pyramid: {most} in the fallback");
    let end = Metrics::of(&mut simulation).unwrap();
    assert!(end.top > 11.5 * 0.99, "it stands all the same: {}", end.top);
    assert!(end.max_speed < 0.1);
}
