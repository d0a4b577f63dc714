//! Shapes and colliders: geometry, material, and their checks.

use super::{Combine, ContactReports, Hull, WorldError, finite1, finite3, not_negative, unit};
use crate::glam::{Quat, Vec3};
use drystone_kernels::state::rigid::shape as code;
use std::sync::Arc;

/// A collider's shape, centred on its origin, or where its points are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f32,
    },
    /// A box.
    Box {
        /// Half of its sides.
        half: Vec3,
    },
    /// A cylinder along y with round ends.
    Capsule {
        /// Half the length of the straight part.
        half_height: f32,
        /// Of the ends and the cylinder.
        radius: f32,
    },
    /// A cylinder along y with flat ends.
    Cylinder {
        /// Half of its height.
        half_height: f32,
        /// Of its ends.
        radius: f32,
    },
    /// A cone along y: its base is `half_height` below the origin, its apex as far above. The centre of mass is a
    /// quarter of the height above the base, half of `half_height` below the origin.
    Cone {
        /// Half of its height.
        half_height: f32,
        /// Of its base.
        radius: f32,
    },
    /// The convex hull of a cloud of points. Colliders with equal hulls share their storage.
    ConvexHull(Arc<Hull>),
    /// Everything below the plane through the origin at right angles to y.
    HalfSpace,
}

/// Accepted sizes, metres: single precision represents positions well in this range.
const SIZES: std::ops::RangeInclusive<f32> = 1e-5..=1e5;

/// Farthest that a collider may lie from its body's origin along an axis, in metres: the way from the centre of mass
/// back to the origin is a number then, wherever the body goes.
const FARTHEST: f32 = 1e30;

/// A shape on a body.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Collider {
    /// The shape.
    pub shape: Shape,
    /// In body space.
    pub position: Vec3,
    /// In body space.
    pub rotation: Quat,
    /// Density, kg/m^3.
    pub density: f32,
    /// Friction coefficient while the contact sticks. Two colliders use the geometric mean of theirs, or what
    /// [`Collider::friction_combine`] says. The solver stores the result with a precision of 1/4,096 of its value:
    /// below 1/32,768 there is no friction, and values above 131,040 count as 131,040.
    pub friction_static: f32,
    /// Friction coefficient while the contact slides.
    pub friction_dynamic: f32,
    /// How friction, of all kinds, is combined with that of what it touches.
    pub friction_combine: Combine,
    /// Lever of the torque against rolling, metres: the torque is at most this times the normal force.
    pub friction_rolling: f32,
    /// Lever of the torque against spinning about the contact normal, metres.
    pub friction_torsional: f32,
    /// Fraction of the speed of an impact that is left after it, 0 to 1. For slow impacts see
    /// [`Settings::bounce_threshold`](crate::Settings::bounce_threshold).
    pub restitution: f32,
    /// How restitution is combined with that of what it touches.
    pub restitution_combine: Combine,
    /// Velocity of its surface along itself, in body space, metres a second: what lies on it is carried along as by a
    /// conveyor belt, while the body stays where it is.
    pub surface_velocity: Vec3,
    /// Angular velocity of its surface about its position, in body space, radians a second: a turntable, or a roller.
    pub surface_spin: Vec3,
    /// Whether it only reports what overlaps it, and touches nothing.
    pub sensor: bool,
    /// Which contacts are reported as events. Those of a pair are reported when either side asks for it. By default
    /// none are, which costs nothing.
    pub reports: ContactReports,
    /// Impulse per step, newton seconds, from which on a contact counts as pushing for its reports: weaker contacts
    /// are not reported, and one that becomes weaker ends. When both colliders of a pair ask for reports, the smaller
    /// value counts. 0, the default, reports any.
    pub report_impulse: f32,
    /// Groups it belongs to.
    pub groups: u32,
    /// Groups it collides with. Both sides have to agree.
    pub mask: u32,
}

impl From<Shape> for Collider {
    fn from(shape: Shape) -> Self {
        Self {
            shape,
            position: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            density: 1000.0,
            friction_static: 0.5,
            friction_dynamic: 0.5,
            friction_combine: Combine::GeometricMean,
            friction_rolling: 0.0,
            friction_torsional: 0.0,
            restitution: 0.0,
            restitution_combine: Combine::Max,
            surface_velocity: Vec3::ZERO,
            surface_spin: Vec3::ZERO,
            sensor: false,
            reports: ContactReports::NONE,
            report_impulse: 0.0,
            groups: 1,
            mask: u32::MAX,
        }
    }
}

impl Collider {
    /// A ball.
    pub fn sphere(radius: f32) -> Self {
        Shape::Sphere { radius }.into()
    }

    /// A box with sides `size`.
    pub fn cuboid(size: Vec3) -> Self {
        Shape::Box { half: size * 0.5 }.into()
    }

    /// A capsule along y.
    pub fn capsule(half_height: f32, radius: f32) -> Self {
        Shape::Capsule { half_height, radius }.into()
    }

    /// A cylinder along y with flat ends, around the origin.
    pub fn cylinder(half_height: f32, radius: f32) -> Self {
        Shape::Cylinder { half_height, radius }.into()
    }

    /// A cone along y with its base below. The origin is in the middle of its height, not its centre of mass: see
    /// [`Shape::Cone`].
    pub fn cone(half_height: f32, radius: f32) -> Self {
        Shape::Cone { half_height, radius }.into()
    }

    /// The convex hull of `points`, computed here. To give many bodies the same one, clone the collider.
    pub fn hull(points: &[Vec3]) -> Result<Self, WorldError> {
        Ok(Shape::ConvexHull(Arc::new(Hull::new(points)?)).into())
    }

    /// Everything below the plane y = 0 of the collider.
    pub fn half_space() -> Self {
        Shape::HalfSpace.into()
    }

    /// With both friction coefficients the same.
    pub fn friction(mut self, mu: f32) -> Self {
        (self.friction_static, self.friction_dynamic) = (mu, mu);
        self
    }

    /// Sets separate friction coefficients for sticking and sliding.
    pub fn frictions(mut self, sticking: f32, sliding: f32) -> Self {
        (self.friction_static, self.friction_dynamic) = (sticking, sliding);
        self
    }

    /// With friction combined by a rule.
    pub fn friction_combine(mut self, rule: Combine) -> Self {
        self.friction_combine = rule;
        self
    }

    /// With friction against rolling and against spinning about the normal, as levers in metres.
    pub fn rolling(mut self, rolling: f32, torsional: f32) -> Self {
        (self.friction_rolling, self.friction_torsional) = (rolling, torsional);
        self
    }

    /// Sets the fraction of the impact speed that is left after an impact.
    pub fn restitution(mut self, restitution: f32) -> Self {
        self.restitution = restitution;
        self
    }

    /// With restitution combined by a rule.
    pub fn restitution_combine(mut self, rule: Combine) -> Self {
        self.restitution_combine = rule;
        self
    }

    /// With a surface that moves along itself: see [`Collider::surface_velocity`] and [`Collider::surface_spin`].
    pub fn surface(mut self, velocity: Vec3, spin: Vec3) -> Self {
        (self.surface_velocity, self.surface_spin) = (velocity, spin);
        self
    }

    /// Makes it a sensor: it only reports what overlaps it.
    pub fn sensing(mut self) -> Self {
        self.sensor = true;
        self
    }

    /// With events of its contacts: see [`Collider::reports`](Self#structfield.reports).
    pub fn reports(mut self, reports: ContactReports) -> Self {
        self.reports = reports;
        self
    }

    /// Sets the impulse per step from which on contacts are reported, newton seconds. A resting body pushes with its
    /// weight times the step.
    pub fn report_impulse(mut self, impulse: f32) -> Self {
        self.report_impulse = impulse;
        self
    }

    /// Puts the collider into `groups`, and lets it touch only colliders in a group of `mask`. Both sides have to
    /// agree.
    pub fn groups(mut self, groups: u32, mask: u32) -> Self {
        (self.groups, self.mask) = (groups, mask);
        self
    }

    /// Of another density.
    pub fn density(mut self, density: f32) -> Self {
        self.density = density;
        self
    }

    /// At `position` of the body.
    pub fn at(mut self, position: Vec3) -> Self {
        self.position = position;
        self
    }

    /// Turned on the body.
    pub fn turned(mut self, rotation: Quat) -> Self {
        self.rotation = rotation;
        self
    }

    /// Checks the collider as a world does. The error names the first invalid value.
    pub fn check(&self) -> Result<(), WorldError> {
        let size = |field: &'static str, v: f32| {
            finite1(field, v)?;
            if SIZES.contains(&v) {
                return Ok(());
            }
            Err(WorldError::OutOfRange { field, value: v, must: "between 1e-5 and 1e5 m" })
        };
        match self.shape {
            Shape::Sphere { radius } => size("sphere radius", radius)?,
            Shape::Box { half } => {
                size("box half.x", half.x)?;
                size("box half.y", half.y)?;
                size("box half.z", half.z)?;
            }
            Shape::Capsule { half_height, radius } => {
                size("capsule half_height", half_height)?;
                size("capsule radius", radius)?;
            }
            Shape::Cylinder { half_height, radius } => {
                size("cylinder half_height", half_height)?;
                size("cylinder radius", radius)?;
            }
            Shape::Cone { half_height, radius } => {
                size("cone half_height", half_height)?;
                size("cone radius", radius)?;
            }
            // Checked when it was made.
            Shape::ConvexHull(_) | Shape::HalfSpace => {}
        }
        finite3("collider position", self.position)?;
        let farthest = self.position.abs().max_element();
        if farthest > FARTHEST {
            return Err(WorldError::OutOfRange { field: "collider position", value: farthest, must: "1e30 m or less" });
        }
        unit("collider rotation", self.rotation)?;
        not_negative("friction_rolling", self.friction_rolling)?;
        not_negative("friction_torsional", self.friction_torsional)?;
        finite1("report_impulse", self.report_impulse)?;
        if self.report_impulse < 0.0 {
            let value = self.report_impulse;
            return Err(WorldError::OutOfRange { field: "report_impulse", value, must: "0 or more" });
        }
        finite1("restitution", self.restitution)?;
        if !(0.0..=1.0).contains(&self.restitution) {
            let value = self.restitution;
            return Err(WorldError::OutOfRange { field: "restitution", value, must: "between 0 and 1" });
        }
        finite3("surface_velocity", self.surface_velocity)?;
        finite3("surface_spin", self.surface_spin)?;
        not_negative("density", self.density)?;
        not_negative("friction_static", self.friction_static)?;
        not_negative("friction_dynamic", self.friction_dynamic)
    }

    /// The origin of the shape in body space; that of a hull is its centre of mass.
    pub(crate) fn origin(&self) -> Vec3 {
        match &self.shape {
            Shape::ConvexHull(hull) => self.position + self.rotation * hull.centre(),
            _ => self.position,
        }
    }

    /// Whether it is a cylinder or a cone.
    pub(crate) fn is_curved(&self) -> bool {
        matches!(self.shape, Shape::Cylinder { .. } | Shape::Cone { .. })
    }

    /// The hull that replaces a cylinder or a cone in continuous detection, around its origin: see `continuous`. Its
    /// rim is a polygon between the inscribed and the circumscribed one, off by 1/400 of the radius.
    pub(crate) fn stand_in(&self) -> Option<Result<Hull, WorldError>> {
        const SIDES: u32 = 32;
        let (half_height, radius, top) = match self.shape {
            Shape::Cylinder { half_height, radius } => (half_height, radius, 1.0),
            Shape::Cone { half_height, radius } => (half_height, radius, 0.0),
            _ => return None,
        };
        // Hulls have bounds that these shapes have not: see `Hull::new`.
        let least = (1e-3 * half_height.max(radius)).max(1.1e-5);
        let (half_height, radius) = (half_height.clamp(least, 0.99e5), radius.clamp(least, 0.99e5));
        let corner = 2.0 / (1.0 + (std::f32::consts::PI / SIDES as f32).cos());
        let rim = |i: u32, y: f32, scale: f32| {
            let (s, c) = (2.0 * std::f32::consts::PI * i as f32 / SIDES as f32).sin_cos();
            Vec3::new(radius * corner * scale * c, y, radius * corner * scale * s)
        };
        let below = (0..SIDES).map(|i| rim(i, -half_height, 1.0));
        let above = (0..if top > 0.0 { SIDES } else { 1 }).map(|i| rim(i, half_height, top));
        let points: Vec<Vec3> = below.chain(above).collect();
        Some(Hull::new(&points).map(Hull::around_origin))
    }

    /// Code, half extents and radius as the kernels have them.
    pub(crate) fn parameters(&self) -> (u32, Vec3, f32) {
        match &self.shape {
            &Shape::Sphere { radius } => (code::SPHERE, Vec3::ZERO, radius),
            &Shape::Box { half } => (code::BOX, half, 0.0),
            &Shape::Capsule { half_height, radius } => (code::CAPSULE, Vec3::new(0.0, half_height, 0.0), radius),
            &Shape::Cylinder { half_height, radius } => {
                (code::CYLINDER, Vec3::new(radius, half_height, radius), half_height.min(radius))
            }
            &Shape::Cone { half_height, radius } => {
                // The least width is along the axis, or across a generator to the far side of the base.
                let (height, slant) = (2.0 * half_height, radius.hypot(2.0 * half_height));
                (code::CONE, Vec3::new(radius, half_height, radius), half_height.min(radius * (height / slant)))
            }
            Shape::ConvexHull(hull) => (code::HULL, hull.half, hull.thickness),
            Shape::HalfSpace => (code::HALF_SPACE, Vec3::ZERO, 0.0),
        }
    }
}
