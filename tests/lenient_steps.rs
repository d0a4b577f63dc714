//! Steps that are not strict: what does not fit is left out, and everything else happens.

mod common;

use common::{Backend, on_every_backend};
use drystone::backend::{Device, Runner, RunnerExt};
use drystone::plan::BufferId;
use drystone::plan::step::{StepOptions, StepPlan};
use drystone::state::Capacities;
use drystone::{Settings, Simulation, scenes};
use drystone_kernels::detect::gate::{bit, counter};
use drystone_kernels::detect::manifold::{Manifold, ManifoldEnds};
use drystone_kernels::math::{Pose, Twist};

const DT: f32 = 1.0 / 60.0;

/// Largest difference of positions between backends after a step, in metres: see `tests/primal.rs`.
const NEAR: f32 = 2e-5;

fn options() -> StepOptions {
    StepOptions {
        iterations: 4,
        colours: 6,
        colour_rounds: 8,
        swept_colours: u32::MAX,
        swept_rounds: u32::MAX,
        lanes: 1,
        large_colour: 0,
        strict: false,
        stabilise: true,
        dual: true,
        momentum: true,
        body_poses: false,
        ..StepOptions::default()
    }
}

/// Bodies that lie on each other, without what the steps before knew of contacts.
struct Scene {
    capacities: Capacities,
    /// By name.
    buffers: Vec<(String, Vec<u8>)>,
}

/// What the user says of the world and where it is; the rest belongs to the lists of contacts.
const STATE: [&str; 9] =
    ["params", "bodies", "poses", "starts", "velocities", "previous", "forces", "colliders", "hulls"];

impl Scene {
    fn new() -> Self {
        let world = scenes::drop(120).unwrap();
        let mut simulation = Simulation::new(world, Settings::default(), Device::Cpu { threads: None }).unwrap();
        for _ in 0..90 {
            simulation.step(DT).unwrap();
        }
        let plan = simulation.plan().clone();
        let buffers = (0..)
            .zip(plan.recording.buffers())
            .filter(|(_, info)| STATE.contains(&info.name.as_str()) || info.name.starts_with("hull_"))
            .map(|(id, info)| {
                let mut bytes = vec![0; (u64::from(info.stride) * info.count) as usize];
                simulation.runner().read_bytes(BufferId(id), 0, &mut bytes).unwrap();
                (info.name.clone(), bytes)
            })
            .collect();
        Self { capacities: plan.capacities, buffers }
    }

    /// Steps with room for so many pairs and manifolds: for every entry of `steps` as many, from the start.
    fn run<const N: usize>(&self, backend: &Backend, room: (u32, u32), strict: bool, steps: [u32; N]) -> [Outcome; N] {
        let capacities = Capacities { pairs: room.0, manifolds: room.1, ..self.capacities };
        let plan = StepPlan::new(capacities, StepOptions { strict, ..options() }).unwrap();
        let mut runner = backend.runner(&plan.recording).unwrap();
        steps.map(|steps| {
            for (id, info) in (0..).zip(plan.recording.buffers()) {
                let size = (u64::from(info.stride) * info.count) as usize;
                let state = self.buffers.iter().find(|(name, _)| *name == info.name);
                let bytes = state.map_or_else(|| vec![0; size], |(_, bytes)| bytes.clone());
                runner.write_bytes(BufferId(id), 0, &bytes).unwrap();
            }
            for _ in 0..steps {
                runner.run().unwrap();
            }
            Outcome {
                counters: runner.read(plan.buffers.counters).unwrap(),
                overflow: runner.read(plan.buffers.overflow).unwrap()[0],
                poses: runner.read(plan.buffers.poses).unwrap(),
                velocities: runner.read(plan.buffers.velocities).unwrap(),
                ends: runner.read(plan.buffers.manifolds).unwrap().iter().map(|m: &Manifold| m.ends).collect(),
                everything: read_all(&mut *runner),
            }
        })
    }
}

fn read_all(runner: &mut dyn Runner) -> Vec<Vec<u8>> {
    let sizes: Vec<u64> = runner.recording().buffers().iter().map(|b| u64::from(b.stride) * b.count).collect();
    let read = |(id, size): (u32, u64)| {
        let mut bytes = vec![0; size as usize];
        runner.read_bytes(BufferId(id), 0, &mut bytes).unwrap();
        bytes
    };
    (0..).zip(sizes).map(read).collect()
}

#[derive(Clone)]
struct Outcome {
    counters: Vec<u32>,
    overflow: u32,
    poses: Vec<Pose>,
    velocities: Vec<Twist>,
    ends: Vec<ManifoldEnds>,
    everything: Vec<Vec<u8>>,
}

impl Outcome {
    fn count(&self, counter: u32) -> u32 {
        self.counters[counter as usize]
    }

    fn is_finite(&self) -> bool {
        self.poses.iter().all(|p| p.position.is_finite() && p.rotation.v().is_finite())
            && self.velocities.iter().all(|v| v.linear.is_finite() && v.angular.is_finite())
    }
}

fn apart(a: &Outcome, b: &Outcome) -> f32 {
    a.poses.iter().zip(&b.poses).fold(0.0, |most, (a, b)| most.max((a.position - b.position).length()))
}

/// The CPU backend checks every index that kernels read or write, in the build that tests use. Drivers run the same
/// kernels, and give the same counts, lists and poses here.
#[test]
fn a_step_that_does_not_fit_is_made_without_what_did_not_fit() {
    let scene = Scene::new();
    let room = (scene.capacities.pairs, scene.capacities.manifolds);
    let [whole] = scene.run(&Backend::Cpu, room, false, [1]);
    assert_eq!(whole.overflow, 0);
    let (pairs, manifolds) = (whole.count(counter::PAIRS), whole.count(counter::MANIFOLDS));
    assert!(pairs > manifolds && manifolds > 100, "{pairs} pairs and {manifolds} manifolds");

    // Too few pairs, too few manifolds, too few of both, none.
    let rooms = [(pairs / 2, manifolds), (pairs, manifolds / 2), (pairs / 3, manifolds / 7), (0, 0)];
    let expected = rooms.map(|room| scene.run(&Backend::Cpu, room, false, [1])[0].clone());
    on_every_backend(|backend| {
        for (room, expected) in rooms.into_iter().zip(&expected) {
            let place = format!("room for {room:?} on {}", backend.name());
            let [one, first, second] = scene.run(backend, room, false, [1, 6, 6]);
            // The needed sizes: pairs all, manifolds those of the pairs that fit.
            assert_eq!(one.count(counter::PAIRS), pairs, "{place}");
            assert_eq!(one.count(counter::MANIFOLDS), expected.count(counter::MANIFOLDS), "{place}");
            if room.0 >= pairs {
                assert_eq!(one.count(counter::MANIFOLDS), manifolds, "{place}");
            }
            let bits = u32::from(room.0 < pairs) << bit::PAIRS
                | u32::from(one.count(counter::MANIFOLDS) > room.1) << bit::MANIFOLDS;
            assert!(bits != 0 && one.overflow == bits, "{place}: bits {:#b}, not {bits:#b}", one.overflow);
            // Made, with as much as there is room for.
            assert_eq!(one.count(counter::STEPS), 1, "{place}");
            let solved = one.count(counter::MANIFOLDS).min(room.1);
            assert_eq!(one.count(counter::SOLVED), solved, "{place}");
            assert!(one.is_finite(), "{place}");
            // What is kept is the first part of what there is.
            let kept = solved as usize;
            assert_eq!(one.ends[..kept], whole.ends[..kept], "{place}");
            assert!(apart(&one, expected) < NEAR, "{place}: {} m from the CPU backend", apart(&one, expected));
            if room == (0, 0) {
                let falls = one.velocities.iter().filter(|v| v.linear.y < -0.1).count();
                assert!(falls > 60, "{place}: without contacts bodies fall: {falls}");
            }

            // The same bits again, and after further steps, which start from contacts that were cut off.
            assert!(first.everything == second.everything, "{place}: six steps twice");
            assert_eq!(first.count(counter::STEPS), 6, "{place}");
            assert!(first.is_finite() && first.overflow != 0, "{place}: bits {:#b}", first.overflow);
        }
    });
}

#[test]
fn a_strict_step_that_does_not_fit_changes_nothing() {
    let scene = Scene::new();
    on_every_backend(|backend| {
        let [none, strict] = scene.run(backend, (10, 10), true, [0, 1]);
        assert!(strict.overflow != 0, "{}", backend.name());
        assert_eq!(strict.count(counter::STEPS), 0, "{}", backend.name());
        assert!(strict.poses == none.poses && strict.velocities == none.velocities, "{}", backend.name());
    });
}
