//! What a C host reads of joints, and buffers of its own that have an element for every body, collider or joint.

use super::convert::joint_handle;
use super::describe::DrystoneJoint;
use super::error::{DrystoneResult, Failure, done, guard};
use super::settings::text;
use super::sized::{Struct, read_list, slice, write};
use super::stepper::{Backend, DrystoneStepper, Inside, either, with};
use super::vulkan::VkBuffer;
use crate::backend::Runner;
use crate::plan::BufferId;
use crate::state::{List, UserBuffer};
use crate::stepper::{JointForce, JointState};
use std::ffi::c_char;

/// Force and error of a joint.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DrystoneJointState {
    /// sizeof(DrystoneJointState).
    pub struct_size: u32,
    /// 1 when it is broken.
    pub broken: u32,
    /// On body a at its anchor in the last step, newtons in world space; b gets the opposite. Of one that broke in that
    /// step, the force at which it broke.
    pub force: [f32; 3],
    /// On body a, from what the joint does about angles, newton metres in world space.
    pub torque: [f32; 3],
    /// How far the bodies are from where it holds them, metres; 0 when it is broken.
    pub linear_error: f64,
    /// The same in radians.
    pub angular_error: f64,
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers take any bytes.
unsafe impl Struct for DrystoneJointState {
    const NAME: &'static str = "DrystoneJointState";

    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, ..Self::default() }
    }
}

impl From<JointState> for DrystoneJointState {
    fn from(state: JointState) -> Self {
        Self {
            broken: state.broken.into(),
            force: state.force.into(),
            torque: state.torque.into(),
            linear_error: state.error.linear,
            angular_error: state.error.angular,
            ..Self::defaults()
        }
    }
}

/// Force of a joint as it lies in the buffer of `drystone_joint_forces`: 24 bytes. An element of a buffer: it has no
/// size in front, but `DrystoneBufferView.stride`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DrystoneJointForce {
    /// On body a at its anchor, newtons in world space.
    pub force: [f32; 3],
    /// On body a, newton metres in world space.
    pub torque: [f32; 3],
}

const _: () = assert!(size_of::<DrystoneJointForce>() == size_of::<JointForce>());

/// Where a buffer lies that has an element by slot.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneBufferView {
    /// sizeof(DrystoneBufferView).
    pub struct_size: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// The buffer, for storage, copies and instance data.
    pub buffer: VkBuffer,
    /// First byte in it.
    pub offset: u64,
    /// Changes whenever the buffer does.
    pub generation: u64,
    /// Elements there are.
    pub count: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: as above.
unsafe impl Struct for DrystoneBufferView {
    const NAME: &'static str = "DrystoneBufferView";

    fn defaults() -> Self {
        let (struct_size, buffer) = (size_of::<Self>() as u32, VkBuffer::null());
        Self { struct_size, stride: 0, buffer, offset: 0, generation: 0, count: 0, reserved: 0 }
    }
}

/// Lists of a world.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneList {
    /// Bodies, by `drystone_body_slot`.
    Bodies = 0,
    /// Colliders, those of a body side by side.
    Colliders = 1,
    /// Joints, by `drystone_joint_slot`.
    Joints = 2,
}

/// A buffer of the host's own, with an element for every body, collider or joint. It begins with zeros, is carried over
/// when lists grow, and is in snapshots and frames that are kept.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneUserBuffer {
    /// sizeof(DrystoneUserBuffer).
    pub struct_size: u32,
    /// A `DrystoneList`.
    pub each: u32,
    /// Its name, which no other buffer has. It is copied.
    pub name: *const c_char,
    /// Bytes an element, a multiple of 4.
    pub stride: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: as above.
unsafe impl Struct for DrystoneUserBuffer {
    const NAME: &'static str = "DrystoneUserBuffer";

    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, each: 0, name: std::ptr::null(), stride: 0, reserved: 0 }
    }
}

/// Buffers of a host's own as it describes them.
///
/// # Safety
/// As for [`read_list`]; names are NULL or end with a 0.
pub(super) unsafe fn user_buffers(from: *const DrystoneUserBuffer, count: u32) -> Result<Vec<UserBuffer>, Failure> {
    // SAFETY: this function's contract.
    let described = unsafe { read_list("user_buffers", from, count) }?;
    let one = |(i, desc): (usize, DrystoneUserBuffer)| {
        let each = match desc.each {
            0 => List::Bodies,
            1 => List::Colliders,
            2 => List::Joints,
            other => return Err(Failure::value(format!("user_buffers[{i}].each is {other}: no DrystoneList has it"))),
        };
        // SAFETY: this function's contract.
        let name = unsafe { text(desc.name) }?.to_owned();
        Ok(UserBuffer { name, stride: desc.stride, each })
    };
    described.into_iter().enumerate().map(one).collect()
}

/// Reads force and error of a joint after the last step, on the CPU.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_joint_state(
    stepper: *mut DrystoneStepper,
    joint: DrystoneJoint,
    state: *mut DrystoneJointState,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let joint = joint_handle(joint)?;
        let found = with(stepper, |inside| Ok(inside.backend.on_cpu("drystone_joint_state")?.joint(joint)?))?;
        write("state", state, &found.into())
    })
}

/// Slot of a joint in the engine's buffers: its place in `drystone_joint_forces`. Of 0, UINT32_MAX.
#[unsafe(no_mangle)]
pub extern "C" fn drystone_joint_slot(joint: DrystoneJoint) -> u32 {
    joint_handle(joint).map_or(u32::MAX, |joint| joint.index())
}

/// Tells where the forces of all joints lie, `DrystoneJointForce` by slot, as each step leaves them, for the host's own
/// shaders or copies: nothing waits. Ask again after every `drystone_prepare`: growth brings other buffers.
/// `DRYSTONE_RESULT_NOTHING` when there is no joint.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_joint_forces(
    stepper: *mut DrystoneStepper,
    view: *mut DrystoneBufferView,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    guard(|| unsafe {
        let found = with(stepper, |inside| Ok(inside.backend.on_vulkan("drystone_joint_forces")?.joint_forces()))?;
        let there = found.map(|v| DrystoneBufferView {
            stride: v.stride,
            buffer: v.buffer,
            offset: v.offset,
            generation: v.generation,
            count: v.count,
            ..DrystoneBufferView::defaults()
        });
        write("view", view, &there.unwrap_or(DrystoneBufferView::defaults()))?;
        Ok(if there.is_some() { DrystoneResult::Ok } else { DrystoneResult::Nothing })
    })
}

/// Tells where a buffer of the host's own lies. Ask again after every `drystone_prepare`: growth brings other buffers.
/// Between `drystone_record` of one frame and the next it is the host's to read and write: `entry` and `exit` of frames
/// name what it does.
///
/// # Safety
/// As at the top of this header; `name` is NULL or ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_user_buffer(
    stepper: *mut DrystoneStepper,
    name: *const c_char,
    view: *mut DrystoneBufferView,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let name = text(name)?;
        let found = with(stepper, |inside| {
            let stepper = inside.backend.on_vulkan("drystone_user_buffer")?;
            stepper.user_buffer(name).ok_or_else(|| no_buffer(name))
        })?;
        let there = DrystoneBufferView {
            stride: found.stride,
            buffer: found.buffer,
            offset: found.offset,
            generation: found.generation,
            count: found.count,
            ..DrystoneBufferView::defaults()
        };
        write("view", view, &there)
    })
}

fn no_buffer(name: &str) -> Failure {
    Failure::value(format!("`{name}` is no buffer of DrystoneStepperDesc.user_buffers"))
}

/// A buffer of the host's own by name, and its bytes.
fn on_cpu(inside: &mut Inside, name: &str) -> Result<(BufferId, u64), Failure> {
    let there = either!(&inside.backend, s => s.user_buffers().iter().any(|b| b.name == name));
    let recording = either!(&inside.backend, s => &s.plan().recording);
    let found = recording.find(name).filter(|_| there).ok_or_else(|| no_buffer(name))?;
    Ok((found, recording.info(found).map_or(0, |info| info.capacity())))
}

/// Reads or writes bytes of a buffer of the host's own, on the CPU.
///
/// # Safety
/// As for [`with`] and [`text`].
unsafe fn transfer(
    stepper: *mut DrystoneStepper,
    (name, first, size): (*const c_char, u64, usize),
    what: &str,
    call: impl FnOnce(&mut dyn Runner, BufferId) -> crate::Result<()>,
) -> Result<(), Failure> {
    // SAFETY: this function's contract.
    unsafe {
        let name = text(name)?;
        with(stepper, |inside| {
            inside.backend.on_cpu(what)?;
            let (buffer, there) = on_cpu(inside, name)?;
            if first.checked_add(size as u64).is_none_or(|end| end > there) {
                let text = format!("{size} bytes from byte {first} on of `{name}`, which has {there}");
                return Err(Failure::value(text));
            }
            Ok(call(inside.backend.on_cpu(what)?.runner(), buffer)?)
        })
    }
}

/// Reads `size` bytes of a buffer of the host's own from byte `first` on, on the CPU.
///
/// # Safety
/// As at the top of this header; `name` is NULL or ends with a 0, `bytes` has room for `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_read_user_buffer(
    stepper: *mut DrystoneStepper,
    name: *const c_char,
    first: u64,
    bytes: *mut u8,
    size: usize,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        slice::<u8>("bytes", bytes, size)?;
        let mut found = vec![0; size];
        let read = |runner: &mut dyn Runner, buffer| runner.read_bytes(buffer, first, &mut found);
        transfer(stepper, (name, first, size), "drystone_read_user_buffer", read)?;
        bytes.copy_from_nonoverlapping(found.as_ptr(), size);
        Ok(())
    })
}

/// Writes `size` bytes of a buffer of the host's own from byte `first` on, on the CPU. Both are multiples of 4.
///
/// # Safety
/// As at the top of this header; `name` is NULL or ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_write_user_buffer(
    stepper: *mut DrystoneStepper,
    name: *const c_char,
    first: u64,
    bytes: *const u8,
    size: usize,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let said = slice("bytes", bytes, size)?;
        let write = |runner: &mut dyn Runner, buffer| runner.write_bytes(buffer, first, said);
        transfer(stepper, (name, first, size), "drystone_write_user_buffer", write)
    })
}
