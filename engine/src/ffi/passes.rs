//! Times of passes by their names, and memory by the names of buffers, as C has them.

use super::error::{DrystoneResult, Failure, done};
use super::sized::{Struct, put, write};
use super::stepper::{Backend, DrystoneStepper, either, with};
use super::vulkan::text;
use crate::backend::{MemoryUse, RunTimes};
use std::ffi::c_char;
use std::time::Duration;

/// Room for the name of a pass or a buffer.
pub const DRYSTONE_LABEL_SIZE: usize = 64;

/// Time of a pass in a frame: all its dispatches in all sub-steps together.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystonePass {
    /// sizeof(DrystonePass).
    pub struct_size: u32,
    /// How often it ran.
    pub runs: u32,
    /// All of them together.
    pub nanoseconds: u64,
    /// Its name, the same as in debuggers and in `drystone passes`.
    pub name: [c_char; DRYSTONE_LABEL_SIZE],
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers take any bytes.
unsafe impl Struct for DrystonePass {
    const NAME: &'static str = "DrystonePass";

    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, runs: 0, nanoseconds: 0, name: [0; DRYSTONE_LABEL_SIZE] }
    }
}

/// Name, runs and time of a pass.
pub(super) type PassSum = (&'static str, usize, Duration);

/// Passes by name, in the order of the first of each.
pub(super) fn sums(times: &[RunTimes]) -> Vec<PassSum> {
    let passes = times.iter().flat_map(|run| run.passes.clone()).collect();
    RunTimes { run: 0, passes }.by_stage()
}

/// Pass number `index`, from 0 on, of the report that `drystone_poll` told last. There are as many as `pass_count` of
/// that says: none unless `timing` was asked for.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_report_pass(
    stepper: *const DrystoneStepper,
    index: u32,
    pass: *mut DrystonePass,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        with(stepper, |inside| {
            let count = inside.passes.len();
            let none = || Failure::value(format!("there is no pass {index}: the last report has {count}"));
            let &(name, runs, time) = inside.passes.get(index as usize).ok_or_else(none)?;
            let (runs, nanoseconds) = (runs as u32, time.as_nanos() as u64);
            write("pass", pass, &DrystonePass { runs, nanoseconds, name: text(name), ..DrystonePass::defaults() })
        })
    })
}

/// Memory of a buffer, or of several that are not in use at the same time.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneMemoryUse {
    /// sizeof(DrystoneMemoryUse).
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Bytes.
    pub bytes: u64,
    /// What it is.
    pub name: [c_char; DRYSTONE_LABEL_SIZE],
}

// SAFETY: as above.
unsafe impl Struct for DrystoneMemoryUse {
    const NAME: &'static str = "DrystoneMemoryUse";

    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, reserved: 0, bytes: 0, name: [0; DRYSTONE_LABEL_SIZE] }
    }
}

/// Tells the memory of part `index`, from 0 on. `count` gets the number of parts; with `memory` NULL nothing else is
/// told.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_memory(
    stepper: *mut DrystoneStepper,
    index: u32,
    memory: *mut DrystoneMemoryUse,
    count: *mut u32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let all: Vec<MemoryUse> = with(stepper, |inside| Ok(either!(&inside.backend, s => s.memory())))?;
        put("count", count, all.len() as u32)?;
        if memory.is_null() {
            return Ok(());
        }
        let none = || Failure::value(format!("there is no part {index} of the memory: there are {}", all.len()));
        let MemoryUse { name, bytes } = all.get(index as usize).ok_or_else(none)?;
        write("memory", memory, &DrystoneMemoryUse { bytes: *bytes, name: text(name), ..DrystoneMemoryUse::defaults() })
    })
}
