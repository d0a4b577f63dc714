//! Cases made at random, of which none may panic, hang or leave something that is not finite: scene files, snapshots,
//! edits of a world (with soft bodies, other solvers and several worlds too), meshes, raw recordings, steps over
//! buffers of anything; and a world that runs for long. Everything runs in this process, on stable Rust.
//!
//! Each target is a function of a seed. In `cargo test` it gets a few seconds, always with the same seeds; `tools/fuzz
//! SECONDS` gives it longer and others. A seed that found something goes into `tests/corpus/seeds.txt`, and is played
//! first from then on. `tools/soak STEPS` runs the world for longer.

#[path = "../common/mod.rs"]
mod common;

mod edits;
mod lives;
mod meshes;
mod recordings;
mod scenes;
mod snapshots;
mod soak;
mod steps;

use common::Random;
use drystone::kernels::STAGES;
use drystone::plan::{Command, Groups, Recording};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// What came of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It was an error, as it should be.
    Refused,
    /// It did something.
    Accepted,
}

/// More than any case takes, in time that the process had a processor.
const LONG: Duration = Duration::from_secs(20);

/// Time that passed, or that the process ran where that is less and the system tells: a machine that has other things
/// to do lets a case of a millisecond wait for a minute. Asking the system takes longer than many a case, so it is
/// asked once a second, and about what takes long.
struct Clock {
    asked: Instant,
    ran: Option<Duration>,
    case: Instant,
}

impl Clock {
    fn start() -> Self {
        let now = Instant::now();
        Self { asked: now, ran: Self::ran(), case: now }
    }

    /// A case begins.
    fn begin(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.asked) > Duration::from_secs(1) {
            (self.asked, self.ran) = (now, Self::ran());
        }
        self.case = now;
    }

    /// What the case took, or up to a second more.
    fn took(&self) -> Duration {
        let passed = self.case.elapsed();
        if passed < LONG {
            return passed;
        }
        let ran = self.ran.zip(Self::ran()).map(|(before, now)| now.saturating_sub(before));
        ran.unwrap_or(Duration::MAX).min(passed)
    }

    /// In hundredths of a second, by all threads.
    fn ran() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<u64>().ok();
        Some(Duration::from_millis(10 * (next()? + next()?)))
    }
}

/// Stages that targets have run, by number in `STAGES`.
struct Reached(Vec<bool>);

impl Reached {
    fn none() -> Self {
        Self(vec![false; STAGES.len()])
    }

    /// Those that a recording dispatches with a workgroup, or with as many as the device says.
    fn note(&mut self, recording: &Recording) {
        for command in recording.commands() {
            if let Command::Dispatch { invocation, groups } = command
                && *groups != Groups::Direct(0)
            {
                self.0[number_of(invocation.stage.name)] = true;
            }
        }
    }

    /// Says how many there are, and which of a phase are missing.
    fn tell(&self, target: &str) {
        let missing = STAGES.iter().zip(&self.0).filter(|(_, there)| !**there).map(|(stage, _)| stage.name);
        let missing: Vec<_> = missing.collect();
        let count = STAGES.len() - missing.len();
        println!("{target}: {count} of {} stages; without: {}", STAGES.len(), missing.join(", "));
    }
}

fn number_of(stage: &str) -> usize {
    static NUMBERS: LazyLock<BTreeMap<&'static str, usize>> =
        LazyLock::new(|| STAGES.iter().enumerate().map(|(number, stage)| (stage.name, number)).collect());
    NUMBERS[stage]
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: a number")))
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Runs cases until the time is over: those that once found something, each by itself (`fresh`), then as many as there
/// is time for, which may share what is costly to make.
fn fuzz(name: &str, mut case: impl FnMut(u64, &mut Random, bool) -> Outcome) {
    let seeds = std::fs::read_to_string(corpus().join("seeds.txt")).unwrap();
    let told = seeds.lines().filter_map(|line| {
        let (target, seed) = line.split_once(' ')?;
        (target == name).then(|| seed.trim().parse::<u64>().ok())?
    });
    let first = number("DRYSTONE_FUZZ_SEED", 1).wrapping_mul(1 << 32);
    let time = Duration::from_secs(number("DRYSTONE_FUZZ_SECONDS", 4));
    // Without being asked for more: the same cases on every machine, or fewer.
    let most = if std::env::var_os("DRYSTONE_FUZZ_SECONDS").is_some() { u64::MAX } else { 500 };
    let start = Instant::now();
    let mut clock = Clock::start();
    let (mut cases, mut accepted, mut longest) = (0u64, 0u64, (Duration::ZERO, 0));
    let mut wrong = Vec::new();
    // One that was told is played by itself.
    let one = std::env::var_os("DRYSTONE_FUZZ_CASE").map(|_| (number("DRYSTONE_FUZZ_CASE", 0), true));
    let most = if one.is_some() { 1 } else { most };
    let told = one.into_iter().chain(told.map(|seed| (seed, true)));
    for (seed, alone) in told.chain((0..).map(|n| (first.wrapping_add(n), false))) {
        clock.begin();
        // What a case that panicked has left is not used again.
        let fresh = alone || wrong.last().is_some_and(|(_, case, _)| *case == cases);
        match catch_unwind(AssertUnwindSafe(|| case(seed, &mut Random::new(seed), fresh))) {
            Ok(outcome) => accepted += u64::from(outcome == Outcome::Accepted),
            Err(_) => wrong.push((seed, cases + 1, "panicked")),
        }
        let took = clock.took();
        if took >= LONG {
            wrong.push((seed, cases + 1, "took too long"));
        }
        longest = longest.max((took, seed));
        cases += 1;
        if wrong.len() > 20 || cases >= most || (start.elapsed() > time && cases > 20) {
            break;
        }
    }
    let (seconds, (longest, seed)) = (start.elapsed().as_secs_f32(), longest);
    println!("{name}: {cases} cases in {seconds:.0} s, {accepted} of them accepted; {longest:?} for case {seed}");
    for (seed, _, what) in &wrong {
        println!("{name}: case {seed} {what}; add `{name} {seed}` to tests/corpus/seeds.txt");
    }
    assert!(wrong.is_empty(), "{name}: {} cases went wrong", wrong.len());
    assert!(accepted > 0, "{name}: nothing was accepted, so nothing was tried");
}

#[test]
fn scene_files_that_were_tampered_with_are_refused_or_run() {
    let (files, mut reached) = (scenes::corpus(), Reached::none());
    fuzz("scenes", |seed, random, _| scenes::case(&files, seed, random, &mut reached));
    reached.tell("scenes");
}

#[test]
fn snapshots_that_were_tampered_with_are_refused_or_run() {
    let (whole, mut kept, mut reached) = (snapshots::corpus(), None, Reached::none());
    fuzz("snapshots", |_, random, fresh| snapshots::case(&whole, random, &mut kept, fresh, &mut reached));
    reached.tell("snapshots");
}

#[test]
fn whatever_is_said_to_a_world_it_goes_on() {
    let mut kept = None;
    fuzz("edits", |_, random, fresh| edits::case(random, &mut kept, fresh));
}

#[test]
fn whatever_is_said_to_soft_bodies_other_solvers_and_several_worlds_they_go_on() {
    let mut reached = Reached::none();
    fuzz("lives", |_, random, _| lives::case(random, &mut reached));
    reached.tell("lives");
}

#[test]
fn meshes_that_were_tampered_with_are_refused_or_become_soft_bodies() {
    let files = meshes::corpus();
    fuzz("meshes", |_, random, _| meshes::case(&files, random));
}

#[test]
fn recordings_of_anything_come_to_an_end() {
    let (mut runners, mut reached) = (recordings::Runners::default(), Reached::none());
    fuzz("recordings", |seed, random, fresh| recordings::case(seed, random, &mut runners, fresh, &mut reached));
    reached.tell("recordings");
}

#[test]
fn steps_over_buffers_of_anything_come_to_an_end_and_leave_nothing_behind() {
    let (mut worlds, mut reached) = (steps::corpus(), Reached::none());
    fuzz("steps", |_, random, _| steps::case(&mut worlds, random, &mut reached));
    reached.tell("steps");
}
