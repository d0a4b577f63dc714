//! A stepper as C has it: an opaque object behind a lock, on the CPU or inside the host's frames. `create.rs` makes it.

use super::error::{DrystoneResult, Failure, done, guard};
use super::memory::FfiMemory;
use super::passes::{PassSum, sums};
use super::queries::Asked;
use super::report::DrystoneReport;
use super::sized::{put, write};
use crate::backend::Runner;
use crate::stepper::{Event, Prepared, StepReport, Stepper};
use crate::vulkan::Frames;
use crate::world::World;
use crate::{Result, Settings};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

/// What runs it.
pub(super) enum Backend {
    Cpu(Box<Stepper<Box<dyn Runner>>>),
    Vulkan(Box<Stepper<Frames<FfiMemory>>>),
}

/// Calls a method that both kinds of stepper have.
macro_rules! either {
    ($backend:expr, $stepper:ident => $call:expr) => {
        match $backend {
            Backend::Cpu($stepper) => $call,
            Backend::Vulkan($stepper) => $call,
        }
    };
}
pub(super) use either;

impl Backend {
    pub fn world(&mut self) -> &mut World {
        either!(self, s => s.world_mut())
    }

    pub fn settings(&self) -> &Settings {
        either!(self, s => s.settings())
    }

    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        either!(self, s => s.set_settings(settings))
    }

    pub fn on_cpu(&mut self, what: &str) -> std::result::Result<&mut Stepper<Box<dyn Runner>>, Failure> {
        match self {
            Self::Cpu(stepper) => Ok(stepper),
            Self::Vulkan(_) => Err(Failure::new(
                DrystoneResult::ErrorBackend,
                format!("{what} is for the CPU backend: in a host's frames nothing waits for the device"),
            )),
        }
    }

    pub fn on_vulkan(&mut self, what: &str) -> std::result::Result<&mut Stepper<Frames<FfiMemory>>, Failure> {
        match self {
            Self::Vulkan(stepper) => Ok(stepper),
            Self::Cpu(_) => Err(Failure::new(
                DrystoneResult::ErrorBackend,
                format!("{what} is for steppers in a host's frames: this one is on the CPU"),
            )),
        }
    }
}

/// Everything that belongs to a stepper.
pub(super) struct Inside {
    pub backend: Backend,
    pub prepared: Option<Prepared>,
    /// Not told yet.
    pub reports: VecDeque<StepReport>,
    /// Of the report that was told last.
    pub events: Vec<Event>,
    /// Times of its passes: all runs of a pass together, in the order of the first of each.
    pub passes: Vec<PassSum>,
    /// Queries that were asked, and answers.
    pub queries: Asked,
    /// The snapshot that was asked for last, as bytes.
    pub snapshot: Vec<u8>,
}

/// A world on a device. Calls from several threads wait for each other.
pub struct DrystoneStepper {
    inside: Mutex<Inside>,
}

impl DrystoneStepper {
    pub(super) fn new(backend: Backend) -> Self {
        let inside = Inside {
            backend,
            prepared: None,
            reports: VecDeque::new(),
            events: Vec::new(),
            passes: Vec::new(),
            queries: Asked::default(),
            snapshot: Vec::new(),
        };
        Self { inside: Mutex::new(inside) }
    }

    fn lock(&self) -> std::result::Result<MutexGuard<'_, Inside>, Failure> {
        let text = "a call panicked while it changed this stepper: it can only be destroyed";
        self.inside.lock().map_err(|_| Failure::new(DrystoneResult::ErrorPanic, text))
    }
}

/// Does something with a stepper.
///
/// # Safety
/// `stepper` is NULL or was made by one of the functions here and not destroyed.
pub(super) unsafe fn with<T>(
    stepper: *const DrystoneStepper,
    call: impl FnOnce(&mut Inside) -> std::result::Result<T, Failure>,
) -> std::result::Result<T, Failure> {
    // SAFETY: this function's contract.
    let stepper = unsafe { stepper.as_ref() }.ok_or_else(|| Failure::pointer("stepper", true))?;
    call(&mut *stepper.lock()?)
}

/// Gives the next step as many iterations as the first of a world has: for structures that were added under load.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_start_cold(stepper: *mut DrystoneStepper) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        with(stepper, |inside| {
            either!(&mut inside.backend, s => s.start_cold());
            Ok(())
        })
    })
}

/// Gets everything ready for a step of `dt` seconds, above 0 and up to 1. Takes over what was said to the world, and
/// may allocate. `completed` is the number of the last frame that the device is through with, 0 at first; the CPU
/// backend ignores it. What was prepared and neither recorded nor run is undone by the next call.
///
/// # Safety
/// As at the top of this header; frames up to `completed` are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_prepare(stepper: *mut DrystoneStepper, dt: f32, completed: u64) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        with(stepper, |inside| {
            inside.prepared = None;
            inside.prepared = Some(match &mut inside.backend {
                Backend::Cpu(stepper) => stepper.prepare(dt)?,
                Backend::Vulkan(stepper) => stepper.prepare(dt, completed)?,
            });
            Ok(())
        })
    })
}

impl Inside {
    /// What was prepared.
    pub fn take_prepared(&mut self) -> std::result::Result<Prepared, Failure> {
        let text = "nothing was prepared: call drystone_prepare before every step";
        self.prepared.take().ok_or_else(|| Failure::new(DrystoneResult::ErrorNotPrepared, text))
    }
}

/// Runs what was prepared, on the CPU. `frame` gets the number of the frame and may be NULL; `drystone_poll` has its
/// report.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_run(stepper: *mut DrystoneStepper, frame: *mut u64) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let number = with(stepper, |inside| {
            inside.backend.on_cpu("drystone_run")?;
            let prepared = inside.take_prepared()?;
            let report = inside.backend.on_cpu("drystone_run")?.run(prepared)?;
            let number = report.frame;
            inside.reports.push_back(report);
            Ok(number)
        })?;
        if frame.is_null() { Ok(()) } else { put("frame", frame, number) }
    })
}

/// Tells what the oldest frame did whose report was not told yet: of frames up to `completed`, each once, in their
/// order. Never waits. `DRYSTONE_RESULT_NOTHING` when there is none. `drystone_report_event` has its events,
/// `drystone_report_pass` the times of its passes, until the next call.
///
/// # Safety
/// As at the top of this header; frames up to `completed` are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_poll(
    stepper: *mut DrystoneStepper,
    completed: u64,
    report: *mut DrystoneReport,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    guard(|| unsafe {
        with(stepper, |inside| {
            if let Backend::Vulkan(stepper) = &mut inside.backend {
                inside.reports.extend(stepper.poll(completed)?);
            }
            let Some(next) = inside.reports.front() else { return Ok(DrystoneResult::Nothing) };
            write("report", report, &DrystoneReport::of(next))?;
            let told = inside.reports.pop_front().unwrap_or_default();
            (inside.events, inside.passes) = (told.events, sums(&told.times));
            Ok(DrystoneResult::Ok)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::create::{drystone_stepper_create_cpu, drystone_stepper_destroy};
    use super::*;

    #[test]
    fn a_stepper_in_which_a_call_panicked_can_only_be_destroyed() {
        let mut stepper = std::ptr::null_mut();
        // SAFETY: made here, destroyed here.
        unsafe {
            assert_eq!(drystone_stepper_create_cpu(std::ptr::null(), &mut stepper), DrystoneResult::Ok);
            assert_eq!(drystone_prepare(stepper, 0.01, 0), DrystoneResult::Ok);
            let panics = |_: &mut Inside| -> std::result::Result<(), Failure> { panic!("in the middle of a change") };
            assert_eq!(done(|| with(stepper, panics)), DrystoneResult::ErrorPanic);
            assert_eq!(drystone_run(stepper, std::ptr::null_mut()), DrystoneResult::ErrorPanic);
            assert_eq!(drystone_prepare(stepper, 0.01, 0), DrystoneResult::ErrorPanic);
            assert_eq!(drystone_stepper_destroy(stepper), DrystoneResult::Ok);
        }
    }
}
