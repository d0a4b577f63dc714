//! Cases made at random, of which none may panic, hang or leave something that is not finite: scene files, snapshots,
//! edits of a world, raw recordings; and a world that runs for long. Everything runs in this process, on stable Rust.
//!
//! Each target is a function of a seed. In `cargo test` it gets a few seconds, always with the same seeds; `tools/fuzz
//! SECONDS` gives it longer and others. A seed that found something goes into `tests/corpus/seeds.txt`, and is played
//! first from then on. `tools/soak STEPS` runs the world for longer.

#[path = "../common/mod.rs"]
mod common;

mod edits;
mod meshes;
mod recordings;
mod scenes;
mod snapshots;
mod soak;

use common::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
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
/// to do lets a case of a millisecond wait for a minute.
struct Clock(Instant, Option<Duration>);

impl Clock {
    fn start() -> Self {
        Self(Instant::now(), Self::ran())
    }

    fn took(&self) -> Duration {
        let ran = self.1.zip(Self::ran()).map(|(before, now)| now.saturating_sub(before));
        ran.unwrap_or(Duration::MAX).min(self.0.elapsed())
    }

    /// In hundredths of a second, by all threads.
    fn ran() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<u64>().ok();
        Some(Duration::from_millis(10 * (next()? + next()?)))
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: a number")))
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Runs cases until the time is over: those that once found something, then as many as there is time for.
fn fuzz(name: &str, case: impl Fn(u64, &mut Random) -> Outcome) {
    let seeds = std::fs::read_to_string(corpus().join("seeds.txt")).unwrap();
    let told = seeds.lines().filter_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    let first = number("DRYSTONE_FUZZ_SEED", 1).wrapping_mul(1 << 32);
    let time = Duration::from_secs(number("DRYSTONE_FUZZ_SECONDS", 4));
    // Without being asked for more: the same cases on every machine, or fewer.
    let most = if std::env::var_os("DRYSTONE_FUZZ_SECONDS").is_some() { u64::MAX } else { 500 };
    let start = Instant::now();
    let (mut cases, mut accepted) = (0u64, 0u64);
    for seed in told.chain((0..).map(|n| first.wrapping_add(n))) {
        let before = Clock::start();
        match catch_unwind(AssertUnwindSafe(|| case(seed, &mut Random::new(seed)))) {
            Ok(outcome) => accepted += u64::from(outcome == Outcome::Accepted),
            Err(_) => panic!("{name}: case {seed} panicked; add `{name} {seed}` to tests/corpus/seeds.txt"),
        }
        assert!(before.took() < LONG, "{name}: case {seed} took {:?}", before.took());
        cases += 1;
        if (start.elapsed() > time && cases > 20) || cases >= most {
            break;
        }
    }
    println!("{name}: {cases} cases in {:.0} s, {accepted} of them accepted", start.elapsed().as_secs_f32());
    assert!(accepted > 0, "{name}: nothing was accepted, so nothing was tried");
}

#[test]
fn scene_files_that_were_tampered_with_are_refused_or_run() {
    let files = scenes::corpus();
    fuzz("scenes", |_, random| scenes::case(&files, random));
}

#[test]
fn snapshots_that_were_tampered_with_are_refused_or_run() {
    let whole = snapshots::corpus();
    fuzz("snapshots", |_, random| snapshots::case(&whole, random));
}

#[test]
fn whatever_is_said_to_a_world_it_goes_on() {
    fuzz("edits", |_, random| edits::case(random));
}

#[test]
fn meshes_that_were_tampered_with_are_refused_or_become_soft_bodies() {
    let files = meshes::corpus();
    fuzz("meshes", |_, random| meshes::case(&files, random));
}

#[test]
fn recordings_of_anything_come_to_an_end() {
    fuzz("recordings", recordings::case);
}
