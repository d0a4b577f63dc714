//! Shapes and what they are made of.

use super::{Hull, WorldError, finite1, finite3, unit};
use crate::glam::{Quat, Vec3};
use drystone_kernels::state::rigid::shape as code;
use std::sync::Arc;

/// A collider's shape, centred on its origin, or where its points are.
#[derive(Clone, Debug, PartialEq)]
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
    /// What a rubber sheet around a cloud of points would enclose. Colliders with equal ones share their storage.
    ConvexHull(Arc<Hull>),
    /// Everything below the plane through the origin at right angles to y.
    HalfSpace,
}

/// Shortest and longest side that is accepted, in metres: single precision holds positions well in between.
const SIZES: std::ops::RangeInclusive<f32> = 1e-5..=1e5;

/// A shape on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// The shape.
    pub shape: Shape,
    /// In body space.
    pub position: Vec3,
    /// In body space.
    pub rotation: Quat,
    /// Kilograms a cubic metre.
    pub density: f32,
    /// Friction coefficient while it sticks. Two colliders have the geometric mean of theirs.
    /// The solver keeps that mean to 1/4,096 of its value: below 1/32,768 there is no
    /// friction, above 131,040 it is that.
    pub friction_static: f32,
    /// Friction coefficient while it slides.
    pub friction_dynamic: f32,
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

    /// With one friction coefficient while it sticks and another while it slides.
    pub fn frictions(mut self, sticking: f32, sliding: f32) -> Self {
        (self.friction_static, self.friction_dynamic) = (sticking, sliding);
        self
    }

    /// In `groups`, and touching only what is in a group of `mask`. Both sides have to agree.
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

    /// What a world would say to it: the first value that makes no sense.
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
            // Checked when it was made.
            Shape::ConvexHull(_) | Shape::HalfSpace => {}
        }
        finite3("collider position", self.position)?;
        unit("collider rotation", self.rotation)?;
        let not_negative = |field: &'static str, v: f32| {
            finite1(field, v)?;
            if v >= 0.0 { Ok(()) } else { Err(WorldError::OutOfRange { field, value: v, must: "0 or more" }) }
        };
        not_negative("density", self.density)?;
        not_negative("friction_static", self.friction_static)?;
        not_negative("friction_dynamic", self.friction_dynamic)
    }

    /// Where the shape's own origin is: a hull's is its centre of mass.
    pub(crate) fn origin(&self) -> Vec3 {
        match &self.shape {
            Shape::ConvexHull(hull) => self.position + self.rotation * hull.centre(),
            _ => self.position,
        }
    }

    /// Code, half extents and radius as the kernels have them.
    pub(crate) fn parameters(&self) -> (u32, Vec3, f32) {
        match &self.shape {
            &Shape::Sphere { radius } => (code::SPHERE, Vec3::ZERO, radius),
            &Shape::Box { half } => (code::BOX, half, 0.0),
            &Shape::Capsule { half_height, radius } => (code::CAPSULE, Vec3::new(0.0, half_height, 0.0), radius),
            Shape::ConvexHull(hull) => (code::HULL, hull.half, hull.thickness),
            Shape::HalfSpace => (code::HALF_SPACE, Vec3::ZERO, 0.0),
        }
    }
}
