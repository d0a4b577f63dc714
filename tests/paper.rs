//! The published scheme, `AvbdSettings::paper()`: closed forms, what the paper claims, and that stiffness is kept for
//! every row by itself. What it makes of the papers' scenes is in `docs/paper_settings.md`, made by
//! `examples/paper_table.rs`.

mod common;

use common::{Backend, on_every_backend};
use drystone::backend::{Device, RunnerExt};
use drystone::glam::{Quat, Vec3};
use drystone::metrics::Metrics;
use drystone::state::Capacities;
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, World};
use drystone::{AvbdSettings, PrimalForm, RotationForm, Settings, Simulation, scenes};
use drystone_kernels::finish::stiffness_store::ROWS;
use drystone_kernels::gpu::glam::UVec4;
use std::f32::consts::TAU;

const DT: f32 = 1.0 / 60.0;
const G: f32 = 9.81;
const CPU: Device = Device::Cpu { threads: Some(1) };

fn paper(iterations: u32) -> Settings {
    Settings::paper().with(|s| s.iterations = iterations)
}

/// The published scheme with something changed.
fn changed(iterations: u32, change: impl FnOnce(&mut AvbdSettings)) -> Settings {
    paper(iterations).with(|s| s.solver = AvbdSettings::paper().with(change).into())
}

/// A cube of 1 m and 1000 kg on a floor with this coefficient of friction.
fn on_floor(mu: f32, velocity: Vec3) -> (World, BodyHandle) {
    let mut world = World::new();
    world.add(BodyDesc::fixed().with(Collider::half_space().friction(mu))).unwrap();
    let cube = Collider::cuboid(Vec3::new(1.0, 0.5, 1.0)).friction(mu);
    let body = world.add(BodyDesc::dynamic().at(Vec3::Y * 0.25).moving(velocity).with(cube)).unwrap();
    (world, body)
}

fn run(simulation: &mut Simulation, steps: u32) {
    for _ in 0..steps {
        simulation.step(DT).unwrap();
    }
}

#[test]
fn a_free_fall_is_that_of_backward_euler() {
    on_every_backend(|backend| {
        let mut world = World::new();
        let body = world.add(BodyDesc::dynamic().moving(Vec3::X * 3.0).with(Collider::sphere(0.5))).unwrap();
        let mut simulation = Simulation::new(world, paper(4), backend.device()).unwrap();
        run(&mut simulation, 60);
        // v falls by g dt a step, and the body goes v dt: 1 + 2 + ... + 60 times g dt^2.
        let expected = Vec3::new(3.0, -G * DT * DT * 1830.0, 0.0);
        let position = simulation.body(body).unwrap().position;
        assert!((position - expected).length() < 1e-4, "{}: {position}, not {expected}", backend.name());
    });
}

#[test]
fn a_box_at_rest_sinks_a_little_and_lies_still() {
    // Eq. 19 takes 1 - alpha gamma = 6% of the multiplier every step, and the iterations put it back with the error
    // that Eq. 18 leaves, (1 - alpha) C0: so there has to be some overlap at rest.
    on_every_backend(|backend| {
        let (world, body) = on_floor(0.5, Vec3::ZERO);
        let mut simulation = Simulation::new(world, paper(4), backend.device()).unwrap();
        run(&mut simulation, 120);
        let (state, place) = (simulation.body(body).unwrap(), backend.name());
        let sunk = 0.25 - state.position.y;
        assert!(sunk > 0.0 && sunk < 1e-3, "{place}: {sunk} m");
        assert!(state.linear_velocity.length() < 2e-3, "{place}: {} m/s", state.linear_velocity);
        let drift = state.position.x.abs().max(state.position.z.abs());
        assert!(drift < 1e-4, "{place}: {drift} m aside");
    });
}

#[test]
fn sliding_bodies_stop_where_coulomb_says_when_there_are_iterations_enough() {
    // v^2 / (2 mu g), from a standing start of the multipliers.
    let off = |iterations: u32, device: Device| {
        let (world, body) = on_floor(0.5, Vec3::X * 5.0);
        let mut simulation = Simulation::new(world, paper(iterations), device).unwrap();
        run(&mut simulation, 90);
        simulation.body(body).unwrap().position.x / (25.0 / (2.0 * 0.5 * G)) - 1.0
    };
    let (few, many) = (off(4, CPU), off(40, CPU));
    assert!(many.abs() < 0.05, "off by {many} at 40 iterations");
    assert!(many.abs() < few.abs() + 0.01, "{few} at 4 iterations, {many} at 40");
    on_every_backend(|backend| {
        let found = off(4, backend.device());
        assert!((found - few).abs() < 0.02, "{}: off by {found}, on the CPU by {few}", backend.name());
    });
}

#[test]
fn a_hinge_swings_with_its_period() {
    // A bar of 1 m about its end: T = 2 pi sqrt(2 L / (3 g)), and for 0.2 rad 0.25% longer.
    on_every_backend(|backend| {
        let mut world = World::new();
        let bar = Collider::cuboid(Vec3::new(0.1, 1.0, 0.1));
        let angle = 0.2f32;
        let turn = Quat::from_rotation_z(angle);
        let bar = world.add(BodyDesc::dynamic().at(turn * Vec3::Y * -0.5).turned(turn).with(bar)).unwrap();
        let hinge = JointDesc::hinge(bar, None).anchors(Vec3::Y * 0.5, Vec3::ZERO).about(Vec3::Z, Vec3::Z);
        world.add_joint(hinge).unwrap();
        let mut simulation = Simulation::new(world, paper(4), backend.device()).unwrap();
        let mut crossings = Vec::new();
        let mut before = 1.0f32;
        for step in 0..200 {
            simulation.step(DT).unwrap();
            let x = simulation.body(bar).unwrap().position.x;
            if before > 0.0 && x <= 0.0 {
                crossings.push((step as f32 + before / (before - x)) * DT);
            }
            before = x;
        }
        let period = crossings[1] - crossings[0];
        let expected = TAU * (2.0 / (3.0 * G)).sqrt();
        assert!((period / expected - 1.0).abs() < 0.02, "{}: {period} s, not {expected}", backend.name());
    });
}

/// A ball of 1 kg that hangs on a spring of `stiffness` N/m and 1 m.
fn on_spring(stiffness: f32) -> (World, BodyHandle) {
    let mut world = World::new();
    let ball = BodyDesc::dynamic().at(Vec3::Y * -1.0).with(Collider::sphere(0.1)).weighing(1.0);
    let ball = world.add(ball).unwrap();
    let critical = 2.0 * stiffness.sqrt();
    world.add_joint(JointDesc::spring(ball, None, 1.0, stiffness, 0.5 * critical)).unwrap();
    (world, ball)
}

#[test]
fn a_soft_spring_has_its_length_and_a_stiff_one_comes_to_it() {
    // Eq. 16: below k_start a spring has its stiffness at once; above, k grows with the error, step by step.
    on_every_backend(|backend| {
        for (stiffness, near) in [(50.0, 1e-3), (400.0, 1e-3)] {
            let (world, ball) = on_spring(stiffness);
            let mut simulation = Simulation::new(world, paper(4), backend.device()).unwrap();
            run(&mut simulation, 240);
            let length = -simulation.body(ball).unwrap().position.y;
            let expected = 1.0 + G / stiffness;
            assert!((length - expected).abs() < near, "{}: {length} m, not {expected}", backend.name());
        }
    });
}

#[test]
fn springs_of_ten_thousand_to_one_converge_with_iterations() {
    // Figure 2: the length of the weak one at rest, 1 + 2 m g / k, is not falsified by the stiff one.
    for iterations in [5, 20] {
        let world = scenes::spring_ratio(1e4).unwrap();
        let handles: Vec<_> = world.handles().collect();
        let mut simulation = Simulation::new(world, paper(iterations), CPU).unwrap();
        run(&mut simulation, 900);
        let heights: Vec<f32> = handles.iter().map(|h| simulation.body(*h).unwrap().position.y).collect();
        let weak = heights[0] - heights[1];
        let expected = 1.0 + 2.0 * G / 100.0;
        assert!((weak / expected - 1.0).abs() < 0.02, "{iterations}: {weak} m, not {expected}");
    }
}

#[test]
fn the_first_order_rotation_loses_spin_and_the_exact_one_does_not() {
    // Eq. 20 takes 2 sin(w dt / 2) of an angle whose half Eq. 21 turned by atan(w dt / 2): 1 - (w dt)^2 / 8 - ... a
    // step.
    let spin = |rotation: RotationForm| {
        let mut world = World::new();
        world.set_gravity(Vec3::ZERO).unwrap();
        let body = BodyDesc::dynamic().spinning(Vec3::Y * 10.0).with(Collider::sphere(0.5));
        let body = world.add(body).unwrap();
        let settings = changed(4, |a| a.rotation = rotation);
        let mut simulation = Simulation::new(world, settings, CPU).unwrap();
        run(&mut simulation, 60);
        simulation.body(body).unwrap().angular_velocity.y
    };
    let (first, exact) = (spin(RotationForm::FirstOrder), spin(RotationForm::Exact));
    // dw/dn = -w^3 dt^2 / 8: w = w0 / sqrt(1 + w0^2 dt^2 n / 4).
    let expected = 10.0 / (1.0 + 100.0 * DT * DT * 60.0 / 4.0f32).sqrt();
    assert!((first / expected - 1.0).abs() < 0.01, "{first} rad/s, not {expected}");
    assert!((exact - 10.0).abs() < 1e-3, "{exact} rad/s");
}

/// Floats of a vector.
fn floats(v: UVec4) -> [f32; 4] {
    v.to_array().map(f32::from_bits)
}

/// Stiffness of the rows of the first manifold: tangent, bitangent, normal, four points each.
fn kept(simulation: &mut Simulation) -> Vec<[f32; 4]> {
    let buffer = simulation.plan().buffers.cached_stiffness;
    simulation.runner().read(buffer).unwrap().into_iter().take(ROWS as usize).map(floats).collect()
}

#[test]
fn every_row_of_a_contact_keeps_its_own_stiffness() {
    on_every_backend(|backend| {
        let place = backend.name();
        // A box that slides along x: its rows have different errors, so with Eq. 12 they get different stiffness.
        let (world, _) = on_floor(0.5, Vec3::new(0.5, 0.0, 0.0));
        let mut simulation = Simulation::new(world, paper(4), backend.device()).unwrap();
        run(&mut simulation, 40);
        let [tangent, bitangent, normal] = kept(&mut simulation)[..] else { panic!("three rows") };
        let apart = |a: f32, b: f32| (a - b).abs() > 1e-3 * b;
        assert!((0..4).all(|i| apart(tangent[i], bitangent[i]) || apart(tangent[i], normal[i])), "{place}");

        // Without growth (beta 0), the next step has gamma times what was kept, row by row, between k_start and k_max
        // (Eq. 19).
        let (world, body) = on_floor(0.5, Vec3::ZERO);
        let settings = changed(4, |a| a.beta = 0.0);
        let mut simulation = Simulation::new(world, settings, backend.device()).unwrap();
        run(&mut simulation, 2);
        let mass = simulation.world().mass(body).unwrap();
        let unit = 0.5 * mass / (DT * DT);
        let start = kept(&mut simulation);
        assert!(
            start.iter().flatten().all(|k| (k / unit - 1.0).abs() < 1e-3),
            "{place}: {start:?}, one unit is {unit}"
        );
        let set: Vec<[f32; 4]> = [[3.0, 0.5, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 1e9]].to_vec();
        let words: Vec<_> = set.iter().map(|row| UVec4::from_array(row.map(|k| (k * unit).to_bits()))).collect();
        let buffer = simulation.plan().buffers.cached_stiffness;
        simulation.runner().write(buffer, &words).unwrap();
        run(&mut simulation, 1);
        for (row, (was, is)) in set.iter().zip(kept(&mut simulation)).enumerate() {
            for (was, is) in was.iter().zip(is) {
                let expected = (0.99 * was).clamp(1.0, 1e6);
                assert!((is / unit / expected - 1.0).abs() < 1e-3, "{place}, row {row}: {} of {was}", is / unit);
            }
        }
    });
}

#[test]
fn every_row_of_a_joint_keeps_its_own_stiffness() {
    on_every_backend(|backend| {
        let place = backend.name();
        let mut world = World::new();
        let bar = BodyDesc::dynamic().at(Vec3::X * 0.5).with(Collider::cuboid(Vec3::new(1.0, 0.1, 0.1)));
        let bar = world.add(bar).unwrap();
        world.add_joint(JointDesc::ball(bar, None).anchors(Vec3::X * -0.5, Vec3::ZERO)).unwrap();
        let settings = changed(4, |a| a.beta_joint = 0.0);
        let mut simulation = Simulation::new(world, settings, backend.device()).unwrap();
        run(&mut simulation, 1);
        let buffer = simulation.plan().buffers.joints.states;
        let mut states = simulation.runner().read(buffer).unwrap();
        for (state, k) in states.iter_mut().zip([3.0, 50.0, 700.0]) {
            state.k = k * state.unit;
        }
        let units: Vec<f32> = states.iter().map(|s| s.unit).collect();
        simulation.runner().write(buffer, &states).unwrap();
        run(&mut simulation, 1);
        let now = simulation.runner().read(buffer).unwrap();
        for ((state, unit), was) in now.iter().zip(units).zip([3.0, 50.0, 700.0]) {
            assert!((state.k / (0.99 * was * unit) - 1.0).abs() < 1e-4, "{place}: {} of {was}", state.k / unit);
        }
    });
}

#[test]
fn other_solvers_make_no_room_for_it() {
    let world = scenes::pyramid(4).unwrap();
    let simulation = Simulation::new(world.clone(), Settings::default(), CPU).unwrap();
    let count =
        |s: &Simulation, name: &str| s.plan().recording.buffers().iter().find(|b| b.name == name).map(|b| b.count);
    assert_eq!(count(&simulation, "cached_stiffness"), Some(1));
    let simulation = Simulation::new(world, Settings::paper(), CPU).unwrap();
    assert!(count(&simulation, "cached_stiffness") > Some(30));
}

#[test]
fn tiny_capacities_change_nothing() {
    // What is kept of rows survives growth.
    let hash = |capacities: Capacities, backend: &Backend| {
        let world = scenes::drop(40).unwrap();
        let mut simulation = Simulation::with_capacities(world, paper(4), backend.device(), capacities).unwrap();
        let grown: u32 = (0..80).map(|_| simulation.step(DT).unwrap().grown).sum();
        (Metrics::of(&mut simulation).unwrap().pose_hash, grown)
    };
    on_every_backend(|backend| {
        let tiny = Capacities { bodies: 1, colliders: 1, pairs: 1, manifolds: 1, edits: 1, ..Default::default() };
        let large = Capacities { bodies: 100, colliders: 100, pairs: 10_000, manifolds: 5000, edits: 100, ..tiny };
        let (first, grown) = hash(large, backend);
        assert_eq!(grown, 0, "large enough");
        let (small, grown) = hash(tiny, backend);
        assert!(grown > 1, "the small one had to grow");
        assert_eq!(small, first, "on {}", backend.name());
    });
}

#[test]
fn every_scene_runs_with_it() {
    for name in scenes::NAMES.iter().copied() {
        let few = match name {
            "joint_grid" => vec![("side", 8.0)],
            "pile" => vec![("bodies", 200.0), ("hit", 0.2)],
            "ragdolls" => vec![("count", 4.0)],
            "ragdoll_cloth" => vec![("part", 0.003)],
            "drop" => vec![("bodies", 60.0), ("hulls", 1.0)],
            "pyramid" => vec![("base", 10.0)],
            _ => vec![],
        };
        let parameters = few.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let scene = scenes::build(name, &parameters).unwrap();
        let mut script = scenes::Script::new(&scene);
        let mut simulation = Simulation::new(scene.world, scene.settings.published(), CPU).unwrap();
        for step in 0..45 {
            script.before_step(&mut simulation, f64::from(step) * f64::from(DT), DT).unwrap();
            simulation.step(DT).unwrap();
        }
        let end = Metrics::of(&mut simulation).unwrap();
        assert!(end.quarantined == 0 && end.energy().is_finite(), "{name}: {end:?}");
    }
}

#[test]
fn the_table_of_numbers_has_every_setting() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/numbers.md");
    let text = std::fs::read_to_string(path).unwrap();
    let row = |name: &str| text.lines().find(|l| l.starts_with(&format!("| `{name}` |"))).map(str::to_owned);
    let (own, paper) = (Settings::default(), Settings::paper());
    let paper: std::collections::BTreeMap<_, _> = paper.named().collect();
    for (name, value) in own.named() {
        let row = row(name).unwrap_or_else(|| panic!("{name} has no row"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells[2].parse::<f32>().ok(), Some(value as f32), "{row}");
        let published = if cells[3].is_empty() { cells[2] } else { cells[3] };
        assert_eq!(published.parse::<f32>().ok(), Some(paper[name] as f32), "{row}");
        assert!(cells.len() >= 7 && cells[4..7].iter().all(|c| !c.is_empty()), "{row}");
    }
    // Other solvers' own.
    for solver in [1.0, 3.0, 4.0, 5.0] {
        let settings = own.with(|s| s.set("solver", solver).unwrap());
        for (name, value) in settings.named().filter(|(name, _)| own.named().all(|(known, _)| known != *name)) {
            let row = row(name).unwrap_or_else(|| panic!("{name} has no row"));
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(cells[2].parse::<f32>().ok(), Some(value as f32), "{row}");
        }
    }
}

#[test]
fn backends_and_lanes_agree_on_its_steps() {
    // A pyramid that settles, with a chain of two bars beside it and without: all stages that know of rows.
    let mut world = scenes::pyramid(5).unwrap();
    let bar = |x: f32| BodyDesc::dynamic().at(Vec3::new(x, 4.0, 9.0)).with(Collider::cuboid(Vec3::new(1.0, 0.2, 0.2)));
    let (a, b) = (world.add(bar(0.5)).unwrap(), world.add(bar(1.5)).unwrap());
    world.add_joint(JointDesc::ball(a, None).anchors(Vec3::X * -0.5, Vec3::new(0.0, 4.0, 9.0))).unwrap();
    world.add_joint(JointDesc::ball(b, a).anchors(Vec3::X * -0.5, Vec3::X * 0.5)).unwrap();
    let without = scenes::pyramid(5).unwrap();
    for world in [world, without] {
        let states = |device: Device, lanes: u32| {
            let settings = paper(4).with(|s| s.primal = PrimalForm::Lanes(lanes));
            let mut simulation = Simulation::new(world.clone(), settings, device).unwrap();
            run(&mut simulation, 12);
            simulation.bodies().unwrap()
        };
        let here = states(CPU, 1);
        on_every_backend(|backend| {
            for lanes in [1, 4] {
                for ((handle, a), (_, b)) in here.iter().zip(states(backend.device(), lanes)) {
                    let way = (a.position - b.position).length();
                    assert!(way < 1e-4, "{handle:?} on {} with {lanes} lanes: {way} m apart", backend.name());
                }
            }
        });
    }
}
