//! Variants of the primal pass: lanes a body, and two ways to solve its system. They differ in the order of sums and of
//! elimination, and must agree within [`NEAR`].

mod common;

use common::{Backend, Random, on_every_backend};
use drystone::backend::{Device, RunnerExt};
use drystone::plan::BufferId;
use drystone::plan::step::{StepOptions, StepPlan};
use drystone::{PrimalForm, Settings, Simulation, SolveForm, glam::Vec3, scenes};
use drystone_kernels::detect::gate::counter;
use drystone_kernels::gpu::{Vector, Wide};
use drystone_kernels::math::{Pose, Rotation};
use drystone_kernels::solve::system::{System, Systems, Twists};
use drystone_kernels::solve::turns::Turns;
use drystone_kernels::state::rigid::{ColourRange, option};

/// Largest difference after a step, in metres and in parts of a turn's quaternion. The bodies are about a metre large
/// and move by up to 0.1 m in the step. They have just fallen onto each other: points that begin or cease to push in
/// one form and not in the other make a thousand times as much of rounding.
const NEAR: f32 = 5e-4;

fn options() -> StepOptions {
    StepOptions {
        iterations: 4,
        colours: 3,
        colour_rounds: 8,
        swept_colours: u32::MAX,
        swept_rounds: u32::MAX,
        lanes: 1,
        large_colour: 0,
        strict: true,
        stabilise: true,
        dual: true,
        body_poses: false,
        momentum: true,
        ..StepOptions::default()
    }
}

/// A warm state, and the plan it belongs to.
struct Warm {
    plan: StepPlan,
    state: Vec<Vec<u8>>,
}

impl Warm {
    /// Spheres, boxes and capsules that have just fallen onto each other.
    fn new() -> Self {
        let settings = Settings::default().with(|s| (s.iterations, s.colours) = (4, 3));
        let mut simulation =
            Simulation::new(scenes::drop(150).unwrap(), settings, Device::Cpu { threads: None }).unwrap();
        for _ in 0..95 {
            simulation.step(1.0 / 60.0).unwrap();
        }
        let plan = simulation.plan().clone();
        let sizes = plan.recording.buffers().iter().map(|b| u64::from(b.stride) * b.count);
        let state = (0..)
            .zip(sizes)
            .map(|(id, size)| {
                let mut bytes = vec![0; size as usize];
                simulation.runner().read_bytes(BufferId(id), 0, &mut bytes).unwrap();
                bytes
            })
            .collect();
        Self { plan, state }
    }

    /// A step from this state.
    fn step(&self, backend: &Backend, options: StepOptions, solve: SolveForm) -> Outcome {
        self.step_from(backend, options, solve, false)
    }

    /// The same, on request with one colour for all bodies to begin with.
    fn step_from(&self, backend: &Backend, options: StepOptions, solve: SolveForm, one_colour: bool) -> Outcome {
        let plan = StepPlan::new(self.plan.capacities, options).unwrap();
        let mut runner = backend.runner(&plan.recording).unwrap();
        for (id, bytes) in (0..).zip(&self.state) {
            runner.write_bytes(BufferId(id), 0, bytes).unwrap();
        }
        let mut params = runner.read_at(plan.buffers.params, 0).unwrap();
        params.options = params.options & !option::SCHUR | if solve == SolveForm::Schur { option::SCHUR } else { 0 };
        runner.write(plan.buffers.params, &[params]).unwrap();
        if one_colour {
            let bodies = self.plan.capacities.bodies as usize;
            runner.write(plan.buffers.colours, &vec![0; bodies]).unwrap();
        }
        runner.run().unwrap();
        let counters = runner.read(plan.buffers.counters).unwrap();
        Outcome {
            poses: runner.read(plan.buffers.poses).unwrap(),
            ranges: runner.read(plan.buffers.ranges).unwrap(),
            fallback: counters[counter::FALLBACK as usize],
            colours: counters[counter::COLOURS as usize],
            rounds: counters[counter::ROUNDS as usize],
        }
    }
}

struct Outcome {
    poses: Vec<Pose>,
    ranges: Vec<ColourRange>,
    fallback: u32,
    colours: u32,
    rounds: u32,
}

fn components(pose: &Pose) -> [f32; 7] {
    let (p, r) = (pose.position, pose.rotation);
    [p.x, p.y, p.z, r.x, r.y, r.z, r.s]
}

fn difference(a: &Outcome, b: &Outcome) -> f32 {
    let pairs = a.poses.iter().zip(&b.poses);
    pairs.flat_map(|(a, b)| components(a).into_iter().zip(components(b))).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

#[test]
fn all_variants_agree_on_every_backend() {
    let warm = Warm::new();
    let expected = warm.step(&Backend::Cpu, options(), SolveForm::Ldl);
    assert!(expected.fallback > 0, "the fallback is part of it");
    on_every_backend(|backend| {
        let is_cpu = matches!(backend, Backend::Cpu);
        let single = warm.step(backend, options(), SolveForm::Ldl);
        for solve in [SolveForm::Ldl, SolveForm::Schur] {
            for lanes in [1, 2, 4, 8, 64] {
                let options = StepOptions { lanes, large_colour: u32::MAX, ..options() };
                let outcome = warm.step(backend, options, solve);
                let place = format!("{lanes} lanes, {solve:?} on {}", backend.name());
                let worst = difference(&outcome, &expected);
                assert!(worst < NEAR, "{place}: {worst}");
                let (last, colours) = outcome.ranges.split_last().unwrap();
                assert!(colours.iter().all(|r| r.lanes == lanes), "{place}: {colours:?}");
                assert_eq!((last.lanes, last.end - last.start), (1, expected.fallback), "{place}");
                // Sums in another order have other last bits: that is how one sees that several lanes took part.
                let same = outcome.poses == single.poses;
                let one = is_cpu || lanes == 1;
                assert_eq!(same, one && solve == SolveForm::Ldl, "{place}: bits as with one lane and LDL^T");
            }
        }
    });
}

/// Colours and rounds that were not expected are solved and made within one workgroup: to the bit the same, for teams
/// of any width, and whether too few or too many were expected.
#[test]
fn results_do_not_depend_on_what_was_expected() {
    let warm = Warm::new();
    on_every_backend(|backend| {
        for (lanes, one_colour) in [(1, true), (4, false), (64, true)] {
            let options = StepOptions { colours: 8, lanes, large_colour: 20, ..options() };
            let step = |swept_colours, swept_rounds| {
                let options = StepOptions { swept_colours, swept_rounds, ..options };
                warm.step_from(backend, options, SolveForm::Ldl, one_colour)
            };
            let all = step(u32::MAX, u32::MAX);
            assert!((4..=8).contains(&all.colours), "{} colours", all.colours);
            assert!(!one_colour || all.rounds > 3, "{} rounds", all.rounds);
            let (exact, more) = ((all.colours, all.rounds + 1), (all.colours + 1, all.rounds + 2));
            for (colours, rounds) in [(0, 0), (1, 1), (2, 3), (3, 2), exact, more] {
                let outcome = step(colours, rounds);
                let place = format!("{colours} colours and {rounds} rounds, {lanes} lanes, on {}", backend.name());
                assert_eq!((outcome.colours, outcome.rounds), (all.colours, all.rounds), "{place}");
                assert_eq!(outcome.ranges, all.ranges, "{place}");
                assert!(outcome.poses == all.poses, "{place}: off by {}", difference(&outcome, &all));
            }
        }
    });
}

#[test]
fn lanes_are_chosen_by_the_size_of_the_colour() {
    let warm = Warm::new();
    on_every_backend(|backend| {
        let single = warm.step(backend, options(), SolveForm::Ldl);
        let size = |r: &ColourRange| r.end - r.start;
        let mut sizes: Vec<u32> = single.ranges[..3].iter().map(size).collect();
        sizes.sort_unstable();
        let large = sizes[2];
        let mixed = warm.step(backend, StepOptions { lanes: 4, large_colour: large, ..options() }, SolveForm::Ldl);
        for range in &mixed.ranges[..3] {
            assert_eq!(range.lanes, if size(range) < large { 4 } else { 1 }, "{range:?}");
        }
        let wide = mixed.ranges[..3].iter().filter(|r| r.lanes == 4).count();
        assert!((1..3).contains(&wide), "both forms in one step: {:?}", mixed.ranges);
        assert!(difference(&mixed, &single) < NEAR, "on {}", backend.name());
    });
}

#[test]
fn variants_are_settings_by_name_and_number() {
    let mut settings = Settings::default();
    for (name, value) in [("primal", 8.0), ("solve", 1.0)] {
        settings.set(name, value).unwrap();
    }
    assert_eq!((settings.primal, settings.solve), (PrimalForm::Lanes(8), SolveForm::Schur));
    settings.check().unwrap();
    for lanes in [3, 128] {
        let error = settings.with(|s| s.primal = PrimalForm::Lanes(lanes)).check().unwrap_err();
        assert!(error.to_string().contains("primal"), "{error}");
    }
    settings.set("primal", 0.0).unwrap();
    assert_eq!(settings.primal, PrimalForm::Auto);
}

/// The system as a full matrix and right side, in doubles.
fn full(s: &Systems<f32>) -> ([[f64; 6]; 6], [f64; 6]) {
    let (l, o, a, p) = (s.ll, s.ll_off, s.aa, s.aa_off);
    let (x, y, z) = (s.al[0], s.al[1], s.al[2]);
    let rows = [
        [l.x, o.x, o.y, x.x, y.x, z.x],
        [o.x, l.y, o.z, x.y, y.y, z.y],
        [o.y, o.z, l.z, x.z, y.z, z.z],
        [x.x, x.y, x.z, a.x, p.x, p.y],
        [y.x, y.y, y.z, p.x, a.y, p.z],
        [z.x, z.y, z.z, p.y, p.z, a.z],
    ];
    let right = [s.force.x, s.force.y, s.force.z, s.torque.x, s.torque.y, s.torque.z];
    (rows.map(|r| r.map(f64::from)), right.map(f64::from))
}

/// Gauss elimination with the largest pivot of the column.
fn gauss(mut m: [[f64; 6]; 6], mut f: [f64; 6]) -> [f64; 6] {
    for i in 0..6 {
        let pivot = (i..6).max_by(|&a, &b| m[a][i].abs().total_cmp(&m[b][i].abs())).unwrap();
        m.swap(i, pivot);
        f.swap(i, pivot);
        let (upper, above) = (m[i], f[i]);
        for (row, right) in m.iter_mut().zip(&mut f).skip(i + 1) {
            let scale = row[i] / upper[i];
            row.iter_mut().zip(upper).for_each(|(v, u)| *v -= scale * u);
            *right -= scale * above;
        }
    }
    let mut x = [0.0; 6];
    for i in (0..6).rev() {
        let rest: f64 = (i + 1..6).map(|j| m[i][j] * x[j]).sum();
        x[i] = (f[i] - rest) / m[i][i];
    }
    x
}

fn flat(twist: &Twists<f32>) -> [f64; 6] {
    let (l, a) = (twist.linear, twist.angular);
    [l.x, l.y, l.z, a.x, a.y, a.z].map(f64::from)
}

fn direction(random: &mut Random) -> Vec3 {
    Vec3::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0), random.range(-1.0, 1.0)).normalize_or(Vec3::Y)
}

/// A body under contacts whose stiffness is up to `ratio` times its mass over dt squared.
fn system(random: &mut Random, ratio: f32) -> Systems<f32> {
    let mass = random.range(0.1, 1000.0);
    let size = random.range(0.1, 2.0);
    let principal = Vec3::new(random.range(0.2, 1.0), random.range(0.2, 1.0), random.range(0.2, 1.0));
    let displaced = Twists { linear: vector(direction(random) * 0.01), angular: vector(direction(random) * 0.01) };
    let rotation = Rotation::exp(direction(random) * random.range(0.0, 3.0));
    let principal = vector(principal * (mass * size * size * 0.1));
    let inertia = Systems::inertial(mass, principal, Turns::one(&rotation), displaced, 1.0 / 60.0);
    let mut s = System::none();
    for _ in 0..1 + random.below(20) {
        // A row k J J^T with the lever r: what a contact's normal or one of its tangents adds.
        let (n, r) = (direction(random), direction(random) * size);
        let k = mass * 3600.0 * ratio.powf(random.unit());
        let w = r.cross(n);
        s.ll += n * n * k;
        s.ll_off += Vec3::new(n.x * n.y, n.x * n.z, n.y * n.z) * k;
        s.al[0] += n * (w.x * k);
        s.al[1] += n * (w.y * k);
        s.al[2] += n * (w.z * k);
        s.aa += w * w * k;
        s.aa_off += Vec3::new(w.x * w.y, w.x * w.z, w.y * w.z) * k;
        let force = k * random.range(-1e-3, 1e-3);
        s.force += n * force;
        s.torque += w * force;
    }
    inertia.plus(&Systems::gather(&s))
}

fn vector(v: Vec3) -> Vector<f32> {
    Vector::new(v.x, v.y, v.z)
}

#[test]
fn bodies_solved_together_move_as_if_each_were_alone() {
    type Bodies = Systems<Wide>;
    let mut random = Random::new(11);
    for _ in 0..200 {
        let all: [Systems<f32>; 8] = std::array::from_fn(|_| system(&mut random, 1e3));
        let gather = |part: fn(&Systems<f32>) -> Vector<f32>| {
            Vector::<Wide>::gather(&all, |s| Vec3::new(part(s).x, part(s).y, part(s).z))
        };
        let together = Bodies {
            ll: gather(|s| s.ll),
            ll_off: gather(|s| s.ll_off),
            al: [gather(|s| s.al[0]), gather(|s| s.al[1]), gather(|s| s.al[2])],
            aa: gather(|s| s.aa),
            aa_off: gather(|s| s.aa_off),
            force: gather(|s| s.force),
            torque: gather(|s| s.torque),
        };
        for (found, alone) in [
            (together.ldl(), Systems::<f32>::ldl as fn(&Systems<f32>) -> Twists<f32>),
            (together.schur(), Systems::<f32>::schur),
        ] {
            let (linear, angular) = (found.linear.scatter(), found.angular.scatter());
            for (i, s) in (0..8).zip(&all) {
                let one = alone(s);
                // To the last bit: the same operations in the same order.
                assert_eq!(Vector::<Wide>::lane(&linear, i), Vec3::new(one.linear.x, one.linear.y, one.linear.z));
                assert_eq!(Vector::<Wide>::lane(&angular, i), Vec3::new(one.angular.x, one.angular.y, one.angular.z));
            }
        }
    }
}

#[test]
fn both_solves_agree_with_elimination_in_doubles() {
    let mut random = Random::new(7);
    let (mut worst, mut residual) = ([[0.0f64; 2]; 2], [[0.0f64; 2]; 2]);
    for (case, ratio) in [1e2, 1e6].into_iter().enumerate() {
        for _ in 0..5000 {
            let s = system(&mut random, ratio);
            let (m, f) = full(&s);
            let x = gauss(m, f);
            for (form, found) in [s.ldl(), s.schur()].iter().map(flat).enumerate() {
                // What is left of the forces, against the largest that had to cancel; rows are brought to the same
                // units by the roots of the diagonal.
                let unit = |i: usize| m[i][i].sqrt();
                let product = |i: usize| (0..6).map(move |j| m[i][j] * found[j]);
                let largest =
                    (0..6).map(|i| product(i).fold(f[i].abs(), |s, v| s + v.abs()) / unit(i)).fold(0.0, f64::max);
                let left = (0..6).map(|i| (product(i).sum::<f64>() - f[i]).abs() / unit(i)).fold(0.0, f64::max);
                residual[case][form] = residual[case][form].max(left / largest);
                // How far the answer is off, in the measure in which the solver minimises: the energy.
                let energy =
                    |v: [f64; 6]| (0..6).map(|i| (0..6).map(|j| v[i] * m[i][j] * v[j]).sum::<f64>()).sum::<f64>();
                let off: [f64; 6] = std::array::from_fn(|i| found[i] - x[i]);
                worst[case][form] = worst[case][form].max((energy(off) / energy(x)).sqrt());
            }
        }
    }
    println!("residual {residual:?}, energy norm of the error {worst:?}");
    assert!(residual.iter().flatten().all(|r| *r < 2e-6), "left of the forces: {residual:?}");
    assert!(worst[0].iter().all(|w| *w < 1e-4), "stiffness up to 1e2: {worst:?}");
    // A condition of 1e6 costs six of the seven digits there are.
    assert!(worst[1].iter().all(|w| *w < 5e-2), "stiffness up to 1e6: {worst:?}");
}
