//! Steppers are made and destroyed here: what a C host chooses, and on what it runs.

use super::buffers::{DrystoneUserBuffer, user_buffers};
use super::error::{DrystoneResult, Failure, done};
use super::memory::{DrystoneAllocator, FfiMemory};
use super::sized::{Struct, put, read, slice, write};
use super::stepper::{Backend, DrystoneStepper, either};
use super::vulkan::DrystoneKernels;
use crate::Settings;
use crate::backend::Device;
use crate::state::Capacities;
use crate::stepper::Stepper;
use crate::vulkan::{FramesOptions, MOST_IN_FLIGHT, Overflow, Timing};
use crate::world::World;

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
    /// 1 to record the commands of a step once, when lists grow or settings change, and only call them in a frame:
    /// recording is then a matter of microseconds. Command buffers must be primary ones, outside of render passes.
    /// Vulkan only.
    pub recorded_once: u32,
    /// Events of a frame that are told one by one, at most; those beyond are counted. 0, the default: by the size of
    /// the world, up to 4096.
    pub events: u32,
    /// How many queue families `shared_families` has.
    pub shared_family_count: u32,
    /// Queue families that use the library's buffers beside `DrystoneVulkanHost.queue_family`: then they are made with
    /// VK_SHARING_MODE_CONCURRENT. They are copied. Vulkan only.
    pub shared_families: *const u32,
    /// Where device memory comes from, or NULL. It is copied. Vulkan only.
    pub allocator: *const DrystoneAllocator,
    /// Buffers of the host's own. They are copied.
    pub user_buffers: *const DrystoneUserBuffer,
    /// How many there are.
    pub user_buffer_count: u32,
    /// 0.
    pub reserved: u32,
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
            events: 0,
            shared_family_count: 0,
            shared_families: std::ptr::null(),
            allocator: std::ptr::null(),
            user_buffers: std::ptr::null(),
            user_buffer_count: 0,
            reserved: 0,
        }
    }
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
    let &DrystoneStepperDesc { bodies, colliders, pairs, manifolds, joints, events, .. } = desc;
    Capacities { bodies, colliders, pairs, manifolds, joints, events, ..Default::default() }
}

/// Makes a stepper of an empty world. `make` brings it onto a device.
///
/// # Safety
/// Pointers are as the C functions ask for.
unsafe fn create(
    desc: *const DrystoneStepperDesc,
    to: *mut *mut DrystoneStepper,
    make: impl FnOnce(&DrystoneStepperDesc, World) -> Result<Backend, Failure>,
) -> Result<(), Failure> {
    // SAFETY: this function's contract.
    unsafe { put("stepper", to, std::ptr::null_mut()) }?;
    // SAFETY: as above.
    let desc = if desc.is_null() { DrystoneStepperDesc::defaults() } else { unsafe { read("desc", desc) }? };
    if desc.overflow > 1 || desc.timing > 1 || desc.recorded_once > 1 {
        return Err(Failure::value("DrystoneStepperDesc: overflow, timing and recorded_once must be 0 or 1"));
    }
    if !(1..=MOST_IN_FLIGHT).contains(&desc.frames_in_flight) {
        let text = format!(
            "DrystoneStepperDesc.frames_in_flight is {}: it must be 1 to {MOST_IN_FLIGHT}",
            desc.frames_in_flight
        );
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
        // SAFETY: this function's contract.
        let user = unsafe { user_buffers(desc.user_buffers, desc.user_buffer_count) }?;
        let stepper = Stepper::with_user_buffers(&device, world, Settings::default(), room, user)?;
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
            // SAFETY: this function's contract.
            user_buffers: unsafe { user_buffers(desc.user_buffers, desc.user_buffer_count) }?,
            // SAFETY: this function's contract.
            shared_with: unsafe { slice("shared_families", desc.shared_families, desc.shared_family_count as usize) }?
                .to_vec(),
        };
        // SAFETY: this function's contract: the host's handles and its allocator outlive the stepper.
        let stepper = unsafe {
            let memory = FfiMemory::new(&kernels.host, desc.allocator)?;
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
