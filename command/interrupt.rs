//! Ending a run before its last step: by Ctrl-C, or when its time limit is reached. The current step is finished, and
//! so is everything that is being written. A second Ctrl-C ends the command at once.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// Exit status of a run that ended early: that of programs which an interrupt ends.
pub const ENDED: u8 = 130;

const RUNNING: u8 = 0;
const INTERRUPTED: u8 = 1;
const TOO_LONG: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(RUNNING);

/// How long a step, and what is written behind it, may go on after the time is over.
const GRACE: Duration = Duration::from_secs(20);

/// A run that ended before its last step; everything up to there was written.
#[derive(Debug)]
pub struct Ended {
    why: &'static str,
    steps: u32,
    of: u32,
}

impl Ended {
    pub fn after(steps: u32, of: u32) -> Option<Self> {
        Some(Self { why: why()?, steps, of })
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { why, steps, of } = self;
        write!(f, "{why} after {steps} of {of} steps; what was asked for was written up to there")
    }
}

impl std::error::Error for Ended {}

/// Why the run is to end, if it is.
pub fn why() -> Option<&'static str> {
    match STATE.load(Ordering::Relaxed) {
        RUNNING => None,
        INTERRUPTED => Some("interrupted"),
        _ => Some("the time was over (--max-minutes)"),
    }
}

/// Starts watching: from now on an interrupt or the time limit `most` ends the run. Whatever goes on for much longer
/// than the limit, such as one step or the reading of a file, ends the process, and incomplete files are removed.
pub fn watch(most: Duration) -> std::io::Result<()> {
    on_interrupt();
    let watchdog = std::thread::Builder::new().name("watchdog".to_owned());
    watchdog.spawn(move || {
        std::thread::sleep(most);
        // An interrupt came first: then this is not why.
        let _ = STATE.compare_exchange(RUNNING, TOO_LONG, Ordering::Relaxed, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        super::files::remove_parts();
        use std::io::Write;
        let _ = writeln!(
            std::io::stderr(),
            "Error: reading the scene, or a step, took longer than the run may (--max-minutes)"
        );
        std::process::exit(ENDED.into());
    })?;
    Ok(())
}

#[cfg(unix)]
fn on_interrupt() {
    use std::ffi::c_int;
    const SIGINT: c_int = 2;
    // The C library's, which the standard library links anyway.
    unsafe extern "C" {
        fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
        fn _exit(code: c_int) -> !;
    }
    extern "C" fn note(_: c_int) {
        if STATE.swap(INTERRUPTED, Ordering::Relaxed) == INTERRUPTED {
            // SAFETY: ends the process; it may be called from a signal handler.
            unsafe { _exit(ENDED.into()) };
        }
    }
    // SAFETY: the handler changes an atomic number, or ends the process: both may be done at any moment.
    unsafe { signal(SIGINT, note) };
}

#[cfg(not(unix))]
fn on_interrupt() {}
