//! A stepper as C has it: an opaque object behind a lock, on the CPU or inside the host's frames.

use super::error::{DrystoneResult, Failure, done, guard};
use super::report::DrystoneReport;
use super::sized::{Struct, put, read, write};
use super::vulkan::DrystoneKernels;
use crate::backend::{Device, Runner};
use crate::state::Capacities;
use crate::stepper::{Event, Prepared, StepReport, Stepper};
use crate::vulkan::{Frames, FramesOptions, GpuAllocator, Overflow, Timing};
use crate::world::World;
use crate::{Result, Settings};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

/// What happens to a step in a host's frames whose lists turn out to be too short. They are longer in a later frame
/// either way.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneOverflow {
    /// It is left out, and its report counts it as dropped.
    Skip = 0,
    /// It is made without the pairs or contacts that did not fit.
    Partial = 1,
}

/// Choices when a stepper is made. Begin with `drystone_stepper_defaults`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneStepperDesc {
    /// sizeof(DrystoneStepperDesc).
    pub struct_size: u32,
    /// Recorded frames that may be pending at the same time: 2 by default. Vulkan only.
    pub frames_in_flight: u32,
    /// A `DrystoneOverflow`. Vulkan only: on the CPU such a step is repeated.
    pub overflow: u32,
    /// 1 to take the time of every step. Vulkan only.
    pub timing: u32,
    /// Threads of the CPU backend; 0, the default: as many as there are cores.
    pub threads: u32,
    /// Bodies there is room for at first. This and the following grow when they are not enough; 0, the default: little.
    pub bodies: u32,
    /// Colliders there is room for at first.
    pub colliders: u32,
    /// Pairs of overlapping boxes there is room for at first.
    pub pairs: u32,
    /// Pairs that touch there is room for at first.
    pub manifolds: u32,
    /// Joints there is room for at first.
    pub joints: u32,
    /// Bytes that buffers may have together; 0, the default: as many as there are.
    pub memory_limit: u64,
    /// Acceleration of everything that falls: earth's along -y by default.
    pub gravity: [f32; 3],
    /// 1 to record the commands of a step once, when lists grow or settings change, and only call them in a frame: recording is
    /// then a matter of microseconds. Command buffers must be primary ones, outside of render passes. Vulkan only.
    pub recorded_once: u32,
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers take any bytes.
unsafe impl Struct for DrystoneStepperDesc {
    const NAME: &'static str = "DrystoneStepperDesc";

    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            frames_in_flight: 2,
            overflow: DrystoneOverflow::Skip as u32,
            timing: 0,
            threads: 0,
            bodies: 0,
            colliders: 0,
            pairs: 0,
            manifolds: 0,
            joints: 0,
            memory_limit: 0,
            gravity: World::new().gravity().into(),
            recorded_once: 0,
        }
    }
}

/// What runs it.
pub(super) enum Backend {
    Cpu(Box<Stepper<Box<dyn Runner>>>),
    Vulkan(Box<Stepper<Frames<GpuAllocator>>>),
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

    pub fn on_vulkan(&mut self, what: &str) -> std::result::Result<&mut Stepper<Frames<GpuAllocator>>, Failure> {
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
    /// The snapshot that was asked for last, as bytes.
    pub snapshot: Vec<u8>,
}

/// A world on a device. Calls from several threads wait for each other.
pub struct DrystoneStepper {
    inside: Mutex<Inside>,
}

impl DrystoneStepper {
    fn new(backend: Backend) -> Self {
        let inside =
            Inside { backend, prepared: None, reports: VecDeque::new(), events: Vec::new(), snapshot: Vec::new() };
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

/// Fills in the choices of a stepper when nobody says anything. Set `struct_size` before.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_stepper_defaults(desc: *mut DrystoneStepperDesc) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe { write("desc", desc, &DrystoneStepperDesc::defaults()) })
}

fn room(desc: &DrystoneStepperDesc) -> Capacities {
    let &DrystoneStepperDesc { bodies, colliders, pairs, manifolds, joints, .. } = desc;
    Capacities { bodies, colliders, pairs, manifolds, joints, ..Default::default() }
}

/// Makes a stepper of an empty world. `make` brings it onto a device.
///
/// # Safety
/// Pointers are as the C functions ask for.
unsafe fn create(
    desc: *const DrystoneStepperDesc,
    to: *mut *mut DrystoneStepper,
    make: impl FnOnce(&DrystoneStepperDesc, World) -> std::result::Result<Backend, Failure>,
) -> std::result::Result<(), Failure> {
    // SAFETY: this function's contract.
    unsafe { put("stepper", to, std::ptr::null_mut()) }?;
    // SAFETY: as above.
    let desc = if desc.is_null() { DrystoneStepperDesc::defaults() } else { unsafe { read("desc", desc) }? };
    if desc.overflow > 1 || desc.timing > 1 || desc.recorded_once > 1 {
        return Err(Failure::value("DrystoneStepperDesc: overflow, timing and recorded_once must be 0 or 1"));
    }
    if !(1..=64).contains(&desc.frames_in_flight) {
        let text = format!("DrystoneStepperDesc.frames_in_flight is {}: it must be 1 to 64", desc.frames_in_flight);
        return Err(Failure::value(text));
    }
    let mut world = World::new();
    world.set_gravity(desc.gravity.into())?;
    let mut backend = make(&desc, world)?;
    if desc.memory_limit > 0 {
        either!(&mut backend, s => s.limit_memory(Some(desc.memory_limit)));
    }
    let stepper = Box::into_raw(Box::new(DrystoneStepper::new(backend)));
    // SAFETY: as above.
    unsafe { put("stepper", to, stepper) }
}

/// Makes a stepper of an empty world on the CPU. `desc` may be NULL.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_stepper_create_cpu(
    desc: *const DrystoneStepperDesc,
    stepper: *mut *mut DrystoneStepper,
) -> DrystoneResult {
    let make = |desc: &DrystoneStepperDesc, world: World| {
        let device = Device::Cpu { threads: (desc.threads > 0).then_some(desc.threads as usize) };
        let room = crate::stepper::first_capacities(&world).at_least(&room(desc));
        let stepper = Stepper::with_user_buffers(&device, world, Settings::default(), room, Vec::new())?;
        Ok(Backend::Cpu(Box::new(stepper)))
    };
    // SAFETY: this function's contract.
    done(|| unsafe { create(desc, stepper, make) })
}

/// Makes a stepper of an empty world that records into the host's command buffers. `desc` may be NULL. It keeps what it
/// needs of the kernels: those may be destroyed before it.
///
/// # Safety
/// As at the top of this header; the device outlives the stepper.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_stepper_create_vulkan(
    kernels: *const DrystoneKernels,
    desc: *const DrystoneStepperDesc,
    stepper: *mut *mut DrystoneStepper,
) -> DrystoneResult {
    let make = |desc: &DrystoneStepperDesc, world: World| {
        // SAFETY: this function's contract.
        let kernels = unsafe { kernels.as_ref() }.ok_or_else(|| Failure::pointer("kernels", true))?;
        let options = FramesOptions {
            frames_in_flight: desc.frames_in_flight,
            timing: if desc.timing == 1 { Timing::Passes } else { Timing::Off },
            overflow: if desc.overflow == 1 { Overflow::Partial } else { Overflow::Skip },
            recorded_once: desc.recorded_once == 1,
            capacities: room(desc),
            user_buffers: Vec::new(),
        };
        // SAFETY: this function's contract: the host's handles outlive the stepper.
        let stepper = unsafe {
            let memory = GpuAllocator::new(&kernels.host)?;
            Stepper::in_frames(&kernels.kernels, memory, world, Settings::default(), options)?
        };
        Ok(Backend::Vulkan(Box::new(stepper)))
    };
    // SAFETY: this function's contract.
    done(|| unsafe { create(desc, stepper, make) })
}

/// Destroys a stepper. NULL is ignored. On Vulkan the device is through with every frame that was recorded.
///
/// # Safety
/// As at the top of this header; nothing uses the stepper any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_stepper_destroy(stepper: *mut DrystoneStepper) -> DrystoneResult {
    done(|| {
        if !stepper.is_null() {
            // SAFETY: made by `Box::into_raw` in `create`, and destroyed once.
            drop(unsafe { Box::from_raw(stepper) });
        }
        Ok(())
    })
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

/// Gets everything ready for a step of `dt` seconds, above 0 and up to 1. Takes over what was said to the world, and may
/// allocate. `completed` is the number of the last frame that the device is through with, 0 at first; the CPU backend ignores
/// it. What was prepared and neither recorded nor run is undone by the next call.
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

/// Runs what was prepared, on the CPU. `frame` gets the number of the frame and may be NULL; `drystone_poll` has its report.
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

/// Tells what the oldest frame did whose report was not told yet: of frames up to `completed`, each once, in their order.
/// Never waits. `DRYSTONE_RESULT_NOTHING` when there is none. `drystone_report_event` has its events until the next call.
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
            inside.events = inside.reports.pop_front().map(|r| r.events).unwrap_or_default();
            Ok(DrystoneResult::Ok)
        })
    })
}

#[cfg(test)]
mod tests {
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
