//! Steps in the host's command buffers, as C records them, and where the poses lie.

use super::error::{DrystoneResult, Failure, done};
use super::sized::{Struct, put, read, write};
use super::stepper::{DrystoneStepper, with};
use super::vulkan::{VkBuffer, VkCommandBuffer};
use crate::vulkan::HostAccess;
use ash::vk::{self, Handle};

/// The layout of `DrystoneBodyPose` that this header has.
pub const DRYSTONE_POSE_VERSION: u32 = 1;

/// What the host's own commands do with the engine's buffers before or behind a frame.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneAccess {
    /// sizeof(DrystoneAccess).
    pub struct_size: u32,
    /// VkPipelineStageFlags: stages that read or write.
    pub stages: u32,
    /// VkAccessFlags: what they do there.
    pub access: u32,
    /// 1 when they are on a queue of another family, `queue_family`: see `drystone_record`. 0: on the same queue.
    pub transfer: u32,
    /// With `transfer`: the family that the buffers of `DrystonePoseView` come from on entry, or go to on exit.
    pub queue_family: u32,
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers take any bytes.
unsafe impl Struct for DrystoneAccess {
    const NAME: &'static str = "DrystoneAccess";

    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, stages: 0, access: 0, transfer: 0, queue_family: 0 }
    }
}

/// Where the poses of all bodies lie: `DrystoneBodyPose` by body slot, as instance data or as a storage buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystonePoseView {
    /// sizeof(DrystonePoseView).
    pub struct_size: u32,
    /// DRYSTONE_POSE_VERSION: another number is another layout.
    pub version: u32,
    /// Poses behind the frame that was recorded last.
    pub current: VkBuffer,
    /// Poses behind the frame before it.
    pub previous: VkBuffer,
    /// First byte in either.
    pub offset: u64,
    /// Changes whenever the buffers do.
    pub generation: u64,
    /// Bytes from one body to the next.
    pub stride: u32,
    /// Body slots there is room for.
    pub count: u32,
}

// SAFETY: as above.
unsafe impl Struct for DrystonePoseView {
    const NAME: &'static str = "DrystonePoseView";

    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            version: DRYSTONE_POSE_VERSION,
            current: VkBuffer::null(),
            previous: VkBuffer::null(),
            offset: 0,
            generation: 0,
            stride: 0,
            count: 0,
        }
    }
}

/// # Safety
/// As for [`read`].
pub(super) unsafe fn access(name: &str, from: *const DrystoneAccess) -> Result<Option<HostAccess>, Failure> {
    if from.is_null() {
        return Ok(None);
    }
    // SAFETY: this function's contract.
    let DrystoneAccess { stages, access, transfer, queue_family, .. } = unsafe { read(name, from) }?;
    if stages == 0 {
        return Err(Failure::value(format!("`{name}` names no stages: name some, or give NULL")));
    }
    let (stages, access) = (vk::PipelineStageFlags::from_raw(stages), vk::AccessFlags::from_raw(access));
    let named = HostAccess::new(stages, access);
    match transfer {
        0 => Ok(Some(named)),
        1 => Ok(Some(named.on_family(queue_family))),
        _ => Err(Failure::value(format!("`{name}`: transfer is {transfer}: it must be 0 or 1"))),
    }
}

/// Records what was prepared: it does not submit, wait or allocate device memory. `frame` gets the number of the frame,
/// from 1 on, and may be NULL.
///
/// On entry it waits for what `entry` names, the host's reads and writes of the engine's buffers. On exit what it wrote
/// is visible to what `exit` names. Either may be NULL: then the host's own barriers or semaphores see to it. The
/// compute pipeline, descriptor set 0 of the compute bind point and the push constants are overwritten.
///
/// Where `exit` names another queue family, both buffers of `DrystonePoseView`, from byte 0 to VK_WHOLE_SIZE, are
/// released to it; the host acquires them there, behind a semaphore, and releases them to its
/// `DrystoneVulkanHost.queue_family` when it is done. Where `entry` names the family, they are acquired again, behind a
/// semaphore; those that were never released to it, such as in the first frame and buffers that growth has made since,
/// are left out. The library's halves name the stages of its own queue only: `stages` and `access` are the host's.
/// Nothing is handed over to families of `DrystoneStepperDesc.shared_families`.
///
/// # Safety
/// As at the top of this header; `commands` is in the recording state, outside a render pass, of the host's queue
/// family, which has the stages of `entry` and `exit` unless they are of another, and is submitted once, in the order
/// of recording, to one queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_record(
    stepper: *mut DrystoneStepper,
    commands: VkCommandBuffer,
    entry: *const DrystoneAccess,
    exit: *const DrystoneAccess,
    frame: *mut u64,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let (entry, exit) = (access("entry", entry)?, access("exit", exit)?);
        if commands.is_null() {
            return Err(Failure::pointer("commands", true));
        }
        let number = with(stepper, |inside| {
            inside.backend.on_vulkan("drystone_record")?;
            let prepared = inside.take_prepared()?;
            Ok(inside.backend.on_vulkan("drystone_record")?.record(commands, prepared, entry, exit))
        })?;
        if frame.is_null() { Ok(()) } else { put("frame", frame, number) }
    })
}

/// Tells where the poses lie. Ask again after every `drystone_prepare`: growth brings other buffers.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_poses(
    stepper: *const DrystoneStepper,
    poses: *mut DrystonePoseView,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        with(stepper, |inside| {
            let found = inside.backend.on_vulkan("drystone_poses")?.poses();
            let none = || Failure::new(DrystoneResult::ErrorOther, "the plan has no poses");
            let found = found.ok_or_else(none)?;
            let told = DrystonePoseView {
                version: found.version,
                current: found.current,
                previous: found.previous,
                offset: found.offset,
                generation: found.generation,
                stride: found.stride,
                count: found.count,
                ..DrystonePoseView::defaults()
            };
            write("poses", poses, &told)
        })
    })
}
