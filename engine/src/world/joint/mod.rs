//! Descriptions of joints and springs, one file a type. Each file says where the frames are and which rows the joint
//! has. Kernels only see the rows, so a new type needs no new kernel.
//!
//! A joint has a point (`anchor`) and a frame on each of its bodies. All its coordinates are those of a's point and
//! frame, seen from b's:
//!
//! ```text
//!        y  a's frame                     X, Y, Z          of a's point in b's frame
//!        | /                              Twist            of a's frame about its own x axis
//!   b ---o---- x   the joint's axis       SwingY, SwingZ   of a's x axis, about b's y and z axes
//!       /                                 Distance         of the two points
//!      z
//! ```

mod ball;
mod depth;
mod distance;
mod error;
mod fixed;
mod generic;
mod hinge;
mod slider;
mod store;

pub use error::JointError;
pub(in crate::world) use store::{Changed, JointSlot};
pub(crate) use store::{JointEntry, Joints, SentJoints};

use super::{BodyHandle, World, WorldError, finite1, finite3, unit};
use crate::glam::{Quat, Vec3};
use drystone_kernels::solve::joints::{JointRow, UNBOUNDED, axis, role};

/// Identifies a joint. A handle stays unique when its slot is reused, and is valid in one world and its copies.
#[derive(Clone, Copy, Debug)]
pub struct JointHandle {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl JointHandle {
    /// The slot in the engine's buffers.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// A coordinate of a joint: see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointAxis {
    /// Along b's x axis, metres.
    X,
    /// Along b's y axis.
    Y,
    /// Along b's z axis.
    Z,
    /// About a's x axis, radians in -pi to pi.
    Twist,
    /// Of a's x axis about b's y axis.
    SwingY,
    /// Of a's x axis about b's z axis.
    SwingZ,
    /// Between the two points, metres.
    Distance,
}

impl JointAxis {
    /// All of them, in the order of [`JointDesc::axes`].
    pub const ALL: [Self; 7] = [Self::X, Self::Y, Self::Z, Self::Twist, Self::SwingY, Self::SwingZ, Self::Distance];

    fn code(self) -> u32 {
        match self {
            Self::X => axis::X,
            Self::Y => axis::Y,
            Self::Z => axis::Z,
            Self::Twist => axis::TWIST,
            Self::SwingY => axis::SWING_Y,
            Self::SwingZ => axis::SWING_Z,
            Self::Distance => axis::DISTANCE,
        }
    }
}

/// The values that a coordinate may have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Hold {
    /// Any value.
    #[default]
    Free,
    /// This value only.
    At(f32),
    /// From the first value to the second. Infinite bounds do not limit.
    Between(f32, f32),
}

/// What moves a coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Drive {
    /// A motor that keeps a speed with a bounded force or torque.
    Speed {
        /// Metres or radians a second.
        speed: f32,
        /// The most it pushes.
        max: f32,
    },
    /// A motor that goes to a value at once and holds it with a bounded force or torque.
    Position {
        /// Metres or radians.
        target: f32,
        /// The most it pushes.
        max: f32,
    },
    /// A spring that pulls towards a value, and a damper of the coordinate's rate.
    Spring {
        /// Metres or radians.
        target: f32,
        /// Newtons a metre, or newton metres a radian.
        stiffness: f32,
        /// Newton seconds a metre, or newton metre seconds a radian.
        damping: f32,
        /// Largest force (N) or torque (N m); may be infinite.
        max: f32,
    },
}

/// What a joint does to one coordinate. Hold and drive may act at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Axis {
    /// Where it may go.
    pub hold: Hold,
    /// What moves it.
    pub drive: Option<Drive>,
}

/// A joint to be added.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JointDesc {
    /// The body whose coordinates are measured.
    pub body_a: BodyHandle,
    /// The body relative to which they are measured; `None` is the world.
    pub body_b: Option<BodyHandle>,
    /// Its point on a, in body space.
    pub anchor_a: Vec3,
    /// Its point on b, in body space, or in the world.
    pub anchor_b: Vec3,
    /// Its frame on a, in body space.
    pub frame_a: Quat,
    /// Its frame on b, in body space, or in the world.
    pub frame_b: Quat,
    /// What it does, in the order of [`JointAxis::ALL`].
    pub axes: [Axis; 7],
    /// Friction of the coordinates that are not held, in the same order: the force (N) or torque (N m) up to which
    /// each resists motion. The three axes of a ball joint resist independently of each other.
    pub friction: [f32; 7],
    /// Force at which it breaks, newtons; infinite for never.
    pub max_force: f32,
    /// Torque at which it breaks, newton metres; infinite for never.
    pub max_torque: f32,
    /// Whether its bodies may touch each other.
    pub collide: bool,
}

/// Represents "no limit" on the device.
const FAR: f32 = UNBOUNDED;

/// The rotation that takes x to `axis`, scaled by the axis' length, so that an axis that is not a unit vector fails
/// the check for unit quaternions.
fn towards(axis: Vec3) -> Quat {
    let length = axis.length();
    Quat::from_rotation_arc(Vec3::X, axis / length) * length
}

impl JointDesc {
    fn free(body_a: BodyHandle, body_b: Option<BodyHandle>) -> Self {
        Self {
            body_a,
            body_b,
            anchor_a: Vec3::ZERO,
            anchor_b: Vec3::ZERO,
            frame_a: Quat::IDENTITY,
            frame_b: Quat::IDENTITY,
            axes: [Axis::default(); 7],
            friction: [0.0; 7],
            max_force: f32::INFINITY,
            max_torque: f32::INFINITY,
            collide: false,
        }
    }

    fn held(mut self, axes: &[JointAxis]) -> Self {
        axes.iter().for_each(|a| self.axes[*a as usize].hold = Hold::At(0.0));
        self
    }

    /// Sets the anchors, each in its body's space (the second in world space when there is no second body).
    pub fn anchors(mut self, a: Vec3, b: Vec3) -> Self {
        (self.anchor_a, self.anchor_b) = (a, b);
        self
    }

    /// Sets the frames, each in its body's space. The joint is at rest where they coincide.
    pub fn frames(mut self, a: Quat, b: Quat) -> Self {
        (self.frame_a, self.frame_b) = (a, b);
        self
    }

    /// Sets the joint's axis, as unit vectors in the body space of each.
    pub fn about(self, a: Vec3, b: Vec3) -> Self {
        self.frames(towards(a), towards(b))
    }

    /// Sets anchors and frames from a point and a frame in world space, so that the joint is at rest with its bodies
    /// at their described poses. An error when a body is not in the world.
    pub fn placed(mut self, world: &World, point: Vec3, frame: Quat) -> Result<Self, WorldError> {
        let on = |body: BodyHandle| -> Result<(Vec3, Quat), WorldError> {
            let desc = world.desc(body)?;
            let back = desc.rotation.inverse();
            Ok((back * (point - desc.position), back * frame))
        };
        (self.anchor_a, self.frame_a) = on(self.body_a)?;
        (self.anchor_b, self.frame_b) = self.body_b.map_or(Ok((point, frame)), on)?;
        Ok(self)
    }

    /// Limits a coordinate to a range, metres or radians.
    pub fn limited(mut self, axis: JointAxis, low: f32, high: f32) -> Self {
        self.axes[axis as usize].hold = Hold::Between(low, high);
        self
    }

    /// Holds a coordinate at 0.
    pub fn locked(mut self, axis: JointAxis) -> Self {
        self.axes[axis as usize].hold = Hold::At(0.0);
        self
    }

    /// Drives a coordinate with a motor or a spring.
    pub fn driven(mut self, axis: JointAxis, drive: Drive) -> Self {
        self.axes[axis as usize].drive = Some(drive);
        self
    }

    /// Adds a spring towards 0 to every angular coordinate that is not held, so that the joint resists bending and
    /// twisting.
    pub fn stiff(mut self, stiffness: f32, damping: f32) -> Self {
        for axis in [JointAxis::Twist, JointAxis::SwingY, JointAxis::SwingZ] {
            let axis = &mut self.axes[axis as usize];
            if !matches!(axis.hold, Hold::At(_)) {
                axis.drive = Some(Drive::Spring { target: 0.0, stiffness, damping, max: f32::INFINITY });
            }
        }
        self
    }

    /// Adds friction to a coordinate: the force (N) or torque (N m) up to which it resists motion.
    pub fn rubbing(mut self, axis: JointAxis, most: f32) -> Self {
        self.friction[axis as usize] = most;
        self
    }

    /// Adds the same friction to every coordinate that is not held, except the distance: a torque (N m) for hinges
    /// and ball joints, a force (N) for sliders.
    pub fn friction(mut self, most: f32) -> Self {
        for axis in JointAxis::ALL.into_iter().filter(|a| *a != JointAxis::Distance) {
            if !matches!(self.axes[axis as usize].hold, Hold::At(_)) {
                self.friction[axis as usize] = most;
            }
        }
        self
    }

    /// Sets the force (N) and the torque (N m) at which the joint breaks.
    pub fn breaking(mut self, force: f32, torque: f32) -> Self {
        (self.max_force, self.max_torque) = (force, torque);
        self
    }

    /// Lets the joint's bodies collide with each other.
    pub fn colliding(mut self) -> Self {
        self.collide = true;
        self
    }

    /// Checks every value.
    pub(crate) fn check(&self) -> Result<(), WorldError> {
        if self.body_b == Some(self.body_a) {
            return Err(WorldError::SelfJoint { index: self.body_a.index });
        }
        finite3("anchor_a", self.anchor_a)?;
        finite3("anchor_b", self.anchor_b)?;
        unit("frame_a", self.frame_a)?;
        unit("frame_b", self.frame_b)?;
        at_least_zero("max_force", self.max_force)?;
        at_least_zero("max_torque", self.max_torque)?;
        for (axis, does) in JointAxis::ALL.into_iter().zip(&self.axes) {
            at_least_zero("friction", self.friction[axis as usize])
                .and_then(|()| check_axis(does))
                .map_err(|error| WorldError::Axis { axis, error: Box::new(error) })?;
        }
        Ok(())
    }

    /// The device's rows of this joint.
    pub(crate) fn rows(&self) -> Vec<JointRow> {
        let mut rows = Vec::new();
        let bounded = |v: f32| v.clamp(-FAR, FAR);
        for (axis, does) in JointAxis::ALL.into_iter().zip(&self.axes) {
            let none = JointRow { axis: axis.code(), bound: FAR, ..Default::default() };
            match does.hold {
                Hold::Free => {}
                Hold::At(value) => rows.push(JointRow { role: role::LOCK, low: value, ..none }),
                Hold::Between(low, high) => {
                    rows.push(JointRow { role: role::LIMIT, low: bounded(low), high: bounded(high), ..none });
                }
            }
            match does.drive {
                None => {}
                Some(Drive::Speed { speed, max }) => {
                    rows.push(JointRow { role: role::SPEED, low: speed, bound: bounded(max), ..none });
                }
                Some(Drive::Position { target, max }) => {
                    rows.push(JointRow { role: role::LOCK, low: target, bound: bounded(max), ..none });
                }
                Some(Drive::Spring { target, stiffness, damping, max }) => rows.push(JointRow {
                    role: role::SPRING,
                    low: target,
                    bound: bounded(max),
                    stiffness,
                    damping,
                    ..none
                }),
            }
            // Friction is a motor with speed 0 and a bounded force.
            let most = self.friction[axis as usize];
            if most > 0.0 && !matches!(does.hold, Hold::At(_)) {
                rows.push(JointRow { role: role::SPEED, bound: bounded(most), ..none });
            }
        }
        rows
    }
}

fn at_least_zero(field: &'static str, v: f32) -> Result<(), WorldError> {
    if v.is_nan() {
        return Err(WorldError::NotFinite { field, value: v.to_string() });
    }
    if v >= 0.0 { Ok(()) } else { Err(WorldError::OutOfRange { field, value: v, must: "0 or more" }) }
}

fn check_axis(axis: &Axis) -> Result<(), WorldError> {
    match axis.hold {
        Hold::Free => {}
        Hold::At(value) => finite1("value", value)?,
        Hold::Between(low, high) => {
            if low.is_nan() || high.is_nan() || low > high {
                return Err(WorldError::Limits { low, high });
            }
        }
    }
    match axis.drive {
        None => Ok(()),
        Some(Drive::Speed { speed, max }) => {
            finite1("speed", speed)?;
            at_least_zero("max", max)
        }
        Some(Drive::Position { target, max }) => {
            finite1("target", target)?;
            at_least_zero("max", max)
        }
        Some(Drive::Spring { target, stiffness, damping, max }) => {
            finite1("target", target)?;
            finite1("stiffness", stiffness)?;
            finite1("damping", damping)?;
            at_least_zero("damping", damping)?;
            at_least_zero("stiffness", stiffness)?;
            // A spring without stiffness and damping would do nothing.
            if stiffness + damping <= 0.0 {
                return Err(WorldError::OutOfRange { field: "stiffness", value: stiffness, must: "greater than 0" });
            }
            at_least_zero("max", max)
        }
    }
}
