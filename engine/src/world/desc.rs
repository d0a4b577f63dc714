//! Descriptions of bodies: [`BodyDesc`], its builder methods and its checks.

use super::inertia::MassProperties;
use super::{Collider, Shape, WorldError, finite1, finite3, not_negative, positive, unit};
use crate::glam::{Quat, Vec3};
use drystone_kernels::state::rigid::kind;

/// What moves a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum BodyKind {
    /// Moved by forces.
    #[default]
    Dynamic,
    /// Moved by its own velocity only; forces and contacts do not change it.
    Kinematic,
    /// Never moves.
    Static,
}

/// A body to be added.
#[derive(Clone, Debug, Default)]
pub struct BodyDesc {
    /// What may move it.
    pub kind: BodyKind,
    /// Position of the body's origin, metres in world space.
    pub position: Vec3,
    /// Rotation from body space to world space, a unit quaternion.
    pub rotation: Quat,
    /// Velocity of the centre of mass, metres a second in world space.
    pub linear_velocity: Vec3,
    /// Angular velocity, radians a second in world space.
    pub angular_velocity: Vec3,
    /// How strongly gravity acts on it, 1 by default.
    pub gravity_scale: Option<f32>,
    /// Its shapes.
    pub colliders: Vec<Collider>,
    /// Mass in kilograms, instead of the one that follows from density and volume. Inertia is scaled accordingly.
    pub mass: Option<f32>,
    /// Moments of inertia about the axes of body space through the centre of mass, kg m^2, instead of those that
    /// follow from the colliders. A body with a mass and an inertia needs no collider; its centre of mass is then its
    /// origin.
    pub inertia: Option<Vec3>,
    /// A force that acts on its centre of mass until it is changed, in world space, newtons.
    pub force: Vec3,
    /// A torque that acts on the body until it is changed, newton metres in world space.
    pub torque: Vec3,
    /// Damping of its velocity, 1/s: a free body's speed falls as e^(-c t).
    pub linear_damping: f32,
    /// Damping of its angular momentum, 1/s.
    pub angular_damping: f32,
    /// Whether the body is kept from passing through anything, however fast it flies or spins (continuous detection):
    /// its boxes are extended by its whole motion, and if it would still end deep inside something, it stops where it
    /// first touched for the rest of the step. For bullets and blades; a world without such bodies pays nothing for
    /// it.
    pub continuous: bool,
}

impl BodyDesc {
    /// A dynamic body.
    pub fn dynamic() -> Self {
        Self::default()
    }

    /// A static body.
    pub fn fixed() -> Self {
        Self { kind: BodyKind::Static, ..Self::default() }
    }

    /// A kinematic body: its velocity moves it, and nothing else does.
    pub fn kinematic() -> Self {
        Self { kind: BodyKind::Kinematic, ..Self::default() }
    }

    /// At `position`.
    pub fn at(mut self, position: Vec3) -> Self {
        self.position = position;
        self
    }

    /// Turned by `rotation`.
    pub fn turned(mut self, rotation: Quat) -> Self {
        self.rotation = rotation;
        self
    }

    /// With a linear velocity.
    pub fn moving(mut self, velocity: Vec3) -> Self {
        self.linear_velocity = velocity;
        self
    }

    /// With an angular velocity.
    pub fn spinning(mut self, velocity: Vec3) -> Self {
        self.angular_velocity = velocity;
        self
    }

    /// With one more shape.
    pub fn with(mut self, collider: impl Into<Collider>) -> Self {
        self.colliders.push(collider.into());
        self
    }

    /// Sets the mass, kilograms, instead of the one from density and volume.
    pub fn weighing(mut self, mass: f32) -> Self {
        self.mass = Some(mass);
        self
    }

    /// Sets the moments of inertia, kg m^2, instead of those from the colliders.
    pub fn inertia(mut self, moments: Vec3) -> Self {
        self.inertia = Some(moments);
        self
    }

    /// Scales gravity for this body.
    pub fn gravity_scale(mut self, scale: f32) -> Self {
        self.gravity_scale = Some(scale);
        self
    }

    /// Applies a force (N) and a torque (N m) that act until they are changed.
    pub fn pushed(mut self, force: Vec3, torque: Vec3) -> Self {
        (self.force, self.torque) = (force, torque);
        self
    }

    /// Sets the damping coefficients, 1/s: dv/dt = F/m - c v, solved exactly over each step. A free body's speed
    /// falls as e^(-c t) whatever the step, and a falling body's speed tends to g/c.
    pub fn damped(mut self, linear: f32, angular: f32) -> Self {
        (self.linear_damping, self.angular_damping) = (linear, angular);
        self
    }

    /// Switches continuous detection on or off: see [`BodyDesc::continuous`](Self#structfield.continuous).
    pub fn continuous(mut self, continuous: bool) -> Self {
        self.continuous = continuous;
        self
    }

    /// Checks the description as [`World::add`](super::World::add) does. The error names the first invalid value.
    pub fn check(&self) -> Result<(), WorldError> {
        self.mass_properties().map(drop)
    }

    /// Checks everything, the mass last.
    pub(super) fn mass_properties(&self) -> Result<MassProperties, WorldError> {
        finite3("position", self.position)?;
        unit("rotation", self.rotation)?;
        finite3("linear_velocity", self.linear_velocity)?;
        finite3("angular_velocity", self.angular_velocity)?;
        finite1("gravity_scale", self.gravity_scale.unwrap_or(1.0))?;
        finite3("force", self.force)?;
        finite3("torque", self.torque)?;
        not_negative("linear_damping", self.linear_damping)?;
        not_negative("angular_damping", self.angular_damping)?;
        if let Some(mass) = self.mass {
            positive("mass", mass)?;
        }
        if let Some(inertia) = self.inertia {
            positive("inertia.x", inertia.x)?;
            positive("inertia.y", inertia.y)?;
            positive("inertia.z", inertia.z)?;
        }
        for (index, collider) in self.colliders.iter().enumerate() {
            let checked = collider.check().and_then(|()| match collider.shape {
                Shape::HalfSpace if self.kind != BodyKind::Static => Err(WorldError::MovingHalfSpace),
                _ => Ok(()),
            });
            checked.map_err(|error| WorldError::Collider { index, error: Box::new(error) })?;
        }
        MassProperties::new(self)
    }
}

impl BodyKind {
    /// The kernels' code for the kind.
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Dynamic => kind::DYNAMIC,
            Self::Kinematic => kind::KINEMATIC,
            Self::Static => kind::STATIC,
        }
    }
}
