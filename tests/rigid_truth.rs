//! Rigid bodies against closed forms.

use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::world::{BodyDesc, BodyHandle, Collider, World};
use drystone::{Settings, Simulation, scenes};

const DT: f32 = 1.0 / 60.0;
const G: f32 = 9.81;

fn simulate(world: World) -> Simulation {
    Simulation::new(world, Settings::default(), Device::Cpu { threads: None }).unwrap()
}

fn run(simulation: &mut Simulation, seconds: f32) {
    for _ in 0..(seconds / DT).round() as u32 {
        simulation.step(DT).unwrap();
    }
}

fn floor(world: &mut World, mu: f32, tilt: f32) {
    let plane = BodyDesc::fixed().turned(Quat::from_rotation_z(tilt));
    world.add(plane.with(Collider::half_space().friction(mu))).unwrap();
}

#[test]
fn projectiles_follow_the_integrators_parabola() {
    let mut world = World::new();
    let velocity = Vec3::new(3.0, 7.0, -2.0);
    let body = world.add(BodyDesc::dynamic().at(Vec3::Y * 50.0).moving(velocity).with(Collider::sphere(0.5))).unwrap();
    let mut simulation = simulate(world);
    for n in 1..=120u32 {
        simulation.step(DT).unwrap();
        // Backward Euler: v_n = v_0 + n h g, x_n = x_0 + n h v_0 + h^2 g n (n + 1) / 2.
        let t = n as f32 * DT;
        let expected = Vec3::Y * 50.0 + velocity * t - Vec3::Y * (0.5 * G * DT * DT * (n * (n + 1)) as f32);
        let state = simulation.body(body).unwrap();
        assert!((state.position - expected).length() < 2e-4, "step {n}: {} not {expected}", state.position);
        let speed = velocity - Vec3::Y * G * t;
        // A velocity is a difference of positions over 1/60 s: 50 m in single precision leave half a millimetre a
        // second.
        assert!((state.linear_velocity - speed).length() < 2e-3, "step {n}: {}", state.linear_velocity);
    }
}

fn slide(mu: f32, speed: f32) -> (Simulation, BodyHandle) {
    let mut world = World::new();
    floor(&mut world, mu, 0.0);
    let brick = Collider::cuboid(Vec3::new(1.0, 0.5, 1.0)).friction(mu);
    let body = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.25).moving(Vec3::X * speed).with(brick)).unwrap();
    (simulate(world), body)
}

#[test]
fn sliding_boxes_stop_where_coulomb_says() {
    for mu in [0.1, 0.2, 0.3, 0.5, 0.7, 1.0] {
        let speed = 10.0;
        let (mut simulation, body) = slide(mu, speed);
        run(&mut simulation, speed / (mu * G) + 1.0);
        let state = simulation.body(body).unwrap();
        let expected = speed * speed / (2.0 * mu * G);
        let error = (state.position.x - expected) / expected;
        assert!(error.abs() < 0.03, "mu {mu}: {} m, not {expected}", state.position.x);
        assert!(state.linear_velocity.length() < 0.01, "mu {mu}: still at {}", state.linear_velocity);
    }
}

#[test]
fn without_friction_nothing_stops() {
    let (mut simulation, body) = slide(0.0, 5.0);
    run(&mut simulation, 10.0);
    let state = simulation.body(body).unwrap();
    assert!((state.linear_velocity.x - 5.0).abs() < 0.01, "{}", state.linear_velocity);
    assert!((state.position.x - 50.0).abs() < 0.2, "{}", state.position);
}

#[test]
fn a_box_on_an_incline_holds_below_the_angle_of_friction_and_slides_above() {
    for mu in [0.2f32, 0.5, 0.8] {
        for (part, holds) in [(0.95f32, true), (1.05, false)] {
            let angle = mu.atan() * part;
            let mut world = World::new();
            floor(&mut world, mu, angle);
            let turn = Quat::from_rotation_z(angle);
            let brick = Collider::cuboid(Vec3::new(1.0, 0.5, 1.0)).friction(mu);
            let start = turn * (Vec3::Y * 0.25);
            let body = world.add(BodyDesc::dynamic().at(start).turned(turn).with(brick)).unwrap();
            let mut simulation = simulate(world);
            run(&mut simulation, 5.0);
            let way = (simulation.body(body).unwrap().position - start).length();
            // Below: it creeps less than 2 mm in 5 s. Above: g (sin - mu cos) t^2 / 2.
            let free = 0.5 * G * (angle.sin() - mu * angle.cos()) * 25.0;
            if holds {
                assert!(way < 0.01, "mu {mu}, {part} of the angle: crept {way} m");
            } else {
                assert!((way - free).abs() < 0.1 * free, "mu {mu}, {part} of the angle: {way} m, not {free}");
            }
        }
    }
}

#[test]
fn a_rolling_sphere_accelerates_at_five_sevenths() {
    let angle = 0.3f32;
    let mut world = World::new();
    floor(&mut world, 0.8, angle);
    let start = Quat::from_rotation_z(angle) * (Vec3::Y * 0.5);
    let body = world.add(BodyDesc::dynamic().at(start).with(Collider::sphere(0.5).friction(0.8))).unwrap();
    let mut simulation = simulate(world);
    run(&mut simulation, 3.0);
    let speed = simulation.body(body).unwrap().linear_velocity.length();
    let expected = 5.0 / 7.0 * G * angle.sin() * 3.0;
    assert!((speed - expected).abs() < 0.03 * expected, "{speed} m/s, not {expected}");
}

#[test]
fn a_free_asymmetric_body_keeps_momentum_and_speed() {
    let mut world = weightless();
    let brick = Collider::cuboid(Vec3::new(1.0, 0.6, 0.3));
    // About the middle axis, where every small error tumbles the body.
    let spin = Vec3::new(0.1, 10.0, 0.05);
    let body = world.add(BodyDesc::dynamic().spinning(spin).with(brick)).unwrap();
    let mut simulation = simulate(world);
    simulation.step(DT).unwrap();
    let first = Metrics::of(&mut simulation).unwrap();
    let mut tumbled = false;
    for _ in 0..600 {
        simulation.step(DT).unwrap();
        let now = Metrics::of(&mut simulation).unwrap();
        let drift = (now.angular_momentum - first.angular_momentum).length() / first.angular_momentum.length();
        assert!(drift < 0.01, "angular momentum off by {drift}");
        let energy = now.kinetic_energy / first.kinetic_energy;
        assert!((energy - 1.0).abs() < 0.01, "energy {energy}");
        tumbled |= (simulation.body(body).unwrap().rotation * Vec3::Y).y < -0.5;
    }
    assert!(tumbled, "the middle axis is unstable: the body must turn over");
}

#[test]
fn a_symmetric_top_keeps_spinning() {
    let mut world = weightless();
    let body = world.add(BodyDesc::dynamic().spinning(Vec3::Z * 10.0).with(Collider::cuboid(Vec3::ONE))).unwrap();
    let mut simulation = simulate(world);
    run(&mut simulation, 10.0);
    let speed = simulation.body(body).unwrap().angular_velocity.length();
    assert!((speed - 10.0).abs() < 0.02, "{speed} rad/s");
}

/// Momentum and energy while bodies that nothing else acts on meet. Linear momentum is off by less than 1e-5 of
/// `brought`, which is what they brought, at every step, angular momentum by less than `turned`.
fn meet(name: &str, world: World, brought: f64, turned: f64) {
    let mut simulation = simulate(world);
    let before = Metrics::of(&mut simulation).unwrap();
    let mut touched = 0;
    for step in 0..180 {
        touched += simulation.step(DT).unwrap().manifolds;
        let now = Metrics::of(&mut simulation).unwrap();
        let off = (now.momentum - before.momentum).length();
        assert!(off < 1e-5 * brought, "{name}, step {step}: {off} of {brought} kg m/s");
        let off = (now.angular_momentum - before.angular_momentum).length();
        assert!(off < turned, "{name}, step {step}: {off} of {turned} kg m^2/s");
        assert!(now.kinetic_energy < before.kinetic_energy * 1.001, "{name}, step {step}: energy comes from nowhere");
    }
    assert!(touched > 0, "{name}: they met");
}

fn weightless() -> World {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    world
}

#[test]
fn impacts_conserve_momentum() {
    for (mass, speed, aside) in
        [(1.0, 1.0, 0.0), (5.0, 1.0, 0.0), (5.0, 30.0, 0.0), (5.0, 1.0, 0.4), (1000.0, 1.0, 0.4)]
    {
        let mut world = weightless();
        let mut ball = |place: Vec3, velocity: f32, mass: f32| {
            let ball = BodyDesc::dynamic().at(place).moving(Vec3::X * velocity * speed).weighing(mass);
            world.add(ball.with(Collider::sphere(0.5))).unwrap();
        };
        ball(Vec3::X * -2.0, 3.0, 1.0);
        ball(Vec3::new(2.0, aside, 0.0), -1.0, mass);
        let name = format!("1:{mass} at {} and {speed} m/s, {aside} m aside", 3.0 * speed);
        let brought = f64::from(speed) * (3.0 + f64::from(mass));
        meet(&name, world, brought, 2e-3 * brought);
    }
}

#[test]
fn collisions_of_three_conserve_momentum() {
    let mut world = weightless();
    let cube = || Collider::cuboid(Vec3::ONE);
    world.add(BodyDesc::dynamic().at(Vec3::new(-3.0, 0.1, 0.0)).moving(Vec3::X * 4.0).with(cube())).unwrap();
    world.add(BodyDesc::dynamic().at(Vec3::new(0.0, 0.0, 0.2)).with(cube()).weighing(5000.0)).unwrap();
    let ball = BodyDesc::dynamic().at(Vec3::new(3.0, -0.2, 0.0)).moving(Vec3::X * -2.0);
    world.add(ball.with(Collider::sphere(0.6))).unwrap();
    meet("two cubes and a ball", world, 4000.0 + 2.0 * 905.0, 2.0);
}

#[test]
fn a_swarm_of_many_conserves_momentum() {
    // More than one lane adds up, all drawn to the middle; and a single ball far away that must not notice.
    let mut world = weightless();
    for i in 0..216 {
        let place = Vec3::new((i % 6) as f32, (i / 6 % 6) as f32, (i / 36) as f32) * 1.1 - 2.75;
        let ball = Collider::sphere(0.5 - 0.02 * (i % 5) as f32);
        world.add(BodyDesc::dynamic().at(place).moving(place * -1.5 + Vec3::X * 0.3).with(ball)).unwrap();
    }
    let other = world.add(BodyDesc::dynamic().at(Vec3::X * 30.0).moving(Vec3::Y).with(Collider::sphere(0.5))).unwrap();
    let mut simulation = simulate(world);
    let before = Metrics::of(&mut simulation).unwrap();
    run(&mut simulation, 1.0);
    let after = Metrics::of(&mut simulation).unwrap();
    assert!(after.kinetic_energy < 0.3 * before.kinetic_energy, "they met");
    let off = (after.momentum - before.momentum).length() / before.momentum.length();
    assert!(off < 1e-4, "momentum is off by {off}");
    assert!((simulation.body(other).unwrap().linear_velocity - Vec3::Y).length() < 1e-4);
}

/// The same small stack, all lengths times `length` and masses times `mass`; heights come back in units of a box.
fn scaled(length: f32, mass: f32) -> Vec<f32> {
    let mut world = World::new();
    world.set_gravity(Vec3::Y * -G * length).unwrap();
    floor(&mut world, 0.5, 0.0);
    let bodies: Vec<_> = (0..5)
        .map(|i| {
            let place = Vec3::new(0.1 * i as f32, 0.7 + 1.2 * i as f32, 0.0) * length;
            let cube = Collider::cuboid(Vec3::ONE * length);
            world.add(BodyDesc::dynamic().at(place).with(cube).weighing(mass)).unwrap()
        })
        .collect();
    let mut simulation = simulate(world);
    run(&mut simulation, 2.0);
    bodies.iter().map(|&b| simulation.body(b).unwrap().position.y / length).collect()
}

#[test]
fn units_of_length_and_mass_do_not_matter() {
    let metres = scaled(1.0, 1000.0);
    for (name, other) in [("millimetres", scaled(1000.0, 1000.0)), ("a million times the mass", scaled(1.0, 1e9))] {
        for (i, (a, b)) in metres.iter().zip(&other).enumerate() {
            assert!((a - b).abs() < 2e-3, "{name}: box {i} at {b}, not {a}");
        }
    }
}

#[test]
fn energy_never_grows_in_a_scene_that_nobody_drives() {
    for (name, parameters) in [
        ("pile", vec![("bodies", 200.0), ("levels", 20.0), ("hit", 0.0)]),
        ("stack", vec![]),
        ("pyramid", vec![("base", 12.0)]),
        ("arch", vec![]),
        ("cards", vec![("hit", 0.0)]),
        ("drop", vec![("bodies", 100.0), ("hulls", 1.0)]),
        ("dominoes", vec![("bodies", 20.0)]),
        ("friction", vec![]),
        ("rolling", vec![]),
        ("spinner", vec![]),
    ] {
        let parameters = parameters.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        let scene = scenes::build(name, &parameters).unwrap();
        let mut simulation = Simulation::new(scene.world, scene.settings, Device::Cpu { threads: None }).unwrap();
        // Velocities are differences of poses: what a body starts with is first seen after a step.
        simulation.step(DT).unwrap();
        let start = Metrics::of(&mut simulation).unwrap();
        for step in 0..600 {
            simulation.step(DT).unwrap();
            let now = Metrics::of(&mut simulation).unwrap();
            let scale = start.energy().abs().max(now.kinetic_energy);
            let grown = (now.energy() - start.energy()) / scale;
            assert!(grown < 0.005, "{name}, step {step}: {:.2}% more energy", grown * 100.0);
        }
    }
}

#[test]
fn a_box_set_down_holds_by_static_friction_and_once_it_slides_goes_on() {
    // Between both coefficients: held by 0.8, accelerated at 0.3.
    let angle = 0.5f32.atan();
    let turn = Quat::from_rotation_z(angle);
    for (push, slides) in [(0.0, false), (1.0, true)] {
        let mut world = World::new();
        let plane = Collider::half_space().frictions(0.8, 0.3);
        world.add(BodyDesc::fixed().turned(turn).with(plane)).unwrap();
        let brick = Collider::cuboid(Vec3::new(1.0, 0.5, 1.0)).frictions(0.8, 0.3);
        let start = turn * (Vec3::Y * 0.25);
        let body = BodyDesc::dynamic().at(start).turned(turn).moving(turn * Vec3::X * -push).with(brick);
        let body = world.add(body).unwrap();
        let mut simulation = simulate(world);
        run(&mut simulation, 3.0);
        let way = (simulation.body(body).unwrap().position - start).length();
        let free = push * 3.0 + 0.5 * G * (angle.sin() - 0.3 * angle.cos()) * 9.0;
        if slides {
            assert!((way - free).abs() < 0.05 * free, "slid {way} m, not {free}");
        } else {
            assert!(way < 0.01, "crept {way} m");
        }
    }
}

#[test]
fn fast_bodies_stop_at_thin_walls() {
    // Every shape at 60 m/s, a metre a step, against a wall of 5 cm. The hull hits it with a corner, which turns it
    // aside while its middle goes on: it has to be continuous.
    let hull = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z].map(|v| v * 0.15);
    let shapes = [
        Collider::sphere(0.1),
        Collider::cuboid(Vec3::splat(0.2)),
        Collider::capsule(0.1, 0.1),
        Collider::hull(&hull).unwrap(),
    ];
    for (i, shape) in shapes.into_iter().enumerate() {
        for offset in [0.0, 0.31, 0.62] {
            let mut world = World::new();
            world.set_gravity(Vec3::ZERO).unwrap();
            let wall = Collider::cuboid(Vec3::new(0.05, 4.0, 4.0)).friction(0.0);
            world.add(BodyDesc::fixed().with(wall)).unwrap();
            let place = Vec3::new(-5.0 + offset, 0.3, 0.2);
            let body = BodyDesc::dynamic().at(place).moving(Vec3::X * 60.0).with(shape.clone()).continuous(i == 3);
            let body = world.add(body).unwrap();
            let mut simulation = simulate(world);
            run(&mut simulation, 0.5);
            let state = simulation.body(body).unwrap();
            assert!(state.position.x < 0.0, "shape {i}: went through the wall, to {}", state.position);
            assert!(state.linear_velocity.length() < 61.0, "shape {i}: {}", state.linear_velocity);
        }
    }
}
