//! Poses between two frames, written into buffers of a C host's with its stride.

use super::error::{DrystoneResult, Failure, done};
use super::frames::{DrystoneAccess, access};
use super::sized::{Struct, put, read};
use super::stepper::{DrystoneStepper, with};
use super::vulkan::{VkBuffer, VkCommandBuffer};
use crate::vulkan::{LentPoses, PoseTarget};
use ash::vk::Handle;

/// A buffer of the host's that was lent; 0 is none.
pub type DrystoneLentPoses = u64;

/// A buffer of the host's that poses are written into: one `DrystoneBodyPose` for each body slot. Bytes between the poses
/// are not touched.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystonePoseTarget {
    /// sizeof(DrystonePoseTarget).
    pub struct_size: u32,
    /// Bytes from one pose to the next: a multiple of 4, at least 32.
    pub stride: u32,
    /// The buffer, made with VK_BUFFER_USAGE_STORAGE_BUFFER_BIT.
    pub buffer: VkBuffer,
    /// First byte of the first pose: a multiple of 4.
    pub offset: u64,
    /// Body slots there is room for; those behind them are not written.
    pub count: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers take any bytes.
unsafe impl Struct for DrystonePoseTarget {
    const NAME: &'static str = "DrystonePoseTarget";

    fn defaults() -> Self {
        let struct_size = size_of::<Self>() as u32;
        Self { struct_size, stride: 32, buffer: VkBuffer::null(), offset: 0, count: 0, reserved: 0 }
    }
}

/// Lends a buffer for `drystone_record_poses`: for hosts that draw more or fewer frames than the physics makes. Any
/// number may be lent, for example one for each frame in flight.
///
/// # Safety
/// As at the top of this header; the buffer is of the stepper's device, as large as `target` says, and alive until it is
/// given back or the stepper destroyed, and the device is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_lend_pose_buffer(
    stepper: *mut DrystoneStepper,
    target: *const DrystonePoseTarget,
    lent: *mut DrystoneLentPoses,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        put("lent", lent, 0)?;
        let target = read("target", target)?;
        if target.buffer.is_null() || target.reserved != 0 {
            let what = if target.reserved == 0 { "buffer is VK_NULL_HANDLE" } else { "reserved must be 0" };
            return Err(Failure::value(format!("DrystonePoseTarget: {what}")));
        }
        let number = with(stepper, |inside| {
            let stepper = inside.backend.on_vulkan("drystone_lend_pose_buffer")?;
            let target = PoseTarget::new(target.buffer, target.offset, target.stride, target.count);
            Ok(stepper.lend_pose_buffer(target)?.number())
        })?;
        put("lent", lent, number)
    })
}

/// Takes a lent buffer back. The next recorded frame may still use it; frames behind that do not.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_return_pose_buffer(
    stepper: *mut DrystoneStepper,
    lent: DrystoneLentPoses,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        with(stepper, |inside| {
            let stepper = inside.backend.on_vulkan("drystone_return_pose_buffer")?;
            let lent = known(stepper.has_pose_buffer(LentPoses::numbered(lent)), lent)?;
            stepper.return_pose_buffer(lent);
            Ok(())
        })
    })
}

fn known(there: bool, number: DrystoneLentPoses) -> Result<LentPoses, Failure> {
    let text = "`lent` is no buffer that this stepper has: it was given back, or never lent";
    if there { Ok(LentPoses::numbered(number)) } else { Err(Failure::new(DrystoneResult::ErrorStale, text)) }
}

/// Records writing poses into a lent buffer: those at `part`, 0 to 1, of the way from the frame before the last recorded
/// one to the last. `commands` may be any behind those of that frame, with a step in them or without. It does not
/// submit, wait or allocate.
///
/// On entry it waits for what `entry` names, such as a vertex shader's reads of the buffer; on exit the poses are
/// visible to what `exit` names. Either may be NULL. Where they name another queue family, the bytes from the first
/// pose to the last are acquired and released as those of `drystone_record` are.
///
/// # Safety
/// As for `drystone_record`; the poses of `DrystonePoseView` are not with another queue family.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_record_poses(
    stepper: *mut DrystoneStepper,
    commands: VkCommandBuffer,
    lent: DrystoneLentPoses,
    part: f32,
    entry: *const DrystoneAccess,
    exit: *const DrystoneAccess,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let (entry, exit) = (access("entry", entry)?, access("exit", exit)?);
        if commands.is_null() {
            return Err(Failure::pointer("commands", true));
        }
        if !(0.0..=1.0).contains(&part) {
            return Err(Failure::value(format!("`part` is {part}: it must be 0 to 1")));
        }
        with(stepper, |inside| {
            let stepper = inside.backend.on_vulkan("drystone_record_poses")?;
            let lent = known(stepper.has_pose_buffer(LentPoses::numbered(lent)), lent)?;
            stepper.record_poses(commands, lent, part, entry, exit);
            Ok(())
        })
    })
}
