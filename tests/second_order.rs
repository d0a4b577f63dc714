//! Integration of second order: what it keeps, and that it gives nothing.

mod common;

use common::{Backend, on_every_backend};
use drystone::backend::Device;
use drystone::glam::{Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, World};
use drystone::{Integration, Settings, Simulation, scenes};

const DT: f32 = 1.0 / 60.0;
const G: f64 = 9.81;
const CPU: Device = Device::Cpu { threads: Some(1) };

fn second(iterations: u32) -> Settings {
    Settings::default().with(|s| (s.iterations, s.integration) = (iterations, Integration::Bdf2))
}

fn first(iterations: u32) -> Settings {
    Settings::default().with(|s| s.iterations = iterations)
}

fn simulate(world: World, settings: Settings) -> Simulation {
    Simulation::new(world, settings, CPU).unwrap()
}

/// Balls at the ends of rods of 1 m, one on the other, at angles from hanging down.
fn swings(angles: &[f32]) -> (World, Vec<BodyHandle>) {
    let mut world = World::new();
    let mut from = Vec3::Y * 10.0;
    let mut last = None;
    let mut bodies = Vec::new();
    for angle in angles {
        let way = Vec3::new(angle.sin(), -angle.cos(), 0.0);
        let turn = Quat::from_rotation_z(*angle);
        let ball = BodyDesc::dynamic().at(from + way).turned(turn).with(Collider::sphere(0.1));
        let ball = world.add(ball.weighing(1.0)).unwrap();
        let joint = JointDesc::ball(ball, last).placed(&world, from, Quat::IDENTITY).unwrap();
        world.add_joint(joint).unwrap();
        (from, last) = (from + way, Some(ball));
        bodies.push(ball);
    }
    (world, bodies)
}

/// The part of a pendulum's energy that 10 s leave.
fn kept(settings: Settings) -> f64 {
    let (world, bodies) = swings(&[10f32.to_radians()]);
    let mut simulation = simulate(world, settings);
    let mut energy = || {
        let body = simulation.body(bodies[0]).unwrap();
        let height = f64::from(body.position.y) - 9.0;
        let (v, w) = (body.linear_velocity, body.angular_velocity);
        let found = G * height + 0.5 * f64::from(v.length_squared()) + 0.2 * 0.01 * f64::from(w.length_squared());
        simulation.step(DT).unwrap();
        found
    };
    let start = energy();
    (0..600).map(|_| energy()).last().unwrap() / start
}

#[test]
fn a_pendulum_goes_on_swinging() {
    let found: Vec<_> = [4, 10].map(|n| (kept(first(n)), kept(second(n)))).into();
    println!("of the energy, first and second order: {found:?}");
    for (first, second) in found {
        assert!(first < 0.3, "implicit Euler keeps {first}");
        assert!((0.9..1.001).contains(&second), "BDF2 keeps {second}");
    }
}

/// Places of the second of two such balls behind every frame, by RK4 in double precision.
fn double_pendulum(angles: [f64; 2], frames: usize) -> Vec<[f64; 2]> {
    const PARTS: usize = 200;
    // A ball's own inertia.
    let i = 0.4 * 0.01;
    let slope = |s: [f64; 4]| {
        let [a, b, u, v] = s;
        let (sine, cosine) = (a - b).sin_cos();
        // (2 + i) a'' + cos b'' = -sin b'^2 - 2 g sin a;  cos a'' + (1 + i) b'' = sin a'^2 - g sin b.
        let (m, n) = (2.0 + i, 1.0 + i);
        let (p, q) = (-sine * v * v - 2.0 * G * a.sin(), sine * u * u - G * b.sin());
        let det = m * n - cosine * cosine;
        [u, v, (n * p - cosine * q) / det, (m * q - cosine * p) / det]
    };
    let mut s = [angles[0], angles[1], 0.0, 0.0];
    let h = 1.0 / 60.0 / PARTS as f64;
    let add = |s: [f64; 4], d: [f64; 4], h: f64| std::array::from_fn(|k| s[k] + h * d[k]);
    let frame = |_| {
        for _ in 0..PARTS {
            let k1 = slope(s);
            let k2 = slope(add(s, k1, 0.5 * h));
            let k3 = slope(add(s, k2, 0.5 * h));
            let k4 = slope(add(s, k3, h));
            s = std::array::from_fn(|k| s[k] + h / 6.0 * (k1[k] + 2.0 * k2[k] + 2.0 * k3[k] + k4[k]));
        }
        [s[0].sin() + s[1].sin(), 10.0 - s[0].cos() - s[1].cos()]
    };
    (0..frames).map(frame).collect()
}

#[test]
fn a_double_pendulum_goes_where_it_should() {
    for angles in [[0.5, 0.8], [1.2, 1.2]] {
        let truth = double_pendulum(angles, 60);
        let off = |settings: Settings| {
            let (world, bodies) = swings(&angles.map(|a| a as f32));
            let mut simulation = simulate(world, settings);
            let ways = truth.iter().map(|[x, y]| {
                simulation.step(DT).unwrap();
                let at = simulation.body(bodies[1]).unwrap().position;
                (f64::from(at.x) - x).hypot(f64::from(at.y) - y)
            });
            ways.fold(0.0, f64::max)
        };
        let (euler, found) = (off(first(20)), off(second(20)));
        println!("{angles:?}: implicit Euler is off by {euler:.3} m, BDF2 by {found:.3} m");
        assert!(found < 0.05, "{angles:?}: off by {found} m");
        assert!(euler > 2.0 * found, "{angles:?}: {euler} m and {found} m");
    }
}

/// The most that a scene gains over its seconds, as a part of what it had to give.
fn gain(world: World, settings: Settings, seconds: f32) -> f64 {
    let mut simulation = simulate(world, settings);
    let start = Metrics::of(&mut simulation).unwrap().energy();
    let (mut most, mut lowest) = (f64::MIN, f64::MAX);
    for _ in 0..(seconds / DT) as u32 {
        simulation.step(DT).unwrap();
        let metrics = Metrics::of(&mut simulation).unwrap();
        most = most.max(metrics.energy());
        lowest = lowest.min(metrics.potential_energy);
    }
    (most - start) / (start - lowest)
}

#[test]
fn no_scene_gains_energy() {
    let scenes = [
        ("pendulum", scenes::pendulum(50, 5e4, 1.5), 20, 10.0),
        ("pendulum 450:1 at 4", scenes::pendulum(50, 450.0, 1.5), 4, 10.0),
        ("chain of 10 at 4", scenes::pendulum(10, 1.0, 1.5), 4, 10.0),
        ("chain of 20", scenes::pendulum(20, 1.0, 1.5), 10, 10.0),
        ("bridge", scenes::bridge(20), 10, 10.0),
        ("swing_box", scenes::swing_box(25, 1000.0), 10, 10.0),
        ("rope", scenes::rope(20), 20, 10.0),
        ("hinge_limits", scenes::hinge_limits(5), 4, 10.0),
        ("rods", scenes::rods(5), 4, 10.0),
        ("limbs", scenes::limbs(5), 4, 10.0),
        ("joint_grid", scenes::joint_grid(20), 10, 5.0),
        ("chainmail", scenes::chainmail(5, 500.0, false), 15, 5.0),
        ("ragdolls", scenes::ragdolls(5), 10, 5.0),
        ("drop", scenes::drop(80), 4, 4.0),
        ("dominoes", scenes::dominoes(20), 4, 4.0),
    ];
    let gains: Vec<_> =
        scenes.into_iter().map(|(name, world, n, seconds)| (name, gain(world.unwrap(), second(n), seconds))).collect();
    println!("{gains:?}");
    let wrong: Vec<_> = gains.iter().filter(|(_, gain)| gain.is_nan() || *gain >= 0.01).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_touches_is_as_with_the_first_order() {
    for (name, world) in
        [("stack", scenes::stack(10, 1.0)), ("pyramid", scenes::pyramid(8)), ("arch", scenes::arch(15, 1.0))]
    {
        let world = world.unwrap();
        let run = |settings: Settings| {
            let mut simulation = simulate(world.clone(), settings);
            for _ in 0..120 {
                simulation.step(DT).unwrap();
            }
            Metrics::of(&mut simulation).unwrap().pose_hash
        };
        assert_eq!(run(first(10)), run(second(10)), "{name}");
    }
}

#[test]
fn a_ball_that_falls_lands_and_does_not_bounce() {
    let mut world = scenes::floor(0.5).unwrap();
    let ball = world.add(BodyDesc::dynamic().at(Vec3::Y * 3.0).with(Collider::sphere(0.5))).unwrap();
    let mut simulation = simulate(world, second(4));
    let (mut fastest, mut landed) = (0f32, false);
    for frame in 0..90 {
        simulation.step(DT).unwrap();
        let body = simulation.body(ball).unwrap();
        let t = f64::from(frame + 1) / 60.0;
        let fallen = 3.0 - 0.5 * G * t * t;
        landed |= fallen < 0.55;
        if !landed {
            assert!((f64::from(body.position.y) - fallen).abs() < 0.02, "frame {frame}: {}", body.position);
        } else {
            fastest = fastest.max(body.linear_velocity.y);
        }
    }
    assert!(landed && fastest < 0.1, "up again at {fastest} m/s");
    let at = simulation.body(ball).unwrap().position.y;
    assert!((at - 0.5).abs() < 2e-3, "it lies at {at} m");
}

#[test]
fn what_flies_freely_keeps_its_momentum_and_energy() {
    let mut world = World::new();
    world.set_gravity(Vec3::ZERO).unwrap();
    let plate = BodyDesc::dynamic().with(Collider::cuboid(Vec3::new(0.2, 0.6, 1.0)));
    world.add(plate.moving(Vec3::new(1.0, 2.0, 3.0)).spinning(Vec3::new(2.0, 5.0, 1.0))).unwrap();
    let mut simulation = simulate(world, second(4));
    simulation.step(DT).unwrap();
    let start = Metrics::of(&mut simulation).unwrap();
    for _ in 0..600 {
        simulation.step(DT).unwrap();
    }
    let end = Metrics::of(&mut simulation).unwrap();
    let turned = (end.angular_momentum - start.angular_momentum).length() / start.angular_momentum.length();
    let energy = end.kinetic_energy / start.kinetic_energy;
    println!("momentum off by {turned:.5}, energy {energy:.5}");
    assert!((end.momentum - start.momentum).length() < 1e-4 * start.momentum.length());
    assert!(turned < 0.01 && (0.97..1.005).contains(&energy), "{turned} of angular momentum, {energy} of the energy");
}

#[test]
fn chosen_sub_steps_of_changing_length_keep_a_pendulum_swinging() {
    // So near to what the criterion bears that frames have one sub-step or two.
    let settings = second(4).with(|s| (s.substeps_most, s.stability) = (4, 0.175));
    let (world, _) = swings(&[0.8]);
    let mut simulation = simulate(world, settings);
    let start = Metrics::of(&mut simulation).unwrap().energy();
    let mut seen = [0; 5];
    for _ in 0..600 {
        seen[simulation.step(DT).unwrap().substeps as usize] += 1;
    }
    let left = (Metrics::of(&mut simulation).unwrap().energy() - 9.0 * G) / (start - 9.0 * G);
    println!("{left} with {seen:?}");
    assert!(seen.iter().filter(|n| **n > 50).count() > 1, "{seen:?}");
    assert!((0.9..1.005).contains(&left), "{left} of the energy is left");
}

#[test]
fn backends_agree() {
    let run = |device: Device| {
        let (mut world, _) = swings(&[1.0, 0.5, 1.5]);
        for body in scenes_of_bodies() {
            world.add(body).unwrap();
        }
        let mut simulation = Simulation::new(world, second(4), device).unwrap();
        for _ in 0..20 {
            simulation.step(DT).unwrap();
        }
        simulation.bodies().unwrap()
    };
    let here = run(CPU);
    on_every_backend(|backend: &Backend| {
        for ((body, a), (_, b)) in here.iter().zip(run(backend.device())) {
            let way = (a.position - b.position).length();
            let faster = (a.linear_velocity - b.linear_velocity).length();
            assert!(way < 1e-4 && faster < 1e-2, "{body:?} on {}: {way} m, {faster} m/s", backend.name());
        }
    });
}

/// A floor, and boxes that fall onto it.
fn scenes_of_bodies() -> Vec<BodyDesc> {
    let floor = BodyDesc::fixed().with(Collider::half_space().friction(0.5));
    let boxes = (0..6).map(|i| {
        let at = Vec3::new(3.0 + i as f32, 0.6 + 0.2 * i as f32, 0.0);
        BodyDesc::dynamic().at(at).spinning(Vec3::Y * i as f32).with(Collider::cuboid(Vec3::splat(0.6)))
    });
    std::iter::once(floor).chain(boxes).collect()
}

#[test]
fn snapshots_know_the_last_step() {
    let (world, _) = swings(&[1.0, 0.5]);
    let mut straight = simulate(world, second(4));
    for _ in 0..20 {
        straight.step(DT).unwrap();
    }
    let bytes = straight.snapshot().unwrap().to_bytes();
    let snapshot = drystone::Snapshot::from_bytes(&bytes).unwrap();
    let mut again = Simulation::from_snapshot(&snapshot, CPU).unwrap();
    for simulation in [&mut straight, &mut again] {
        for _ in 0..20 {
            simulation.step(DT).unwrap();
        }
    }
    let hash = |s: &mut Simulation| Metrics::of(s).unwrap().pose_hash;
    assert_eq!(hash(&mut straight), hash(&mut again));
}

#[test]
fn rotations_of_first_order_are_refused() {
    let error = Settings::paper().with(|s| s.integration = Integration::Bdf2).check().unwrap_err().to_string();
    assert!(error.contains("integration") && error.contains("rotation"), "{error}");
}
