//! Bodies and joints as a C host describes them. `convert.rs` makes those of [`crate::world`] of them.

/// Names a body; 0 names none. It stays unique when its slot is used again. `drystone_body_slot` tells the slot.
pub type DrystoneBody = u64;

/// Names a joint; 0 names none.
pub type DrystoneJoint = u64;

/// Shapes of colliders.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneShape {
    /// A ball: `radius`.
    Sphere = 0,
    /// A box: `half`, half of its sides.
    Box = 1,
    /// A cylinder along y with round ends: `half_height` of the straight part, `radius`.
    Capsule = 2,
    /// A cylinder along y with flat ends: `half_height`, `radius`.
    Cylinder = 3,
    /// A cone along y, its base `half_height` below the origin, its apex as far above; `radius` of the base.
    Cone = 4,
    /// The convex hull of `points`.
    Hull = 5,
    /// Everything below the plane through the origin at right angles to y. For static bodies only.
    HalfSpace = 6,
}

/// What may move a body.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneBodyKind {
    /// Forces.
    Dynamic = 0,
    /// Its velocity, and nothing else.
    Kinematic = 1,
    /// Nothing.
    Static = 2,
}

/// How the coefficients of two colliders that touch become one. Of two different rules the later one in this list
/// counts.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneCombine {
    /// The root of their product.
    GeometricMean = 0,
    /// Half of their sum.
    Average = 1,
    /// The smaller one.
    Min = 2,
    /// Their product.
    Multiply = 3,
    /// The larger one.
    Max = 4,
}

/// Kinds of joints. The coordinates are those of `DrystoneJointAxis`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneJointKind {
    /// Two points that stay together.
    Ball = 0,
    /// Turns about the x axis of its frames.
    Hinge = 1,
    /// Slides along the x axis of its frames.
    Slider = 2,
    /// Frames that stay together.
    Fixed = 3,
    /// Two points that keep the distance `length`.
    Rod = 4,
    /// Two points that are no farther apart than `length`.
    Rope = 5,
    /// A spring between two points: `length` at rest, `stiffness`, `damping`.
    Spring = 6,
    /// Holds nothing by itself: `axes` say all.
    Generic = 7,
}

/// A coordinate of a joint: of a's point and frame, seen from b's.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneJointAxis {
    /// Along b's x axis, metres.
    X = 0,
    /// Along b's y axis.
    Y = 1,
    /// Along b's z axis.
    Z = 2,
    /// About a's x axis, radians.
    Twist = 3,
    /// Of a's x axis about b's y axis.
    SwingY = 4,
    /// Of a's x axis about b's z axis.
    SwingZ = 5,
    /// Between the two points, metres.
    Distance = 6,
}

/// Where a coordinate of a joint may go.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneHold {
    /// As the kind of the joint has it.
    ByKind = 0,
    /// Anywhere.
    Free = 1,
    /// It stays at `low`.
    At = 2,
    /// From `low` to `high`, which may be infinite.
    Between = 3,
}

/// What moves a coordinate of a joint.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneDrive {
    /// As the kind of the joint has it.
    ByKind = 0,
    /// Nothing.
    None = 1,
    /// A motor with the speed `target` and at most the force, or torque, `max`.
    Speed = 2,
    /// A motor that holds the value `target` with at most `max`.
    Position = 3,
    /// A spring towards `target` with `stiffness` and `damping`, and at most `max`.
    Spring = 4,
}

/// Whether bodies of a joint touch each other.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneCollide {
    /// As the kind of the joint has it: those of rods, ropes and springs do.
    ByKind = 0,
    /// They do.
    Touch = 1,
    /// They do not.
    Apart = 2,
}

/// A shape on a body, and what it is made of. Begin with `drystone_collider_defaults`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneCollider {
    /// sizeof(DrystoneCollider).
    pub struct_size: u32,
    /// A `DrystoneShape`.
    pub shape: u32,
    /// Points of a hull, 3 floats each. They are copied.
    pub points: *const f32,
    /// How many points there are.
    pub point_count: u32,
    /// Of spheres, capsules, cylinders and cones, metres.
    pub radius: f32,
    /// Half of a box's sides.
    pub half: [f32; 3],
    /// Of capsules, cylinders and cones.
    pub half_height: f32,
    /// In body space.
    pub position: [f32; 3],
    /// In body space: x, y, z and the scalar part.
    pub rotation: [f32; 4],
    /// Kilograms a cubic metre: 1000 by default.
    pub density: f32,
    /// Friction coefficient while it sticks: 0.5 by default.
    pub friction_static: f32,
    /// Friction coefficient while it slides: 0.5 by default.
    pub friction_dynamic: f32,
    /// Lever of the torque against rolling, metres.
    pub friction_rolling: f32,
    /// The same against spinning about the normal of a contact.
    pub friction_torsional: f32,
    /// Part of the speed of an impact that is left after it, 0 to 1.
    pub restitution: f32,
    /// A `DrystoneCombine`: the geometric mean by default.
    pub friction_combine: u32,
    /// A `DrystoneCombine`: the larger one by default.
    pub restitution_combine: u32,
    /// Velocity of its surface along itself, in body space.
    pub surface_velocity: [f32; 3],
    /// Angular velocity of its surface about its position, in body space.
    pub surface_spin: [f32; 3],
    /// 1 when it only reports what overlaps it.
    pub sensor: u32,
    /// Groups it belongs to: the first by default.
    pub groups: u32,
    /// Groups it touches: all by default. Both sides have to agree.
    pub mask: u32,
    /// Contacts of which events tell, bits of `DrystoneReports`: none by default.
    pub reports: u32,
    /// Impulse of a step from which on contacts count for `reports`, newton seconds; 0, the default: any.
    pub report_impulse: f32,
}

/// Which contacts of a collider are told by events.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneReports {
    /// Those that begin.
    Begin = 1,
    /// Those that go on, in every step.
    Persist = 2,
    /// Those that end.
    End = 4,
}

/// A body to be added. Begin with `drystone_body_defaults`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneBodyDesc {
    /// sizeof(DrystoneBodyDesc).
    pub struct_size: u32,
    /// A `DrystoneBodyKind`.
    pub kind: u32,
    /// Its shapes. They are copied.
    pub colliders: *const DrystoneCollider,
    /// How many shapes it has.
    pub collider_count: u32,
    /// Of its origin, metres.
    pub position: [f32; 3],
    /// From body space to world space: x, y, z and the scalar part.
    pub rotation: [f32; 4],
    /// Of its centre of mass, metres a second.
    pub linear_velocity: [f32; 3],
    /// In world space, radians a second.
    pub angular_velocity: [f32; 3],
    /// How strongly gravity acts on it: 1 by default.
    pub gravity_scale: f32,
    /// Kilograms; 0, the default: by density and volume.
    pub mass: f32,
    /// Moments of inertia about the axes of body space; 0, the default: those of its shapes.
    pub inertia: [f32; 3],
    /// A force that acts until it is changed, newtons.
    pub force: [f32; 3],
    /// A torque that acts until it is changed.
    pub torque: [f32; 3],
    /// Damping of its velocity, 1/s.
    pub linear_damping: f32,
    /// Damping of its angular momentum, 1/s.
    pub angular_damping: f32,
    /// 1 to keep it from passing through anything, however fast it is.
    pub continuous: u32,
}

/// What a joint does to one of its coordinates. Begin with `drystone_axis_defaults`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneAxis {
    /// sizeof(DrystoneAxis).
    pub struct_size: u32,
    /// A `DrystoneJointAxis`.
    pub axis: u32,
    /// A `DrystoneHold`.
    pub hold: u32,
    /// Where it is held, or the lower limit.
    pub low: f32,
    /// The upper limit.
    pub high: f32,
    /// A `DrystoneDrive`.
    pub drive: u32,
    /// Speed, or value, of the drive.
    pub target: f32,
    /// Of a spring.
    pub stiffness: f32,
    /// Of a spring.
    pub damping: f32,
    /// The most that the drive pushes; infinite by default.
    pub max: f32,
    /// Force, or torque, up to which the coordinate resists being moved.
    pub friction: f32,
}

/// A joint to be added. Begin with `drystone_joint_defaults`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneJointDesc {
    /// sizeof(DrystoneJointDesc).
    pub struct_size: u32,
    /// A `DrystoneJointKind`.
    pub kind: u32,
    /// The body its coordinates are about.
    pub body_a: DrystoneBody,
    /// The body they are measured on; 0 for the world.
    pub body_b: DrystoneBody,
    /// What it does beyond its kind. They are copied.
    pub axes: *const DrystoneAxis,
    /// How many of them there are.
    pub axis_count: u32,
    /// Its point on a, in body space.
    pub anchor_a: [f32; 3],
    /// Its point on b, in body space, or in the world.
    pub anchor_b: [f32; 3],
    /// Its frame on a, in body space.
    pub frame_a: [f32; 4],
    /// Its frame on b, in body space, or in the world.
    pub frame_b: [f32; 4],
    /// Of rods, ropes, and springs at rest.
    pub length: f32,
    /// Of springs, newtons a metre.
    pub stiffness: f32,
    /// Of springs, newton seconds a metre.
    pub damping: f32,
    /// Force at which it breaks; infinite by default.
    pub max_force: f32,
    /// Torque at which it breaks; infinite by default.
    pub max_torque: f32,
    /// A `DrystoneCollide`.
    pub collide: u32,
    /// 0.
    pub reserved: u32,
}
