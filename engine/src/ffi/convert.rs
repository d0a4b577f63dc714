//! From what a C host describes to what the engine takes. Checks what only C can get wrong; the world checks the rest.

use super::describe::{
    DrystoneAxis, DrystoneBody, DrystoneBodyDesc, DrystoneCollide, DrystoneCollider, DrystoneDrive, DrystoneHold,
    DrystoneJoint, DrystoneJointDesc, DrystoneJointKind, DrystoneShape,
};
use super::error::{DrystoneResult, Failure, done};
use super::sized::{Struct, read_list, slice, write};
use crate::glam::{Quat, Vec3};
use crate::world::joint::{Axis, Drive, Hold, JointAxis};
use crate::world::{BodyDesc, BodyHandle, BodyKind, Collider, Combine, ContactReports, JointDesc, JointHandle, Shape};

const NO_TURN: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers and pointers take any bytes.
unsafe impl Struct for DrystoneCollider {
    const NAME: &'static str = "DrystoneCollider";

    fn defaults() -> Self {
        let usual = Collider::half_space();
        Self {
            struct_size: size_of::<Self>() as u32,
            shape: DrystoneShape::Sphere as u32,
            points: std::ptr::null(),
            point_count: 0,
            radius: 0.0,
            half: [0.0; 3],
            half_height: 0.0,
            position: [0.0; 3],
            rotation: NO_TURN,
            density: usual.density,
            friction_static: usual.friction_static,
            friction_dynamic: usual.friction_dynamic,
            friction_rolling: usual.friction_rolling,
            friction_torsional: usual.friction_torsional,
            restitution: usual.restitution,
            friction_combine: usual.friction_combine as u32,
            restitution_combine: usual.restitution_combine as u32,
            surface_velocity: [0.0; 3],
            surface_spin: [0.0; 3],
            sensor: 0,
            groups: usual.groups,
            mask: usual.mask,
            reports: 0,
            report_impulse: 0.0,
        }
    }
}

// SAFETY: as above.
unsafe impl Struct for DrystoneBodyDesc {
    const NAME: &'static str = "DrystoneBodyDesc";

    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            kind: 0,
            colliders: std::ptr::null(),
            collider_count: 0,
            position: [0.0; 3],
            rotation: NO_TURN,
            linear_velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            gravity_scale: 1.0,
            mass: 0.0,
            inertia: [0.0; 3],
            force: [0.0; 3],
            torque: [0.0; 3],
            linear_damping: 0.0,
            angular_damping: 0.0,
            continuous: 0,
        }
    }
}

// SAFETY: as above.
unsafe impl Struct for DrystoneAxis {
    const NAME: &'static str = "DrystoneAxis";

    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            axis: 0,
            hold: DrystoneHold::ByKind as u32,
            low: 0.0,
            high: 0.0,
            drive: DrystoneDrive::ByKind as u32,
            target: 0.0,
            stiffness: 0.0,
            damping: 0.0,
            max: f32::INFINITY,
            friction: 0.0,
        }
    }
}

// SAFETY: as above.
unsafe impl Struct for DrystoneJointDesc {
    const NAME: &'static str = "DrystoneJointDesc";

    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            kind: 0,
            body_a: 0,
            body_b: 0,
            axes: std::ptr::null(),
            axis_count: 0,
            anchor_a: [0.0; 3],
            anchor_b: [0.0; 3],
            frame_a: NO_TURN,
            frame_b: NO_TURN,
            length: 0.0,
            stiffness: 0.0,
            damping: 0.0,
            max_force: f32::INFINITY,
            max_torque: f32::INFINITY,
            collide: DrystoneCollide::ByKind as u32,
            reserved: 0,
        }
    }
}

/// A value of an enumeration, by its number.
pub(super) fn choice<T: Copy>(field: &str, all: &[T], number: u32) -> Result<T, Failure> {
    let unknown = || Failure::value(format!("{field} is {number}: it must be below {}", all.len()));
    all.get(number as usize).copied().ok_or_else(unknown)
}

/// 0 or 1.
pub(super) fn switch(field: &str, number: u32) -> Result<bool, Failure> {
    choice(field, &[false, true], number)
}

/// Slot and generation in one number; 0 is none.
pub(super) fn pack(index: u32, generation: u32) -> u64 {
    (u64::from(generation) << 32) | (u64::from(index) + 1)
}

pub(super) fn unpack(handle: u64) -> Option<(u32, u32)> {
    Some(((handle as u32).checked_sub(1)?, (handle >> 32) as u32))
}

pub(super) fn from_body(body: BodyHandle) -> DrystoneBody {
    pack(body.index, body.generation)
}

pub(super) fn from_joint(joint: JointHandle) -> DrystoneJoint {
    pack(joint.index, joint.generation)
}

pub(super) fn body_handle(body: DrystoneBody) -> Result<BodyHandle, Failure> {
    let none = || Failure::new(DrystoneResult::ErrorStale, "the body is 0, which names none");
    unpack(body).map(|(index, generation)| BodyHandle { index, generation }).ok_or_else(none)
}

pub(super) fn joint_handle(joint: DrystoneJoint) -> Result<JointHandle, Failure> {
    let none = || Failure::new(DrystoneResult::ErrorStale, "the joint is 0, which names none");
    unpack(joint).map(|(index, generation)| JointHandle { index, generation }).ok_or_else(none)
}

/// # Safety
/// Points of a hull are as many as it says.
pub(super) unsafe fn collider(from: &DrystoneCollider) -> Result<Collider, Failure> {
    use DrystoneShape::{Box, Capsule, Cone, Cylinder, HalfSpace, Hull, Sphere};
    let (radius, half_height) = (from.radius, from.half_height);
    let shapes = [Sphere, Box, Capsule, Cylinder, Cone, Hull, HalfSpace];
    let usual: Collider = match choice("DrystoneCollider.shape", &shapes, from.shape)? {
        Sphere => Shape::Sphere { radius }.into(),
        Box => Shape::Box { half: from.half.into() }.into(),
        Capsule => Shape::Capsule { half_height, radius }.into(),
        Cylinder => Shape::Cylinder { half_height, radius }.into(),
        Cone => Shape::Cone { half_height, radius }.into(),
        HalfSpace => Shape::HalfSpace.into(),
        Hull => {
            // SAFETY: this function's contract.
            let points = unsafe { slice("DrystoneCollider.points", from.points.cast(), from.point_count as usize) }?;
            let points: Vec<Vec3> = points.iter().map(|p: &[f32; 3]| Vec3::from(*p)).collect();
            Collider::hull(&points)?
        }
    };
    Ok(Collider {
        position: from.position.into(),
        rotation: Quat::from_array(from.rotation),
        density: from.density,
        friction_static: from.friction_static,
        friction_dynamic: from.friction_dynamic,
        friction_combine: choice("DrystoneCollider.friction_combine", &Combine::ALL, from.friction_combine)?,
        friction_rolling: from.friction_rolling,
        friction_torsional: from.friction_torsional,
        restitution: from.restitution,
        restitution_combine: choice("DrystoneCollider.restitution_combine", &Combine::ALL, from.restitution_combine)?,
        surface_velocity: from.surface_velocity.into(),
        surface_spin: from.surface_spin.into(),
        sensor: switch("DrystoneCollider.sensor", from.sensor)?,
        groups: from.groups,
        mask: from.mask,
        reports: reports(from.reports)?,
        report_impulse: from.report_impulse,
        ..usual
    })
}

fn reports(bits: u32) -> Result<ContactReports, Failure> {
    use super::describe::DrystoneReports as Told;
    if bits & !(Told::Begin as u32 | Told::Persist as u32 | Told::End as u32) != 0 {
        return Err(Failure::value(format!(
            "DrystoneCollider.reports: {bits:#x} has bits that DrystoneReports has not"
        )));
    }
    let asked = |told: Told| bits & told as u32 != 0;
    Ok(ContactReports { begin: asked(Told::Begin), persist: asked(Told::Persist), end: asked(Told::End) })
}

/// # Safety
/// Colliders are as many as it says, and so are their points.
pub(super) unsafe fn body(from: &DrystoneBodyDesc) -> Result<BodyDesc, Failure> {
    // SAFETY: this function's contract.
    let colliders = unsafe { read_list("DrystoneBodyDesc.colliders", from.colliders, from.collider_count) }?;
    // SAFETY: as above.
    let colliders = colliders.iter().map(|c| unsafe { collider(c) }).collect::<Result<_, _>>()?;
    let kinds = [BodyKind::Dynamic, BodyKind::Kinematic, BodyKind::Static];
    let inertia = Vec3::from(from.inertia);
    Ok(BodyDesc {
        kind: choice("DrystoneBodyDesc.kind", &kinds, from.kind)?,
        position: from.position.into(),
        rotation: Quat::from_array(from.rotation),
        linear_velocity: from.linear_velocity.into(),
        angular_velocity: from.angular_velocity.into(),
        gravity_scale: Some(from.gravity_scale),
        colliders,
        // What is not a number is not 0, and is refused by the world.
        mass: (from.mass != 0.0).then_some(from.mass),
        inertia: (inertia != Vec3::ZERO).then_some(inertia),
        force: from.force.into(),
        torque: from.torque.into(),
        linear_damping: from.linear_damping,
        angular_damping: from.angular_damping,
        continuous: switch("DrystoneBodyDesc.continuous", from.continuous)?,
    })
}

/// What an axis becomes of what it is by the joint's kind.
pub(super) fn axis(from: &DrystoneAxis, by_kind: Axis) -> Result<(JointAxis, Axis), Failure> {
    let DrystoneAxis { low, high, target, stiffness, damping, max, .. } = *from;
    let holds = [by_kind.hold, Hold::Free, Hold::At(low), Hold::Between(low, high)];
    let drives = [
        by_kind.drive,
        None,
        Some(Drive::Speed { speed: target, max }),
        Some(Drive::Position { target, max }),
        Some(Drive::Spring { target, stiffness, damping, max }),
    ];
    let which = choice("DrystoneAxis.axis", &JointAxis::ALL, from.axis)?;
    let hold = choice("DrystoneAxis.hold", &holds, from.hold)?;
    Ok((which, Axis { hold, drive: choice("DrystoneAxis.drive", &drives, from.drive)? }))
}

/// # Safety
/// Axes are as many as it says.
pub(super) unsafe fn joint(from: &DrystoneJointDesc) -> Result<JointDesc, Failure> {
    use DrystoneJointKind::{Ball, Fixed, Generic, Hinge, Rod, Rope, Slider, Spring};
    let a = body_handle(from.body_a)?;
    let b = if from.body_b == 0 { None } else { Some(body_handle(from.body_b)?) };
    let kinds = [Ball, Hinge, Slider, Fixed, Rod, Rope, Spring, Generic];
    let by_kind = match choice("DrystoneJointDesc.kind", &kinds, from.kind)? {
        Ball => JointDesc::ball(a, b),
        Hinge => JointDesc::hinge(a, b),
        Slider => JointDesc::slider(a, b),
        Fixed => JointDesc::fixed(a, b),
        Rod => JointDesc::rod(a, b, from.length),
        Rope => JointDesc::rope(a, b, from.length),
        Spring => JointDesc::spring(a, b, from.length, from.stiffness, from.damping),
        Generic => JointDesc::generic(a, b),
    };
    if from.reserved != 0 {
        return Err(Failure::value("DrystoneJointDesc.reserved is not 0"));
    }
    let collide = choice("DrystoneJointDesc.collide", &[by_kind.collide, true, false], from.collide)?;
    let mut joint = JointDesc {
        anchor_a: from.anchor_a.into(),
        anchor_b: from.anchor_b.into(),
        frame_a: Quat::from_array(from.frame_a),
        frame_b: Quat::from_array(from.frame_b),
        max_force: from.max_force,
        max_torque: from.max_torque,
        collide,
        ..by_kind
    };
    // SAFETY: this function's contract.
    for said in unsafe { read_list("DrystoneJointDesc.axes", from.axes, from.axis_count) }? {
        let by_kind = joint.axes.get(said.axis as usize).copied().unwrap_or_default();
        let (which, does) = axis(&said, by_kind)?;
        joint.axes[which as usize] = does;
        joint.friction[which as usize] = said.friction;
    }
    Ok(joint)
}

/// Fills in what a collider is when nobody says anything. Set `struct_size` before.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_collider_defaults(collider: *mut DrystoneCollider) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe { write("collider", collider, &DrystoneCollider::defaults()) })
}

/// Fills in what a body is when nobody says anything. Set `struct_size` before.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_body_defaults(desc: *mut DrystoneBodyDesc) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe { write("desc", desc, &DrystoneBodyDesc::defaults()) })
}

/// Fills in what an axis of a joint is when nobody says anything. Set `struct_size` before.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_axis_defaults(axis: *mut DrystoneAxis) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe { write("axis", axis, &DrystoneAxis::defaults()) })
}

/// Fills in what a joint is when nobody says anything. Set `struct_size` before.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_joint_defaults(desc: *mut DrystoneJointDesc) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe { write("desc", desc, &DrystoneJointDesc::defaults()) })
}
