//! Mass, centre of mass and principal axes of a body, in double precision.

use super::{BodyDesc, BodyKind, Collider, Shape, WorldError};
use crate::glam::{DMat3, DQuat, DVec3, Quat, Vec3};
use std::ops::RangeInclusive;

/// Range of masses, kilograms, for which stiffness and its squares stay finite in single precision.
const MASSES: RangeInclusive<f64> = 1e-20..=1e20;
/// Range of moments of inertia, kg m^2, for the same reason.
const MOMENTS: RangeInclusive<f64> = 1e-30..=1e30;
/// Lower bound of a moment of inertia, as a fraction of the greatest one; singular ones are raised to it.
const THINNEST: f64 = 1e-6;

/// Mass properties of a body. Body space on the device is the space of its principal axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MassProperties {
    pub mass: f32,
    /// About the principal axes.
    pub inertia: Vec3,
    /// Centre of mass in the user's body space.
    pub centre: Vec3,
    /// From principal axes to the user's body space.
    pub axes: Quat,
}

/// Volume, centre of mass, and inertia about it for density 1.
fn of_shape(shape: &Shape) -> (f64, DVec3, DMat3) {
    let (volume, diagonal) = match shape {
        &Shape::Sphere { radius } => {
            let r = f64::from(radius);
            let volume = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
            (volume, DVec3::splat(0.4 * volume * r * r))
        }
        &Shape::Box { half } => {
            let h = half.as_dvec3();
            let volume = 8.0 * h.x * h.y * h.z;
            let s = h * h;
            (volume, DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (volume / 3.0))
        }
        &Shape::Capsule { half_height, radius } => {
            let (h, r) = (f64::from(half_height), f64::from(radius));
            let cylinder = 2.0 * std::f64::consts::PI * r * r * h;
            let ball = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
            let along = r * r * (cylinder * 0.5 + ball * 0.4);
            // A half ball's centre lies 3/8 r beyond the end of the cylinder.
            let across = cylinder * (r * r / 4.0 + h * h / 3.0) + ball * (0.4 * r * r + h * h + 0.75 * h * r);
            (cylinder + ball, DVec3::new(across, along, across))
        }
        &Shape::Cylinder { half_height, radius } => {
            let (h, r) = (f64::from(half_height), f64::from(radius));
            let volume = 2.0 * std::f64::consts::PI * r * r * h;
            let across = volume * (r * r / 4.0 + h * h / 3.0);
            (volume, DVec3::new(across, 0.5 * volume * r * r, across))
        }
        &Shape::Cone { half_height, radius } => {
            let (height, r) = (2.0 * f64::from(half_height), f64::from(radius));
            let volume = std::f64::consts::PI / 3.0 * r * r * height;
            let across = volume * (0.15 * r * r + 3.0 / 80.0 * height * height);
            let inertia = DMat3::from_diagonal(DVec3::new(across, 0.3 * volume * r * r, across));
            // A quarter of the height above the base.
            return (volume, DVec3::Y * (-0.25 * height), inertia);
        }
        Shape::ConvexHull(hull) => return (hull.volume, hull.centre, hull.inertia),
        Shape::HalfSpace => (0.0, DVec3::ZERO),
    };
    (volume, DVec3::ZERO, DMat3::from_diagonal(diagonal))
}

/// Eigenvalues and rotation to the eigenvectors of a symmetric matrix, by Jacobi rotations.
fn principal(matrix: DMat3) -> (DVec3, DQuat) {
    let off = |m: DMat3| m.y_axis.x.abs() + m.z_axis.x.abs() + m.z_axis.y.abs();
    let trace = matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z;
    let (mut m, mut axes) = (matrix, DMat3::IDENTITY);
    for _ in 0..32 {
        if off(m) <= 1e-14 * trace.abs() {
            break;
        }
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let apq = m.col(j)[i];
            if apq.abs() < 1e-300 {
                continue;
            }
            let theta = (m.col(j)[j] - m.col(i)[i]) / (2.0 * apq);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let mut rotation = DMat3::IDENTITY;
            rotation.col_mut(i)[i] = c;
            rotation.col_mut(j)[j] = c;
            rotation.col_mut(j)[i] = t * c;
            rotation.col_mut(i)[j] = -t * c;
            m = rotation.transpose() * m * rotation;
            axes *= rotation;
        }
    }
    (DVec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z), DQuat::from_mat3(&axes).normalize())
}

fn tensor(collider: &Collider) -> (f64, DVec3, DMat3) {
    let (volume, centre, inertia) = of_shape(&collider.shape);
    let density = f64::from(collider.density);
    let rotation = DMat3::from_quat(collider.rotation.as_dquat().normalize());
    let about_own = rotation * (inertia * density) * rotation.transpose();
    (volume * density, collider.position.as_dvec3() + rotation * centre, about_own)
}

impl MassProperties {
    /// Computes the mass properties of a described body. Static and kinematic bodies keep the user's space and get no
    /// mass.
    pub fn new(desc: &BodyDesc) -> Result<Self, WorldError> {
        let unmoved = Self { mass: 0.0, inertia: Vec3::ZERO, centre: Vec3::ZERO, axes: Quat::IDENTITY };
        if desc.kind != BodyKind::Dynamic {
            return Ok(unmoved);
        }
        let parts: Vec<_> = desc.colliders.iter().map(tensor).collect();
        let total: f64 = parts.iter().map(|p| p.0).sum();
        let weighed = total > 0.0 && total.is_finite();
        if !weighed && (desc.mass.is_none() || desc.inertia.is_none()) {
            return Err(WorldError::NoMass);
        }
        let centre = if weighed { parts.iter().map(|p| p.1 * p.0).sum::<DVec3>() / total } else { DVec3::ZERO };
        let mass = desc.mass.map_or(total, f64::from);
        let (moments, axes) = match desc.inertia {
            Some(moments) => (moments.as_dvec3(), DQuat::IDENTITY),
            None => {
                let mut about_centre = DMat3::ZERO;
                for (mass, position, about_own) in &parts {
                    let d = *position - centre;
                    let outer = DMat3::from_cols(d * d.x, d * d.y, d * d.z);
                    let moved = DMat3::from_diagonal(DVec3::splat(d.length_squared())) - outer;
                    about_centre += *about_own + moved * *mass;
                }
                let (moments, axes) = principal(about_centre);
                (moments * (mass / total), axes)
            }
        };
        // A needle has almost no inertia about its axis: raise it to what single precision can handle.
        let moments = moments.max(DVec3::splat(moments.max_element() * THINNEST));
        if !MASSES.contains(&mass) {
            return Err(WorldError::OutOfRange {
                field: "mass",
                value: mass as f32,
                must: "between 1e-20 and 1e20 kg",
            });
        }
        if !MOMENTS.contains(&moments.min_element()) || !MOMENTS.contains(&moments.max_element()) {
            let value = moments.max_element() as f32;
            return Err(WorldError::OutOfRange { field: "inertia", value, must: "between 1e-30 and 1e30 kg m^2" });
        }
        Ok(Self { mass: mass as f32, inertia: moments.as_vec3(), centre: centre.as_vec3(), axes: axes.as_quat() })
    }
}
