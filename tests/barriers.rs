//! Barriers, without a device: none missing, none superfluous, in random recordings and in those of the engine.

mod common;

use common::Random;
use drystone::layout::{DispatchArgs, Extent};
use drystone::plan::barriers::{Barrier, Schedule, Step, schedule};
use drystone::plan::detect::bvh::{Bvh, Search};
use drystone::plan::{Buffer, Recording, Use};
use drystone_kernels::detect::leaves;
use drystone_kernels::primitives::{capacity, scan_spine, scan_sums};

/// The schedule run twice in a row: what stands at each position.
fn twice(schedule: &Schedule) -> Vec<&Step> {
    schedule.steps.iter().chain(&schedule.steps).collect()
}

/// Finds two conflicting uses that nothing orders. Written apart from the derivation, from the definition.
fn race(recording: &Recording, schedule: &Schedule) -> Option<(usize, usize)> {
    let steps = twice(schedule);
    let uses: Vec<Vec<Use>> = steps
        .iter()
        .map(|s| if let Step::Command(i) = s { recording.uses(&recording.commands()[*i]) } else { Vec::new() })
        .collect();
    let between = |i: usize, j: usize| {
        steps[i + 1..j].iter().filter_map(|s| if let Step::Barrier(b) = s { Some(b) } else { None })
    };
    let orders = |b: &Barrier, u: &Use, v: &Use| {
        b.before.contains(&u.kind) && b.after.contains(&v.kind) && (b.memory || !u.access.writes())
    };
    // ordered[i][j]: every conflict between i and j is ordered, directly or through writes that cover it.
    let ordered = |i: usize, j: usize, u: &Use, v: &Use| -> bool {
        fn path(
            i: usize,
            j: usize,
            u: &Use,
            v: &Use,
            uses: &[Vec<Use>],
            direct: &dyn Fn(usize, usize, &Use, &Use) -> bool,
        ) -> bool {
            if direct(i, j, u, v) {
                return true;
            }
            (i + 1..j).any(|m| {
                uses[m].iter().any(|w| {
                    let start = u.range.start.max(v.range.start);
                    let end = u.range.end.min(v.range.end);
                    w.buffer == u.buffer
                        && w.access.writes()
                        && w.range.start <= start
                        && end <= w.range.end
                        && direct(i, m, u, w)
                        && path(m, j, w, v, uses, direct)
                })
            })
        }
        let direct = |i: usize, j: usize, u: &Use, v: &Use| between(i, j).any(|b| orders(b, u, v));
        path(i, j, u, v, &uses, &direct)
    };
    for i in 0..steps.len() {
        for j in i + 1..steps.len() {
            for u in &uses[i] {
                for v in &uses[j] {
                    let meet = u.range.start < v.range.end && v.range.start < u.range.end;
                    let conflict = u.buffer == v.buffer && meet && (u.access.writes() || v.access.writes());
                    if conflict && !ordered(i, j, u, v) {
                        return Some((i, j));
                    }
                }
            }
        }
    }
    None
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
    let words: Vec<Buffer<u32>> = (0..5).map(|i| recording.buffer(format!("words{i}"), 64).unwrap()).collect();
    let args: Buffer<DispatchArgs> = recording.dispatch_args("args", 4).unwrap();
    let push = scan_sums::Push { extent: Extent::host(1), total: 0, tile: 1 };
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
    let tree = Bvh { boxes, extent: Extent::host(5000), counters, spare: 0 }.record(&mut recording, "bvh").unwrap();
    let search = Search { capacity: 100, needed: 1, overflow, bit: 0, tile: 64 };
    search.record(&mut recording, "pairs", &tree).unwrap();
    check(&recording);
}

#[test]
fn independent_passes_may_overlap() {
    let mut recording = Recording::new("independent");
    let counters = recording.buffer("counters", 1).unwrap();
    let boxes = recording.buffer("boxes", 10).unwrap();
    let order = recording.buffer("order", 10).unwrap();
    for i in 0..4 {
        let volumes = recording.buffer(format!("volumes{i}"), 20).unwrap();
        let bind = leaves::Bind { boxes, counters, order, volumes };
        recording.dispatch_each(10, bind.with(leaves::Push { extent: Extent::host(10) })).unwrap();
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
     0 scan_sums x9  read values  read counters  write scan.sums  Push { extent: Extent { limit: 9000, slot: 4294967295 }, total: 0, tile: 1024 }
       ---- barrier shader -> shader  (counters, scan.sums)
     1 scan_spine x1  read scan.sums  update counters  write scan.before  Push { extent: Extent { limit: 9000, slot: 4294967295 }, total: 0, tile: 1024 }
       ---- barrier shader -> shader  (counters, scan.before)
     2 scan_apply x9  read values  read counters  read scan.before  write prefixes  Push { extent: Extent { limit: 9000, slot: 4294967295 }, total: 0, tile: 1024 }
";
    assert_eq!(text, expected, "\n{text}");
}
