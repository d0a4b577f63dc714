//! Sub-steps that the device chooses: the scenes of "Adaptive Sub-stepping", and that choosing changes nothing else.

mod common;

use common::{Backend, on_every_backend};
use drystone::backend::Device;
use drystone::glam::Vec3;
use drystone::metrics::Metrics;
use drystone::state::Capacities;
use drystone::world::{BodyDesc, Collider, World};
use drystone::{Settings, Simulation, StepReport, scenes};

const DT: f32 = 1.0 / 60.0;
const CPU: Device = Device::Cpu { threads: Some(1) };

fn adaptive(iterations: u32, most: u32) -> Settings {
    Settings::default().with(|s| (s.iterations, s.substeps_most) = (iterations, most))
}

fn simulate(world: World, settings: Settings) -> Simulation {
    Simulation::new(world, settings, CPU).unwrap()
}

fn place(simulation: &mut Simulation, name: &str) -> Vec3 {
    let body = simulation.world().find(name).unwrap();
    simulation.body(body).unwrap().position
}

/// Energy behind every frame, over that of the same scene at rest.
fn energies(settings: Settings, seconds: u32) -> Vec<f64> {
    let mut simulation = simulate(scenes::swinging_box(25, 1000.0).unwrap(), settings);
    let rest = Metrics::of(&mut simulation).unwrap().potential_energy;
    let frames = (0..seconds * 60).map(|_| {
        simulation.step(DT).unwrap();
        Metrics::of(&mut simulation).unwrap().energy() - rest
    });
    frames.collect()
}

fn seconds(default: u32) -> u32 {
    std::env::var("SUBSTEPS_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

#[test]
fn a_swinging_box_keeps_the_energy_that_short_steps_keep() {
    let time = seconds(20);
    let reference = energies(Settings::default().with(|s| (s.iterations, s.substeps) = (10, 16)), time);
    let found = energies(adaptive(10, 30), time);
    let one = energies(Settings::default().with(|s| s.iterations = 10), time);
    let off = |of: &[f64]| of.iter().zip(&reference).map(|(e, r)| ((e - r) / reference[0]).abs()).fold(0.0, f64::max);
    let end = |of: &[f64]| of[of.len() - 1] / of[0];
    println!("{time} s leave {:.4}, adaptive {:.4}, one step {:.4}", end(&reference), end(&found), end(&one));
    assert!(off(&found) < 0.02, "adaptive is off by {:.2}%", 100.0 * off(&found));
    assert!(off(&one) > 0.02, "one step is off by {:.2}%, too", 100.0 * off(&one));
}

#[test]
fn most_sub_steps_are_at_the_bottom_of_the_swing() {
    let mut simulation = simulate(scenes::swinging_box(25, 1000.0).unwrap(), adaptive(10, 30));
    let mut frames = Vec::new();
    for frame in 0..15 * 60 {
        let report = simulation.step(DT).unwrap();
        let z = place(&mut simulation, "box").z.abs();
        // The links begin at rest, and wave for a while.
        if frame > 240 {
            frames.push((report.substeps, z));
        }
        assert_eq!((report.dropped, report.short_frames), (0, 0), "frame {frame}: {report:?}");
    }
    let highest = frames.iter().map(|f| f.1).fold(0.0, f32::max);
    let mean = |of: &dyn Fn(f32) -> bool| {
        let counts: Vec<_> = frames.iter().filter(|f| of(f.1 / highest)).map(|f| f64::from(f.0)).collect();
        counts.iter().sum::<f64>() / counts.len() as f64
    };
    let (bottom, top) = (mean(&|z| z < 0.2), mean(&|z| z > 0.9));
    let most = frames.iter().max_by_key(|f| f.0).unwrap();
    assert!(bottom > top + 0.5, "{bottom} at the bottom, {top} at the ends");
    assert!((7..=11).contains(&most.0), "{most:?}");
    assert!(most.1 < 0.6 * highest, "{most:?}");
}

#[test]
fn a_bridge_needs_fewer_when_the_ball_has_left_it() {
    let mut simulation = simulate(scenes::swinging_bridge(20).unwrap(), adaptive(10, 30));
    let (mut on, mut off) = (Vec::new(), Vec::new());
    for _ in 0..20 * 60 {
        let report = simulation.step(DT).unwrap();
        let ball = place(&mut simulation, "ball");
        if ball.y > 1.5 { &mut on } else { &mut off }.push(report.substeps);
    }
    let mean = |of: &[u32]| f64::from(of.iter().sum::<u32>()) / of.len() as f64;
    assert!(off.len() > 60, "the ball left it");
    assert!(mean(&off[30..]) < 0.5 * mean(&on), "{} and then {}", mean(&on), mean(&off[30..]));
}

#[test]
fn a_heavy_stack_stands() {
    for (mass, stability) in [(1e4, 0.1), (2e4, 0.05)] {
        let settings = adaptive(25, 40).with(|s| s.stability = stability);
        let mut simulation = simulate(scenes::heavy_stack(4, mass).unwrap(), settings);
        let start = place(&mut simulation, "box");
        let mut counts = Vec::new();
        for _ in 0..10 * 60 {
            counts.push(simulation.step(DT).unwrap().substeps);
        }
        let way = place(&mut simulation, "box") - start;
        assert!(way.y.abs() < 0.01 * start.y && way.length() < 0.05, "{mass} kg went {way}");
        let most = counts[60..].iter().max().unwrap();
        assert!((12..=30).contains(most), "{most} sub-steps");
    }
}

#[test]
fn nothing_blows_up_whatever_the_numbers() {
    let worlds = || {
        [
            ("swinging_box", scenes::swinging_box(8, 300.0).unwrap()),
            ("swinging_bridge", scenes::swinging_bridge(8).unwrap()),
            ("heavy_stack", scenes::heavy_stack(2, 2000.0).unwrap()),
        ]
    };
    let mut wrong = Vec::new();
    for (stability, most, iterations, dt) in [
        (0.02, 1, 1, 1.0 / 30.0),
        (0.02, 7, 50, 1.0 / 60.0),
        (0.02, 60, 4, 1.0 / 120.0),
        (0.02, 60, 1, 1.0 / 60.0),
        (0.1, 2, 4, 1.0 / 30.0),
        (0.1, 20, 1, 1.0 / 120.0),
        (0.1, 20, 10, 1.0 / 60.0),
        (0.3, 1, 50, 1.0 / 120.0),
        (0.3, 5, 1, 1.0 / 60.0),
        (0.3, 60, 20, 1.0 / 30.0),
    ] {
        for (name, world) in worlds() {
            let settings = adaptive(iterations, most).with(|s| s.stability = stability);
            let mut simulation = simulate(world, settings);
            let start = Metrics::of(&mut simulation).unwrap();
            let mut most_energy = f64::MIN;
            for _ in 0..(2.0 / dt) as u32 {
                simulation.step(dt).unwrap();
                most_energy = most_energy.max(Metrics::of(&mut simulation).unwrap().energy());
            }
            let end = Metrics::of(&mut simulation).unwrap();
            // As a part of all that it could turn into motion.
            let gain = (most_energy - start.energy()) / start.energy();
            let told = format!("{name} {stability} {most} {iterations} {dt}: gain {gain:.5}, speed {}", end.max_speed);
            let sound = end.quarantined == 0 && gain < 0.2 && end.max_speed < 40.0;
            if !sound {
                wrong.push(told);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Boxes on each other, and a chain beside them.
fn some_world() -> World {
    let mut world = scenes::heavy_stack(2, 200.0).unwrap();
    for i in 0..6 {
        let at = Vec3::new(20.0, 0.5 + 1.01 * i as f32, 0.05 * i as f32);
        world.add(BodyDesc::dynamic().at(at).with(Collider::cuboid(Vec3::ONE))).unwrap();
    }
    for chain in 0..2 {
        let at = Vec3::new(30.0 + chain as f32 * 3.0, 9.0, 0.0);
        let mut last = None;
        for i in 0..5 {
            let point = at + Vec3::X * 0.5 * i as f32;
            let bar = BodyDesc::dynamic().at(point + Vec3::X * 0.25).with(Collider::cuboid(Vec3::new(0.5, 0.1, 0.1)));
            let bar = world.add(bar).unwrap();
            let joint = drystone::world::JointDesc::ball(bar, last).placed(&world, point, Default::default());
            world.add_joint(joint.unwrap()).unwrap();
            last = Some(bar);
        }
    }
    world
}

fn hash(simulation: &mut Simulation) -> u64 {
    Metrics::of(simulation).unwrap().pose_hash
}

#[test]
fn sub_steps_that_do_not_fit_are_made_again() {
    let run = |capacities: Option<Capacities>| {
        let world = some_world();
        let settings = adaptive(4, 12);
        let mut simulation = match capacities {
            Some(room) => Simulation::with_capacities(world, settings, CPU, room).unwrap(),
            None => simulate(world, settings),
        };
        let reports: Vec<StepReport> = (0..60).map(|_| simulation.step(DT).unwrap()).collect();
        let grown: u32 = reports.iter().map(|r| r.grown).sum();
        let counts: Vec<_> = reports.iter().map(|r| (r.substeps, r.dropped)).collect();
        (hash(&mut simulation), counts, grown)
    };
    let (usual, tiny) = (run(None), run(Some(Capacities { pairs: 1, manifolds: 1, ..Capacities::default() })));
    assert!(tiny.2 > usual.2, "lists had to grow");
    assert_eq!((usual.0, usual.1), (tiny.0, tiny.1));
}

#[test]
fn backends_choose_alike_and_choosing_changes_nothing_else() {
    let chosen = |device: Device| {
        let mut simulation = Simulation::new(some_world(), adaptive(4, 12), device).unwrap();
        let reports: Vec<_> = (0..10).map(|_| simulation.step(DT).unwrap()).collect();
        let counts: Vec<_> = reports.iter().map(|r| (r.substeps, r.substeps_wanted)).collect();
        (counts, simulation.bodies().unwrap(), simulation.steps())
    };
    let here = chosen(CPU);
    let all: u32 = here.0.iter().map(|c| c.0).sum();
    assert_eq!(u64::from(all), here.2, "those that were made are those that are told");
    assert!(here.0.iter().any(|c| c.0 > 1), "{:?}", here.0);
    on_every_backend(|backend| {
        let there = chosen(backend.device());
        assert_eq!(here.0, there.0, "on {}", backend.name());
        for ((body, a), (_, b)) in here.1.iter().zip(&there.1) {
            let way = (a.position - b.position).length();
            assert!(way < 1e-3, "{body:?} on {}: {way} m apart", backend.name());
        }
        // As many at least as at most is the same as so many, to the bit.
        let frames = if matches!(backend, Backend::Cpu) { 60 } else { 6 };
        let run = |settings: Settings| {
            let mut simulation = Simulation::new(some_world(), settings, backend.device()).unwrap();
            let last = (0..frames).map(|_| simulation.step(DT).unwrap()).last().unwrap();
            (hash(&mut simulation), simulation.steps(), last.substeps)
        };
        let fixed = Settings::default().with(|s| s.substeps = 3);
        assert_eq!(run(fixed), run(fixed.with(|s| s.substeps_most = 3)), "on {}", backend.name());
    });
}

#[test]
fn frames_that_want_more_than_there_may_be_are_counted() {
    let mut simulation = simulate(scenes::swinging_box(25, 1000.0).unwrap(), adaptive(10, 4));
    let reports: Vec<_> = (0..60).map(|_| simulation.step(DT).unwrap()).collect();
    let short = reports.iter().filter(|r| r.substeps_wanted > 4).count() as u32;
    let last = reports.last().unwrap();
    assert!(short > 50 && last.short_frames == short && last.substeps == 4, "{short}: {last:?}");
}

#[test]
fn snapshots_know_what_the_next_frame_needs() {
    let mut straight = simulate(some_world(), adaptive(4, 12));
    for _ in 0..20 {
        straight.step(DT).unwrap();
    }
    let snapshot = straight.snapshot().unwrap();
    let mut again = Simulation::from_snapshot(&snapshot, CPU).unwrap();
    for frame in 0..10 {
        let (a, b) = (straight.step(DT).unwrap(), again.step(DT).unwrap());
        assert_eq!((a.substeps, a.substeps_wanted), (b.substeps, b.substeps_wanted), "frame {frame}");
    }
    assert_eq!(hash(&mut straight), hash(&mut again));
}

#[test]
fn bounds_that_make_no_sense_are_refused() {
    let wrong = Settings::default().with(|s| (s.substeps, s.substeps_most) = (4, 3));
    let error = wrong.check().unwrap_err().to_string();
    assert!(error.contains("substeps_most") && error.contains("substeps or more"), "{error}");
    for value in [0.0, 1.5, f64::NAN] {
        assert!(Settings::default().set("stability", value).is_err());
    }
}

#[test]
fn what_is_asked_behind_a_frame_sees_it_as_it_is() {
    // The hierarchy is built again for queries, behind sub-steps that were left out.
    let mut simulation = simulate(some_world(), adaptive(4, 12));
    for _ in 0..5 {
        simulation.step(DT).unwrap();
    }
    let mut batch = drystone::queries::QueryBatch::new();
    batch.ray(Vec3::new(20.0, 50.0, 0.1), Vec3::NEG_Y, 100.0, Default::default()).unwrap();
    let results = simulation.query(&batch).unwrap();
    let hit = results.rays[0].as_ref().expect("the stack is below");
    assert!((hit.distance - 44.0).abs() < 0.1, "{hit:?}");
}
