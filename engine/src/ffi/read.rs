//! What a C host reads: states and poses of bodies, hashes of poses, snapshots.

use super::convert::body_handle;
use super::describe::DrystoneBody;
use super::error::{DrystoneResult, Failure, done, guard};
use super::sized::{Struct, put, slice, write};
use super::stepper::{Backend, DrystoneStepper, either, with};
use super::vulkan::VkCommandBuffer;
use crate::Snapshot;
use crate::layout::BodyPose;
use crate::metrics::pose_hash;
use crate::stepper::BodyState;
use ash::vk::Handle;

/// Position, rotation and velocities of a body.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DrystoneBodyState {
    /// sizeof(DrystoneBodyState).
    pub struct_size: u32,
    /// 0 when its state was not finite and it was taken out.
    pub enabled: u32,
    /// Of its origin.
    pub position: [f32; 3],
    /// From body space to world space: x, y, z and the scalar part.
    pub rotation: [f32; 4],
    /// Of its centre of mass.
    pub linear_velocity: [f32; 3],
    /// In world space.
    pub angular_velocity: [f32; 3],
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers take any bytes.
unsafe impl Struct for DrystoneBodyState {
    const NAME: &'static str = "DrystoneBodyState";

    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, ..Self::default() }
    }
}

impl From<BodyState> for DrystoneBodyState {
    fn from(state: BodyState) -> Self {
        Self {
            enabled: state.enabled.into(),
            position: state.position.into(),
            rotation: state.rotation.into(),
            linear_velocity: state.linear_velocity.into(),
            angular_velocity: state.angular_velocity.into(),
            ..Self::defaults()
        }
    }
}

/// The pose of a body as its user described it, as it lies in the buffers of `DrystonePoseView`: 32 bytes. An element
/// of a buffer: it has no size in front, but a version, DRYSTONE_POSE_VERSION.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DrystoneBodyPose {
    /// Of the body's origin, metres.
    pub position: [f32; 3],
    /// 1 for a body that is there; 0 for a slot without one, or one that was taken out.
    pub present: u32,
    /// From body space to world space: x, y, z and the scalar part, of length 1.
    pub rotation: [f32; 4],
}

const _: () = assert!(size_of::<DrystoneBodyPose>() == size_of::<BodyPose>());

/// Reads the state of a body after the last step, on the CPU.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_body_state(
    stepper: *mut DrystoneStepper,
    body: DrystoneBody,
    state: *mut DrystoneBodyState,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let body = body_handle(body)?;
        let found = with(stepper, |inside| Ok(inside.backend.on_cpu("drystone_body_state")?.body(body)?))?;
        write("state", state, &found.into())
    })
}

/// Reads the poses of all body slots after the last step, on the CPU. `count` gets the number of slots; when there is
/// not room for as many, `capacity`, nothing is written and the call fails, unless `poses` is NULL.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_read_poses(
    stepper: *mut DrystoneStepper,
    poses: *mut DrystoneBodyPose,
    capacity: u32,
    count: *mut u32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let bodies = with(stepper, |inside| Ok(inside.backend.on_cpu("drystone_read_poses")?.bodies()?))?;
        let slots = bodies.iter().map(|(body, _)| body.index() + 1).max().unwrap_or(0);
        put("count", count, slots)?;
        if poses.is_null() {
            return Ok(());
        }
        if capacity < slots {
            return Err(Failure::value(format!("there is room for {capacity} poses, and {slots} body slots")));
        }
        let mut all = vec![DrystoneBodyPose::default(); slots as usize];
        for (body, state) in bodies {
            let (position, rotation) = (state.position.into(), state.rotation.into());
            all[body.index() as usize] = DrystoneBodyPose { position, present: state.enabled.into(), rotation };
        }
        for (i, pose) in all.into_iter().enumerate() {
            put("poses", poses.add(i), pose)?;
        }
        Ok(())
    })
}

/// A hash of the poses that are present, with their slots: the same poses have the same, to the bit.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_pose_hash(
    poses: *const DrystoneBodyPose,
    count: u32,
    hash: *mut u64,
) -> DrystoneResult {
    // SAFETY: this function's contract; both poses are the same numbers in the same places.
    done(|| unsafe {
        let poses: &[BodyPose] = slice("poses", poses.cast(), count as usize)?;
        put("hash", hash, pose_hash(poses))
    })
}

/// Takes a snapshot of the world as it is now, on the CPU: `drystone_snapshot_bytes` has it.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_take_snapshot(stepper: *mut DrystoneStepper) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        with(stepper, |inside| {
            inside.snapshot = inside.backend.on_cpu("drystone_take_snapshot")?.snapshot()?.to_bytes();
            Ok(())
        })
    })
}

/// Makes room for a snapshot in the host's frames. Call it between `drystone_prepare` and `drystone_record`; it
/// allocates.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_reserve_snapshot(stepper: *mut DrystoneStepper) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        with(stepper, |inside| Ok(inside.backend.on_vulkan("drystone_reserve_snapshot")?.reserve_snapshot()?))
    })
}

/// Records copies of what the frame that was recorded last leaves behind. `drystone_poll_snapshot` has the snapshot
/// when that frame is done. `frame` gets its number and may be NULL.
///
/// # Safety
/// As for `drystone_record`; the commands come behind those of the frame, which is not done before they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_record_snapshot(
    stepper: *mut DrystoneStepper,
    commands: VkCommandBuffer,
    frame: *mut u64,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        if commands.is_null() {
            return Err(Failure::pointer("commands", true));
        }
        let number = with(stepper, |inside| {
            Ok(inside.backend.on_vulkan("drystone_record_snapshot")?.record_snapshot(commands)?)
        })?;
        if frame.is_null() { Ok(()) } else { put("frame", frame, number) }
    })
}

/// Takes the snapshot that was recorded last with frames up to `completed`: `drystone_snapshot_bytes` has it then.
/// Earlier ones are dropped. `DRYSTONE_RESULT_NOTHING` when there is none. `frame` gets its frame and may be NULL.
///
/// # Safety
/// As at the top of this header; frames up to `completed` are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_poll_snapshot(
    stepper: *mut DrystoneStepper,
    completed: u64,
    frame: *mut u64,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    guard(|| unsafe {
        let found = with(stepper, |inside| {
            let done = inside.backend.on_vulkan("drystone_poll_snapshot")?.poll_snapshots(completed)?;
            Ok(done.into_iter().next_back().map(|(frame, snapshot)| {
                inside.snapshot = snapshot.to_bytes();
                frame
            }))
        })?;
        let Some(number) = found else { return Ok(DrystoneResult::Nothing) };
        if !frame.is_null() {
            put("frame", frame, number)?;
        }
        Ok(DrystoneResult::Ok)
    })
}

/// The snapshot that was taken last. The bytes stay valid until the next one is taken, or the stepper is destroyed.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_snapshot_bytes(
    stepper: *const DrystoneStepper,
    bytes: *mut *const u8,
    size: *mut usize,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    guard(|| unsafe {
        let (start, length) = with(stepper, |inside| Ok((inside.snapshot.as_ptr(), inside.snapshot.len())))?;
        put("bytes", bytes, if length == 0 { std::ptr::null() } else { start })?;
        put("size", size, length)?;
        Ok(if length == 0 { DrystoneResult::Nothing } else { DrystoneResult::Ok })
    })
}

/// The world becomes that of a snapshot, whatever it was before; handles are those of the snapshot, too. In the host's
/// frames with the next frame that is recorded. On failure the world stays what it was.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_restore(
    stepper: *mut DrystoneStepper,
    bytes: *const u8,
    size: usize,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let snapshot = Snapshot::from_bytes(slice("bytes", bytes, size)?)?;
        with(stepper, |inside| Ok(either!(&mut inside.backend, s => s.restore(&snapshot))?))
    })
}

/// Keeps the state behind every frame from the next one on, so that `drystone_roll_back` can go back by up to so many.
/// 0, the default, keeps nothing.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_keep_frames(stepper: *mut DrystoneStepper, frames: u32) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        with(stepper, |inside| {
            either!(&mut inside.backend, s => s.keep_frames(frames));
            Ok(())
        })
    })
}

/// Goes back to the state behind a frame that is kept. Everything that was said to the world since that frame was
/// prepared is undone; handles given out since are void.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_roll_back(stepper: *mut DrystoneStepper, frame: u64) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe { with(stepper, |inside| Ok(either!(&mut inside.backend, s => s.roll_back(frame))?)) })
}
