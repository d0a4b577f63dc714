//! What a C host says to its world between steps. Everything is checked when it is said, and takes effect with the next
//! step.

use super::convert::{axis, body, body_handle, from_body, from_joint, joint, joint_handle};
use super::describe::{DrystoneAxis, DrystoneBody, DrystoneBodyDesc, DrystoneJoint, DrystoneJointDesc};
use super::error::{DrystoneResult, Failure, done};
use super::sized::{put, read, slice};
use super::stepper::{DrystoneStepper, with};
use crate::glam::{Quat, Vec3};
use crate::world::{BodyHandle, World, WorldError};

/// # Safety
/// `pointer` is NULL or points to 3 floats.
unsafe fn vector(name: &str, pointer: *const f32) -> Result<Vec3, Failure> {
    // SAFETY: this function's contract.
    unsafe { slice(name, pointer, 3) }.map(Vec3::from_slice)
}

/// # Safety
/// `pointer` is NULL or points to 4 floats.
unsafe fn rotation(name: &str, pointer: *const f32) -> Result<Quat, Failure> {
    // SAFETY: this function's contract.
    unsafe { slice(name, pointer, 4) }.map(Quat::from_slice)
}

/// # Safety
/// As for [`with`].
unsafe fn tell(
    stepper: *mut DrystoneStepper,
    call: impl FnOnce(&mut World) -> Result<(), WorldError>,
) -> Result<(), Failure> {
    // SAFETY: this function's contract.
    unsafe { with(stepper, |inside| Ok(call(inside.backend.world())?)) }
}

/// Says two vectors to a body.
///
/// # Safety
/// As for [`with`]; each pointer is NULL or points to 3 floats.
unsafe fn tell_vectors(
    stepper: *mut DrystoneStepper,
    body: DrystoneBody,
    said: [(&str, *const f32); 2],
    call: fn(&mut World, BodyHandle, Vec3, Vec3) -> Result<(), WorldError>,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let [(first, at_first), (second, at_second)] = said;
        let (body, first, second) = (body_handle(body)?, vector(first, at_first)?, vector(second, at_second)?);
        tell(stepper, |world| call(world, body, first, second))
    })
}

/// Says a pose to a body.
///
/// # Safety
/// As for [`with`]; the pointers are NULL or point to 3 and 4 floats.
unsafe fn tell_pose(
    stepper: *mut DrystoneStepper,
    body: DrystoneBody,
    position: *const f32,
    turned: *const f32,
    call: fn(&mut World, BodyHandle, Vec3, Quat) -> Result<(), WorldError>,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let (body, position, turned) = (body_handle(body)?, vector("position", position)?, rotation("turned", turned)?);
        tell(stepper, |world| call(world, body, position, turned))
    })
}

/// Sets the acceleration of everything that falls, 3 floats.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_set_gravity(stepper: *mut DrystoneStepper, gravity: *const f32) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let gravity = vector("gravity", gravity)?;
        tell(stepper, |world| world.set_gravity(gravity))
    })
}

/// Adds a body. It is there from the start of the next step.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_add_body(
    stepper: *mut DrystoneStepper,
    desc: *const DrystoneBodyDesc,
    added: *mut DrystoneBody,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        put("added", added, 0)?;
        let desc = body(&read("desc", desc)?)?;
        let handle = with(stepper, |inside| Ok(inside.backend.world().add(desc)?))?;
        put("added", added, from_body(handle))
    })
}

/// Removes a body and its joints. Its handle is stale from now on.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_remove_body(stepper: *mut DrystoneStepper, body: DrystoneBody) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let body = body_handle(body)?;
        tell(stepper, |world| world.remove(body))
    })
}

/// Slot of a body in the engine's buffers: its place in `DrystonePoseView`. Of 0, UINT32_MAX.
#[unsafe(no_mangle)]
pub extern "C" fn drystone_body_slot(body: DrystoneBody) -> u32 {
    body_handle(body).map_or(u32::MAX, |body| body.index())
}

/// Adds a joint.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_add_joint(
    stepper: *mut DrystoneStepper,
    desc: *const DrystoneJointDesc,
    added: *mut DrystoneJoint,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        put("added", added, 0)?;
        let desc = joint(&read("desc", desc)?)?;
        let handle = with(stepper, |inside| Ok(inside.backend.world().add_joint(desc)?))?;
        put("added", added, from_joint(handle))
    })
}

/// Removes a joint.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_remove_joint(stepper: *mut DrystoneStepper, joint: DrystoneJoint) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let joint = joint_handle(joint)?;
        tell(stepper, |world| world.remove_joint(joint))
    })
}

/// Breaks a joint (`broken` 1), or repairs it (0).
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_set_joint_broken(
    stepper: *mut DrystoneStepper,
    joint: DrystoneJoint,
    broken: u32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let joint = joint_handle(joint)?;
        tell(stepper, |world| if broken == 0 { world.repair_joint(joint) } else { world.break_joint(joint) })
    })
}

/// Changes what a joint does to a coordinate: where it may go, what drives it, its friction.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_set_joint_axis(
    stepper: *mut DrystoneStepper,
    joint: DrystoneJoint,
    does: *const DrystoneAxis,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let (joint, said) = (joint_handle(joint)?, read("does", does)?);
        with(stepper, |inside| {
            let world = inside.backend.world();
            let now = world.joint(joint)?.axes.get(said.axis as usize).copied().unwrap_or_default();
            let (which, does) = axis(&said, now)?;
            let friction = world.joint(joint)?.friction[which as usize];
            world.set_friction(joint, which, said.friction)?;
            // Both or neither.
            let done = world.set_axis(joint, which, does);
            if done.is_err() {
                world.set_friction(joint, which, friction)?;
            }
            Ok(done?)
        })
    })
}

/// Sets a body's velocities, 3 floats each. Static bodies ignore it.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_set_velocity(
    stepper: *mut DrystoneStepper,
    body: DrystoneBody,
    linear: *const f32,
    angular: *const f32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    unsafe { tell_vectors(stepper, body, [("linear", linear), ("angular", angular)], World::set_velocity) }
}

/// Puts a body somewhere: 3 floats, and 4 of the rotation. It keeps its velocity.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_set_pose(
    stepper: *mut DrystoneStepper,
    body: DrystoneBody,
    position: *const f32,
    turned: *const f32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    unsafe { tell_pose(stepper, body, position, turned, World::set_pose) }
}

/// Moves a kinematic body: it is there at the end of the next step, and pushes what is in its way.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_set_target(
    stepper: *mut DrystoneStepper,
    body: DrystoneBody,
    position: *const f32,
    turned: *const f32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    unsafe { tell_pose(stepper, body, position, turned, World::set_target) }
}

/// Changes a body's velocities by an impulse at its centre of mass and an angular one, 3 floats each.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_apply_impulse(
    stepper: *mut DrystoneStepper,
    body: DrystoneBody,
    linear: *const f32,
    angular: *const f32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    unsafe { tell_vectors(stepper, body, [("linear", linear), ("angular", angular)], World::apply_impulse) }
}

/// Lets a force at the centre of mass and a torque act on a body during the next step, 3 floats each.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_apply_force(
    stepper: *mut DrystoneStepper,
    body: DrystoneBody,
    force: *const f32,
    torque: *const f32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    unsafe { tell_vectors(stepper, body, [("force", force), ("torque", torque)], World::apply_force) }
}

/// Sets the force at a body's centre of mass and the torque that act on it until they are set again, 3 floats each.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_set_force(
    stepper: *mut DrystoneStepper,
    body: DrystoneBody,
    force: *const f32,
    torque: *const f32,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    unsafe { tell_vectors(stepper, body, [("force", force), ("torque", torque)], World::set_force) }
}
