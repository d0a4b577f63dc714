//! Barriers, without a device: none missing, none superfluous, in random recordings and in those of the engine.

mod common;

use common::Random;
use drystone::glam::Vec3;
use drystone::layout::{DispatchArgs, Extent};
use drystone::plan::barriers::{Barrier, Schedule, Step, schedule};
use drystone::plan::detect::bvh::{Bvh, Search};
use drystone::plan::step::{Method, StepOptions, StepPlan};
use drystone::plan::{Buffer, Recording, Use, UseKind};
use drystone::state::Capacities;
use drystone::world::{BodyDesc, Collider, ContactReports};
use drystone_kernels::primitives::{capacity, reduce, scan_spine, scan_sums};
use std::collections::HashMap;

/// A use of a buffer, and where its command stands in the schedule run twice in a row.
struct Placed {
    at: usize,
    u: Use,
}

const KINDS: [UseKind; 3] = [UseKind::Shader, UseKind::Transfer, UseKind::Indirect];

/// The second implementation: from the definition, apart from the derivation. Two uses of the same bytes, one of them a
/// write, must be ordered: by a barrier between them that names their kinds, and makes the first visible if it is a
/// write; or through a write between them that covers what they share, and is ordered with both.
struct Oracle {
    /// Uses of every block of memory, in order: buffers that share one conflict like one.
    uses: Vec<Vec<Placed>>,
    /// For kinds before and after, and whether the first is a write: the first barrier from a position on that orders
    /// them.
    next: Vec<Vec<usize>>,
}

fn combination(before: UseKind, after: UseKind, writes: bool) -> usize {
    let number = |kind| KINDS.iter().position(|k| *k == kind).unwrap();
    (number(before) * KINDS.len() + number(after)) * 2 + usize::from(writes)
}

impl Oracle {
    fn new(recording: &Recording, schedule: &Schedule) -> Self {
        let steps: Vec<&Step> = schedule.steps.iter().chain(&schedule.steps).collect();
        let mut uses: Vec<Vec<Placed>> = recording.blocks().iter().map(|_| Vec::new()).collect();
        for (at, step) in steps.iter().enumerate() {
            if let Step::Command(i) = step {
                for u in recording.uses(&recording.commands()[*i]) {
                    uses[u.block.0 as usize].push(Placed { at, u });
                }
            }
        }
        let mut next = vec![vec![usize::MAX; steps.len() + 1]; KINDS.len() * KINDS.len() * 2];
        for (before, after) in KINDS.into_iter().flat_map(|b| KINDS.map(|a| (b, a))) {
            for writes in [false, true] {
                let next = &mut next[combination(before, after, writes)];
                for (at, step) in steps.iter().enumerate().rev() {
                    let orders =
                        |b: &Barrier| b.before.contains(&before) && b.after.contains(&after) && (b.memory || !writes);
                    let here = matches!(step, Step::Barrier(b) if orders(b));
                    next[at] = if here { at } else { next[at + 1] };
                }
            }
        }
        Self { uses, next }
    }

    fn direct(&self, a: &Placed, b: &Placed) -> bool {
        self.next[combination(a.u.kind, b.u.kind, a.u.access.writes())][a.at + 1] < b.at
    }

    /// Whether uses `i` and `j` of a buffer are ordered. `known` has what was found out before.
    fn ordered(&self, of: &[Placed], i: usize, j: usize, known: &mut HashMap<(usize, usize), bool>) -> bool {
        let (a, b) = (&of[i], &of[j]);
        if self.direct(a, b) {
            return true;
        }
        if let Some(answer) = known.get(&(i, j)) {
            return *answer;
        }
        let start = a.u.range.start.max(b.u.range.start);
        let end = a.u.range.end.min(b.u.range.end);
        let through = (i + 1..j).any(|m| {
            let w = &of[m];
            let covers = w.u.access.writes() && w.u.range.start <= start && end <= w.u.range.end;
            let between = a.at < w.at && w.at < b.at;
            covers && between && self.direct(a, w) && self.ordered(of, m, j, known)
        });
        known.insert((i, j), through);
        through
    }

    /// Two positions that conflict, and that nothing orders.
    fn race(&self) -> Option<(usize, usize)> {
        self.uses.iter().find_map(|of| {
            let mut known = HashMap::new();
            let pairs = (0..of.len()).flat_map(|j| (0..j).rev().map(move |i| (i, j)));
            pairs.into_iter().find_map(|(i, j)| {
                let (a, b) = (&of[i], &of[j]);
                let meet = a.u.range.start < b.u.range.end && b.u.range.start < a.u.range.end;
                let conflict = a.at < b.at && meet && (a.u.access.writes() || b.u.access.writes());
                (conflict && !self.ordered(of, i, j, &mut known)).then_some((a.at, b.at))
            })
        })
    }
}

/// Finds two conflicting uses that nothing orders.
fn race(recording: &Recording, schedule: &Schedule) -> Option<(usize, usize)> {
    Oracle::new(recording, schedule).race()
}

fn check(recording: &Recording) {
    let derived = schedule(recording);
    assert_eq!(race(recording, &derived), None, "a barrier is missing in\n{recording}");
    for (i, barrier) in derived.barriers().enumerate() {
        let without = derived.without_barrier(i);
        assert!(race(recording, &without).is_some(), "barrier {i} ({barrier:?}) is superfluous in\n{recording}");
    }
}

fn random_recording(random: &mut Random) -> Recording {
    let mut recording = Recording::new("random");
    let words: Vec<Buffer<u32>> = (0..5).map(|i| recording.scratch(format!("words{i}"), 64).unwrap()).collect();
    let args: Buffer<DispatchArgs> = recording.dispatch_args("args", 4).unwrap();
    let push = scan_sums::Push { extent: Extent::host(1), total: 0, tile: 1, few: 0 };
    for _ in 0..1 + random.below(12) {
        let mut pick = || words[random.below(5) as usize];
        let (a, b, c) = (pick(), pick(), pick());
        // Commands that bind a buffer twice and write it are refused; leaving them out keeps the others random.
        let _ = match random.below(6) {
            0 => recording.dispatch(1, scan_sums::Bind { values: a, counters: b, sums: c }.with(push)),
            1 => recording.dispatch(1, scan_spine::Bind { sums: a, counters: b, prefixes: c }.with(push)),
            2 => {
                let from = u64::from(random.below(8)) * 8;
                recording.fill(a, from..from + 8, 7)
            }
            3 => recording.copy((a, u64::from(random.below(4)) * 16), (b, u64::from(random.below(4)) * 16), 16),
            4 => {
                let push = capacity::Push { slot: 0, capacity: 1, tile: 1, bit: 0, index: 0 };
                recording.dispatch(1, capacity::Bind { counters: a, overflow: b, args }.with(push))
            }
            _ => {
                let bind = scan_sums::Bind { values: a, counters: b, sums: c };
                recording.dispatch_indirect(args, random.below(4), bind.with(push))
            }
        };
    }
    recording
}

#[test]
fn random_recordings_have_every_barrier_and_no_more() {
    let mut random = Random::new(11);
    let mut barriers = 0;
    for _ in 0..2000 {
        let recording = random_recording(&mut random);
        check(&recording);
        barriers += schedule(&recording).barriers().count();
    }
    assert!(barriers > 4000, "only {barriers} barriers were put to the test");
}

#[test]
fn the_broad_phase_has_every_barrier_and_no_more() {
    let mut recording = Recording::new("broad phase");
    let counters = recording.buffer("counters", 2).unwrap();
    let overflow = recording.buffer("overflow", 1).unwrap();
    let boxes = recording.buffer("boxes", 5000).unwrap();
    recording.fill(overflow, 0..1, 0).unwrap();
    let tree = Bvh { boxes, extent: Extent::host(5000), counters }.record(&mut recording, "bvh").unwrap();
    let search = Search { capacity: 100, needed: 1, overflow, bit: 0, tile: 64, crowded: 0, most: u32::MAX };
    search.record(&mut recording, "pairs", &tree).unwrap();
    check(&recording);
}

/// A step with all its passes: with joints and hulls or without; with hulls go soft bodies.
fn step(joints: bool, hulls: bool, strict: bool, method: Method) -> Recording {
    let if_any = |any: bool, count: u32| if any { count } else { 0 };
    let capacities = Capacities {
        bodies: 5000,
        colliders: 6000,
        pairs: 20_000,
        manifolds: 15_000,
        hulls: if_any(hulls, 3),
        hull_edges: if_any(hulls, 100),
        edits: 10,
        joints: if_any(joints, 300),
        joint_rows: if_any(joints, 1000),
        continuous: if_any(hulls, 1),
        events: 0,
        soft_bodies: if_any(hulls, 2),
        particles: if_any(hulls, 200),
        soft_entries: if_any(hulls, 900),
        springs: if_any(hulls, 100),
        membranes: if_any(hulls, 100),
        hinges: if_any(hulls, 100),
        tetrahedra: if_any(hulls, 100),
        attachments: if_any(hulls, 10),
        soft_faces: if_any(hulls && joints, 300),
        soft_pairs: if_any(hulls && joints, 1000),
        soft_triangles: if_any(hulls, 100),
    };
    let options = StepOptions {
        iterations: 2,
        colours: 4,
        colour_rounds: 3,
        swept_colours: 3,
        swept_rounds: 2,
        lanes: 4,
        large_colour: 100,
        strict,
        stabilise: true,
        dual: true,
        momentum: true,
        body_poses: false,
        features: drystone::world::Features::NONE,
        row_stiffness: false,
        most_pairs: u32::MAX,
        adaptive: false,
        second_order: false,
        soft_colours: if_any(hulls, 3),
        worlds: if_any(joints, 7),
        method,
    };
    StepPlan::new(capacities, options).unwrap().recording
}

#[test]
fn the_step_has_every_barrier_and_no_more() {
    for (joints, hulls) in [(false, false), (true, false), (false, true), (true, true)] {
        for strict in [false, true] {
            let recording = step(joints, hulls, strict, Method::Descent);
            let barriers = schedule(&recording).barriers().count();
            assert!(recording.commands().len() > 60 && barriers > 40, "{recording}");
            // Also sees a hole wherever a barrier is taken out.
            check(&recording);
        }
    }
}

#[test]
fn steps_of_the_solvers_beside_the_descent_have_every_barrier() {
    for method in [Method::Impulse, Method::SoftStep, Method::Xpbd] {
        for joints in [false, true] {
            let recording = step(joints, false, true, method);
            assert!(recording.commands().iter().any(|c| c.name() == "pair_contacts"), "{method:?}");
            check(&recording);
        }
    }
}

#[test]
fn a_step_as_users_run_it_has_every_barrier() {
    let mut world = drystone::scenes::drop(50).unwrap();
    // With every pass that only some colliders ask for.
    let asks = Collider::sphere(0.5).restitution(0.5).rolling(0.01, 0.01).reports(ContactReports::ALL);
    world.add(BodyDesc::dynamic().at(Vec3::Y * 50.0).with(asks)).unwrap();
    world.add(BodyDesc::fixed().with(Collider::cylinder(0.5, 0.5).sensing())).unwrap();
    let device = drystone::backend::Device::Cpu { threads: None };
    let simulation = drystone::Simulation::new(world, drystone::Settings::default(), device).unwrap();
    let recording = &simulation.plan().recording;
    for stage in ["touching_find", "touching_ended", "touching_tell", "sensors_tell", "bounce", "rolling_dual"] {
        assert!(recording.commands().iter().any(|c| c.name() == stage), "{stage}");
    }
    assert_eq!(race(recording, &schedule(recording)), None, "a barrier is missing in\n{recording}");
}

#[test]
fn a_barrier_without_memory_or_of_other_kinds_is_a_hole() {
    let recording = step(true, true, true, Method::Descent);
    let complete = schedule(&recording);
    let mut weakened = 0;
    for (at, step) in complete.steps.iter().enumerate() {
        let Step::Barrier(barrier) = step else { continue };
        let mut change = |how: &str, barrier: Barrier| {
            let mut schedule = complete.clone();
            schedule.steps[at] = Step::Barrier(barrier);
            assert!(race(&recording, &schedule).is_some(), "barrier at {at} {how}");
            weakened += 1;
        };
        if barrier.memory {
            let mut without = barrier.clone();
            without.memory = false;
            change("without memory", without);
        }
        if barrier.after.len() > 1 {
            for kind in &barrier.after {
                let mut less = barrier.clone();
                less.after.remove(kind);
                change("for fewer kinds", less);
            }
        }
    }
    assert!(weakened > 50, "only {weakened} were weakened");
}

#[test]
fn independent_passes_may_overlap() {
    let mut recording = Recording::new("independent");
    let counters = recording.buffer("counters", 1).unwrap();
    let values = recording.buffer("values", 10).unwrap();
    for i in 0..4 {
        let partials = recording.buffer(format!("partials{i}"), 1).unwrap();
        let bind = reduce::Bind { values, counters, partials };
        recording.dispatch(1, bind.with(reduce::Push { extent: Extent::host(10), op: i })).unwrap();
    }
    // Four passes that read the same and write apart: the only barrier is the one before a repeated run.
    assert_eq!(schedule(&recording).barriers().count(), 1);
    let first = &schedule(&recording).steps[0];
    assert!(matches!(first, Step::Barrier(_)), "it stands at the start: {first:?}");
}

#[test]
fn parts_of_a_buffer_do_not_conflict() {
    let mut recording = Recording::new("parts");
    let words = recording.buffer::<u32>("words", 64).unwrap();
    let other = recording.buffer::<u32>("other", 64).unwrap();
    recording.fill(words, 0..32, 1).unwrap();
    recording.copy((words, 32), (other, 0), 32).unwrap();
    // A run's fill waits for nothing of the same run; only the next run's copy into `other` waits for this one's.
    let schedule = schedule(&recording);
    assert!(
        matches!(schedule.steps.as_slice(), [Step::Barrier(_), Step::Command(0), Step::Command(1)]),
        "{schedule:?}"
    );
}

#[test]
fn a_recording_can_be_read() {
    let mut recording = Recording::new("scan");
    let counters = recording.buffer("counters", 1).unwrap();
    let values = recording.buffer("values", 9000).unwrap();
    let prefixes = recording.buffer("prefixes", 9000).unwrap();
    let scratch = drystone::plan::primitives::scan::Scratch::new(&mut recording, "scan", 9000).unwrap();
    let extent = Extent::host(9000);
    let scan = drystone::plan::primitives::scan::Scan { values, prefixes, extent, counters, total: 0 };
    scan.record(&mut recording, scratch).unwrap();
    let text = recording.to_string();
    let expected = "\
recording scan: 5 buffers, 72.1 kB
  counters                      1 x   4 B = 16 B, result
  values                     9000 x   4 B = 36.0 kB, result
  prefixes                   9000 x   4 B = 36.0 kB, result
  scan.sums                     9 x   4 B = 36 B, scratch
  scan.before                   9 x   4 B = 36 B, scratch
       ---- barrier shader -> shader  (counters, scan.sums)
     0 scan_sums x9  read values  read counters  write scan.sums  Push { extent: Extent { limit: 9000, slot: 4294967295 }, total: 0, tile: 1024, few: 1 }
       ---- barrier shader -> shader  (counters, scan.sums)
     1 scan_apply x9  read values  update counters  read scan.sums  write prefixes  Push { extent: Extent { limit: 9000, slot: 4294967295 }, total: 0, tile: 1024, few: 1 }
";
    assert_eq!(text, expected, "\n{text}");
}
